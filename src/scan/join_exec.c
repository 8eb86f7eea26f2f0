/*
 * join_exec.c
 *		The AVLIKE join at run time.
 */
#include "scan/join.h"

#include "commands/explain.h"
#include "executor/executor.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "scan/matches.h"

/* One clause that the sides are joined by. */
typedef struct JoinKey
{
	OpExpr *clause;
	bool outer_is_left;
	ExprState *outer;
	ExprState *inner;

	/* Of the inner rows at hand. */
	Matches *matches;
	int *starts; /* where the rows with each value start in order, and where the last end */
	int *order;
	const MatchList *list; /* of the outer row at hand */
} JoinKey;

typedef struct AvlikeJoinState
{
	CustomScanState css;
	PlanState *outer;
	PlanState *inner;
	int nouter; /* columns */
	int nkeys;
	JoinKey *keys;
	TupleTableSlot *inner_slot;

	/* The inner rows at hand. */
	MemoryContext chunk;
	bool loaded;
	bool is_first;
	bool is_last;
	int nrows;
	int room;
	MinimalTuple *rows;
	int *values; /* of each row, the number of each key's value */

	/* The outer row at hand: which of its matches is next. */
	bool has_outer;
	TupleTableSlot *outer_row;
	JoinKey *guide; /* the key with the fewest rows to look at */
	int match;
	int next;
} AvlikeJoinState;

Node *
avlike_join_create_state(CustomScan *scan)
{
	AvlikeJoinState *state = palloc0(sizeof(AvlikeJoinState));

	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &avlike_join_exec_methods;
	return (Node *) state;
}

static void
begin_join(CustomScanState *node, EState *estate, int eflags)
{
	AvlikeJoinState *state = (AvlikeJoinState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;
	ListCell *cell;

	state->outer = ExecInitNode(linitial(scan->custom_plans), estate, eflags);
	state->inner = ExecInitNode(lsecond(scan->custom_plans), estate, eflags);
	node->custom_ps = list_make2(state->outer, state->inner);
	state->nouter = ExecGetResultType(state->outer)->natts;
	state->keys = palloc0(list_length(scan->custom_exprs) * sizeof(JoinKey));
	foreach (cell, scan->custom_exprs)
	{
		JoinKey *key = &state->keys[state->nkeys];

		key->clause = lfirst_node(OpExpr, cell);
		key->outer_is_left = list_nth_int(scan->custom_private, state->nkeys) != 0;
		key->outer = ExecInitExpr(key->outer_is_left ? linitial(key->clause->args) : lsecond(key->clause->args), &node->ss.ps);
		key->inner = ExecInitExpr(key->outer_is_left ? lsecond(key->clause->args) : linitial(key->clause->args), &node->ss.ps);
		state->nkeys++;
	}
	state->inner_slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(state->inner), &TTSOpsMinimalTuple);
	state->chunk = AllocSetContextCreate(CurrentMemoryContext, "kanon join rows", ALLOCSET_DEFAULT_SIZES);
	state->is_first = true;
}

/* Puts a row of one side where the join's own row has it. */
static void
show_row(AvlikeJoinState *state, TupleTableSlot *row, int from)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	int natts = row->tts_tupleDescriptor->natts;

	slot_getallattrs(row);
	memcpy(slot->tts_values + from, row->tts_values, natts * sizeof(Datum));
	memcpy(slot->tts_isnull + from, row->tts_isnull, natts * sizeof(bool));
	if (TTS_EMPTY(slot))
		ExecStoreVirtualTuple(slot);
}

/* The value that a side's row, which is shown, is joined by; false if it is NULL and joins with nothing. */
static bool
evaluate(AvlikeJoinState *state, ExprState *expression, Datum *value)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	bool isnull;

	econtext->ecxt_scantuple = state->css.ss.ss_ScanTupleSlot;
	*value = ExecEvalExprSwitchContext(expression, econtext, &isnull);
	return !isnull;
}

static void
make_room(AvlikeJoinState *state)
{
	if (state->nrows < state->room)
		return;
	state->room = state->room ? state->room * 2 : 1024;
	state->rows = state->nrows ? repalloc_huge(state->rows, state->room * sizeof(MinimalTuple))
							   : palloc(state->room * sizeof(MinimalTuple));
	state->values = state->nrows ? repalloc_huge(state->values, (Size) state->room * state->nkeys * sizeof(int))
								 : palloc((Size) state->room * state->nkeys * sizeof(int));
}

/* Keeps an inner row. */
static void
add_inner(AvlikeJoinState *state, TupleTableSlot *row)
{
	show_row(state, row, state->nouter);
	make_room(state);
	for (int i = 0; i < state->nkeys; i++)
	{
		Datum value;

		if (!evaluate(state, state->keys[i].inner, &value))
			return;
		state->values[(Size) state->nrows * state->nkeys + i] = matches_add_inner(state->keys[i].matches, value);
	}
	state->rows[state->nrows++] = ExecCopySlotMinimalTuple(row);
}

/* Orders the rows by a key's values. */
static void
order_rows(AvlikeJoinState *state, int which)
{
	JoinKey *key = &state->keys[which];
	int nvalues = matches_count_inner(key->matches);

	key->starts = palloc_extended((nvalues + 2) * sizeof(int), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	key->order = palloc_extended(Max(state->nrows, 1) * sizeof(int), MCXT_ALLOC_HUGE);
	/* Counted two places on and moved one place back as they are filled, the starts end up where they belong. */
	for (int row = 0; row < state->nrows; row++)
		key->starts[state->values[(Size) row * state->nkeys + which] + 2]++;
	for (int value = 2; value < nvalues + 2; value++)
		key->starts[value] += key->starts[value - 1];
	for (int row = 0; row < state->nrows; row++)
		key->order[key->starts[state->values[(Size) row * state->nkeys + which] + 1]++] = row;
}

/* The next inner row into the chunk, which alone is in its memory; false after the last. */
static bool
take_inner(AvlikeJoinState *state)
{
	TupleTableSlot *row = ExecProcNode(state->inner);
	MemoryContext old;

	if (TupIsNull(row))
		return false;
	old = MemoryContextSwitchTo(state->chunk);
	add_inner(state, row);
	MemoryContextSwitchTo(old);
	ResetExprContext(state->css.ss.ps.ps_ExprContext);
	return true;
}

/* Takes as many inner rows as fit into memory. */
static void
load_inner(AvlikeJoinState *state)
{
	MemoryContext old;

	MemoryContextReset(state->chunk);
	old = MemoryContextSwitchTo(state->chunk);
	state->nrows = state->room = 0;
	for (int i = 0; i < state->nkeys; i++)
		state->keys[i].matches = matches_create(state->keys[i].clause, state->keys[i].outer_is_left);
	MemoryContextSwitchTo(old);
	do
	{
		CHECK_FOR_INTERRUPTS();
		state->is_last = !take_inner(state);
	} while (!state->is_last &&
			 (state->nrows % 256 != 255 || MemoryContextMemAllocated(state->chunk, true) <= get_hash_memory_limit()));
	old = MemoryContextSwitchTo(state->chunk);
	for (int i = 0; i < state->nkeys; i++)
		order_rows(state, i);
	state->loaded = true;
	MemoryContextSwitchTo(old);
}

/* How many inner rows have a value that a key's matches. */
static int64
count_rows(const JoinKey *key)
{
	int64 rows = 0;

	for (int i = 0; i < key->list->count; i++)
		rows += key->starts[key->list->values[i] + 1] - key->starts[key->list->values[i]];
	return rows;
}

/* Finds the matches of the outer row that is shown; false if it has none. */
static bool
find_matches(AvlikeJoinState *state)
{
	int64 fewest = PG_INT64_MAX;

	for (int i = 0; i < state->nkeys; i++)
	{
		JoinKey *key = &state->keys[i];
		Datum value;
		int64 rows;

		if (!evaluate(state, key->outer, &value))
			return false;
		key->list = matches_of(key->matches, value);
		rows = count_rows(key);
		if (rows < fewest)
		{
			fewest = rows;
			state->guide = key;
		}
	}
	state->match = 0;
	state->next = fewest > 0 ? state->guide->starts[state->guide->list->values[0]] : 0;
	return fewest > 0;
}

static bool
next_outer(AvlikeJoinState *state)
{
	for (;;)
	{
		TupleTableSlot *row = ExecProcNode(state->outer);

		CHECK_FOR_INTERRUPTS();
		if (TupIsNull(row))
			return false;
		state->outer_row = row;
		show_row(state, row, 0);
		if (find_matches(state))
			return true;
		ResetExprContext(state->css.ss.ps.ps_ExprContext);
	}
}

static bool
has_number(const MatchList *list, int number)
{
	int lo = 0;
	int hi = list->count;

	while (lo < hi)
	{
		int middle = lo + (hi - lo) / 2;

		if (list->values[middle] < number)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo < list->count && list->values[lo] == number;
}

/* Does an inner row match by the other keys, too? */
static bool
matches_all(const AvlikeJoinState *state, int row)
{
	for (int i = 0; i < state->nkeys; i++)
	{
		if (&state->keys[i] != state->guide && !has_number(state->keys[i].list, state->values[(Size) row * state->nkeys + i]))
			return false;
	}
	return true;
}

/* The next inner row that matches the outer one; -1 after the last. */
static int
next_match(AvlikeJoinState *state)
{
	JoinKey *guide = state->guide;

	while (state->match < guide->list->count)
	{
		int value = guide->list->values[state->match];

		while (state->next < guide->starts[value + 1])
		{
			int row = guide->order[state->next++];

			if (matches_all(state, row))
				return row;
		}
		CHECK_FOR_INTERRUPTS();
		if (++state->match < guide->list->count)
			state->next = guide->starts[guide->list->values[state->match]];
	}
	return -1;
}

/* The next pair of rows whose values match, as one row. */
static TupleTableSlot *
next_pair(ScanState *node)
{
	AvlikeJoinState *state = (AvlikeJoinState *) node;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;

	ExecClearTuple(slot);
	if (!state->loaded)
		load_inner(state);
	for (;;)
	{
		int row = state->has_outer ? next_match(state) : -1;

		if (row >= 0)
		{
			/* Both halves: whoever took the last pair may have made the row its own, and freed it. */
			show_row(state, state->outer_row, 0);
			show_row(state, ExecStoreMinimalTuple(state->rows[row], state->inner_slot, false), state->nouter);
			return slot;
		}
		state->has_outer = state->nrows > 0 && next_outer(state);
		if (state->has_outer)
			continue;
		if (state->is_last)
			return ExecClearTuple(slot);
		/* The next rows of the inner side meet the whole outer side again. */
		state->is_first = false;
		load_inner(state);
		ExecReScan(state->outer);
	}
}

/* There is nothing to check again: such joins are not planned where rows may have changed. */
static bool
recheck_pair(ScanState *node, TupleTableSlot *slot)
{
	return true;
}

static TupleTableSlot *
exec_join(CustomScanState *node)
{
	return ExecScan(&node->ss, next_pair, recheck_pair);
}

static void
end_join(CustomScanState *node)
{
	ExecEndNode(((AvlikeJoinState *) node)->outer);
	ExecEndNode(((AvlikeJoinState *) node)->inner);
}

static void
rescan_side(AvlikeJoinState *state, PlanState *side)
{
	if (state->css.ss.ps.chgParam)
		UpdateChangedParamSet(side, state->css.ss.ps.chgParam);
	if (side->chgParam == NULL)
		ExecReScan(side);
}

static void
rescan_join(CustomScanState *node)
{
	AvlikeJoinState *state = (AvlikeJoinState *) node;
	bool keep;

	if (node->ss.ps.chgParam)
		UpdateChangedParamSet(state->inner, node->ss.ps.chgParam);
	/* All inner rows are at hand, and the same as before? */
	keep = state->loaded && state->is_first && state->is_last && state->inner->chgParam == NULL;
	if (!keep)
		rescan_side(state, state->inner);
	rescan_side(state, state->outer);
	state->loaded = keep;
	state->is_first = true;
	state->has_outer = false;
	ExecScanReScan(&node->ss);
}

static void
explain_join(CustomScanState *node, List *ancestors, ExplainState *es)
{
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;
	List *context = set_deparse_context_plan(es->deparse_cxt, (Plan *) scan, ancestors);

	ExplainPropertyText("Join Cond", deparse_expression((Node *) make_ands_explicit(scan->custom_exprs), context, true, false), es);
}

const CustomExecMethods avlike_join_exec_methods = {
	.CustomName = "AVLIKE Join",
	.BeginCustomScan = begin_join,
	.ExecCustomScan = exec_join,
	.EndCustomScan = end_join,
	.ReScanCustomScan = rescan_join,
	.ExplainCustomScan = explain_join,
};
