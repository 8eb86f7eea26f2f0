/*
 * sameness.h
 *		Which values of a column are one value.
 *
 * The equality of the column's own type and collation counts.  Mostly it agrees
 * with the codes of a dictionary, which tell values apart as they are published.
 */
#ifndef KANON_SAMENESS_H
#define KANON_SAMENESS_H

#include "aview/aview.h"
#include "base/valuecodes.h"
#include "recode/ldiversity.h"

/* Return true if values of a column may cover each other: the view generalizes them, or its source has done so. */
extern bool values_may_cover(const AViewColumn *column);
/* Return codes for raw values of a column, where its dictionary's codes do not tell which are equal; else NULL. */
extern ValueCodes *sameness_create(const AViewColumn *column);
/*
 * Note which codes of the rule's dictionary are equal to a code.  Labels, also those of inner
 * nodes, are compared as values of the column where they can be; values of other types are
 * compared themselves, and their generalizations by label.  level is how many levels up the
 * value is.
 */
extern void sameness_learn(const AViewColumn *column, ValueCodes *equal, DiversityRule *rule, int32 code, int level,
						   Datum value);

#endif
