/*
 * points.h
 *		Rows as points, one line of numbers per column, and the boxes around them.
 *
 * On a line, NULL is infinity: a value of its own, behind all others.  A line of words may
 * have a tree over it; then an interval stands for the lowest node that covers it.
 * Extents are shares of the whole line: 0 is a single value, 1 everything.
 *
 * In k-join-anonymity the microdata rows come first.  The others are public: they may fill
 * a group, but nothing has to be published about them.
 */
#ifndef KANON_POINTS_H
#define KANON_POINTS_H

#include <math.h>

/* The line of a column: how its numbers are compared. */
typedef struct Line
{
	double scale; /* 1 over half the distance of the smallest and the largest number: the whole may overflow */
	bool words;	  /* numbers on the line are places of words */

	/* The tree over the words, as in DghTree; the caller's.  nleaves is 0 if there is none. */
	int nleaves;
	const int32 *parent;
	const int32 *lo;
	const int32 *hi;
	const int32 *leaf;
	float *extents; /* of all pairs of leaves, nleaves per leaf; NULL if the tree is large */
} Line;

typedef struct Points
{
	MemoryContext context; /* owns everything */
	int nrows;
	int nown; /* the first rows are microdata, the others public */
	int ncolumns;
	Line *lines;	/* one per column */
	double *values; /* ncolumns per row */

	/* For l-diversity. */
	int32 *sensitive; /* a code per microdata row, -1 for NULL; or NULL */
	int nsensitive;	  /* distinct codes */
} Points;

/* The bounds of a box are 2 * ncolumns numbers: the lower ones, then the upper ones. */
typedef double *Bounds;

/* Set a line's table of extents, if it has a tree that is small enough. */
extern void line_prepare(Line *line);
/* Return the extent of two different leaves: the share of all leaves that are below the lowest node over both. */
extern double line_climbed_extent(const Line *line, int lo, int hi);

/*
 * Return the extent of the interval between two places.  No function is called more often:
 * clustering compares every row with every group.
 */
static inline double
line_extent(const Line *line, double lo, double hi)
{
	if (lo == hi)
		return 0;
	/* Words that the tree does not know, and null, have only the root in common with others. */
	if (line->words)
	{
		if (hi >= line->nleaves)
			return 1;
		return line->extents ? line->extents[(int) lo * line->nleaves + (int) hi]
							 : line_climbed_extent(line, (int) lo, (int) hi);
	}
	return hi == INFINITY ? 1 : (hi / 2 - lo / 2) * line->scale;
}

/* Return the values of a row, one per column. */
static inline const double *
point_values(const Points *points, int32 row)
{
	Assert(row >= 0 && row < points->nrows);
	return points->values + (Size) row * points->ncolumns;
}

/* Return true if a row is microdata. */
static inline bool
point_is_own(const Points *points, int32 row)
{
	return row < points->nown;
}

/* Return points in a memory context of their own, below the current one, with room for the values. */
extern Points *points_create(int nrows, int nown, int ncolumns);
/* Return room for the bounds of count boxes, in the current memory context. */
extern Bounds bounds_create(const Points *points, Size count);
/* Set a box to a row alone. */
extern void bounds_set(const Points *points, Bounds box, int32 row);
/* Extend a box so that it holds a row. */
extern void bounds_add(const Points *points, Bounds box, int32 row);
/* Set a box to the smallest one that holds some rows, at least one. */
extern void bounds_of(const Points *points, Bounds box, const int32 *rows, int count);
/* Return the loss of a box: the sum of its extents. */
extern double bounds_loss(const Points *points, const double *box);
/* Return the loss of a box if it took in a row; if that exceeds limit, any number above limit. */
extern double bounds_loss_with_row(const Points *points, const double *box, int32 row, double limit);
/* Return the loss of a box if it took in another box; if that exceeds limit, any number above limit. */
extern double bounds_loss_with(const Points *points, const double *box, const double *other, double limit);
/* Return true if a box holds a row. */
extern bool bounds_hold(const Points *points, const double *box, int32 row);

#endif
