/*
 * join_state.h
 *		The executor's state of an AVLIKE join.
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
	Datum *key_values; /* of the row in the scan slot, a value per clause */
	ExprState *filter; /* the other conditions that two rows must satisfy to be joined; or NULL */
	TupleTableSlot *inner_slot;
	int nwanted; /* inner columns that are used once rows are joined */
	int *wanted; /* in ascending order */

	/* Properties of the type of the join. */
	bool shows_pairs;	 /* joined rows are part of the result: not for an anti join */
	bool stops_at_first; /* one partner of an outer row is enough: semi and anti joins */
	bool keeps_outer;	 /* outer rows without a partner are part of the result */
	bool keeps_inner;	 /* inner rows without a partner are part of the result */

	/* The loaded inner rows. */
	MemoryContext chunk; /* holds them, and nothing else */
	bool loaded;
	bool is_first; /* true for the first load */
	bool is_last;  /* true for the last load */
	int nrows;
	int room;
	MinimalTuple *rows; /* once loaded, in the order of their classes, rows without a class last */
	int *class;			/* of each row, while loading; NO_CLASS if it joins with nothing */
	Classes *classes;
	int *starts;   /* the first row of each class, and the end of the last class */
	bool *partner; /* true for each row that has a partner; only if keeps_inner */
	int lonely;	   /* after the last outer row: the next row that may have no partner */

	/* The outer rows, kept while more inner rows are to be loaded. */
	MemoryContext all_outer;
	Tuplestorestate *kept;
	TupleTableSlot *kept_slot;
	uint8 *found;	 /* a bit per outer row: 1 if it has a partner */
	Size found_size; /* in bytes */

	/* The present outer row. */
	int64 number; /* of outer rows read, this one included */
	bool outer_done;
	bool has_outer; /* false: the next outer row is to be read */
	TupleTableSlot *outer_row;
	bool has_partner;
	const MatchList *matches; /* the inner classes that match it, or NULL */
	int match;				  /* the present one of them */
	int next;				  /* its next row, */
	int end;				  /* and the end of its rows */
} AvlikeJoinState;

#define NO_CLASS (-1)

/* Put a row of one side into the joined row, from a column on. */
extern void join_show_row(AvlikeJoinState *state, TupleTableSlot *row, int from);
/* Put the used columns of a loaded inner row into the joined row. */
extern void join_show_inner(AvlikeJoinState *state, int row);
/*
 * Set key_values to the values by which the row of a side, in the scan slot, is joined.
 * Return false if one of the values is NULL, so that the row joins with nothing.
 */
extern bool join_evaluate(AvlikeJoinState *state, ExprState **keys);
/* Load as many inner rows as fit into memory, after the rows loaded before; sets is_last. */
extern void join_load_inner(AvlikeJoinState *state);

#endif
