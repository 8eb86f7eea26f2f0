/*
 * lookup.h
 *		Looking up the rows of cells, by a query each, as long as that is worth it.
 */
#ifndef KANON_LOOKUP_H
#define KANON_LOOKUP_H

#include "utils/snapshot.h"

#include "anonymize/anonymizer.h"
#include "source/layout.h"
#include "source/source.h"

typedef struct Lookup Lookup;

/* Create a lookup in the current memory context, in which it also plans its queries. */
extern Lookup *lookup_create(Anonymizer *anonymizer);
/* Expect a number of cells from now on, all about as large as each other. */
extern void lookup_expect_cells(Lookup *lookup, double cells);
/*
 * Start reading the rows of one of these cells, in a layout, by the conditions of its
 * region at a step.  Return NULL, and say why at DEBUG2, where this is not worth it: the
 * caller had better read the whole source.  The caller ends the run before the next one.
 */
extern SourceRun *lookup_start(Lookup *lookup, const RowLayout *layout, int step, List *conditions);
/* Account for a row of the run; return false, and say why at DEBUG2, if it has too many. */
extern bool lookup_goes_on(Lookup *lookup);
/* Say at DEBUG2 why cells are looked up no longer, to readers of the source. */
extern void lookup_refuse(const Lookup *lookup, const char *reason);

#endif
