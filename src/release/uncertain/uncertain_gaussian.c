/*
 * uncertain_gaussian.c
 *		Normally distributed noise; the spread is its standard deviation.
 *
 * Another row at distance D fits at least as well as the row itself with
 * probability Q(D / 2s), Q being the upper tail of the normal distribution
 * (Lemma 2.1).  The shape is the distance.
 */
#include "base/kanon.h"

#include "release/uncertain/uncertain_model.h"

#include <math.h>

#include "release/common/kdtree.h"
#include "release/common/noise.h"

/*
 * Finding a spread takes Q at thousands of distances, several times over.  Q is
 * convex for positive arguments, so that it lies above each of its tangents:
 * the tangent at the middle of the cell that an argument falls into gives a
 * bound from below for the price of two loads and a multiplication.
 *
 * How far below?  At most (h/2)^2 / 2 times the largest Q'' in the cell, h being
 * its length.  Q''(t) = t f(t), f the density, and Q(t) > f(t) t / (1 + t^2), so
 * that Q'' / Q < 1 + t^2; with h = 1/512 and t < 9, and f changing by less than
 * 2 % within a cell, that is less than 4e-5 of Q.  Beyond 9 we take 0: Q(9) is
 * less than 1.2e-19.
 */
#define CELLS_PER_UNIT 512
#define LAST_UNIT 9
#define NCELLS (CELLS_PER_UNIT * LAST_UNIT)
#define TANGENT_EXCESS 4e-5
#define TANGENT_TAIL 1.2e-19

typedef struct Tangent
{
	double at_zero;
	double slope;
} Tangent;

static Tangent tangents[NCELLS + 1]; /* the last one is 0 */
static bool tangents_ready = false;

static inline double
upper_tail(double t)
{
	return 0.5 * erfc(t * M_SQRT1_2);
}

static void
make_tangents(void)
{
	for (int cell = 0; cell < NCELLS; cell++)
	{
		double t = (cell + 0.5) / CELLS_PER_UNIT;

		tangents[cell].slope = -exp(-t * t / 2) / sqrt(2 * M_PI);
		tangents[cell].at_zero = upper_tail(t) - tangents[cell].slope * t;
	}
	tangents_ready = true;
}

static double
gaussian_fit(double z, double spread, double x)
{
	double t = (x - z) / spread;

	if (spread == 0)
		return x == z ? 0 : -INFINITY;
	return -t * t / 2 - log(spread) - 0.5 * log(2 * M_PI);
}

/* Return the mass between lo and hi.  The difference is taken in the tail where the numbers are small. */
static double
gaussian_mass(double z, double spread, double lo, double hi)
{
	double from = (lo - z) / spread;
	double to = (hi - z) / spread;

	if (spread == 0)
		return lo <= z && z <= hi ? 1 : 0;
	if (from > 0)
		return upper_tail(from) - upper_tail(to);
	if (to < 0)
		return upper_tail(-to) - upper_tail(-from);
	return 1 - upper_tail(-from) - upper_tail(to);
}

static double
gaussian_draw(NoiseSource *source, double x, double spread)
{
	return noise_add(x, noise_normal(source) * spread, spread);
}

static int
gaussian_width(int ncolumns)
{
	return 1;
}

static void
gaussian_shapes(const KdTree *tree, const KdQuery *query, int first, int count, double *shapes)
{
	kdtree_distances(tree, query, first, count, shapes);
	for (int i = 0; i < count; i++)
		shapes[i] = sqrt(shapes[i]);
}

static void
gaussian_box(const KdTree *tree, const KdQuery *query, int node, double *near, double *far)
{
	kdtree_box_distances(tree, query, node, near, far);
	*near = sqrt(*near);
	*far = sqrt(*far);
}

static double
gaussian_misfit(const double *shape, int width)
{
	return shape[0];
}

static double
gaussian_sum(const double *shapes, int count, int width, double spread, double *slope)
{
	double factor = 0.5 / spread;
	double at_zero = 0;
	double along = 0;

	if (!tangents_ready)
		make_tangents();
	for (int i = 0; i < count; i++)
	{
		double t = Min(shapes[i] * factor, LAST_UNIT);
		const Tangent *tangent = &tangents[(int) (t * CELLS_PER_UNIT)];

		at_zero += tangent->at_zero;
		along += tangent->slope * t;
	}
	*slope = -along;
	return at_zero + along;
}

static double
gaussian_weighted(const double *distances, const double *rows, int count, double spread, double *slope)
{
	double factor = 0.5 / spread;
	double at_zero = 0;
	double along = 0;

	if (!tangents_ready)
		make_tangents();
	for (int i = 0; i < count; i++)
	{
		double t = Min(distances[i] * factor, LAST_UNIT);
		const Tangent *tangent = &tangents[(int) (t * CELLS_PER_UNIT)];

		at_zero += rows[i] * tangent->at_zero;
		along += rows[i] * tangent->slope * t;
	}
	*slope = -along;
	return at_zero + along;
}

static double
gaussian_exact(const double *shapes, int count, int width, double spread)
{
	double sum = 0;

	for (int i = 0; i < count; i++)
		sum += upper_tail(shapes[i] / (2 * spread));
	return sum;
}

/*
 * Guess a spread.  If N(r) = N(1) r^d rows are within r, the contributions of the others
 * add up to N(2s) E|M|^d / 2, M normal; and E|M|^d = 2^(d/2) Gamma((d + 1) / 2) / sqrt(pi).
 */
static double
gaussian_guess(int ncolumns, double k, int count, double distance)
{
	double d = ncolumns;
	double log_moment = d / 2 * log(2) + lgamma((d + 1) / 2) - 0.5 * log(M_PI);

	return distance / 2 * exp((log(2 * Max(k - 1, 1e-3) / count) - log_moment) / d);
}

const NoiseModel gaussian_noise = {
	.name = "gaussian",
	.fit = gaussian_fit,
	.mass = gaussian_mass,
	.draw = gaussian_draw,
	.width = gaussian_width,
	.shapes = gaussian_shapes,
	.box = gaussian_box,
	.misfit = gaussian_misfit,
	.sum = gaussian_sum,
	.weighted = gaussian_weighted,
	.exact = gaussian_exact,
	.excess = TANGENT_EXCESS,
	.tail = TANGENT_TAIL,
	.most = 0.5,
	.guess = gaussian_guess,
};
