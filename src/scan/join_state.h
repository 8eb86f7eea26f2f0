/*
 * join_state.h
 *		What an AVLIKE join knows while it runs.
 */
#ifndef KANON_JOIN_STATE_H
#define KANON_JOIN_STATE_H

#include "scan/join.h"

#include "nodes/execnodes.h"
#include "utils/tuplestore.h"

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
	ExprState *filter; /* what else makes a pair one */
	TupleTableSlot *inner_slot;

	/* What becomes of rows. */
	bool shows_pairs;
	bool stops_at_first; /* one partner says all about an outer row */
	bool keeps_outer;	 /* outer rows without a partner come, too */
	bool keeps_inner;

	/* The inner rows at hand. */
	MemoryContext chunk;
	bool loaded;
	bool is_first;
	bool is_last;
	int nrows;
	int room;
	MinimalTuple *rows;
	int *values;   /* of each row, the number of each key's value; NO_VALUE in all if it joins with nothing */
	bool *partner; /* has the row found one? */
	int lonely;	   /* after the last outer row: the next that may have found none */

	/* All outer rows, where the inner ones come in more than one chunk. */
	MemoryContext all_outer;
	Tuplestorestate *kept;
	TupleTableSlot *kept_slot;
	uint8 *found; /* a bit for each of them: has it found a partner? */
	Size found_size;

	/* The outer row at hand: which of its matches is next. */
	int64 number; /* of rows before it */
	bool outer_done;
	bool has_outer;
	TupleTableSlot *outer_row;
	bool has_partner;
	JoinKey *guide; /* the key with the fewest rows to look at; null if there are none */
	int match;
	int next;
} AvlikeJoinState;

#define NO_VALUE (-1)

/* Puts a row of one side where the join's own row has it. */
extern void join_show_row(AvlikeJoinState *state, TupleTableSlot *row, int from);
/* The value that a side's row, which is shown, is joined by; false if it is NULL and joins with nothing. */
extern bool join_evaluate(AvlikeJoinState *state, ExprState *expression, Datum *value);
/* Takes as many inner rows as fit into memory. */
extern void join_load_inner(AvlikeJoinState *state);

#endif
