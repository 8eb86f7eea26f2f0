/*
 * uncertain_release.c
 *		kanon.uncertain: publishing each row as a value and the spread of its noise.
 */
#include "base/kanon.h"

#include "release/uncertain/uncertain.h"

#include <math.h>

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "base/progress.h"
#include "release/common/arguments.h"
#include "release/common/noise.h"
#include "release/common/unsort.h"
#include "release/uncertain/uncertain_model.h"

PG_FUNCTION_INFO_V1(kanon_uncertain);

/* Return each row's k: from the column of k or, if there is none or it is NULL, the k of all rows. */
static double *
k_of_rows(const Individuals *individuals, double k)
{
	double *result = palloc_extended(Max(individuals->nrows, 1) * sizeof(double), MCXT_ALLOC_HUGE);

	if (!isnan(k) || !individuals->k)
		uncertain_check_k(k, individuals->nrows, NULL);
	for (int row = 0; row < individuals->nrows; row++)
	{
		bool has_own = individuals->k && !isnan(individuals->k[row]);

		result[row] = has_own ? individuals->k[row] : k;
		if (isnan(result[row]))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("the row with identifier \"%s\" has no k of its own, and k is null",
							individuals->ids[row])));
		uncertain_check_k(result[row], individuals->nrows, has_own ? individuals->ids[row] : NULL);
	}
	return result;
}

static bool
rows_are_equal(const Individuals *individuals, int a, int b)
{
	for (int column = 0; column < individuals->ncolumns; column++)
	{
		if (individuals->columns[column][a] != individuals->columns[column][b])
			return false;
	}
	return true;
}

/* Raise an error for a row that no spread can give its k. */
static void
refuse_unreachable(const Individuals *individuals, const NoiseModel *model, double k, int row)
{
	int equal = 0;

	for (int other = 0; other < individuals->nrows; other++)
		equal += rows_are_equal(individuals, row, other);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("k is %.15g, which the %s model cannot reach for the row with identifier \"%s\"", k, model->name,
					individuals->ids[row]),
			 errdetail("However large the noise, each of the %d rows that differ from it counts less than %g, so that k must be less than %.15g.",
					   individuals->nrows - equal, model->most, equal + model->most * (individuals->nrows - equal)),
			 model == &gaussian_noise ? errhint("Choose a lower k, or the uniform model.")
									  : errhint("Choose a lower k.")));
}

static void
put_rows(ReturnSetInfo *result, const Individuals *individuals, const NoiseModel *model, const double *spreads,
		 NoiseSource *noise)
{
	double *z = palloc(individuals->ncolumns * sizeof(double));
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon uncertain output", ALLOCSET_DEFAULT_SIZES);

	progress_phase(PHASE_WRITING, individuals->nrows);
	for (int row = 0; row < individuals->nrows; row++)
	{
		const double *spread = spreads + (Size) row * individuals->ncolumns;
		MemoryContext old = MemoryContextSwitchTo(work);
		Datum values[3];
		bool nulls[3] = {false, false, false};

		CHECK_FOR_INTERRUPTS();
		for (int column = 0; column < individuals->ncolumns; column++)
		{
			double x = individuals->columns[column][row];

			z[column] = spread[column] > 0 ? model->draw(noise, x, spread[column]) : x;
		}
		values[0] = CStringGetTextDatum(individuals->ids[row]);
		values[1] = make_number_array(z, individuals->ncolumns);
		values[2] = make_number_array(spread, individuals->ncolumns);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		MemoryContextSwitchTo(old);
		MemoryContextReset(work);
		if (row % 10000 == 0)
			progress_done(row);
	}
}

/* Publish rows with noise: uncertain(source, id, columns, k, model, local, k_column, seed) -> (id, z, spread). */
Datum
kanon_uncertain(PG_FUNCTION_ARGS)
{
	char *source = argument_text(fcinfo, 0, "source");
	char *id = argument_text(fcinfo, 1, "id");
	int ncolumns;
	char **columns = argument_names(fcinfo, 2, "columns", &ncolumns);
	double k = PG_ARGISNULL(3) ? NAN : PG_GETARG_FLOAT8(3); /* NaN from now on: null */
	const NoiseModel *model = noise_model(argument_text(fcinfo, 4, "model"));
	bool local = !PG_ARGISNULL(5) && PG_GETARG_BOOL(5);
	char *k_column = PG_ARGISNULL(6) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(6));
	NoiseSource noise;
	Individuals *individuals;
	double *k_of;
	double *spreads;

	if (PG_ARGISNULL(3) && !k_column)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("k must not be null without k_column")));
	if (!PG_ARGISNULL(3) && isnan(k))
		uncertain_check_k(k, 1, NULL);
	kanon_materialize(fcinfo);
	noise_start(&noise, argument_seed(fcinfo, 7));
	progress_start(fcinfo);
	individuals = individuals_read(source, id, columns, ncolumns, k_column);
	k_of = k_of_rows(individuals, k);
	if (individuals->nrows > 0)
	{
		spreads = task_find_spreads(individuals, model, k_of, local);
		for (Size i = 0; i < (Size) individuals->nrows * individuals->ncolumns; i++)
		{
			if (isnan(spreads[i]))
				refuse_unreachable(individuals, model, k_of[i / individuals->ncolumns], i / individuals->ncolumns);
		}
		put_rows((ReturnSetInfo *) fcinfo->resultinfo, individuals, model, spreads, &noise);
	}
	release_unsort(fcinfo);
	progress_end();
	return (Datum) 0;
}
