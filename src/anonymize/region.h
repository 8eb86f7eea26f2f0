/*
 * region.h
 *		Conditions on the source that hold for all rows of a cell.
 *
 * They let the base table's indexes find a cell's members.  They may hold for
 * other rows, too: the caller checks the codes of the rows that it finds.
 */
#ifndef KANON_REGION_H
#define KANON_REGION_H

#include "aview/aview.h"
#include "recode/recode.h"

/* Return conditions for the rows that may be in the cell of a step around codes at level 0; NIL: for all rows. */
extern List *region_of_codes(const AView *aview, const Recoder *recoder, int step, const int32 *codes);

/* Return the generalized value as which comparisons take a value of some type: 35.0 as 35, a moment as its day. */
extern Datum region_meaning(Oid type, Datum value);

/* Return conditions for the rows that may satisfy AVLIKE with a generalized value; NIL if there are none. */
extern List *region_of_value(const AView *aview, int column, Datum generalized);

/*
 * Return the conditions of a lookup by all quasi-identifiers, with parameters in place of
 * values, for estimating its cost.
 */
extern List *region_template(const AView *aview);

#endif
