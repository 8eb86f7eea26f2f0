/*
 * join_inner.c
 *		The inner rows of an AVLIKE join: loading as many as fit into memory, in the
 *		order of their classes.
 */
#include "base/kanon.h"

#include "join/join_state.h"

#include "executor/executor.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/classes.h"

/* Put a row of one side into the scan slot. */
void
join_show_row(AvlikeJoinState *state, TupleTableSlot *row, int from)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	int natts = row->tts_tupleDescriptor->natts;

	Assert(from + natts <= slot->tts_tupleDescriptor->natts);
	slot_getallattrs(row);
	memcpy(slot->tts_values + from, row->tts_values, natts * sizeof(Datum));
	memcpy(slot->tts_isnull + from, row->tts_isnull, natts * sizeof(bool));
	if (TTS_EMPTY(slot))
		ExecStoreVirtualTuple(slot);
}

/* Put the used columns of a loaded inner row into the scan slot. */
void
join_show_inner(AvlikeJoinState *state, int row)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	TupleTableSlot *inner = state->inner_slot;

	if (state->nwanted > 0)
	{
		ExecStoreMinimalTuple(state->rows[row], inner, false);
		slot_getsomeattrs(inner, state->wanted[state->nwanted - 1] + 1);
	}
	Assert(row >= 0 && row < state->nrows);
	for (int i = 0; i < state->nwanted; i++)
	{
		slot->tts_values[state->nouter + state->wanted[i]] = inner->tts_values[state->wanted[i]];
		slot->tts_isnull[state->nouter + state->wanted[i]] = inner->tts_isnull[state->wanted[i]];
	}
	if (TTS_EMPTY(slot))
		ExecStoreVirtualTuple(slot);
}

/* Evaluate the clauses' expressions of one side for the row in the scan slot. */
bool
join_evaluate(AvlikeJoinState *state, ExprState **keys)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	bool isnull;

	econtext->ecxt_scantuple = state->css.ss.ss_ScanTupleSlot;
	for (int i = 0; i < state->nkeys; i++)
	{
		state->key_values[i] = ExecEvalExprSwitchContext(keys[i], econtext, &isnull);
		if (isnull)
			return false;
	}
	return true;
}

/* Make room for one more inner row. */
static void
join_make_room(AvlikeJoinState *state)
{
	if (state->nrows < state->room)
		return;
	state->room = state->room ? state->room * 2 : 1024;
	state->rows = state->nrows ? repalloc_huge(state->rows, state->room * sizeof(MinimalTuple))
							   : palloc(state->room * sizeof(MinimalTuple));
	state->class = state->nrows ? repalloc_huge(state->class, state->room * sizeof(int))
								: palloc(state->room * sizeof(int));
}

/* Return the class of the inner row in the scan slot, or NO_CLASS if it joins with nothing. */
static int
find_inner_class(AvlikeJoinState *state)
{
	MemoryContext old;
	int number;

	if (!join_evaluate(state, state->inner_keys))
		return NO_CLASS;
	old = MemoryContextSwitchTo(state->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	number = classes_add_inner(state->classes, state->key_values);
	MemoryContextSwitchTo(old);
	return number;
}

/* Load an inner row, unless it joins with nothing and is not part of the result without a partner. */
static void
add_inner(AvlikeJoinState *state, TupleTableSlot *row)
{
	int class;

	join_show_row(state, row, state->nouter);
	class = find_inner_class(state);
	if (class == NO_CLASS && !state->keeps_inner)
		return;
	join_make_room(state);
	state->class[state->nrows] = class;
	state->rows[state->nrows++] = ExecCopySlotMinimalTuple(row);
}

/* Order the loaded rows by their class, rows without a class last; sets rows and starts. */
static void
order_inner(AvlikeJoinState *state)
{
	int nclasses = classes_count_inner(state->classes);
	MinimalTuple *rows = palloc_extended(Max(state->nrows, 1) * sizeof(MinimalTuple), MCXT_ALLOC_HUGE);
	int *starts = palloc_extended((Size) (nclasses + 3) * sizeof(int), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

#define CLASS(row) (state->class[row] == NO_CLASS ? nclasses : state->class[row])
	/*
	 * A counting sort.  The rows of class c are counted in starts[c + 2]; after summing
	 * up, starts[c + 1] is where class c begins, and filling the class moves it on to
	 * where class c + 1 begins, the final value of starts[c + 1].
	 */
	for (int row = 0; row < state->nrows; row++)
		starts[CLASS(row) + 2]++;
	for (int i = 2; i < nclasses + 3; i++)
		starts[i] += starts[i - 1];
	for (int row = 0; row < state->nrows; row++)
		rows[starts[CLASS(row) + 1]++] = state->rows[row];
#undef CLASS
	Assert(starts[nclasses + 1] == state->nrows);
	if (state->nrows > 0)
	{
		pfree(state->rows);
		pfree(state->class);
	}
	state->rows = rows;
	state->starts = starts;
}

/* Load the next inner row; return false after the last.  Nothing else is allocated in the chunk's context. */
static bool
load_next_inner(AvlikeJoinState *state)
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

/* Load inner rows until the memory is full or there are no more. */
void
join_load_inner(AvlikeJoinState *state)
{
	MemoryContext old;

	MemoryContextReset(state->chunk);
	old = MemoryContextSwitchTo(state->chunk);
	state->nrows = state->room = 0;
	state->classes = classes_create(state->keys, state->nkeys, state->stops_at_first && state->filter == NULL);
	MemoryContextSwitchTo(old);
	do
	{
		CHECK_FOR_INTERRUPTS();
		state->is_last = !load_next_inner(state);
	} while (!state->is_last &&
			 (state->nrows % 256 != 255 || MemoryContextMemAllocated(state->chunk, true) <= get_hash_memory_limit()));
	old = MemoryContextSwitchTo(state->chunk);
	classes_close_inner(state->classes);
	order_inner(state);
	if (state->keeps_inner)
		state->partner = palloc_extended(Max(state->nrows, 1) * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	state->loaded = true;
	MemoryContextSwitchTo(old);
}
