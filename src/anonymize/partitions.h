/*
 * partitions.h
 *		Recoding in parts, where the classes of a source do not fit into memory.
 */
#ifndef KANON_PARTITIONS_H
#define KANON_PARTITIONS_H

#include "nodes/params.h"
#include "utils/snapshot.h"

#include "anonymize/anonymizer.h"
#include "recode/recode.h"

typedef struct Partitions Partitions;

/*
 * Create partitions for rows of the layout anonymizer->published.  rows_counted rows have
 * filled the memory, so that the number of parts follows from the number of rows expected;
 * their classes, which are freed, tell where to divide the rows.
 */
extern Partitions *partitions_create(Anonymizer *anonymizer, int64 rows_counted, double rows_expected, TupleDesc desc);
/* Add a row; to be called for all rows, before partitions_recode(). */
extern void partitions_add(Partitions *partitions, TupleTableSlot *slot);
/* Recode all rows, and start with the first one. */
extern void partitions_recode(Partitions *partitions);
/*
 * Set the next row, which the anonymizer has then read, and its cell or, for a row in no
 * group, NULL; return false after the last.
 */
extern bool partitions_next(Partitions *partitions, TupleTableSlot **slot, Cell **cell);
/* Start again with the first row. */
extern void partitions_rewind(Partitions *partitions);
/* Drop the files and slots; memory goes with the anonymizer. */
extern void partitions_end(Partitions *partitions);

#endif
