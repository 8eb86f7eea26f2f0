/*
 * stability.c
 *		Finding out whether a source gives the same rows when it is read again.
 */
#include "base/kanon.h"

#include "source/source.h"

#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/syscache.h"

#include "aview/aview.h"
#include "source/citus.h"
#include "source/shards.h"

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

/*
 * Find a part of a query with rows that may depend on when, or in which order, it runs.
 * Set the context, a bool, if a table is found that may read others.
 */
static bool
unstable_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		*(bool *) context |= rte->rtekind == RTE_RELATION && reads_other_tables(rte->relid);
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
	bool has_others = false;

	if (unstable_walker((Node *) aview->source, &has_others) ||
		contain_volatile_functions_not_nextval((Node *) aview->source) ||
		contain_volatile_functions((Node *) aview->source))
		return SOURCE_UNSTABLE;
	/* Citus reads its tables on other servers, each time as they are at that time. */
	if (citus_is_here())
		return SOURCE_UNSTABLE;
	if (has_others && plan == NULL)
		plan = source_plan(aview, source_query(aview, source_least(aview), NIL, NIL), false, NULL);
	return has_others ? stability_of_tables(plan) : SOURCE_STABLE;
}
