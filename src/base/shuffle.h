/*
 * shuffle.h
 *		Rows in an order that says nothing.
 */
#ifndef KANON_SHUFFLE_H
#define KANON_SHUFFLE_H

#include "executor/tuptable.h"

typedef struct Shuffle Shuffle;

/* Seed a generator with numbers that cannot be foreseen. */
extern void shuffle_seed(pg_prng_state *random);

/* Create an empty shuffle, which belongs to the current memory context; rows beyond work_mem go to disk. */
extern Shuffle *shuffle_create(TupleDesc desc);
/* Add a row, given by a slot or by its values.  No row may be added after shuffle_next(). */
extern void shuffle_add(Shuffle *shuffle, TupleTableSlot *slot);
extern void shuffle_add_values(Shuffle *shuffle, Datum *values, bool *nulls);
/* Return the next row in a slot, which is valid until the next call; return false after the last row. */
extern bool shuffle_next(Shuffle *shuffle, TupleTableSlot **slot);
/* Return all rows once more, in another order. */
extern void shuffle_rewind(Shuffle *shuffle);
/* Free the shuffle, its rows and files. */
extern void shuffle_end(Shuffle *shuffle);

#endif
