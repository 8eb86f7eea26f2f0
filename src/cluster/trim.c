/*
 * trim.c
 *		Dropping the public rows that only make a group's box larger.
 *
 * While a group has more than k rows, the outermost public rows go, from that
 * face of the box where the least rows save the most, as long as the box shrinks
 * and no microdata row is left outside.  Rows with equal values go together, so
 * that the order of rows does not matter.
 */
#include "base/kanon.h"

#include "cluster/kja.h"

#include "miscadmin.h"

#include "cluster/points.h"

typedef struct Trim
{
	const Points *points;
	const int32 *rows;
	int count;
	int surplus;	/* rows that may still go */
	bool *dropped;	/* per row of the group */
	int32 *sorted;	/* count per column: places in rows, by value */
	int32 *ends[2]; /* per column: first and last place in sorted that are not dropped */
} Trim;

/* What can go from one face. */
typedef struct Face
{
	int column;
	int upper; /* 0: the lower face */
	int count;
	double gain;
} Face;

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

static int
compare_places(const void *left, const void *right, void *arg)
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

static void
sort_columns(Trim *trim)
{
	for (int column = 0; column < trim->points->ncolumns; column++)
	{
		int32 *places = trim->sorted + column * trim->count;
		SortArg arg = {trim, column};

		for (int i = 0; i < trim->count; i++)
			places[i] = i;
		qsort_arg(places, trim->count, sizeof(int32), compare_places, &arg);
		trim->ends[0][column] = 0;
		trim->ends[1][column] = trim->count - 1;
	}
}

static bool
is_dropped(const Trim *trim, int column, int place)
{
	return trim->dropped[trim->sorted[column * trim->count + place]];
}

/* The ends of a column move inwards over what was dropped from other faces. */
static void
update_ends(Trim *trim, int column)
{
	while (is_dropped(trim, column, trim->ends[0][column]))
		trim->ends[0][column]++;
	while (is_dropped(trim, column, trim->ends[1][column]))
		trim->ends[1][column]--;
}

/* The fewest rows whose going makes the box shrink on this face. */
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

static void
drop_face(Trim *trim, const Face *face)
{
	int step = face->upper ? -1 : 1;
	int left = face->count;

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

/* The face that saves most per row; the first of equals. */
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

static int
keep_rows(const Trim *trim, int32 *rows)
{
	int kept = 0;

	for (int i = 0; i < trim->count; i++)
	{
		if (!trim->dropped[i])
			rows[kept++] = rows[i];
	}
	return kept;
}

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
	return keep_rows(&trim, rows);
}
