/*
 * tie.c
 *		Which calls of kanon.scan were reached through their view, so that PostgreSQL
 *		checks the rights of whoever the view is read for.
 *
 * All others are checked as what they are, calls of a function by whoever runs the
 * query: what cannot be tied is asked more, never less.
 */
#include "base/kanon.h"

#include "scan/aviewscan.h"

#include "catalog/pg_class.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "utils/lsyscache.h"

#include "aview/aview.h"

PG_FUNCTION_INFO_V1(kanon_scan_support);

/*
 * A call of kanon.scan that was reached through the view carries this instead of
 * a position in the query text.  No text can produce it, and stored rules do not
 * keep positions.
 */
#define REACHED_THROUGH_VIEW (-0x6b61)

bool
aview_call_is_tied(const FuncExpr *call)
{
	return call->location == REACHED_THROUGH_VIEW;
}

/* A view in a query, or the entry OLD that it left in its own, on which PostgreSQL checks whoever reads it. */
static bool
is_entry_of(const RangeTblEntry *rte, RTEKind kind, Oid view)
{
	return rte->rtekind == kind && rte->relid == view && rte->relkind == RELKIND_VIEW;
}

/*
 * Published rows cannot be locked.  PostgreSQL drops a lock on a view over a
 * function in silence; we do not.  It leaves behind the right that it needs, which
 * is the one to change rows, too.
 */
static void
refuse_locking(Query *query, RTEKind kind, Oid view)
{
	ListCell *cell;

	foreach (cell, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, cell);

		if (query->commandType == CMD_SELECT && is_entry_of(rte, kind, view) &&
			kanon_permission(query, rte)->requiredPerms & ACL_SELECT_FOR_UPDATE)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("rows of anonymization view \"%s\" cannot be locked", get_rel_name(view)),
					 errhint("Leave out FOR UPDATE or FOR SHARE, or name other tables in its OF clause.")));
	}
}

/* Whom PostgreSQL asks for the right to read what a query names. */
typedef struct Readers
{
	Oid owner;
	bool any;	/* is there anything to read? */
	bool other; /* does anybody but the owner read it? */
} Readers;

/* What a view names is its owner's matter: there we do not look. */
static bool
find_readers(Node *node, void *arg)
{
	Readers *readers = arg;
	Query *query = (Query *) node;
	ListCell *cell;

	if (node == NULL || !IsA(node, Query))
		return expression_tree_walker(node, find_readers, arg);
	foreach (cell, kanon_permissions(query))
	{
		readers->any = true;
		readers->other |= ((KanonPermission *) lfirst(cell))->checkAsUser != readers->owner;
	}
	foreach (cell, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, cell);

		if (rte->rtekind == RTE_SUBQUERY && !OidIsValid(rte->relid))
			find_readers((Node *) rte->subquery, arg);
	}
	return query_tree_walker(query, find_readers, arg, QTW_IGNORE_RT_SUBQUERIES);
}

/*
 * Does the view's owner, and nobody else, read the source of a query that looks
 * like an A-view's?  Conditions that PostgreSQL moves into it stand behind its own.
 */
static bool
is_read_by_owner(Query *query, const AView *aview)
{
	Readers readers = {.owner = aview->owner};
	Node *condition = query->jointree->quals;

	while (is_andclause(condition))
		condition = linitial(((BoolExpr *) condition)->args);
	find_readers((Node *) aview_source_of_condition(condition), &readers);
	return readers.any && !readers.other;
}

/*
 * Is this the query of the view, as PostgreSQL put it in the view's place?  It has
 * nothing in its FROM but the call.  Before PostgreSQL 16 the view's entry OLD
 * stands there, too, and tells; a query that a rule on the view has put together
 * has more.  Since then, nothing names the view any more.  But its source is read by
 * its owner, and nobody can write that: such a query is this view's, or that of
 * another view that the same owner made of the same text, and gave to others.
 *
 * Left out, and so asked more, are views that read with their callers' rights, and
 * sources that read no relation.
 */
static bool
is_query_of_view(Query *query, const AView *aview)
{
	int others = KANON_VIEWS_LEAVE_OLD ? 2 : 0;
	FuncExpr *call;

	if (query->commandType != CMD_SELECT || list_length(query->rtable) != others + 1)
		return false;
	call = aview_scan_call(llast_node(RangeTblEntry, query->rtable)->functions);
	if (call == NULL || aview_id_of_call(call) != aview->id)
		return false;
	if (KANON_VIEWS_LEAVE_OLD)
		return is_entry_of(linitial(query->rtable), RTE_RELATION, aview->view) &&
			   is_entry_of(lsecond(query->rtable), RTE_RELATION, aview->view);
	return is_read_by_owner(query, aview);
}

/*
 * kanon.scan's support function.  The call is seen here, and only here, inside the
 * query that it comes from, before that becomes part of another.
 */
Datum
kanon_scan_support(PG_FUNCTION_ARGS)
{
	Node *request = (Node *) PG_GETARG_POINTER(0);
	SupportRequestSimplify *simplify = (SupportRequestSimplify *) request;
	AView *aview;
	FuncExpr *call;
	int32 id;

	if (!IsA(request, SupportRequestSimplify) || simplify->root == NULL || aview_call_is_tied(simplify->fcall))
		PG_RETURN_POINTER(NULL);
	id = aview_id_of_call(simplify->fcall);
	aview = id == 0 ? NULL : aview_load(id);
	if (aview == NULL || !is_query_of_view(simplify->root->parse, aview))
		PG_RETURN_POINTER(NULL);
	if (KANON_VIEWS_LEAVE_OLD)
		refuse_locking(simplify->root->parse, RTE_RELATION, aview->view);
	call = copyObject(simplify->fcall);
	call->location = REACHED_THROUGH_VIEW;
	PG_RETURN_POINTER(call);
}

/* Since PostgreSQL 16 the view's entry is in the query that names it: this one, or the one around it. */
void
aview_refuse_locking(PlannerInfo *root, FuncExpr *call)
{
	Oid view;

	if (KANON_VIEWS_LEAVE_OLD || !aview_call_is_tied(call))
		return;
	view = aview_load(aview_id_of_call(call))->view;
	refuse_locking(root->parse, RTE_SUBQUERY, view);
	if (root->parent_root)
		refuse_locking(root->parent_root->parse, RTE_SUBQUERY, view);
}
