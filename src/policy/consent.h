/*
 * consent.h
 *		What the owner of a row lets be published of it.
 *
 * The choices are further columns of the source (policy/profile.h).  Whoever has
 * left one open has not agreed to anything.
 */
#ifndef KANON_SCAN_CONSENT_H
#define KANON_SCAN_CONSENT_H

#include "executor/tuptable.h"

#include "aview/aview.h"
#include "source/layout.h"

/* Columns that have to be read, too: those that say how a row is published at all, */
extern Bitmapset *consent_add_profile(const AView *aview, Bitmapset *columns);
/* whether some columns are, */
extern Bitmapset *consent_add_permissions(const AView *aview, Bitmapset *columns);
/* and how. */
extern Bitmapset *consent_add_choices(const AView *aview, Bitmapset *columns);

/* The k that a row asks for; -1 if it is not to be shown at all. */
extern int consent_k(const AView *aview, const RowLayout *layout, TupleTableSlot *slot);

/* How far up a sensitive value is to be generalized, at most to a height. */
extern int consent_level(const AView *aview, const RowLayout *layout, TupleTableSlot *slot, int column, int height);

/* May a column be shown, and still? */
extern bool consent_given(const AView *aview, const RowLayout *layout, TupleTableSlot *slot, int column);

#endif
