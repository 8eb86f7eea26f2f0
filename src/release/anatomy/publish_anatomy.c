/*
 * publish_anatomy.c
 *		kanon.publish_anatomy: the two tables of a release.
 *
 * The source is read once, into a temporary table, so that grouping and publishing see the
 * same rows even if the source would not return them twice.  Only published values are
 * ever written to the tables that are handed out, so that not even their files tell more.
 * The groups, and the order of the rows, come from the server's strong random numbers,
 * which are not stored.
 */
#include "base/kanon.h"

#include "release/anatomy/anatomy.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"

#include "release/common/arguments.h"
#include "release/common/input.h"

PG_FUNCTION_INFO_V1(kanon_publish_anatomy);

/* Temporary tables, dropped at the end of the call. */
#define ROWS_TABLE "kanon publish rows"
#define GROUPS_TABLE "kanon publish groups"
#define ROWS "pg_temp.\"" ROWS_TABLE "\""
#define GROUPS "pg_temp.\"" GROUPS_TABLE "\""

/* The arguments of a call. */
typedef struct AnatomyRelease
{
	char *qit; /* qualified and quoted name of the table of quasi-identifiers */
	char *st;  /* and of the table of sensitive values */
	char *source;
	char *id;
	char *sensitive;
	char **quasi_ids;
	int nquasi;
} AnatomyRelease;

/* Return the quoted name of a table to be made; raise an error if there is one already. */
static char *
new_table(const char *name, const char *suffix)
{
	RangeVar *range = makeRangeVarFromNameList(kanon_name_list(name));
	Oid namespace = RangeVarGetCreationNamespace(range);
	char *table = psprintf("%s_%s", range->relname, suffix);

	if (strlen(table) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("the name \"%s\" is longer than %d bytes", table, NAMEDATALEN - 1)));
	if (OidIsValid(get_relname_relid(table, namespace)))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists", table)));
	return quote_qualified_identifier(get_namespace_name(namespace), table);
}

/*
 * Raise an error if a column cannot be published as a quasi-identifier: the identifier or
 * the sensitive column, or a column with the name of the group's number.
 */
static void
check_quasi_id(const AnatomyRelease *release, const char *column)
{
	if (strcmp(column, release->id) == 0 || strcmp(column, release->sensitive) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" cannot be a quasi-identifier, it is the %s column", column,
						strcmp(column, release->id) == 0 ? "identifier" : "sensitive")));
	if (strcmp(column, "grp") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_COLUMN),
				 errmsg("a quasi-identifier cannot be called \"%s\"", column),
				 errhint("Rename it in the source, for example with SELECT ... AS.")));
}

/* Run a command. */
static void
anatomy_run(const char *command, int nargs, Oid *types, Datum *values, const char *nulls)
{
	int status = SPI_execute_with_args(command, nargs, types, values, nulls, false, 0);

	if (status < 0)
		elog(ERROR, "could not publish: %s", SPI_result_code_string(status));
}

/* Append the quasi-identifiers of a table to a command. */
static void
append_quasi_ids(StringInfo command, const AnatomyRelease *release, const char *table)
{
	for (int i = 0; i < release->nquasi; i++)
		appendStringInfo(command, "%s.%s, ", table, quote_identifier(release->quasi_ids[i]));
}

/* Copy the source to a temporary table, with the identifier as the text by which the groups name it. */
static void
copy_source(const AnatomyRelease *release)
{
	StringInfoData command;

	initStringInfo(&command);
	appendStringInfoString(&command, "CREATE TEMPORARY TABLE " ROWS " AS SELECT ");
	append_quasi_ids(&command, release, "source");
	appendStringInfo(&command, "source.%s::pg_catalog.text COLLATE pg_catalog.\"C\" AS %s, source.%s FROM %s AS source",
					 quote_identifier(release->id), quote_identifier(release->id),
					 quote_identifier(release->sensitive), release_from_item(release->source));
	anatomy_run(command.data, 0, NULL, NULL, NULL);
}

/* Store the groups in a temporary table: n-dependent groups with a hierarchy, plain anatomy without one. */
static void
store_groups(const AnatomyRelease *release, FunctionCallInfo fcinfo)
{
	Oid types[5] = {TEXTOID, TEXTOID, INT4OID, TEXTOID, INT4OID};
	Datum values[5] = {CStringGetTextDatum(release->id), CStringGetTextDatum(release->sensitive),
					   PG_GETARG_DATUM(6), PG_GETARG_DATUM(5), PG_GETARG_DATUM(7)};
	char nulls[5] = {' ', ' ', PG_ARGISNULL(6) ? 'n' : ' ', ' ', PG_ARGISNULL(7) ? 'n' : ' '};
	bool plain = PG_ARGISNULL(5);

	anatomy_run(plain ? "CREATE TEMPORARY TABLE " GROUPS " AS SELECT id, grp, sensitive FROM kanon.anatomy($$" ROWS
						"$$, $1, $2, $3, NULL)"
					  : "CREATE TEMPORARY TABLE " GROUPS " AS SELECT id, grp, sensitive FROM kanon.n_dependency($$" ROWS
						"$$, $1, $2, $4, $3, $5, NULL)",
				plain ? 3 : 5, types, values, nulls);
}

/* Write the two tables, and drop the temporary ones. */
static void
write_tables(const AnatomyRelease *release)
{
	StringInfoData command;

	initStringInfo(&command);
	appendStringInfo(&command, "CREATE TABLE %s AS SELECT ", release->qit);
	append_quasi_ids(&command, release, "r");
	appendStringInfo(&command,
					 "g.grp FROM " ROWS " AS r JOIN " GROUPS
					 " AS g ON r.%s OPERATOR(pg_catalog.=) g.id COLLATE pg_catalog.\"C\""
					 " ORDER BY pg_catalog.gen_random_uuid()",
					 quote_identifier(release->id));
	anatomy_run(command.data, 0, NULL, NULL, NULL);

	anatomy_run(psprintf("CREATE TABLE %s AS SELECT g.grp, g.sensitive AS value, pg_catalog.count(*)::pg_catalog.int4 AS count"
						 " FROM " GROUPS " AS g GROUP BY g.grp, g.sensitive ORDER BY pg_catalog.gen_random_uuid()",
						 release->st),
				0, NULL, NULL, NULL);
	anatomy_run("DROP TABLE " ROWS ", " GROUPS, 0, NULL, NULL, NULL);
}

/* Publish a release: publish_anatomy(name, source, id, quasi_ids, sensitive, dgh, l, n). */
Datum
kanon_publish_anatomy(PG_FUNCTION_ARGS)
{
	AnatomyRelease release = {0};
	char *name = argument_text(fcinfo, 0, "name");

	release.source = argument_text(fcinfo, 1, "source");
	release.id = argument_text(fcinfo, 2, "id");
	release.sensitive = argument_text(fcinfo, 4, "sensitive");
	(void) anatomy_int_arg(fcinfo, 6, "l", 2);
	release.quasi_ids = argument_names(fcinfo, 3, "quasi_ids", &release.nquasi);
	for (int i = 0; i < release.nquasi; i++)
		check_quasi_id(&release, release.quasi_ids[i]);
	if (PG_ARGISNULL(5) && !PG_ARGISNULL(7))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("n needs a hierarchy")));

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	release.qit = new_table(name, "qit");
	release.st = new_table(name, "st");
	copy_source(&release);
	store_groups(&release, fcinfo);
	write_tables(&release);
	SPI_finish();
	PG_RETURN_VOID();
}
