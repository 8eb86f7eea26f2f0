/*
 * stability.c
 *		Finding out whether a source gives the same rows when it is read again.
 *
 * Within one statement a query may change the session's role and settings, for example
 * by set_config() in a lateral join.  What the source reads of these may change then.
 */
#include "base/kanon.h"

#include "source/source.h"

#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rowsecurity.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "aview/aview.h"
#include "base/settings.h"
#include "source/citus.h"
#include "source/shards.h"

/* Return true for types of dates and times. */
static bool
is_time(Oid type)
{
	switch (type)
	{
		case DATEOID:
		case TIMEOID:
		case TIMETZOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case INTERVALOID:
			return true;
		default:
			return false;
	}
}

/*
 * Return true for a function of PostgreSQL on dates and times.  It is stable because it
 * follows TimeZone, DateStyle and similar settings, or the start of the transaction.
 */
static bool
is_about_time(Oid function)
{
	HeapTuple tuple;
	Form_pg_proc proc;
	bool result;

	if (function >= FirstNormalObjectId)
		return false;
	if (function == F_NOW || function == F_TRANSACTION_TIMESTAMP || function == F_STATEMENT_TIMESTAMP)
		return true;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return false;
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	result = proc->pronargs > 0 && proc->proargtypes.values[0] == CSTRINGOID && is_time(proc->prorettype);
	for (int i = 0; i < proc->pronargs; i++)
		result = result || is_time(proc->proargtypes.values[i]);
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Return true if a function may give another result later in the same statement: a
 * check_function_callback.  The context, a bool, is true if settings may change.
 */
static bool
function_may_change(Oid function, void *settings_change)
{
	char volatility = func_volatile(function);

	if (volatility == PROVOLATILE_IMMUTABLE)
		return false;
	return volatility == PROVOLATILE_VOLATILE || *(bool *) settings_change || !is_about_time(function);
}

/* Find an expression that may have another value later in the same statement; the context as above. */
static bool
changing_walker(Node *node, void *settings_change)
{
	if (node == NULL)
		return false;
	if (IsA(node, SQLValueFunction))
	{
		switch (((SQLValueFunction *) node)->op)
		{
			case SVFOP_CURRENT_ROLE:
			case SVFOP_CURRENT_USER:
			case SVFOP_USER:
			case SVFOP_SESSION_USER:
				return true;
			case SVFOP_CURRENT_SCHEMA:
				return *(bool *) settings_change;
			default: /* the time of the transaction, and the database */
				return false;
		}
	}
	if (IsA(node, NextValueExpr) || check_functions_in_node(node, function_may_change, settings_change))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, changing_walker, settings_change, 0);
	return expression_tree_walker(node, changing_walker, settings_change);
}

/*
 * Return true if the row policies of a table may select other rows later in the same
 * statement.  Their subqueries are not looked into.
 */
static bool
policies_may_change(Oid table, bool settings_change)
{
	Relation rel = table_open(table, AccessShareLock);
	bool result = false;
	ListCell *cell;

	if (rel->rd_rel->relrowsecurity && rel->rd_rsdesc)
	{
		foreach (cell, rel->rd_rsdesc->policies)
		{
			RowSecurityPolicy *policy = lfirst(cell);

			result = result || policy->hassublinks || changing_walker((Node *) policy->qual, &settings_change);
		}
	}
	table_close(rel, NoLock);
	return result;
}

/* The search for a part of a query with rows that may depend on when, or in which order, it runs. */
typedef struct Unstable
{
	bool settings_change; /* some settings follow the session */
	bool has_others;	  /* set if a table is found that may read others */
} Unstable;

/* Return true if reading a table may read others: partitions, tables of its policies, or a table on another server. */
static bool
reads_other_tables(Oid table)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	Form_pg_class class;
	bool result;

	if (!HeapTupleIsValid(tuple))
		return true;
	class = (Form_pg_class) GETSTRUCT(tuple);
	result = class->relhassubclass || class->relrowsecurity || class->relkind == RELKIND_FOREIGN_TABLE;
	ReleaseSysCache(tuple);
	return result;
}

/* Find a part of a query with rows that may depend on when, or in which order, it runs. */
static bool
unstable_walker(Node *node, void *context)
{
	Unstable *search = context;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		search->has_others |= rte->rtekind == RTE_RELATION && reads_other_tables(rte->relid);
		if (rte->rtekind == RTE_RELATION && rte->relkind != RELKIND_VIEW &&
			policies_may_change(rte->relid, search->settings_change))
			return true;
		return rte->tablesample != NULL ||
			   (rte->rtekind == RTE_RELATION && rte->relkind != RELKIND_RELATION &&
				rte->relkind != RELKIND_FOREIGN_TABLE && rte->relkind != RELKIND_PARTITIONED_TABLE &&
				rte->relkind != RELKIND_MATVIEW) ||
			   rte->rtekind == RTE_FUNCTION || rte->rtekind == RTE_TABLEFUNC;
	}
	if (IsA(node, Query))
	{
		Query *query = (Query *) node;

		if (query->limitCount || query->limitOffset || query->hasDistinctOn || query->hasAggs ||
			query->hasWindowFuncs || query->hasTargetSRFs)
			return true;
		return query_tree_walker(query, unstable_walker, context, QTW_EXAMINE_RTES_BEFORE);
	}
	return expression_tree_walker(node, unstable_walker, context);
}

/* Return the stability of the tables that a plan reads, among them foreign partitions, which a query does not name. */
static Stability
stability_of_tables(const PlannedStmt *plan)
{
	Stability stability = SOURCE_STABLE;
	ListCell *cell;

	foreach (cell, plan->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, cell);

		if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_FOREIGN_TABLE)
			continue;
		if (!foreign_table_is_stable(rte->relid))
			return SOURCE_UNSTABLE;
		stability = SOURCE_STABLE_ELSEWHERE;
	}
	return stability;
}

/*
 * Return the stability of a view's source.  Plain tables give the same rows twice under
 * one snapshot.  Views in the source are not looked into: a source that is not known to
 * be stable is read once, and its rows are kept.
 */
Stability
source_stability(const AView *aview, const PlannedStmt *plan)
{
	Unstable search = {.settings_change = settings_follow_session(aview->settings)};

	if (unstable_walker((Node *) aview->source, &search) ||
		changing_walker((Node *) aview->source, &search.settings_change))
		return SOURCE_UNSTABLE;
	/* Citus reads its tables on other servers, each time as they are at that time. */
	if (citus_is_here())
		return SOURCE_UNSTABLE;
	if (search.has_others && plan == NULL)
		plan = source_plan(aview, source_query(aview, source_least(aview), NIL, NIL), false, NULL);
	return search.has_others ? stability_of_tables(plan) : SOURCE_STABLE;
}
