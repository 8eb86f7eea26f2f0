/*
 * join_planner.c
 *		Paths for joins by AVLIKE.
 */
#include "base/kanon.h"

#include "join/join.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "base/extension.h"

static Plan *plan_join(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *plans);

static const CustomPathMethods join_path_methods = {
	.CustomName = "AVLIKE Join",
	.PlanCustomPath = plan_join,
};

const CustomScanMethods avlike_join_methods = {
	.CustomName = "AVLIKE Join",
	.CreateCustomScanState = avlike_join_create_state,
};

/* The members of a path's custom_private. */
enum JoinPathPrivate
{
	JOIN_PATH_KIND,	  /* Integer: JoinType */
	JOIN_PATH_CLAUSES /* List of RestrictInfos */
};

static set_join_pathlist_hook_type next_join_pathlist_hook = NULL;
static bool enable_avlike_join = true;

/* Return true if a clause joins a value of one side with a value of the other by AVLIKE, and say which is which. */
static bool
joins_by_avlike(const RestrictInfo *info, const RelOptInfo *outer, const RelOptInfo *inner, bool *outer_is_left)
{
	OpExpr *clause = (OpExpr *) info->clause;

	if (!IsA(clause, OpExpr) || !info->can_join || info->pseudoconstant || info->security_level > 0 ||
		!kanon_is_function(get_opcode(clause->opno), "avlike"))
		return false;
	*outer_is_left = bms_is_subset(info->left_relids, outer->relids);
	if (*outer_is_left)
		return bms_is_subset(info->right_relids, inner->relids);
	return bms_is_subset(info->left_relids, inner->relids) && bms_is_subset(info->right_relids, outer->relids);
}

/*
 * Return true if a condition decides which rows are joined.  A condition of WHERE above
 * an outer join only drops rows that were joined before.
 */
static bool
makes_pairs(RestrictInfo *info, JoinType jointype, const RelOptInfo *joinrel)
{
	return !IS_OUTER_JOIN(jointype) || !RINFO_IS_PUSHED_DOWN(info, joinrel->relids);
}

/* The conditions of a join, each a List of RestrictInfos. */
typedef struct JoinConditions
{
	List *keys;	  /* join the sides by AVLIKE */
	List *filter; /* others that two rows must satisfy to be joined */
	List *after;  /* on joined rows */
} JoinConditions;

/* Split the conditions of a join by their use. */
static void
split_conditions(List *clauses, JoinType jointype, const RelOptInfo *joinrel, CustomPath *path,
				 JoinConditions *conditions)
{
	RelOptInfo *outer = ((Path *) linitial(path->custom_paths))->parent;
	RelOptInfo *inner = ((Path *) lsecond(path->custom_paths))->parent;
	bool outer_is_left;
	ListCell *cell;

	memset(conditions, 0, sizeof(JoinConditions));
	foreach (cell, clauses)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);

		if (!makes_pairs(info, jointype, joinrel))
			conditions->after = lappend(conditions->after, info);
		else if (joins_by_avlike(info, outer, inner, &outer_is_left))
			conditions->keys = lappend(conditions->keys, info);
		else
			conditions->filter = lappend(conditions->filter, info);
	}
}

/* Set the costs of a join: reading both sides once, finding matches once per value, and joining the rows. */
static void
cost_join(PlannerInfo *root, CustomPath *path, const JoinConditions *conditions)
{
	Path *outer = linitial(path->custom_paths);
	Path *inner = lsecond(path->custom_paths);
	Cost lookup = list_length(conditions->keys) * 2 * cpu_operator_cost;
	QualCost qual;

	cost_qual_eval(&qual, list_concat_copy(conditions->filter, conditions->after), root);
	path->path.startup_cost = inner->total_cost + outer->startup_cost + inner->rows * lookup + qual.startup;
	path->path.total_cost = path->path.startup_cost + outer->total_cost - outer->startup_cost + outer->rows * lookup +
							path->path.rows *
								(cpu_tuple_cost + list_length(conditions->keys) * cpu_operator_cost + qual.per_tuple);
}

/* Return true if there is a path that needs no parameters. */
static bool
is_usable(const Path *path)
{
	return path && path->param_info == NULL;
}

/* Add the path of an AVLIKE join of two relations. */
static void
add_avlike_path(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner, JoinType jointype,
				JoinPathExtraData *extra)
{
	CustomPath *path = makeNode(CustomPath);
	JoinConditions conditions;

	path->path.pathtype = T_CustomScan;
	path->path.parent = joinrel;
	path->path.pathtarget = joinrel->reltarget;
	path->path.rows = joinrel->rows;
	path->flags = KANON_PATH_PROJECTS;
	path->methods = &join_path_methods;
	path->custom_paths = list_make2(outer->cheapest_total_path, inner->cheapest_total_path);
	path->custom_private = list_make2(makeInteger(jointype), extra->restrictlist);
	split_conditions(extra->restrictlist, jointype, joinrel, path, &conditions);
	Assert(conditions.keys != NIL);
	cost_join(root, path, &conditions);
	add_path(joinrel, &path->path);
}

/* Return true for the types of joins that the node knows. */
static bool
can_join(JoinType jointype)
{
	switch (jointype)
	{
		case JOIN_INNER:
		case JOIN_SEMI:
		case JOIN_LEFT:
		case JOIN_RIGHT:
		case JOIN_FULL:
		case JOIN_ANTI:
			return true;
		default:
			return false;
	}
}

/* Return true if a clause decides by AVLIKE which rows of two relations are joined. */
static bool
has_avlike_key(List *clauses, JoinType jointype, const RelOptInfo *joinrel, const RelOptInfo *outer,
			   const RelOptInfo *inner)
{
	bool outer_is_left;
	ListCell *cell;

	foreach (cell, clauses)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);

		if (makes_pairs(info, jointype, joinrel) && joins_by_avlike(info, outer, inner, &outer_is_left))
			return true;
	}
	return false;
}

/* Return the reason why the node cannot join two relations that are joined by AVLIKE, or NULL if it can. */
static const char *
objection_to_join(const PlannerInfo *root, const RelOptInfo *joinrel, const RelOptInfo *outer, const RelOptInfo *inner,
				  JoinType jointype, const JoinPathExtraData *extra)
{
	if (!enable_avlike_join)
		return "kanon.enable_avlike_join is off";
	if (!can_join(jointype))
		return "one side is made unique first";
	if (root->parse->commandType != CMD_SELECT || root->rowMarks != NIL)
		return "the query locks or changes rows, and joined rows cannot be rechecked";
	if (!bms_is_empty(joinrel->lateral_relids) || !is_usable(outer->cheapest_total_path) ||
		!is_usable(inner->cheapest_total_path))
		return "a side needs rows of other relations";
	/* These would get lost: PostgreSQL evaluates them in nodes above its own joins only. */
	if (extract_actual_clauses(extra->restrictlist, true) != NIL)
		return "a condition has no columns";
	return NULL;
}

/* Add an AVLIKE join to the paths of a join, if there is a reason to: the set_join_pathlist hook. */
static void
add_avlike_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner, JoinType jointype,
				 JoinPathExtraData *extra)
{
	const char *objection;

	if (next_join_pathlist_hook)
		next_join_pathlist_hook(root, joinrel, outer, inner, jointype, extra);
	if (!has_avlike_key(extra->restrictlist, jointype, joinrel, outer, inner))
		return;
	objection = objection_to_join(root, joinrel, outer, inner, jointype, extra);
	if (objection)
		elog(DEBUG2, "kanon: no AVLIKE join: %s", objection);
	else
		add_avlike_path(root, joinrel, outer, inner, jointype, extra);
}

/* Return the columns of both sides, the outer ones first, as a target list. */
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

/* Return true if two expressions are the same column, whichever outer joins may have made it NULL. */
static bool
same_column(const Node *a, const Node *b)
{
	if (IsA(a, Var) && IsA(b, Var))
		return ((const Var *) a)->varno == ((const Var *) b)->varno &&
			   ((const Var *) a)->varattno == ((const Var *) b)->varattno;
	return IsA(a, PlaceHolderVar) && IsA(b, PlaceHolderVar) &&
		   ((const PlaceHolderVar *) a)->phid == ((const PlaceHolderVar *) b)->phid;
}

/* Return the entry of a column in a target list, or NULL. */
static TargetEntry *
find_joined_column(List *columns, const Node *wanted)
{
	ListCell *cell;

	foreach (cell, columns)
	{
		if (same_column((Node *) lfirst_node(TargetEntry, cell)->expr, wanted))
			return lfirst(cell);
	}
	return NULL;
}

/*
 * Give columns of a target list the form that expressions over the joined rows use.
 * From PostgreSQL 16 on a Var says which outer joins may have made it NULL, and one
 * node must not have the same column in two forms.
 */
static void
show_as_used(List *columns, List *used)
{
	ListCell *cell;

	foreach (cell, pull_var_clause((Node *) used,
								   PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_INCLUDE_PLACEHOLDERS))
	{
		TargetEntry *entry = find_joined_column(columns, lfirst(cell));

		if (entry)
			entry->expr = copyObject(lfirst(cell));
		else if (IsA(lfirst(cell), PlaceHolderVar))
			show_as_used(columns, list_make1(((PlaceHolderVar *) lfirst(cell))->phexpr));
	}
}

/* Give columns in an expression the form that the target list has. */
static Node *
as_shown(Node *node, void *columns)
{
	TargetEntry *entry;

	if (node == NULL)
		return NULL;
	entry = IsA(node, Var) || IsA(node, PlaceHolderVar) ? find_joined_column(columns, node) : NULL;
	if (entry)
		return (Node *) copyObject(entry->expr);
	return expression_tree_mutator(node, as_shown, columns);
}

/* Return the clauses of RestrictInfos with their columns in the form that the target list has. */
static List *
clauses_as_shown(List *infos, List *columns)
{
	return (List *) as_shown((Node *) extract_actual_clauses(infos, false), columns);
}

/* Make the custom-scan node of a join. */
static Plan *
plan_join(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *plans)
{
	CustomScan *scan = makeNode(CustomScan);
	RelOptInfo *outer = ((Path *) linitial(path->custom_paths))->parent;
	RelOptInfo *inner = ((Path *) lsecond(path->custom_paths))->parent;
	JoinType jointype = intVal(list_nth(path->custom_private, JOIN_PATH_KIND));
	List *sides = NIL;
	JoinConditions conditions;
	ListCell *cell;

	split_conditions(list_nth(path->custom_private, JOIN_PATH_CLAUSES), jointype, rel, path, &conditions);
	foreach (cell, conditions.keys)
	{
		bool outer_is_left = false;

		if (!joins_by_avlike(lfirst(cell), outer, inner, &outer_is_left))
			elog(ERROR, "a clause that joined by AVLIKE no longer does");
		sides = lappend_int(sides, outer_is_left);
	}
	scan->custom_scan_tlist = columns_of(plans);
	show_as_used(scan->custom_scan_tlist, extract_actual_clauses(conditions.after, false));
	show_as_used(scan->custom_scan_tlist, rel->reltarget->exprs); /* the list may be left to others */
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = clauses_as_shown(conditions.after, scan->custom_scan_tlist);
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->methods = &avlike_join_methods;
	scan->custom_plans = plans;
	scan->custom_exprs = list_make2(clauses_as_shown(conditions.keys, scan->custom_scan_tlist),
									clauses_as_shown(conditions.filter, scan->custom_scan_tlist));
	scan->custom_private = list_make2(makeInteger(jointype), sides);
	return (Plan *) scan;
}

/* Define the setting and install the hook; called once when the library is loaded. */
void
avlike_join_init(void)
{
	DefineCustomBoolVariable("kanon.enable_avlike_join",
							 "Lets the planner join by AVLIKE without comparing every pair.",
							 "Joins give the same rows without it; this is for tests.", &enable_avlike_join, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	RegisterCustomScanMethods(&avlike_join_methods);
	next_join_pathlist_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = add_avlike_paths;
}
