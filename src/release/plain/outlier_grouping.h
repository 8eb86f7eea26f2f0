/*
 * outlier_grouping.h
 *		A grouping of the source's rows, given as a query.
 */
#ifndef KANON_RELEASE_OUTLIER_GROUPING_H
#define KANON_RELEASE_OUTLIER_GROUPING_H

#include "release/plain/outlier.h"

/* The groups of a grouping, numbered from 0. */
typedef struct GivenGroups
{
	int ngroups;
	int32 *labels;	 /* by group: its grp, in ascending order */
	int32 *group_of; /* by row: its group; -1: none */
	int32 *starts;	 /* by group: the place of its first row in rows; and the end of the last group */
	int32 *rows;
} GivenGroups;

/* Run a query of (id, grp), and return the groups of the rows that have one. */
extern GivenGroups *given_groups_read(const Space *space, const char *query);

#endif
