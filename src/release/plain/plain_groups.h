/*
 * plain_groups.h
 *		Making plain k-anonymous groups: Algorithm 1 and its variants.
 */
#ifndef KANON_RELEASE_PLAIN_GROUPS_H
#define KANON_RELEASE_PLAIN_GROUPS_H

#include "cluster/points.h"
#include "release/common/kdtree.h"
#include "release/plain/outlier.h"

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
	MemoryContext index_context; /* owns the tree */
	KdTree tree;
	KdRemoval *removal;
	int32 *position_of; /* by row; -1: not in the tree */
	bool *passed_over;	/* by row: in the group at hand, or refused for it */
} Plain;

/*
 * plain_known.c
 *
 * Points are standardized, with the sensitive value as the last.  Where these say
 * that something is good, it has been counted; that it is not may be a guess.
 */
extern Known *known_create(const Space *space);
extern bool all_are_good(const Space *space, const double *lower, const double *upper);
/* With one of some sensitive values, which the one to try first is among?  corner has room for it. */
extern bool corner_is_good(const Space *space, double *corner, double first, const int32 *values, int count);
/* crowd_is_enough for GAP_BETWEEN or GAP_OUTSIDE, exact, but what has been counted before is not counted again. */
extern bool crowd_is_known_enough(const Space *space, const Crowd *crowd);
/* Only a guess. */
extern bool point_seems_good(const Space *space, const double *point);

/* plain_check.c */
extern void shape_start(const Space *space, Shape *shape, int32 row);
extern void shape_copy(const Space *space, Shape *to, const Shape *from);
extern void shape_add(const Space *space, Shape *shape, int32 row);
extern void shape_join(const Space *space, Shape *shape, const Shape *other);
extern double shape_loss(const Space *space, const Shape *shape);
/* A fault that a similar group had is looked for first. */
extern bool shape_is_plain(const Space *space, const Shape *shape, int k, Fault *fault);
/* Is its outermost corner good with one of its sensitive values, or with the usual one? */
extern bool shape_is_within_reach(const Space *space, const Shape *shape);
/* The columns each of which alone takes the outermost corner out of reach when a shape becomes a wider one. */
extern void shape_excess(const Space *space, const Shape *shape, const Shape *wider, bool *excess);
/* Will no wider group be plain, either? */
extern bool fault_is_final(const Space *space, const Shape *shape, const Fault *fault);
/* Can no plain group have this row?  False: not known. */
extern bool row_is_hopeless(const Space *space, int32 row);

/* What a column of a group loses, as space_loss has it for what is published but for rounding. */
static inline double
column_loss(const Space *space, int column, double lo, double hi)
{
	const Line *line = &space->points->lines[column];

	if (lo == hi)
		return 0;
	if (!line->words)
		return (hi - lo + space->unit[column]) * space->loss_factor[column];
	return hi >= line->nleaves ? 1 : Min((line_extent(line, lo, hi) * line->nleaves - 1) * space->loss_factor[column], 1);
}

/* plain_search.c */
typedef struct Wanted
{
	const Shape *shape;
	const double *least; /* rows have more than this in each column, */
	const double *most;	 /* and less than this */
	double limit;		 /* the shape with them loses less than this; */
	double limit_known;	 /* and with a row that brings no new sensitive value, less than this */
	const bool *known;	 /* by sensitive value: those that are not new */
	bool beyond;		 /* only rows that would be corners */
} Wanted;

static inline bool
wanted_value(const Wanted *wanted, double loss, int32 value)
{
	return loss < wanted->limit_known || !wanted->known[value];
}

typedef struct Offer
{
	double loss; /* of the shape with it */
	int32 row;
} Offer;

extern void search_start(Plain *plain, const bool *left_out);
extern void search_remove(Plain *plain, int32 row);
/* Called now and then, it keeps searching fast; positions change. */
extern void search_refresh(Plain *plain);
/* The cheapest rows to take in, cheapest first, at most so many. */
extern int search_cheapest(const Plain *plain, const Wanted *wanted, Offer *found, int most);

/* plain_expand.c: groups around rows that are free, in this order. */
extern void plain_expand(Plain *plain, const int32 *seeds, int nseeds);
extern void plain_add_group(Plain *plain, const Shape *shape, const int32 *rows, int count);
extern void plain_settle(Plain *plain, int32 row, int32 where);

/* plain_residue.c: puts free rows into groups, or removes them. */
extern void plain_residue(Plain *plain);

#endif
