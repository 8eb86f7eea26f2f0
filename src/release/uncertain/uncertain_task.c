/*
 * uncertain_task.c
 *		The spreads, or the expected anonymity, of many rows on several cores.
 *
 * Rows do not depend on each other, so that workers take them in small runs from
 * a common counter.  All that they read and write is one block of memory, the
 * task, in dynamic shared memory where there are workers; the process that was
 * asked takes part.  The result for a row is the same in each process.
 */
#include "base/kanon.h"

#include "release/uncertain/uncertain.h"

#include <math.h>

#include "access/parallel.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "port/atomics.h"
#include "storage/shmem.h"
#include "utils/memutils.h"

#include "base/progress.h"
#include "release/common/kdtree.h"
#include "release/uncertain/uncertain_model.h"

#define TASK_KEY UINT64CONST(0x6b616e6f6e)
/* Rows taken at a time, and rows below which a worker is not worth its start. */
#define RUN_ROWS 32
#define ROWS_PER_WORKER 1000

/* A tenth of the average: see local_factors(). */
#define LEAST_LOCAL_SHARE 0.1
/* In standard deviations of the column: squares of large distances must not overflow. */
#define LEAST_LOCAL_DEVIATION 1e-60
/* Neighbours that the first guess is made from, where no more are needed. */
#define GUESS_NEIGHBOURS 64

typedef enum TaskKind
{
	TASK_FIND,	 /* spreads for given k */
	TASK_MEASURE /* expected anonymity for given spreads */
} TaskKind;

/* The arrays follow, each at the offset that is named for it. */
typedef struct UncertainTask
{
	TaskKind kind;
	bool uniform;
	bool local;
	int ncolumns;
	int nitems; /* rows to work on */
	int results_per_item;
	pg_atomic_uint32 next; /* the first item that no process has taken */
	Size size;
	Size positions; /* int32 by item; TASK_MEASURE */
	Size inputs;	/* doubles by item: k, or spreads by column */
	Size factors;	/* doubles by column: 1 / standard deviation; TASK_FIND */
	Size results;	/* doubles by item */
	Size tree;
} UncertainTask;

/* The state of one process that takes part in the work. */
typedef struct Hand
{
	UncertainTask *task;
	KdTree tree;
	const NoiseModel *model;
	NoiseCrowd *crowd;
	double *point;
	double *factors;
	KdNeighbour *neighbours;
	int room; /* of neighbours */

	/* The previous row; its point is still in the query. */
	double k;
	const double *result; /* null: there is none */
} Hand;

extern PGDLLEXPORT void kanon_uncertain_worker(dsm_segment *segment, shm_toc *toc);

#define TASK_ARRAY(task, type, array) ((type *) ((char *) (task) + (task)->array))

static Hand *
start_hand(UncertainTask *task)
{
	Hand *hand = palloc0(sizeof(Hand));

	hand->task = task;
	hand->tree = kdtree_view(TASK_ARRAY(task, char, tree));
	hand->model = task->uniform ? &uniform_noise : &gaussian_noise;
	hand->crowd = noise_crowd_create(&hand->tree, hand->model);
	hand->point = palloc(task->ncolumns * sizeof(double));
	hand->factors = palloc(task->ncolumns * sizeof(double));
	return hand;
}

/* Find the nearest rows, including this row and its equals; return how many there are. */
static int
find_neighbours(Hand *hand, const double *factors, int count)
{
	KdQuery query = {hand->point, factors};

	if (count > hand->room)
	{
		if (hand->neighbours)
			pfree(hand->neighbours);
		hand->neighbours = palloc_extended((Size) count * sizeof(KdNeighbour), MCXT_ALLOC_HUGE);
		hand->room = count;
	}
	return kdtree_nearest(&hand->tree, &query, NULL, hand->neighbours, count);
}

/* Return the deviation of the nearest neighbours in a column, in units of the column's standard deviation. */
static double
local_deviation(Hand *hand, int count, int column)
{
	const double *values = hand->tree.values + (Size) column * hand->tree.nrows;
	double factor = TASK_ARRAY(hand->task, double, factors)[column];
	double mean = 0;
	double squares = 0;

	for (int i = 0; i < count; i++)
		mean += (values[hand->neighbours[i].position] - hand->point[column]) * factor / count;
	for (int i = 0; i < count; i++)
	{
		double difference = (values[hand->neighbours[i].position] - hand->point[column]) * factor - mean;

		squares += difference * difference / count;
	}
	return sqrt(squares);
}

/*
 * Measure distances in units of the deviation of the row's nearest neighbours (section
 * II.C).  The row is one of them, so the deviation is 0 only if all are equal.  Where
 * they agree in a column, but not in all columns, a tenth of their average deviation is
 * taken: otherwise no row with another value there could ever be mistaken for this
 * one, and k might be out of reach.  Return the largest distance.
 */
static double
local_factors(Hand *hand, int count)
{
	const double *global = TASK_ARRAY(hand->task, double, factors);
	double *factors = hand->factors;
	double average = 0;
	double largest = 0;

	for (int column = 0; column < hand->task->ncolumns; column++)
	{
		factors[column] = local_deviation(hand, count, column);
		average += factors[column] * factors[column] / hand->task->ncolumns;
	}
	average = sqrt(average);
	for (int column = 0; column < hand->task->ncolumns; column++)
		factors[column] = global[column] /
						  Max(Max(factors[column], average * LEAST_LOCAL_SHARE), LEAST_LOCAL_DEVIATION);

	for (int i = 0; i < count; i++)
	{
		KdQuery query = {hand->point, factors};
		double square;

		kdtree_distances(&hand->tree, &query, hand->neighbours[i].position, 1, &square);
		largest = Max(largest, sqrt(square));
	}
	return largest;
}

/* Find the spread of the row at hand->point. */
static void
find_spread(Hand *hand, double k, double *result)
{
	UncertainTask *task = hand->task;
	const double *factors = TASK_ARRAY(task, double, factors);
	int wanted = task->local ? (int) ceil(k) : (int) Min(ceil(k), GUESS_NEIGHBOURS);
	double distance;
	double spread;
	int count;

	count = find_neighbours(hand, factors, wanted + 1);
	distance = hand->neighbours[count - 1].distance;
	if (task->local)
	{
		distance = local_factors(hand, count);
		factors = hand->factors;
	}
	if (noise_crowd_around(hand->crowd, hand->point, factors) >= k)
		spread = 0;
	else
		spread = noise_crowd_spread(hand->crowd, k, hand->model->guess(task->ncolumns, k, count - 1, distance));
	if (!task->local)
		*result = spread;
	for (int i = 0; task->local && i < task->ncolumns; i++)
		result[i] = factors[i] > 0 ? spread / factors[i] : 0;
}

/* Find the spread of a row.  Equal rows lie side by side in the tree, and with the same k they share one spread. */
static void
find_row(Hand *hand, int position)
{
	UncertainTask *task = hand->task;
	int row = hand->tree.row[position];
	double k = TASK_ARRAY(task, double, inputs)[row];
	double *result = TASK_ARRAY(task, double, results) + (Size) row * task->results_per_item;

	if (hand->result && hand->k == k && kdtree_equal(&hand->tree, position, hand->point))
		memcpy(result, hand->result, task->results_per_item * sizeof(double));
	else
	{
		kdtree_point(&hand->tree, position, hand->point);
		find_spread(hand, k, result);
	}
	hand->k = k;
	hand->result = result;
}

static void
measure_row(Hand *hand, int item)
{
	UncertainTask *task = hand->task;
	const double *spreads = TASK_ARRAY(task, double, inputs) + (Size) item * task->ncolumns;
	double *result = TASK_ARRAY(task, double, results) + item;

	kdtree_point(&hand->tree, TASK_ARRAY(task, int32, positions)[item], hand->point);
	spread_factors(spreads, task->ncolumns, hand->factors);
	(void) noise_crowd_around(hand->crowd, hand->point, hand->factors);
	*result = noise_crowd_anonymity(hand->crowd, 1);
}

/* Take runs of rows until none are left. */
static void
work_on(UncertainTask *task, bool report)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon uncertain rows", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Hand *hand = start_hand(task);
	uint32 first;

	while ((first = pg_atomic_fetch_add_u32(&task->next, RUN_ROWS)) < (uint32) task->nitems)
	{
		if (report)
			progress_done(first);
		for (int item = first; item < (int) Min(first + RUN_ROWS, (uint32) task->nitems); item++)
		{
			CHECK_FOR_INTERRUPTS();
			if (task->kind == TASK_FIND)
				find_row(hand, item);
			else
				measure_row(hand, item);
		}
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

void
kanon_uncertain_worker(dsm_segment *segment, shm_toc *toc)
{
	work_on(shm_toc_lookup(toc, TASK_KEY, false), false);
}

static Size
place_array(UncertainTask *layout, Size size)
{
	Size offset = layout->size;

	layout->size = add_size(layout->size, MAXALIGN(size));
	return offset;
}

/* Set the offsets of a task's arrays from its numbers of items, columns and results. */
static void
lay_out(UncertainTask *layout, int nrows)
{
	Size inputs_per_item = layout->kind == TASK_FIND ? 1 : layout->ncolumns;
	Size items = layout->nitems;

	layout->size = MAXALIGN(sizeof(UncertainTask));
	layout->positions = place_array(layout, layout->kind == TASK_FIND ? 0 : mul_size(items, sizeof(int32)));
	layout->inputs = place_array(layout, mul_size(mul_size(items, inputs_per_item), sizeof(double)));
	layout->factors = place_array(layout, layout->ncolumns * sizeof(double));
	layout->results = place_array(layout, mul_size(mul_size(items, layout->results_per_item), sizeof(double)));
	layout->tree = place_array(layout, kdtree_size(nrows, layout->ncolumns));
}

/* Return the number of workers: as many as a query would get, if there are enough rows for them. */
static int
count_workers(int nitems)
{
	if (IsInParallelMode() || IsParallelWorker())
		return 0;
	return Min(max_parallel_workers_per_gather, nitems / ROWS_PER_WORKER);
}

typedef struct Team
{
	ParallelContext *parallel; /* NULL: this process works alone */
	UncertainTask *task;
} Team;

/* Allocate the task where workers can see it. */
static Team
call_team(const UncertainTask *layout)
{
	Team team = {NULL, NULL};
	int nworkers = count_workers(layout->nitems);

	if (nworkers > 0)
	{
		EnterParallelMode();
		team.parallel = CreateParallelContext("kanon", "kanon_uncertain_worker", nworkers);
		shm_toc_estimate_chunk(&team.parallel->estimator, layout->size);
		shm_toc_estimate_keys(&team.parallel->estimator, 1);
		InitializeParallelDSM(team.parallel);
		team.task = shm_toc_allocate(team.parallel->toc, layout->size);
		shm_toc_insert(team.parallel->toc, TASK_KEY, team.task);
	}
	else
		team.task = palloc_extended(layout->size, MCXT_ALLOC_HUGE);
	*team.task = *layout;
	pg_atomic_init_u32(&team.task->next, 0);
	return team;
}

/* Work until all rows are done, and return the results. */
static double *
let_work(Team *team, ProgressPhase phase)
{
	UncertainTask *task = team->task;
	Size size = (Size) task->nitems * task->results_per_item * sizeof(double);
	double *results = palloc_extended(size, MCXT_ALLOC_HUGE);

	progress_phase(phase, task->nitems);
	if (team->parallel)
		LaunchParallelWorkers(team->parallel);
	work_on(task, true);
	if (team->parallel)
		WaitForParallelWorkersToFinish(team->parallel);
	memcpy(results, TASK_ARRAY(task, double, results), size);
	if (team->parallel)
	{
		DestroyParallelContext(team->parallel);
		ExitParallelMode();
	}
	else
		pfree(task);
	return results;
}

/* Return one spread per row and column, in the column's own units, from one spread per row. */
static double *
in_units_of(double *spreads, const double *deviations, int nrows, int ncolumns)
{
	double *results = palloc_extended((Size) nrows * ncolumns * sizeof(double), MCXT_ALLOC_HUGE);

	for (int row = 0; row < nrows; row++)
	{
		for (int column = 0; column < ncolumns; column++)
			results[(Size) row * ncolumns + column] = spreads[row] * deviations[column];
	}
	pfree(spreads);
	return results;
}

/* Return a team whose task holds the tree and the inputs. */
static Team
prepare(UncertainTask *layout, const Individuals *individuals, const double *inputs)
{
	double *factors = individuals_factors(individuals);
	Team team;

	lay_out(layout, individuals->nrows);
	progress_phase(PHASE_BUILDING, 0);
	team = call_team(layout);
	memcpy(TASK_ARRAY(team.task, double, factors), factors, individuals->ncolumns * sizeof(double));
	memcpy(TASK_ARRAY(team.task, double, inputs), inputs, layout->factors - layout->inputs);
	kdtree_build(TASK_ARRAY(team.task, char, tree), individuals->columns, individuals->nrows, individuals->ncolumns,
				 factors);
	return team;
}

double *
task_find_spreads(const Individuals *individuals, const NoiseModel *model, const double *k, bool local)
{
	UncertainTask layout = {.kind = TASK_FIND,
							.uniform = model == &uniform_noise,
							.local = local,
							.ncolumns = individuals->ncolumns,
							.nitems = individuals->nrows,
							.results_per_item = local ? individuals->ncolumns : 1};
	Team team = prepare(&layout, individuals, k);
	double *results = let_work(&team, PHASE_GROUPING);

	return local ? results
				 : in_units_of(results, individuals_deviations(individuals), individuals->nrows, individuals->ncolumns);
}

double *
task_measure(const Individuals *individuals, const NoiseModel *model, const int32 *rows, const double *spreads,
			 int count)
{
	UncertainTask layout = {.kind = TASK_MEASURE,
							.uniform = model == &uniform_noise,
							.ncolumns = individuals->ncolumns,
							.nitems = count,
							.results_per_item = 1};
	Team team = prepare(&layout, individuals, spreads);
	KdTree tree = kdtree_view(TASK_ARRAY(team.task, char, tree));
	int32 *positions = kdtree_positions(&tree);
	int32 *targets = TASK_ARRAY(team.task, int32, positions);

	for (int item = 0; item < count; item++)
		targets[item] = positions[rows[item]];
	pfree(positions);
	return let_work(&team, PHASE_CHECKING);
}
