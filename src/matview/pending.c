/*
 * pending.c
 *		The changes that a transaction has made to the tables of materialized views.
 *
 * After each statement the triggers apply the view's projection and WHERE to the
 * transition tables, or to each row that a row trigger is called for, and keep the
 * resulting rows; of choices they keep the columns that tell to which rows they
 * belong.  The changes go to the groups when the transaction commits or is prepared; a
 * subtransaction that is rolled back takes its changes with it.  Rows beyond work_mem
 * go to disk.
 */
#include "base/kanon.h"

#include "matview/pending.h"

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
#include "replication/logicalworker.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include "aview/aview.h"
#include "base/as_owner.h"
#include "matview/attempt.h"
#include "matview/demand.h"
#include "matview/follow.h"
#include "matview/keeper.h"
#include "matview/maintain.h"
#include "matview/matview.h"
#include "matview/reconcile.h"
#include "source/scope.h"

PG_FUNCTION_INFO_V1(kanon_keep_groups);

/* The columns of a pending row. */
enum Anum_pending
{
	Anum_pending_present = 1, /* boolean: the row is there after the change */
	Anum_pending_serial,	  /* the changes of a transaction, numbered in the order of time */
	Anum_pending_first		  /* of the source's columns */
};

/* The changes of one view by one subtransaction, in TopTransactionContext. */
typedef struct Pending
{
	int32 view;
	SubTransactionId subid;
	TupleDesc desc; /* of rows */
	Tuplestorestate *rows;
	Tuplestorestate *owners; /* rows of keeper->owner: choices that have changed; NULL: none */
	bool removals;			 /* some row was removed or changed */
	bool truncated;			 /* rows were removed that are not known: the view is to be compared with its source */
	bool written;			 /* by statements that write rows; otherwise by commands that change tables */
} Pending;

static List *pending = NIL;	  /* the changes of the running transaction, in the order of time */
static bool applying = false; /* groups are being brought up to date */
static int64 serial = 0;	  /* the last Anum_pending_serial of the transaction */
static bool limited = false;  /* statement_timeout limits the work before the commit */

/* The rows of a subtransaction are added to its parent's rows if they are no more than this. */
#define FEW_ROWS 1000

/* Return the descriptor of pending rows. */
static TupleDesc
describe_pending(const Keeper *keeper)
{
	int ncolumns = keeper->aview->nkeyed;
	TupleDesc desc = CreateTemplateTupleDesc(ncolumns + Anum_pending_first - 1);

	TupleDescInitEntry(desc, Anum_pending_present, "present", BOOLOID, -1, 0);
	TupleDescInitEntry(desc, Anum_pending_serial, "serial", INT8OID, -1, 0);
	for (int i = 0; i < ncolumns; i++)
		TupleDescCopyEntry(desc, Anum_pending_first + i, keeper->row, i + 1);
	return desc;
}

/* Return the entry for the current subtransaction's changes of a view. */
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

/* Drop the files of an entry. */
static void
end_entry(Pending *entry)
{
	tuplestore_end(entry->rows);
	if (entry->owners)
		tuplestore_end(entry->owners);
}

/*
 * Raise an error while groups are being brought up to date: code of the view runs then, and
 * its changes could not be applied any more.
 */
static void
refuse_nesting(void)
{
	if (applying)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("tables of a materialized anonymization view cannot be changed while its groups are brought up to date"),
				 errhint("Functions and operators in the view and its profile must not change anything.")));
}

/* Return the entry for a view that is to be compared with its source. */
static Pending *
compare_later(int32 id)
{
	ResourceOwner owner = CurrentResourceOwner;
	Pending *entry;

	CurrentResourceOwner = TopTransactionResourceOwner;
	entry = pending_for(keeper_get(id));
	entry->truncated = true;
	CurrentResourceOwner = owner;
	return entry;
}

/* Have a view's groups compared with its source at the end of the transaction, as its tables have changed. */
void
pending_reconcile(int32 id)
{
	refuse_nesting();
	(void) compare_later(id);
}

/* Return true if the running transaction has changed the source of a view. */
bool
matview_has_pending(int32 id)
{
	ListCell *cell;

	foreach (cell, pending)
	{
		if (((Pending *) lfirst(cell))->view == id)
			return true;
	}
	return false;
}

/* The way of a statement's rows from the table that it changes to pending rows or, for choices, to pending owners. */
typedef struct Feed Feed;
struct Feed
{
	Keeper *keeper;
	Pending *pending;
	TupleTableSlot *slot; /* of the table that changed */
	AttrMap *map;		  /* from a child's columns to its parent's; NULL: the same */
	TupleTableSlot *base; /* for a row of that parent */
	ExprContext *econtext;
	ExprState *where;	 /* the view's condition; NULL: none */
	AttrNumber *plain;	 /* by column of the rows: the column of the base table that it is, or 0 */
	ExprState **columns; /* by column of the rows: its expression, if it is no plain column */
	/* Keep a row of the parent; present: it is there after the change. */
	void (*feed)(Feed *feed, TupleTableSlot *slot, bool present);
};

/* Prepare the view's condition and its columns. */
static void
prepare_expressions(Feed *feed)
{
	Query *source = feed->keeper->aview->rows;
	int ncolumns = feed->keeper->aview->nkeyed;
	ListCell *cell;
	int i = 0;

	feed->plain = palloc0(ncolumns * sizeof(AttrNumber));
	feed->columns = palloc0(ncolumns * sizeof(ExprState *));
	if (source->jointree->quals)
		feed->where =
			ExecInitQual(make_ands_implicit((Expr *) expression_planner((Expr *) copyObject(source->jointree->quals))),
						 NULL);
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

/* Add a row to a tuplestore, with temporary files that last until the transaction ends. */
static void
keep_values(Tuplestorestate *rows, TupleDesc desc, Datum *values, bool *nulls)
{
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = TopTransactionResourceOwner;
	tuplestore_putvalues(rows, desc, values, nulls);
	CurrentResourceOwner = owner;
}

/* Keep a row of the base table as a row of the source, if it satisfies the view's condition. */
static void
feed_row(Feed *feed, TupleTableSlot *slot, bool present)
{
	int ncolumns = feed->keeper->aview->nkeyed;
	Datum *values = palloc((ncolumns + Anum_pending_first - 1) * sizeof(Datum));
	bool *nulls = palloc0((ncolumns + Anum_pending_first - 1) * sizeof(bool));

	feed->econtext->ecxt_scantuple = slot;
	if (!ExecQual(feed->where, feed->econtext))
		return;
	values[Anum_pending_present - 1] = BoolGetDatum(present);
	values[Anum_pending_serial - 1] = Int64GetDatum(++serial);
	for (int i = 0; i < ncolumns; i++)
	{
		bool *isnull = &nulls[Anum_pending_first - 1 + i];

		values[Anum_pending_first - 1 + i] = feed->plain[i] ? slot_getattr(slot, feed->plain[i], isnull)
															: ExecEvalExpr(feed->columns[i], feed->econtext, isnull);
	}
	keep_values(feed->pending->rows, feed->pending->desc, values, nulls);
	feed->pending->removals |= !present;
}

/* Keep the columns of choices that tell to which rows they belong; old and new choices may belong to different ones. */
static void
feed_owner(Feed *feed, TupleTableSlot *slot, bool present)
{
	TupleDesc desc = feed->keeper->owner;
	Datum *values = palloc(desc->natts * sizeof(Datum));
	bool *nulls = palloc(desc->natts * sizeof(bool));
	ListCell *cell;

	foreach (cell, feed->keeper->owner_key.choices)
	{
		int place = foreach_current_index(cell);

		values[place] = slot_getattr(slot, lfirst_int(cell), &nulls[place]);
	}
	keep_values(feed->pending->owners, desc, values, nulls);
}

/* Keep a row of the table that changes, with the columns of the parent table. */
static void
feed_slot(Feed *feed, TupleTableSlot *slot, bool present)
{
	MemoryContext old;

	ResetExprContext(feed->econtext);
	old = MemoryContextSwitchTo(feed->econtext->ecxt_per_tuple_memory);
	feed->feed(feed, feed->map ? execute_attr_map_slot(feed->map, slot, feed->base) : slot, present);
	MemoryContextSwitchTo(old);
}

/* Keep the rows of a transition table. */
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
		feed_slot(feed, feed->slot, present);
	}
}

/* Prepare the way of rows of a table, by way of its parent among the tables that the view mentions. */
static void
prepare_feed(Feed *feed, Relation table, Oid parent_table)
{
	feed->econtext = CreateStandaloneExprContext();
	if (RelationGetRelid(table) != parent_table)
	{
		Relation parent = table_open(parent_table, AccessShareLock);
		TupleConversionMap *map = convert_tuples_by_name(RelationGetDescr(table), RelationGetDescr(parent));

		feed->map = map ? map->attrMap : NULL;
		feed->base = MakeSingleTupleTableSlot(CreateTupleDescCopy(RelationGetDescr(parent)), &TTSOpsVirtual);
		table_close(parent, NoLock);
	}
	if (feed->feed == feed_row)
		prepare_expressions(feed);
}

/* Keep the rows of a statement's transition tables, with the columns of the parent table. */
static void
feed_statement(Feed *feed, const TriggerData *trigger, Oid parent_table)
{
	feed->slot = MakeSingleTupleTableSlot(RelationGetDescr(trigger->tg_relation), &TTSOpsMinimalTuple);
	prepare_feed(feed, trigger->tg_relation, parent_table);
	feed_rows(feed, trigger->tg_oldtable, false);
	feed_rows(feed, trigger->tg_newtable, true);
	ExecDropSingleTupleTableSlot(feed->slot);
	if (feed->base)
		ExecDropSingleTupleTableSlot(feed->base);
	FreeExprContext(feed->econtext, true);
}

/* Return true if a relation is a table or below it. */
static bool
is_below(Oid relation, Oid table)
{
	return OidIsValid(table) &&
		   (relation == table || list_member_oid(find_all_inheritors(table, NoLock, NULL), relation));
}

/*
 * Return the number of the view that a trigger keeps up to date; raise an error if the call is
 * no such trigger's.
 */
static int32
view_of_trigger(FunctionCallInfo fcinfo)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_AFTER(trigger->tg_event) ||
		trigger->tg_trigger->tgnargs != 1)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function %s.keep_groups is for the triggers of materialized anonymization views only",
						KANON_SCHEMA)));
	return pg_strtoint32(trigger->tg_trigger->tgargs[0]);
}

/* Find the entry for changes that come by a feed. */
static void
prepare_pending(Feed *feed)
{
	ResourceOwner owner = CurrentResourceOwner;
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);

	CurrentResourceOwner = TopTransactionResourceOwner;
	feed->pending = pending_for(feed->keeper);
	if (feed->feed == feed_owner && feed->pending->owners == NULL)
		feed->pending->owners = tuplestore_begin_heap(false, false, work_mem);
	feed->pending->written = true;
	CurrentResourceOwner = owner;
	MemoryContextSwitchTo(old);
}

/* What a trigger feeds: the rows of a statement, or one row. */
typedef struct Feeding
{
	FunctionCallInfo fcinfo;
	const TriggerData *trigger;
	Feed *feed;	 /* of a statement */
	Oid table;	 /* of a statement: the parent table of the feed */
	void *feeds; /* of a row: RowFeeds */
} Feeding;

/*
 * Evaluate the view's expressions for a trigger, with the view's settings and the rights
 * of its owner, as when the groups are brought up to date.  Errors that may quote a value
 * go to the log if the role that writes may not read the source.
 */
static void
feed_in_scope(const AView *aview, void (*step)(const Feeding *feeding), const Feeding *feeding)
{
	MemoryContext caller = CurrentMemoryContext;
	bool quiet = !aview_source_readable(aview);
	AsOwner owner;
	SourceScope scope;

	as_owner_start(&owner, aview->owner, aview->settings);
	source_scope_enter(&scope, aview, quiet);
	PG_TRY();
	{
		step(feeding);
	}
	PG_CATCH();
	{
		source_scope_error(&scope, caller);
	}
	PG_END_TRY();
	source_scope_leave(&scope);
	as_owner_end(&owner);
}

/* Keep the rows of a statement's transition tables: a step of feed_in_scope(). */
static void
feed_statement_step(const Feeding *feeding)
{
	feed_statement(feeding->feed, feeding->trigger, feeding->table);
}

/* Note the changes of a statement. */
static void
note_changes(const TriggerData *trigger, Feed *feed, Oid table)
{
	Feeding feeding = {.trigger = trigger, .feed = feed, .table = table};

	prepare_pending(feed);
	feed_in_scope(feed->keeper->aview, feed_statement_step, &feeding);
}

/* The ways of a changed row, which a row trigger keeps for the next rows of the same statement. */
typedef struct RowFeeds
{
	uint64 keeper; /* the number of the keeper that they were made for */
	bool has_rows;
	bool has_choices;
	bool prepared; /* their expressions can be evaluated */
	bool computes; /* code of the view runs for each row */
	Feed rows;
	Feed owners;
} RowFeeds;

/* Find out to which tables of the view a table belongs. */
static RowFeeds
find_feeds(Keeper *keeper, Oid relation)
{
	RowFeeds feeds = {.keeper = keeper->number,
					  .has_rows = is_below(relation, keeper->base),
					  .has_choices = is_below(relation, keeper->choices),
					  .rows = {.keeper = keeper, .feed = feed_row},
					  .owners = {.keeper = keeper, .feed = feed_owner}};

	/* Any role may put such a trigger on a table of its own. */
	if (!feeds.has_rows && !feeds.has_choices)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("table \"%s\" is neither the source nor the profile table of anonymization view \"%s\"",
						get_rel_name(relation), get_rel_name(keeper->aview->view))));
	return feeds;
}

/* Note the changes of a statement: work of keeper_use().  One table may hold rows and choices. */
static void
note_statement(Keeper *keeper, void *arg)
{
	const TriggerData *trigger = (TriggerData *) ((FunctionCallInfo) arg)->context;
	RowFeeds feeds = find_feeds(keeper, RelationGetRelid(trigger->tg_relation));

	if (TRIGGER_FIRED_BY_TRUNCATE(trigger->tg_event))
	{
		compare_later(keeper->id)->written = true;
		return;
	}
	if (feeds.has_choices)
		note_changes(trigger, &feeds.owners, keeper->choices);
	if (feeds.has_rows)
		note_changes(trigger, &feeds.rows, keeper->base);
}

/* Return true if a feed evaluates expressions. */
static bool
feed_computes(const Feed *feed)
{
	bool computes = feed->where != NULL;

	for (int i = 0; i < feed->keeper->aview->nkeyed; i++)
		computes = computes || feed->columns[i] != NULL;
	return computes;
}

/* Make the feeds of a row trigger, for this row and the next ones of the same statement. */
static RowFeeds *
make_row_feeds(FunctionCallInfo fcinfo, Keeper *keeper)
{
	Relation table = ((TriggerData *) fcinfo->context)->tg_relation;
	MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	RowFeeds *feeds = palloc(sizeof(RowFeeds));

	*feeds = find_feeds(keeper, RelationGetRelid(table));
	MemoryContextSwitchTo(old);
	fcinfo->flinfo->fn_extra = feeds;
	return feeds;
}

/* Prepare the feeds of a row trigger, for the other rows of the statement, too. */
static void
prepare_row_feeds(FunctionCallInfo fcinfo, RowFeeds *feeds)
{
	Relation table = ((TriggerData *) fcinfo->context)->tg_relation;
	MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

	if (feeds->has_rows)
		prepare_feed(&feeds->rows, table, feeds->rows.keeper->base);
	if (feeds->has_choices)
		prepare_feed(&feeds->owners, table, feeds->owners.keeper->choices);
	feeds->computes = feeds->has_rows && feed_computes(&feeds->rows);
	feeds->prepared = true;
	MemoryContextSwitchTo(old);
}

/* Keep the old and the new version of a changed row. */
static void
note_versions(const TriggerData *trigger, Feed *feed)
{
	prepare_pending(feed);
	/*
	 * A session that applies changes by statements fires the statement triggers, too.  Of two
	 * notes of a row the last one counts, once they are sorted as changes with removals are.
	 */
	if (SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA)
		feed->pending->removals = true;
	if (!TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
		feed_slot(feed, trigger->tg_trigslot, false);
	if (!TRIGGER_FIRED_BY_DELETE(trigger->tg_event))
		feed_slot(feed, TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newslot : trigger->tg_trigslot, true);
}

/* Keep the versions of a changed row: a step of feed_in_scope(). */
static void
feed_row_step(const Feeding *feeding)
{
	RowFeeds *feeds = feeding->feeds;

	if (!feeds->prepared)
		prepare_row_feeds(feeding->fcinfo, feeds);
	if (feeds->has_choices)
		note_versions(feeding->trigger, &feeds->owners);
	if (feeds->has_rows)
		note_versions(feeding->trigger, &feeds->rows);
}

/* Note the change of a row: work of keeper_use().  To become the owner costs more than the rest, where no code runs. */
static void
note_changed_row(Keeper *keeper, void *arg)
{
	FunctionCallInfo fcinfo = arg;
	RowFeeds *feeds = fcinfo->flinfo->fn_extra;
	Feeding feeding = {.fcinfo = fcinfo, .trigger = (TriggerData *) fcinfo->context};

	if (feeds == NULL || feeds->keeper != keeper->number)
		feeds = make_row_feeds(fcinfo, keeper);
	feeding.feeds = feeds;
	if (feeds->prepared && !feeds->computes)
		feed_row_step(&feeding);
	else
		feed_in_scope(keeper->aview, feed_row_step, &feeding);
}

/* Warn that a view does not follow a table any more, and note that it has missed a change. */
static void
warn_of_end(const AView *aview, const TriggerData *trigger)
{
	if (aview->stale && TRIGGER_FIRED_FOR_ROW(trigger->tg_event))
		return;
	if (!aview->stale)
		follow_mark_stale(aview->id);
	ereport(WARNING,
			(errmsg("anonymization view \"%s\" does not follow changes of \"%s\" any more", get_rel_name(aview->view),
					RelationGetRelationName(trigger->tg_relation)),
			 errhint("Bring it up to date with %s.refresh.", KANON_SCHEMA)));
}

/* Note the changes that a trigger is called for: attempted work. */
static void
note_trigger(void *arg)
{
	FunctionCallInfo fcinfo = arg;
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	Keeper *keeper = keeper_get(view_of_trigger(fcinfo));

	if (!keeper->aview->materialized || !OidIsValid(keeper->base))
		warn_of_end(keeper->aview, trigger);
	else
		keeper_use(keeper, TRIGGER_FIRED_FOR_ROW(trigger->tg_event) ? note_changed_row : note_statement, fcinfo);
}

/*
 * kanon.keep_groups(number of the view): a trigger AFTER INSERT, UPDATE or DELETE, for each
 * statement or each row, or AFTER TRUNCATE.
 */
Datum
kanon_keep_groups(PG_FUNCTION_ARGS)
{
	int32 id = view_of_trigger(fcinfo);

	if (!aview_exists(id))
		return PointerGetDatum(NULL);
	refuse_nesting();
	if (IsLogicalWorker())
		attempt(id, note_trigger, fcinfo);
	else
		note_trigger(fcinfo);
	return PointerGetDatum(NULL);
}

/* Start to sort pending rows by their identifiers and, for equal ones, by time. */
static Tuplesortstate *
start_sort(Keeper *keeper, TupleDesc desc)
{
	int nkeys = keeper->nids + 1;
	AttrNumber *columns = palloc(nkeys * sizeof(AttrNumber));
	Oid *operators = palloc(nkeys * sizeof(Oid));
	Oid *collations = palloc0(nkeys * sizeof(Oid));
	bool *nulls_first = palloc0(nkeys * sizeof(bool));

	for (int i = 0; i < nkeys; i++)
	{
		columns[i] = i < keeper->nids ? Anum_pending_first + keeper->ids[i] : Anum_pending_serial;
		operators[i] = lookup_type_cache(TupleDescAttr(desc, columns[i] - 1)->atttypid, TYPECACHE_LT_OPR)->lt_opr;
		collations[i] = TupleDescAttr(desc, columns[i] - 1)->attcollation;
	}
	return tuplesort_begin_heap(desc, nkeys, columns, operators, collations, nulls_first, work_mem, NULL, false);
}

/* Note a row of the source, with its k if each row has its own. */
static void
put_pending_row(Maintenance *maintenance, Keeper *keeper, const Datum *values, const bool *nulls)
{
	int ncolumns = keeper->row->natts;
	Datum *row = palloc(ncolumns * sizeof(Datum));
	bool *row_nulls = palloc0(ncolumns * sizeof(bool));
	ItemPointerData was;

	memcpy(row, values, keeper->aview->nkeyed * sizeof(Datum));
	memcpy(row_nulls, nulls, keeper->aview->nkeyed * sizeof(bool));
	if (keeper->personal)
		row[ncolumns - 1] = Int64GetDatum(demand_of_row(keeper, values, nulls));
	(void) maintenance_put(maintenance, row, row_nulls, &was);
	pfree(row);
	pfree(row_nulls);
}

/* Note a pending row. */
static void
apply_row(Maintenance *maintenance, Keeper *keeper, TupleTableSlot *slot)
{
	const Datum *values;
	const bool *nulls;

	slot_getallattrs(slot);
	values = slot->tts_values + Anum_pending_first - 1;
	nulls = slot->tts_isnull + Anum_pending_first - 1;
	if (DatumGetBool(slot->tts_values[Anum_pending_present - 1]))
		put_pending_row(maintenance, keeper, values, nulls);
	else
		maintenance_remove(maintenance, values, nulls);
}

/* Return true if two pending rows have the same identifiers. */
static bool
same_ids(Keeper *keeper, TupleTableSlot *a, TupleTableSlot *b)
{
	slot_getallattrs(a);
	slot_getallattrs(b);
	for (int i = 0; i < keeper->nids; i++)
	{
		int at = Anum_pending_first - 1 + keeper->ids[i];
		ScanKey key = &keeper->id_keys[i];

		if (a->tts_isnull[at] || b->tts_isnull[at] ||
			!DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation, a->tts_values[at], b->tts_values[at])))
			return false;
	}
	return true;
}

/* Note sorted pending rows: of all changes of a row, the last one counts. */
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
			apply_row(maintenance, keeper, last);
		last = next;
		next = swap;
	}
	if (!TTS_EMPTY(last))
		apply_row(maintenance, keeper, last);
	tuplesort_end(sort);
	ExecDropSingleTupleTableSlot(last);
	ExecDropSingleTupleTableSlot(next);
}

/* Stored rows with choices that have changed. */
typedef struct Reconsidered
{
	Tuplesortstate *sort;
	TupleTableSlot *slot; /* for a pending row */
	int ncolumns;
} Reconsidered;

/* Add a stored row to the pending rows, with a serial before all of its other changes: a RowVisitor. */
static void
reconsider_row(void *arg, const Datum *values, const bool *nulls)
{
	Reconsidered *reconsidered = arg;
	TupleTableSlot *slot = reconsidered->slot;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, false, (Anum_pending_first - 1) * sizeof(bool));
	slot->tts_values[Anum_pending_present - 1] = BoolGetDatum(true);
	slot->tts_values[Anum_pending_serial - 1] = Int64GetDatum(0);
	memcpy(slot->tts_values + Anum_pending_first - 1, values, reconsidered->ncolumns * sizeof(Datum));
	memcpy(slot->tts_isnull + Anum_pending_first - 1, nulls, reconsidered->ncolumns * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(reconsidered->sort, slot);
}

/* Add the stored rows to which changed choices belong to the pending rows. */
static void
reconsider_owners(Keeper *keeper, List *entries, Tuplesortstate *sort, TupleDesc desc)
{
	Reconsidered reconsidered = {sort, MakeSingleTupleTableSlot(desc, &TTSOpsVirtual), keeper->aview->nkeyed};
	ListCell *cell;

	foreach (cell, entries)
	{
		Tuplestorestate *owners = ((Pending *) lfirst(cell))->owners;
		TupleTableSlot *owner;

		if (owners == NULL)
			continue;
		owner = MakeSingleTupleTableSlot(keeper->owner, &TTSOpsMinimalTuple);
		tuplestore_rescan(owners);
		while (tuplestore_gettupleslot(owners, true, false, owner))
		{
			CHECK_FOR_INTERRUPTS();
			demand_visit_owned(keeper, owner, reconsider_row, &reconsidered);
		}
		ExecDropSingleTupleTableSlot(owner);
	}
	ExecDropSingleTupleTableSlot(reconsidered.slot);
}

/* Apply pending rows: sorted if some are removals, or else in the order in which they came. */
static void
apply_rows(Keeper *keeper, List *entries, bool removals)
{
	Maintenance *maintenance = maintenance_start(keeper);
	TupleDesc desc = ((Pending *) linitial(entries))->desc;
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	Tuplesortstate *sort = removals ? start_sort(keeper, desc) : NULL;
	ListCell *cell;

	Assert(applying);
	if (sort)
		reconsider_owners(keeper, entries, sort, desc);
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
				apply_row(maintenance, keeper, slot);
		}
	}
	ExecDropSingleTupleTableSlot(slot);
	if (sort)
		apply_sorted(maintenance, keeper, sort, desc);
	(void) maintenance_end(maintenance);
}

/* All changes of a view by a transaction. */
typedef struct Changes
{
	int32 view;
	List *entries;
	bool removals;
	bool truncated;
	bool written;
} Changes;

/* Apply the changes of a view: work of keeper_work(). */
static void
apply_changes(Keeper *keeper, void *arg)
{
	Changes *changes = arg;

	if (changes->truncated)
		(void) reconcile_groups(keeper);
	else
		apply_rows(keeper, changes->entries, changes->removals);
}

/* Apply the changes of a view: attempted work. */
static void
attempt_changes(void *arg)
{
	keeper_work(((Changes *) arg)->view, apply_changes, arg);
}

/*
 * Apply all pending changes of a view, unless it has been dropped.  An error fails a transaction
 * that has written rows: its changes would be lost.  It does not fail one that has changed
 * tables, for a view that may be another role's, nor a worker of logical replication.
 */
static void
apply_view(int32 id)
{
	Changes changes = {.view = id};
	ListCell *cell;

	if (!aview_exists(id))
		return;
	foreach (cell, pending)
	{
		Pending *entry = lfirst(cell);

		if (entry->view != id)
			continue;
		changes.entries = lappend(changes.entries, entry);
		changes.removals |= entry->removals || entry->owners;
		changes.truncated |= entry->truncated;
		changes.written |= entry->written;
	}
	if (changes.written && !IsLogicalWorker())
		attempt_changes(&changes);
	else
		attempt(id, attempt_changes, &changes);
}

/* Compare numbers of views for list_sort(). */
static int
compare_view_ids(const ListCell *a, const ListCell *b)
{
	return lfirst_int(a) < lfirst_int(b) ? -1 : lfirst_int(a) > lfirst_int(b);
}

/* Apply all pending changes, one view after the other, in the same order in all transactions. */
static void
apply_all(void)
{
	MemoryContext context = AllocSetContextCreate(TopTransactionContext, "kanon changes", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	List *views = NIL;
	ListCell *cell;

	/* The changes of the last command must be visible. */
	CommandCounterIncrement();
	foreach (cell, pending)
		views = list_append_unique_int(views, ((Pending *) lfirst(cell))->view);
	list_sort(views, compare_view_ids);
	foreach (cell, views)
		apply_view(lfirst_int(cell));
	/* The files of the entries belong to the transaction, which closes files before it frees memory. */
	foreach (cell, pending)
		end_entry(lfirst(cell));
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/*
 * Limit the work before the commit by statement_timeout.  PostgreSQL ends that with the last
 * statement; so the work gets the same time once more.  (lock_timeout starts with each wait.)
 */
static void
start_limit(void)
{
	limited = StatementTimeout > 0 && !IsLogicalWorker() && !get_timeout_active(STATEMENT_TIMEOUT);
	if (limited)
		enable_timeout_after(STATEMENT_TIMEOUT, StatementTimeout);
}

/* End the limit. */
static void
end_limit(void)
{
	if (limited)
		disable_timeout(STATEMENT_TIMEOUT, false);
	limited = false;
}

/*
 * Apply the pending changes before a transaction commits or is prepared; forget them at its
 * end: an XactCallback.
 */
static void
at_transaction_end(XactEvent event, void *arg)
{
	if (pending == NIL)
		return;
	applying = event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE;
	if (applying)
	{
		start_limit();
		apply_all();
		/* A timeout that is reported later would be reported of a transaction that has committed. */
		CHECK_FOR_INTERRUPTS();
	}
	end_limit();
	applying = false;
	/* The memory and files of the entries go with the transaction. */
	pending = NIL;
	serial = 0;
}

/* Add a subtransaction's changes to its parent's changes. */
static void
hand_over(Pending *entry, Pending *parent)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(entry->desc, &TTSOpsMinimalTuple);

	Assert(entry->view == parent->view && entry->owners == NULL);
	tuplestore_rescan(entry->rows);
	while (tuplestore_gettupleslot(entry->rows, true, false, slot))
		tuplestore_puttupleslot(parent->rows, slot);
	ExecDropSingleTupleTableSlot(slot);
	parent->removals |= entry->removals;
	parent->truncated |= entry->truncated;
	parent->written |= entry->written;
}

/* Give the changes of a subtransaction to its parent; few ones join an entry of the parent. */
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
		if (before && before->subid == parent && entry->owners == NULL &&
			tuplestore_tuple_count(entry->rows) <= FEW_ROWS)
		{
			hand_over(entry, before);
			end_entry(entry);
			pending = foreach_delete_current(pending, cell);
		}
	}
}

/* Drop the changes of a subtransaction. */
static void
at_subtransaction_abort(SubTransactionId subid)
{
	ListCell *cell;

	foreach (cell, pending)
	{
		Pending *entry = lfirst(cell);

		if (entry->subid == subid)
		{
			end_entry(entry);
			pending = foreach_delete_current(pending, cell);
		}
	}
}

/* Keep the changes of a subtransaction that commits, and drop the others: a SubXactCallback. */
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

/* Register for the ends of transactions. */
void
pending_init(void)
{
	RegisterXactCallback(at_transaction_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
}
