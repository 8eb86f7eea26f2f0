/*
 * groups.h
 *		A list of groups of rows, each a stretch of one array.
 */
#ifndef KANON_GROUPS_H
#define KANON_GROUPS_H

typedef struct Groups
{
	int32 *rows; /* room for all that will ever be added */
	int ngroups;
	int capacity;
	int32 *ends; /* group i is rows[ends[i - 1] .. ends[i]) */
} Groups;

static inline int32
group_start(const Groups *groups, int group)
{
	return group == 0 ? 0 : groups->ends[group - 1];
}

static inline int32
group_size(const Groups *groups, int group)
{
	return groups->ends[group] - group_start(groups, group);
}

static inline int32 *
group_rows(const Groups *groups, int group)
{
	return groups->rows + group_start(groups, group);
}

/* Told how many rows are done; may be null. */
typedef void (*Report)(int64 nrows);

extern Groups *groups_create(int nrows);
extern void groups_add(Groups *groups, const int32 *rows, int count);

#endif
