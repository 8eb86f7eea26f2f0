/*
 * outlier_input.c
 *		Reading the source as points of a standardized space.
 */
#include "base/kanon.h"

#include "release/plain/outlier.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

#include "base/progress.h"
#include "cluster/points.h"
#include "release/common/arguments.h"
#include "release/common/equal_words.h"
#include "release/common/grouping.h"
#include "release/common/input.h"
#include "release/plain/outlier_tree.h"

/* More than p can differ from the decimal that it was written as: p times the rows is not rounded up for that. */
#define DECIMAL_SLACK 1e-12

/* Return a number that must not be NULL. */
static double
argument_number(FunctionCallInfo fcinfo, int which, const char *name)
{
	if (PG_ARGISNULL(which))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name)));
	return PG_GETARG_FLOAT8(which);
}

/* Return p, after checking its range. */
static double
argument_p(FunctionCallInfo fcinfo, int which)
{
	double p = argument_number(fcinfo, which, "p");

	if (!(p > 0 && p <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("p is %g, but must be greater than 0 and at most 1", p),
				 errdetail("A row is an outlier when at least that share of all rows is farther than d from it.")));
	return p;
}

/* Return d, after checking its range. */
static double
argument_d(FunctionCallInfo fcinfo, int which)
{
	double d = argument_number(fcinfo, which, "d");

	if (!(d >= 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("d is %g, but a distance is at least 0", d)));
	return d;
}

/*
 * Add the sensitive column to the source, once for its values and once for its text.
 *
 * The argument is the column's name, or an object of the column and its hierarchy, as in
 * an anonymization view: {"disease": "diseases"}.
 */
static void
add_sensitive(ReleaseSource *source, GroupingArgs *args)
{
	const char *given = args->sensitive;
	char *dgh = NULL;

	if (given[0] == '{')
	{
		ReleaseSource *object = release_open(DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(given))));

		if (object->ncolumns != 1)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("sensitive names %d columns, but there must be one", object->ncolumns)));
		args->sensitive = object->columns[0].name;
		dgh = object->columns[0].dgh_name;
	}
	if (strcmp(args->sensitive, args->id) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" cannot be both identifier and sensitive", args->id)));
	grouping_check_columns(args, source);
	(void) release_add_column(source, args->sensitive, dgh, false);
	(void) release_add_column(source, args->sensitive, NULL, true);
	release_add_column(source, args->sensitive, NULL, false)->as_values = true;
}

/* Refuse a sensitive column that has neither numbers nor a hierarchy. */
static void
check_sensitive(const ReleaseColumn *column)
{
	if (column->kind == COLUMN_WORD && column->dgh == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the sensitive column \"%s\" has type %s, which is not a number, and no hierarchy",
						column->name, format_type_be(column->type)),
				 errhint("Name its hierarchy: sensitive => '{\"%s\": \"...\"}'.", column->name)));
}

/*
 * Refuse words that are equal, but apart in the hierarchy, and values that cover others: a
 * group needs values that are different for certain.
 */
static void
check_apart(const ReleaseSource *source, const ReleaseColumn *column, const ReleaseColumn *values)
{
	int count;

	if (column->kind != COLUMN_WORD)
		return;
	release_refuse_equal_words(column->name, column->words, column->nwords,
							   release_equal_words(source, column, values, &count), NULL);
	release_refuse_covering(source, column, values);
}

/* Refuse a column that is NULL in a row. */
static void
outlier_refuse_nulls(const ReleaseSource *source, const ReleaseColumn *column)
{
	for (int row = 0; row < source->nrows; row++)
	{
		if (isnan(column->values[row]))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("column \"%s\" is null in a row of the source", column->name),
					 errdetail("It is the row with identifier \"%s\".", source->ids[row]),
					 errhint("Null has no distance from other values: "
							 "leave such rows out, or give them a value with coalesce().")));
	}
}

/* Set the smallest value, the width and the unit of a column. */
static void
measure_column(Space *space, const ReleaseColumn *column, int index)
{
	double least = INFINITY;
	double most = -INFINITY;
	bool whole = true;

	for (int row = 0; row < space->nrows; row++)
	{
		least = Min(least, column->values[row]);
		most = Max(most, column->values[row]);
		whole = whole && column->values[row] == rint(column->values[row]);
	}
	space->least[index] = least;
	space->width[index] = space->nrows > 0 ? most - least : 0;
	space->unit[index] = whole ? 1 : 0;
	if (isinf(space->width[index]))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("the values of column \"%s\" are too far apart", column->name),
				 errdetail("They go from %g to %g.", least, most)));
}

/* Return a raw value of a column standardized; in a column of one value it is 0. */
double
space_standard(const Space *space, int column, double raw)
{
	return space->width[column] > 0 ? (raw - space->least[column]) / space->width[column] : 0;
}

/* Set the standardized values of a column, and their mean. */
static void
fill_column(Space *space, const ReleaseColumn *column, int index)
{
	double *values = palloc_extended(Max(space->nrows, 1) * sizeof(double), MCXT_ALLOC_HUGE);
	double sum = 0;

	for (int row = 0; row < space->nrows; row++)
	{
		values[row] = space_standard(space, index, column->values[space->grouping->row_of[row]]);
		sum += values[row];
	}
	space->columns[index] = values;
	space->centre[index] = space->nrows > 0 ? sum / space->nrows : 0;
}

/* A sensitive value and its row, for sorting. */
typedef struct SortedValue
{
	double value;
	int32 row;
} SortedValue;

#define ST_SORT sort_values
#define ST_ELEMENT_TYPE SortedValue
#define ST_COMPARE(a, b) ((a)->value < (b)->value ? -1 : (a)->value > (b)->value)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Set the distinct sensitive values, and the place of each row's value among them. */
static void
number_values(Space *space)
{
	double centre = space->centre[space->nquasi];
	SortedValue *sorted = palloc_extended(Max(space->nrows, 1) * sizeof(SortedValue), MCXT_ALLOC_HUGE);

	for (int row = 0; row < space->nrows; row++)
		sorted[row] = (SortedValue){space->columns[space->nquasi][row], row};
	sort_values(sorted, space->nrows);
	space->values = palloc_extended(Max(space->nrows, 1) * sizeof(double), MCXT_ALLOC_HUGE);
	space->value_of = palloc_extended(Max(space->nrows, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
	for (int i = 0; i < space->nrows; i++)
	{
		if (i == 0 || sorted[i].value != sorted[i - 1].value)
			space->values[space->nvalues++] = sorted[i].value;
		space->value_of[sorted[i].row] = space->nvalues - 1;
	}
	pfree(sorted);
	space->usual = space->nvalues > 0 ? space->values[0] : 0;
	for (int i = 1; i < space->nvalues; i++)
	{
		if (fabs(space->values[i] - centre) < fabs(space->usual - centre))
			space->usual = space->values[i];
	}
}

/* Return the largest sum of squares with a root not greater than d. */
static double
largest_square(double d)
{
	double square = d * d;

	while (sqrt(square) > d)
		square = nextafter(square, 0);
	while (!isinf(square) && sqrt(nextafter(square, INFINITY)) <= d)
		square = nextafter(square, INFINITY);
	return square;
}

/* Return the width that the losses of a column are shares of. */
static double
whole_loss(const Space *space, int column)
{
	const ReleaseColumn *given = &space->grouping->source->columns[column];

	return given->kind == COLUMN_WORD ? given->nwords - 1 : space->width[column] + space->unit[column];
}

/* Return a space with the rows of the source and the widths of the first ncolumns columns. */
static Space *
make_space(ReleaseSource *source, int ncolumns)
{
	Space *space = palloc0(sizeof(Space));
	Size size = ncolumns * sizeof(double);

	space->grouping = grouping_of(source, true);
	space->points = space->grouping->points;
	space->nrows = source->nrows;
	space->nquasi = source->nquasi;
	space->ncolumns = ncolumns;
	space->least = palloc(size);
	space->width = palloc(size);
	space->unit = palloc(size);
	space->loss_factor = palloc(size);
	for (int column = 0; column < ncolumns; column++)
	{
		outlier_refuse_nulls(source, &source->columns[column]);
		measure_column(space, &source->columns[column], column);
		space->loss_factor[column] = 1 / whole_loss(space, column);
	}
	return space;
}

/* Set the points, the sensitive values, d and p, and the index. */
static void
fill_space(Space *space, double p, double d)
{
	const ReleaseColumn *columns = space->grouping->source->columns;

	space->centre = palloc(space->ncolumns * sizeof(double));
	space->columns = palloc(space->ncolumns * sizeof(double *));
	for (int column = 0; column < space->ncolumns; column++)
		fill_column(space, &columns[column], column);
	space->sensitive_text = &columns[space->ncolumns];
	number_values(space);
	space->d = d;
	space->square = largest_square(d);
	space->enough = space->nrows - (int) ceil((p - DECIMAL_SLACK) * space->nrows) + 1;
	if (space->nrows > 0)
	{
		space->tree = outlier_tree(space->columns, space->nrows, space->ncolumns);
		space->waiting = palloc_extended((Size) space->tree.nnodes * sizeof(int32), MCXT_ALLOC_HUGE);
	}
}

/* Read the arguments source, id and quasi_ids. */
static void
read_arguments(FunctionCallInfo fcinfo, GroupingArgs *args)
{
	args->source = argument_text(fcinfo, 0, "source");
	args->id = argument_text(fcinfo, 1, "id");
	if (PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("quasi_ids must not be null")));
	args->quasi_ids = PG_GETARG_JSONB_P(2);
}

/* Read the source for its quasi-identifiers only. */
Space *
space_read_quasi(FunctionCallInfo fcinfo)
{
	GroupingArgs args = {0};
	ReleaseSource *source;

	read_arguments(fcinfo, &args);
	source = release_open(args.quasi_ids);
	grouping_check_columns(&args, source);
	progress_phase(PHASE_READING, 0);
	release_read(source, args.source, args.id);
	return make_space(source, source->nquasi);
}

/* Read the source and its sensitive values; p and d are the arguments with these numbers. */
Space *
space_read(FunctionCallInfo fcinfo, int p, int d)
{
	GroupingArgs args = {0};
	double share = argument_p(fcinfo, p);
	double distance = argument_d(fcinfo, d);
	ReleaseSource *source;
	Space *space;

	read_arguments(fcinfo, &args);
	args.sensitive = argument_text(fcinfo, 3, "sensitive");
	source = release_open(args.quasi_ids);
	add_sensitive(source, &args);
	if (source->nquasi > MOST_QUASI_IDS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("quasi_ids names %d columns, but at most %d are possible here", source->nquasi, MOST_QUASI_IDS),
				 errdetail("A box has two corners for each generalized column.")));
	progress_phase(PHASE_READING, 0);
	release_read(source, args.source, args.id);
	check_sensitive(&source->columns[source->nquasi]);
	check_apart(source, &source->columns[source->nquasi], &source->columns[source->nquasi + 2]);
	progress_phase(PHASE_BUILDING, source->nrows);
	space = make_space(source, source->nquasi + 1);
	fill_space(space, share, distance);
	return space;
}

/* Raise an error if groups cannot have k distinct sensitive values. */
void
space_check_k(const Space *space, int k)
{
	if (k < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("k is %d, but a group has at least one sensitive value", k)));
	if (k > space->nvalues)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("k is %d, but column \"%s\" has only %d distinct values",
						k, space->sensitive_text->name, space->nvalues),
				 errhint("A group needs k distinct sensitive values: choose a lower k.")));
}

/* Set the point of a row. */
void
space_point(const Space *space, int32 row, double *point)
{
	Assert(row >= 0 && row < space->nrows);
	for (int column = 0; column < space->ncolumns; column++)
		point[column] = space->columns[column][row];
}

/* Return the identifier of a row. */
const char *
space_id(const Space *space, int32 row)
{
	return space->grouping->source->ids[space->grouping->row_of[row]];
}

/* Return the sensitive value of a row as text. */
const char *
space_sensitive(const Space *space, int32 row)
{
	return space->sensitive_text->texts[space->grouping->row_of[row]];
}

/*
 * Set the ends, raw, of the interval that is published for a column where rows are between
 * lo and hi: for numbers from the smallest to the largest, for words a node of their tree
 * or everything.
 */
void
space_interval(const Space *space, int column, double lo, double hi, double *lower, double *upper)
{
	const Line *line = &space->points->lines[column];
	int32 node;

	Assert(column >= 0 && column < space->nquasi && lo <= hi);
	*lower = lo;
	*upper = hi;
	if (!line->words || lo == hi)
		return;
	*lower = 0;
	*upper = space->grouping->source->columns[column].nwords - 1;
	if (hi >= line->nleaves)
		return;
	node = line->leaf[(int) lo];
	while (line->hi[node] <= hi)
		node = line->parent[node];
	if (line->parent[node] >= 0)
	{
		*lower = line->lo[node];
		*upper = line->hi[node] - 1;
	}
}

/* Return the loss of a value that is published as an interval. */
double
space_loss(const Space *space, int column, double lower, double upper)
{
	if (lower == upper)
		return 0;
	if (space->points->lines[column].words)
		return (upper - lower) / whole_loss(space, column);
	return (upper - lower + space->unit[column]) / whole_loss(space, column);
}

/* Set the ends, raw, of the box that is published for some rows. */
void
space_box(const Space *space, const int32 *rows, int count, double *lower, double *upper)
{
	Bounds bounds = bounds_create(space->points, 1);

	bounds_of(space->points, bounds, rows, count);
	for (int column = 0; column < space->nquasi; column++)
		space_interval(space, column, bounds[column], bounds[space->nquasi + column], &lower[column], &upper[column]);
	pfree(bounds);
}
