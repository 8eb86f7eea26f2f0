/*
 * closest.h
 *		The group that changes least when a row joins it.
 *
 * A row is given by its codes at level 0 and its key (keeper_key()).
 */
#ifndef KANON_CLOSEST_H
#define KANON_CLOSEST_H

#include "matview/tables.h"

/* The group that a row is to join, and the step to which the group has to come for that. */
typedef struct Place
{
	StoredGroup *group; /* NULL: there is none */
	int step;
} Place;

/*
 * Return the place of a row that is published at its floor or above, and asks for a k; 0:
 * each group has enough members.
 */
extern Place closest_group(Stored *stored, const int32 *codes, const uint8 *key, int floor, int k);
/* Return the lowest group that covers the row and has a key of at most length steps; NULL: there is none. */
extern StoredGroup *covering_group(Stored *stored, const int32 *codes, const uint8 *key, int length);
/* Return true if the group's cell is the row's cell at the group's step: keys may agree by chance. */
extern bool group_is_cell_of(Stored *stored, const StoredGroup *group, const int32 *codes);

#endif
