/*
 * explain.c
 *		EXPLAIN of the custom-scan node.
 *
 * A reader without rights on the source sees the shape and the conditions of the
 * plan, but no costs, row counts or inner plan: these are made from the statistics
 * of raw data.  There are many ways to EXPLAIN (EXECUTE, DECLARE, inside a function),
 * but all of them go through ExecutorStart, and there the numbers are taken out of a
 * copy of the plan.
 */
#include "base/kanon.h"

#include KANON_EXPLAIN_HEADER

#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"

#include "aview/aview.h"
#include "scan/aviewscan.h"
#include "scan/conditions.h"
#include "scan/scan_state.h"
#include "source/source.h"

static ExecutorStart_hook_type next_executor_start = NULL;

/* Show one of the node's lists of conditions under a label, unless it is empty. */
static void
show_conditions(AViewScanState *state, const char *label, int which, List *ancestors, ExplainState *es)
{
	CustomScan *scan = (CustomScan *) state->css.ss.ps.plan;
	List *conditions = (List *) list_nth(scan->custom_exprs, which);
	List *context;

	if (conditions == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, (Plan *) scan, ancestors);
	ExplainPropertyText(label,
						deparse_expression((Node *) make_ands_explicit(conditions), context,
										   list_length(es->rtable) > 1 || es->verbose, false),
						es);
}

/* Say that rows are selected in the source by values that some rows hide. */
static void
show_preselection(AViewScanState *state, ExplainState *es)
{
	CustomScan *scan = (CustomScan *) state->css.ss.ps.plan;

	if (state->request.probe ||
		conditions_see_hidden(state->aview, INDEX_VAR, (List *) list_nth(scan->custom_exprs, EXPRS_PRE)))
		ExplainPropertyText("Preselection", "also by values that some rows hide", es);
}

/* Return the view's policy as one line. */
static char *
policy_text(const AView *aview)
{
	StringInfoData text;

	initStringInfo(&text);
	if (aview->profile)
		appendStringInfo(&text, "purpose = %s, recipient = %s, ", quote_literal_cstr(aview->profile->purpose),
						 quote_literal_cstr(aview->profile->recipient));
	if (aview->profile && aview->profile->k >= 0)
		appendStringInfoString(&text, aview->k < 0 ? "k = each data owner's"
												   : psprintf("k = each data owner's, or %d", aview->k));
	else
		appendStringInfo(&text, "k = %d", aview->k);
	if (aview->l > 0)
		appendStringInfo(&text, ", l = %d", aview->l);
	if (aview->t > 0)
		appendStringInfo(&text, ", t = %g", aview->t);
	appendStringInfo(&text, ", match = %s", aview->match == MATCH_COVER ? "cover" : "witness");
	if (aview->block_size > 0)
		appendStringInfo(&text, ", block size = %d", aview->block_size);
	return text.data;
}

/* Split a text into its lines, in place. */
static List *
split_lines(char *text)
{
	List *lines = NIL;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		lines = lappend(lines, line);
	return lines;
}

/* The argument of show_plan(). */
typedef struct ShowContext
{
	AViewScanState *state;
	ParamListInfo params;
	ExplainState *es;
} ShowContext;

/* Show the plan of a query over the source, line by line: a RowSourceShow. */
static void
show_plan(void *arg, const char *label, Query *query)
{
	ShowContext *context = arg;
	AViewScanState *state = context->state;
	ParamListInfo params = context->params;
	ExplainState *es = context->es;
	ExplainState *inner = NewExplainState();
	QueryDesc *desc;
	List *lines;
	ListCell *cell;

	inner->costs = es->costs;
	inner->verbose = es->verbose;
	/* auto_explain calls us when the query's own snapshot is no longer active. */
	PushActiveSnapshot(state->css.ss.ps.state->es_snapshot);
	desc = CreateQueryDesc(source_plan(state->aview, query, true, params), "", GetActiveSnapshot(), InvalidSnapshot,
						   None_Receiver, params, NULL, 0);
	ExecutorStart(desc, EXEC_FLAG_EXPLAIN_ONLY);
	ExplainPrintPlan(inner, desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	PopActiveSnapshot();
	lines = split_lines(inner->str->data);
	if (es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyList(label, lines, es);
	else
	{
		foreach (cell, lines)
			ExplainPropertyText(label, lfirst(cell), es);
	}
}

/* Show the node: to readers of the source with the plans of its queries. */
void
aview_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	AViewScanState *state = (AViewScanState *) node;

	ExplainPropertyText("Anonymization View", get_rel_name(state->aview->view), es);
	ExplainPropertyText("Plan", state->methods ? state->methods->name : "Nothing qualifies", es);
	ExplainPropertyText("Policy", policy_text(state->aview), es);
	show_conditions(state, "Pre-Filter", EXPRS_PRE, ancestors, es);
	show_preselection(state, es);
	show_conditions(state, "Witness", EXPRS_WITNESS, ancestors, es);
	show_conditions(state, "Post-Filter", EXPRS_POST, ancestors, es);
	if (state->methods && aview_source_readable(state->aview))
	{
		ShowContext context = {.state = state, .params = aview_parameters_to_explain(state), .es = es};

		state->methods->explain(&state->request, context.params, show_plan, &context);
	}
}

/* Return the A-view that a node reads, as a custom scan or by the plain function, or NULL if it reads none. */
static AView *
view_read_by(PlanState *state)
{
	FuncExpr *call;
	int32 id;

	if (IsA(state, CustomScanState) && ((CustomScanState *) state)->methods == &aview_exec_methods)
		return ((AViewScanState *) state)->aview;
	if (!IsA(state, FunctionScanState))
		return NULL;
	call = aview_scan_call(((FunctionScan *) state->plan)->functions);
	id = call ? aview_id_of_call(call) : 0;
	return id == 0 ? NULL : aview_load(id);
}

/* Return true if a plan reads an A-view over a source that the current user may not read. */
static bool
hides_source(PlanState *state, void *context)
{
	AView *aview = view_read_by(state);

	if (aview && !aview_source_readable(aview))
		return true;
	return planstate_tree_walker(state, hides_source, context);
}

/* Take the planner's numbers out of a plan, and buffer and WAL counts out of its measurements. */
static bool
hide_numbers(PlanState *state, void *context)
{
	/* The plan itself may be cached for readers who may see its numbers. */
	Plan *plan = copyObject(state->plan);

	plan->startup_cost = 0;
	plan->total_cost = 0;
	plan->plan_rows = 0;
	plan->plan_width = 0;
	state->plan = plan;
	if (state->instrument)
	{
		state->instrument->need_bufusage = false;
		state->instrument->need_walusage = false;
	}
	(void) planstate_tree_walker(state, hide_numbers, context);
	/* EXPLAIN looks up the expressions of parameters in these. */
	if (outerPlanState(state))
		outerPlan(plan) = outerPlanState(state)->plan;
	if (innerPlanState(state))
		innerPlan(plan) = innerPlanState(state)->plan;
	return false;
}

/*
 * Hide the numbers of every plan that reads an A-view for a reader without rights on
 * its source: the ExecutorStart hook.  Whether the plan will be explained is not
 * known here: auto_explain decides at the end.
 */
static void
start_executor(QueryDesc *desc, int eflags)
{
	MemoryContext old;

	if (next_executor_start)
		next_executor_start(desc, eflags);
	else
		standard_ExecutorStart(desc, eflags);
	if (desc->planstate == NULL)
		return;
	old = MemoryContextSwitchTo(desc->estate->es_query_cxt);
	if (hides_source(desc->planstate, NULL))
		(void) hide_numbers(desc->planstate, NULL);
	MemoryContextSwitchTo(old);
}

/* Install the hook; called once when the library is loaded. */
void
aview_explain_init(void)
{
	next_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = start_executor;
}
