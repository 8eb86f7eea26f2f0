/*
 * condense.c
 *		kanon.condense: condensation, the baseline of the uncertain model.
 *
 * Aggarwal and Yu, "A Condensation Approach to Privacy Preserving Data Mining"
 * (EDBT 2004).  Each group consists of k rows that are near to each other.  Only the
 * mean and the covariances of a group are kept, and artificial rows are drawn from
 * them: uniformly along each principal component, with its variance.
 */
#include "base/kanon.h"

#include <math.h>

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/progress.h"
#include "release/common/arguments.h"
#include "release/common/kdtree.h"
#include "release/common/noise.h"
#include "release/common/unsort.h"
#include "release/uncertain/uncertain.h"

PG_FUNCTION_INFO_V1(kanon_condense);

/* More than Jacobi's method ever needed. */
#define MOST_SWEEPS 100

typedef struct Condensation
{
	KdTree tree;
	KdRemoval *removal;
	double *factors; /* 1 / standard deviation, or 0 */
	int k;
	int ngroups;
	int32 *group_of; /* by position */
	NoiseSource noise;
} Condensation;

/* Return the positions of all rows in a random order. */
static int32 *
shuffle_positions(Condensation *state)
{
	int nrows = state->tree.nrows;
	int32 *order = palloc_extended(nrows * sizeof(int32), MCXT_ALLOC_HUGE);

	for (int i = 0; i < nrows; i++)
	{
		int other = noise_below(&state->noise, i + 1);

		order[i] = order[other];
		order[other] = i;
	}
	return order;
}

/* Make groups, each of a random row and the k - 1 nearest rows without a group. */
static void
make_groups(Condensation *state)
{
	KdTree *tree = &state->tree;
	int32 *order = shuffle_positions(state);
	KdNeighbour *members = palloc_extended(state->k * sizeof(KdNeighbour), MCXT_ALLOC_HUGE);
	double *point = palloc(tree->ncolumns * sizeof(double));
	KdQuery query = {point, state->factors};

	for (int i = 0; i < tree->nrows && state->removal->left[0] >= state->k; i++)
	{
		if (state->removal->gone[order[i]])
			continue;
		/* Itself first: among more than k equal rows it might not be one of the nearest. */
		kdtree_point(tree, order[i], point);
		kdtree_remove(tree, state->removal, order[i]);
		state->group_of[order[i]] = state->ngroups;
		(void) kdtree_nearest(tree, &query, state->removal, members, state->k - 1);
		for (int member = 0; member < state->k - 1; member++)
		{
			kdtree_remove(tree, state->removal, members[member].position);
			state->group_of[members[member].position] = state->ngroups;
		}
		state->ngroups++;
		progress_done(tree->nrows - state->removal->left[0]);
	}
	pfree(order);
	pfree(members);
}

/* A group of rows. */
typedef struct CondensedCluster
{
	int count;
	int32 *positions;
	double *mean; /* in the columns' own units */
} CondensedCluster;

static void
compute_mean(const Condensation *state, CondensedCluster *group)
{
	const KdTree *tree = &state->tree;

	for (int column = 0; column < tree->ncolumns; column++)
	{
		const double *values = tree->values + (Size) column * tree->nrows;
		double first = values[group->positions[0]];
		double sum = 0;

		/* From the first on, so that equal values have exactly that mean. */
		for (int i = 1; i < group->count; i++)
			sum += values[group->positions[i]] - first;
		group->mean[column] = first + sum / group->count;
	}
}

/* Return the rows of each group; members lie in one array, group by group. */
static CondensedCluster *
collect_groups(const Condensation *state)
{
	const KdTree *tree = &state->tree;
	CondensedCluster *groups = palloc_extended(state->ngroups * sizeof(CondensedCluster),
											   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	int32 *positions = palloc_extended(tree->nrows * sizeof(int32), MCXT_ALLOC_HUGE);
	double *means = palloc_extended((Size) state->ngroups * tree->ncolumns * sizeof(double), MCXT_ALLOC_HUGE);
	int used = 0;

	for (int position = 0; position < tree->nrows; position++)
	{
		if (state->group_of[position] >= 0)
			groups[state->group_of[position]].count++;
	}
	for (int i = 0; i < state->ngroups; i++)
	{
		groups[i].positions = positions + used;
		groups[i].mean = means + (Size) i * tree->ncolumns;
		used += groups[i].count;
		groups[i].count = 0;
	}
	for (int position = 0; position < tree->nrows; position++)
	{
		CondensedCluster *group;

		if (state->group_of[position] < 0)
			continue;
		group = &groups[state->group_of[position]];
		group->positions[group->count++] = position;
	}
	for (int i = 0; i < state->ngroups; i++)
		compute_mean(state, &groups[i]);
	return groups;
}

/* Let each of the fewer than k remaining rows join the group with the nearest mean. */
static void
place_leftovers(Condensation *state)
{
	const KdTree *tree = &state->tree;
	CondensedCluster *groups = collect_groups(state);

	for (int position = 0; position < tree->nrows; position++)
	{
		double least = INFINITY;

		if (state->group_of[position] >= 0)
			continue;
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < state->ngroups; i++)
		{
			KdQuery query = {groups[i].mean, state->factors};
			double distance;

			kdtree_distances(tree, &query, position, 1, &distance);
			if (distance < least)
			{
				least = distance;
				state->group_of[position] = i;
			}
		}
	}
}

/* Compute the covariances of a group's standardized columns. */
static void
measure_group(const Condensation *state, const CondensedCluster *group, double *covariance)
{
	const KdTree *tree = &state->tree;
	int d = tree->ncolumns;

	memset(covariance, 0, (Size) d * d * sizeof(double));
	for (int i = 0; i < group->count; i++)
	{
		for (int a = 0; a < d; a++)
		{
			double left = (tree->values[(Size) a * tree->nrows + group->positions[i]] - group->mean[a]) *
						  state->factors[a];

			for (int b = 0; b <= a; b++)
			{
				double right = (tree->values[(Size) b * tree->nrows + group->positions[i]] - group->mean[b]) *
							   state->factors[b];

				covariance[a * d + b] += left * right / group->count;
			}
		}
	}
	for (int a = 0; a < d; a++)
	{
		for (int b = 0; b < a; b++)
			covariance[b * d + a] = covariance[a * d + b];
	}
}

/* Rotate rows and columns p and q so that their covariance becomes 0. */
static void
rotate(double *matrix, double *vectors, int d, int p, int q)
{
	double theta = (matrix[q * d + q] - matrix[p * d + p]) / (2 * matrix[p * d + q]);
	double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + hypot(theta, 1));
	double c = 1 / hypot(t, 1);
	double s = t * c;

	for (int i = 0; i < d; i++)
	{
		double left = matrix[i * d + p];
		double right = matrix[i * d + q];

		matrix[i * d + p] = c * left - s * right;
		matrix[i * d + q] = s * left + c * right;
	}
	for (int i = 0; i < d; i++)
	{
		double left = matrix[p * d + i];
		double right = matrix[q * d + i];

		matrix[p * d + i] = c * left - s * right;
		matrix[q * d + i] = s * left + c * right;
		left = vectors[i * d + p];
		right = vectors[i * d + q];
		vectors[i * d + p] = c * left - s * right;
		vectors[i * d + q] = s * left + c * right;
	}
}

/* Make the matrix diagonal by Jacobi's method; its eigenvectors become the columns of vectors. */
static void
diagonalize(double *matrix, double *vectors, int d)
{
	double trace = 0;

	memset(vectors, 0, (Size) d * d * sizeof(double));
	for (int i = 0; i < d; i++)
	{
		vectors[i * d + i] = 1;
		trace += fabs(matrix[i * d + i]);
	}
	for (int sweep = 0; sweep < MOST_SWEEPS; sweep++)
	{
		double off = 0;

		for (int p = 0; p < d; p++)
		{
			for (int q = p + 1; q < d; q++)
			{
				off = Max(off, fabs(matrix[p * d + q]));
				if (fabs(matrix[p * d + q]) > trace * 1e-15)
					rotate(matrix, vectors, d, p, q);
			}
		}
		if (off <= trace * 1e-15)
			return;
	}
}

/* Draw as many artificial rows as the group has, z[column][row]. */
static void
draw_group(Condensation *state, const CondensedCluster *group, double **z, double *space)
{
	const KdTree *tree = &state->tree;
	int d = tree->ncolumns;
	double *covariance = space;
	double *vectors = space + (Size) d * d;

	measure_group(state, group, covariance);
	diagonalize(covariance, vectors, d);
	for (int i = 0; i < group->count; i++)
	{
		int row = tree->row[group->positions[i]];

		for (int column = 0; column < d; column++)
			z[column][row] = group->mean[column];
		for (int component = 0; component < d; component++)
		{
			/* Uniform numbers between -1/2 and 1/2 have the variance 1/12. */
			double step = (noise_uniform(&state->noise) - 0.5) *
						  sqrt(12 * Max(covariance[component * d + component], 0));

			for (int column = 0; column < d; column++)
			{
				if (state->factors[column] > 0)
					z[column][row] += step * vectors[column * d + component] / state->factors[column];
			}
		}
	}
}

static double **
condense(const Individuals *individuals, int k, int32 seed)
{
	Condensation state = {.k = k};
	void *space = palloc_extended(kdtree_size(individuals->nrows, individuals->ncolumns), MCXT_ALLOC_HUGE);
	double *work = palloc((Size) 2 * individuals->ncolumns * individuals->ncolumns * sizeof(double));
	double **z = palloc(individuals->ncolumns * sizeof(double *));
	CondensedCluster *groups;

	noise_start(&state.noise, seed);
	state.factors = individuals_factors(individuals);
	for (int i = 0; i < individuals->ncolumns; i++)
		z[i] = palloc_extended(individuals->nrows * sizeof(double), MCXT_ALLOC_HUGE);
	progress_phase(PHASE_BUILDING, 0);
	kdtree_build(space, individuals->columns, individuals->nrows, individuals->ncolumns, state.factors);
	state.tree = kdtree_view(space);
	state.removal = kdtree_start_removal(&state.tree);
	state.group_of = palloc_extended(individuals->nrows * sizeof(int32), MCXT_ALLOC_HUGE);
	memset(state.group_of, -1, individuals->nrows * sizeof(int32));

	progress_phase(PHASE_GROUPING, individuals->nrows);
	make_groups(&state);
	place_leftovers(&state);
	groups = collect_groups(&state);
	for (int i = 0; i < state.ngroups; i++)
	{
		CHECK_FOR_INTERRUPTS();
		draw_group(&state, &groups[i], z, work);
	}
	return z;
}

/* Publish artificial rows: condense(source, id, columns, k, seed) -> (id, z). */
Datum
kanon_condense(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	char *source = argument_text(fcinfo, 0, "source");
	char *id = argument_text(fcinfo, 1, "id");
	int ncolumns;
	char **columns = argument_names(fcinfo, 2, "columns", &ncolumns);
	int k = argument_int(fcinfo, 3, "k");
	Individuals *individuals;
	double **z;
	double *row_z;

	kanon_materialize(fcinfo);
	progress_start(fcinfo);
	individuals = individuals_read(source, id, columns, ncolumns, NULL);
	uncertain_check_k(k, individuals->nrows, NULL);
	z = condense(individuals, k, argument_seed(fcinfo, 4));
	row_z = palloc(individuals->ncolumns * sizeof(double));
	for (int row = 0; row < individuals->nrows; row++)
	{
		Datum values[2] = {CStringGetTextDatum(individuals->ids[row])};
		bool nulls[2] = {false, false};

		for (int i = 0; i < individuals->ncolumns; i++)
			row_z[i] = z[i][row];
		values[1] = make_number_array(row_z, individuals->ncolumns);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		pfree(DatumGetPointer(values[0]));
		pfree(DatumGetPointer(values[1]));
	}
	release_unsort(fcinfo);
	progress_end();
	return (Datum) 0;
}
