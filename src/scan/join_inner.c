/*
 * join_inner.c
 *		The inner rows of an AVLIKE join: as many as fit into memory, by the values
 *		that they are joined by.
 */
#include "scan/join_state.h"

#include "executor/executor.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "utils/memutils.h"

void
join_show_row(AvlikeJoinState *state, TupleTableSlot *row, int from)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	int natts = row->tts_tupleDescriptor->natts;

	slot_getallattrs(row);
	memcpy(slot->tts_values + from, row->tts_values, natts * sizeof(Datum));
	memcpy(slot->tts_isnull + from, row->tts_isnull, natts * sizeof(bool));
	if (TTS_EMPTY(slot))
		ExecStoreVirtualTuple(slot);
}

bool
join_evaluate(AvlikeJoinState *state, ExprState *expression, Datum *value)
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

/* The numbers of an inner row's values; false if it joins with nothing. */
static bool
number_values(AvlikeJoinState *state, int *values)
{
	for (int i = 0; i < state->nkeys; i++)
	{
		Datum value;

		if (!join_evaluate(state, state->keys[i].inner, &value))
			return false;
		values[i] = matches_add_inner(state->keys[i].matches, value);
	}
	return true;
}

/* Keeps an inner row. */
static void
add_inner(AvlikeJoinState *state, TupleTableSlot *row)
{
	int *values;

	join_show_row(state, row, state->nouter);
	make_room(state);
	values = state->values + (Size) state->nrows * state->nkeys;
	if (!number_values(state, values))
	{
		if (!state->keeps_inner)
			return;
		for (int i = 0; i < state->nkeys; i++)
			values[i] = NO_VALUE;
	}
	state->rows[state->nrows++] = ExecCopySlotMinimalTuple(row);
}

/* Orders the rows by a key's values. */
static void
order_rows(AvlikeJoinState *state, int which)
{
	JoinKey *key = &state->keys[which];
	int nvalues = matches_count_inner(key->matches);
	const int *values = state->values + which;

	key->starts = palloc_extended((nvalues + 2) * sizeof(int), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	key->order = palloc_extended(Max(state->nrows, 1) * sizeof(int), MCXT_ALLOC_HUGE);
	/* Counted two places on and moved one place back as they are filled, the starts end up where they belong. */
	for (int row = 0; row < state->nrows; row++)
	{
		if (values[(Size) row * state->nkeys] != NO_VALUE)
			key->starts[values[(Size) row * state->nkeys] + 2]++;
	}
	for (int value = 2; value < nvalues + 2; value++)
		key->starts[value] += key->starts[value - 1];
	for (int row = 0; row < state->nrows; row++)
	{
		if (values[(Size) row * state->nkeys] != NO_VALUE)
			key->order[key->starts[values[(Size) row * state->nkeys] + 1]++] = row;
	}
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

void
join_load_inner(AvlikeJoinState *state)
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
	state->partner = palloc_extended(Max(state->nrows, 1) * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	state->loaded = true;
	MemoryContextSwitchTo(old);
}
