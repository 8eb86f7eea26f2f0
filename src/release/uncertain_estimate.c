/*
 * uncertain_estimate.c
 *		What an uncertain release is good for: estimated counts and classification.
 */
#include "release/uncertain.h"

#include <float.h>
#include <math.h>

#include "lib/binaryheap.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(kanon_uncertain_count);
PG_FUNCTION_INFO_V1(kanon_uncertain_classify);

/* A range per column, and the range that values can have at all. */
typedef struct CountQuery
{
	const NoiseModel *model;
	int ncolumns;
	double *lo;
	double *hi;
	double *domain_lo; /* null: not known */
	double *domain_hi;
} CountQuery;

static void
check_ranges(const double *lo, const double *hi, int ncolumns, const char *what)
{
	for (int i = 0; i < ncolumns; i++)
	{
		if (lo[i] > hi[i])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the %s of column %d starts at %g and ends before, at %g", what, i + 1, lo[i], hi[i])));
	}
}

/*
 * The share of one value that lies in the range, given that it lies in the
 * domain.  A value that has next to nothing in the domain is at the edge of it:
 * there its distribution gathers, the farther away it is.
 */
static double
share_in_range(const CountQuery *query, int column, double z, double spread)
{
	double lo = query->lo[column];
	double hi = query->hi[column];
	double domain_lo;
	double domain_hi;
	double whole;

	if (!query->domain_lo)
		return query->model->mass(z, spread, lo, hi);
	domain_lo = query->domain_lo[column];
	domain_hi = query->domain_hi[column];
	whole = query->model->mass(z, spread, domain_lo, domain_hi);
	if (whole < DBL_MIN)
	{
		double edge = Min(Max(z, domain_lo), domain_hi);

		return lo <= edge && edge <= hi ? 1 : 0;
	}
	lo = Max(lo, domain_lo);
	hi = Min(hi, domain_hi);
	return lo <= hi ? query->model->mass(z, spread, lo, hi) / whole : 0;
}

/* Formula 19, or 21 where the domain is known. */
static double
sum_release(const CountQuery *query, const char *release)
{
	UncertainReader *reader = uncertain_open(release, NULL, query->ncolumns);
	UncertainRow *row;
	double sum = 0;

	while ((row = uncertain_next(reader)) != NULL)
	{
		double share = 1;

		for (int i = 0; i < query->ncolumns && share > 0; i++)
			share *= share_in_range(query, i, row->z[i], row->spread[i]);
		sum += share;
	}
	uncertain_close(reader);
	return sum;
}

/* uncertain_count(release, model, lo, hi, domain_lo, domain_hi) */
Datum
kanon_uncertain_count(PG_FUNCTION_ARGS)
{
	CountQuery query = {0};

	for (int i = 0; i < 4; i++)
	{
		if (PG_ARGISNULL(i))
			PG_RETURN_NULL();
	}
	query.model = noise_model(text_to_cstring(PG_GETARG_TEXT_PP(1)));
	query.lo = number_array(PG_GETARG_ARRAYTYPE_P(2), "lo", 0, &query.ncolumns);
	query.hi = number_array(PG_GETARG_ARRAYTYPE_P(3), "hi", 0, &query.ncolumns);
	check_ranges(query.lo, query.hi, query.ncolumns, "range");
	if (PG_ARGISNULL(4) != PG_ARGISNULL(5))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("domain_lo and domain_hi must be given together")));
	if (!PG_ARGISNULL(4))
	{
		query.domain_lo = number_array(PG_GETARG_ARRAYTYPE_P(4), "domain_lo", 0, &query.ncolumns);
		query.domain_hi = number_array(PG_GETARG_ARRAYTYPE_P(5), "domain_hi", 0, &query.ncolumns);
		check_ranges(query.domain_lo, query.domain_hi, query.ncolumns, "domain");
	}
	PG_RETURN_FLOAT8(sum_release(&query, text_to_cstring(PG_GETARG_TEXT_PP(0))));
}

/* A row among the best so far, by fit or by distance. */
typedef struct Candidate
{
	double rank; /* the smaller, the better */
	char *label;
} Candidate;

/* The q best of all that were offered. */
typedef struct Ballot
{
	binaryheap *worst_first;
	Candidate *best;
	int count;
	int wanted;
} Ballot;

/* Ties by label, so that the order of rows decides nothing. */
static int
compare_candidates(const Candidate *a, const Candidate *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp(a->label, b->label);
}

static int
compare_heap(Datum a, Datum b, void *arg)
{
	return compare_candidates((Candidate *) DatumGetPointer(a), (Candidate *) DatumGetPointer(b));
}

static int
compare_labels(const void *a, const void *b)
{
	return strcmp(((const Candidate *) a)->label, ((const Candidate *) b)->label);
}

static Ballot
start_ballot(int wanted)
{
	Ballot ballot = {binaryheap_allocate(wanted, compare_heap, NULL),
					 palloc_extended((Size) wanted * sizeof(Candidate), MCXT_ALLOC_HUGE), 0, wanted};

	return ballot;
}

static void
offer(Ballot *ballot, double rank, const char *label)
{
	Candidate candidate = {rank, unconstify(char *, label)};
	Candidate *slot;

	if (ballot->count < ballot->wanted)
	{
		slot = &ballot->best[ballot->count++];
		slot->rank = rank;
		slot->label = pstrdup(label);
		binaryheap_add(ballot->worst_first, PointerGetDatum(slot));
		return;
	}
	slot = (Candidate *) DatumGetPointer(binaryheap_first(ballot->worst_first));
	if (compare_candidates(&candidate, slot) >= 0)
		return;
	pfree(slot->label);
	slot->rank = rank;
	slot->label = pstrdup(label);
	binaryheap_replace_first(ballot->worst_first, PointerGetDatum(slot));
}

/*
 * The label with the largest sum of weights, the first one of equals.  By fit a
 * row weighs its density, as a share of the best one's; by distance they weigh
 * the same.
 */
static char *
elect(Ballot *ballot, bool by_fit)
{
	double best = INFINITY;
	double most = -1;
	double sum = 0;
	char *elected = NULL;

	for (int i = 0; i < ballot->count; i++)
		best = Min(best, ballot->best[i].rank);
	qsort(ballot->best, ballot->count, sizeof(Candidate), compare_labels);
	for (int i = 0; i < ballot->count; i++)
	{
		if (i == 0 || compare_labels(&ballot->best[i - 1], &ballot->best[i]) != 0)
			sum = 0;
		sum += by_fit ? exp(best - ballot->best[i].rank) : 1;
		if (sum > most)
		{
			most = sum;
			elected = ballot->best[i].label;
		}
	}
	return elected;
}

/* The q rows that fit the point best; none where no row can have it. */
static Ballot
best_fits(const char *release, const NoiseModel *model, const double *point, int ncolumns, int q)
{
	UncertainReader *reader = uncertain_open(release, "label", ncolumns);
	UncertainRow *row;
	Ballot ballot = start_ballot(q);

	while ((row = uncertain_next(reader)) != NULL)
	{
		double fit = 0;

		for (int i = 0; i < ncolumns; i++)
			fit += model->fit(row->z[i], row->spread[i], point[i]);
		if (!isinf(fit))
			offer(&ballot, -fit, row->text);
	}
	uncertain_close(reader);
	return ballot;
}

/* Standard deviations of z, column by column (Welford's method). */
static double *
release_deviations(const char *release, int ncolumns)
{
	UncertainReader *reader = uncertain_open(release, "label", ncolumns);
	UncertainRow *row;
	double *means = palloc0(ncolumns * sizeof(double));
	double *squares = palloc0(ncolumns * sizeof(double));
	int64 count = 0;

	while ((row = uncertain_next(reader)) != NULL)
	{
		count = row->number;
		for (int i = 0; i < ncolumns; i++)
		{
			double before = row->z[i] - means[i];

			means[i] += before / count;
			squares[i] += before * (row->z[i] - means[i]);
		}
	}
	uncertain_close(reader);
	for (int i = 0; i < ncolumns; i++)
		squares[i] = sqrt(squares[i] / Max(count, 1));
	return squares;
}

/* The q nearest rows, each column in units of its deviation. */
static Ballot
nearest_rows(const char *release, const double *point, int ncolumns, int q)
{
	double *deviations = release_deviations(release, ncolumns);
	UncertainReader *reader = uncertain_open(release, "label", ncolumns);
	UncertainRow *row;
	Ballot ballot = start_ballot(q);

	while ((row = uncertain_next(reader)) != NULL)
	{
		double distance = 0;

		for (int i = 0; i < ncolumns; i++)
		{
			double difference = deviations[i] > 0 ? (row->z[i] - point[i]) / deviations[i] : 0;

			distance += difference * difference;
		}
		offer(&ballot, distance, row->text);
	}
	uncertain_close(reader);
	return ballot;
}

/* uncertain_classify(release, model, point, q): section II.E */
Datum
kanon_uncertain_classify(PG_FUNCTION_ARGS)
{
	char *release = text_to_cstring(PG_GETARG_TEXT_PP(0));
	const NoiseModel *model = noise_model(text_to_cstring(PG_GETARG_TEXT_PP(1)));
	int ncolumns = 0;
	double *point = number_array(PG_GETARG_ARRAYTYPE_P(2), "point", 0, &ncolumns);
	int q = PG_GETARG_INT32(3);
	Ballot ballot;
	char *label;

	if (q < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("q is %d but must be at least 1", q)));
	ballot = best_fits(release, model, point, ncolumns, q);
	label = elect(&ballot, true);
	if (label == NULL)
	{
		ballot = nearest_rows(release, point, ncolumns, q);
		label = elect(&ballot, false);
	}
	if (label == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(label));
}
