/*
 * source.h
 *		Running the source query of an A-view, as a query of its own.
 *
 * It is planned by whatever planner the server has and run through the executor's
 * front door, so that its hooks see it; with the view owner's rights, which its
 * range table carries, and with the caller's snapshot.
 */
#ifndef KANON_SCAN_SOURCE_H
#define KANON_SCAN_SOURCE_H

#include "aview/aview.h"

#include "executor/execdesc.h"
#include "nodes/params.h"
#include "tcop/dest.h"
#include "utils/snapshot.h"

/* The range table index that the source has in the queries made from it. */
#define SOURCE_RTI 1

/*
 * SELECT the given columns FROM (source) WHERE the conditions, whose Vars have
 * the number SOURCE_RTI and a column's number among the view's.
 */
extern Query *source_query(const AView *aview, List *columns, List *conditions, List *order_by);
/* The fewest columns that a query over the source can read, for what it costs and how it is planned. */
extern List *source_least(const AView *aview);
extern Var *source_column(const AView *aview, int column);
extern PlannedStmt *source_plan(Query *query, bool parallel, ParamListInfo params);

/* May the source be run twice and give the same rows? */
typedef enum Stability
{
	SOURCE_UNSTABLE,
	SOURCE_STABLE_ELSEWHERE, /* some of it on other servers, which can count it for us */
	SOURCE_STABLE
} Stability;

extern Stability source_stability(const AView *aview);

typedef struct SourceRun SourceRun;
/* false: no more rows are wanted */
typedef bool (*SourceReceiver)(void *arg, TupleTableSlot *slot);

extern SourceRun *source_start(PlannedStmt *plan, ParamListInfo params, Snapshot snapshot);
/* Do rows come in another order than that in which their table stores them?  Then it may tell of what they hide. */
extern bool source_tells_order(const SourceRun *run);
/* To be said before the first row, where rows are handed on: such rows come in no order. */
extern void source_hide_order(SourceRun *run);
/* All rows at once, pushed to a receiver; parallel workers may help. */
extern void source_pump(SourceRun *run, SourceReceiver receiver, void *arg);
/* The next row, valid until the one after; false after the last. */
extern bool source_next(SourceRun *run, TupleTableSlot **slot);
/* How many rows come next without another call of the executor, which fetches some if there are none; and one of them. */
extern int source_fetch(SourceRun *run);
extern TupleTableSlot *source_fetched(SourceRun *run, int row);
extern TupleDesc source_desc(const SourceRun *run);
extern void source_end(SourceRun *run);

/* A query that is run again and again, each time after the last has ended, with other values of its parameters. */
typedef struct SourcePlan SourcePlan;

/* In the current memory context. */
extern SourcePlan *source_prepare(Query *query);
/* The plan for these values; planned: it had to be made. */
extern PlannedStmt *source_choose(SourcePlan *prepared, ParamListInfo params, bool *planned);

/* A query of its own over the source: planning it, and, as often as it is run, starting and ending it. */
extern Cost cost_of_planning(void);
extern Cost cost_of_starting(void);

#endif
