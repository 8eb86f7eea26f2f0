/*
 * input.c
 *		Reading the source of a release.
 *
 * The caller's own query runs with the caller's rights, through a cursor, so that only
 * numbers and words stay in memory.
 */
#include "base/kanon.h"

#include "release/common/input.h"

#include <math.h>

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/regproc.h"

#include "base/interner.h"
#include "base/progress.h"
#include "base/typekind.h"
#include "base/valuecodes.h"
#include "hierarchy/dgh.h"
#include "release/common/equal_words.h"
#include "release/common/places.h"

#define FETCH_ROWS 10000
#define ARENA_BLOCK (64 * 1024)

/* The state of reading, beyond the source that it fills. */
typedef struct Reader
{
	ReleaseSource *source;
	int capacity;		 /* rows that the arrays have room for */
	Interner *ids;		 /* of both queries, in the order of arrival */
	Interner **words;	 /* per column; NULL if its values are not words */
	ValueCodes **values; /* per column; NULL unless it is a COLUMN_VALUE */
	char *arena;		 /* space for texts, in the source's context */
	Size arena_left;	 /* bytes */

	/* The present query. */
	bool further;	   /* it is the second one */
	bool *met;		   /* per row of the first query: its identifier is in the second; only if further */
	int ncolumns;	   /* columns that it gives, beside the identifier */
	Oid *types;		   /* base types of these columns */
	FmgrInfo *outputs; /* output functions of the identifier and of these columns */
	ValueCodes *equal; /* of identifiers, where equal ones may print differently; else NULL */
	int32 first_equal; /* the row of the first identifier there */
} Reader;

/* Return the end of the comment that starts here, or NULL if none does. */
static const char *
skip_comment(const char *text)
{
	int depth = 0;

	if (strncmp(text, "--", 2) == 0)
		return text + strcspn(text, "\r\n");
	if (strncmp(text, "/*", 2) != 0)
		return NULL;
	/* Comments may be nested; the parser refuses one that does not end. */
	do
	{
		bool opens = strncmp(text, "/*", 2) == 0;
		bool closes = strncmp(text, "*/", 2) == 0;

		depth += opens ? 1 : closes ? -1
									: 0;
		text += opens || closes ? 2 : 1;
	} while (depth > 0 && *text);
	return text;
}

/* Return the first word of a query, behind parentheses, space and comments. */
static const char *
skip_to_word(const char *text)
{
	const char *next = text;

	while (next)
	{
		text = next + strspn(next, " \t\r\n\f(");
		next = skip_comment(text);
	}
	return text;
}

/*
 * Return a source's text as a FROM item: a relation's name, quoted, or a query, in
 * parentheses; refuse anything else.
 */
char *
release_from_item(const char *source)
{
	List *statements = NIL;
	RawStmt *statement;
	const char *start = skip_to_word(source);
	bool is_query = false;
	static const char *const openings[] = {"select", "with", "values", "table"};

	for (int i = 0; i < (int) lengthof(openings); i++)
	{
		int len = strlen(openings[i]);

		if (pg_strncasecmp(start, openings[i], len) == 0 &&
			(start[len] == '\0' || strchr(" \t\r\n\f(*\"'/-", start[len])))
			is_query = true;
	}
	if (!is_query)
	{
		RangeVar *name = makeRangeVarFromNameList(kanon_name_list(source));
		Oid relation = RangeVarGetRelid(name, NoLock, false);

		return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
										  get_rel_name(relation));
	}

	statements = raw_parser(source, RAW_PARSE_DEFAULT);
	if (list_length(statements) != 1 || !IsA(linitial_node(RawStmt, statements)->stmt, SelectStmt) ||
		((SelectStmt *) linitial_node(RawStmt, statements)->stmt)->intoClause)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the source of a release must be a relation or one SELECT")));
	statement = linitial_node(RawStmt, statements);
	/* A comment at the end must not swallow the parenthesis. */
	return psprintf("(%.*s\n)",
					statement->stmt_len ? (int) statement->stmt_len
										: (int) strlen(source + statement->stmt_location),
					source + statement->stmt_location);
}

/* Create a source with the columns named in quasi_ids. */
ReleaseSource *
release_open(Jsonb *quasi_ids)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon release source",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	ReleaseSource *source = palloc0(sizeof(ReleaseSource));
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue value;
	char *name = NULL;

	source->context = context;
	if (quasi_ids && !JB_ROOT_IS_OBJECT(quasi_ids))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("quasi_ids must be an object of column and hierarchy"),
				 errhint("For example '{\"birth\": \"years\", \"sex\": null}'.")));
	iterator = quasi_ids ? JsonbIteratorInit(&quasi_ids->root) : NULL;
	while (iterator && (token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			name = pnstrdup(value.val.string.val, value.val.string.len);
		else if (token == WJB_VALUE && value.type == jbvString)
			release_add_column(source, name, pnstrdup(value.val.string.val, value.val.string.len), false);
		else if (token == WJB_VALUE && value.type == jbvNull)
			release_add_column(source, name, NULL, false);
		else if (token == WJB_VALUE)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the hierarchy of quasi-identifier \"%s\" must be a name or null", name)));
	}
	source->nquasi = source->ncolumns;
	MemoryContextSwitchTo(old);
	return source;
}

/* Add a column to a source. */
ReleaseColumn *
release_add_column(ReleaseSource *source, const char *name, const char *dgh_name, bool as_text)
{
	MemoryContext old = MemoryContextSwitchTo(source->context);
	ReleaseColumn *column;

	if (source->columns)
		source->columns = repalloc(source->columns, (source->ncolumns + 1) * sizeof(ReleaseColumn));
	else
		source->columns = palloc(sizeof(ReleaseColumn));
	column = &source->columns[source->ncolumns++];
	memset(column, 0, sizeof(ReleaseColumn));
	column->name = pstrdup(name);
	column->dgh_name = dgh_name ? pstrdup(dgh_name) : NULL;
	column->as_text = as_text;
	MemoryContextSwitchTo(old);
	return column;
}

/* Return how the values of a type are kept in a column. */
static ColumnKind
column_kind(const ReleaseColumn *column, Oid type)
{
	bool tree = column->dgh && column->dgh->kind == DGH_TREE;

	if (column->as_text)
		return COLUMN_TEXT;
	if (column->as_values)
		return COLUMN_VALUE;
	switch (column->as_words || tree ? TYPEKIND_OTHER : typekind(type))
	{
		case TYPEKIND_INTEGER:
		case TYPEKIND_NUMERIC:
		case TYPEKIND_FLOAT:
			return COLUMN_NUMBER;
		case TYPEKIND_DATE:
		case TYPEKIND_TIMESTAMP:
			return COLUMN_DATE;
		default:
			return COLUMN_WORD;
	}
}

/* Return the name of the present query for messages. */
static const char *
source_name(bool further)
{
	return further ? "public table" : "source";
}

/*
 * Return the index of a column in a row type; raise an error if there is none.  role names
 * the purpose of the column in the error.
 */
static int
find_attribute(TupleDesc desc, const char *name, const char *role, bool further)
{
	for (int i = 0; i < desc->natts; i++)
	{
		if (strcmp(NameStr(TupleDescAttr(desc, i)->attname), name) == 0)
			return i;
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("the %s has no column \"%s\" for %s", source_name(further), name, role)));
}

/* Return a source's row type, without running it. */
static TupleDesc
describe_source(const char *from)
{
	SPIPlanPtr plan = SPI_prepare(psprintf("SELECT * FROM %s AS source", from), 0, NULL);

	if (plan == NULL)
		elog(ERROR, "could not prepare the source: %s", SPI_result_code_string(SPI_result));
	return ((CachedPlanSource *) linitial(SPI_plan_get_plan_sources(plan)))->resultDesc;
}

/* Order columns by their places in the source's row type, arg: a qsort_arg comparator. */
static int
compare_columns(const void *left, const void *right, void *arg)
{
	int a = find_attribute(arg, ((const ReleaseColumn *) left)->name, "a quasi-identifier", false);
	int b = find_attribute(arg, ((const ReleaseColumn *) right)->name, "a quasi-identifier", false);

	return a - b;
}

/*
 * Find a source's columns in a row type, and bring the quasi-identifiers into its order;
 * added columns stay where they are.
 */
static void
find_columns(ReleaseSource *source, TupleDesc desc)
{
	for (int i = 0; i < source->ncolumns; i++)
	{
		ReleaseColumn *column = &source->columns[i];
		const char *role = i < source->nquasi ? "a quasi-identifier" : "a release";
		int attribute = find_attribute(desc, column->name, role, false);

		column->type = TupleDescAttr(desc, attribute)->atttypid;
		column->collation = TupleDescAttr(desc, attribute)->attcollation;
		if (column->dgh_name)
		{
			column->dgh = dgh_get(column->dgh_name);
			dgh_pin(column->dgh, source->context);
		}
		column->kind = column_kind(column, column->type);
	}
	qsort_arg(source->columns, source->nquasi, sizeof(ReleaseColumn), compare_columns, desc);
}

/* Find the quasi-identifiers of a further source by name; their values must go on the same lines. */
static void
match_further_columns(ReleaseSource *source, TupleDesc desc)
{
	for (int i = 0; i < source->nquasi; i++)
	{
		ReleaseColumn *column = &source->columns[i];
		int attribute = find_attribute(desc, column->name, "a quasi-identifier", true);
		Oid type = TupleDescAttr(desc, attribute)->atttypid;

		if (column_kind(column, type) != column->kind)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" is of type %s in the source, but of type %s in the public table",
							column->name, format_type_be(column->type), format_type_be(type))));
	}
}

/* Return the query that gives the identifier and the columns. */
static char *
plan_query(Reader *reader, const char *from, const char *id)
{
	ReleaseSource *source = reader->source;
	TupleDesc desc = describe_source(from);
	StringInfoData query;

	if (reader->further)
		match_further_columns(source, desc);
	else
		find_columns(source, desc);
	(void) find_attribute(desc, id, "the identifier", reader->further);
	reader->ncolumns = reader->further ? source->nquasi : source->ncolumns;

	initStringInfo(&query);
	appendStringInfo(&query, "SELECT source.%s", quote_identifier(id));
	for (int i = 0; i < reader->ncolumns; i++)
		appendStringInfo(&query, ", source.%s", quote_identifier(source->columns[i].name));
	appendStringInfo(&query, " FROM %s AS source", from);
	return query.data;
}

/* Return a copy of a text that lives as long as the source.  Small texts share chunks of memory. */
static const char *
keep_text(Reader *reader, const char *text)
{
	Size size = strlen(text) + 1;
	char *copy;

	if (size > ARENA_BLOCK / 4)
		return MemoryContextStrdup(reader->source->context, text);
	if (size > reader->arena_left)
	{
		reader->arena = MemoryContextAlloc(reader->source->context, ARENA_BLOCK);
		reader->arena_left = ARENA_BLOCK;
	}
	copy = reader->arena;
	memcpy(copy, text, size);
	reader->arena += size;
	reader->arena_left -= size;
	return copy;
}

/* Copy a new word of an interner; arg is the reader. */
static void
copy_word(void *key, void *arg)
{
	const char **word = key;

	*word = keep_text(arg, *word);
}

static const InternerMethods word_methods = {
	.hash = interner_hash_text,
	.equal = interner_equal_texts,
	.copy = copy_word,
};

/* Return the code of a word, which is added if it is new. */
static int32
intern_word(Interner *words, const char *word, bool *found)
{
	return interner_code(words, &word, found);
}

/* Make room for one more row. */
static void
reader_make_room(Reader *reader)
{
	ReleaseSource *source = reader->source;

	if (source->nrows < reader->capacity)
		return;
	if (reader->capacity > PG_INT32_MAX / 2)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the source of a release has more than %d rows", reader->capacity)));
	reader->capacity *= 2;
	source->ids = repalloc_huge(source->ids, reader->capacity * sizeof(char *));
	for (int i = 0; i < source->ncolumns; i++)
	{
		ReleaseColumn *column = &source->columns[i];

		if (column->texts)
			column->texts = repalloc_huge(column->texts, reader->capacity * sizeof(char *));
		else
			column->values = repalloc_huge(column->values, reader->capacity * sizeof(double));
	}
}

/* Read a value of the present row. */
static void
read_value(Reader *reader, int index, Datum value, bool isnull)
{
	ReleaseSource *source = reader->source;
	ReleaseColumn *column = &source->columns[index];
	bool found;

	if (column->kind == COLUMN_TEXT)
		column->texts[source->nrows] = isnull
										   ? NULL
										   : keep_text(reader, OutputFunctionCall(&reader->outputs[index + 1], value));
	else if (isnull)
		column->values[source->nrows] = NAN;
	else if (column->kind == COLUMN_WORD)
		column->values[source->nrows] = intern_word(reader->words[index],
													OutputFunctionCall(&reader->outputs[index + 1], value), &found);
	else if (column->kind == COLUMN_VALUE)
		column->values[source->nrows] = valuecodes_code(reader->values[index], value, false) - 1;
	else
	{
		column->values[source->nrows] = release_number(column, value, reader->types[index]);
		if (release_is_infinite(column, column->values[source->nrows]))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("column \"%s\" holds \"%s\", which is not finite", column->name,
							OutputFunctionCall(&reader->outputs[index + 1], value)),
					 errdetail("It is in the row with identifier \"%s\".", source->ids[source->nrows])));
	}
}

/*
 * Find an identifier, which prints like no other one, among those before it; set the code of
 * an equal one.
 */
static void
find_equal_id(Reader *reader, Datum value, int32 *code, bool *found)
{
	int known = valuecodes_count(reader->equal);
	int32 number = valuecodes_code(reader->equal, value, false);

	*found = number < known;
	if (*found)
		*code = reader->first_equal + number - 1;
}

/*
 * Read the present row's identifier; return false if it is the identifier of one of the
 * first query's rows.
 */
static bool
read_id(Reader *reader, Datum value, bool isnull, const char *id)
{
	ReleaseSource *source = reader->source;
	const char *text;
	int32 code;
	bool found;
	bool again;

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the identifier \"%s\" is null in a row of the %s", id, source_name(reader->further))));
	text = OutputFunctionCall(&reader->outputs[0], value);
	code = intern_word(reader->ids, text, &found);
	if (reader->equal && !found)
		find_equal_id(reader, value, &code, &found);
	Assert(!reader->further || reader->met != NULL);
	again = reader->further && found && code < source->nown && !reader->met[code];
	if (found && !again)
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg("the identifier \"%s\" is not unique in the %s", id, source_name(reader->further)),
				 errdetail("The value \"%s\" occurs more than once.", text)));
	if (again)
		reader->met[code] = true;
	else
		source->ids[source->nrows] = interner_text(reader->ids, code);
	Assert(again || strcmp(text, source->ids[source->nrows]) == 0);
	return !again;
}

/* Read a row. */
static void
read_row(Reader *reader, HeapTuple row, TupleDesc desc, const char *id)
{
	ReleaseSource *source = reader->source;
	bool isnull;
	Datum value = heap_getattr(row, 1, desc, &isnull);

	reader_make_room(reader);
	if (!read_id(reader, value, isnull, id))
		return;
	for (int i = 0; i < source->ncolumns; i++)
	{
		isnull = true;
		value = i < reader->ncolumns ? heap_getattr(row, i + 2, desc, &isnull) : (Datum) 0;
		read_value(reader, i, value, isnull);
	}
	Assert(source->nrows < reader->capacity);
	source->nrows++;
}

/* Create an interner of words that the reader keeps. */
static Interner *
create_words(Reader *reader)
{
	return interner_create(CurrentMemoryContext, sizeof(char *), sizeof(char *), &word_methods, reader);
}

/* Allocate the columns, now that their kinds are known. */
static void
make_columns(Reader *reader)
{
	ReleaseSource *source = reader->source;

	reader->capacity = FETCH_ROWS;
	reader->ids = create_words(reader);
	reader->words = palloc0(source->ncolumns * sizeof(Interner *));
	reader->values = palloc0(source->ncolumns * sizeof(ValueCodes *));
	source->ids = MemoryContextAlloc(source->context, reader->capacity * sizeof(char *));
	for (int i = 0; i < source->ncolumns; i++)
	{
		ReleaseColumn *column = &source->columns[i];

		if (column->kind == COLUMN_TEXT)
			column->texts = MemoryContextAlloc(source->context, reader->capacity * sizeof(char *));
		else
			column->values = MemoryContextAlloc(source->context, reader->capacity * sizeof(double));
		if (column->kind == COLUMN_WORD)
			reader->words[i] = create_words(reader);
		if (column->kind == COLUMN_VALUE)
			reader->values[i] = valuecodes_create_for_any(column->type, column->collation);
	}
}

/* Return true if equal values of a type always print alike. */
static bool
prints_equal_alike(Oid type, Oid collation)
{
	switch (typekind_of_base(type))
	{
		case TYPEKIND_TEXT:
		case TYPEKIND_PADDED:
			return !OidIsValid(collation) || get_collation_isdeterministic(collation);
		case TYPEKIND_NUMERIC:
		case TYPEKIND_FLOAT:
		case TYPEKIND_OTHER:
			return type == UUIDOID;
		default:
			return true;
	}
}

/* Prepare to tell equal identifiers; those of both queries are told if they are of one type. */
static void
prepare_equal_ids(Reader *reader, Oid type, Oid collation)
{
	if (reader->equal && reader->equal->type == type && reader->equal->collation == collation)
		return;
	reader->equal = prints_equal_alike(type, collation) ? NULL : valuecodes_create_for_any(type, collation);
	reader->first_equal = reader->source->nrows;
}

/* Look up the base types and output functions of the present query. */
static void
learn_types(Reader *reader, TupleDesc desc)
{
	reader->types = palloc(desc->natts * sizeof(Oid));
	reader->outputs = palloc0(desc->natts * sizeof(FmgrInfo));
	for (int i = 0; i < desc->natts; i++)
	{
		Oid type = TupleDescAttr(desc, i)->atttypid;
		Oid output;
		bool is_varlena;

		getTypeOutputInfo(type, &output, &is_varlena);
		fmgr_info(output, &reader->outputs[i]);
		if (i > 0)
			reader->types[i - 1] = getBaseType(type);
	}
	prepare_equal_ids(reader, getBaseType(TupleDescAttr(desc, 0)->atttypid), TupleDescAttr(desc, 0)->attcollation);
}

/* Read all rows of a cursor. */
static void
reader_read_rows(Reader *reader, Portal portal, const char *id)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon release row", ALLOCSET_DEFAULT_SIZES);

	do
	{
		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		for (uint64 i = 0; i < SPI_processed; i++)
		{
			MemoryContext old = MemoryContextSwitchTo(work);

			read_row(reader, SPI_tuptable->vals[i], SPI_tuptable->tupdesc, id);
			MemoryContextSwitchTo(old);
			MemoryContextReset(work);
		}
		SPI_freetuptable(SPI_tuptable);
		progress_done(reader->source->nrows);
		CHECK_FOR_INTERRUPTS();
	} while (SPI_processed > 0);
	MemoryContextDelete(work);
}

/* Run a query and add its rows. */
static void
read_query(Reader *reader, const char *query, const char *id)
{
	SPIPlanPtr plan = SPI_prepare(plan_query(reader, release_from_item(query), id), 0, NULL);
	Portal portal;

	if (plan == NULL)
		elog(ERROR, "could not prepare the source: %s", SPI_result_code_string(SPI_result));
	if (reader->ids == NULL)
		make_columns(reader);
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	learn_types(reader, portal->tupDesc);
	reader_read_rows(reader, portal, id);
	SPI_cursor_close(portal);
}

/* Read the rows of a query and, below them, of a further one. */
void
release_read_joined(ReleaseSource *source, const char *query, const char *further, const char *id)
{
	Reader reader = {.source = source};

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	read_query(&reader, query, id);
	source->nown = source->nrows;
	if (further)
	{
		reader.further = true;
		reader.met = palloc_extended(Max(source->nown, 1) * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		read_query(&reader, further, id);
	}
	for (int i = 0; i < source->ncolumns; i++)
	{
		if (reader.words[i])
			release_place_words(source, &source->columns[i], reader.words[i]);
		if (reader.values[i])
			release_find_covering(source, &source->columns[i], reader.values[i]);
	}
	SPI_finish();
}

/* Find the columns of a query, without reading rows. */
void
release_describe(ReleaseSource *source, const char *query)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	find_columns(source, describe_source(release_from_item(query)));
	SPI_finish();
}

/* Read the rows of a query. */
void
release_read(ReleaseSource *source, const char *query, const char *id)
{
	release_read_joined(source, query, NULL, id);
}
