/*
 * create.c
 *		Creating and dropping A-views.
 *
 * The view is created by CREATE VIEW, with the rights of the caller, who owns it.
 * The rows of kanon's tables about it are written with the rights of the owner of
 * these tables, as no other role may write there.
 */
#include "base/kanon.h"

#include "ddl/create.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "executor/spi.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/varlena.h"

#include "aview/aview.h"
#include "base/extension.h"
#include "base/settings.h"
#include "ddl/recoding.h"
#include "ddl/remarks.h"
#include "matview/matview.h"
#include "policy/profile.h"

/* Append the definition of a column of kanon.scan's result. */
static void
append_scan_column(StringInfo command, Form_pg_attribute attribute, const ColumnRequest *column)
{
	bool generalized = column && (column->role == ROLE_QUASI || (column->role == ROLE_SENSITIVE && column->dgh));

	appendStringInfoString(command, quote_identifier(NameStr(attribute->attname)));
	if (generalized)
		appendStringInfoString(command, " kanon.generalized");
	else
	{
		appendStringInfo(command, " %s",
						 format_type_extended(attribute->atttypid, attribute->atttypmod,
											  FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
		if (OidIsValid(attribute->attcollation) && attribute->attcollation != get_typcollation(attribute->atttypid))
			appendStringInfo(command, " COLLATE %s", generate_collation_name(attribute->attcollation));
	}
}

/* Create the view: CREATE VIEW name AS SELECT ... FROM kanon.scan('<id>') AS ... WHERE true OR EXISTS (source). */
static void
create_view(RangeVar *name, int32 id, const RequestedSource *source)
{
	TupleDesc desc = source->desc;
	StringInfoData command;

	initStringInfo(&command);
	appendStringInfo(&command, "CREATE VIEW %s AS SELECT ",
					 name->schemaname ? quote_qualified_identifier(name->schemaname, name->relname)
									  : quote_identifier(name->relname));
	for (int i = 0; i < source->nshown; i++)
		appendStringInfo(&command, "%sscan.%s", i > 0 ? ", " : "",
						 quote_identifier(NameStr(TupleDescAttr(desc, i)->attname)));
	appendStringInfo(&command, " FROM kanon.scan('%d'::pg_catalog.text) AS scan (", id);
	for (int i = 0; i < source->nshown; i++)
	{
		appendStringInfoString(&command, i > 0 ? ", " : "");
		append_scan_column(&command, TupleDescAttr(desc, i), source->columns[i]);
	}
	/* A comment at the end of the source must not swallow the parenthesis. */
	appendStringInfo(&command, ") WHERE true OR EXISTS (%s\n)", source->query);
	if (SPI_execute(command.data, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "could not create view \"%s\"", name->relname);
}

/* Return a role as kanon.aview_column stores it. */
static const char *
role_name(ColumnRole role)
{
	Assert(role != ROLE_OTHER);
	return role == ROLE_ID ? "id" : (role == ROLE_QUASI ? "quasi" : "sensitive");
}

/*
 * Lock a hierarchy until the definition is committed, so that other sessions do not drop
 * it before they see that it is used.
 */
static void
keep_hierarchy(const char *name)
{
	Oid types[1] = {TEXTOID};
	Datum values[1] = {CStringGetTextDatum(name)};

	kanon_execute("SELECT FROM kanon.dgh WHERE name OPERATOR(pg_catalog.=) $1 FOR KEY SHARE", 1, types, values, NULL);
}

/* Store the role, the hierarchy and the levels of a column, counted from 1. */
static void
store_column(int32 id, int attnum, const ColumnRequest *column)
{
	Oid types[6] = {INT4OID, INT2OID, TEXTOID, TEXTOID, INT4OID, INT4OID};
	Datum values[6] = {Int32GetDatum(id),
					   Int16GetDatum(attnum),
					   CStringGetTextDatum(role_name(column->role)),
					   (Datum) 0,
					   Int32GetDatum(column->lowest),
					   Int32GetDatum(column->highest)};
	char nulls[7] = "      ";

	if (column->dgh)
	{
		keep_hierarchy(column->dgh);
		values[3] = CStringGetTextDatum(column->dgh);
	}
	else
		nulls[3] = 'n';
	if (!column->limited)
		nulls[4] = nulls[5] = 'n';
	kanon_execute("INSERT INTO kanon.aview_column (aview, attnum, role, dgh, lowest, highest)"
				  " VALUES ($1, $2, $3, $4, $5, $6)",
				  6, types, values, nulls);
}

/* Store the definition of a view. */
static void
store_definition(const AViewRequest *request, int32 id, Oid view, const RequestedSource *source)
{
	Oid types[11] = {INT4OID, OIDOID, INT4OID, INT4OID, FLOAT8OID, TEXTOID,
					 TEXTOID, INT4OID, TEXTOID, BOOLOID, TEXTARRAYOID};
	Datum values[11] = {
		Int32GetDatum(id), ObjectIdGetDatum(view), Int32GetDatum(request->k), Int32GetDatum(request->l),
		Float8GetDatum(request->t), CStringGetTextDatum(request->match), CStringGetTextDatum(request->algorithm),
		Int32GetDatum(request->block_size), CStringGetTextDatum(request->preselect ? request->preselect : "published"),
		BoolGetDatum(request->keep_order), PointerGetDatum(settings_collect(request->session_settings))};
	char nulls[12] = "           ";

	Assert(OidIsValid(view));
	nulls[2] = request->has_k ? ' ' : 'n';
	nulls[3] = request->l == 0 ? 'n' : ' ';
	nulls[4] = request->t == 0 ? 'n' : ' ';
	nulls[7] = request->block_size == 0 ? 'n' : ' ';
	kanon_execute("INSERT INTO kanon.aview (id, view, k, l, t, match, algorithm, block_size, preselect, keep_order, settings)"
				  " VALUES ($1, $2::pg_catalog.regclass, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
				  11, types, values, nulls);
	for (int i = 0; i < source->nshown; i++)
	{
		if (source->columns[i] && source->columns[i]->role != ROLE_OTHER)
			store_column(id, i + 1, source->columns[i]);
	}
}

/* Return a number for a new definition, after deleting the definitions of temporary views of sessions that are gone. */
static int32
next_id(void)
{
	Oid sequence = kanon_relation("aview_serial");

	kanon_execute("DELETE FROM kanon.aview WHERE view::pg_catalog.oid OPERATOR(pg_catalog.<>)"
				  " ALL (SELECT oid FROM pg_catalog.pg_class WHERE relkind OPERATOR(pg_catalog.=) 'v')",
				  0, NULL, NULL, NULL);
	return (int32) nextval_internal(sequence, false);
}

/* Return the temporary relation of a name, or InvalidOid if there is none. */
static Oid
temporary_relation(const RangeVar *name)
{
	Oid namespace = LookupExplicitNamespace("pg_temp", true);

	return OidIsValid(namespace) ? get_relname_relid(name->relname, namespace) : InvalidOid;
}

/*
 * Return the view just created.  A name without schema does not say which one it is: a
 * temporary relation of that name may have been there before, or the view may have
 * become temporary because its source is.
 */
static Oid
find_created(RangeVar *name, Oid temporary_before)
{
	Oid temporary;

	if (name->schemaname)
		return RangeVarGetRelid(name, NoLock, false);
	temporary = temporary_relation(name);
	if (OidIsValid(temporary) && temporary != temporary_before)
		return temporary;
	return get_relname_relid(name->relname, RangeVarGetCreationNamespace(name));
}

/* Create an A-view: see create.h. */
Oid
aview_create(const AViewRequest *request)
{
	RangeVar *name = makeRangeVarFromNameList(kanon_name_list(request->name));
	RequestedSource source;
	AView *aview;
	int32 id;
	Oid temporary;
	Oid view;

	request_check(request);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	source_read(request, &source);
	source.columns = request_match_columns(request, source.desc);
	source_hide_columns(request, &source);
	if (request->profile)
	{
		request->profile->for_all = request->materialized;
		source.query = profile_join(request->profile, source.query, source.desc, source.columns, source.nshown);
	}
	id = next_id();
	temporary = temporary_relation(name);
	create_view(name, id, &source);
	view = find_created(name, temporary);
	store_definition(request, id, view, &source);
	SPI_finish();

	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	aview = aview_load(id);
	aview_store_recoding(aview);
	if (request->materialized)
		matview_create(aview_load(id));
	PopActiveSnapshot();
	request_warn_of_roles(request);
	remarks_make(id, REMARK_ALL);
	return view;
}

/* Drop an A-view: see create.h. */
void
aview_drop(const char *name)
{
	Oid view = RangeVarGetRelid(makeRangeVarFromNameList(kanon_name_list(name)), NoLock, false);
	char *quoted;

	(void) aview_id_of_view(view);
	quoted = quote_qualified_identifier(get_namespace_name(get_rel_namespace(view)), get_rel_name(view));

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(psprintf("DROP VIEW %s", quoted), false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "could not drop view %s", quoted);
	SPI_finish();
}
