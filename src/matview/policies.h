/*
 * policies.h
 *		Row security of the tables behind stored groups.
 */
#ifndef KANON_MATVIEW_POLICIES_H
#define KANON_MATVIEW_POLICIES_H

#include "aview/aview.h"

/* Raise an error if the stored groups of a view may hold rows that its owner may not see any more. */
extern void policies_check(const AView *aview);
/* Store the present row policies, for groups that have just been compared with the source. */
extern void policies_store(const AView *aview);

#endif
