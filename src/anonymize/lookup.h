/*
 * lookup.h
 *		Looking for the rows of cells, by a query each, as long as that is worth it.
 */
#ifndef KANON_SCAN_LOOKUP_H
#define KANON_SCAN_LOOKUP_H

#include "utils/snapshot.h"

#include "anonymize/anonymizer.h"
#include "source/layout.h"
#include "source/source.h"

typedef struct Lookup Lookup;

/* In the current memory context. */
extern Lookup *lookup_create(Anonymizer *anonymizer);
/* So many cells are to be looked for, all about as large as each other. */
extern void lookup_expect_cells(Lookup *lookup, double cells);
/*
 * The rows of one of them, at a step, by the conditions of its region.  Null where
 * that is not worth it: everything had better be counted.
 */
extern SourceRun *lookup_start(Lookup *lookup, const RowLayout *layout, int step, List *conditions);
/* A row of it was read; false: they have become too many. */
extern bool lookup_goes_on(Lookup *lookup);

#endif
