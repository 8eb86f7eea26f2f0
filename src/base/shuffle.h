/*
 * shuffle.h
 *		Rows that are kept, and then handed out in an order that says nothing.
 */
#ifndef KANON_SHUFFLE_H
#define KANON_SHUFFLE_H

#include "access/htup.h"
#include "executor/tuptable.h"

typedef struct Shuffle Shuffle;

/*
 * Create an empty shuffle, which belongs to the current memory context; rows beyond work_mem
 * go to disk.  With keep_order, rows come out in the order in which they were added.
 */
extern Shuffle *shuffle_create(TupleDesc desc, bool keep_order);
/* Return the descriptor of the rows. */
extern TupleDesc shuffle_desc(const Shuffle *shuffle);
/* Add a row, given by a slot or by its values.  No row may be added after the first one was handed out. */
extern void shuffle_add(Shuffle *shuffle, TupleTableSlot *slot);
extern void shuffle_add_values(Shuffle *shuffle, Datum *values, bool *nulls);
/* Return the next row in a slot, which is valid until the next call; return false after the last row. */
extern bool shuffle_next(Shuffle *shuffle, TupleTableSlot **slot);
/*
 * Set the next rows, at most as many as are asked for, and return how many they are; 0 after
 * the last row.  They are valid until the next call.
 */
extern int shuffle_fetch(Shuffle *shuffle, MinimalTuple *rows, int most);
/* Return all rows once more. */
extern void shuffle_rewind(Shuffle *shuffle);
/* Free the shuffle, its rows and files. */
extern void shuffle_end(Shuffle *shuffle);

#endif
