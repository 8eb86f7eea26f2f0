/*
 * join_state.h
 *		What an AVLIKE join knows while it runs.
 */
#ifndef KANON_JOIN_STATE_H
#define KANON_JOIN_STATE_H

#include "nodes/execnodes.h"
#include "utils/tuplestore.h"

#include "join/classes.h"
#include "join/matches.h"

typedef struct AvlikeJoinState
{
	CustomScanState css;
	PlanState *outer;
	PlanState *inner;
	int nouter; /* columns */
	int nkeys;
	JoinClause *keys;
	ExprState **outer_keys;
	ExprState **inner_keys;
	Datum *key_values; /* of a row of either side */
	ExprState *filter; /* what else makes a pair one */
	TupleTableSlot *inner_slot;
	int nwanted; /* inner columns that somebody looks at once rows are joined: */
	int *wanted;

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
	MinimalTuple *rows; /* class by class, from when all are there; last those that join with nothing */
	int *class;			/* of each row, until then; NO_CLASS if it joins with nothing */
	Classes *classes;
	int *starts;   /* where the rows of each class start, and where the last end */
	bool *partner; /* has the row found one?  Only where that is asked for */
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
	const MatchList *matches; /* the classes of those that it joins with; null if there are none */
	int match;
	int next;
	int end;
} AvlikeJoinState;

#define NO_CLASS (-1)

/* Puts a row of one side where the join's own row has it. */
extern void join_show_row(AvlikeJoinState *state, TupleTableSlot *row, int from);
/* Puts an inner row there, as much of it as somebody looks at. */
extern void join_show_inner(AvlikeJoinState *state, int row);
/* The values that a side's row, which is shown, is joined by; false if one is NULL and the row joins with nothing. */
extern bool join_evaluate(AvlikeJoinState *state, ExprState **keys);
/* Takes as many inner rows as fit into memory. */
extern void join_load_inner(AvlikeJoinState *state);

#endif
