/*
 * groups.h
 *		A list of groups of rows, each a stretch of one array.
 */
#ifndef KANON_GROUPS_H
#define KANON_GROUPS_H

typedef struct Groups
{
	int32 *rows; /* room for all rows that will ever be added */
	int ngroups;
	int capacity; /* of ends */
	int32 *ends;  /* group i is rows[ends[i - 1] .. ends[i]) */
} Groups;

/* Return the place of a group's first row; also that behind the last group. */
static inline int32
group_start(const Groups *groups, int group)
{
	Assert(group >= 0 && group <= groups->ngroups);
	return group == 0 ? 0 : groups->ends[group - 1];
}

/* Return the number of a group's rows. */
static inline int32
group_size(const Groups *groups, int group)
{
	Assert(group < groups->ngroups);
	return groups->ends[group] - group_start(groups, group);
}

/* Return a group's rows. */
static inline int32 *
group_rows(const Groups *groups, int group)
{
	return groups->rows + group_start(groups, group);
}

/* Take note that nrows rows are done. */
typedef void (*Report)(int64 nrows);

/* Return an empty list, in the current memory context, with room for nrows rows. */
extern Groups *groups_create(int nrows);
/* Append a group; its rows may be the ones behind the last group already, or farther behind. */
extern void groups_add(Groups *groups, const int32 *rows, int count);

#endif
