/*
 * publish_kja.c
 *		kanon.publish_kja: a k-join-anonymous release as two tables.
 *
 * <name>_jat has the generalized quasi-identifiers of microdata and public rows and their
 * sensitive group; <name>_si the sensitive values of each sensitive group.  Nothing else
 * is written, and both tables are in random order, so that neither the columns nor the
 * place of a row tell which rows are microdata.
 */
#include "base/kanon.h"

#include "release/common/grouping.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/varlena.h"

#include "release/common/arguments.h"
#include "release/common/input.h"

PG_FUNCTION_INFO_V1(kanon_publish_kja);

/* Arguments 1 to 10 are the arguments of kanon.kja. */
#define KJA_ARGUMENTS 10
#define ARG_SENSITIVE 9

/* The two tables and their source. */
typedef struct KjaTables
{
	char *jat;				/* qualified and quoted name */
	char *si;				/* likewise */
	const char *from;		/* the source as a FROM item */
	const char *sensitive;	/* the sensitive column */
	ReleaseSource *columns; /* quasi-identifiers in the order of the source */
} KjaTables;

/*
 * Return the name of a table to be made, qualified by the schema that it will be made in,
 * since another schema on the search path may have a table of this name.
 */
static char *
kja_table_name(RangeVar *name, const char *suffix)
{
	char *table = psprintf("%s%s", name->relname, suffix);

	if (strlen(table) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("the name \"%s\" is too long for a table", table),
				 errdetail("A release is stored in two tables, whose names end in \"_jat\" and \"_si\".")));
	return quote_qualified_identifier(get_namespace_name(RangeVarGetCreationNamespace(name)), table);
}

/* Run a command, and raise an error unless SPI returns the expected code. */
static void
kja_run(const char *command, int expected)
{
	if (SPI_execute(command, false, 0) != expected)
		elog(ERROR, "could not kja_run \"%s\"", command);
}

/* Create the two tables, empty; the sensitive value keeps its type. */
static void
create_tables(const KjaTables *tables)
{
	StringInfoData command;

	initStringInfo(&command);
	appendStringInfo(&command, "CREATE TABLE %s (", tables->jat);
	for (int i = 0; i < tables->columns->nquasi; i++)
		appendStringInfo(&command, "%s kanon.generalized, ", quote_identifier(tables->columns->columns[i].name));
	appendStringInfoString(&command, "sg pg_catalog.int4 NOT NULL)");
	kja_run(command.data, SPI_OK_UTILITY);

	resetStringInfo(&command);
	appendStringInfo(&command, "CREATE TABLE %s AS SELECT 0 AS sg, source.%s AS value FROM %s AS source WITH NO DATA",
					 tables->si, quote_identifier(tables->sensitive), tables->from);
	kja_run(command.data, SPI_OK_UTILITY);
}

/* Return the type of the sensitive value as SQL, to cast it back from text. */
static char *
value_type(const KjaTables *tables)
{
	char *query = psprintf("SELECT pg_catalog.format_type(a.atttypid, a.atttypmod) FROM pg_catalog.pg_attribute AS a "
						   "WHERE a.attrelid OPERATOR(pg_catalog.=) %s::pg_catalog.regclass "
						   "AND a.attname OPERATOR(pg_catalog.=) 'value'",
						   quote_literal_cstr(tables->si));

	kja_run(query, SPI_OK_SELECT);
	return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
}

/*
 * Return the statement that fills both tables: a single one, so that the sources are read
 * once and in one snapshot.
 */
static char *
filling_command(const KjaTables *tables)
{
	StringInfoData command;

	initStringInfo(&command);
	appendStringInfoString(
		&command,
		"WITH release AS MATERIALIZED (SELECT * FROM kanon.kja_rows($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)), ");
	appendStringInfo(&command,
					 "si AS (INSERT INTO %s SELECT sg, value::%s FROM release WHERE in_source "
					 "ORDER BY pg_catalog.gen_random_uuid()) ",
					 tables->si, value_type(tables));
	appendStringInfo(&command, "INSERT INTO %s SELECT ", tables->jat);
	for (int i = 0; i < tables->columns->nquasi; i++)
		appendStringInfo(&command, "box[%d], ", i + 1);
	appendStringInfoString(&command, "sg FROM release ORDER BY pg_catalog.gen_random_uuid()");
	return command.data;
}

/* Fill the two tables. */
static void
fill_tables(FunctionCallInfo fcinfo, const KjaTables *tables)
{
	Oid types[KJA_ARGUMENTS] = {TEXTOID, TEXTOID, TEXTOID, JSONBOID, INT4OID,
								TEXTOID, TEXTOID, INT4OID, TEXTOID, INT4OID};
	Datum values[KJA_ARGUMENTS];
	char nulls[KJA_ARGUMENTS];

	for (int i = 0; i < KJA_ARGUMENTS; i++)
	{
		values[i] = PG_GETARG_DATUM(i + 1);
		nulls[i] = PG_ARGISNULL(i + 1) ? 'n' : ' ';
	}
	if (SPI_execute_with_args(filling_command(tables), KJA_ARGUMENTS, types, values, nulls, false, 0) != SPI_OK_INSERT)
		elog(ERROR, "could not fill the tables of a release");
}

/* Publish a k-join-anonymous release: publish_kja(name, <arguments of kja>). */
Datum
kanon_publish_kja(PG_FUNCTION_ARGS)
{
	char *name = argument_text(fcinfo, 0, "name");
	RangeVar *table = makeRangeVarFromNameList(kanon_name_list(name));
	char *source = argument_text(fcinfo, 1, "source");
	GroupingArgs args = {0};
	KjaTables tables = {0};

	argument_grouping(fcinfo, 3, &args);
	tables.sensitive = argument_text(fcinfo, ARG_SENSITIVE, "sensitive");
	tables.jat = kja_table_name(table, "_jat");
	tables.si = kja_table_name(table, "_si");
	tables.from = release_from_item(source);
	tables.columns = release_open(args.quasi_ids);
	release_describe(tables.columns, source);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	create_tables(&tables);
	fill_tables(fcinfo, &tables);
	SPI_finish();
	PG_RETURN_VOID();
}
