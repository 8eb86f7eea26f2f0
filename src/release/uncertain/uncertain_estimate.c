/*
 * uncertain_estimate.c
 *		Using an uncertain release: estimated counts and classification.
 */
#include "base/kanon.h"

#include "release/uncertain/uncertain.h"

#include <float.h>
#include <math.h>

#include "lib/binaryheap.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "release/uncertain/uncertain_model.h"

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
 * Return the share of one value that lies in the range, given that it lies in the
 * domain.  A distribution with next to no mass in the domain counts as a value at the
 * nearest edge: the farther away it is, the more its part in the domain gathers there.
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

/* Return the estimated count: formula 19, or 21 where the domain is known. */
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

/* Estimate a count: uncertain_count(release, model, lo, hi, domain_lo, domain_hi). */
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

/* The q best rows of a release so far. */
typedef struct Ballot
{
	Candidate *best;
	int count;
	int room;
	int wanted;
	binaryheap *worst_first; /* null until there are as many as wanted */
} Ballot;

/* Order candidates by rank; ties go by label, so that the order of rows decides nothing. */
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
	Ballot ballot = {.room = Min(wanted, 64), .wanted = wanted};

	ballot.best = palloc(ballot.room * sizeof(Candidate));
	return ballot;
}

static void
add_candidate(Ballot *ballot, double rank, const char *label)
{
	if (ballot->count == ballot->room)
	{
		ballot->room = ballot->room > ballot->wanted / 2 ? ballot->wanted : ballot->room * 2;
		ballot->best = repalloc_huge(ballot->best, ballot->room * sizeof(Candidate));
	}
	ballot->best[ballot->count].rank = rank;
	ballot->best[ballot->count++].label = pstrdup(label);
}

static void
make_heap(Ballot *ballot)
{
	ballot->worst_first = binaryheap_allocate(ballot->count, compare_heap, NULL);
	for (int i = 0; i < ballot->count; i++)
		binaryheap_add_unordered(ballot->worst_first, PointerGetDatum(&ballot->best[i]));
	binaryheap_build(ballot->worst_first);
}

static void
offer(Ballot *ballot, double rank, const char *label)
{
	Candidate candidate = {rank, unconstify(char *, label)};
	Candidate *worst;

	if (ballot->count < ballot->wanted)
	{
		add_candidate(ballot, rank, label);
		return;
	}
	if (!ballot->worst_first)
		make_heap(ballot);
	worst = (Candidate *) DatumGetPointer(binaryheap_first(ballot->worst_first));
	if (compare_candidates(&candidate, worst) >= 0)
		return;
	pfree(worst->label);
	worst->rank = rank;
	worst->label = pstrdup(label);
	binaryheap_replace_first(ballot->worst_first, PointerGetDatum(worst));
}

/*
 * Return the label with the largest sum of weights, the first one of equals.  By fit, the
 * weight of a row is its density, as a share of the best row's; by distance, all rows
 * weigh the same.
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

/* Return the standard deviations of z, column by column (Welford's method). */
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

/* A point to classify, and how rows are ranked for it. */
typedef struct Classifier
{
	int ncolumns;
	double *point;
	const NoiseModel *model; /* by fit */
	double *deviations;		 /* by distance, in units of these */
} Classifier;

/* Rank a row by fit; the rank is infinite if the point cannot be the row's true value. */
static double
rank_by_fit(const Classifier *classifier, const UncertainRow *row)
{
	double fit = 0;

	for (int i = 0; i < classifier->ncolumns; i++)
		fit += classifier->model->fit(row->z[i], row->spread[i], classifier->point[i]);
	return -fit;
}

static double
rank_by_distance(const Classifier *classifier, const UncertainRow *row)
{
	double distance = 0;

	for (int i = 0; i < classifier->ncolumns; i++)
	{
		double deviation = classifier->deviations[i];
		double difference = deviation > 0 ? (row->z[i] - classifier->point[i]) / deviation : 0;

		distance += difference * difference;
	}
	return distance;
}

/* Return the q rows with the smallest ranks; none if all ranks are infinite. */
static Ballot
best_rows(const Classifier *classifier, const char *release, int q,
		  double (*rank_row)(const Classifier *classifier, const UncertainRow *row))
{
	UncertainReader *reader = uncertain_open(release, "label", classifier->ncolumns);
	UncertainRow *row;
	Ballot ballot = start_ballot(q);

	while ((row = uncertain_next(reader)) != NULL)
	{
		double rank = rank_row(classifier, row);

		if (!isinf(rank))
			offer(&ballot, rank, row->text);
	}
	uncertain_close(reader);
	return ballot;
}

static void
check_point(const double *point, int ncolumns)
{
	for (int i = 0; i < ncolumns; i++)
	{
		if (isinf(point[i]))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("point is %g in column %d but must be finite", point[i], i + 1)));
	}
}

/* Classify a point (section II.E): uncertain_classify(release, model, point, q). */
Datum
kanon_uncertain_classify(PG_FUNCTION_ARGS)
{
	char *release = text_to_cstring(PG_GETARG_TEXT_PP(0));
	const NoiseModel *model = noise_model(text_to_cstring(PG_GETARG_TEXT_PP(1)));
	Classifier classifier = {.model = model};
	int q = PG_GETARG_INT32(3);
	Ballot ballot;
	char *label;

	classifier.point = number_array(PG_GETARG_ARRAYTYPE_P(2), "point", 0, &classifier.ncolumns);
	check_point(classifier.point, classifier.ncolumns);
	if (q < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("q is %d but must be at least 1", q)));
	ballot = best_rows(&classifier, release, q, rank_by_fit);
	label = elect(&ballot, true);
	if (label == NULL)
	{
		classifier.deviations = release_deviations(release, classifier.ncolumns);
		ballot = best_rows(&classifier, release, q, rank_by_distance);
		label = elect(&ballot, false);
	}
	if (label == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(label));
}
