/*
 * projection.c
 *		Reading a source that leaves out columns of a query: see projection.h.
 */
#include "base/kanon.h"

#include "aview/projection.h"

#include "parser/parsetree.h"

/* Return the subquery of a query that does nothing but leave out columns of it, or NULL. */
static Query *
projected(const Query *query)
{
	RangeTblEntry *rte = list_length(query->rtable) == 1 ? linitial_node(RangeTblEntry, query->rtable) : NULL;

	if (rte == NULL || rte->rtekind != RTE_SUBQUERY || rte->alias == NULL ||
		strcmp(rte->alias->aliasname, PROJECTION_NAME) != 0 || query->jointree->quals)
		return NULL;
	return rte->subquery;
}

/*
 * Return true if columns of a query can be left out of its target list without a change of
 * its rows.
 */
static bool
can_leave_out(const Query *query)
{
	return !(query->setOperations || query->distinctClause || query->groupClause || query->groupingSets ||
			 query->havingQual || query->hasAggs || query->hasWindowFuncs || query->hasTargetSRFs);
}

/* Return the columns of a query that a projection of it asks for, in its order, or NIL if it asks for anything else. */
static List *
kept_columns(const Query *outer, const Query *query)
{
	List *kept = NIL;
	ListCell *cell;

	foreach (cell, outer->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		Var *var = (Var *) entry->expr;
		TargetEntry *column;

		if (!IsA(var, Var) || var->varlevelsup > 0 || var->varattno <= 0)
			return NIL;
		column = get_tle_by_resno(query->targetList, var->varattno);
		if (column == NULL || column->resjunk || list_member_ptr(kept, column))
			return NIL;
		kept = lappend(kept, column);
	}
	return kept;
}

/* Give a query some of its columns, in their order; the others remain only where it is ordered by them. */
static void
keep_columns(Query *query, List *kept)
{
	List *columns = list_copy(kept);
	ListCell *cell;
	int place = 0;

	foreach (cell, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (list_member_ptr(kept, entry) || entry->ressortgroupref == 0)
			continue;
		entry->resjunk = true;
		columns = lappend(columns, entry);
	}
	foreach (cell, columns)
		lfirst_node(TargetEntry, cell)->resno = ++place;
	query->targetList = columns;
}

/* Return the query that gives the rows of a source: see projection.h. */
Query *
projection_read(Query *source)
{
	Query *query = projected(source);
	List *kept = query && can_leave_out(query) ? kept_columns(source, query) : NIL;

	if (kept == NIL)
		return source;
	keep_columns(query, kept);
	return query;
}

/* Return the query that has all columns: see projection.h. */
Query *
projection_inside(Query *rows)
{
	Query *query = projected(rows);

	return query ? query : rows;
}
