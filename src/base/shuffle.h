/*
 * shuffle.h
 *		Rows in an order that says nothing.
 */
#ifndef KANON_SHUFFLE_H
#define KANON_SHUFFLE_H

#include "executor/tuptable.h"

typedef struct Shuffle Shuffle;

/* Seeds a generator that nobody can foresee. */
extern void shuffle_seed(pg_prng_state *random);

/* All of it belongs to the current memory context; rows beyond work_mem go to disk. */
extern Shuffle *shuffle_create(TupleDesc desc);
extern void shuffle_add(Shuffle *shuffle, TupleTableSlot *slot);
extern void shuffle_add_values(Shuffle *shuffle, Datum *values, bool *nulls);
/* The next row, valid until the one after; false after the last.  No row may be added after the first. */
extern bool shuffle_next(Shuffle *shuffle, TupleTableSlot **slot);
/* All rows once more, in another order. */
extern void shuffle_rewind(Shuffle *shuffle);
extern void shuffle_end(Shuffle *shuffle);

#endif
