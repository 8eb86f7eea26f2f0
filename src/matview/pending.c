/*
 * pending.c
 *		What a transaction has changed in the base tables of materialized views.
 *
 * The triggers, after each statement, apply the view's projection and WHERE to the
 * transition tables and keep the rows.  They go to the groups when the transaction
 * commits or is prepared; a subtransaction that is rolled back takes its rows with
 * it.  Rows beyond work_mem go to disk.
 */
#include "matview/matview.h"

#include "access/table.h"
#include "access/tupconvert.h"
#include "access/xact.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(kanon_keep_groups);

/* Columns before those of the source. */
enum Anum_pending
{
	Anum_pending_present = 1, /* is the row there afterwards? */
	Anum_pending_serial,
	Anum_pending_first
};

/* The changes of one view by one subtransaction. */
typedef struct Pending
{
	int32 view;
	SubTransactionId subid;
	TupleDesc desc;
	Tuplestorestate *rows;
	bool removals;
	bool truncated; /* what was removed is not known */
} Pending;

/* Of the running transaction, in its memory, in the order of time. */
static List *pending = NIL;
static int64 serial = 0;

/* Changes of a subtransaction that are this few are added to its parent's. */
#define FEW_ROWS 1000

static TupleDesc
describe_pending(const Keeper *keeper)
{
	TupleDesc desc = CreateTemplateTupleDesc(keeper->row->natts + Anum_pending_first - 1);

	TupleDescInitEntry(desc, Anum_pending_present, "present", BOOLOID, -1, 0);
	TupleDescInitEntry(desc, Anum_pending_serial, "serial", INT8OID, -1, 0);
	for (int i = 0; i < keeper->row->natts; i++)
		TupleDescCopyEntry(desc, Anum_pending_first + i, keeper->row, i + 1);
	return desc;
}

/* Where the current subtransaction's changes of a view go. */
static Pending *
pending_for(Keeper *keeper)
{
	SubTransactionId subid = GetCurrentSubTransactionId();
	Pending *entry = NULL;
	ListCell *cell;
	MemoryContext old;

	foreach (cell, pending)
	{
		Pending *candidate = lfirst(cell);

		if (candidate->view == keeper->id)
			entry = candidate;
	}
	if (entry && entry->subid == subid)
		return entry;
	old = MemoryContextSwitchTo(TopTransactionContext);
	entry = palloc0(sizeof(Pending));
	entry->view = keeper->id;
	entry->subid = subid;
	entry->desc = describe_pending(keeper);
	entry->rows = tuplestore_begin_heap(false, false, work_mem);
	pending = lappend(pending, entry);
	MemoryContextSwitchTo(old);
	return entry;
}

void
pending_reconcile(int32 id)
{
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = TopTransactionResourceOwner;
	pending_for(keeper_get(id))->truncated = true;
	CurrentResourceOwner = owner;
}

bool
pending_has(int32 id)
{
	ListCell *cell;

	foreach (cell, pending)
	{
		if (((Pending *) lfirst(cell))->view == id)
			return true;
	}
	return false;
}

/* From rows of the base table to rows of the source. */
typedef struct Feed
{
	Keeper *keeper;
	Pending *pending;
	TupleTableSlot *slot; /* of the table that changed */
	AttrMap *map;		  /* from a child's columns to its parent's; null: the same */
	TupleTableSlot *base; /* of the base table */
	ExprContext *econtext;
	ExprState *where;
	AttrNumber *plain;	 /* of each column: the base table's column that it is, or 0 */
	ExprState **columns; /* of the others */
} Feed;

static void
prepare_expressions(Feed *feed)
{
	Query *source = feed->keeper->aview->source;
	ListCell *cell;
	int i = 0;

	feed->econtext = CreateStandaloneExprContext();
	feed->plain = palloc0(feed->keeper->row->natts * sizeof(AttrNumber));
	feed->columns = palloc0(feed->keeper->row->natts * sizeof(ExprState *));
	if (source->jointree->quals)
		feed->where = ExecInitQual(make_ands_implicit((Expr *) expression_planner((Expr *) copyObject(source->jointree->quals))), NULL);
	foreach (cell, source->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (entry->resjunk)
			continue;
		if (IsA(entry->expr, Var))
			feed->plain[i++] = ((Var *) entry->expr)->varattno;
		else
			feed->columns[i++] = ExecInitExpr(expression_planner((Expr *) copyObject(entry->expr)), NULL);
	}
}

static void
feed_row(Feed *feed, bool present)
{
	int ncolumns = feed->keeper->row->natts;
	Datum *values;
	bool *nulls;
	MemoryContext old;
	ResourceOwner owner = CurrentResourceOwner;

	ResetExprContext(feed->econtext);
	old = MemoryContextSwitchTo(feed->econtext->ecxt_per_tuple_memory);
	feed->econtext->ecxt_scantuple = feed->map ? execute_attr_map_slot(feed->map, feed->slot, feed->base) : feed->slot;
	if (ExecQual(feed->where, feed->econtext))
	{
		values = palloc((ncolumns + Anum_pending_first - 1) * sizeof(Datum));
		nulls = palloc0((ncolumns + Anum_pending_first - 1) * sizeof(bool));
		values[Anum_pending_present - 1] = BoolGetDatum(present);
		values[Anum_pending_serial - 1] = Int64GetDatum(++serial);
		for (int i = 0; i < ncolumns; i++)
		{
			bool *isnull = &nulls[Anum_pending_first - 1 + i];

			values[Anum_pending_first - 1 + i] = feed->plain[i] ? slot_getattr(feed->econtext->ecxt_scantuple, feed->plain[i], isnull)
																: ExecEvalExpr(feed->columns[i], feed->econtext, isnull);
		}
		/* Temporary files have to last until the transaction ends. */
		CurrentResourceOwner = TopTransactionResourceOwner;
		tuplestore_putvalues(feed->pending->rows, feed->pending->desc, values, nulls);
		CurrentResourceOwner = owner;
		feed->pending->removals |= !present;
	}
	MemoryContextSwitchTo(old);
}

static void
feed_rows(Feed *feed, Tuplestorestate *rows, bool present)
{
	if (rows == NULL)
		return;
	/* Other triggers read the same rows, each with a pointer of its own. */
	tuplestore_select_read_pointer(rows, tuplestore_alloc_read_pointer(rows, EXEC_FLAG_REWIND));
	tuplestore_rescan(rows);
	while (tuplestore_gettupleslot(rows, true, false, feed->slot))
	{
		CHECK_FOR_INTERRUPTS();
		feed_row(feed, present);
	}
}

static void
feed_statement(Feed *feed, const TriggerData *trigger, Oid base)
{
	TupleDesc desc = RelationGetDescr(trigger->tg_relation);

	feed->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	if (RelationGetRelid(trigger->tg_relation) != base)
	{
		Relation parent = table_open(base, AccessShareLock);
		TupleConversionMap *map = convert_tuples_by_name(desc, RelationGetDescr(parent));

		feed->map = map ? map->attrMap : NULL;
		feed->base = MakeSingleTupleTableSlot(CreateTupleDescCopy(RelationGetDescr(parent)), &TTSOpsVirtual);
		table_close(parent, NoLock);
	}
	prepare_expressions(feed);
	feed_rows(feed, trigger->tg_oldtable, false);
	feed_rows(feed, trigger->tg_newtable, true);
	ExecDropSingleTupleTableSlot(feed->slot);
	if (feed->base)
		ExecDropSingleTupleTableSlot(feed->base);
	FreeExprContext(feed->econtext, true);
}

/* Anybody may put triggers on tables of his own. */
static void
check_table(Oid relation, Oid base, const AView *aview)
{
	if (relation != base && !list_member_oid(find_all_inheritors(base, NoLock, NULL), relation))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("table \"%s\" is not what anonymization view \"%s\" is made from", get_rel_name(relation),
						get_rel_name(aview->view))));
}

static int32
view_of_trigger(FunctionCallInfo fcinfo)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_AFTER(trigger->tg_event) || TRIGGER_FIRED_FOR_ROW(trigger->tg_event) ||
		trigger->tg_trigger->tgnargs != 1)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function %s.keep_groups is for the triggers of materialized anonymization views only", KANON_SCHEMA)));
	return pg_strtoint32(trigger->tg_trigger->tgargs[0]);
}

/* The view's own expressions run with its owner's rights, as when the view is read. */
static void
note_changes(const TriggerData *trigger, Keeper *keeper, Oid base)
{
	Feed feed = {.keeper = keeper};
	Oid user;
	int context;
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = TopTransactionResourceOwner;
	feed.pending = pending_for(keeper);
	CurrentResourceOwner = owner;
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(keeper->aview->owner, context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	feed_statement(&feed, trigger, base);
	SetUserIdAndSecContext(user, context);
}

/* AFTER INSERT, UPDATE, DELETE or TRUNCATE, for each statement: keep_groups(number of the view) */
Datum
kanon_keep_groups(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	int32 id = view_of_trigger(fcinfo);
	Keeper *keeper;

	if (!aview_exists(id))
		return PointerGetDatum(NULL);
	keeper = keeper_get(id);
	if (!keeper->aview->materialized || !OidIsValid(keeper->base))
	{
		ereport(WARNING,
				(errmsg("anonymization view \"%s\" does not follow changes of \"%s\" any more", get_rel_name(keeper->aview->view),
						RelationGetRelationName(trigger->tg_relation)),
				 errhint("Bring it up to date with %s.refresh.", KANON_SCHEMA)));
		return PointerGetDatum(NULL);
	}
	check_table(RelationGetRelid(trigger->tg_relation), keeper->base, keeper->aview);
	if (TRIGGER_FIRED_BY_TRUNCATE(trigger->tg_event))
		pending_reconcile(id);
	else
		note_changes(trigger, keeper, keeper->base);
	return PointerGetDatum(NULL);
}

/* Rows in the order of their identifiers and, for each, of time. */
static Tuplesortstate *
start_sort(Keeper *keeper, TupleDesc desc)
{
	Anonymizer *anonymizer = keeper->anonymizer;
	int nkeys = anonymizer->nids + 1;
	AttrNumber *columns = palloc(nkeys * sizeof(AttrNumber));
	Oid *operators = palloc(nkeys * sizeof(Oid));
	Oid *collations = palloc0(nkeys * sizeof(Oid));
	bool *nulls_first = palloc0(nkeys * sizeof(bool));

	for (int i = 0; i < nkeys; i++)
	{
		columns[i] = i < anonymizer->nids ? Anum_pending_first + anonymizer->ids[i] : Anum_pending_serial;
		operators[i] = lookup_type_cache(TupleDescAttr(desc, columns[i] - 1)->atttypid, TYPECACHE_LT_OPR)->lt_opr;
		collations[i] = TupleDescAttr(desc, columns[i] - 1)->attcollation;
	}
	return tuplesort_begin_heap(desc, nkeys, columns, operators, collations, nulls_first, work_mem, NULL, false);
}

static void
apply_row(Maintenance *maintenance, TupleTableSlot *slot)
{
	ItemPointerData was;

	slot_getallattrs(slot);
	if (DatumGetBool(slot->tts_values[Anum_pending_present - 1]))
		(void) maintenance_put(maintenance, slot->tts_values + Anum_pending_first - 1, slot->tts_isnull + Anum_pending_first - 1, &was);
	else
		maintenance_remove(maintenance, slot->tts_values + Anum_pending_first - 1, slot->tts_isnull + Anum_pending_first - 1);
}

/* Do two rows have the same identifiers? */
static bool
same_ids(Keeper *keeper, TupleTableSlot *a, TupleTableSlot *b)
{
	slot_getallattrs(a);
	slot_getallattrs(b);
	for (int i = 0; i < keeper->anonymizer->nids; i++)
	{
		int at = Anum_pending_first - 1 + keeper->anonymizer->ids[i];
		ScanKey key = &keeper->id_keys[i];

		if (a->tts_isnull[at] || b->tts_isnull[at] ||
			!DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation, a->tts_values[at], b->tts_values[at])))
			return false;
	}
	return true;
}

/* Only the last that happened to a row counts. */
static void
apply_sorted(Maintenance *maintenance, Keeper *keeper, Tuplesortstate *sort, TupleDesc desc)
{
	TupleTableSlot *last = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	TupleTableSlot *next = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);

	tuplesort_performsort(sort);
	while (tuplesort_gettupleslot(sort, true, true, next, NULL))
	{
		TupleTableSlot *swap = last;

		CHECK_FOR_INTERRUPTS();
		if (!TTS_EMPTY(last) && !same_ids(keeper, last, next))
			apply_row(maintenance, last);
		last = next;
		next = swap;
	}
	if (!TTS_EMPTY(last))
		apply_row(maintenance, last);
	tuplesort_end(sort);
	ExecDropSingleTupleTableSlot(last);
	ExecDropSingleTupleTableSlot(next);
}

/* Rows that only came can come in the order that they came in. */
static void
apply_rows(Keeper *keeper, List *entries, bool removals)
{
	Maintenance *maintenance = maintenance_start(keeper);
	TupleDesc desc = ((Pending *) linitial(entries))->desc;
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	Tuplesortstate *sort = removals ? start_sort(keeper, desc) : NULL;
	ListCell *cell;

	foreach (cell, entries)
	{
		Tuplestorestate *rows = ((Pending *) lfirst(cell))->rows;

		tuplestore_rescan(rows);
		while (tuplestore_gettupleslot(rows, true, false, slot))
		{
			CHECK_FOR_INTERRUPTS();
			if (sort)
				tuplesort_puttupleslot(sort, slot);
			else
				apply_row(maintenance, slot);
		}
	}
	ExecDropSingleTupleTableSlot(slot);
	if (sort)
		apply_sorted(maintenance, keeper, sort, desc);
	(void) maintenance_end(maintenance);
}

static void
apply_view(int32 id)
{
	List *entries = NIL;
	bool removals = false;
	bool truncated = false;
	ListCell *cell;
	Keeper *keeper;

	if (!aview_exists(id))
		return;
	foreach (cell, pending)
	{
		Pending *entry = lfirst(cell);

		if (entry->view != id)
			continue;
		entries = lappend(entries, entry);
		removals |= entry->removals;
		truncated |= entry->truncated;
	}
	keeper_lock(id);
	PushActiveSnapshot(GetLatestSnapshot());
	keeper = keeper_get(id);
	if (truncated)
		(void) matview_reconcile(keeper);
	else
		apply_rows(keeper, entries, removals);
	PopActiveSnapshot();
}

static int
compare_ids(const ListCell *a, const ListCell *b)
{
	return lfirst_int(a) < lfirst_int(b) ? -1 : lfirst_int(a) > lfirst_int(b);
}

/* One view after the other, in an order that all transactions agree in. */
static void
apply_all(void)
{
	MemoryContext context = AllocSetContextCreate(TopTransactionContext, "kanon changes", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	List *views = NIL;
	ListCell *cell;

	foreach (cell, pending)
		views = list_append_unique_int(views, ((Pending *) lfirst(cell))->view);
	list_sort(views, compare_ids);
	foreach (cell, views)
		apply_view(lfirst_int(cell));
	/* Their files belong to the transaction, which asks for them before it frees memory. */
	foreach (cell, pending)
		tuplestore_end(((Pending *) lfirst(cell))->rows);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

static void
at_transaction_end(XactEvent event, void *arg)
{
	if (pending == NIL)
		return;
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE)
		apply_all();
	/* Their memory and files go with the transaction. */
	pending = NIL;
	serial = 0;
}

/* Adds a subtransaction's changes to those of its parent, where that is cheap. */
static void
hand_over(Pending *entry, Pending *parent)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(entry->desc, &TTSOpsMinimalTuple);

	tuplestore_rescan(entry->rows);
	while (tuplestore_gettupleslot(entry->rows, true, false, slot))
		tuplestore_puttupleslot(parent->rows, slot);
	ExecDropSingleTupleTableSlot(slot);
	parent->removals |= entry->removals;
	parent->truncated |= entry->truncated;
}

static void
at_subtransaction_commit(SubTransactionId subid, SubTransactionId parent)
{
	Pending *before = NULL;
	ListCell *cell;

	foreach (cell, pending)
	{
		Pending *entry = lfirst(cell);

		if (entry->subid != subid)
			continue;
		entry->subid = parent;
		before = NULL;
		for (int i = 0; i < foreach_current_index(cell); i++)
		{
			Pending *candidate = list_nth(pending, i);

			if (candidate->view == entry->view)
				before = candidate;
		}
		if (before && before->subid == parent && tuplestore_tuple_count(entry->rows) <= FEW_ROWS)
		{
			hand_over(entry, before);
			tuplestore_end(entry->rows);
			pending = foreach_delete_current(pending, cell);
		}
	}
}

static void
at_subtransaction_abort(SubTransactionId subid)
{
	ListCell *cell;

	foreach (cell, pending)
	{
		Pending *entry = lfirst(cell);

		if (entry->subid == subid)
		{
			tuplestore_end(entry->rows);
			pending = foreach_delete_current(pending, cell);
		}
	}
}

static void
at_subtransaction_end(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	MemoryContext old;
	ResourceOwner owner = CurrentResourceOwner;

	if (pending == NIL)
		return;
	old = MemoryContextSwitchTo(TopTransactionContext);
	CurrentResourceOwner = TopTransactionResourceOwner;
	if (event == SUBXACT_EVENT_COMMIT_SUB)
		at_subtransaction_commit(subid, parent);
	else if (event == SUBXACT_EVENT_ABORT_SUB)
		at_subtransaction_abort(subid);
	CurrentResourceOwner = owner;
	MemoryContextSwitchTo(old);
}

void
pending_init(void)
{
	RegisterXactCallback(at_transaction_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
}
