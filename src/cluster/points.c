/*
 * points.c
 *		Boxes around points, and their loss.
 *
 * The loss of a box is the sum of its extents: the normalized certainty penalty that each
 * row in the box is charged.
 */
#include "base/kanon.h"

#include "cluster/points.h"

#include "utils/memutils.h"

/* The most leaves of a tree for which a table of all pairs is cheaper than climbing. */
#define TABLE_LEAVES 512

/* Return points in a memory context of their own, with room for the values. */
Points *
points_create(int nrows, int nown, int ncolumns)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon points", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Points *points = palloc0(sizeof(Points));

	Assert(nown >= 0 && nown <= nrows);
	points->context = context;
	points->nrows = nrows;
	points->nown = nown;
	points->ncolumns = ncolumns;
	points->lines = palloc0(ncolumns * sizeof(Line));
	points->values = palloc_extended(Max((Size) nrows, 1) * ncolumns * sizeof(double), MCXT_ALLOC_HUGE);
	MemoryContextSwitchTo(old);
	return points;
}

/* Return the share of all leaves that are below the lowest node over two different leaves. */
double
line_climbed_extent(const Line *line, int lo, int hi)
{
	int32 node = line->leaf[lo];

	Assert(lo >= 0 && lo < hi && hi < line->nleaves);
	while (line->hi[node] <= hi)
		node = line->parent[node];
	return (double) (line->hi[node] - line->lo[node]) / line->nleaves;
}

/* Set a line's table of extents, if it has a tree that is small enough. */
void
line_prepare(Line *line)
{
	int n = line->nleaves;

	if (n == 0 || n > TABLE_LEAVES)
		return;
	line->extents = palloc0((Size) n * n * sizeof(float));
	for (int lo = 0; lo < n; lo++)
	{
		for (int hi = lo + 1; hi < n; hi++)
			line->extents[lo * n + hi] = line_climbed_extent(line, lo, hi);
	}
}

/* Return room for the bounds of count boxes. */
Bounds
bounds_create(const Points *points, Size count)
{
	return palloc_extended(Max(count, 1) * 2 * points->ncolumns * sizeof(double), MCXT_ALLOC_HUGE);
}

/* Set a box to a row alone. */
void
bounds_set(const Points *points, Bounds box, int32 row)
{
	Size size = points->ncolumns * sizeof(double);

	memcpy(box, point_values(points, row), size);
	memcpy(box + points->ncolumns, point_values(points, row), size);
}

/* Extend a box so that it holds a row. */
void
bounds_add(const Points *points, Bounds box, int32 row)
{
	const double *values = point_values(points, row);
	double *upper = box + points->ncolumns;

	for (int i = 0; i < points->ncolumns; i++)
	{
		if (values[i] < box[i])
			box[i] = values[i];
		if (values[i] > upper[i])
			upper[i] = values[i];
	}
}

/* Set a box to the smallest one that holds some rows. */
void
bounds_of(const Points *points, Bounds box, const int32 *rows, int count)
{
	Assert(count > 0);
	bounds_set(points, box, rows[0]);
	for (int i = 1; i < count; i++)
		bounds_add(points, box, rows[i]);
}

/* Return the loss of a box. */
double
bounds_loss(const Points *points, const double *box)
{
	double loss = 0;

	for (int i = 0; i < points->ncolumns; i++)
		loss += line_extent(&points->lines[i], box[i], box[points->ncolumns + i]);
	return loss;
}

/* Return the loss of a box if it took in another one; if that exceeds limit, any number above limit. */
static inline double
joined_loss(const Points *points, const double *box, const double *lower, const double *upper, double limit)
{
	const double *box_upper = box + points->ncolumns;
	double loss = 0;

	for (int i = 0; i < points->ncolumns && loss <= limit; i++)
		loss += line_extent(&points->lines[i], Min(box[i], lower[i]), Max(box_upper[i], upper[i]));
	return loss;
}

/* Return the loss of a box if it took in a row; if that exceeds limit, any number above limit. */
double
bounds_loss_with_row(const Points *points, const double *box, int32 row, double limit)
{
	const double *values = point_values(points, row);

	return joined_loss(points, box, values, values, limit);
}

/* Return the loss of a box if it took in another box; if that exceeds limit, any number above limit. */
double
bounds_loss_with(const Points *points, const double *box, const double *other, double limit)
{
	return joined_loss(points, box, other, other + points->ncolumns, limit);
}

/* Return true if a box holds a row. */
bool
bounds_hold(const Points *points, const double *box, int32 row)
{
	const double *values = point_values(points, row);

	for (int i = 0; i < points->ncolumns; i++)
	{
		if (values[i] < box[i] || values[i] > box[points->ncolumns + i])
			return false;
	}
	return true;
}
