/*
 * reconcile.h
 *		Comparing the stored groups of a materialized view with its source.
 */
#ifndef KANON_RECONCILE_H
#define KANON_RECONCILE_H

#include "matview/keeper.h"

/*
 * Bring in all changes that the groups have missed, and return how many rows were not as
 * they should have been.  For work of keeper_work(): the active snapshot must have been
 * taken after the view's lock, so that it sees all that earlier holders have committed.
 */
extern int64 reconcile_groups(Keeper *keeper);

#endif
