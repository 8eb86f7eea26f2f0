/*
 * join_exec.c
 *		The AVLIKE join at run time.
 *
 * As many inner rows as fit into memory are loaded, ordered by their class (see
 * classes.h), and meet all outer rows; then the next inner rows are loaded.  With
 * more than one load the outer rows are kept in a tuplestore, beside a bit each that
 * says whether the row has found a partner.
 *
 * The scan slot holds the joined row: the outer columns first, then the inner ones.
 * join_show_row() and join_show_inner() fill in one side each.
 */
#include "base/kanon.h"

#include "join/join_state.h"

#include KANON_EXPLAIN_HEADER

#include "access/sysattr.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "join/classes.h"
#include "join/join.h"

/* Create the node's state, all zeros but for its methods. */
Node *
avlike_join_create_state(CustomScan *scan)
{
	AvlikeJoinState *state = palloc0(sizeof(AvlikeJoinState));

	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &avlike_join_exec_methods;
	return (Node *) state;
}

/* Set up the clauses that the sides are joined by, and the filter. */
static void
begin_keys(AvlikeJoinState *state, const CustomScan *scan)
{
	List *clauses = list_nth(scan->custom_exprs, JOIN_KEYS);
	List *sides = list_nth(scan->custom_private, JOIN_SIDES);
	PlanState *parent = &state->css.ss.ps;
	ListCell *cell;

	state->keys = palloc0(list_length(clauses) * sizeof(JoinClause));
	state->outer_keys = palloc(list_length(clauses) * sizeof(ExprState *));
	state->inner_keys = palloc(list_length(clauses) * sizeof(ExprState *));
	state->key_values = palloc(list_length(clauses) * sizeof(Datum));
	foreach (cell, clauses)
	{
		OpExpr *clause = lfirst_node(OpExpr, cell);
		ExprState *left = ExecInitExpr(linitial(clause->args), parent);
		ExprState *right = ExecInitExpr(lsecond(clause->args), parent);
		bool outer_is_left = list_nth_int(sides, state->nkeys) != 0;

		state->keys[state->nkeys] = (JoinClause){clause, outer_is_left};
		state->outer_keys[state->nkeys] = outer_is_left ? left : right;
		state->inner_keys[state->nkeys] = outer_is_left ? right : left;
		state->nkeys++;
	}
	state->filter = ExecInitQual(list_nth(scan->custom_exprs, JOIN_FILTER), parent);
}

/*
 * Find the inner columns that the filter, the conditions on joined rows and the
 * target list use.  Without a projection the joined row itself is handed on, so that
 * all columns are used.
 */
static void
find_wanted_inner(AvlikeJoinState *state, const CustomScan *scan)
{
	int ninner = ExecGetResultType(state->inner)->natts;
	Bitmapset *used = NULL;

	pull_varattnos(list_nth(scan->custom_exprs, JOIN_FILTER), INDEX_VAR, &used);
	pull_varattnos((Node *) scan->scan.plan.qual, INDEX_VAR, &used);
	pull_varattnos((Node *) scan->scan.plan.targetlist, INDEX_VAR, &used);
	state->wanted = palloc(Max(ninner, 1) * sizeof(int));
	for (int i = 0; i < ninner; i++)
	{
		int attribute = state->nouter + i + 1 - FirstLowInvalidHeapAttributeNumber;

		if (state->css.ss.ps.ps_ProjInfo == NULL || bms_is_member(attribute, used))
			state->wanted[state->nwanted++] = i;
	}
}

/* Return the type of the join of a plan. */
static JoinType
join_type(const CustomScan *scan)
{
	return intVal(list_nth(scan->custom_private, JOIN_KIND));
}

/* Set up the node and both sides. */
static void
begin_join(CustomScanState *node, EState *estate, int eflags)
{
	AvlikeJoinState *state = (AvlikeJoinState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;
	JoinType type = join_type(scan);

	state->outer = ExecInitNode(linitial(scan->custom_plans), estate, eflags);
	state->inner = ExecInitNode(lsecond(scan->custom_plans), estate, eflags);
	node->custom_ps = list_make2(state->outer, state->inner);
	state->nouter = ExecGetResultType(state->outer)->natts;
	begin_keys(state, scan);
	find_wanted_inner(state, scan);
	state->shows_pairs = type != JOIN_ANTI;
	state->stops_at_first = type == JOIN_SEMI || type == JOIN_ANTI;
	state->keeps_outer = type == JOIN_LEFT || type == JOIN_FULL || type == JOIN_ANTI;
	state->keeps_inner = type == JOIN_RIGHT || type == JOIN_FULL;
	state->inner_slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(state->inner), &TTSOpsMinimalTuple);
	state->kept_slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(state->outer), &TTSOpsMinimalTuple);
	state->chunk = AllocSetContextCreate(CurrentMemoryContext, "kanon join rows", ALLOCSET_DEFAULT_SIZES);
	state->all_outer = AllocSetContextCreate(CurrentMemoryContext, "kanon join outer rows", ALLOCSET_DEFAULT_SIZES);
	state->is_first = true;
}

/* Fill the columns of a side without a row, from `from` up to before `to`, with NULL. */
static void
show_nulls(AvlikeJoinState *state, int from, int to)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	Assert(from >= 0 && from <= to && to <= slot->tts_tupleDescriptor->natts);
	memset(slot->tts_values + from, 0, (to - from) * sizeof(Datum));
	memset(slot->tts_isnull + from, true, (to - from) * sizeof(bool));
}

/* Go to one of the inner classes that match the outer row, or past the last one. */
static void
go_to_match(AvlikeJoinState *state, int match)
{
	Assert(match >= 0 && match <= state->matches->count);
	state->match = match;
	if (match == state->matches->count)
		return;
	state->next = state->starts[state->matches->values[match]];
	state->end = state->starts[state->matches->values[match] + 1];
}

/* Find the inner classes that match the outer row in the scan slot; return false if there are none. */
static bool
find_matches_of_outer(AvlikeJoinState *state)
{
	MemoryContext old;

	state->matches = NULL;
	if (!join_evaluate(state, state->outer_keys))
		return false;
	old = MemoryContextSwitchTo(state->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	state->matches = classes_of_outer(state->classes, state->key_values);
	MemoryContextSwitchTo(old);
	if (state->matches->count == 0)
		state->matches = NULL;
	else
		go_to_match(state, 0);
	return state->matches != NULL;
}

/* Return the next outer row from the plan, and keep it if more inner rows are still to be loaded. */
static TupleTableSlot *
read_outer(AvlikeJoinState *state)
{
	TupleTableSlot *row = ExecProcNode(state->outer);
	MemoryContext old;

	if (TupIsNull(row) || state->is_last)
		return row;
	old = MemoryContextSwitchTo(state->all_outer);
	if (state->kept == NULL)
		state->kept = tuplestore_begin_heap(false, false, work_mem);
	if (state->number / 8 >= (int64) state->found_size)
	{
		Size size = state->found_size ? state->found_size * 2 : 1024;

		state->found = state->found ? repalloc_huge(state->found, size) : palloc(size);
		memset(state->found + state->found_size, 0, size - state->found_size);
		state->found_size = size;
	}
	MemoryContextSwitchTo(old);
	tuplestore_puttupleslot(state->kept, row);
	return row;
}

/* Return the next outer row, from the plan or from the rows that were kept, or NULL after the last. */
static TupleTableSlot *
fetch_outer(AvlikeJoinState *state)
{
	CHECK_FOR_INTERRUPTS();
	if (state->is_first)
		return read_outer(state);
	if (state->kept && tuplestore_gettupleslot(state->kept, true, false, state->kept_slot))
		return state->kept_slot;
	return NULL;
}

/*
 * Show the next outer row that matches one of the loaded inner rows, or that is part
 * of the result without a match; return false after the last.
 */
static bool
next_outer(AvlikeJoinState *state)
{
	for (;;)
	{
		TupleTableSlot *row = fetch_outer(state);
		int64 number = state->number;

		if (TupIsNull(row))
			return false;
		state->number++;

		Assert(state->is_first || state->number <= (int64) state->found_size * 8);
		state->has_partner = !state->is_first && (state->found[number / 8] & (1 << number % 8));
		if (state->has_partner && state->stops_at_first)
			continue;
		state->outer_row = row;
		join_show_row(state, row, 0);
		if (find_matches_of_outer(state) || (state->keeps_outer && state->is_last))
			return true;
		ResetExprContext(state->css.ss.ps.ps_ExprContext);
	}
}

/* Return the next loaded inner row that matches the outer row, or -1 after the last. */
static inline int
next_match(AvlikeJoinState *state)
{
	while (state->match < state->matches->count)
	{
		if (state->next < state->end)
			return state->next++;
		CHECK_FOR_INTERRUPTS();
		go_to_match(state, state->match + 1);
	}
	return -1;
}

/* Return true if the two rows in the scan slot satisfy the filter. */
static bool
is_pair(AvlikeJoinState *state)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	bool result;

	if (state->filter == NULL)
		return true;
	econtext->ecxt_scantuple = state->css.ss.ss_ScanTupleSlot;
	result = ExecQual(state->filter, econtext);
	ResetExprContext(econtext);
	return result;
}

/*
 * Show the next inner row that is joined with the outer row, and note that both have a partner; return false
 * after the last.
 */
static bool
next_partner(AvlikeJoinState *state)
{
	int row;

	while (state->matches && (row = next_match(state)) >= 0)
	{
		int64 number = state->number - 1;

		join_show_inner(state, row);
		if (!is_pair(state))
			continue;
		state->has_partner = true;
		if (state->keeps_inner)
			state->partner[row] = true;
		if (!state->is_last)
			state->found[number / 8] |= 1 << number % 8;
		return true;
	}
	return false;
}

/* Show the next loaded inner row that has met all outer rows and has no partner; return false after the last. */
static bool
next_lonely(AvlikeJoinState *state)
{
	while (state->lonely < state->nrows && state->partner[state->lonely])
		state->lonely++;
	if (state->lonely == state->nrows)
		return false;
	show_nulls(state, 0, state->nouter);
	join_show_inner(state, state->lonely++);
	return true;
}

/* Prepare for reading the outer side from its first row on. */
static void
restart_outer(AvlikeJoinState *state)
{
	state->number = 0;
	state->outer_done = state->has_outer = false;
	state->lonely = 0;
}

/* Load the next inner rows, and let them meet all outer rows that were kept. */
static void
next_chunk(AvlikeJoinState *state)
{
	Assert(!state->is_last);
	state->is_first = false;
	join_load_inner(state);
	if (state->kept)
		tuplestore_rescan(state->kept);
	restart_outer(state);
}

/*
 * Show the next joined row of the present outer row; return false if there is none.
 * Clears has_outer when the outer row is done.
 */
static bool
next_of_outer(AvlikeJoinState *state)
{
	if (next_partner(state))
	{
		state->has_outer = !state->stops_at_first;
		return state->shows_pairs;
	}
	state->has_outer = false;
	if (!state->keeps_outer || !state->is_last || state->has_partner)
		return false;
	show_nulls(state, state->nouter, state->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor->natts);
	return true;
}

/*
 * Make the scan slot ours again.  The parent node may have materialized the last
 * joined row, so that the slot holds a copy; the outer half of the next row would
 * be missing from a cleared slot, and is filled in again.
 */
static void
take_back_row(AvlikeJoinState *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	if (!TTS_SHOULDFREE(slot))
		return;
	ExecClearTuple(slot);
	if (state->has_outer)
		join_show_row(state, state->outer_row, 0);
}

/* Return the next joined row, before the conditions on joined rows are checked; an empty slot after the last. */
static TupleTableSlot *
next_joined_row(ScanState *node)
{
	AvlikeJoinState *state = (AvlikeJoinState *) node;

	take_back_row(state);
	if (!state->loaded)
		join_load_inner(state);
	for (;;)
	{
		if (state->has_outer)
		{
			if (next_of_outer(state))
				return node->ss_ScanTupleSlot;
			continue;
		}
		/* Even where the loaded rows match nothing, the outer rows must be read: rows loaded later meet them. */
		if (!state->outer_done && (state->nrows > 0 || state->keeps_outer || !state->is_last))
			state->has_outer = next_outer(state);
		state->outer_done = !state->has_outer;
		if (state->has_outer)
			continue;
		if (state->keeps_inner && next_lonely(state))
			return node->ss_ScanTupleSlot;
		if (state->is_last)
			return ExecClearTuple(node->ss_ScanTupleSlot);
		next_chunk(state);
	}
}

/* Accept a row for EvalPlanQual: such joins are planned only where no row is locked or changed. */
static bool
recheck_joined_row(ScanState *node, TupleTableSlot *slot)
{
	return true;
}

/* Return the next row of the join. */
static TupleTableSlot *
exec_join(CustomScanState *node)
{
	return ExecScan(&node->ss, next_joined_row, recheck_joined_row);
}

/* Free the outer rows that were kept. */
static void
forget_outer(AvlikeJoinState *state)
{
	if (state->kept)
		tuplestore_end(state->kept);
	MemoryContextReset(state->all_outer);
	state->kept = NULL;
	state->found = NULL;
	state->found_size = 0;
}

/* End the node and both sides. */
static void
end_join(CustomScanState *node)
{
	AvlikeJoinState *state = (AvlikeJoinState *) node;

	forget_outer(state);
	ExecEndNode(state->outer);
	ExecEndNode(state->inner);
}

/* Rescan a side, now or, if its parameters have changed, when its next row is read. */
static void
rescan_side(AvlikeJoinState *state, PlanState *side)
{
	if (state->css.ss.ps.chgParam)
		UpdateChangedParamSet(side, state->css.ss.ps.chgParam);
	if (side->chgParam == NULL)
		ExecReScan(side);
}

/* Start again; loaded inner rows stay if all of them were loaded and they have not changed. */
static void
rescan_join(CustomScanState *node)
{
	AvlikeJoinState *state = (AvlikeJoinState *) node;
	bool keep;

	if (node->ss.ps.chgParam)
		UpdateChangedParamSet(state->inner, node->ss.ps.chgParam);
	keep = state->loaded && state->is_first && state->is_last && state->inner->chgParam == NULL;
	if (!keep)
		rescan_side(state, state->inner);
	rescan_side(state, state->outer);
	state->loaded = keep;
	state->is_first = true;
	if (keep && state->keeps_inner)
		memset(state->partner, false, state->nrows * sizeof(bool));
	forget_outer(state);
	restart_outer(state);
	ExecScanReScan(&node->ss);
}

/* Return the name of a join type for EXPLAIN. */
static const char *
join_name(JoinType type)
{
	switch (type)
	{
		case JOIN_LEFT:
			return "Left";
		case JOIN_RIGHT:
			return "Right";
		case JOIN_FULL:
			return "Full";
		case JOIN_SEMI:
			return "Semi";
		case JOIN_ANTI:
			return "Anti";
		default:
			return "Inner";
	}
}

/* Show clauses under a label, unless there are none. */
static void
explain_clauses(const char *name, List *clauses, List *context, ExplainState *es)
{
	if (clauses)
		ExplainPropertyText(name, deparse_expression((Node *) make_ands_explicit(clauses), context, true, false), es);
}

/* Show the node in EXPLAIN. */
static void
explain_join(CustomScanState *node, List *ancestors, ExplainState *es)
{
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;
	List *context = set_deparse_context_plan(es->deparse_cxt, (Plan *) scan, ancestors);

	ExplainPropertyText("Join Type", join_name(join_type(scan)), es);
	explain_clauses("Join Cond", list_nth(scan->custom_exprs, JOIN_KEYS), context, es);
	explain_clauses("Join Filter", list_nth(scan->custom_exprs, JOIN_FILTER), context, es);
}

const CustomExecMethods avlike_join_exec_methods = {
	.CustomName = "AVLIKE Join",
	.BeginCustomScan = begin_join,
	.ExecCustomScan = exec_join,
	.EndCustomScan = end_join,
	.ReScanCustomScan = rescan_join,
	.ExplainCustomScan = explain_join,
};
