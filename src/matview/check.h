/*
 * check.h
 *		Checking stored groups against the view's privacy predicate.
 */
#ifndef KANON_CHECK_H
#define KANON_CHECK_H

#include "matview/tables.h"

/* Return true if a group satisfies k and l; t is a matter of all groups. */
extern bool group_holds(Stored *stored, const StoredGroup *group);
/* Return the groups with a distribution of sensitive values farther than t from the one of all rows; NIL without t. */
extern List *groups_not_close(Stored *stored);

#endif
