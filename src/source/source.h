/*
 * source.h
 *		Running the source query of an A-view as a query of its own.
 *
 * The query is planned by the server's planner and run by ExecutorStart() and
 * ExecutorRun(), so that planner and executor hooks see it; with the rights of the
 * view's owner, which its range table carries, and with the caller's snapshot.
 */
#ifndef KANON_SOURCE_H
#define KANON_SOURCE_H

#include "aview/aview.h"

#include "executor/execdesc.h"
#include "nodes/params.h"
#include "tcop/dest.h"
#include "utils/snapshot.h"

/* The range table index of the source in queries made by source_query(). */
#define SOURCE_RTI 1

/* The text of these queries, for hooks that want one. */
#define SOURCE_QUERY_TEXT "<source of an anonymization view>"

/*
 * Return the query SELECT columns FROM (source) WHERE conditions.  Columns are numbered
 * from 0; the Vars of conditions have varno SOURCE_RTI.  order_by: the columns to sort
 * by, which are among columns, or NIL.
 */
extern Query *source_query(const AView *aview, List *columns, List *conditions, List *order_by);
/* Return the fewest columns that a query over the source can read, for estimating the costs of the source. */
extern List *source_least(const AView *aview);
/*
 * Add the relations of the source to the range table of a query that does not read them, so that the
 * rights of the view's owner on them are checked whenever the query runs, as those on a view are.
 */
extern void source_mention(const AView *aview, Query *query);
/* Return a Var for a column of the source in such a query. */
extern Var *source_column(const AView *aview, int column);
/*
 * Plan such a query over the source of a view, or over its stored groups, for values
 * of its parameters; with NULL, for any values.
 */
extern PlannedStmt *source_plan(const AView *aview, Query *query, bool parallel, ParamListInfo params);

/* Whether a source gives the same rows when it is read again in one execution. */
typedef enum Stability
{
	SOURCE_UNSTABLE,		 /* it may give other rows, so it is read once */
	SOURCE_STABLE_ELSEWHERE, /* it gives the same rows, but some come from other servers */
	SOURCE_STABLE
} Stability;

/* Return the stability of a view's source; plan: a plan that reads all of it, or NULL to make one if it is needed. */
extern Stability source_stability(const AView *aview, const PlannedStmt *plan);

typedef struct SourceRun SourceRun;
/* Takes a row, which is valid during the call; returns false if no more rows are wanted. */
typedef bool (*SourceReceiver)(void *arg, TupleTableSlot *slot);

/* Start a plan of source_plan() in the current memory context. */
extern SourceRun *source_start(const AView *aview, PlannedStmt *plan, ParamListInfo params, Snapshot snapshot);
/* Return true if the order of the rows must not be seen: unless the view keeps it, and it is the source's own. */
extern bool source_hides_order(const SourceRun *run);
/*
 * Hand the rows of source_next() out in random order if their order must not be seen; to be
 * called before the first row.
 */
extern void source_hide_order(SourceRun *run);
/*
 * Hand all rows to a receiver; parallel workers may help.  It is called with the settings of the view, so that it
 * must not evaluate conditions of the query.
 */
extern void source_pump(SourceRun *run, SourceReceiver receiver, void *arg);
/* Set the next row, valid until the next call; return false after the last. */
extern bool source_next(SourceRun *run, TupleTableSlot **slot);
/*
 * Return how many rows are at hand, after fetching some if there were none; 0 after the
 * last.  source_fetched() returns one of them, counted from the next one.
 */
extern int source_fetch(SourceRun *run);
extern TupleTableSlot *source_fetched(SourceRun *run, int row);
/* Return the descriptor of the rows. */
extern TupleDesc source_desc(const SourceRun *run);
/* End the run, also before its last row, and free it. */
extern void source_end(SourceRun *run);

/*
 * Raise an error unless the view's owner may still read the source, for functions that show what was stored of it.
 * The caller has the owner's rights.
 */
extern void source_check_rights(const AView *aview);

/* A query that is run again and again with other values of its parameters, one run after the other. */
typedef struct SourcePlan SourcePlan;

/* Prepare a query in the current memory context. */
extern SourcePlan *source_prepare(const AView *aview, Query *query);
/* Return a plan for these values, valid until the next call, and say whether it had to be made. */
extern PlannedStmt *source_choose(SourcePlan *prepared, ParamListInfo params, bool *planned);

/* Return the cost of planning a query over the source, and of starting and ending it each time. */
extern Cost cost_of_planning(void);
extern Cost cost_of_starting(void);

#endif
