/*
 * join_planner.c
 *		Paths for joins by AVLIKE.
 */
#include "scan/join.h"

#include "catalog/namespace.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "hierarchy/catalog.h"

static Plan *plan_join(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *plans);

static const CustomPathMethods join_path_methods = {
	.CustomName = "AVLIKE Join",
	.PlanCustomPath = plan_join,
};

const CustomScanMethods avlike_join_methods = {
	.CustomName = "AVLIKE Join",
	.CreateCustomScanState = avlike_join_create_state,
};

static set_join_pathlist_hook_type next_join_pathlist_hook = NULL;
static bool enable_avlike_join = true;

/* Is this a function of ours that says AVLIKE? */
static bool
is_avlike(Oid function)
{
	char *name;

	if (get_func_namespace(function) != get_namespace_oid(KANON_SCHEMA, true))
		return false;
	name = get_func_name(function);
	return name && strcmp(name, "avlike") == 0;
}

/* Does a clause say that a value of one side is AVLIKE one of the other? */
static bool
joins_by_avlike(const RestrictInfo *info, const RelOptInfo *outer, const RelOptInfo *inner, bool *outer_is_left)
{
	OpExpr *clause = (OpExpr *) info->clause;

	if (!IsA(clause, OpExpr) || !info->can_join || info->pseudoconstant || info->security_level > 0 ||
		!is_avlike(get_opcode(clause->opno)))
		return false;
	*outer_is_left = bms_is_subset(info->left_relids, outer->relids);
	if (*outer_is_left)
		return bms_is_subset(info->right_relids, inner->relids);
	return bms_is_subset(info->left_relids, inner->relids) && bms_is_subset(info->right_relids, outer->relids);
}

static List *
avlike_clauses(List *clauses, const RelOptInfo *outer, const RelOptInfo *inner)
{
	List *found = NIL;
	bool outer_is_left;
	ListCell *cell;

	foreach (cell, clauses)
	{
		if (joins_by_avlike(lfirst(cell), outer, inner, &outer_is_left))
			found = lappend(found, lfirst(cell));
	}
	return found;
}

/* Both sides once, each value's matches once, and what comes out of it. */
static void
cost_join(PlannerInfo *root, Path *path, Path *outer, Path *inner, List *clauses, List *others)
{
	Cost lookup = list_length(clauses) * 2 * cpu_operator_cost;
	QualCost qual;

	cost_qual_eval(&qual, others, root);
	path->startup_cost = inner->total_cost + outer->startup_cost + inner->rows * lookup + qual.startup;
	path->total_cost = path->startup_cost + outer->total_cost - outer->startup_cost + outer->rows * lookup +
					   path->rows * (cpu_tuple_cost + list_length(clauses) * cpu_operator_cost + qual.per_tuple);
}

static bool
is_usable(const Path *path)
{
	return path && path->param_info == NULL;
}

static void
add_join_path(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner, JoinPathExtraData *extra)
{
	List *clauses = avlike_clauses(extra->restrictlist, outer, inner);
	CustomPath *path;

	if (clauses == NIL || !is_usable(outer->cheapest_total_path) || !is_usable(inner->cheapest_total_path))
		return;
	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = joinrel;
	path->path.pathtarget = joinrel->reltarget;
	path->path.rows = joinrel->rows;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = &join_path_methods;
	path->custom_paths = list_make2(outer->cheapest_total_path, inner->cheapest_total_path);
	path->custom_private = list_make2(clauses, list_difference_ptr(extra->restrictlist, clauses));
	cost_join(root, &path->path, outer->cheapest_total_path, inner->cheapest_total_path, clauses, lsecond(path->custom_private));
	add_path(joinrel, &path->path);
}

/* Only where nothing has to be read again for a row that changed meanwhile. */
static void
add_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner, JoinType jointype,
			   JoinPathExtraData *extra)
{
	if (next_join_pathlist_hook)
		next_join_pathlist_hook(root, joinrel, outer, inner, jointype, extra);
	if (enable_avlike_join && jointype == JOIN_INNER && root->parse->commandType == CMD_SELECT && root->rowMarks == NIL &&
		bms_is_empty(joinrel->lateral_relids))
		add_join_path(root, joinrel, outer, inner, extra);
}

/* The columns of both sides, one after the other. */
static List *
columns_of(List *plans)
{
	List *columns = NIL;
	ListCell *plan;
	ListCell *cell;

	foreach (plan, plans)
	{
		foreach (cell, ((Plan *) lfirst(plan))->targetlist)
		{
			TargetEntry *entry = lfirst_node(TargetEntry, cell);

			columns = lappend(columns, makeTargetEntry(copyObject(entry->expr), list_length(columns) + 1, NULL, false));
		}
	}
	return columns;
}

static Plan *
plan_join(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *plans)
{
	CustomScan *scan = makeNode(CustomScan);
	RelOptInfo *outer = ((Path *) linitial(path->custom_paths))->parent;
	RelOptInfo *inner = ((Path *) lsecond(path->custom_paths))->parent;
	ListCell *cell;

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = extract_actual_clauses(lsecond(path->custom_private), false);
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->methods = &avlike_join_methods;
	scan->custom_plans = plans;
	scan->custom_scan_tlist = columns_of(plans);
	foreach (cell, linitial(path->custom_private))
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);
		bool outer_is_left = false;

		(void) joins_by_avlike(info, outer, inner, &outer_is_left);
		scan->custom_exprs = lappend(scan->custom_exprs, info->clause);
		scan->custom_private = lappend_int(scan->custom_private, outer_is_left);
	}
	return (Plan *) scan;
}

void
avlike_join_init(void)
{
	DefineCustomBoolVariable("kanon.enable_avlike_join", "Lets the planner join by AVLIKE without comparing every pair.",
							 "Joins give the same rows without it; this is for tests.",
							 &enable_avlike_join, true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	RegisterCustomScanMethods(&avlike_join_methods);
	next_join_pathlist_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = add_join_paths;
}
