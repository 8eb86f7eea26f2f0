/*
 * uncertain_model.h
 *		The kinds of noise of the uncertain model, and what they mean for a row
 *		among others.
 */
#ifndef KANON_RELEASE_UNCERTAIN_MODEL_H
#define KANON_RELEASE_UNCERTAIN_MODEL_H

#include "release/common/kdtree.h"
#include "release/common/noise.h"

/*
 * The factor of a column without spread: whatever differs there is out of
 * reach.  Finite, so that it times no difference is 0.
 */
#define NO_SPREAD_FACTOR 1e300

/*
 * A kind of noise.  What another row adds to the expected anonymity of a row,
 * and how well it fits, depend on how they differ: the model's shape of that is
 * `width` doubles, one (their distance) or one per column, not negative; a row
 * whose shape is smaller everywhere adds at least as much and fits at least as
 * well.
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
	double (*misfit)(const double *shape, int width); /* factors 1 / spread: the density is exp(-misfit^2 / 2) of its largest */

	/*
	 * What rows with these shapes add, never more than the truth, of which at
	 * most the share `excess` and `tail` per row are missing; and its derivative
	 * by the logarithm of the spread.
	 */
	double (*sum)(const double *shapes, int count, int width, double spread, double *slope);
	/*
	 * The same where shapes are distances and each stands for a number of rows, not necessarily whole; null:
	 * they are not.
	 */
	double (*weighted)(const double *distances, const double *rows, int count, double spread, double *slope);
	double (*exact)(const double *shapes, int count, int width, double spread);
	double excess;
	double tail;
	double most; /* the most that one other row can add */

	/* The spread if the rows were even, `count` of them being within `distance`. */
	double (*guess)(int ncolumns, double k, int count, double distance);
} NoiseModel;

/* What others add for a spread, and its derivative by the logarithm of the spread. */
typedef double (*SpreadSum)(void *whose, double spread, double *slope);

/* The spread for which such a sum, which grows with it, is between least and most; *sum gets what it is. */
extern double solve_spread(SpreadSum sum_of, void *whose, double least, double most, double spread, double *sum);

extern const NoiseModel gaussian_noise;
extern const NoiseModel uniform_noise;

/* The model of that name, or an error. */
extern const NoiseModel *noise_model(const char *name);

/* A census of the rows around a row by distance, for a model that has `weighted`. */
typedef struct Rings Rings;

/* What the others have to add: their lower bound from least to most, their upper bound at most upper. */
typedef struct RingsTarget
{
	double least;
	double most;
	double upper;
	double guess; /* of the spread */
} RingsTarget;

extern Rings *rings_create(const KdTree *tree, const NoiseModel *model);
/* Turns to another row; the query must stay. */
extern void rings_empty(Rings *rings, const KdQuery *query);
/* Rows to count where they are within reach: those of a node whose nearest point is so far, and not 0. */
extern void rings_close(Rings *rings, int node, double near);
/* The spread, where count other rows are at these distances besides; NaN where the census is not fine enough. */
extern double rings_spread(Rings *rings, const RingsTarget *target, const double *distances, Size count);

/* What is around a row. */
typedef struct NoiseCrowd NoiseCrowd;

extern NoiseCrowd *noise_crowd_create(const KdTree *tree, const NoiseModel *model);
/* Turns to a row; returns how many rows are equal to it, itself included. */
extern int noise_crowd_around(NoiseCrowd *crowd, const double *point, const double *factors);
/* The spread, in units of 1 / factor, for k; NaN where no spread reaches it. */
extern double noise_crowd_spread(NoiseCrowd *crowd, double k, double guess);
/* The expected anonymity for a spread, short of it by less than 1e-12. */
extern double noise_crowd_anonymity(NoiseCrowd *crowd, double spread);

#endif
