/*
 * trim.c
 *		Dropping the public rows that only make a group's box larger.
 *
 * While a group has more than k rows, the outermost public rows are dropped, from that face
 * of the box where the least rows save the most, as long as the box shrinks and no
 * microdata row is left outside.  Rows with equal values are dropped together, so that the
 * order of rows does not matter.
 */
#include "base/kanon.h"

#include "cluster/trim.h"

#include "miscadmin.h"

#include "cluster/points.h"

/* The state of trim_group(). */
typedef struct Trim
{
	const Points *points;
	const int32 *rows; /* of the group */
	int count;
	int surplus;	/* rows that may still be dropped */
	bool *dropped;	/* per row of the group */
	int32 *sorted;	/* count per column: places in rows, by value */
	int32 *ends[2]; /* per column: the first and the last place in sorted that is not dropped */
} Trim;

/* A face of the box, and the rows that can be dropped from it. */
typedef struct Face
{
	int column;
	int upper;	 /* 1: the upper face, 0: the lower one */
	int count;	 /* rows to be dropped */
	double gain; /* by how much the box shrinks */
} Face;

/* Return the value at a place of a column's sorted rows. */
static double
sorted_value(const Trim *trim, int column, int place)
{
	return point_values(trim->points, trim->rows[trim->sorted[column * trim->count + place]])[column];
}

typedef struct SortArg
{
	const Trim *trim;
	int column;
} SortArg;

/* Compare two rows of the group by their values in a column, then by place. */
static int
trim_compare_places(const void *left, const void *right, void *arg)
{
	const SortArg *sort = arg;
	int32 a = *(const int32 *) left;
	int32 b = *(const int32 *) right;
	double x = point_values(sort->trim->points, sort->trim->rows[a])[sort->column];
	double y = point_values(sort->trim->points, sort->trim->rows[b])[sort->column];

	if (x != y)
		return x < y ? -1 : 1;
	return a - b;
}

/* Sort the rows by each column. */
static void
sort_columns(Trim *trim)
{
	for (int column = 0; column < trim->points->ncolumns; column++)
	{
		int32 *places = trim->sorted + column * trim->count;
		SortArg arg = {trim, column};

		for (int i = 0; i < trim->count; i++)
			places[i] = i;
		qsort_arg(places, trim->count, sizeof(int32), trim_compare_places, &arg);
		trim->ends[0][column] = 0;
		trim->ends[1][column] = trim->count - 1;
	}
}

/* Return true if the row at a place of a column's sorted rows has been dropped. */
static bool
is_dropped(const Trim *trim, int column, int place)
{
	return trim->dropped[trim->sorted[column * trim->count + place]];
}

/* Move the ends of a column inwards over rows that were dropped from other faces. */
static void
update_ends(Trim *trim, int column)
{
	while (is_dropped(trim, column, trim->ends[0][column]))
		trim->ends[0][column]++;
	while (is_dropped(trim, column, trim->ends[1][column]))
		trim->ends[1][column]--;
}

/*
 * Set the fewest rows that make the box shrink when they are dropped from a face, and how
 * much that saves; return false if there are none.
 */
static bool
look_at_face(const Trim *trim, Face *face)
{
	const Line *line = &trim->points->lines[face->column];
	int step = face->upper ? -1 : 1;
	double from = sorted_value(trim, face->column, trim->ends[0][face->column]);
	double to = sorted_value(trim, face->column, trim->ends[1][face->column]);
	double *end = face->upper ? &to : &from;
	double extent = line_extent(line, from, to);

	face->count = 0;
	if (extent == 0)
		return false;
	for (int place = trim->ends[face->upper][face->column];; place += step)
	{
		double value = sorted_value(trim, face->column, place);

		if (is_dropped(trim, face->column, place))
			continue;
		if (value != *end)
		{
			*end = value;
			face->gain = extent - line_extent(line, from, to);
			if (face->gain > 0)
				return true;
		}
		if (point_is_own(trim->points, trim->rows[trim->sorted[face->column * trim->count + place]]) ||
			face->count == trim->surplus)
			return false;
		face->count++;
	}
}

/* Drop rows from a face. */
static void
drop_face(Trim *trim, const Face *face)
{
	int step = face->upper ? -1 : 1;
	int left = face->count;

	Assert(left > 0 && left <= trim->surplus);
	for (int place = trim->ends[face->upper][face->column]; left > 0; place += step)
	{
		if (!is_dropped(trim, face->column, place))
		{
			trim->dropped[trim->sorted[face->column * trim->count + place]] = true;
			left--;
		}
	}
	trim->surplus -= face->count;
}

/* Set the face that saves most per row, the first of equals; return false if there is none. */
static bool
best_face(Trim *trim, Face *best)
{
	bool found = false;

	for (int column = 0; column < trim->points->ncolumns; column++)
	{
		update_ends(trim, column);
		for (int upper = 0; upper < 2; upper++)
		{
			Face face = {.column = column, .upper = upper};

			if (look_at_face(trim, &face) && (!found || face.gain * best->count > best->gain * face.count))
			{
				*best = face;
				found = true;
			}
		}
	}
	return found;
}

/* Move the rows that were not dropped to the front, and return their number. */
static int
trim_keep_rows(const Trim *trim, int32 *rows)
{
	int kept = 0;

	for (int i = 0; i < trim->count; i++)
	{
		if (!trim->dropped[i])
			rows[kept++] = rows[i];
	}
	return kept;
}

/* Move the rows that a group of k needs to the front of its rows, and return their number. */
int
trim_group(const Points *points, int k, int32 *rows, int count)
{
	Trim trim = {
		.points = points,
		.rows = rows,
		.count = count,
		.surplus = count - k,
	};
	Face face = {0};

	if (trim.surplus <= 0)
		return count;
	trim.dropped = palloc0(count * sizeof(bool));
	trim.sorted = palloc_extended((Size) count * points->ncolumns * sizeof(int32), MCXT_ALLOC_HUGE);
	trim.ends[0] = palloc(points->ncolumns * sizeof(int32));
	trim.ends[1] = palloc(points->ncolumns * sizeof(int32));
	sort_columns(&trim);
	while (trim.surplus > 0 && best_face(&trim, &face))
	{
		CHECK_FOR_INTERRUPTS();
		drop_face(&trim, &face);
	}
	return trim_keep_rows(&trim, rows);
}
