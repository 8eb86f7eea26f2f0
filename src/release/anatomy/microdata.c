/*
 * microdata.c
 *		Reading rows with their sensitive values.
 *
 * A sensitive value is published as the text of its column.  Values with the same text
 * are the same value, and so are values that the column calls equal.
 */
#include "base/kanon.h"

#include "release/anatomy/anatomy.h"

#include <math.h>

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "release/common/equal_words.h"
#include "release/common/input.h"

/* A row to sort by the hash of its identifier. */
typedef struct HashedRow
{
	uint64 hash;
	const char *id;
	int32 row;
} HashedRow;

/* Order rows by hash, then by identifier. */
static inline int
compare_hashed(const HashedRow *a, const HashedRow *b)
{
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return strcmp(a->id, b->id);
}

#define ST_SORT sort_hashed
#define ST_ELEMENT_TYPE HashedRow
#define ST_COMPARE(a, b) compare_hashed(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Return the rows of a source in an order that does not depend on how they were read.
 * Sorting by a hash is several times faster than sorting by text, and any such order
 * serves.
 */
int32 *
microdata_order(const ReleaseSource *source)
{
	HashedRow *hashed = palloc_extended(Max(source->nrows, 1) * sizeof(HashedRow), MCXT_ALLOC_HUGE);
	int32 *order = MemoryContextAllocHuge(source->context, Max(source->nrows, 1) * sizeof(int32));

	for (int32 row = 0; row < source->nrows; row++)
	{
		const char *id = source->ids[row];

		hashed[row].hash = hash_bytes_extended((const unsigned char *) id, strlen(id), 0);
		hashed[row].id = id;
		hashed[row].row = row;
	}
	sort_hashed(hashed, source->nrows);
	for (int32 i = 0; i < source->nrows; i++)
		order[i] = hashed[i].row;
	pfree(hashed);
	return order;
}

/* Raise the error for a missing sensitive value. */
void
microdata_null(const char *sensitive, const char *id)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("the sensitive column \"%s\" is null in a row of the source", sensitive),
			 id ? errdetail("It is the row with identifier \"%s\".", id) : 0,
			 errhint("Leave such rows out of the source, or give them a value with coalesce().")));
}

/* Turn the sensitive column's numbers into words, and count them. */
static void
take_words(Microdata *data, const ReleaseColumn *column)
{
	data->words = column->words;
	data->nwords = column->nwords;
	data->word = palloc_extended(Max(data->nrows, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
	data->counts = palloc_extended(Max(data->nwords, 1) * sizeof(int64), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int32 row = 0; row < data->nrows; row++)
	{
		if (isnan(column->values[row]))
			microdata_null(column->name, data->ids[row]);
		data->word[row] = (int32) column->values[row];
		Assert(data->word[row] >= 0 && data->word[row] < data->nwords);
		data->counts[data->word[row]]++;
	}
}

/* The name of the sensitive column as values; it is in no message. */
#define VALUE_COLUMN "kanon value"

/* Read the rows of a query. */
Microdata *
microdata_read(const char *query, const char *id, const char *sensitive)
{
	ReleaseSource *source = release_open(NULL);
	MemoryContext old;
	Microdata *data;

	if (strcmp(id, sensitive) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" cannot be both identifier and sensitive", id)));
	(void) release_add_column(source, sensitive, NULL, false);
	release_add_column(source, VALUE_COLUMN, NULL, false)->as_values = true;
	release_read(source,
				 psprintf("SELECT source.%s, source.%s::pg_catalog.text AS %s, source.%s AS \"" VALUE_COLUMN
						  "\" FROM %s AS source",
						  quote_identifier(id), quote_identifier(sensitive), quote_identifier(sensitive),
						  quote_identifier(sensitive), release_from_item(query)),
				 id);

	old = MemoryContextSwitchTo(source->context);
	data = palloc0(sizeof(Microdata));
	data->source = source;
	data->nrows = source->nrows;
	data->ids = source->ids;
	take_words(data, &source->columns[0]);
	data->equal = release_equal_words(source, &source->columns[0], &source->columns[1], &data->nequal);
	MemoryContextSwitchTo(old);
	data->order = microdata_order(source);
	return data;
}
