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

/* rows_counted: how many rows filled the memory; the classes seen so far guide the split. */
extern Partitions *partitions_create(Anonymizer *anonymizer, int64 rows_counted, double rows_expected, TupleDesc desc);
extern void partitions_add(Partitions *partitions, TupleTableSlot *slot);
extern void partitions_recode(Partitions *partitions);
/* The next row, which the anonymizer has then read, and its cell, or null; false after the last. */
extern bool partitions_next(Partitions *partitions, TupleTableSlot **slot, Cell **cell);
extern void partitions_rewind(Partitions *partitions);
extern void partitions_end(Partitions *partitions);

#endif
