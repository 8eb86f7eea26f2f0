/*
 * partitions.h
 *		Recoding in parts, where the classes of a source do not fit into memory.
 */
#ifndef KANON_PARTITIONS_H
#define KANON_PARTITIONS_H

#include "nodes/params.h"
#include "utils/snapshot.h"

#include "anonymize/anonymizer.h"

typedef struct Partitions Partitions;

/*
 * Create partitions for rows of the layout anonymizer->published.  rows_counted rows have
 * filled the memory, so that the number of parts follows from the number of rows expected;
 * their classes, which are freed, tell where to divide the rows.
 */
extern Partitions *partitions_create(Anonymizer *anonymizer, int64 rows_counted, double rows_expected, TupleDesc desc);
/* Add a row; to be called for all rows, before partitions_recode(). */
extern void partitions_add(Partitions *partitions, TupleTableSlot *slot);
/* Recode all rows, note them in anonymizer->notes, and free the partitions. */
extern void partitions_recode(Partitions *partitions);

#endif
