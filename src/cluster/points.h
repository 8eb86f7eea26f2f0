/*
 * points.h
 *		Rows as points, one line of numbers per column, and the boxes around them.
 *
 * On a line, null is infinity: a value of its own, behind all others.  A line of
 * words may have a tree over it; then an interval stands for the lowest node
 * that covers it.  Extents are shares of the whole line: 0 is a single value,
 * 1 everything.
 *
 * In k-join-anonymity the microdata rows come first.  The others are public: they
 * may fill a group, but nothing has to be published about them.
 */
#ifndef KANON_POINTS_H
#define KANON_POINTS_H

#include <math.h>

typedef struct Line
{
	double scale; /* 1 over half the width between the smallest and the largest number: the whole may overflow */
	bool words;	  /* places of words, not numbers */

	/* The tree over the words, as in DghTree; nleaves is 0 where there is none. */
	int nleaves;
	const int32 *parent;
	const int32 *lo;
	const int32 *hi;
	const int32 *leaf;
	float *extents; /* of all pairs of leaves, where the tree is small */
} Line;

typedef struct Points
{
	MemoryContext context; /* owns everything */
	int nrows;
	int nown; /* rows below are microdata, the others public */
	int ncolumns;
	Line *lines;
	double *values; /* ncolumns per row */

	/* For l-diversity: codes per microdata row, -1 for null; or null. */
	int32 *sensitive;
	int nsensitive; /* distinct codes */
} Points;

/* The bounds of a box are 2 * ncolumns numbers: the lower ones, then the upper ones. */
typedef double *Bounds;

extern void line_prepare(Line *line);
extern double line_climbed_extent(const Line *line, int lo, int hi);

/* Called more than anything else: clustering compares every row with every group. */
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

static inline const double *
point_values(const Points *points, int32 row)
{
	return points->values + (Size) row * points->ncolumns;
}

static inline bool
point_is_own(const Points *points, int32 row)
{
	return row < points->nown;
}

extern Points *points_create(int nrows, int nown, int ncolumns);
extern Bounds bounds_create(const Points *points, Size count);
extern void bounds_set(const Points *points, Bounds box, int32 row);
extern void bounds_add(const Points *points, Bounds box, int32 row);
extern void bounds_of(const Points *points, Bounds box, const int32 *rows, int count);
extern double bounds_loss(const Points *points, const double *box);
extern double bounds_loss_with_row(const Points *points, const double *box, int32 row, double limit);
extern double bounds_loss_with(const Points *points, const double *box, const double *other, double limit);
extern bool bounds_hold(const Points *points, const double *box, int32 row);

#endif
