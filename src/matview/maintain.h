/*
 * maintain.h
 *		Bringing the groups of a materialized view up to date.
 *
 * Changes of rows are noted one by one, and take effect in maintenance_end().  The
 * caller holds the view's lock, and runs with the rights of the view's owner.
 * Values are of a row of keeper->row.
 */
#ifndef KANON_MAINTAIN_H
#define KANON_MAINTAIN_H

#include "storage/itemptr.h"
#include "utils/relcache.h"

#include "matview/keeper.h"

typedef struct Maintenance Maintenance;

extern Maintenance *maintenance_start(Keeper *keeper);
/* Note that a row, given by its identifiers, is gone from the source; it need not be stored. */
extern void maintenance_remove(Maintenance *maintenance, const Datum *values, const bool *nulls);
/* Note a row of the source as it is now.  Return true, and set the place of its member, if it is stored. */
extern bool maintenance_put(Maintenance *maintenance, const Datum *values, const bool *nulls, ItemPointer was);
/* Note that the row of a member is gone. */
extern void maintenance_drop(Maintenance *maintenance, HeapTuple member);
/* Return the table of members, for reading. */
extern Relation maintenance_members(Maintenance *maintenance);
/* Have the rows that wait look for a group again. */
extern void maintenance_recall(Maintenance *maintenance);
/* Apply the changes, and return how many rows were gone, new or changed. */
extern int64 maintenance_end(Maintenance *maintenance);

#endif
