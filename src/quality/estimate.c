/*
 * estimate.c
 *		The aggregate kanon.estimate_count: an estimate of how many rows satisfy a
 *		condition, from the share of each row that may.
 *
 * A row whose published value overlaps the condition by a share p satisfies it with
 * probability p.  The estimate is the sum of these probabilities, and its variance is that
 * of as many independent trials.  The bounds are certain: below, the rows that lie within
 * the condition as a whole; above, the rows that touch it.
 */

#include "base/kanon.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"

PG_FUNCTION_INFO_V1(kanon_estimate_add);
PG_FUNCTION_INFO_V1(kanon_estimate_combine);
PG_FUNCTION_INFO_V1(kanon_estimate_final);

/* The numbers of a state, which is an array of float8. */
enum State
{
	STATE_SUM,		/* of the shares */
	STATE_VARIANCE, /* of that sum */
	STATE_SURE,		/* rows with share 1 */
	STATE_POSSIBLE, /* rows with a share above 0 */
	STATE_ROWS,		/* all of them */
	STATE_UNKNOWN,	/* rows without a known share */
	STATE_SIZE
};

/* Standard errors on either side of an interval that holds the true number in 95 of 100 cases. */
#define CONFIDENCE 1.959963984540054

/*
 * Return the numbers of a state, to be changed in place.  Raise an error outside an
 * aggregate, where the array belongs to the caller.
 */
static float8 *
state_of(FunctionCallInfo fcinfo, int argument)
{
	ArrayType *array;

	if (!AggCheckCallContext(fcinfo, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this function is for the aggregate %s.estimate_count", KANON_SCHEMA)));
	array = PG_ARGISNULL(argument) ? construct_empty_array(FLOAT8OID) : PG_GETARG_ARRAYTYPE_P(argument);
	if (ARR_NDIM(array) != 1 || ARR_DIMS(array)[0] != STATE_SIZE || ARR_HASNULL(array) ||
		ARR_ELEMTYPE(array) != FLOAT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the state of estimate_count must have %d numbers", STATE_SIZE)));
	return (float8 *) ARR_DATA_PTR(array);
}

/* Add a row to a state: estimate_add(state, share). */
Datum
kanon_estimate_add(PG_FUNCTION_ARGS)
{
	float8 *state = state_of(fcinfo, 0);
	float8 share;

	state[STATE_ROWS]++;
	if (PG_ARGISNULL(1))
	{
		state[STATE_UNKNOWN]++;
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	share = PG_GETARG_FLOAT8(1);
	if (!(share >= 0 && share <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("%g is not a share from 0 to 1", share),
				 errhint("Give a coverage, or a product of coverages.")));
	state[STATE_SUM] += share;
	state[STATE_VARIANCE] += share * (1 - share);
	state[STATE_SURE] += share == 1;
	state[STATE_POSSIBLE] += share > 0;
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* Add the state of a parallel worker to another: estimate_combine(state, state). */
Datum
kanon_estimate_combine(PG_FUNCTION_ARGS)
{
	float8 *state = state_of(fcinfo, 0);
	float8 *other = state_of(fcinfo, 1);

	for (int i = 0; i < STATE_SIZE; i++)
		state[i] += other[i];
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/*
 * Return the estimate: estimate_final(state) -> (estimate, error, low, high).
 *
 * Rows of unknown share count with the average share of the others.  Nothing says that
 * they resemble the others, so the error allows for all of them to deviate in one
 * direction.
 */
Datum
kanon_estimate_final(PG_FUNCTION_ARGS)
{
	float8 *state = state_of(fcinfo, 0);
	float8 known = state[STATE_ROWS] - state[STATE_UNKNOWN];
	float8 share = known > 0 ? state[STATE_SUM] / known : 0.5;
	TupleDesc desc;
	Datum values[4];
	bool nulls[4] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "estimate_final must return a row");
	values[0] = Float8GetDatum(state[STATE_SUM] + state[STATE_UNKNOWN] * share);
	values[1] = Float8GetDatum(CONFIDENCE * sqrt(state[STATE_VARIANCE]) + state[STATE_UNKNOWN] * Max(share, 1 - share));
	values[2] = Int64GetDatum((int64) state[STATE_SURE]);
	values[3] = Int64GetDatum((int64) (state[STATE_POSSIBLE] + state[STATE_UNKNOWN]));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}
