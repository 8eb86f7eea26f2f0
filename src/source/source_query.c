/*
 * source_query.c
 *		Building queries over the source of an A-view.
 */
#include "base/kanon.h"

#include "source/source.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_oper.h"

#include "aview/aview.h"

/* Return a Var for a column of the source in a query made by source_query(). */
Var *
source_column(const AView *aview, int column)
{
	const AViewColumn *c = &aview->columns[column];

	Assert(column >= 0 && column < aview->nsource);
	return makeVar(SOURCE_RTI, column + 1, c->source_type, c->source_typmod, c->source_collation, 0);
}

/* Return the source as a subquery. */
static RangeTblEntry *
source_entry(const AView *aview)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	List *names = NIL;

	for (int i = 0; i < aview->nsource; i++)
		names = lappend(names, makeString(aview->columns[i].name));
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = copyObject(aview->source);
	rte->eref = makeAlias("source", names);
	rte->inFromCl = true;
	return rte;
}

/* Add the relations of a query, and of all queries inside it, to the range table of the query in the context. */
static bool
mention_walker(Node *node, void *context)
{
	ListCell *cell;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, mention_walker, context);
	foreach (cell, ((Query *) node)->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, cell);

		if (rte->rtekind == RTE_RELATION)
			kanon_add_entry((Query *) context, (Query *) node, rte);
	}
	return query_tree_walker((Query *) node, mention_walker, context, 0);
}

/* Add the relations of the source to the range table of a query that does not read them. */
void
source_mention(const AView *aview, Query *query)
{
	(void) mention_walker((Node *) aview->source, query);
}

/* Return a clause that sorts by a column of the target list. */
static SortGroupClause *
sort_by(TargetEntry *entry)
{
	SortGroupClause *clause = makeNode(SortGroupClause);

	get_sort_group_operators(exprType((Node *) entry->expr), true, true, false,
							 &clause->sortop, &clause->eqop, NULL, &clause->hashable);
	entry->ressortgroupref = entry->resno;
	clause->tleSortGroupRef = entry->resno;
	return clause;
}

/* Return a query for columns of the source's rows that satisfy conditions, in an order or, with NIL, in none. */
Query *
source_query(const AView *aview, List *columns, List *conditions, List *order_by)
{
	Query *query = makeNode(Query);
	RangeTblRef *ref = makeNode(RangeTblRef);
	ListCell *cell;

	query->commandType = CMD_SELECT;
	query->querySource = QSRC_ORIGINAL;
	query->canSetTag = true;
	query->rtable = list_make1(source_entry(aview));
	ref->rtindex = SOURCE_RTI;
	query->jointree = makeFromExpr(list_make1(ref), (Node *) make_ands_explicit(copyObject(conditions)));
	if (conditions == NIL)
		query->jointree->quals = NULL;
	foreach (cell, columns)
	{
		int column = lfirst_int(cell);
		TargetEntry *entry = makeTargetEntry((Expr *) source_column(aview, column), list_length(query->targetList) + 1,
											 pstrdup(aview->columns[column].name), false);

		query->targetList = lappend(query->targetList, entry);
		if (list_member_int(order_by, column))
			query->sortClause = lappend(query->sortClause, sort_by(entry));
	}
	return query;
}

/* Return the cheapest column to read: with a profile, the one that needs the join with the choices. */
List *
source_least(const AView *aview)
{
	return list_make1_int(aview->profile ? aview->profile->found : 0);
}
