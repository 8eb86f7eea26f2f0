/*
 * consent.h
 *		Reading the choices that come with a row of the source.
 *
 * The choices are further columns of the source (policy/profile.h).  A choice that
 * is NULL agrees to nothing.
 */
#ifndef KANON_CONSENT_H
#define KANON_CONSENT_H

#include "executor/tuptable.h"

#include "aview/aview.h"
#include "source/layout.h"

/*
 * Add columns of choices to the columns of the source that have to be read, and return
 * the set: the choices about a whole row; the choices about showing the columns in the
 * set; and the choices about showing and generalizing them.
 */
extern Bitmapset *consent_add_profile(const AView *aview, Bitmapset *columns);
extern Bitmapset *consent_add_permissions(const AView *aview, Bitmapset *columns);
extern Bitmapset *consent_add_choices(const AView *aview, Bitmapset *columns);

/* Return the k that a row asks for, or -1 if it is not to be shown at all. */
extern int consent_k(const AView *aview, const RowLayout *layout, TupleTableSlot *slot);

/* Return how many levels up a sensitive value is to be generalized, at most a height. */
extern int consent_level(const AView *aview, const RowLayout *layout, TupleTableSlot *slot, int column, int height);

/* Return true if a column may be shown, and has not expired. */
extern bool consent_given(const AView *aview, const RowLayout *layout, TupleTableSlot *slot, int column);

#endif
