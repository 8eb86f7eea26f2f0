/*
 * plain_groups.h
 *		Making plain k-anonymous groups: Algorithm 1 and its variants.
 */
#ifndef KANON_RELEASE_PLAIN_GROUPS_H
#define KANON_RELEASE_PLAIN_GROUPS_H

#include "release/common/kdtree.h"
#include "release/plain/outlier.h"
#include "release/plain/plain_check.h"

/* A group of plain_k. */
typedef struct PlainGroup
{
	Shape shape;
	double loss; /* of each row */
	int count;	 /* rows; 0: the group was joined to another */
	int room;	 /* rows that fit into the array */
	int32 *rows;
} PlainGroup;

/* The states of a row that is in no group, in Plain.group_of. */
#define ROW_FREE (-1)		 /* it may still get a group */
#define ROW_GLOBAL (-2)		 /* removed: a sensitive-attribute outlier */
#define ROW_UNPLACEABLE (-3) /* removed: it fits into no group */

/* The state of plain_k. */
typedef struct Plain
{
	const Space *space;
	int k;
	int delta;		 /* steps after which a group that is not plain is mended in other ways */
	int32 *group_of; /* by row: its group, or one of the states above */
	int nplaced;	 /* rows that are not free any more */

	int ngroups;
	int room; /* groups that fit into the array */
	PlainGroup *groups;

	/* Of plain_search.c: the rows that a group may still take, by raw quasi-identifiers. */
	MemoryContext index_context; /* owns the tree */
	KdTree tree;
	KdRemoval *removal;
	int32 *position_of; /* by row: its position in the tree; -1: none */
	bool *passed_over;	/* by row: it is in the group that is being made, or was refused for it */
} Plain;

/* plain_expand.c */

/* Grow groups from rows that are free, in the order given. */
extern void plain_expand(Plain *plain, const int32 *seeds, int nseeds);
/* Add a group of free rows. */
extern void plain_add_group(Plain *plain, const Shape *shape, const int32 *rows, int count);
/* Note that a row is in a group, or that it never will be: its index or state. */
extern void plain_settle(Plain *plain, int32 row, int32 where);

/* plain_residue.c */

/* Put the rows that are still free into groups, or remove them. */
extern void plain_residue(Plain *plain);

#endif
