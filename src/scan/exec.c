/*
 * exec.c
 *		The custom-scan node at run time.
 */
#include "base/kanon.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "anonymize/anonymize_first.h"
#include "anonymize/row_source.h"
#include "anonymize/select_first.h"
#include "aview/aview.h"
#include "matview/stored.h"
#include "policy/access.h"
#include "scan/aviewscan.h"
#include "scan/conditions.h"
#include "scan/scan_state.h"

/* Create the node's state, all zeros but for its methods. */
Node *
aview_create_scan_state(CustomScan *scan)
{
	AViewScanState *state = palloc0(sizeof(AViewScanState));

	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &aview_exec_methods;
	return (Node *) state;
}

/* Return one of the lists of custom_exprs. */
static List *
expressions(const CustomScan *scan, int which)
{
	return (List *) list_nth(scan->custom_exprs, which);
}

/* Ask for the columns of the view that the plan mentions. */
static void
find_wanted(AViewScanState *state, const CustomScan *scan)
{
	Bitmapset *attributes = NULL;
	Bitmapset *wanted = NULL;
	int member = -1;

	pull_varattnos((Node *) scan->scan.plan.targetlist, INDEX_VAR, &attributes);
	pull_varattnos((Node *) expressions(scan, EXPRS_POST), INDEX_VAR, &attributes);
	while ((member = bms_next_member(attributes, member)) >= 0)
	{
		int attno = member + FirstLowInvalidHeapAttributeNumber;

		if (attno > state->aview->ncolumns)
			state->whole_row = true;
		else if (attno > 0)
			wanted = bms_add_member(wanted, attno - 1);
	}
	if (state->whole_row)
		wanted = bms_add_range(wanted, 0, state->aview->ncolumns - 1);
	state->request.wanted = wanted;
}

/* Evaluate the witness conditions on the values of a member: a RowWitness of the node. */
static bool
is_witness(void *arg, const Datum *values, const bool *nulls)
{
	AViewScanState *state = arg;
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	TupleTableSlot *slot = state->witness_slot;
	TupleTableSlot *before = econtext->ecxt_scantuple;
	bool result;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts);
	memcpy(slot->tts_values, values, state->aview->ncolumns * sizeof(Datum));
	memcpy(slot->tts_isnull, nulls, state->aview->ncolumns * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	econtext->ecxt_scantuple = slot;
	result = ExecQual(state->witness, econtext);
	econtext->ecxt_scantuple = before;
	return result;
}

/* The row source of each ScanPlan. */
static const RowSourceMethods *const row_sources[PLAN_COUNT] = {
	[PLAN_ANONYMIZE_FIRST] = &anonymize_first_methods,
	[PLAN_SELECT_FIRST] = &select_first_methods,
	[PLAN_STORED] = &stored_rows_methods,
	[PLAN_NOTHING] = NULL,
};

/* Set up the node; with EXPLAIN alone no rows are started. */
static void
begin_scan(CustomScanState *node, EState *estate, int eflags)
{
	AViewScanState *state = (AViewScanState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;
	List *private = scan->custom_private;

	Assert(list_length(private) == PRIVATE_LENGTH && list_length(scan->custom_exprs) == EXPRS_LENGTH);
	Assert(intVal(list_nth(private, PRIVATE_PLAN)) < PLAN_COUNT);
	state->aview = aview_load(intVal(list_nth(private, PRIVATE_AVIEW)));
	state->methods = row_sources[intVal(list_nth(private, PRIVATE_PLAN))];
	find_wanted(state, scan);
	node->ss.ps.qual = ExecInitQual(expressions(scan, EXPRS_POST), &node->ss.ps);
	state->parameters = ExecInitExprList(expressions(scan, EXPRS_PARAMETERS), &node->ss.ps);
	state->witness = ExecInitQual(expressions(scan, EXPRS_WITNESS), &node->ss.ps);
	state->request.aview = state->aview;
	state->request.conditions = list_nth(private, PRIVATE_CONDITIONS);
	state->request.asked = list_nth(private, PRIVATE_ASKED);
	state->request.probe = intVal(list_nth(private, PRIVATE_PROBE));
	state->request.snapshot = estate->es_snapshot;
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	if (state->aview->profile)
		access_check(state->aview->view, state->aview->profile->purpose, state->aview->profile->recipient);
	state->parameter_context = AllocSetContextCreate(CurrentMemoryContext, "kanon parameters", ALLOCSET_SMALL_SIZES);
	if (state->witness)
	{
		state->witness_slot = MakeSingleTupleTableSlot(node->ss.ss_ScanTupleSlot->tts_tupleDescriptor, &TTSOpsVirtual);
		state->request.witness = is_witness;
		state->request.witness_arg = state;
	}
	if (state->methods)
		state->rows = state->methods->start(&state->request);
}

/* Set a parameter to the value of an expression, copied into the current memory context. */
static void
evaluate_parameter(ExprState *expression, ExprContext *econtext, ParamExternData *param)
{
	int16 typlen;
	bool typbyval;

	param->value = ExecEvalExpr(expression, econtext, &param->isnull);
	if (param->isnull)
		return;
	get_typlenbyval(param->ptype, &typlen, &typbyval);
	param->value = datumCopy(param->value, typbyval, typlen);
}

/*
 * Return the values of the parameters in the current memory context; a value set by the
 * running plan only if it runs.
 */
static ParamListInfo
list_parameters(AViewScanState *state, bool running)
{
	ParamListInfo params = makeParamList(list_length(state->parameters));
	ListCell *cell;

	foreach (cell, state->parameters)
	{
		ExprState *expression = lfirst(cell);
		ParamExternData *param = &params->params[foreach_current_index(cell)];

		param->ptype = exprType((Node *) expression->expr);
		param->pflags = PARAM_FLAG_CONST;
		param->isnull = true;
		if (running || !uses_exec_params((Node *) expression->expr))
			evaluate_parameter(expression, state->css.ss.ps.ps_ExprContext, param);
		else
			param->pflags = 0;
	}
	return params;
}

/* Return the present values of the parameters, valid until the next call, or NULL if there are none. */
static ParamListInfo
read_parameters(AViewScanState *state)
{
	MemoryContext old;
	ParamListInfo params;

	if (state->parameters == NIL)
		return NULL;
	MemoryContextReset(state->parameter_context);
	old = MemoryContextSwitchTo(state->parameter_context);
	params = list_parameters(state, true);
	MemoryContextSwitchTo(old);
	return params;
}

ParamListInfo
aview_parameters_to_explain(AViewScanState *state)
{
	return state->parameters == NIL ? NULL : list_parameters(state, false);
}

/* Fill in the column that holds the view's row as a whole, after the view's own columns. */
static void
add_whole_row(AViewScanState *state, TupleTableSlot *slot)
{
	int ncolumns = state->aview->ncolumns;
	TupleDesc desc = CreateTemplateTupleDesc(ncolumns);

	Assert(slot->tts_tupleDescriptor->natts > ncolumns);
	for (int i = 0; i < ncolumns; i++)
		TupleDescCopyEntry(desc, i + 1, slot->tts_tupleDescriptor, i + 1);
	BlessTupleDesc(desc);
	slot->tts_values[ncolumns] = heap_copy_tuple_as_datum(heap_form_tuple(desc, slot->tts_values, slot->tts_isnull),
														  desc);
	slot->tts_isnull[ncolumns] = false;
}

/* Return the next published row in the scan slot, which is empty after the last row. */
static TupleTableSlot *
next_row(ScanState *node)
{
	AViewScanState *state = (AViewScanState *) node;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;
	MemoryContext old = MemoryContextSwitchTo(node->ps.ps_ExprContext->ecxt_per_tuple_memory);
	bool found = false;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts);
	if (state->rows && !state->selecting)
	{
		row_source_rewind(state->rows, read_parameters(state));
		state->selecting = true;
	}
	if (state->rows)
		found = row_source_next(state->rows, slot->tts_values, slot->tts_isnull);
	if (found && state->whole_row)
		add_whole_row(state, slot);
	MemoryContextSwitchTo(old);
	return found ? ExecStoreVirtualTuple(slot) : slot;
}

/*
 * Fetch the row again for EvalPlanQual, after a concurrent change of the row that an
 * UPDATE or DELETE joins with it: it comes back from the whole row that was kept.
 */
static bool
recheck_row(ScanState *node, TupleTableSlot *slot)
{
	AViewScanState *state = (AViewScanState *) node;
	EPQState *epq = node->ps.state->es_epq_active;
	int relid = bms_singleton_member(((CustomScan *) node->ps.plan)->custom_relids);

	if (epq->relsubs_done[relid - 1] || epq->relsubs_rowmark[relid - 1] == NULL)
		return false;
	epq->relsubs_done[relid - 1] = true;
	if (!EvalPlanQualFetchRowMark(epq, relid, slot))
		return false;
	if (state->whole_row)
		add_whole_row(state, slot);
	return true;
}

/* Return the next row that satisfies the conditions on published rows. */
static TupleTableSlot *
exec_scan(CustomScanState *node)
{
	return ExecScan(&node->ss, next_row, recheck_row);
}

/* End the rows; memory goes with the query's context. */
static void
end_scan(CustomScanState *node)
{
	AViewScanState *state = (AViewScanState *) node;

	if (state->rows)
		row_source_end(state->rows);
	if (state->witness_slot)
		ExecDropSingleTupleTableSlot(state->witness_slot);
}

/* Start again: the next row rewinds the source with the parameters' values of that time. */
static void
rescan(CustomScanState *node)
{
	AViewScanState *state = (AViewScanState *) node;

	state->selecting = false;
	ExecScanReScan(&node->ss);
}

const CustomExecMethods aview_exec_methods = {
	.CustomName = "Anonymization View Scan",
	.BeginCustomScan = begin_scan,
	.ExecCustomScan = exec_scan,
	.EndCustomScan = end_scan,
	.ReScanCustomScan = rescan,
	.ExplainCustomScan = aview_explain,
};
