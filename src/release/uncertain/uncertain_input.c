/*
 * uncertain_input.c
 *		Reading the arguments of the functions of the uncertain model: sources,
 *		releases, arrays.
 */
#include "base/kanon.h"

#include "release/uncertain/uncertain.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/progress.h"
#include "release/common/input.h"
#include "release/uncertain/uncertain_model.h"

#define FETCH_ROWS 1000
/* Identifiers that an error message lists. */
#define LISTED_IDS 10

/* So that neither a square nor one over a deviation is lost. */
#define MOST_MAGNITUDE 1e150
#define LEAST_DEVIATION 1e-150

/* Rows by identifier. */
#define ST_SORT sort_rows
#define ST_ELEMENT_TYPE int32
#define ST_COMPARE(a, b, ids) strcmp((ids)[*(a)], (ids)[*(b)])
#define ST_COMPARE_ARG_TYPE const char *
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

const NoiseModel *
noise_model(const char *name)
{
	if (strcmp(name, gaussian_noise.name) == 0)
		return &gaussian_noise;
	if (strcmp(name, uniform_noise.name) == 0)
		return &uniform_noise;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("there is no uncertain model \"%s\"", name),
			 errhint("The models are gaussian and uniform.")));
}

void
uncertain_check_k(double k, int nrows, const char *id)
{
	if (k >= 1 && k <= nrows)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 k > nrows ? errmsg("k is %.15g but the source has only %d rows", k, nrows)
					   : errmsg("k is %.15g but must be at least 1", k),
			 id ? errdetail("The row has the identifier \"%s\".", id) : 0));
}

/* Return the name of an array for an error message. */
static const char *
array_name(const char *name, int64 row)
{
	return row == 0 ? name : psprintf("%s of row " INT64_FORMAT " of the release", name, row);
}

double *
number_array(ArrayType *array, const char *name, int64 row, int *expected)
{
	int count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	double *values = (double *) ARR_DATA_PTR(array);

	if (ARR_NDIM(array) > 1 || count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("%s must have one dimension and at least one value", array_name(name, row))));
	if (*expected != 0 && count != *expected)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("%s has %d values where %d are needed", array_name(name, row), count, *expected)));
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not have null values", array_name(name, row))));
	for (int i = 0; i < count; i++)
	{
		if (isnan(values[i]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s must not have NaN among its values", array_name(name, row))));
	}
	*expected = count;
	return values;
}

Datum
make_number_array(const double *values, int count)
{
	Datum *datums = palloc(count * sizeof(Datum));

	for (int i = 0; i < count; i++)
		datums[i] = Float8GetDatum(values[i]);
	return PointerGetDatum(construct_array(datums, count, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/*
 * Points.
 */

static ReleaseColumn *
numeric_column(ReleaseSource *source, const char *name)
{
	ReleaseColumn *column = source->columns;

	while (strcmp(column->name, name) != 0)
		column++;
	if (column->kind != COLUMN_NUMBER)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" has type %s, which is not a number", name, format_type_be(column->type)),
				 errhint("The uncertain model adds noise to numbers; leave the column out or give it as a number.")));
	return column;
}

/*
 * Return the rows of a source in the order of their identifiers, so that no result
 * depends on their order in the heap.
 */
static int32 *
order_by_id(ReleaseSource *source)
{
	int32 *order = palloc_extended(Max(source->nrows, 1) * sizeof(int32), MCXT_ALLOC_HUGE);

	for (int row = 0; row < source->nrows; row++)
		order[row] = row;
	sort_rows(order, source->nrows, source->ids);
	return order;
}

static double *
take_column(const ReleaseColumn *column, const int32 *order, int nrows)
{
	double *values = palloc_extended(Max(nrows, 1) * sizeof(double), MCXT_ALLOC_HUGE);

	for (int row = 0; row < nrows; row++)
		values[row] = column->values[order[row]] + 0.0; /* -0 equals 0 and must not look different */
	return values;
}

/* Raise an error if a column has NULLs; it names the rows. */
static void
refuse_nulls(const Individuals *individuals, int column)
{
	StringInfoData list;
	int count = 0;

	initStringInfo(&list);
	for (int row = 0; row < individuals->nrows; row++)
	{
		if (isnan(individuals->columns[column][row]) && count++ < LISTED_IDS)
			appendStringInfo(&list, "%s\"%s\"", count > 1 ? ", " : "", individuals->ids[row]);
	}
	if (count == 0)
		return;
	if (count > LISTED_IDS)
		appendStringInfo(&list, " and %d more", count - LISTED_IDS);
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("column \"%s\" is null in %d of %d rows", individuals->names[column], count, individuals->nrows),
			 errdetail("Identifiers of these rows: %s.", list.data),
			 errhint("Leave these rows out of the source, or put numbers there.")));
}

static void
refuse_giants(const Individuals *individuals, int column)
{
	for (int row = 0; row < individuals->nrows; row++)
	{
		if (fabs(individuals->columns[column][row]) > MOST_MAGNITUDE)
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("column \"%s\" holds %g, which is beyond %g", individuals->names[column],
							individuals->columns[column][row], MOST_MAGNITUDE),
					 errdetail("It is in the row with identifier \"%s\".", individuals->ids[row])));
	}
}

Individuals *
individuals_read(const char *source, const char *id, char **names, int count, const char *k_column)
{
	Individuals *individuals = palloc0(sizeof(Individuals));
	ReleaseSource *rows = release_open(NULL);
	int32 *order;
	bool k_apart = k_column != NULL;

	individuals->names = names;
	individuals->ncolumns = count;
	for (int i = 0; i < individuals->ncolumns; i++)
	{
		release_add_column(rows, individuals->names[i], NULL, false);
		k_apart = k_apart && strcmp(individuals->names[i], k_column) != 0;
	}
	if (k_apart)
		release_add_column(rows, k_column, NULL, false);
	progress_phase(PHASE_READING, 0);
	release_read(rows, source, id);

	individuals->nrows = rows->nrows;
	order = order_by_id(rows);
	individuals->ids = palloc_extended(Max(rows->nrows, 1) * sizeof(char *), MCXT_ALLOC_HUGE);
	for (int row = 0; row < rows->nrows; row++)
		individuals->ids[row] = rows->ids[order[row]];
	individuals->columns = palloc(individuals->ncolumns * sizeof(double *));
	for (int i = 0; i < individuals->ncolumns; i++)
	{
		individuals->columns[i] = take_column(numeric_column(rows, individuals->names[i]), order, rows->nrows);
		refuse_nulls(individuals, i);
		refuse_giants(individuals, i);
	}
	if (k_column)
		individuals->k = take_column(numeric_column(rows, k_column), order, rows->nrows);
	return individuals;
}

int
individuals_find(const Individuals *individuals, const char *id)
{
	int lo = 0;
	int hi = individuals->nrows;

	while (lo < hi)
	{
		int middle = lo + (hi - lo) / 2;
		int order = strcmp(individuals->ids[middle], id);

		if (order == 0)
			return middle;
		if (order < 0)
			lo = middle + 1;
		else
			hi = middle;
	}
	return -1;
}

static double
deviation(const double *values, int nrows)
{
	double lo = values[0];
	double hi = values[0];
	double mean = 0;
	double squares = 0;

	for (int row = 1; row < nrows; row++)
	{
		lo = Min(lo, values[row]);
		hi = Max(hi, values[row]);
	}
	if (lo == hi)
		return 0;
	/* As shares of the range, so that no square is too large or too small. */
	for (int row = 0; row < nrows; row++)
		mean += (values[row] - lo) / (hi - lo);
	mean /= nrows;
	for (int row = 0; row < nrows; row++)
	{
		double share = (values[row] - lo) / (hi - lo) - mean;

		squares += share * share;
	}
	return (hi - lo) * sqrt(squares / nrows);
}

double *
individuals_deviations(const Individuals *individuals)
{
	double *deviations = palloc(individuals->ncolumns * sizeof(double));

	for (int column = 0; column < individuals->ncolumns; column++)
	{
		deviations[column] = individuals->nrows > 0 ? deviation(individuals->columns[column], individuals->nrows) : 0;
		if (deviations[column] != 0 && deviations[column] < LEAST_DEVIATION)
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("the values of column \"%s\" differ too little", individuals->names[column]),
					 errdetail("Their standard deviation is %g, and must be 0 or at least %g.", deviations[column],
							   LEAST_DEVIATION)));
	}
	return deviations;
}

double *
individuals_factors(const Individuals *individuals)
{
	double *factors = individuals_deviations(individuals);

	for (int column = 0; column < individuals->ncolumns; column++)
		factors[column] = factors[column] > 0 ? 1 / factors[column] : 0;
	return factors;
}

/*
 * Releases.
 */

void
spread_factors(const double *spread, int ncolumns, double *factors)
{
	for (int column = 0; column < ncolumns; column++)
		factors[column] = spread[column] > 0 ? Min(1 / spread[column], NO_SPREAD_FACTOR) : NO_SPREAD_FACTOR;
}

struct UncertainReader
{
	UncertainRow row;
	const char *with;
	Portal portal;
	SPITupleTable *batch;
	uint64 nrows;
	uint64 at;
	MemoryContext work;
};

UncertainReader *
uncertain_open(const char *release, const char *with, int ncolumns)
{
	UncertainReader *reader;
	StringInfoData query;
	SPIPlanPtr plan;
	MemoryContext caller = CurrentMemoryContext;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	initStringInfo(&query);
	appendStringInfoString(&query, "SELECT release.z::pg_catalog.float8[], release.spread::pg_catalog.float8[]");
	if (with)
		appendStringInfo(&query, ", release.%s::pg_catalog.text", with);
	appendStringInfo(&query, " FROM %s AS release", release_from_item(release));
	plan = SPI_prepare(query.data, 0, NULL);
	if (plan == NULL)
		elog(ERROR, "could not prepare the release: %s", SPI_result_code_string(SPI_result));

	reader = palloc0(sizeof(UncertainReader));
	reader->with = with;
	reader->portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	reader->row.ncolumns = ncolumns;
	reader->work = AllocSetContextCreate(CurrentMemoryContext, "kanon uncertain row", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(caller);
	return reader;
}

static double *
row_numbers(UncertainReader *reader, HeapTuple tuple, int attribute, const char *name)
{
	bool isnull;
	Datum datum = heap_getattr(tuple, attribute, reader->batch->tupdesc, &isnull);

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s is null in row " INT64_FORMAT " of the release", name, reader->row.number)));
	return number_array(DatumGetArrayTypeP(datum), name, reader->row.number, &reader->row.ncolumns);
}

void
uncertain_check(const double *z, const double *spread, int ncolumns, int64 row)
{
	for (int i = 0; i < ncolumns; i++)
	{
		if (isinf(z[i]) || isinf(spread[i]) || spread[i] < 0)
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("%s is %g with spread %g", array_name("z", row), z[i], spread[i]),
					 errdetail("Both must be finite, and a spread must not be negative.")));
	}
}

static bool
fetch_rows(UncertainReader *reader)
{
	MemoryContext caller = CurrentMemoryContext;

	if (reader->batch)
		SPI_freetuptable(reader->batch);
	SPI_cursor_fetch(reader->portal, true, FETCH_ROWS);
	MemoryContextSwitchTo(caller);
	reader->batch = SPI_tuptable;
	reader->nrows = SPI_processed;
	reader->at = 0;
	CHECK_FOR_INTERRUPTS();
	return reader->nrows > 0;
}

/* Return the next row, or NULL after the last. */
UncertainRow *
uncertain_next(UncertainReader *reader)
{
	UncertainRow *row = &reader->row;
	HeapTuple tuple;
	MemoryContext old;

	if (reader->at == reader->nrows && !fetch_rows(reader))
		return NULL;
	tuple = reader->batch->vals[reader->at++];
	row->number++;
	MemoryContextReset(reader->work);
	old = MemoryContextSwitchTo(reader->work);
	row->z = row_numbers(reader, tuple, 1, "z");
	row->spread = row_numbers(reader, tuple, 2, "spread");
	uncertain_check(row->z, row->spread, row->ncolumns, row->number);
	if (reader->with)
	{
		bool isnull;
		Datum value = heap_getattr(tuple, 3, reader->batch->tupdesc, &isnull);

		if (isnull)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s is null in row " INT64_FORMAT " of the release", reader->with, row->number)));
		row->text = TextDatumGetCString(value);
	}
	MemoryContextSwitchTo(old);
	return row;
}

void
uncertain_close(UncertainReader *reader)
{
	SPI_cursor_close(reader->portal);
	SPI_finish();
}
