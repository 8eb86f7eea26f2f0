/*
 * uncertain_model.h
 *		The kinds of noise of the uncertain model, and the anonymity that they give a
 *		row among others.
 */
#ifndef KANON_RELEASE_UNCERTAIN_MODEL_H
#define KANON_RELEASE_UNCERTAIN_MODEL_H

#include "release/common/kdtree.h"
#include "release/common/noise.h"

/*
 * The factor of a column without spread: a row that differs there is out of reach.  The
 * factor is finite, so that its product with a difference of 0 is 0.
 */
#define NO_SPREAD_FACTOR 1e300

/*
 * A kind of noise.  The contribution of another row to the expected anonymity of a row,
 * and how well it fits, depend on their difference.  The model describes a difference
 * by its shape: `width` doubles, none negative, which are either one distance or one
 * difference per column.  A row with a shape that is smaller everywhere contributes at
 * least as much and fits at least as well.
 */
typedef struct NoiseModel
{
	const char *name;

	/* One column of one row; a spread of 0 means that z is the value itself. */
	double (*fit)(double z, double spread, double x);			   /* log of the density at x */
	double (*mass)(double z, double spread, double lo, double hi); /* the share between lo and hi */
	double (*draw)(NoiseSource *source, double x, double spread);  /* a z for x */

	/* Rows as others see them. */
	int (*width)(int ncolumns);
	void (*shapes)(const KdTree *tree, const KdQuery *query, int first, int count, double *shapes);
	void (*box)(const KdTree *tree, const KdQuery *query, int node, double *near, double *far);
	double (*misfit)(const double *shape,
					 int width); /* factors 1 / spread: the density is exp(-misfit^2 / 2) of its largest */

	/*
	 * Return the sum of the contributions of rows with these shapes, and set its
	 * derivative by the logarithm of the spread.  The sum is never above the true one,
	 * and at most the share `excess` of it and `tail` per row below.
	 */
	double (*sum)(const double *shapes, int count, int width, double spread, double *slope);
	/*
	 * The same if shapes are distances and each stands for a number of rows, which need not be whole; NULL for a
	 * model with other shapes.
	 */
	double (*weighted)(const double *distances, const double *rows, int count, double spread, double *slope);
	double (*exact)(const double *shapes, int count, int width, double spread);
	double excess;
	double tail;
	double most; /* the most that one other row can add */

	/* The spread if the rows were even, `count` of them being within `distance`. */
	double (*guess)(int ncolumns, double k, int count, double distance);
} NoiseModel;

/* Return the contribution of the other rows for a spread; set its derivative by the logarithm of the spread. */
typedef double (*SpreadSum)(void *state, double spread, double *slope);

/*
 * Return the spread for which such a sum, which grows with the spread, is from least to
 * most, and set *sum to the sum.
 */
extern double solve_spread(SpreadSum sum_of, void *state, double least, double most, double spread, double *sum);

extern const NoiseModel gaussian_noise;
extern const NoiseModel uniform_noise;

/* Return the model with a name; raise an error if there is none. */
extern const NoiseModel *noise_model(const char *name);

/* A census of the rows around a row by distance, for a model that has `weighted`. */
typedef struct Rings Rings;

/*
 * The contribution that is sought of the others: a lower bound from least to most, and
 * an upper bound of at most upper.
 */
typedef struct RingsTarget
{
	double least;
	double most;
	double upper;
	double guess; /* of the spread */
} RingsTarget;

extern Rings *rings_create(const KdTree *tree, const NoiseModel *model);
/* Start a census around another row; the query must outlive it. */
extern void rings_empty(Rings *rings, const KdQuery *query);
/* Add the rows of a node at a distance above 0: the census counts them once they are within reach. */
extern void rings_close(Rings *rings, int node, double near);
/* Return the spread, given further rows at count distances; NaN if the census is not fine enough. */
extern double rings_spread(Rings *rings, const RingsTarget *target, const double *distances, Size count);

/* The other rows as seen from one row. */
typedef struct NoiseCrowd NoiseCrowd;

extern NoiseCrowd *noise_crowd_create(const KdTree *tree, const NoiseModel *model);
/* Look at the rows around another row; return how many rows are equal to it, itself included. */
extern int noise_crowd_around(NoiseCrowd *crowd, const double *point, const double *factors);
/* Return the spread for k, in units of 1 / factor; NaN if no spread reaches it. */
extern double noise_crowd_spread(NoiseCrowd *crowd, double k, double guess);
/* Return the expected anonymity for a spread, too low by less than 1e-12. */
extern double noise_crowd_anonymity(NoiseCrowd *crowd, double spread);

#endif
