/*
 * plain_check.h
 *		Is a group plain?  Theorem 5.1 for the algorithms.
 */
#ifndef KANON_RELEASE_PLAIN_CHECK_H
#define KANON_RELEASE_PLAIN_CHECK_H

#include "cluster/points.h"
#include "release/plain/outlier.h"

/* The properties of a group that decide whether it is plain. */
typedef struct Shape
{
	double lower[MOST_QUASI_IDS]; /* the bounds of its rows, raw */
	double upper[MOST_QUASI_IDS];
	int nvalues; /* distinct sensitive values, in ascending order */
	int room;	 /* values that fit into the array */
	int32 *values;
} Shape;

/* Why a group is not plain. */
typedef enum FaultKind
{
	FAULT_NONE,
	FAULT_FEW_VALUES, /* it has fewer than k sensitive values */
	FAULT_HYPERCUBE,  /* all corners are bad with a sensitive value */
	FAULT_CORNER	  /* a corner is bad with all sensitive values */
} FaultKind;

typedef struct Fault
{
	FaultKind kind;
	int32 value;				/* FAULT_HYPERCUBE: the sensitive value */
	bool upper[MOST_QUASI_IDS]; /* FAULT_CORNER, by column: the corner has the upper end */
} Fault;

/* Set a shape to that of a single row; its array is kept. */
extern void shape_start(const Space *space, Shape *shape, int32 row);
/* Copy a shape; the copy keeps an array of its own. */
extern void shape_copy(const Space *space, Shape *to, const Shape *from);
/* Add a row to a shape. */
extern void shape_add(const Space *space, Shape *shape, int32 row);
/* Add the rows of another shape to a shape. */
extern void shape_join(const Space *space, Shape *shape, const Shape *other);
/* Return the loss of a row that is published in a shape. */
extern double shape_loss(const Space *space, const Shape *shape);
/*
 * Return true if a group is plain and k-anonymous; if it is not, set the fault.  A fault
 * that was found in a similar group is looked for first.
 */
extern bool shape_is_plain(const Space *space, const Shape *shape, int k, Fault *fault);
/* Guess whether the outermost corner is good, with one of the shape's sensitive values or with the usual one. */
extern bool shape_is_within_reach(const Space *space, const Shape *shape);
/*
 * Set, by column, whether the column alone takes the outermost corner out of reach when a
 * shape becomes a wider one.
 */
extern void shape_excess(const Space *space, const Shape *shape, const Shape *wider, bool *excess);
/* Return true if no group that contains a group with this fault is plain, either. */
extern bool fault_is_final(const Space *space, const Shape *shape, const Fault *fault);
/* Return true if no plain group can have a row; false: that is not known. */
extern bool row_is_hopeless(const Space *space, int32 row);

/*
 * Return the loss of a column of a group with rows between lo and hi.  It is the same as
 * space_loss() of the published interval, but for rounding.
 */
static inline double
column_loss(const Space *space, int column, double lo, double hi)
{
	const Line *line = &space->points->lines[column];

	if (lo == hi)
		return 0;
	if (!line->words)
		return (hi - lo + space->unit[column]) * space->loss_factor[column];
	return hi >= line->nleaves ? 1
							   : Min((line_extent(line, lo, hi) * line->nleaves - 1) * space->loss_factor[column], 1);
}

#endif
