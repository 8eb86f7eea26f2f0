/*
 * apply.h
 *		Bringing the groups of a view up to date with the changes of a transaction.
 */
#ifndef KANON_APPLY_H
#define KANON_APPLY_H

#include "nodes/pg_list.h"

/* All changes of a view by a transaction. */
typedef struct PendingChanges
{
	int32 view;
	List *entries;
	bool removals;
	bool truncated;
	bool written;
} PendingChanges;

/* Apply the changes of a view, PendingChanges: attempted work. */
extern void apply_pending(void *arg);

#endif
