/*
 * uncertain_rings.c
 *		Finding the spread of a row by counting the rows around it in rings.
 *
 * The search for a spread computes the same sum of tails again and again.  Here the
 * rows within reach are visited once and counted in rings around the row, by the
 * square u of their distance.  After that, each sum takes some hundred rings instead
 * of ten thousand rows.
 *
 * The contribution of a row at u, g(u) = Q(sqrt(u) / 2s), is convex: its derivative
 * -f(sqrt(u) / 2s) / (4s sqrt(u)), f the density, only grows.  So for the n rows of the
 * ring from a to b, with a mean square m that is known exactly,
 *
 *		n g(m)  <=  their sum  <=  n ((b - m) g(a) + (m - a) g(b)) / (b - a)
 *
 * by Jensen's inequality and because g lies below its chord; rows beyond the last
 * ring add between n g(m) and n g(a).  Rows of nodes out of reach, which are
 * closed, add between 0 and g at the square of the nearest point of the node.
 * No assumption is made about where in their ring or node rows are.
 *
 * The reach begins short and grows until the closed nodes leave no more open than is
 * allowed; rows are counted only once.  If the rings are not fine enough for a certain
 * answer, there is none, and the caller visits the rows themselves.
 */
#include "base/kanon.h"

#include "release/uncertain/uncertain_model.h"

#include <math.h>

#include "miscadmin.h"

#include "release/common/kdtree.h"

/*
 * A power of two in u is cut into so many rings, by the first bits of its
 * mantissa.  The bounds of a ring then differ by at most g'' (u / 2^8)^2 / 8, and
 * with t = sqrt(u) / 2s that is about (1 + t^2)^2 / 2^21 of their value.  In
 * twenty columns t = 4.5 matters most, and most of the 0.1 % is still left to the
 * closed nodes.  Nothing rests on this estimate: the bounds are computed, and
 * compared, for every row.
 */
#define RING_BITS 8
#define RINGS_PER_OCTAVE (1 << RING_BITS)
/*
 * From this share of the first reach, as a power of two in u, to as far beyond it: rows there have to be told
 * apart, too.
 */
#define OCTAVES_WITHIN 10
#define OCTAVES_BEYOND 5
#define NRINGS ((OCTAVES_WITHIN + OCTAVES_BEYOND) * RINGS_PER_OCTAVE)
#define MANTISSA_BITS 52
#define LAST_EXPONENT 0x7fe

/* The reach begins with so many times 2s: a few hundred rows in five columns. */
#define FIRST_REACH 3.0
/* The share of the allowed uncertainty that closed nodes are to use up, so that one more step is rarely needed. */
#define AIM 0.8
#define MOST_ROUNDS 30
/* The rows counted must be able to contribute so many times the sum that is sought. */
#define ROWS_TO_SPARE 3

typedef struct Ring
{
	double rows;
	double squares; /* the sum of u */
} Ring;

struct Rings
{
	const KdTree *tree;
	const NoiseModel *model;
	const KdQuery *query;

	int64 base; /* the first bits of the u where ring 0 starts */
	Ring rings[NRINGS];
	double edges[NRINGS + 1]; /* the distances where rings start */
	double nrows;			  /* that were counted */

	/* Rings that have rows: their mean distance, and their ends with the weights of the chord. */
	double mean[NRINGS];
	double weight[NRINGS];
	int nmeans;
	double edge[NRINGS + 1];
	double edge_weight[NRINGS + 1];
	int nedges;

	/* Closed nodes. */
	double *near; /* distances */
	double *rows;
	int32 *nodes;
	int nclosed;
};

Rings *
rings_create(const KdTree *tree, const NoiseModel *model)
{
	Rings *rings = palloc(sizeof(Rings));

	rings->tree = tree;
	rings->model = model;
	rings->base = -1;
	rings->near = palloc_extended(tree->nnodes * sizeof(double), MCXT_ALLOC_HUGE);
	rings->rows = palloc_extended(tree->nnodes * sizeof(double), MCXT_ALLOC_HUGE);
	rings->nodes = palloc_extended(tree->nnodes * sizeof(int32), MCXT_ALLOC_HUGE);
	return rings;
}

static inline int64
first_bits(double square)
{
	int64 bits;

	memcpy(&bits, &square, sizeof(bits));
	return bits >> (MANTISSA_BITS - RING_BITS);
}

static inline double
square_with_bits(int64 first)
{
	int64 bits = first << (MANTISSA_BITS - RING_BITS);
	double square;

	memcpy(&square, &bits, sizeof(square));
	return square;
}

/* Return the square of the distance where a ring starts: 0 for ring 0, not the value of its first bits. */
static inline double
ring_start(const Rings *rings, int ring)
{
	return ring == 0 ? 0 : square_with_bits(rings->base + ring);
}

/* Set up empty rings for a reach; return false if the reach exceeds the range of doubles. */
static bool
lay_rings(Rings *rings, double reach)
{
	int64 octave = first_bits(reach * reach) >> RING_BITS;
	int64 base = (octave - OCTAVES_WITHIN) * RINGS_PER_OCTAVE;

	if (octave <= OCTAVES_WITHIN || octave + OCTAVES_BEYOND > LAST_EXPONENT)
		return false;
	if (base != rings->base)
	{
		rings->base = base;
		for (int ring = 0; ring <= NRINGS; ring++)
			rings->edges[ring] = sqrt(ring_start(rings, ring));
	}
	memset(rings->rings, 0, sizeof(rings->rings));
	rings->nrows = 0;
	return true;
}

static inline void
count_row(Rings *rings, double square, double rows)
{
	int64 number = first_bits(square) - rings->base;
	Ring *ring = &rings->rings[Min(Max(number, 0), NRINGS - 1)];

	ring->rows += rows;
	ring->squares += square * rows;
}

static void
count_leaf(Rings *rings, int node)
{
	const KdTree *tree = rings->tree;
	int rows = tree->end[node] - tree->first[node];
	double squares[KDTREE_LEAF];

	rings->nrows += rows;
	kdtree_distances(tree, rings->query, tree->first[node], Min(rows, KDTREE_LEAF), squares);
	if (rows > KDTREE_LEAF) /* all equal */
	{
		count_row(rings, squares[0], rows);
		return;
	}
	for (int i = 0; i < rows; i++)
		count_row(rings, squares[i], 1);
}

static void
close_node(Rings *rings, int node, double near)
{
	rings->near[rings->nclosed] = near;
	rings->rows[rings->nclosed] = rings->tree->end[node] - rings->tree->first[node];
	rings->nodes[rings->nclosed++] = node;
}

static inline double
positive(double number)
{
	return number > 0 ? number : 0;
}

/* Return a lower bound of the squared distances of a node's rows; it is rounded as kdtree_distances() rounds. */
static inline double
nearest_square(const KdTree *tree, const KdQuery *query, int node)
{
	const double *lo = tree->lo + (Size) node * tree->ncolumns;
	const double *hi = tree->hi + (Size) node * tree->ncolumns;
	double square = 0;

	for (int column = 0; column < tree->ncolumns; column++)
	{
		/* One of the two is 0. The CPU would mispredict a branch half of the time. */
		double below = positive(lo[column] - query->point[column]);
		double above = positive(query->point[column] - hi[column]);
		double gap = (below + above) * query->factors[column];

		square += gap * gap;
	}
	return square;
}

/* Count the rows of a node if it is within reach, or close it; and so on down its children. */
static void
enter_node(Rings *rings, int node, double reach_square)
{
	double near = nearest_square(rings->tree, rings->query, node);

	if (near > reach_square)
		close_node(rings, node, sqrt(near));
	else if (rings->tree->right[node] == 0)
		count_leaf(rings, node);
	else
	{
		enter_node(rings, node + 1, reach_square);
		enter_node(rings, rings->tree->right[node], reach_square);
	}
}

/* Open the closed nodes that a longer reach touches. */
static void
extend(Rings *rings, double reach)
{
	int before = rings->nclosed;
	int kept = 0;

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < before; i++)
	{
		if (rings->near[i] <= reach)
			enter_node(rings, rings->nodes[i], reach * reach);
		else
		{
			rings->near[kept] = rings->near[i];
			rings->rows[kept] = rings->rows[i];
			rings->nodes[kept++] = rings->nodes[i];
		}
	}
	/* The nodes that were closed just now move up. */
	memmove(rings->near + kept, rings->near + before, (rings->nclosed - before) * sizeof(double));
	memmove(rings->rows + kept, rings->rows + before, (rings->nclosed - before) * sizeof(double));
	memmove(rings->nodes + kept, rings->nodes + before, (rings->nclosed - before) * sizeof(int32));
	rings->nclosed += kept - before;
}

static void
add_edge(Rings *rings, int ring, double weight)
{
	double distance = rings->edges[ring];

	if (rings->nedges > 0 && rings->edge[rings->nedges - 1] == distance)
		rings->edge_weight[rings->nedges - 1] += weight;
	else
	{
		rings->edge[rings->nedges] = distance;
		rings->edge_weight[rings->nedges++] = weight;
	}
}

/* Compute the mean distances and the weights from which both bounds are added up. */
static void
take_stock(Rings *rings)
{
	rings->nmeans = 0;
	rings->nedges = 0;
	for (int i = 0; i < NRINGS; i++)
	{
		double rows = rings->rings[i].rows;
		double mean = rings->rings[i].squares / rows;
		double from = ring_start(rings, i);
		double to = ring_start(rings, i + 1);
		double share = i < NRINGS - 1 ? (mean - from) / (to - from) : 0;

		if (rows == 0)
			continue;
		rings->mean[rings->nmeans] = sqrt(mean);
		rings->weight[rings->nmeans++] = rows;
		share = Min(Max(share, 0), 1);
		add_edge(rings, i, rows * (1 - share));
		add_edge(rings, i + 1, rows * share);
	}
}

static double
rings_least(void *rings, double spread, double *slope)
{
	Rings *own = rings;

	return own->model->weighted(own->mean, own->weight, own->nmeans, spread, slope);
}

/* Return an upper bound of the contribution of rows at these distances. */
static double
most_of(Rings *rings, const double *distances, const double *rows, int count, double spread)
{
	double slope;

	return rings->model->weighted(distances, rows, count, spread, &slope) * (1 + rings->model->excess) +
		   rings->tree->nrows * rings->model->tail;
}

static void
count_known(Rings *rings, const double *distances, Size count)
{
	for (Size i = 0; i < count; i++)
		count_row(rings, distances[i] * distances[i], 1);
	rings->nrows += count;
}

void
rings_close(Rings *rings, int node, double near)
{
	close_node(rings, node, near);
}

void
rings_empty(Rings *rings, const KdQuery *query)
{
	rings->query = query;
	rings->nclosed = 0;
}

double
rings_spread(Rings *rings, const RingsTarget *target, const double *distances, Size count)
{
	double spread = target->guess;
	double reach = FIRST_REACH;

	if (!lay_rings(rings, 2 * spread * FIRST_REACH))
		return NAN;
	count_known(rings, distances, count);
	for (int round = 0; round < MOST_ROUNDS; round++)
	{
		double least;
		double counted;
		double closed;
		double left;

		extend(rings, 2 * spread * reach);
		if (rings->nrows * rings->model->most < ROWS_TO_SPARE * target->least)
		{
			if (rings->nclosed == 0)
				return NAN;
			spread *= 1.5;
			continue;
		}
		take_stock(rings);
		spread = solve_spread(rings_least, rings, target->least, target->most, spread, &least);
		counted = most_of(rings, rings->edge, rings->edge_weight, rings->nedges, spread);
		closed = most_of(rings, rings->near, rings->rows, rings->nclosed, spread);
		if (counted + closed <= target->upper)
			return spread;
		left = target->upper - counted;
		if (left < (target->upper - target->most) / 4)
			return NAN;
		reach = sqrt(reach * reach + 2 * log(Max(closed / (AIM * left), 1.1)));
	}
	return NAN;
}
