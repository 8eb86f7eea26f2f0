/*
 * anonymize_first.h
 *		Anonymize-then-Select: every row of the source, as it is published.
 */
#ifndef KANON_ALLROWS_H
#define KANON_ALLROWS_H

#include "nodes/params.h"
#include "utils/snapshot.h"

#include "anonymize/anonymizer.h"
#include "aview/aview.h"
#include "recode/recode.h"

/* Does a row, given by its codes at level 0, satisfy the conditions asked of a witness? */
typedef ClassTest Witness;

typedef struct AllRows AllRows;

/* Only rows that satisfy conditions on the source are wanted.  Where that saves nothing, others come, too. */
extern AllRows *allrows_start(AView *aview, const Bitmapset *wanted, List *conditions, Snapshot snapshot);
/* The same for those who ask for allrows_current: the view's owner, who may see their order, too. */
extern AllRows *allrows_start_with_source(AView *aview, const Bitmapset *wanted, Snapshot snapshot);
/* Only groups with a witness count; to be called before the first row is asked for. */
extern void allrows_ask_witness(AllRows *rows, Witness witness, void *arg);
extern Anonymizer *allrows_anonymizer(AllRows *rows);
extern bool allrows_next(AllRows *rows, Datum *values, bool *nulls);
/* The source's row behind the last one, and its cell, or null. */
extern TupleTableSlot *allrows_current(const AllRows *rows, const Cell **cell);
/* Starts (again) with these values of the conditions' parameters. */
extern void allrows_rewind(AllRows *rows, ParamListInfo params);
extern void allrows_end(AllRows *rows);

/* Marks the cells of known classes that have a witness. */
extern void witness_cells(Anonymizer *anonymizer, Witness witness, void *arg);

#endif
