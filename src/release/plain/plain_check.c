/*
 * plain_check.c
 *		Is a group plain?  Theorem 5.1 by sets of nodes instead of single ones.
 *
 * A row that is near to the farthest corner of a box is near to all corners, so one count
 * can show that all nodes of a box are good.  Only if it does not, the box is parted into
 * the nodes with the lower and with the upper end of a column, and so on, down to a single
 * node.  That a group is plain is never a guess.
 */
#include "base/kanon.h"

#include "release/plain/plain_check.h"

#include <math.h>

#include "miscadmin.h"

#include "cluster/points.h"
#include "release/plain/outlier.h"
#include "release/plain/outlier_count.h"
#include "release/plain/plain_known.h"

/* A group's nodes: the ends of its published box and its sensitive values. */
typedef struct Nodes
{
	const Space *space;
	const Shape *shape;
	double lower[MOST_QUASI_IDS + 1]; /* the published box, standardized */
	double upper[MOST_QUASI_IDS + 1];
	double middle; /* the sensitive value next to the mean, standardized */
} Nodes;

/* Make room for count sensitive values. */
static void
shape_make_room(Shape *shape, int count)
{
	if (count <= shape->room)
		return;
	shape->room = Max(count, 2 * shape->room);
	shape->values = shape->values ? repalloc_huge(shape->values, (Size) shape->room * sizeof(int32))
								  : palloc_extended((Size) shape->room * sizeof(int32), MCXT_ALLOC_HUGE);
}

/* Set a shape to that of a single row. */
void
shape_start(const Space *space, Shape *shape, int32 row)
{
	const double *values = point_values(space->points, row);

	memcpy(shape->lower, values, space->nquasi * sizeof(double));
	memcpy(shape->upper, values, space->nquasi * sizeof(double));
	shape_make_room(shape, 32);
	shape->nvalues = 1;
	shape->values[0] = space->value_of[row];
}

/* Copy a shape; the copy keeps an array of its own. */
void
shape_copy(const Space *space, Shape *to, const Shape *from)
{
	Assert(to != from);
	memcpy(to->lower, from->lower, space->nquasi * sizeof(double));
	memcpy(to->upper, from->upper, space->nquasi * sizeof(double));
	shape_make_room(to, from->nvalues + 1);
	to->nvalues = from->nvalues;
	memcpy(to->values, from->values, from->nvalues * sizeof(int32));
}

/* Add a sensitive value to a shape, if it is new. */
static void
add_value(Shape *shape, int32 value)
{
	int at = shape->nvalues;

	while (at > 0 && shape->values[at - 1] > value)
		at--;
	if (at > 0 && shape->values[at - 1] == value)
		return;
	shape_make_room(shape, shape->nvalues + 1);
	memmove(shape->values + at + 1, shape->values + at, (shape->nvalues - at) * sizeof(int32));
	shape->values[at] = value;
	shape->nvalues++;
}

/* Widen the bounds of a shape. */
static void
widen(const Space *space, Shape *shape, const double *lower, const double *upper)
{
	for (int column = 0; column < space->nquasi; column++)
	{
		shape->lower[column] = Min(shape->lower[column], lower[column]);
		shape->upper[column] = Max(shape->upper[column], upper[column]);
	}
}

/* Add a row to a shape. */
void
shape_add(const Space *space, Shape *shape, int32 row)
{
	const double *values = point_values(space->points, row);

	widen(space, shape, values, values);
	add_value(shape, space->value_of[row]);
}

/* Add the rows of another shape to a shape. */
void
shape_join(const Space *space, Shape *shape, const Shape *other)
{
	widen(space, shape, other->lower, other->upper);
	for (int i = 0; i < other->nvalues; i++)
		add_value(shape, other->values[i]);
}

/* Return the loss of a row that is published in a shape. */
double
shape_loss(const Space *space, const Shape *shape)
{
	double loss = 0;

	for (int column = 0; column < space->nquasi; column++)
		loss += column_loss(space, column, shape->lower[column], shape->upper[column]);
	return loss;
}

/* Set the nodes of a shape. */
static void
make_nodes(Nodes *nodes, const Space *space, const Shape *shape)
{
	double centre = space->centre[space->nquasi];

	Assert(shape->nvalues > 0);
	nodes->space = space;
	nodes->shape = shape;
	for (int column = 0; column < space->nquasi; column++)
	{
		double lower;
		double upper;

		space_interval(space, column, shape->lower[column], shape->upper[column], &lower, &upper);
		nodes->lower[column] = space_standard(space, column, lower);
		nodes->upper[column] = space_standard(space, column, upper);
	}
	nodes->middle = space->values[shape->values[0]];
	for (int i = 1; i < shape->nvalues; i++)
	{
		double value = space->values[shape->values[i]];

		if (fabs(value - centre) < fabs(nodes->middle - centre))
			nodes->middle = value;
	}
}

/* Return the column in which a set of corners is the widest, or -1 for a single corner. */
static int
widest_column(const Space *space, const double *lower, const double *upper)
{
	int widest = -1;
	double width = 0;

	for (int column = 0; column < space->nquasi; column++)
	{
		if (upper[column] - lower[column] > width)
		{
			width = upper[column] - lower[column];
			widest = column;
		}
	}
	return widest;
}

/* Return true if, of two ends, the upper one is farther from the mean of the rows. */
static bool
upper_is_farther(const Space *space, int column, double lower, double upper)
{
	return fabs(upper - space->centre[column]) > fabs(lower - space->centre[column]);
}

/* Set the corner that is the farthest from the mean of the rows, or the nearest to it. */
static void
choose_corner(const Nodes *nodes, bool farthest, double *corner)
{
	const Space *space = nodes->space;

	for (int column = 0; column < space->nquasi; column++)
	{
		bool upper = upper_is_farther(space, column, nodes->lower[column], nodes->upper[column]) == farthest;

		corner[column] = upper ? nodes->upper[column] : nodes->lower[column];
	}
}

/* Set a fault to a bad corner. */
static void
set_corner_fault(const Nodes *nodes, const double *corner, Fault *fault)
{
	fault->kind = FAULT_CORNER;
	for (int column = 0; column < nodes->space->nquasi; column++)
	{
		double lower = nodes->lower[column];
		double upper = nodes->upper[column];

		/* Where there is one end only, a wider box has two: the outer one is the harder. */
		fault->upper[column] = lower < upper ? corner[column] == upper : corner[column] > nodes->space->centre[column];
	}
}

/* Return true if a corner is good with one of the group's sensitive values. */
static bool
some_value_is_good(const Nodes *nodes, double *corner)
{
	return corner_is_good(nodes->space, corner, nodes->middle, nodes->shape->values, nodes->shape->nvalues);
}

/*
 * Return true if a set of corners, given by its ends, satisfies condition (3); otherwise
 * set the fault.  One good node is enough for a corner, and the sensitive value next to
 * the mean is tried first.
 */
static bool
corners_are_good(const Nodes *nodes, double *lower, double *upper, Fault *fault)
{
	const Space *space = nodes->space;
	int column = widest_column(space, lower, upper);
	double low;
	double high;
	bool good;

	if (column < 0)
	{
		good = some_value_is_good(nodes, lower);
		lower[space->nquasi] = nodes->middle;
		if (!good)
			set_corner_fault(nodes, lower, fault);
		return good;
	}
	if (all_are_good(space, lower, upper))
		return true;
	low = lower[column];
	high = upper[column];
	good = true;
	for (int i = 0; i < 2 && good; i++)
	{
		/* The outer half first: it is the more likely to fail. */
		double end = upper_is_farther(space, column, low, high) == (i == 0) ? high : low;

		lower[column] = upper[column] = end;
		good = corners_are_good(nodes, lower, upper, fault);
	}
	lower[column] = low;
	upper[column] = high;
	return good;
}

/* Return true if all corners satisfy condition (3); otherwise set the fault. */
static bool
all_corners_are_good(const Nodes *nodes, Fault *fault)
{
	double lower[MOST_QUASI_IDS + 1];
	double upper[MOST_QUASI_IDS + 1];
	double corner[MOST_QUASI_IDS + 1];

	/* Where a group fails, it mostly fails here. */
	choose_corner(nodes, true, corner);
	if (!some_value_is_good(nodes, corner))
	{
		set_corner_fault(nodes, corner, fault);
		return false;
	}
	memcpy(lower, nodes->lower, sizeof(lower));
	memcpy(upper, nodes->upper, sizeof(upper));
	lower[nodes->space->nquasi] = upper[nodes->space->nquasi] = nodes->middle;
	return corners_are_good(nodes, lower, upper, fault);
}

/* Return true if, among a set of corners with one sensitive value, a node is good. */
static bool
some_node_is_good(const Space *space, double *lower, double *upper)
{
	Crowd some = {GAP_NEAREST, GAP_NEAREST, lower, upper};
	int column = widest_column(space, lower, upper);
	double low;
	double high;
	bool good = false;

	if (!crowd_is_enough(space, &some))
		return false;
	if (column < 0)
		return true;
	low = lower[column];
	high = upper[column];
	for (int i = 0; i < 2 && !good; i++)
	{
		/* The inner half first: it is the more likely to be good. */
		double end = upper_is_farther(space, column, low, high) == (i == 1) ? high : low;

		lower[column] = upper[column] = end;
		good = some_node_is_good(space, lower, upper);
	}
	lower[column] = low;
	upper[column] = high;
	return good;
}

/* Return true if the hypercube of a sensitive value has a good node. */
static bool
value_is_good(const Nodes *nodes, int32 value)
{
	double lower[MOST_QUASI_IDS + 1];
	double upper[MOST_QUASI_IDS + 1];
	int quasi = nodes->space->nquasi;

	memcpy(lower, nodes->lower, sizeof(lower));
	memcpy(upper, nodes->upper, sizeof(upper));
	lower[quasi] = upper[quasi] = nodes->space->values[value];
	return some_node_is_good(nodes->space, lower, upper);
}

/* Return true if every hypercube has a good node, condition (2); otherwise set the fault. */
static bool
hypercubes_are_good(const Nodes *nodes, Fault *fault)
{
	const Space *space = nodes->space;
	const Shape *shape = nodes->shape;
	double lower[MOST_QUASI_IDS + 1];
	double upper[MOST_QUASI_IDS + 1];

	/* The corner next to the mean may be good with all of them. */
	choose_corner(nodes, false, lower);
	memcpy(upper, lower, sizeof(upper));
	lower[space->nquasi] = space->values[shape->values[0]];
	upper[space->nquasi] = space->values[shape->values[shape->nvalues - 1]];
	if (all_are_good(space, lower, upper))
		return true;
	for (int i = 0; i < shape->nvalues; i++)
	{
		if (!value_is_good(nodes, shape->values[i]))
		{
			fault->kind = FAULT_HYPERCUBE;
			fault->value = shape->values[i];
			return false;
		}
	}
	return true;
}

/* Set the corner that a fault is about. */
static void
fault_corner(const Nodes *nodes, const Fault *fault, double *corner)
{
	for (int column = 0; column < nodes->space->nquasi; column++)
		corner[column] = fault->upper[column] ? nodes->upper[column] : nodes->lower[column];
}

/* Return true if a group has the fault of a similar group: groups that differ in one row mostly fail alike. */
static bool
has_fault(const Nodes *nodes, const Fault *fault)
{
	const Shape *shape = nodes->shape;
	double corner[MOST_QUASI_IDS + 1];

	if (fault->kind == FAULT_CORNER)
	{
		fault_corner(nodes, fault, corner);
		return !some_value_is_good(nodes, corner);
	}
	for (int i = 0; i < shape->nvalues && fault->kind == FAULT_HYPERCUBE; i++)
	{
		if (shape->values[i] == fault->value)
			return !value_is_good(nodes, fault->value);
	}
	return false;
}

/* Return true if a group is plain and k-anonymous; if it is not, set the fault. */
bool
shape_is_plain(const Space *space, const Shape *shape, int k, Fault *fault)
{
	Nodes nodes;

	if (shape->nvalues < k)
	{
		fault->kind = FAULT_FEW_VALUES;
		return false;
	}
	make_nodes(&nodes, space, shape);
	if (has_fault(&nodes, fault))
		return false;
	return all_corners_are_good(&nodes, fault) && hypercubes_are_good(&nodes, fault);
}

/* Guess whether a corner is good, with the usual sensitive value or the group's own next to the mean. */
static bool
corner_is_within_reach(const Nodes *nodes, double *corner)
{
	corner[nodes->space->nquasi] = nodes->space->usual;
	if (point_seems_good(nodes->space, corner))
		return true;
	corner[nodes->space->nquasi] = nodes->middle;
	return point_seems_good(nodes->space, corner);
}

/* Guess whether the outermost corner is good. */
bool
shape_is_within_reach(const Space *space, const Shape *shape)
{
	double corner[MOST_QUASI_IDS + 1];
	Nodes nodes;

	make_nodes(&nodes, space, shape);
	choose_corner(&nodes, true, corner);
	return corner_is_within_reach(&nodes, corner);
}

/*
 * Set, by column, whether the column alone takes the outermost corner out of reach when a
 * shape becomes a wider one.
 */
void
shape_excess(const Space *space, const Shape *shape, const Shape *wider, bool *excess)
{
	double corner[MOST_QUASI_IDS + 1];
	double wider_corner[MOST_QUASI_IDS + 1];
	Nodes nodes;

	make_nodes(&nodes, space, wider);
	choose_corner(&nodes, true, wider_corner);
	make_nodes(&nodes, space, shape);
	choose_corner(&nodes, true, corner);
	for (int column = 0; column < space->nquasi; column++)
	{
		double end = corner[column];

		corner[column] = wider_corner[column];
		excess[column] = corner[column] != end && !corner_is_within_reach(&nodes, corner);
		corner[column] = end;
	}
}

/*
 * Return true if enough rows are within d of some point outwards of a corner, with any
 * sensitive value.
 *
 * When a group takes in rows, its corner of a given kind moves only outwards.  If too few
 * rows are within d of everything that lies outwards, no such corner will ever be good.
 */
static bool
is_enough_outwards(const Space *space, const double *corner, const bool *upwards)
{
	double lower[MOST_QUASI_IDS + 1];
	double upper[MOST_QUASI_IDS + 1];
	Crowd outwards = {GAP_BETWEEN, GAP_BETWEEN, lower, upper};

	for (int column = 0; column < space->nquasi; column++)
	{
		lower[column] = upwards[column] ? corner[column] : -INFINITY;
		upper[column] = upwards[column] ? INFINITY : corner[column];
	}
	lower[space->nquasi] = -INFINITY;
	upper[space->nquasi] = INFINITY;
	return crowd_is_known_enough(space, &outwards);
}

/* Return true if no group that contains a group with this fault is plain, either. */
bool
fault_is_final(const Space *space, const Shape *shape, const Fault *fault)
{
	double corner[MOST_QUASI_IDS];
	Nodes nodes;
	Crowd outside = {GAP_OUTSIDE, GAP_NEAREST, nodes.lower, nodes.upper};

	if (fault->kind != FAULT_HYPERCUBE && fault->kind != FAULT_CORNER)
		return false;
	make_nodes(&nodes, space, shape);
	if (fault->kind == FAULT_HYPERCUBE)
	{
		nodes.lower[space->nquasi] = nodes.upper[space->nquasi] = space->values[fault->value];
		return !crowd_is_known_enough(space, &outside);
	}
	fault_corner(&nodes, fault, corner);
	return !is_enough_outwards(space, corner, fault->upper);
}

/* Return true if no plain group can have a row; false: that is not known. */
bool
row_is_hopeless(const Space *space, int32 row)
{
	double point[MOST_QUASI_IDS + 1];
	bool upwards[MOST_QUASI_IDS];

	space_point(space, row, point);
	for (int column = 0; column < space->nquasi; column++)
		upwards[column] = point[column] > space->centre[column];
	return !is_enough_outwards(space, point, upwards);
}
