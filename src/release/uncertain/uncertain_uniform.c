/*
 * uncertain_uniform.c
 *		Noise that is uniform in a cuboid; the spread is its side.
 *
 * Another row fits as well as the row itself where z lies in the cuboids of
 * both, and not at all elsewhere: with probability prod(max(1 - |w| / a, 0)), w
 * being their difference per column and a the side (Lemma 2.2).  The shape is
 * the difference per column.
 */
#include "base/kanon.h"

#include "release/uncertain/uncertain_model.h"

#include <math.h>

#include "release/common/kdtree.h"
#include "release/common/noise.h"

static double
uniform_fit(double z, double spread, double x)
{
	if (fabs(x - z) > spread / 2)
		return -INFINITY;
	return spread == 0 ? 0 : -log(spread);
}

static double
uniform_mass(double z, double spread, double lo, double hi)
{
	double from = Max(lo, z - spread / 2);
	double to = Min(hi, z + spread / 2);

	if (spread == 0)
		return lo <= z && z <= hi ? 1 : 0;
	return to > from ? Min((to - from) / spread, 1) : 0;
}

/* Draw a value, except from the outermost millionth, so that rounding never puts x outside. */
static double
uniform_draw(NoiseSource *source, double x, double spread)
{
	double z;

	do
		z = noise_add(x, (noise_uniform(source) - 0.5) * spread, spread);
	while (fabs(z - x) > spread / 2 * (1 - 1e-6));
	return z;
}

static int
uniform_width(int ncolumns)
{
	return ncolumns;
}

static void
uniform_shapes(const KdTree *tree, const KdQuery *query, int first, int count, double *shapes)
{
	for (int column = 0; column < tree->ncolumns; column++)
	{
		const double *values = tree->values + (Size) column * tree->nrows + first;

		for (int i = 0; i < count; i++)
			shapes[i * tree->ncolumns + column] = fabs(values[i] - query->point[column]) * query->factors[column];
	}
}

static void
uniform_box(const KdTree *tree, const KdQuery *query, int node, double *near, double *far)
{
	const double *lo = tree->lo + (Size) node * tree->ncolumns;
	const double *hi = tree->hi + (Size) node * tree->ncolumns;

	for (int column = 0; column < tree->ncolumns; column++)
	{
		double below = (lo[column] - query->point[column]) * query->factors[column];
		double above = (query->point[column] - hi[column]) * query->factors[column];

		near[column] = Max(Max(below, above), 0);
		far[column] = Max(-below, -above);
	}
}

static double
uniform_misfit(const double *shape, int width)
{
	for (int column = 0; column < width; column++)
	{
		if (shape[column] > 0.5)
			return INFINITY;
	}
	return 0;
}

static double
uniform_sum(const double *shapes, int count, int width, double spread, double *slope)
{
	double factor = 1 / spread;
	double sum = 0;

	*slope = 0;
	for (int i = 0; i < count; i++)
	{
		const double *shape = shapes + (Size) i * width;
		double product = 1;
		double growth = 0;

		for (int column = 0; column < width && product > 0; column++)
			product *= Max(1 - shape[column] * factor, 0);
		if (product == 0)
			continue;
		for (int column = 0; column < width; column++)
			growth += shape[column] / (spread - shape[column]);
		sum += product;
		*slope += product * growth;
	}
	return sum;
}

static double
uniform_exact(const double *shapes, int count, int width, double spread)
{
	double slope;

	return uniform_sum(shapes, count, width, spread, &slope);
}

/* Guess a spread: if rows are spread evenly, the others contribute as many rows as a cube of that side contains. */
static double
uniform_guess(int ncolumns, double k, int count, double distance)
{
	double d = ncolumns;
	double log_ball = d / 2 * log(M_PI) - lgamma(d / 2 + 1);

	return distance * exp((log(Max(k - 1, 1e-3) / count) + log_ball) / d);
}

const NoiseModel uniform_noise = {
	.name = "uniform",
	.fit = uniform_fit,
	.mass = uniform_mass,
	.draw = uniform_draw,
	.width = uniform_width,
	.shapes = uniform_shapes,
	.box = uniform_box,
	.misfit = uniform_misfit,
	.sum = uniform_sum,
	.exact = uniform_exact,
	.excess = 0,
	.tail = 0,
	.most = 1,
	.guess = uniform_guess,
};
