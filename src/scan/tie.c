/*
 * tie.c
 *		Which calls of kanon.scan were reached through their view, so that PostgreSQL
 *		checks the rights of whoever the view is read for.
 *
 * All others are checked as what they are, calls of a function by whoever runs the
 * query: what cannot be tied is asked more, never less.
 */
#include "scan/aviewscan.h"

#include "catalog/pg_class.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "utils/lsyscache.h"

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

/*
 * Is this the rewritten query of a view?  Its leftover OLD entry tells, on which
 * PostgreSQL checks the rights of whoever the view is read for.
 */
static RangeTblEntry *
entry_of_view(Query *query, Oid view)
{
	RangeTblEntry *old = query->rtable ? linitial_node(RangeTblEntry, query->rtable) : NULL;

	if (query->commandType == CMD_SELECT && old && old->rtekind == RTE_RELATION && old->relkind == RELKIND_VIEW &&
		old->relid == view)
		return old;
	return NULL;
}

/*
 * Published rows cannot be locked.  PostgreSQL drops a lock on a view over a
 * function in silence; we do not.  It leaves behind the right that it needs.
 */
static void
refuse_locking(Query *query, RangeTblEntry *entry)
{
	if (kanon_permission(query, entry)->requiredPerms & ACL_SELECT_FOR_UPDATE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("rows of anonymization view \"%s\" cannot be locked", get_rel_name(entry->relid)),
				 errhint("Leave out FOR UPDATE or FOR SHARE, or name other tables in its OF clause.")));
}

/*
 * kanon.scan's support function.  Where views leave an OLD entry, the call is seen
 * here, and only here, inside the query of the view that it comes from.
 */
Datum
kanon_scan_support(PG_FUNCTION_ARGS)
{
	Node *request = (Node *) PG_GETARG_POINTER(0);

	if (KANON_VIEWS_LEAVE_OLD && IsA(request, SupportRequestSimplify))
	{
		SupportRequestSimplify *simplify = (SupportRequestSimplify *) request;
		int32 id = aview_id_of_call(simplify->fcall);
		RangeTblEntry *old = NULL;

		if (simplify->root && !aview_call_is_tied(simplify->fcall) && id != 0)
			old = entry_of_view(simplify->root->parse, aview_load(id)->view);
		if (old)
		{
			FuncExpr *call = copyObject(simplify->fcall);

			refuse_locking(simplify->root->parse, old);
			call->location = REACHED_THROUGH_VIEW;
			PG_RETURN_POINTER(call);
		}
	}
	PG_RETURN_POINTER(NULL);
}

/* Is this a view whose query has become part of the one that it is in? */
static bool
is_merged_view(const RangeTblEntry *rte, Oid view)
{
	return rte->rtekind == RTE_SUBQUERY && rte->subquery == NULL && rte->relid == view && rte->relkind == RELKIND_VIEW;
}

static bool
calls_definition(const RangeTblEntry *rte, int32 id)
{
	FuncExpr *call = rte->rtekind == RTE_FUNCTION ? aview_scan_call(rte->functions) : NULL;

	return call && aview_id_of_call(call) == id;
}

/*
 * Ties a call that the support function could not.  A view whose query was merged
 * into this one leaves its own entry and one call.  As many calls as such entries:
 * all are the view's.  More: the query itself calls the function, whoever runs it
 * needs the right to anyway, and so all are checked as theirs.
 */
void
aview_tie_call(PlannerInfo *root, FuncExpr *call)
{
	int32 id = aview_call_is_tied(call) ? 0 : aview_id_of_call(call);
	Oid view;
	int entries = 0;
	int calls = 0;
	ListCell *cell;

	if (KANON_VIEWS_LEAVE_OLD || id == 0)
		return;
	view = aview_load(id)->view;
	foreach (cell, root->parse->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, cell);

		calls += calls_definition(rte, id);
		if (!is_merged_view(rte, view))
			continue;
		entries++;
		/* The right to change what is locked is the one that UPDATE needs, too. */
		if (root->parse->commandType == CMD_SELECT)
			refuse_locking(root->parse, rte);
	}
	if (entries == calls)
		call->location = REACHED_THROUGH_VIEW;
}
