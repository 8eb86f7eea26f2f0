/*
 * source_plan.c
 *		Planning queries over the source of an A-view.
 */
#include "base/kanon.h"

#include "source/source.h"

#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "aview/aview.h"
#include "source/citus.h"
#include "source/scope.h"

/*
 * Rewrite and plan a query made by source_query().  The stored source was analyzed when
 * the view was created; locks on its relations are taken here, and views and row
 * security are expanded, as for any stored query.
 */
static PlannedStmt *
plan_in_scope(Query *query, bool parallel, ParamListInfo params)
{
	int settings = NewGUCNestLevel();
	bool citus = citus_is_here();
	List *rewritten;
	PlannedStmt *planned;

	query = copyObject(query);
	AcquireRewriteLocks(query, true, false);
	rewritten = QueryRewrite(query);
	if (list_length(rewritten) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a rule turns the source of an anonymization view into several queries")));
	/*
	 * pg_plan_query() would print the plan, with raw values in its conditions, for a caller who sets
	 * debug_print_plan.
	 */
	query = linitial_node(Query, rewritten);
	if (citus)
		citus_hush();
	/* The planner changes the query. */
	planned = planner(citus ? copyObject(query) : query, SOURCE_QUERY_TEXT, parallel ? CURSOR_OPT_PARALLEL_OK : 0,
					  params);
	AtEOXact_GUC(false, settings);
	kanon_forget_no_rights(planned);
	if (citus)
		citus_check(planned, query);
	return planned;
}

/* Plan a query in the scope of its source: the planner evaluates functions, whose messages may quote hidden values. */
PlannedStmt *
source_plan(const AView *aview, Query *query, bool parallel, ParamListInfo params)
{
	MemoryContext caller = CurrentMemoryContext;
	SourceScope scope;
	PlannedStmt *volatile planned = NULL;

	source_scope_enter(&scope, aview, !aview_source_readable(aview));
	PG_TRY();
	{
		planned = plan_in_scope(query, parallel, params);
	}
	PG_CATCH();
	{
		source_scope_error(&scope, caller);
	}
	PG_END_TRY();
	source_scope_leave(&scope);
	return planned;
}

/* Planning a small query takes as long as this many operators, and running it as this many; both were measured. */
#define PLANNING_OPERATORS 3000
#define STARTING_OPERATORS 2000

struct SourcePlan
{
	const AView *aview;
	Query *query;
	MemoryContext context; /* holds latest */
	PlannedStmt *latest;   /* for the last values; NULL before the first */
	PlannedStmt *generic;  /* for any values; NULL until it is asked for */
};

/* Prepare a query for being run again and again. */
SourcePlan *
source_prepare(const AView *aview, Query *query)
{
	SourcePlan *prepared = palloc0(sizeof(SourcePlan));

	prepared->aview = aview;
	prepared->query = query;
	prepared->context = AllocSetContextCreate(CurrentMemoryContext, "kanon source plan", ALLOCSET_DEFAULT_SIZES);
	return prepared;
}

/* Return the cost of planning a small query. */
Cost
cost_of_planning(void)
{
	return PLANNING_OPERATORS * cpu_operator_cost;
}

/* Return the cost of starting and ending a small query. */
Cost
cost_of_starting(void)
{
	return STARTING_OPERATORS * cpu_operator_cost;
}

/*
 * Return true if the generic plan will do.  The rule is PostgreSQL's for prepared
 * statements: it will if it costs no more than the last plan and planning again.
 */
static bool
generic_will_do(SourcePlan *prepared)
{
	MemoryContext old;

	if (prepared->generic == NULL)
	{
		old = MemoryContextSwitchTo(GetMemoryChunkContext(prepared));
		prepared->generic = source_plan(prepared->aview, prepared->query, false, NULL);
		MemoryContextSwitchTo(old);
	}
	return prepared->generic->planTree->total_cost <= prepared->latest->planTree->total_cost + cost_of_planning();
}

/* Return a plan for these values; the first values get a plan of their own. */
PlannedStmt *
source_choose(SourcePlan *prepared, ParamListInfo params, bool *planned)
{
	MemoryContext old;

	*planned = params && prepared->generic == NULL;
	if (prepared->latest && (params == NULL || generic_will_do(prepared)))
		return params ? prepared->generic : prepared->latest;
	*planned = true;
	prepared->latest = NULL;
	MemoryContextReset(prepared->context);
	old = MemoryContextSwitchTo(prepared->context);
	prepared->latest = source_plan(prepared->aview, prepared->query, false, params);
	MemoryContextSwitchTo(old);
	return prepared->latest;
}
