/*
 * feed.c
 *		The triggers that tell a materialized view of changes of its tables.
 *
 * After each statement they apply the view's projection and WHERE to the transition
 * tables, or to each row that a row trigger is called for, and keep the resulting
 * rows; of choices they keep the columns that tell to which rows they belong.
 */
#include "base/kanon.h"

#include "access/table.h"
#include "access/tupconvert.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "replication/logicalworker.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"

#include "aview/aview.h"
#include "base/as_owner.h"
#include "matview/attempt.h"
#include "matview/follow.h"
#include "matview/keeper.h"
#include "matview/pending.h"
#include "source/scope.h"

PG_FUNCTION_INFO_V1(kanon_keep_groups);

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
	values[Anum_pending_serial - 1] = Int64GetDatum(pending_next_serial());
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
		pending_compare(keeper->id)->written = true;
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
	pending_refuse_nesting();
	if (IsLogicalWorker())
		attempt(id, note_trigger, fcinfo);
	else
		note_trigger(fcinfo);
	return PointerGetDatum(NULL);
}
