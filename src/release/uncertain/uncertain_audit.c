/*
 * uncertain_audit.c
 *		Measuring the anonymity of an uncertain release: by the formulas, and by an
 *		attack that links its rows to people.
 */
#include "base/kanon.h"

#include "release/uncertain/uncertain.h"

#include <math.h>

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/progress.h"
#include "release/common/arguments.h"
#include "release/common/kdtree.h"
#include "release/uncertain/uncertain_model.h"

PG_FUNCTION_INFO_V1(kanon_fit);
PG_FUNCTION_INFO_V1(kanon_expected_anonymity);
PG_FUNCTION_INFO_V1(kanon_link_attack);

/* Densities that together are below exp(-40) of another one are ignored beside it. */
#define NEGLIGIBLE_LOG 40

/* Return the log-likelihood of x (Definition 2.3): fit(z, spread, model, x). */
Datum
kanon_fit(PG_FUNCTION_ARGS)
{
	int ncolumns = 0;
	double *z = number_array(PG_GETARG_ARRAYTYPE_P(0), "z", 0, &ncolumns);
	double *spread = number_array(PG_GETARG_ARRAYTYPE_P(1), "spread", 0, &ncolumns);
	const NoiseModel *model = noise_model(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	double *x = number_array(PG_GETARG_ARRAYTYPE_P(3), "x", 0, &ncolumns);
	double fit = 0;

	uncertain_check(z, spread, ncolumns, 0);
	for (int i = 0; i < ncolumns; i++)
		fit += model->fit(z[i], spread[i], x[i]);
	PG_RETURN_FLOAT8(fit);
}

/* The rows of a release, of which the anonymity is measured. */
typedef struct Targets
{
	int count;
	int room;
	int32 *rows;	 /* in the source */
	double *spreads; /* by column */
} Targets;

static void
add_target(Targets *targets, int row, const UncertainRow *published)
{
	Size size = published->ncolumns * sizeof(double);

	if (targets->count == targets->room)
	{
		targets->room *= 2;
		targets->rows = repalloc_huge(targets->rows, (Size) targets->room * sizeof(int32));
		targets->spreads = repalloc_huge(targets->spreads, targets->room * size);
	}
	targets->rows[targets->count] = row;
	memcpy((char *) targets->spreads + targets->count * size, published->spread, size);
	targets->count++;
}

static void
read_targets(Targets *targets, const Individuals *individuals, const char *release)
{
	UncertainReader *reader = uncertain_open(release, "id", individuals->ncolumns);
	UncertainRow *published;

	targets->count = 0;
	targets->room = 1024;
	targets->rows = palloc(targets->room * sizeof(int32));
	targets->spreads = palloc_extended((Size) targets->room * individuals->ncolumns * sizeof(double), MCXT_ALLOC_HUGE);
	while ((published = uncertain_next(reader)) != NULL)
	{
		int row = individuals_find(individuals, published->text);

		if (row < 0)
			ereport(ERROR,
					(errcode(ERRCODE_FOREIGN_KEY_VIOLATION),
					 errmsg("the release has a row with identifier \"%s\", which the source does not have",
							published->text)));
		add_target(targets, row, published);
	}
	uncertain_close(reader);
}

/* Measure the anonymity of a release: expected_anonymity(source, id, columns, release, model) -> (id, anonymity). */
Datum
kanon_expected_anonymity(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	char *source = argument_text(fcinfo, 0, "source");
	char *id = argument_text(fcinfo, 1, "id");
	int ncolumns;
	char **columns = argument_names(fcinfo, 2, "columns", &ncolumns);
	char *release = argument_text(fcinfo, 3, "release");
	const NoiseModel *model = noise_model(argument_text(fcinfo, 4, "model"));
	Individuals *individuals;
	Targets targets;
	double *anonymity;

	kanon_materialize(fcinfo);
	progress_start(fcinfo);
	individuals = individuals_read(source, id, columns, ncolumns, NULL);
	read_targets(&targets, individuals, release);
	if (targets.count > 0)
	{
		anonymity = task_measure(individuals, model, targets.rows, targets.spreads, targets.count);
		for (int i = 0; i < targets.count; i++)
		{
			Datum values[2] = {CStringGetTextDatum(individuals->ids[targets.rows[i]]), Float8GetDatum(anonymity[i])};
			bool nulls[2] = {false, false};

			tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		}
	}
	progress_end();
	return (Datum) 0;
}

/* An attack on one published row with a list of people. */
typedef struct Attack
{
	KdTree tree; /* the people */
	int32 *positions;
	const NoiseModel *model;
	KdQuery query; /* from z, in units of the spread */
	double *factors;
	int width;
	double truth; /* misfit of the right one */
	double *shapes;
	int64 rank;	   /* people who fit at least as well as the right one */
	double others; /* the sum of the densities of all people but the right one, in units of the right one's */
} Attack;

/* Count rows from a position on, each so many times. */
static void
attack_rows(Attack *attack, int first, int count, int times)
{
	attack->model->shapes(&attack->tree, &attack->query, first, count, attack->shapes);
	for (int i = 0; i < count; i++)
	{
		double misfit = attack->model->misfit(attack->shapes + i * attack->width, attack->width);

		if (misfit <= attack->truth)
			attack->rank += times;
		if (!isinf(misfit))
			attack->others += times * exp((attack->truth - misfit) * (attack->truth + misfit) / 2);
	}
}

static void
attack_leaf(Attack *attack, int node)
{
	int first = attack->tree.first[node];
	int rows = attack->tree.end[node] - first;

	if (rows > KDTREE_LEAF)
		attack_rows(attack, first, 1, rows); /* they are all equal */
	else
		attack_rows(attack, first, rows, 1);
}

/*
 * Count the people of a node.  A node that fits so much worse than the right person
 * that all people together would not add exp(-40) to the sum is left out.
 */
static void
attack_node(Attack *attack, int node)
{
	const KdTree *tree = &attack->tree;
	double *near = attack->shapes;
	double *far = attack->shapes + attack->width;
	double misfit;

	attack->model->box(tree, &attack->query, node, near, far);
	misfit = attack->model->misfit(near, attack->width);
	if (misfit > attack->truth &&
		(isinf(misfit) || (misfit - attack->truth) * (misfit + attack->truth) / 2 > NEGLIGIBLE_LOG + log(tree->nrows)))
		return;
	if (tree->right[node] == 0)
	{
		attack_leaf(attack, node);
		return;
	}
	CHECK_FOR_INTERRUPTS();
	attack_node(attack, node + 1);
	attack_node(attack, tree->right[node]);
}

/* Link one published row; the right person is at a position of the tree. */
static void
attack_row(Attack *attack, const UncertainRow *published, int position)
{
	spread_factors(published->spread, published->ncolumns, attack->factors);
	attack->query.point = published->z;
	attack->query.factors = attack->factors;
	attack->model->shapes(&attack->tree, &attack->query, position, 1, attack->shapes);
	attack->truth = attack->model->misfit(attack->shapes, attack->width);
	attack->rank = 0;
	attack->others = 0;
	if (isinf(attack->truth))
	{
		/* All other people fit at least as well. */
		attack->rank = attack->tree.nrows;
		attack->others = INFINITY;
	}
	else
		attack_node(attack, 0);
}

/* Set up an attack: make a tree of the people. */
static void
prepare_attack(Attack *attack, const Individuals *people, const NoiseModel *model)
{
	void *space = palloc_extended(kdtree_size(people->nrows, people->ncolumns), MCXT_ALLOC_HUGE);

	progress_phase(PHASE_BUILDING, 0);
	kdtree_build(space, people->columns, people->nrows, people->ncolumns, individuals_factors(people));
	attack->tree = kdtree_view(space);
	attack->positions = kdtree_positions(&attack->tree);
	attack->model = model;
	attack->width = model->width(people->ncolumns);
	attack->factors = palloc(people->ncolumns * sizeof(double));
	attack->shapes = palloc(KDTREE_LEAF * attack->width * sizeof(double));
}

static void
attack_release(ReturnSetInfo *result, const Individuals *people, const NoiseModel *model, const char *release)
{
	Attack attack;
	UncertainReader *reader;
	UncertainRow *published;

	if (people->nrows > 0)
		prepare_attack(&attack, people, model);
	reader = uncertain_open(release, "id", people->ncolumns);
	progress_phase(PHASE_CHECKING, 0);
	while ((published = uncertain_next(reader)) != NULL)
	{
		int row = individuals_find(people, published->text);
		Datum values[3] = {CStringGetTextDatum(published->text)};
		bool nulls[3] = {false, row < 0, row < 0};

		if (row >= 0)
		{
			attack_row(&attack, published, attack.positions[row]);
			values[1] = Int64GetDatum(attack.rank);
			values[2] = Float8GetDatum(1 / attack.others);
		}
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		pfree(DatumGetPointer(values[0]));
		if (published->number % 1000 == 0)
			progress_done(published->number);
	}
	uncertain_close(reader);
}

/* Attack a release: link_attack(release, public, columns, model) -> (id, rank, posterior). */
Datum
kanon_link_attack(PG_FUNCTION_ARGS)
{
	char *release = argument_text(fcinfo, 0, "release");
	char *public = argument_text(fcinfo, 1, "public");
	int ncolumns;
	char **columns = argument_names(fcinfo, 2, "columns", &ncolumns);
	const NoiseModel *model = noise_model(argument_text(fcinfo, 3, "model"));
	Individuals *people;

	kanon_materialize(fcinfo);
	progress_start(fcinfo);
	people = individuals_read(public, "id", columns, ncolumns, NULL);
	attack_release((ReturnSetInfo *) fcinfo->resultinfo, people, model, release);
	progress_end();
	return (Datum) 0;
}
