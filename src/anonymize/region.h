/*
 * region.h
 *		Conditions on the source that hold for all rows of a cell.
 *
 * They let the base table's indexes find a cell's members.  They may hold for
 * other rows, too: whoever uses them checks codes afterwards.
 */
#ifndef KANON_REGION_H
#define KANON_REGION_H

#include "aview/aview.h"
#include "recode/recode.h"

/* The rows that may agree with codes (at level 0) at a step; NIL: all rows. */
extern List *region_of_codes(const AView *aview, const Recoder *recoder, int step, const int32 *codes);

/* What comparisons take a value for: 35.0 for 35, a moment for its day. */
extern Datum region_meaning(Oid type, Datum value);

/* The rows that may satisfy AVLIKE with a value; NIL if that cannot be said. */
extern List *region_of_value(const AView *aview, int column, Datum generalized);

/* What a lookup by all quasi-identifiers would be like, for estimating its cost. */
extern List *region_template(const AView *aview);

#endif
