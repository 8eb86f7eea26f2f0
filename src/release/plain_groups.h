/*
 * plain_groups.h
 *		Making plain k-anonymous groups: Algorithm 1 and its variants.
 */
#ifndef KANON_RELEASE_PLAIN_GROUPS_H
#define KANON_RELEASE_PLAIN_GROUPS_H

#include "release/outlier.h"

/* What the check of a group needs to know of it. */
typedef struct Shape
{
	double lower[MOST_QUASI_IDS]; /* of its rows, raw */
	double upper[MOST_QUASI_IDS];
	int nvalues; /* distinct sensitive values, ascending */
	int room;
	int32 *values;
} Shape;

/* Why a group is not plain. */
typedef enum FaultKind
{
	FAULT_NONE,
	FAULT_FEW_VALUES,
	FAULT_HYPERCUBE, /* all corners are bad with a sensitive value */
	FAULT_CORNER	 /* a corner is bad with all sensitive values */
} FaultKind;

typedef struct Fault
{
	FaultKind kind;
	int32 value;				/* FAULT_HYPERCUBE */
	bool upper[MOST_QUASI_IDS]; /* FAULT_CORNER: which end it has in each column */
} Fault;

typedef struct PlainGroup
{
	Shape shape;
	double loss; /* of each row */
	int count;	 /* 0: joined to another */
	int room;
	int32 *rows;
} PlainGroup;

/* Where a row is, if not in a group. */
#define ROW_FREE (-1)
#define ROW_GLOBAL (-2)
#define ROW_UNPLACEABLE (-3)

typedef struct Plain
{
	const Space *space;
	int k;
	int delta;
	int32 *group_of; /* by row: a group's index or one of the above */
	int nplaced;	 /* rows that are not free any more */

	int ngroups;
	int room;
	PlainGroup *groups;

	/* plain_search.c: the rows that a group may still take, by raw quasi-identifiers. */
	KdTree tree;
	KdRemoval *removal;
	int32 *position_of; /* by row */
	bool *passed_over;	/* by position: in the group at hand, or refused for it */
} Plain;

/* plain_known.c */
extern KnownGood *known_create(void);
/* Are all points of a box, standardized, good? */
extern bool all_are_good(const Space *space, const double *lower, const double *upper);
extern bool corner_is_within_reach(const Space *space, const double *corner);

/* plain_check.c */
extern void shape_start(const Space *space, Shape *shape, int32 row);
extern void shape_copy(const Space *space, Shape *to, const Shape *from);
extern void shape_add(const Space *space, Shape *shape, int32 row);
extern void shape_join(const Space *space, Shape *shape, const Shape *other);
extern double column_loss(const Space *space, int column, double lo, double hi);
extern double shape_loss(const Space *space, const Shape *shape);
/* A fault that a similar group had is looked for first. */
extern bool shape_is_plain(const Space *space, const Shape *shape, int k, Fault *fault);
/* Could its outermost corner be good with a sensitive value that it may still get? */
extern bool shape_is_within_reach(const Space *space, const Shape *shape);
/* Will no wider group be plain, either? */
extern bool fault_is_final(const Space *space, const Shape *shape, const Fault *fault);
/* Can no plain group have this row?  False: not known. */
extern bool row_is_hopeless(const Space *space, int32 row);

/* plain_search.c */
typedef struct Offer
{
	double loss; /* of the shape with it */
	int32 position;
} Offer;

extern void search_start(Plain *plain, const bool *left_out);
extern void search_remove(Plain *plain, int32 row);
/* The cheapest rows to take in, cheapest first; beyond: only those that would be corners. */
extern int search_cheapest(const Plain *plain, const Shape *shape, bool beyond, Offer *found, int wanted);

/* plain_expand.c: groups around rows that are free, in the tree's order or first those given. */
extern void plain_expand(Plain *plain, const int32 *seeds, int nseeds);
extern void plain_add_group(Plain *plain, const Shape *shape, const int32 *rows, int count);
extern void plain_settle(Plain *plain, int32 row, int32 where);

/* plain_residue.c: puts free rows into groups, or removes them. */
extern void plain_residue(Plain *plain);

#endif
