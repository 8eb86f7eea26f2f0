/*
 * exec.c
 *		The custom-scan node at run time.
 */
#include "base/kanon.h"

#include "scan/state.h"

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
#include "anonymize/anonymizer.h"
#include "anonymize/select_first.h"
#include "aview/aview.h"
#include "matview/stored.h"
#include "policy/access.h"
#include "recode/dictionary.h"
#include "scan/aviewscan.h"
#include "scan/conditions.h"

Node *
aview_create_scan_state(CustomScan *scan)
{
	AViewScanState *state = palloc0(sizeof(AViewScanState));

	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &aview_exec_methods;
	return (Node *) state;
}

static List *
expressions(const CustomScan *scan, int which)
{
	return (List *) list_nth(scan->custom_exprs, which);
}

/* The columns of the view that the plan mentions. */
static void
find_wanted(AViewScanState *state, const CustomScan *scan)
{
	Bitmapset *attributes = NULL;
	int member = -1;

	pull_varattnos((Node *) scan->scan.plan.targetlist, INDEX_VAR, &attributes);
	pull_varattnos((Node *) expressions(scan, EXPRS_POST), INDEX_VAR, &attributes);
	while ((member = bms_next_member(attributes, member)) >= 0)
	{
		int attno = member + FirstLowInvalidHeapAttributeNumber;

		if (attno > state->aview->ncolumns)
			state->whole_row = true;
		else if (attno > 0)
			state->wanted = bms_add_member(state->wanted, attno - 1);
	}
	if (state->whole_row)
	{
		for (int i = 0; i < state->aview->ncolumns; i++)
			state->wanted = bms_add_member(state->wanted, i);
	}
}

/* Evaluates the witness conditions on what is in the slot for it. */
static bool
try_witness(AViewScanState *state)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	TupleTableSlot *slot = state->witness_slot;
	TupleTableSlot *before = econtext->ecxt_scantuple;
	bool result;

	ExecStoreVirtualTuple(slot);
	econtext->ecxt_scantuple = slot;
	result = ExecQual(state->witness, econtext);
	econtext->ecxt_scantuple = before;
	return result;
}

/* The same on a class: its values at level 0. */
static bool
is_witness(void *arg, const int32 *codes)
{
	AViewScanState *state = arg;
	TupleTableSlot *slot = state->witness_slot;
	Anonymizer *anonymizer = state->rows ? allrows_anonymizer(state->rows) : selection_anonymizer(state->selection);

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts);
	for (int i = 0; i < state->aview->nquasi; i++)
	{
		slot->tts_values[state->aview->quasi[i]] = anonymizer->recoder->columns[i]->levels[0].values[codes[i]];
		slot->tts_isnull[state->aview->quasi[i]] = codes[i] == NULL_CODE;
	}
	return try_witness(state);
}

/* On the values of a stored row. */
static bool
is_stored_witness(void *arg, const Datum *values, const bool *nulls)
{
	AViewScanState *state = arg;
	TupleTableSlot *slot = state->witness_slot;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts);
	memcpy(slot->tts_values, values, state->aview->ncolumns * sizeof(Datum));
	memcpy(slot->tts_isnull, nulls, state->aview->ncolumns * sizeof(bool));
	return try_witness(state);
}

static void
begin_scan(CustomScanState *node, EState *estate, int eflags)
{
	AViewScanState *state = (AViewScanState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;
	List *private = scan->custom_private;

	state->aview = aview_load(intVal(list_nth(private, PRIVATE_AVIEW)));
	state->plan = intVal(list_nth(private, PRIVATE_PLAN));
	find_wanted(state, scan);
	if (state->plan == PLAN_STORED)
		state->aview_stored = stored_view(state->aview);
	node->ss.ps.qual = ExecInitQual(expressions(scan, EXPRS_POST), &node->ss.ps);
	state->parameters = ExecInitExprList(expressions(scan, EXPRS_PARAMETERS), &node->ss.ps);
	state->witness = ExecInitQual(expressions(scan, EXPRS_WITNESS), &node->ss.ps);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	if (state->aview->profile)
		access_check(state->aview->view, state->aview->profile->purpose, state->aview->profile->recipient);
	state->parameter_context = AllocSetContextCreate(CurrentMemoryContext, "kanon parameters", ALLOCSET_SMALL_SIZES);
	if (state->plan == PLAN_ANONYMIZE_FIRST)
		state->rows = allrows_start(state->aview, state->wanted, list_nth(private, PRIVATE_CONDITIONS), estate->es_snapshot);
	else if (state->plan == PLAN_STORED)
		state->stored = storedrows_start(state->aview, state->wanted, state->witness != NULL, estate->es_snapshot);
	else if (state->plan == PLAN_SELECT_FIRST)
		state->selection = selection_start(state->aview, state->wanted, list_nth(private, PRIVATE_CONDITIONS), estate->es_snapshot);
	if (state->witness)
	{
		state->witness_slot = MakeSingleTupleTableSlot(node->ss.ss_ScanTupleSlot->tts_tupleDescriptor, &TTSOpsVirtual);
		if (state->rows)
			allrows_ask_witness(state->rows, is_witness, state);
		if (state->stored)
			storedrows_ask_witness(state->stored, is_stored_witness, state);
		if (state->selection && intVal(list_nth(private, PRIVATE_PROBE)))
			selection_ask_witness(state->selection, is_witness, state);
	}
}

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

/* The values of the parameters, in the current memory context. */
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

/* One for each value that an index on the groups can look for. */
static List *
list_probes(AViewScanState *state, const AView *stored, ParamListInfo params)
{
	CustomScan *scan = (CustomScan *) state->css.ss.ps.plan;
	List *conditions = NIL;
	List *asked = list_nth(scan->custom_private, PRIVATE_ASKED);
	int first = list_length(state->parameters) - list_length(asked);
	ListCell *cell;

	foreach (cell, asked)
	{
		ParamExternData *param = &params->params[first + foreach_current_index(cell)];
		Node *probe = param->isnull ? NULL : stored_probe(stored, lfirst_int(cell), param->ptype, param->value);

		if (probe)
			conditions = lappend(conditions, probe);
	}
	return conditions;
}

/* Those that the planner made, and these. */
List *
aview_stored_conditions(AViewScanState *state, const AView *stored, ParamListInfo params)
{
	CustomScan *scan = (CustomScan *) state->css.ss.ps.plan;

	return list_concat_copy(list_nth(scan->custom_private, PRIVATE_CONDITIONS), list_probes(state, stored, params));
}

static void
select_stored(AViewScanState *state)
{
	CustomScan *scan = (CustomScan *) state->css.ss.ps.plan;
	MemoryContext old;
	ParamListInfo params = read_parameters(state);
	List *probes;

	old = MemoryContextSwitchTo(state->parameter_context);
	probes = list_probes(state, state->aview_stored, params);
	storedrows_rewind(state->stored, list_nth(scan->custom_private, PRIVATE_CONDITIONS), probes, params);
	MemoryContextSwitchTo(old);
}

/* With the parameters as they are now. */
static void
start_selecting(AViewScanState *state)
{
	if (state->rows)
		allrows_rewind(state->rows, read_parameters(state));
	else if (state->selection)
		selection_rewind(state->selection, read_parameters(state));
	else if (state->stored)
		select_stored(state);
	state->selecting = true;
}

static void
add_whole_row(AViewScanState *state, TupleTableSlot *slot)
{
	int ncolumns = state->aview->ncolumns;
	TupleDesc desc = CreateTemplateTupleDesc(ncolumns);

	for (int i = 0; i < ncolumns; i++)
		TupleDescCopyEntry(desc, i + 1, slot->tts_tupleDescriptor, i + 1);
	BlessTupleDesc(desc);
	slot->tts_values[ncolumns] = heap_copy_tuple_as_datum(heap_form_tuple(desc, slot->tts_values, slot->tts_isnull), desc);
	slot->tts_isnull[ncolumns] = false;
}

static TupleTableSlot *
next_row(ScanState *node)
{
	AViewScanState *state = (AViewScanState *) node;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;
	MemoryContext old = MemoryContextSwitchTo(node->ps.ps_ExprContext->ecxt_per_tuple_memory);
	bool found = false;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts);
	if (!state->selecting)
		start_selecting(state);
	if (state->rows)
		found = allrows_next(state->rows, slot->tts_values, slot->tts_isnull);
	else if (state->selection)
		found = selection_next(state->selection, slot->tts_values, slot->tts_isnull);
	else if (state->stored)
		found = storedrows_next(state->stored, slot->tts_values, slot->tts_isnull);
	if (found && state->whole_row)
		add_whole_row(state, slot);
	MemoryContextSwitchTo(old);
	return found ? ExecStoreVirtualTuple(slot) : slot;
}

/*
 * A row that an UPDATE or DELETE joins with has changed meanwhile: the published
 * row that it was joined with comes back from the whole row kept with it.
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

static TupleTableSlot *
exec_scan(CustomScanState *node)
{
	return ExecScan(&node->ss, next_row, recheck_row);
}

static void
end_scan(CustomScanState *node)
{
	AViewScanState *state = (AViewScanState *) node;

	if (state->rows)
		allrows_end(state->rows);
	if (state->selection)
		selection_end(state->selection);
	if (state->stored)
		storedrows_end(state->stored);
	if (state->witness_slot)
		ExecDropSingleTupleTableSlot(state->witness_slot);
}

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
