/*
 * outlier_grouping.c
 *		A grouping of the source's rows, given as a query of (id, grp), and its loss:
 *		kanon.information_loss.
 */
#include "base/kanon.h"

#include "release/plain/outlier_grouping.h"

#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "base/interner.h"
#include "base/progress.h"
#include "release/common/arguments.h"
#include "release/common/grouping.h"
#include "release/common/input.h"
#include "release/plain/outlier.h"

PG_FUNCTION_INFO_V1(kanon_information_loss);

/* The rows of the query that are fetched at a time. */
#define FETCH_ROWS 10000

/* The grouping as it is read, by row of the space. */
typedef struct GroupReader
{
	const ReleaseSource *source;
	Interner *ids; /* the code of an identifier is its row in the space */
	int nrows;
	bool *met;	   /* the grouping has the row */
	bool *grouped; /* its grp is not NULL */
	int32 *label;  /* its grp */
} GroupReader;

/* Set up a reader in which no row has been met. */
static void
start_reader(GroupReader *reader, const Grouping *grouping)
{
	int nrows = grouping->points->nrows;

	reader->source = grouping->source;
	reader->nrows = nrows;
	reader->ids = interner_create(CurrentMemoryContext, sizeof(char *), sizeof(char *), &interner_borrowed_texts, NULL);
	interner_reserve(reader->ids, nrows);
	reader->met = palloc_extended(Max(nrows, 1) * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	reader->grouped = palloc_extended(Max(nrows, 1) * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	reader->label = palloc_extended(Max(nrows, 1) * sizeof(int32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int row = 0; row < nrows; row++)
	{
		const char *const *id = (const char *const *) &grouping->source->ids[grouping->row_of[row]];
		bool found;
		int32 code PG_USED_FOR_ASSERTS_ONLY = interner_code(reader->ids, id, &found);

		Assert(!found && code == row);
	}
}

/* Take a row of the grouping: its group, or NULL if the source's row was removed. */
static void
take_row(GroupReader *reader, HeapTuple tuple, TupleDesc desc)
{
	char *id = SPI_getvalue(tuple, desc, 1);
	int32 row = id ? interner_find(reader->ids, &id) : -1;
	bool isnull;
	Datum label = heap_getattr(tuple, 2, desc, &isnull);

	if (id == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("id is null in a row of the grouping")));
	if (row < 0)
		ereport(ERROR,
				(errcode(ERRCODE_FOREIGN_KEY_VIOLATION),
				 errmsg("the grouping has a row with identifier \"%s\", which the source does not have", id)));
	if (reader->met[row])
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg("the identifier \"%s\" occurs more than once in the grouping", id)));
	reader->met[row] = true;
	reader->grouped[row] = !isnull;
	reader->label[row] = isnull ? 0 : DatumGetInt32(label);
}

/* Run the grouping's query, and take its rows. */
static void
outlier_read_grouping(GroupReader *reader, const char *query)
{
	SPIPlanPtr plan;
	Portal portal;
	MemoryContext work;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	plan = SPI_prepare(psprintf("SELECT given.id, given.grp::pg_catalog.int4 FROM %s AS given",
								release_from_item(query)),
					   0, NULL);
	if (plan == NULL)
		elog(ERROR, "could not prepare the grouping: %s", SPI_result_code_string(SPI_result));
	work = AllocSetContextCreate(CurrentMemoryContext, "kanon grouping row", ALLOCSET_DEFAULT_SIZES);
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	do
	{
		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		for (uint64 i = 0; i < SPI_processed; i++)
		{
			MemoryContext old = MemoryContextSwitchTo(work);

			take_row(reader, SPI_tuptable->vals[i], SPI_tuptable->tupdesc);
			MemoryContextSwitchTo(old);
			MemoryContextReset(work);
		}
		SPI_freetuptable(SPI_tuptable);
		CHECK_FOR_INTERRUPTS();
	} while (SPI_processed > 0);
	SPI_cursor_close(portal);
	SPI_finish();
}

/* Compare two rows by grp, then by number. */
static int
compare_labelled(const void *a, const void *b, void *arg)
{
	const int32 *label = arg;
	int32 left = *(const int32 *) a;
	int32 right = *(const int32 *) b;

	if (label[left] != label[right])
		return label[left] < label[right] ? -1 : 1;
	return left - right;
}

/* Return the groups of the rows that have one. */
static GivenGroups *
given_groups_collect(const GroupReader *reader)
{
	GivenGroups *groups = palloc0(sizeof(GivenGroups));
	Size size = ((Size) reader->nrows + 1) * sizeof(int32);
	int count = 0;

	groups->labels = palloc_extended(size, MCXT_ALLOC_HUGE);
	groups->group_of = palloc_extended(size, MCXT_ALLOC_HUGE);
	groups->starts = palloc_extended(size, MCXT_ALLOC_HUGE);
	groups->rows = palloc_extended(size, MCXT_ALLOC_HUGE);
	for (int row = 0; row < reader->nrows; row++)
	{
		groups->group_of[row] = -1;
		if (reader->grouped[row])
			groups->rows[count++] = row;
	}
	qsort_arg(groups->rows, count, sizeof(int32), compare_labelled, reader->label);
	for (int i = 0; i < count; i++)
	{
		int32 label = reader->label[groups->rows[i]];

		if (i == 0 || label != groups->labels[groups->ngroups - 1])
		{
			groups->labels[groups->ngroups] = label;
			groups->starts[groups->ngroups++] = i;
		}
		groups->group_of[groups->rows[i]] = groups->ngroups - 1;
	}
	groups->starts[groups->ngroups] = count;
	return groups;
}

/* Run a query of (id, grp), and return the groups of the rows that have one. */
GivenGroups *
given_groups_read(const Space *space, const char *query)
{
	GroupReader reader;

	start_reader(&reader, space->grouping);
	outlier_read_grouping(&reader, query);
	return given_groups_collect(&reader);
}

/*
 * Return the average loss of a row (Definition 3.7):
 * information_loss(source, id, quasi_ids, grouping).
 */
Datum
kanon_information_loss(PG_FUNCTION_ARGS)
{
	Space *space;
	GivenGroups *groups;
	double *lower;
	double *upper;
	double loss;

	progress_start(fcinfo);
	space = space_read_quasi(fcinfo);
	groups = given_groups_read(space, argument_text(fcinfo, 3, "grouping"));
	if (space->nrows == 0)
		PG_RETURN_NULL();
	lower = palloc(space->nquasi * sizeof(double));
	upper = palloc(space->nquasi * sizeof(double));
	/* A row that is not published loses everything. */
	loss = (double) (space->nrows - groups->starts[groups->ngroups]) * space->nquasi;
	for (int group = 0; group < groups->ngroups; group++)
	{
		int count = groups->starts[group + 1] - groups->starts[group];

		CHECK_FOR_INTERRUPTS();
		space_box(space, groups->rows + groups->starts[group], count, lower, upper);
		for (int column = 0; column < space->nquasi; column++)
			loss += count * space_loss(space, column, lower[column], upper[column]);
	}
	progress_end();
	PG_RETURN_FLOAT8(loss / space->nrows);
}
