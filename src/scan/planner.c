/*
 * planner.c
 *		Replacing a call of kanon.scan in a query by the custom-scan node.
 *
 * The library need not be preloaded: kanon.scan has a planner support function (in
 * tie.c), and PostgreSQL loads the library to call it before it makes paths.
 */
#include "base/kanon.h"

#include "scan/aviewscan.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "anonymize/costs.h"
#include "aview/aview.h"
#include "base/extension.h"
#include "hierarchy/catalog.h"
#include "scan/conditions.h"

static const struct config_enum_entry plan_choices[] = {
	{"auto", CHOOSE_AUTO, false},
	{"anonymize_first", CHOOSE_ANONYMIZE_FIRST, false},
	{"select_first", CHOOSE_SELECT_FIRST, false},
	{"function", CHOOSE_FUNCTION, false},
	{NULL, 0, false},
};

static set_rel_pathlist_hook_type next_pathlist_hook = NULL;

static Plan *plan_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *plans);

const CustomPathMethods aview_path_methods = {
	.CustomName = "Anonymization View Scan",
	.PlanCustomPath = plan_path,
};

const CustomScanMethods aview_scan_methods = {
	.CustomName = "Anonymization View Scan",
	.CreateCustomScanState = aview_create_scan_state,
};

/* Return the number of the definition that an argument of kanon.scan names, as a number, a view or a name. */
int32
aview_id_of_argument(Oid type, Datum value)
{
	char *name;

	if (type == REGCLASSOID)
		return aview_id_of_view(DatumGetObjectId(value));
	name = TextDatumGetCString(value);
	if (name[0] != '\0' && strspn(name, "0123456789") == strlen(name) && strlen(name) < 10)
		return atoi(name);
	return aview_id_by_name(name);
}

/* Return the number of the definition that a call of kanon.scan names, or 0 if its argument is no constant. */
int32
aview_id_of_call(FuncExpr *call)
{
	Const *argument = linitial(call->args);

	if (!IsA(argument, Const) || argument->constisnull)
		return 0;
	return aview_id_of_argument(argument->consttype, argument->constvalue);
}

/* Return the call of kanon.scan that a function relation consists of, or NULL if it is something else. */
FuncExpr *
aview_scan_call(List *functions)
{
	FuncExpr *call;

	if (list_length(functions) != 1)
		return NULL;
	call = (FuncExpr *) linitial_node(RangeTblFunction, functions)->funcexpr;
	if (!IsA(call, FuncExpr) || list_length(call->args) != 1 || !kanon_is_function(call->funcid, "scan"))
		return NULL;
	return call;
}

/* Raise an error unless the call asks for the columns that the view has. */
static void
check_columns(RangeTblEntry *rte, const AView *aview)
{
	RangeTblFunction *function = linitial_node(RangeTblFunction, rte->functions);
	ListCell *cell;
	int column = 0;

	foreach (cell, function->funccoltypes)
		aview_check_type(aview, column++, lfirst_oid(cell));
	if (column != aview->ncolumns)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the anonymization view has %d columns, but %d were asked for", aview->ncolumns, column)));
}

/* Return the reason why a call of kanon.scan stays a call of the function, or NULL if the node may replace it. */
static const char *
objection_to_scan(const RelOptInfo *rel, const RangeTblEntry *rte, FuncExpr *call)
{
	if (rte->funcordinality)
		return "its rows are numbered";
	/* Nothing locks the definition of an untied call before a cached plan is used. */
	if (!aview_call_is_tied(call))
		return "the call was not reached through its view";
	if (kanon_plan == CHOOSE_FUNCTION)
		return "kanon.plan asks for it";
	if (!bms_is_empty(rel->lateral_relids))
		return "the relation refers to others laterally";
	Assert(aview_id_of_call(call) > 0);
	return NULL;
}

/* Replace the paths of a function relation that is a tied call of kanon.scan: the set_rel_pathlist hook. */
static void
add_aview_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	FuncExpr *call;
	AView *aview;
	const char *objection;

	if (next_pathlist_hook)
		next_pathlist_hook(root, rel, rti, rte);
	call = rte->rtekind == RTE_FUNCTION ? aview_scan_call(rte->functions) : NULL;
	if (call == NULL)
		return;
	aview_refuse_locking(root, call);
	objection = objection_to_scan(rel, rte, call);
	if (objection)
	{
		elog(DEBUG2, "kanon: scan stays a function: %s", objection);
		return;
	}
	aview = aview_load(aview_id_of_call(call));
	check_columns(rte, aview);
	/* A changed definition or hierarchy makes this plan stale. */
	root->glob->relationOids = lappend_oid(root->glob->relationOids, aview->view);
	root->glob->relationOids = lappend_oid(root->glob->relationOids, kanon_relation(DGH_TABLE));
	aview_add_paths(root, rel, rti, aview);
}

/*
 * Return the target list of the scan: the columns of the view, and its row as a whole where the query uses it.
 * PostgreSQL may give the node another target list later, made of the columns that the query asks for.
 */
static List *
scan_tlist(PlannerInfo *root, RelOptInfo *rel, const AView *aview, List *clauses)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	List *result = NIL;
	List *vars = pull_var_clause((Node *) list_concat_copy(rel->reltarget->exprs, clauses),
								 PVC_RECURSE_PLACEHOLDERS | PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS);
	ListCell *cell;

	for (int attno = 1; attno <= aview->ncolumns; attno++)
	{
		RangeTblFunction *function = linitial_node(RangeTblFunction, rte->functions);
		Var *var = makeVar(rel->relid, attno, list_nth_oid(function->funccoltypes, attno - 1),
						   list_nth_int(function->funccoltypmods, attno - 1),
						   list_nth_oid(function->funccolcollations, attno - 1), 0);

		result = lappend(result, makeTargetEntry((Expr *) var, attno, NULL, false));
	}
	foreach (cell, vars)
	{
		Var *var = lfirst(cell);

		if ((int) var->varno == (int) rel->relid && var->varattno == 0)
		{
			result = lappend(result, makeTargetEntry((Expr *) copyObject(var), list_length(result) + 1, NULL, false));
			break;
		}
	}
	return result;
}

/* Make the custom-scan node of a path. */
static Plan *
plan_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *plans)
{
	CustomScan *scan = makeNode(CustomScan);
	AViewPath *choice = (AViewPath *) path;
	const AView *aview = choice->aview;
	Conditions conditions = choice->conditions;
	List *parameters = NIL;
	List *on_source = NIL;
	List *asked = NIL;
	bool probes = false;

	clauses = extract_actual_clauses(clauses, false);
	conditions_sort(&conditions, clauses);
	if (choice->plan == PLAN_STORED)
	{
		on_source = conditions_for_source(aview, rel->relid, conditions.pre, &parameters);
		asked = conditions_asked(aview, rel->relid, list_concat_copy(conditions.post, conditions.witness), &parameters);
	}
	else if (choice->plan == PLAN_SELECT_FIRST)
	{
		on_source = conditions_for_source(aview, rel->relid, conditions.pre, &parameters);
		probes = on_source == NIL;
		if (probes)
			on_source = conditions.region;
	}
	else
	{
		if (choice->plan == PLAN_ANONYMIZE_FIRST && choice->selects)
			on_source = conditions_for_source(aview, rel->relid, conditions.pre, &parameters);
		conditions.post = list_concat_unique_ptr(conditions.pre, conditions.post);
		conditions.pre = NIL;
	}
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->methods = &aview_scan_methods;
	scan->custom_scan_tlist = scan_tlist(root, rel, aview, clauses);
	scan->custom_exprs = list_make4(conditions.post, conditions.witness, conditions.pre, parameters);
	scan->custom_private = list_make5(makeInteger(aview->id), makeInteger(choice->plan), on_source, makeInteger(probes),
									  asked);
	return (Plan *) scan;
}

/* Define kanon.plan and install the planner hook. */
void
aview_planner_init(void)
{
	DefineCustomEnumVariable("kanon.plan", "Chooses how anonymization views are read.",
							 "All choices give the same answer; this is for tests.",
							 &kanon_plan, CHOOSE_AUTO, plan_choices, PGC_USERSET, 0, NULL, NULL, NULL);
	RegisterCustomScanMethods(&aview_scan_methods);
	next_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = add_aview_paths;
}
