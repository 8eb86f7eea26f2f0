/*
 * anatomy.c
 *		kanon.anatomy, kanon.n_dependency and kanon.find_max_n: groups of rows whose
 *		sensitive values differ.
 */
#include "base/kanon.h"

#include "release/anatomy/anatomy.h"

#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/progress.h"
#include "hierarchy/dgh.h"
#include "release/anatomy/taxonomy.h"
#include "release/common/arguments.h"
#include "release/common/equal_words.h"
#include "release/common/input.h"
#include "release/common/noise.h"
#include "release/common/unsort.h"

PG_FUNCTION_INFO_V1(kanon_anatomy);
PG_FUNCTION_INFO_V1(kanon_n_dependency);
PG_FUNCTION_INFO_V1(kanon_find_max_n);

#define PROGRESS_ROWS 65536

/* The state of one call. */
typedef struct Anatomy
{
	MemoryContext context; /* owns everything here */
	MemoryContext caller;  /* the context to go back to */
	NoiseSource noise;
	Microdata *data;
	int32 *group;	 /* per row, from 1 */
	Datum *generals; /* per word: its generalized value; NULL if the result has no such column */
} Anatomy;

/* Return an integer argument, which must be neither NULL nor below the least value. */
int
anatomy_int_arg(FunctionCallInfo fcinfo, int argument, const char *name, int least)
{
	int value = argument_int(fcinfo, argument, name);

	if (value < least)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is %d, but must be at least %d", name, value, least)));
	return value;
}

/* Return the hint which l works, given the rows of the most frequent value or node. */
static int
hint_largest_l(int64 nrows, int64 heaviest)
{
	if (nrows / heaviest < 2)
		return errhint("No l works, unless some of these rows are left out of the source.");
	return errhint("The largest l that works is %lld.", (long long) (nrows / heaviest));
}

/* Raise the error that there are no groups of l rows, since a value has too many rows. */
static void
report_no_grouping(int l, const char *value, int64 rows, int64 nrows)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("there are no groups of %d rows with different sensitive values", l),
			 errdetail("%lld of %lld rows have the value \"%s\", more than one in %d.",
					   (long long) rows, (long long) nrows, value, l),
			 hint_largest_l(nrows, rows)));
}

/* Raise an error unless the words allow groups of l rows with different values. */
static void
check_words(const Microdata *data, int l)
{
	int64 *counts = palloc0(Max(data->nequal, 1) * sizeof(int64));
	int heaviest = 0;

	for (int i = 0; i < data->nwords; i++)
		counts[data->equal[i]] += data->counts[i];
	for (int i = 1; i < data->nwords; i++)
	{
		if (counts[data->equal[i]] > counts[data->equal[heaviest]])
			heaviest = i;
	}
	if (data->nwords > 0 && counts[data->equal[heaviest]] > data->nrows / l)
		report_no_grouping(l, data->words[heaviest], counts[data->equal[heaviest]], data->nrows);
}

/* Return the detail why an n is too large: the hierarchy ends, or one of its nodes has too many rows. */
static int
explain_n(const Taxonomy *taxonomy, int l, int n)
{
	int depth = taxonomy->initial - (n - 1);
	const TaxonomyLoad *load;

	if (depth < 0)
		return errdetail("Some sensitive values are on level %d below the root of hierarchy \"%s\".",
						 taxonomy->initial, taxonomy->dgh->name);
	load = &taxonomy->loads[depth];
	return errdetail("With n = %d, %lld of %lld rows have the value \"%s\", more than one in %d.",
					 n, (long long) load->rows, (long long) taxonomy->nrows,
					 taxonomy_label(taxonomy, load->node), l);
}

/* Return the hint which n, and which l, would work. */
static int
hint_largest_n(const Taxonomy *taxonomy, int l, int n)
{
	int depth = taxonomy->initial - (n - 1);
	int64 largest_l = depth < 0 ? 0 : taxonomy->nrows / taxonomy->loads[depth].rows;

	if (largest_l < 2)
		return errhint("The largest n for l = %d is %d.", l, taxonomy_max_n(taxonomy, l));
	return errhint("The largest n for l = %d is %d; the largest l for n = %d is %lld.",
				   l, taxonomy_max_n(taxonomy, l), n, (long long) largest_l);
}

/*
 * Return the n to use: the given one, or the largest if it is 0; raise an error if there
 * are no such groups.
 */
static int
check_n(const Taxonomy *taxonomy, int l, int n)
{
	int largest = taxonomy_max_n(taxonomy, l);
	const TaxonomyLoad *load = &taxonomy->loads[taxonomy->deepest];

	if (largest == 0)
		report_no_grouping(l, taxonomy_label(taxonomy, load->node), load->rows, taxonomy->nrows);
	if (n > largest && taxonomy->nrows > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there are no groups of %d rows with n = %d", l, n),
				 explain_n(taxonomy, l, n),
				 hint_largest_n(taxonomy, l, n)));
	return n == 0 ? largest : n;
}

/* Prepare to make groups: create the memory context and switch to it. */
static void
anatomy_start(FunctionCallInfo fcinfo, Anatomy *anatomy, int seed_argument)
{
	kanon_materialize(fcinfo);
	noise_start(&anatomy->noise, argument_seed(fcinfo, seed_argument));
	anatomy->context = AllocSetContextCreate(CurrentMemoryContext, "kanon anatomy", ALLOCSET_DEFAULT_SIZES);
	anatomy->caller = MemoryContextSwitchTo(anatomy->context);
	progress_start(fcinfo);
	progress_phase(PHASE_READING, 0);
}

/* Free everything, and switch back to the memory context of the caller. */
static void
anatomy_end(Anatomy *anatomy)
{
	progress_end();
	MemoryContextSwitchTo(anatomy->caller);
	MemoryContextDelete(anatomy->context);
}

/* Return a row for each row of the microdata. */
static void
anatomy_return_groups(FunctionCallInfo fcinfo, const Anatomy *anatomy)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	const Microdata *data = anatomy->data;
	Datum *texts = palloc_extended(Max(data->nwords, 1) * sizeof(Datum), MCXT_ALLOC_HUGE);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon anatomy row", ALLOCSET_SMALL_SIZES);
	MemoryContext old;
	Datum values[4] = {0};
	bool nulls[4] = {false};

	progress_phase(PHASE_WRITING, data->nrows);
	for (int i = 0; i < data->nwords; i++)
		texts[i] = CStringGetTextDatum(data->words[i]);
	old = MemoryContextSwitchTo(context);
	for (int32 row = 0; row < data->nrows; row++)
	{
		CHECK_FOR_INTERRUPTS();
		if (row % PROGRESS_ROWS == 0)
			progress_done(row);
		values[0] = CStringGetTextDatum(data->ids[row]);
		values[1] = Int32GetDatum(anatomy->group[row]);
		Assert(anatomy->group[row] > 0 && data->word[row] < data->nwords);
		values[2] = texts[data->word[row]];
		if (anatomy->generals)
			values[3] = anatomy->generals[data->word[row]];
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(old);
	release_unsort(fcinfo);
}

/*
 * Make groups whose sensitive values differ: anatomy(source, id, sensitive, l, seed). The
 * sensitive value is the key of a row.
 */
Datum
kanon_anatomy(PG_FUNCTION_ARGS)
{
	char *query = argument_text(fcinfo, 0, "source");
	char *id = argument_text(fcinfo, 1, "id");
	char *sensitive = argument_text(fcinfo, 2, "sensitive");
	int l = anatomy_int_arg(fcinfo, 3, "l", 2);
	Anatomy anatomy = {0};

	anatomy_start(fcinfo, &anatomy, 4);
	anatomy.data = microdata_read(query, id, sensitive);
	check_words(anatomy.data, l);
	release_refuse_covering(anatomy.data->source, &anatomy.data->source->columns[0],
							&anatomy.data->source->columns[1]);

	progress_phase(PHASE_GROUPING, anatomy.data->nrows);
	anatomy.group = bucket_groups(anatomy.data, anatomy.data->equal, anatomy.data->nequal, l, &anatomy.noise);
	anatomy_return_groups(fcinfo, &anatomy);
	anatomy_end(&anatomy);
	return (Datum) 0;
}

/*
 * Return the nodes of a cut as keys of words, numbered in the order of the words, set
 * their number, and set the words' generalized values.
 */
static int32 *
cut_keys(const Taxonomy *taxonomy, const Microdata *data, int depth, int *nkeys, Datum *generals)
{
	int32 *keys = palloc_extended(Max(data->nwords, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
	int32 *key_of_node = palloc_extended(Max(taxonomy->nnodes, 1) * sizeof(int32), MCXT_ALLOC_HUGE);

	*nkeys = 0;
	for (int32 node = 0; node < taxonomy->nnodes; node++)
		key_of_node[node] = -1;
	for (int i = 0; i < data->nwords; i++)
	{
		int32 node = taxonomy_cut(taxonomy, taxonomy->node_of_word[i], depth);

		if (key_of_node[node] < 0)
			key_of_node[node] = (*nkeys)++;
		keys[i] = key_of_node[node];
		generals[i] = taxonomy->nodes[node].value;
	}
	return keys;
}

/*
 * Make groups whose sensitive values differ after n - 1 generalizations:
 * n_dependency(source, id, sensitive, dgh, l, n, seed). The generalized value is the key
 * of a row.
 */
Datum
kanon_n_dependency(PG_FUNCTION_ARGS)
{
	char *query = argument_text(fcinfo, 0, "source");
	char *id = argument_text(fcinfo, 1, "id");
	char *sensitive = argument_text(fcinfo, 2, "sensitive");
	char *dgh_name = argument_text(fcinfo, 3, "dgh");
	int l = anatomy_int_arg(fcinfo, 4, "l", 2);
	int n = PG_ARGISNULL(5) ? 0 : anatomy_int_arg(fcinfo, 5, "n", 1);
	Anatomy anatomy = {0};
	Microdata *data;
	Taxonomy *taxonomy;
	int32 *keys;
	int nkeys;

	(void) dgh_get(dgh_name); /* an unknown hierarchy is an error before the source is read */
	anatomy_start(fcinfo, &anatomy, 6);
	data = anatomy.data = microdata_read(query, id, sensitive);
	taxonomy = taxonomy_build(dgh_get(dgh_name), data->words, data->counts, data->nwords);
	release_refuse_equal_words(sensitive, data->words, data->nwords, data->equal, taxonomy->node_of_word);
	n = check_n(taxonomy, l, n);

	progress_phase(PHASE_GROUPING, data->nrows);
	anatomy.generals = palloc_extended(Max(data->nwords, 1) * sizeof(Datum), MCXT_ALLOC_HUGE);
	keys = cut_keys(taxonomy, data, taxonomy_depth_for(taxonomy, l, n), &nkeys, anatomy.generals);
	anatomy.group = bucket_groups(data, keys, nkeys, l, &anatomy.noise);
	anatomy_return_groups(fcinfo, &anatomy);
	anatomy_end(&anatomy);
	return (Datum) 0;
}

/*
 * Return the taxonomy of the sensitive values of a source, counted by the server.  The
 * caller is connected to SPI.
 */
static Taxonomy *
count_values(const char *query, const char *sensitive, const char *dgh_name)
{
	const char **words;
	int64 *counts;

	if (SPI_execute(psprintf("SELECT source.%s::pg_catalog.text COLLATE pg_catalog.\"C\", pg_catalog.count(*)"
							 " FROM %s AS source GROUP BY 1 ORDER BY 1",
							 quote_identifier(sensitive), release_from_item(query)),
					true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not count the sensitive values: %s", SPI_result_code_string(SPI_result));
	words = palloc_extended(Max(SPI_processed, 1) * sizeof(char *), MCXT_ALLOC_HUGE);
	counts = palloc_extended(Max(SPI_processed, 1) * sizeof(int64), MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool isnull;

		words[i] = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1);
		if (words[i] == NULL)
			microdata_null(sensitive, NULL);
		counts[i] = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 2, &isnull));
	}
	return taxonomy_build(dgh_get(dgh_name), words, counts, (int) SPI_processed);
}

/* Return the largest n for which there are groups: find_max_n(source, sensitive, dgh, l). */
Datum
kanon_find_max_n(PG_FUNCTION_ARGS)
{
	char *query = argument_text(fcinfo, 0, "source");
	char *sensitive = argument_text(fcinfo, 1, "sensitive");
	char *dgh_name = argument_text(fcinfo, 2, "dgh");
	int l = anatomy_int_arg(fcinfo, 3, "l", 2);
	int n;

	(void) dgh_get(dgh_name);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	n = taxonomy_max_n(count_values(query, sensitive, dgh_name), l);
	SPI_finish();
	PG_RETURN_INT32(n);
}
