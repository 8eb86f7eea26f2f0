/*
 * uncertain_crowd.c
 *		Computing the expected anonymity of a row among all others.
 *
 * The expected anonymity is the number of rows equal to this one plus, for each other
 * row, the probability that it fits at least as well (formulas 8 and 15), here called
 * its contribution.  Most rows need not be visited.  The tree's nodes are closed at
 * first.  The contribution of the rows of a closed node lies between two bounds: as if
 * all of them were at the node's farthest corner, and as if they were at its nearest
 * one.  The slack of a node is the difference of the two.  Opening nodes that have
 * much slack per row, until the slack of all closed nodes together is below a
 * tolerance, leaves
 *
 *		lower <= expected anonymity <= lower + tolerance
 *
 * with no assumption about the rows.  Nodes that are far out of reach, and nodes that
 * are small beside their distance, have next to no slack, however many rows they hold,
 * and so they stay closed.
 *
 * A spread is accepted when the lower bound is at least k and the upper bound at most
 * 0.1 % above.  If a model depends on distances alone, counting them in rings finds
 * nearly all spreads in less time (uncertain_rings.c); the nodes serve the remaining
 * rows, other models and the exact sum.
 */
#include "base/kanon.h"

#include "release/uncertain/uncertain_model.h"

#include <float.h>
#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "release/common/kdtree.h"

/*
 * How far the lower bound has to be above k, at least and at most, as shares of k; less
 * where k is near to the limit.  The first is far above the rounding error: a sum of n
 * positive terms is off by less than n * 1.2e-16 of itself.
 */
#define LEAST_SURPLUS 1e-6
#define MOST_SURPLUS 2e-4
/* No spread reaches the limit itself; rounding would decide where k is nearer to it than this share of k. */
#define LEAST_REACH 1e-9
/* The share of k that closed nodes may leave open, and where the upper bound has to be. */
#define CLOSED_SHARE 6e-4
#define UPPER_SURPLUS 9.9e-4
/* The same for a first approximation with far fewer rows. */
#define ROUGH_SHARE 0.05
/* The slack that the exact sum may have. */
#define EXACT_TOLERANCE 1e-12
/* The slack per row with which a node may stay closed, at first: the tolerance over this. */
#define FIRST_ROWS 2000

/* A row that is not equal is at least this far: squares of smaller numbers are lost. */
#define LEAST_DISTANCE 1e-150

/* A dozen steps are many; doubling runs through all doubles in some two thousand. */
#define NEWTON_STEPS 50
#define MOST_STEPS 3000

typedef struct ClosedNode
{
	double slack;
	int32 node;
	bool closed;
} ClosedNode;

struct NoiseCrowd
{
	const KdTree *tree;
	const NoiseModel *model;
	KdQuery query;
	int width; /* of a shape */

	int equal;		/* rows equal to the one looked at */
	double *shapes; /* of the other rows of opened leaves */
	Size nshapes;
	Size room;

	ClosedNode *nodes; /* that were ever closed; some have been opened since */
	double *boxes;	   /* their nearest and farthest shapes, 2 * width each */
	int nnodes;
	double slack; /* of all closed nodes */

	Rings *rings; /* null: the model has none */
};

NoiseCrowd *
noise_crowd_create(const KdTree *tree, const NoiseModel *model)
{
	NoiseCrowd *crowd = palloc0(sizeof(NoiseCrowd));

	crowd->tree = tree;
	crowd->model = model;
	crowd->width = model->width(tree->ncolumns);
	crowd->room = 1024;
	crowd->shapes = palloc(crowd->room * crowd->width * sizeof(double));
	crowd->nodes = palloc_extended(tree->nnodes * sizeof(ClosedNode), MCXT_ALLOC_HUGE);
	crowd->boxes = palloc_extended((Size) tree->nnodes * 2 * crowd->width * sizeof(double), MCXT_ALLOC_HUGE);
	if (model->weighted)
		crowd->rings = rings_create(tree, model);
	return crowd;
}

static bool
is_touching(const double *shape, int width)
{
	for (int i = 0; i < width; i++)
	{
		if (shape[i] > LEAST_DISTANCE)
			return false;
	}
	return true;
}

/* Keep the shapes just written, except the shapes of equal rows. */
static void
keep_shapes(NoiseCrowd *crowd, int first, int count)
{
	int width = crowd->width;
	double *kept = crowd->shapes + crowd->nshapes * width;

	for (int i = 0; i < count; i++)
	{
		double *shape = crowd->shapes + (crowd->nshapes + i) * width;

		if (is_touching(shape, width))
		{
			if (kdtree_equal(crowd->tree, first + i, crowd->query.point))
			{
				crowd->equal++;
				continue;
			}
			shape[0] = LEAST_DISTANCE;
		}
		if (kept != shape)
			memcpy(kept, shape, width * sizeof(double));
		kept += width;
	}
	crowd->nshapes = (kept - crowd->shapes) / width;
}

static void
open_leaf(NoiseCrowd *crowd, int node)
{
	const KdTree *tree = crowd->tree;

	/* Rows equal to the one looked at may be very many: they are not looked at one by one. */
	if (kdtree_is_point(tree, node) && kdtree_equal(tree, tree->first[node], crowd->query.point))
	{
		crowd->equal += tree->end[node] - tree->first[node];
		return;
	}
	for (int first = tree->first[node]; first < tree->end[node]; first += KDTREE_LEAF)
	{
		int count = Min(KDTREE_LEAF, tree->end[node] - first);

		if (crowd->nshapes + count > crowd->room)
		{
			crowd->room *= 2;
			crowd->shapes = repalloc_huge(crowd->shapes, crowd->room * crowd->width * sizeof(double));
		}
		crowd->model->shapes(tree, &crowd->query, first, count, crowd->shapes + crowd->nshapes * crowd->width);
		keep_shapes(crowd, first, count);
	}
}

static inline double *
nearest_shape(NoiseCrowd *crowd, const ClosedNode *closed)
{
	return crowd->boxes + (Size) (closed - crowd->nodes) * 2 * crowd->width;
}

static inline double *
farthest_shape(NoiseCrowd *crowd, const ClosedNode *closed)
{
	return nearest_shape(crowd, closed) + crowd->width;
}

static inline int
rows_of(NoiseCrowd *crowd, const ClosedNode *closed)
{
	return crowd->tree->end[closed->node] - crowd->tree->first[closed->node];
}

/* Return the slack of a closed node: the upper minus the lower bound of its rows' contribution. */
static double
measure_slack(NoiseCrowd *crowd, const ClosedNode *closed, double spread)
{
	const NoiseModel *model = crowd->model;
	double *near = nearest_shape(crowd, closed);
	double *far = farthest_shape(crowd, closed);
	double slope;
	double lower = model->sum(far, 1, crowd->width, spread, &slope);
	double upper = model->sum(near, 1, crowd->width, spread, &slope);

	if (memcmp(near, far, crowd->width * sizeof(double)) == 0)
		return 0;
	upper = Min(upper * (1 + model->excess) + model->tail, model->most);
	return (upper - lower) * rows_of(crowd, closed);
}

static void visit_node(NoiseCrowd *crowd, int node, double spread, double limit);

static void
open_node(NoiseCrowd *crowd, int node, double spread, double limit)
{
	if (crowd->tree->right[node] == 0)
	{
		open_leaf(crowd, node);
		return;
	}
	visit_node(crowd, node + 1, spread, limit);
	visit_node(crowd, crowd->tree->right[node], spread, limit);
}

/*
 * Close a node if its slack per row is within a limit, and open it otherwise.  A node
 * that may contain the row itself is opened in any case, since equal rows are counted
 * apart.  With spread 0, which stands for none yet, only such nodes are opened.
 */
static void
visit_node(NoiseCrowd *crowd, int node, double spread, double limit)
{
	ClosedNode *closed = &crowd->nodes[crowd->nnodes];

	closed->node = node;
	closed->closed = true;
	crowd->model->box(crowd->tree, &crowd->query, node, nearest_shape(crowd, closed), farthest_shape(crowd, closed));
	if (is_touching(nearest_shape(crowd, closed), crowd->width))
	{
		open_node(crowd, node, spread, limit);
		return;
	}
	closed->slack = spread > 0 ? measure_slack(crowd, closed, spread) : 0;
	if (closed->slack > limit * rows_of(crowd, closed))
		open_node(crowd, node, spread, limit);
	else
		crowd->nnodes++;
}

int
noise_crowd_around(NoiseCrowd *crowd, const double *point, const double *factors)
{
	CHECK_FOR_INTERRUPTS();
	crowd->query.point = point;
	crowd->query.factors = factors;
	crowd->equal = 0;
	crowd->nshapes = 0;
	crowd->nnodes = 0;
	visit_node(crowd, 0, 0, 0);
	return crowd->equal;
}

static void
sum_slack(NoiseCrowd *crowd)
{
	crowd->slack = 0;
	for (int i = 0; i < crowd->nnodes; i++)
	{
		if (crowd->nodes[i].closed)
			crowd->slack += crowd->nodes[i].slack;
	}
}

/* Measure the slack of the closed nodes with another spread. */
static void
turn_to_spread(NoiseCrowd *crowd, double spread)
{
	for (int i = 0; i < crowd->nnodes; i++)
	{
		if (crowd->nodes[i].closed)
			crowd->nodes[i].slack = measure_slack(crowd, &crowd->nodes[i], spread);
	}
	sum_slack(crowd);
}

/*
 * Open nodes until the slack of the closed ones is within the tolerance.  The limit per
 * row shrinks in proportion to the excess; the tolerance over the number of rows is
 * certainly small enough.
 */
static void
open_nodes(NoiseCrowd *crowd, double spread, double tolerance)
{
	double limit = tolerance / FIRST_ROWS;

	while (crowd->slack > tolerance)
	{
		int before = crowd->nnodes;

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < before; i++)
		{
			ClosedNode *closed = &crowd->nodes[i];

			if (!closed->closed || closed->slack <= limit * rows_of(crowd, closed))
				continue;
			closed->closed = false;
			open_node(crowd, closed->node, spread, limit);
		}
		sum_slack(crowd);
		limit *= Min(0.7 * tolerance / crowd->slack, 0.5);
	}
}

/* Return the lower bound of the other rows' contribution, and set its derivative by the logarithm of the spread. */
static double
lower_bound(void *state, double spread, double *slope)
{
	NoiseCrowd *crowd = state;
	double sum = crowd->model->sum(crowd->shapes, crowd->nshapes, crowd->width, spread, slope);

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < crowd->nnodes; i++)
	{
		ClosedNode *closed = &crowd->nodes[i];
		double change;

		if (!closed->closed)
			continue;
		sum += rows_of(crowd, closed) *
			   crowd->model->sum(farthest_shape(crowd, closed), 1, crowd->width, spread, &change);
		*slope += rows_of(crowd, closed) * change;
	}
	return sum;
}

/*
 * Return a spread: see uncertain_model.h.  Newton's method works on logarithms, in which
 * the sum is nearly a straight line; bisection takes over where it leaves the bracket
 * or takes too long.
 */
double
solve_spread(SpreadSum sum_of, void *state, double least, double most, double spread, double *sum)
{
	double target = (least + most) / 2;
	double lo = 0;
	double hi = INFINITY;

	for (int step = 0; step < MOST_STEPS; step++)
	{
		double slope;
		double next = NAN;

		*sum = sum_of(state, spread, &slope);
		if (*sum >= least && *sum <= most)
			return spread;
		if (*sum > 0 && slope > 0 && step < NEWTON_STEPS)
			next = spread * exp(log(target / *sum) * *sum / slope);
		if (*sum < least)
			lo = spread;
		else
			hi = spread;
		if (!(next > lo && next < hi))
			next = isinf(hi) ? lo * 2 : sqrt(lo) * sqrt(hi);
		if (next == 0)
			next = hi / 2;
		spread = next;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR),
			 errmsg("no spread was found between %g and %g", lo, hi)));
}

/* Return the spread that the rings of distances give; nodes that it has closed stay closed for later calls. */
static double
spread_by_rings(NoiseCrowd *crowd, const RingsTarget *target)
{
	rings_empty(crowd->rings, &crowd->query);
	for (int i = 0; i < crowd->nnodes; i++)
		rings_close(crowd->rings, crowd->nodes[i].node, *nearest_shape(crowd, &crowd->nodes[i]));
	return rings_spread(crowd->rings, target, crowd->shapes, crowd->nshapes);
}

double
noise_crowd_spread(NoiseCrowd *crowd, double k, double guess)
{
	double limit = crowd->equal + crowd->model->most * (crowd->tree->nrows - crowd->equal);
	double reach = limit - k;
	double least = k + Min(k * LEAST_SURPLUS, reach / 4) - crowd->equal;
	double most = k + Min(k * MOST_SURPLUS, reach / 2) - crowd->equal;
	double spread = guess > 0 ? guess : 1;
	double sum;

	if (crowd->equal >= k)
		return 0;
	if (reach < k * LEAST_REACH)
		return NAN;
	if (crowd->rings)
	{
		RingsTarget target = {least, most, k * (1 + UPPER_SURPLUS) - crowd->equal, spread};
		double found = spread_by_rings(crowd, &target);

		if (!isnan(found))
			return found;
	}
	turn_to_spread(crowd, spread);
	open_nodes(crowd, spread, least * ROUGH_SHARE);
	spread = solve_spread(lower_bound, crowd, least * (1 - ROUGH_SHARE), least, spread, &sum);
	do
	{
		turn_to_spread(crowd, spread);
		open_nodes(crowd, spread, k * CLOSED_SHARE);
		spread = solve_spread(lower_bound, crowd, least, most, spread, &sum);
		turn_to_spread(crowd, spread);
	} while (crowd->equal + sum * (1 + crowd->model->excess) + crowd->slack > k * (1 + UPPER_SURPLUS));
	return spread;
}

double
noise_crowd_anonymity(NoiseCrowd *crowd, double spread)
{
	double sum;

	turn_to_spread(crowd, spread);
	open_nodes(crowd, spread, EXACT_TOLERANCE);
	sum = crowd->equal + crowd->model->exact(crowd->shapes, crowd->nshapes, crowd->width, spread);
	for (int i = 0; i < crowd->nnodes; i++)
	{
		ClosedNode *closed = &crowd->nodes[i];

		if (closed->closed)
			sum += rows_of(crowd, closed) * crowd->model->exact(farthest_shape(crowd, closed), 1, crowd->width, spread);
	}
	return sum;
}
