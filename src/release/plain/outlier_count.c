/*
 * outlier_count.c
 *		Counting rows within d of a point, of every point of a box, or of some point of it.
 *
 * Nodes that are all within or all beyond d are counted as a whole; the others are opened,
 * the largest first, and only until the answer is certain.  So the cost of a count depends
 * on how close the answer is, and hardly on the number of rows.  Every bound is computed
 * with the same steps as a row's own distance, and rounding is monotonic, so that the
 * answers are the same as from counting all rows one by one, to the last bit.
 */
#include "base/kanon.h"

#include "release/plain/outlier_count.h"

#include <math.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "release/common/kdtree.h"
#include "release/plain/outlier.h"

/* The classes of nodes, by the power of two of their size. */
#define SIZE_CLASSES 32

/* The state of a count. */
typedef struct Counting
{
	const Space *space;
	const Crowd *crowd;
	int within;				   /* rows known to be within d */
	int open;				   /* rows about which that is not known yet */
	int largest;			   /* the largest class that may have a node that waits */
	int waiting[SIZE_CLASSES]; /* by class: the first node that waits to be opened, or -1 */
} Counting;

/* The smallest and the largest distance, or its square, that a row of a node can have. */
typedef struct Reach
{
	double least;
	double most;
} Reach;

/* Return the way in which distances count in a column. */
static inline Gap
gap_of(const Counting *counting, int column)
{
	return column < counting->space->nquasi ? counting->crowd->quasi : counting->crowd->sensitive;
}

/* Return the distance between two numbers. */
static inline double
distance(double a, double b)
{
	return a < b ? b - a : a - b;
}

/* Return the distance from a number to an interval. */
static inline double
beyond(double x, double lower, double upper)
{
	return Max(Max(lower - x, x - upper), 0);
}

/* Return the distance of a value to the interval from lower to upper, as gap counts it. */
static inline double
value_gap(Gap gap, double x, double lower, double upper)
{
	switch (gap)
	{
		case GAP_FARTHEST:
			return Max(x - lower, upper - x);
		case GAP_NEAREST:
			return Min(distance(x, lower), distance(x, upper));
		case GAP_BETWEEN:
			return beyond(x, lower, upper);
		case GAP_OUTSIDE:
			break;
	}
	return Max(Min(x - lower, upper - x), 0);
}

/* Return bounds of the distances of values between lo and hi, as gap counts them. */
static inline Reach
interval_gap(Gap gap, double lo, double hi, double lower, double upper)
{
	switch (gap)
	{
		case GAP_FARTHEST:
			return (Reach){Max(Max(lo - lower, upper - hi), 0), Max(hi - lower, upper - lo)};
		case GAP_NEAREST:
			return (Reach){Min(beyond(lower, lo, hi), beyond(upper, lo, hi)),
						   Min(Max(distance(lo, lower), distance(hi, lower)),
							   Max(distance(lo, upper), distance(hi, upper)))};
		case GAP_BETWEEN:
			return (Reach){Max(Max(lower - hi, lo - upper), 0), Max(Max(lower - lo, hi - upper), 0)};
		case GAP_OUTSIDE:
			break;
	}
	return (Reach){Max(Min(lo - lower, upper - hi), 0), Max(Min(hi - lower, upper - lo), 0)};
}

/* Add the squared distances of some columns that count alike to the reach of a node. */
static inline void
add_reach(Gap gap, const Counting *counting, Size at, int first, int end, Reach *reach)
{
	const KdTree *tree = &counting->space->tree;

	for (int column = first; column < end; column++)
	{
		Reach column_reach = interval_gap(gap, tree->lo[at + column], tree->hi[at + column],
										  counting->crowd->lower[column], counting->crowd->upper[column]);

		reach->least += column_reach.least * column_reach.least;
		reach->most += column_reach.most * column_reach.most;
	}
}

/* Return the smallest and the largest squared distance that a row of a node can have. */
static Reach
node_reach(const Counting *counting, int node)
{
	int nquasi = counting->space->nquasi;
	Size at = (Size) node * (nquasi + 1);
	Reach reach = {0, 0};

	/* One loop for each kind, so that the compiler can leave out the other kinds. */
	switch (counting->crowd->quasi)
	{
		case GAP_FARTHEST:
			add_reach(GAP_FARTHEST, counting, at, 0, nquasi, &reach);
			break;
		case GAP_NEAREST:
			add_reach(GAP_NEAREST, counting, at, 0, nquasi, &reach);
			break;
		case GAP_BETWEEN:
			add_reach(GAP_BETWEEN, counting, at, 0, nquasi, &reach);
			break;
		case GAP_OUTSIDE:
			add_reach(GAP_OUTSIDE, counting, at, 0, nquasi, &reach);
			break;
	}
	add_reach(counting->crowd->sensitive, counting, at, nquasi, nquasi + 1, &reach);
	return reach;
}

/* Add the squared distances of count values to squares. */
static inline void
add_squares(Gap gap, const double *values, double lower, double upper, int count, double *squares)
{
	for (int i = 0; i < count; i++)
	{
		double x = value_gap(gap, values[i], lower, upper);

		squares[i] += x * x;
	}
}

/*
 * Return how many of count rows, from a position on, are within d.  There is one loop per
 * column and kind, so that the compiler can take several rows at a time.
 */
static int
count_near(const Counting *counting, int first, int count)
{
	const KdTree *tree = &counting->space->tree;
	double squares[KDTREE_LEAF] = {0};
	int near = 0;

	Assert(count > 0 && count <= KDTREE_LEAF);

	for (int column = 0; column < tree->ncolumns; column++)
	{
		const double *values = tree->values + (Size) column * tree->nrows + first;
		double lower = counting->crowd->lower[column];
		double upper = counting->crowd->upper[column];

		switch (gap_of(counting, column))
		{
			case GAP_FARTHEST:
				add_squares(GAP_FARTHEST, values, lower, upper, count, squares);
				break;
			case GAP_NEAREST:
				add_squares(GAP_NEAREST, values, lower, upper, count, squares);
				break;
			case GAP_BETWEEN:
				add_squares(GAP_BETWEEN, values, lower, upper, count, squares);
				break;
			case GAP_OUTSIDE:
				add_squares(GAP_OUTSIDE, values, lower, upper, count, squares);
				break;
		}
	}
	for (int i = 0; i < count; i++)
		near += squares[i] <= counting->space->square ? 1 : 0;
	return near;
}

/* Return true if the answer is certain. */
static inline bool
is_decided(const Counting *counting)
{
	return counting->within >= counting->space->enough || counting->within + counting->open < counting->space->enough;
}

/* Count a node as a whole if all its rows are within d or all are beyond, or else leave it for later. */
static void
judge_node(Counting *counting, int node)
{
	const Space *space = counting->space;
	Reach reach = node_reach(counting, node);
	int size = space->tree.end[node] - space->tree.first[node];
	int class = pg_leftmost_one_pos32(size);

	if (reach.most <= space->square)
		counting->within += size;
	if (reach.most <= space->square || reach.least > space->square)
	{
		counting->open -= size;
		return;
	}
	Assert(class >= 0 && class < SIZE_CLASSES);
	space->waiting[node] = counting->waiting[class];
	counting->waiting[class] = node;
	counting->largest = Max(counting->largest, class);
}

/* Take a node of the largest class that waits; there is one as long as rows are open. */
static int
next_node(Counting *counting)
{
	int node;

	Assert(counting->open > 0);
	while (counting->waiting[counting->largest] < 0)
		counting->largest--;
	Assert(counting->largest >= 0);
	node = counting->waiting[counting->largest];
	counting->waiting[counting->largest] = counting->space->waiting[node];
	return node;
}

/* Judge the two children of a node, or count the rows of a leaf. */
static void
outlier_open_node(Counting *counting, int node)
{
	const KdTree *tree = &counting->space->tree;

	if (tree->right[node] > 0)
	{
		judge_node(counting, node + 1);
		judge_node(counting, tree->right[node]);
		return;
	}
	for (int first = tree->first[node]; first < tree->end[node]; first += KDTREE_LEAF)
	{
		int count = Min(KDTREE_LEAF, tree->end[node] - first);

		counting->within += count_near(counting, first, count);
		counting->open -= count;
	}
}

/* Return true if enough rows are within d. */
bool
crowd_is_enough(const Space *space, const Crowd *crowd)
{
	Counting counting = {.space = space, .crowd = crowd, .open = space->nrows};

	CHECK_FOR_INTERRUPTS();
	memset(counting.waiting, -1, sizeof(counting.waiting));
	judge_node(&counting, 0);
	while (!is_decided(&counting))
		outlier_open_node(&counting, next_node(&counting));
	return counting.within >= space->enough;
}

/* Return true if a point is a (p,d)-outlier. */
bool
point_is_outlier(const Space *space, const double *point)
{
	/* With lower and upper equal, all kinds of gaps are the same; this one is the quickest. */
	Crowd crowd = {GAP_FARTHEST, GAP_FARTHEST, point, point};

	return !crowd_is_enough(space, &crowd);
}

/*
 * Return, by distinct sensitive value, whether rows that have it are sensitive-attribute
 * outliers.
 *
 * Rows within d on the sensitive attribute alone are a stretch of its sorted values, and
 * moving on to the next value moves both ends of the stretch on.
 */
bool *
space_global_values(const Space *space)
{
	bool *global = palloc_extended(Max(space->nvalues, 1) * sizeof(bool), MCXT_ALLOC_HUGE);
	int64 *before = palloc_extended((Size) (space->nvalues + 1) * sizeof(int64), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	int first = 0;
	int end = 0;

	for (int row = 0; row < space->nrows; row++)
		before[space->value_of[row] + 1]++;
	for (int value = 0; value < space->nvalues; value++)
		before[value + 1] += before[value];
	for (int value = 0; value < space->nvalues; value++)
	{
		while (space->values[value] - space->values[first] > space->d)
			first++;
		while (end < space->nvalues && space->values[end] - space->values[value] <= space->d)
			end++;
		global[value] = before[end] - before[first] < space->enough;
	}
	pfree(before);
	return global;
}
