/*
 * select_first.h
 *		Select-then-Anonymize: the rows of the source that satisfy some conditions,
 *		as they are published.
 */
#ifndef KANON_SELECTION_H
#define KANON_SELECTION_H

#include "anonymize/anonymize_first.h"
#include "anonymize/anonymizer.h"
#include "aview/aview.h"

typedef struct Selection Selection;

/*
 * conditions: on the source's columns.  With a witness they select members whose
 * whole groups are wanted; otherwise the selected rows alone are.
 */
extern Selection *selection_start(AView *aview, const Bitmapset *wanted, List *conditions, Snapshot snapshot);
extern void selection_ask_witness(Selection *selection, Witness witness, void *arg);
extern Anonymizer *selection_anonymizer(Selection *selection);
/* Starts (again) with these values of the conditions' parameters. */
extern void selection_rewind(Selection *selection, ParamListInfo params);
extern bool selection_next(Selection *selection, Datum *values, bool *nulls);
extern void selection_end(Selection *selection);

#endif
