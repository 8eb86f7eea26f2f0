/*
 * tie.c
 *		Tying a call of kanon.scan to the view that it was reached through.
 *
 * PostgreSQL checks the reader's rights on a view where the query names the view.
 * A call of kanon.scan that is part of such a view needs no check of its own; any
 * other call is checked as a call by the current user.  So a call that cannot be
 * tied is checked more strictly, never less.
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
 * The location of a tied call, in place of its position in the query text.  No text
 * can produce it, and stored rules do not keep positions.
 */
#define REACHED_THROUGH_VIEW (-0x6b61)

/* Return true if a call was reached through its view. */
bool
aview_call_is_tied(const FuncExpr *call)
{
	return call->location == REACHED_THROUGH_VIEW;
}

/*
 * Return true for the range table entry of a view: the view as a query names it, or
 * the entry OLD in the view's own query.  PostgreSQL checks the reader's rights on it.
 */
static bool
is_entry_of(const RangeTblEntry *rte, RTEKind kind, Oid view)
{
	return rte->rtekind == kind && rte->relid == view && rte->relkind == RELKIND_VIEW;
}

/*
 * Refuse FOR UPDATE and FOR SHARE on a view: published rows cannot be locked.
 * PostgreSQL silently drops a lock on a view over a function, but leaves the
 * right that the lock needs in the view's entry, which shows it.
 */
static void
tie_refuse_locking(Query *query, RTEKind kind, Oid view)
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

/* The roles whose rights are checked for the relations of a query. */
typedef struct Readers
{
	Oid owner;	/* of the A-view */
	bool any;	/* true if the query reads a relation */
	bool other; /* true if a relation is read with the rights of another role than the owner */
} Readers;

/*
 * Collect the readers of a query.  The relations that a view names are read by the view's owner, and are not
 * looked at.
 */
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
 * Return true if the source of a query that looks like an A-view's is read with the
 * rights of the view's owner only.  Conditions that PostgreSQL has moved into the
 * query stand behind the view's own condition, which holds the source.
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
 * Return true if a query is the view's own, as PostgreSQL put it in the view's place.
 *
 * Its FROM has nothing but the call.  Before PostgreSQL 16 the view's entry OLD stands
 * there, too, and identifies the view; a query that a rule on the view has put
 * together has more entries.  From 16 on nothing in the query names the view.  But the
 * relations of its source are read with the owner's rights, and no SQL text can ask
 * for that: such a query comes from this view, or from another view that the same
 * owner made from the same text and granted to others.
 *
 * Views that read with their callers' rights and sources that read no relation are not
 * recognised, so that their calls are checked as calls by the current user.
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
 * Tie a call to its view: kanon.scan's planner support function.  This is the only
 * place where the call is seen inside the query that it comes from, before the query
 * becomes part of another one.
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
		tie_refuse_locking(simplify->root->parse, RTE_RELATION, aview->view);
	call = copyObject(simplify->fcall);
	call->location = REACHED_THROUGH_VIEW;
	PG_RETURN_POINTER(call);
}

/* From PostgreSQL 16 on the view's entry is in the query that names the view: this one, or the one around it. */
void
aview_refuse_locking(PlannerInfo *root, FuncExpr *call)
{
	Oid view;

	if (KANON_VIEWS_LEAVE_OLD || !aview_call_is_tied(call))
		return;
	view = aview_load(aview_id_of_call(call))->view;
	tie_refuse_locking(root->parse, RTE_SUBQUERY, view);
	if (root->parent_root)
		tie_refuse_locking(root->parent_root->parse, RTE_SUBQUERY, view);
}
