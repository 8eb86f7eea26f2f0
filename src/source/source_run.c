/*
 * source_run.c
 *		Running queries over the source of an A-view.
 */
#include "base/kanon.h"

#include "source/source.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/snapmgr.h"

#include "aview/aview.h"
#include "base/as_owner.h"
#include "base/shuffle.h"
#include "source/citus.h"
#include "source/scope.h"

/* Rows fetched at a time where the caller pulls them. */
#define BATCH_ROWS 256

/* A DestReceiver that hands each row to a function. */
typedef struct PumpReceiver
{
	DestReceiver base;
	SourceReceiver receive;
	void *arg;
} PumpReceiver;

/* Flags for the executor. */
typedef enum ExecutorStep
{
	EXECUTOR_START,
	EXECUTOR_RUN_ONCE, /* and not again */
	EXECUTOR_RUN,
	EXECUTOR_END
} ExecutorStep;

struct SourceRun
{
	const AView *aview;
	QueryDesc *desc;
	bool readable; /* true if the current user may read all tables of the plan */
	Oid reader;	   /* the role to run it as; InvalidOid: the current user */
	PumpReceiver receiver;
	MemoryContext batch;		   /* holds the rows that were fetched ahead, unless a shuffle does */
	MinimalTuple rows[BATCH_ROWS]; /* that were fetched ahead */
	int nrows;
	int at; /* the next of them */
	bool finished;
	TupleTableSlot *slot;
	bool unordered;	  /* rows are handed out in random order */
	Shuffle *shuffle; /* then all of them, once they were read; or NULL */
};

/* Hand a row to the function: the receiver's receiveSlot. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	PumpReceiver *receiver = (PumpReceiver *) self;

	return receiver->receive(receiver->arg, slot);
}

static void
receiver_startup(DestReceiver *self, int operation, TupleDesc desc)
{
}

static void
receiver_shutdown(DestReceiver *self)
{
}

/* Return true if the current user may read all tables that a plan reads. */
static bool
plan_is_readable(const PlannedStmt *plan)
{
	ListCell *cell;

	foreach (cell, plan->rtable)
	{
		RangeTblEntry *rte = lfirst(cell);

		if (rte->rtekind == RTE_RELATION && !relation_is_readable(rte->relid))
			return false;
	}
	return true;
}

/* Run the executor for a number of rows, or for all with 0; `once` says that it will not be run again. */
static void
run_in_scope(SourceRun *run, uint64 count, bool once)
{
	AsOwner scope;

	if (OidIsValid(run->reader))
	{
		as_reader_start(&scope, run->reader, run->aview->settings);
		citus_hush();
	}
	kanon_executor_run(run->desc, count, once);
	if (OidIsValid(run->reader))
		as_owner_end(&scope);
}

/* Run a step of the executor in the scope of the source. */
static void
run_step(SourceRun *run, ExecutorStep step, uint64 count)
{
	MemoryContext caller = CurrentMemoryContext;
	SourceScope scope;

	source_scope_enter(&scope, run->aview, !run->readable);
	PG_TRY();
	{
		switch (step)
		{
			case EXECUTOR_START:
				ExecutorStart(run->desc, 0);
				break;
			case EXECUTOR_RUN_ONCE:
			case EXECUTOR_RUN:
				run_in_scope(run, count, step == EXECUTOR_RUN_ONCE);
				break;
			case EXECUTOR_END:
				ExecutorFinish(run->desc);
				ExecutorEnd(run->desc);
				break;
		}
	}
	PG_CATCH();
	{
		source_scope_error(&scope, caller);
	}
	PG_END_TRY();
	source_scope_leave(&scope);
}

/* Start a plan; everything belongs to the current memory context and resource owner. */
SourceRun *
source_start(const AView *aview, PlannedStmt *plan, ParamListInfo params, Snapshot snapshot)
{
	SourceRun *run = palloc0(sizeof(SourceRun));
	DestReceiver *base = &run->receiver.base;

	base->receiveSlot = receive_row;
	base->rStartup = receiver_startup;
	base->rShutdown = receiver_shutdown;
	base->rDestroy = receiver_shutdown;
	base->mydest = DestNone;
	run->aview = aview;
	run->desc = CreateQueryDesc(plan, SOURCE_QUERY_TEXT, snapshot, InvalidSnapshot, base, params, NULL, 0);
	run->readable = plan_is_readable(plan);
	run->reader = run->readable ? InvalidOid : citus_reader(plan);
	run_step(run, EXECUTOR_START, 0);
	/* auto_explain must not explain the source to a caller who may not read it. */
	if (!run->readable)
		run->desc->totaltime = NULL;
	run->slot = MakeSingleTupleTableSlot(run->desc->tupDesc, &TTSOpsMinimalTuple);
	run->batch = AllocSetContextCreate(CurrentMemoryContext, "kanon source rows", ALLOCSET_DEFAULT_SIZES);
	return run;
}

/*
 * Return true if a plan reads one table in the order in which it is stored.  Any other
 * plan (an index, partitions, a join in batches) may deliver rows in an order that
 * the view's owner did not mean, and that depends on hidden values; and which plan is
 * chosen depends on settings that every role may change.
 */
static bool
is_in_stored_order(const Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_BitmapHeapScan:
			return true;
		case T_Gather:
			return is_in_stored_order(plan->lefttree);
		case T_SubqueryScan:
			return is_in_stored_order(((const SubqueryScan *) plan)->subplan);
		case T_Result:
			return plan->lefttree == NULL || is_in_stored_order(plan->lefttree);
		default:
			return false;
	}
}

/* Return true if the order of the rows must not be seen. */
bool
source_hides_order(const SourceRun *run)
{
	if (!run->aview->keeps_order)
		return true;
	return !run->aview->is_sorted && !is_in_stored_order(run->desc->plannedstmt->planTree);
}

/* Hand the rows out in random order if their order must not be seen. */
void
source_hide_order(SourceRun *run)
{
	Assert(run->nrows == 0 && !run->finished);
	run->unordered = source_hides_order(run);
}

/* Add a row to the shuffle: a SourceReceiver. */
static bool
shuffle_row(void *arg, TupleTableSlot *slot)
{
	shuffle_add(arg, slot);
	return true;
}

/* Read all rows into a shuffle. */
static void
shuffle_rows(SourceRun *run)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(run));

	run->shuffle = shuffle_create(run->desc->tupDesc, false);
	run->receiver.receive = shuffle_row;
	run->receiver.arg = run->shuffle;
	run_step(run, EXECUTOR_RUN_ONCE, 0);
	MemoryContextSwitchTo(old);
}

/* Hand all rows to a function, in their order. */
void
source_pump(SourceRun *run, SourceReceiver receiver, void *arg)
{
	Assert(run->nrows == 0 && !run->finished && !run->unordered);
	run->receiver.receive = receiver;
	run->receiver.arg = arg;
	run_step(run, EXECUTOR_RUN_ONCE, 0);
	run->finished = true;
}

/* Add a row to the batch: a SourceReceiver. */
static bool
batch_row(void *arg, TupleTableSlot *slot)
{
	SourceRun *run = arg;
	MemoryContext old = MemoryContextSwitchTo(run->batch);

	Assert(run->nrows < BATCH_ROWS);
	run->rows[run->nrows++] = ExecCopySlotMinimalTuple(slot);
	MemoryContextSwitchTo(old);
	return true;
}

/* Fetch the next rows, from the executor or from the shuffle. */
static void
fetch_batch(SourceRun *run)
{
	ExecClearTuple(run->slot);
	MemoryContextReset(run->batch);
	run->nrows = run->at = 0;
	if (run->unordered && run->shuffle == NULL)
		shuffle_rows(run);
	if (run->unordered)
	{
		run->nrows = shuffle_fetch(run->shuffle, run->rows, BATCH_ROWS);
		run->finished = run->nrows == 0;
		return;
	}
	run->receiver.receive = batch_row;
	run->receiver.arg = run;
	run_step(run, EXECUTOR_RUN, BATCH_ROWS);
	run->finished = run->nrows < BATCH_ROWS;
}

/* Return how many rows are at hand; fetch some if there are none. */
int
source_fetch(SourceRun *run)
{
	if (run->at == run->nrows && !run->finished)
		fetch_batch(run);
	return run->nrows - run->at;
}

/* Return one of the rows at hand, counted from the next one, without going on to it. */
TupleTableSlot *
source_fetched(SourceRun *run, int row)
{
	Assert(row >= 0 && run->at + row < run->nrows);
	return ExecStoreMinimalTuple(run->rows[run->at + row], run->slot, false);
}

/* Set the next row; return false after the last. */
bool
source_next(SourceRun *run, TupleTableSlot **slot)
{
	if (source_fetch(run) == 0)
		return false;
	*slot = source_fetched(run, 0);
	run->at++;
	return true;
}

/* Return the descriptor of the rows. */
TupleDesc
source_desc(const SourceRun *run)
{
	return run->desc->tupDesc;
}

/* End the run and free it. */
void
source_end(SourceRun *run)
{
	ExecDropSingleTupleTableSlot(run->slot);
	if (run->shuffle)
		shuffle_end(run->shuffle);
	run_step(run, EXECUTOR_END, 0);
	FreeQueryDesc(run->desc);
	MemoryContextDelete(run->batch);
	pfree(run);
}

/*
 * Raise an error unless the view's owner may still read the source: run a query that mentions it,
 * so that hooks of the executor see the check as that of a query.  Planning it evaluates row
 * policies, which are code of others.
 */
void
source_check_rights(const AView *aview)
{
	Query *query = makeNode(Query);
	AsOwner scope;

	query->commandType = CMD_SELECT;
	query->canSetTag = true;
	query->jointree = makeFromExpr(NIL, NULL);
	source_mention(aview, query);
	as_owner_start(&scope, aview->owner, aview->settings);
	source_end(source_start(aview, source_plan(aview, query, false, NULL), NULL, GetActiveSnapshot()));
	as_owner_end(&scope);
}
