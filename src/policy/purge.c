/*
 * purge.c
 *		kanon.purge_expired: deleting values whose retention has ended.
 *
 * A value is due if its retention has an end for every purpose and recipient, and all
 * these ends have passed.  Counting and clearing runs code of others: the views and row
 * policies that choices come from, and the triggers of the table.  So both happen as
 * the view's owner, also if an administrator asks for them.
 */
#include "base/kanon.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "aview/aview.h"
#include "aview/choices.h"
#include "aview/projection.h"
#include "base/as_owner.h"

PG_FUNCTION_INFO_V1(kanon_purge_expired);

/* The values to be purged. */
typedef struct Purge
{
	const AView *aview;
	ProfileKey key;
	bool dry_run; /* only count */
} Purge;

/* Return the name of a relation as SQL. */
static char *
purge_relation(Oid relation)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), get_rel_name(relation));
}

/* Return the name of a column as SQL. */
static const char *
purge_attribute(Oid relation, AttrNumber attnum)
{
	return quote_identifier(get_attname(relation, attnum, false));
}

/* Return true if the source leaves out rows of its table. */
static bool
selects_rows(const AView *aview)
{
	const Query *rows = projection_inside(aview->rows);

	return rows->jointree->quals || rows->limitCount || rows->limitOffset || rows->distinctClause || rows->havingQual;
}

/*
 * Return the condition that choices p belong to a row b of a table, or NULL if not all columns of the key are columns
 * of that table.
 */
static char *
owner_condition(const Purge *purge, Oid base)
{
	StringInfoData text;
	ListCell *cell;

	initStringInfo(&text);
	foreach (cell, purge->key.view_columns)
	{
		Oid table = InvalidOid;
		AttrNumber attnum = aview_base_column(purge->aview, lfirst_int(cell), &table);

		if (attnum <= 0 || table != base)
			return NULL;
		appendStringInfo(&text, "%sb.%s = p.%s", text.len > 0 ? " AND " : "", purge_attribute(base, attnum),
						 purge_attribute(purge->key.table,
										 list_nth_int(purge->key.choices, foreach_current_index(cell))));
	}
	return text.len > 0 ? text.data : NULL;
}

/* Return the condition that the value of a column in a row b is due. */
static char *
due_condition(const Purge *purge, const char *column, const char *owner, int retain)
{
	char *choices = purge_relation(purge->key.table);
	Oid table;
	AttrNumber attnum = choice_attribute(purge->aview, retain, &table);
	const char *now = get_atttype(table, attnum) == DATEOID
						  ? "pg_catalog.timezone('UTC', pg_catalog.statement_timestamp())::pg_catalog.date"
						  : "pg_catalog.statement_timestamp()";

	return psprintf("b.%s IS NOT NULL AND EXISTS (SELECT FROM %s AS p WHERE %s) AND NOT EXISTS (SELECT FROM %s AS p"
					" WHERE %s AND (p.%s IS NULL OR p.%s OPERATOR(pg_catalog.>=) %s))",
					column, choices, owner, choices, owner, purge_attribute(table, attnum),
					purge_attribute(table, attnum), now);
}

/* Count or clear rows, and return how many there are. */
static int64
run_purge(const Purge *purge, const char *command)
{
	int status;
	bool isnull;
	int64 count;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	status = SPI_execute(command, false, 0);
	if (status != (purge->dry_run ? SPI_OK_SELECT : SPI_OK_UPDATE))
		elog(ERROR, "could not purge: %s", SPI_result_code_string(status));
	count = purge->dry_run ? DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull))
						   : (int64) SPI_processed;
	SPI_finish();
	return count;
}

/* Return the command for a column of the view, and set the table; raise an error if the column cannot be cleared. */
static char *
purge_command(const Purge *purge, int column, Oid *base)
{
	const AView *aview = purge->aview;
	AttrNumber attnum = aview_base_column(aview, column, base);
	char *owner = attnum > 0 && !selects_rows(aview) ? owner_condition(purge, *base) : NULL;
	const char *name;
	char *due;

	if (owner == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of anonymization view \"%s\" cannot be cleared", aview->columns[column].name,
						get_rel_name(aview->view)),
				 errdetail("The column and the profile's key must be columns of the same table, and the view must show all rows of that table.")));
	name = purge_attribute(*base, attnum);
	due = due_condition(purge, name, owner, aview->columns[column].retain);
	return purge->dry_run
			   ? psprintf("SELECT pg_catalog.count(*) FROM %s AS b WHERE %s", purge_relation(*base), due)
			   : psprintf("UPDATE %s AS b SET %s = NULL WHERE %s", purge_relation(*base), name, due);
}

/* Purge a column, and return a row with its name, its table and the number of values. */
static void
purge_column(const Purge *purge, int column, ReturnSetInfo *result)
{
	Oid base;
	char *command = purge_command(purge, column, &base);
	NameData name;
	Datum values[3];
	bool nulls[3] = {false};

	namestrcpy(&name, purge->aview->columns[column].name);
	values[0] = NameGetDatum(&name);
	values[1] = ObjectIdGetDatum(base);
	values[2] = Int64GetDatum(run_purge(purge, command));
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Return the values to be purged; raise an error unless the caller owns the view and some column has an end. */
static void
purge_load(Purge *purge, Oid view)
{
	bool any = false;
	int32 id;

	if (get_rel_name(view) && !kanon_owns_relation(view, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_VIEW, get_rel_name(view));
	id = aview_id_of_view(view);
	purge->aview = aview_load(id);
	for (int i = 0; i < purge->aview->ncolumns; i++)
		any = any || purge->aview->columns[i].retain >= 0;
	if (!any)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("anonymization view \"%s\" has no column with a limited retention", get_rel_name(view)),
				 errhint("Name its retention columns in the \"retain\" part of the view's profile.")));
	profile_key(purge->aview, &purge->key);
}

/*
 * Clear the values that are due, or only count them: purge_expired(view, dry_run).
 *
 * The owner herself does so without restrictions, as by an UPDATE of her own, which may have deferred triggers.
 */
Datum
kanon_purge_expired(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Purge purge = {0};
	bool switches;
	AsOwner scope;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("view and dry_run must not be null")));
	purge.dry_run = PG_GETARG_BOOL(1);
	purge_load(&purge, PG_GETARG_OID(0));
	kanon_materialize(fcinfo);
	switches = GetUserId() != purge.aview->owner;
	if (switches)
		as_owner_start(&scope, purge.aview->owner, NULL);
	for (int i = 0; i < purge.aview->ncolumns; i++)
	{
		if (purge.aview->columns[i].retain >= 0)
			purge_column(&purge, i, result);
	}
	if (switches)
		as_owner_end(&scope);
	return (Datum) 0;
}
