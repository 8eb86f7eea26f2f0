/*
 * create.c
 *		Creating, altering and dropping A-views.
 *
 * The view is created by CREATE VIEW, with the caller's rights and under the
 * caller's name.  What kanon's tables say about it is written with the rights of
 * their owner: nobody else may write there.
 */
#include "base/kanon.h"

#include "ddl/create.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "commands/tablecmds.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "aview/aview.h"
#include "base/extension.h"
#include "base/progress.h"
#include "base/settings.h"
#include "ddl/position.h"
#include "ddl/recoding.h"
#include "hierarchy/dgh.h"
#include "matview/matview.h"
#include "policy/profile.h"

PG_FUNCTION_INFO_V1(kanon_create_anonymization_view);
PG_FUNCTION_INFO_V1(kanon_drop_anonymization_view);
PG_FUNCTION_INFO_V1(kanon_alter_anonymization_view);

static pg_noreturn void
bad_argument(const char *name, const char *value, const char *rule)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s is %s, but it must be %s", name, value, rule)));
}

static pg_noreturn void
not_yet(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("anonymization views do not support %s yet", name)));
}

static void
check_k(int k)
{
	if (k < 0)
		bad_argument("k", psprintf("%d", k), "0 or more");
}

static void
check_l(int l)
{
	if (l < 1)
		bad_argument("l", psprintf("%d", l), "1 or more");
}

static void
check_t(double t)
{
	if (!(t > 0 && t <= 1))
		bad_argument("t", psprintf("%g", t), "above 0 and at most 1");
}

static void
check_match(const char *match)
{
	if (strcmp(match, "cover") != 0 && strcmp(match, "witness") != 0)
		bad_argument("match", psprintf("\"%s\"", match), "cover or witness");
}

static void
check_block_size(int block_size)
{
	if (block_size < 1)
		bad_argument("block_size", psprintf("%d", block_size), "1 or more");
}

/* l, t and block_size would guarantee nothing, in silence, without the columns that they are about. */
static pg_noreturn void
missing_column(const char *argument, const char *role)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s needs %s", argument, role)));
}

static bool
asks_for(const AViewRequest *request, ColumnRole role)
{
	ListCell *cell;

	foreach (cell, request->columns)
	{
		if (((ColumnRequest *) lfirst(cell))->role == role)
			return true;
	}
	return false;
}

/* Groups are stored for all time: there must be some, and rows must be told apart. */
static void
check_materialized(const AViewRequest *request)
{
	if (!asks_for(request, ROLE_ID))
		missing_column("a materialized anonymization view", "an identifier");
	if (!asks_for(request, ROLE_QUASI))
		missing_column("a materialized anonymization view", "a quasi-identifier");
	if (request->profile && (request->has_l || request->has_t) && (request->profile->level || request->profile->levels))
		not_yet("materialized groups with sa_level and l or t");
	if (request->has_k && request->k < 2)
		bad_argument("k", psprintf("%d", request->k), "2 or more for a materialized anonymization view");
	if (request->has_block_size)
		not_yet("materialized groups with block_size");
	if (strcmp(request->algorithm, "datafly") != 0)
		not_yet("materialized groups of an algorithm other than datafly");
}

static void
check_request(const AViewRequest *request)
{
	if (!request->has_k && (request->profile == NULL || request->profile->k == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("anonymization view \"%s\" needs a k", request->name),
				 errhint("For example k => 5: each published row then looks like those of at least 4 other people.")));
	if (request->has_k)
		check_k(request->k);
	if (request->has_l)
		check_l(request->l);
	if (request->has_t)
		check_t(request->t);
	check_match(request->match);
	if (strcmp(request->algorithm, "datafly") != 0 && strcmp(request->algorithm, "mondrian") != 0)
		bad_argument("algorithm", psprintf("\"%s\"", request->algorithm), "datafly or mondrian");
	if (request->has_block_size)
		check_block_size(request->block_size);
	if (request->preselect && strcmp(request->preselect, "published") != 0 && strcmp(request->preselect, "hidden") != 0)
		bad_argument("preselect", psprintf("\"%s\"", request->preselect), "published or hidden");
	if (!asks_for(request, ROLE_SENSITIVE) && (request->has_l || request->has_t))
		missing_column(request->has_l ? "l" : "t", "a sensitive column");
	if (!asks_for(request, ROLE_ID) && request->has_block_size)
		missing_column("block_size", "an identifier");
	if (request->materialized)
		check_materialized(request);
}

static int
find_column(TupleDesc desc, const char *name)
{
	for (int i = 0; i < desc->natts; i++)
	{
		if (strcmp(NameStr(TupleDescAttr(desc, i)->attname), name) == 0)
			return i;
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("the source has no column \"%s\"", name)));
}

/* A date is no number, and nothing of one is in a hierarchy of the others. */
static void
check_hierarchy(const ColumnRequest *column, Oid type)
{
	DghKind kind = dgh_get(column->dgh)->kind;
	char category = TypeCategory(getBaseType(type));
	bool never_date = category == TYPCATEGORY_NUMERIC || category == TYPCATEGORY_BOOLEAN;
	bool never_number = category == TYPCATEGORY_DATETIME || category == TYPCATEGORY_BOOLEAN;

	if ((kind == DGH_DATE && never_date) || (kind == DGH_INTERVAL && never_number))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is of type %s, but hierarchy \"%s\" is one of %s", column->name, format_type_be(type),
						column->dgh, kind == DGH_DATE ? "dates" : "numbers"),
				 errdetail("It would know none of the values: they could be shown only as they are or as everything.")));
}

/* Can the column's values be published so? */
static void
check_column(const AViewRequest *request, const ColumnRequest *column, Oid type)
{
	if (column->dgh)
		check_hierarchy(column, type);
	if (column->role == ROLE_ID && request->has_block_size && !OidIsValid(lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("identifier \"%s\" is of type %s, which has no order", column->name, format_type_be(type)),
				 errdetail("With block_size, rows are divided in the order of their identifiers.")));
	if (column->role == ROLE_QUASI && (type_is_array(type) || type_is_rowtype(type) || get_typtype(type) == TYPTYPE_PSEUDO))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("quasi-identifier \"%s\" is of type %s, which has no single values to generalize", column->name,
						format_type_be(type)),
				 errhint("Use the parts of it that identify people as columns of their own.")));
}

/* Each column's request, or null, in the order of the source. */
static ColumnRequest **
match_columns(const AViewRequest *request, TupleDesc desc)
{
	ColumnRequest **columns = palloc0(Max(desc->natts, 1) * sizeof(ColumnRequest *));
	ListCell *cell;

	foreach (cell, request->columns)
	{
		ColumnRequest *column = lfirst(cell);
		ErrorPlace place;
		int index;

		error_place_at(&place, request->text, column->location);
		index = find_column(desc, column->name);
		if (columns[index])
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("column \"%s\" is named twice", column->name),
					 errdetail("A column is an identifier, a quasi-identifier or sensitive, and only one of them.")));
		check_column(request, column, TupleDescAttr(desc, index)->atttypid);
		error_place_leave(&place);
		columns[index] = column;
	}
	return columns;
}

static void
append_column(StringInfo command, Form_pg_attribute attribute, const ColumnRequest *column)
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

/*
 * CREATE VIEW name AS SELECT ... FROM kanon.scan('<id>') AS ... WHERE true OR EXISTS (source)
 */
static void
create_view(RangeVar *name, int32 id, const char *query, TupleDesc desc, ColumnRequest **columns)
{
	StringInfoData command;

	initStringInfo(&command);
	appendStringInfo(&command, "CREATE VIEW %s AS SELECT ",
					 name->schemaname ? quote_qualified_identifier(name->schemaname, name->relname) : quote_identifier(name->relname));
	for (int i = 0; i < desc->natts; i++)
		appendStringInfo(&command, "%sscan.%s", i > 0 ? ", " : "", quote_identifier(NameStr(TupleDescAttr(desc, i)->attname)));
	appendStringInfo(&command, " FROM kanon.scan('%d'::pg_catalog.text) AS scan (", id);
	for (int i = 0; i < desc->natts; i++)
	{
		appendStringInfoString(&command, i > 0 ? ", " : "");
		append_column(&command, TupleDescAttr(desc, i), columns[i]);
	}
	/* A comment at the end of the source must not swallow the parenthesis. */
	appendStringInfo(&command, ") WHERE true OR EXISTS (%s\n)", query);
	if (SPI_execute(command.data, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "could not create view \"%s\"", name->relname);
}

static const char *
role_name(ColumnRole role)
{
	return role == ROLE_ID ? "id" : (role == ROLE_QUASI ? "quasi" : "sensitive");
}

/* Keeps others from dropping a hierarchy before they see that it is used. */
static void
keep_hierarchy(const char *name)
{
	Oid types[1] = {TEXTOID};
	Datum values[1] = {CStringGetTextDatum(name)};

	kanon_execute("SELECT FROM kanon.dgh WHERE name OPERATOR(pg_catalog.=) $1 FOR KEY SHARE", 1, types, values, NULL);
}

static void
store_definition(const AViewRequest *request, int32 id, Oid view, TupleDesc desc, ColumnRequest **columns)
{
	Oid types[11] = {INT4OID, OIDOID, INT4OID, INT4OID, FLOAT8OID, TEXTOID, TEXTOID, INT4OID, TEXTOID, BOOLOID, TEXTARRAYOID};
	Datum values[11] = {
		Int32GetDatum(id), ObjectIdGetDatum(view), Int32GetDatum(request->k), Int32GetDatum(request->l),
		Float8GetDatum(request->t), CStringGetTextDatum(request->match), CStringGetTextDatum(request->algorithm),
		Int32GetDatum(request->block_size), CStringGetTextDatum(request->preselect ? request->preselect : "published"),
		BoolGetDatum(request->keep_order), PointerGetDatum(settings_collect(request->session_settings))};
	char nulls[12] = "           ";

	nulls[2] = request->has_k ? ' ' : 'n';
	nulls[3] = request->l == 0 ? 'n' : ' ';
	nulls[4] = request->t == 0 ? 'n' : ' ';
	nulls[7] = request->block_size == 0 ? 'n' : ' ';
	kanon_execute("INSERT INTO kanon.aview (id, view, k, l, t, match, algorithm, block_size, preselect, keep_order, settings)"
						   " VALUES ($1, $2::pg_catalog.regclass, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
						   11, types, values, nulls);
	for (int i = 0; i < desc->natts; i++)
	{
		Oid column_types[4] = {INT4OID, INT2OID, TEXTOID, TEXTOID};
		Datum column_values[4] = {Int32GetDatum(id), Int16GetDatum(i + 1)};
		char column_nulls[5] = "    ";

		if (columns[i] == NULL)
			continue;
		if (columns[i]->dgh)
			keep_hierarchy(columns[i]->dgh);
		column_values[2] = CStringGetTextDatum(role_name(columns[i]->role));
		if (columns[i]->dgh)
			column_values[3] = CStringGetTextDatum(columns[i]->dgh);
		else
			column_nulls[3] = 'n';
		kanon_execute("INSERT INTO kanon.aview_column (aview, attnum, role, dgh) VALUES ($1, $2, $3, $4)",
							   4, column_types, column_values, column_nulls);
	}
}

static int32
next_id(void)
{
	Oid sequence = kanon_relation("aview_serial");

	/* Forget what was said about temporary views of sessions that are gone. */
	kanon_execute("DELETE FROM kanon.aview WHERE view::pg_catalog.oid OPERATOR(pg_catalog.<>)"
						   " ALL (SELECT oid FROM pg_catalog.pg_class WHERE relkind OPERATOR(pg_catalog.=) 'v')",
						   0, NULL, NULL, NULL);
	return (int32) nextval_internal(sequence, false);
}

/* With too few sensitive values, nothing but suppressed rows would be published. */
static void
warn_of_diversity(const AView *aview)
{
	for (int i = 0; i < aview->ncolumns && aview->l > 0; i++)
	{
		const AViewColumn *column = &aview->columns[i];
		int64 distinct;

		if (column->role != ROLE_SENSITIVE)
			continue;
		distinct = aview_count_distinct(aview, i);
		if (distinct < aview->l)
			ereport(WARNING,
					(errmsg("l is %d, but the sensitive column \"%s\" has only " INT64_FORMAT " values", aview->l, column->name, distinct),
					 errdetail("All rows will be suppressed.")));
	}
}

/* The temporary relation of a name; 0 if there is none. */
static Oid
temporary_relation(const RangeVar *name)
{
	Oid namespace = LookupExplicitNamespace("pg_temp", true);

	return OidIsValid(namespace) ? get_relname_relid(name->relname, namespace) : InvalidOid;
}

/*
 * The view just created.  A name without schema does not say which one it is: a
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

Oid
aview_create(const AViewRequest *request)
{
	RangeVar *name = makeRangeVarFromNameList(kanon_name_list(request->name));
	char *query;
	TupleDesc desc;
	ColumnRequest **columns;
	AView *aview;
	int32 id;
	Oid temporary;
	Oid view;

	check_request(request);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	query = aview_read_source(request, &desc);
	columns = match_columns(request, desc);
	if (request->profile)
	{
		request->profile->for_all = request->materialized;
		query = profile_join(request->profile, query, desc, columns);
	}
	id = next_id();
	temporary = temporary_relation(name);
	create_view(name, id, query, desc, columns);
	view = find_created(name, temporary);
	store_definition(request, id, view, desc, columns);
	SPI_finish();

	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	aview = aview_load(id);
	aview_store_recoding(aview);
	warn_of_diversity(aview);
	if (request->materialized)
		matview_create(aview_load(id));
	PopActiveSnapshot();
	return view;
}

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

static List *
add_request(List *requests, char *name, char *dgh, ColumnRole role)
{
	ColumnRequest *request = palloc0(sizeof(ColumnRequest));

	request->name = name;
	request->dgh = dgh;
	request->role = role;
	request->location = -1;
	return lappend(requests, request);
}

static List *
read_ids(List *requests, ArrayType *names)
{
	Datum *elements;
	bool *nulls;
	int count;

	deconstruct_array(names, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("the name of an identifier must not be null")));
		requests = add_request(requests, TextDatumGetCString(elements[i]), NULL, ROLE_ID);
	}
	return requests;
}

static char *
jsonb_text(JsonbValue *value)
{
	Jsonb *json = JsonbValueToJsonb(value);

	return JsonbToCString(NULL, &json->root, VARSIZE(json));
}

/* {"column": "hierarchy" or null, ...} */
static List *
read_columns(List *requests, Jsonb *columns, ColumnRole role, const char *argument)
{
	JsonbIterator *iterator = JsonbIteratorInit(&columns->root);
	JsonbIteratorToken token;
	JsonbValue value;
	char *name = NULL;

	if (!JB_ROOT_IS_OBJECT(columns))
		bad_argument(argument, JsonbToCString(NULL, &columns->root, VARSIZE(columns)),
					 "an object of column and hierarchy, such as {\"birth\": \"years\", \"sex\": null}");
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			name = pnstrdup(value.val.string.val, value.val.string.len);
		else if (token == WJB_VALUE && value.type == jbvString)
			requests = add_request(requests, name, pnstrdup(value.val.string.val, value.val.string.len), role);
		else if (token == WJB_VALUE && value.type == jbvNull)
			requests = add_request(requests, name, NULL, role);
		else if (token == WJB_VALUE)
			bad_argument(psprintf("the hierarchy of \"%s\"", name), jsonb_text(&value), "the name of a hierarchy or null");
	}
	return requests;
}

Datum
kanon_create_anonymization_view(PG_FUNCTION_ARGS)
{
	AViewRequest request = {0};
	ErrorText source;
	Oid view;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("an anonymization view needs a name and a query")));
	request.name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	request.query = text_to_cstring(PG_GETARG_TEXT_PP(1));
	error_text_init(&source, request.query);
	request.text = &source;
	if (!PG_ARGISNULL(2))
		request.columns = read_ids(request.columns, PG_GETARG_ARRAYTYPE_P(2));
	if (!PG_ARGISNULL(3))
		request.columns = read_columns(request.columns, PG_GETARG_JSONB_P(3), ROLE_QUASI, "quasi_ids");
	if (!PG_ARGISNULL(4))
		request.columns = read_columns(request.columns, PG_GETARG_JSONB_P(4), ROLE_SENSITIVE, "sensitive");
	request.has_k = !PG_ARGISNULL(5);
	request.k = request.has_k ? PG_GETARG_INT32(5) : 0;
	request.has_l = !PG_ARGISNULL(6);
	request.l = request.has_l ? PG_GETARG_INT32(6) : 0;
	request.has_t = !PG_ARGISNULL(7);
	request.t = request.has_t ? PG_GETARG_FLOAT8(7) : 0;
	if (!PG_ARGISNULL(8))
		request.profile = profile_of_json(PG_GETARG_JSONB_P(8));
	request.algorithm = PG_ARGISNULL(9) ? "datafly" : text_to_cstring(PG_GETARG_TEXT_PP(9));
	request.match = PG_ARGISNULL(10) ? "cover" : text_to_cstring(PG_GETARG_TEXT_PP(10));
	request.materialized = !PG_ARGISNULL(11) && PG_GETARG_BOOL(11);
	request.has_block_size = !PG_ARGISNULL(12);
	request.block_size = request.has_block_size ? PG_GETARG_INT32(12) : 0;
	request.preselect = PG_ARGISNULL(13) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(13));
	request.keep_order = !PG_ARGISNULL(14) && PG_GETARG_BOOL(14);
	request.session_settings = PG_ARGISNULL(15) ? NULL : PG_GETARG_ARRAYTYPE_P(15);
	progress_start(fcinfo);
	view = aview_create(&request);
	progress_end();
	PG_RETURN_OID(view);
}

Datum
kanon_drop_anonymization_view(PG_FUNCTION_ARGS)
{
	aview_drop(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PG_RETURN_VOID();
}

static bool
has_column(const AView *aview, ColumnRole role)
{
	for (int i = 0; i < aview->ncolumns; i++)
	{
		if (aview->columns[i].role == role)
			return true;
	}
	return false;
}

static void
check_change(FunctionCallInfo fcinfo, const AView *aview)
{
	if (!PG_ARGISNULL(1))
		check_k(PG_GETARG_INT32(1));
	if (!PG_ARGISNULL(2))
		check_l(PG_GETARG_INT32(2));
	if (!PG_ARGISNULL(3))
		check_t(PG_GETARG_FLOAT8(3));
	if (!PG_ARGISNULL(4))
		check_match(text_to_cstring(PG_GETARG_TEXT_PP(4)));
	if (!PG_ARGISNULL(5))
		check_block_size(PG_GETARG_INT32(5));
	if ((!PG_ARGISNULL(2) || !PG_ARGISNULL(3)) && !has_column(aview, ROLE_SENSITIVE))
		missing_column(PG_ARGISNULL(2) ? "t" : "l", "a sensitive column");
	if (!PG_ARGISNULL(5) && !has_column(aview, ROLE_ID))
		missing_column("block_size", "an identifier");
}

/* The view is locked first, as by ALTER VIEW: running queries keep the definition that they started with. */
static AView *
load_to_alter(const char *name)
{
	RangeVar *range = makeRangeVarFromNameList(kanon_name_list(name));
	Oid view = RangeVarGetRelidExtended(range, AccessExclusiveLock, 0, RangeVarCallbackOwnsRelation, NULL);

	return aview_load(aview_id_of_view(view));
}

/* alter_anonymization_view(name, k, l, t, match, block_size): null leaves as it is */
Datum
kanon_alter_anonymization_view(PG_FUNCTION_ARGS)
{
	Oid types[6] = {INT4OID, INT4OID, INT4OID, FLOAT8OID, TEXTOID, INT4OID};
	Datum values[6];
	char nulls[7] = "      ";
	AView *aview;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the name of an anonymization view must not be null")));
	aview = load_to_alter(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	aview_check_not_materialized(aview);
	check_change(fcinfo, aview);
	values[0] = Int32GetDatum(aview->id);
	for (int i = 1; i < 6; i++)
	{
		values[i] = PG_ARGISNULL(i) ? (Datum) 0 : PG_GETARG_DATUM(i);
		nulls[i] = PG_ARGISNULL(i) ? 'n' : ' ';
	}
	kanon_execute("UPDATE kanon.aview SET k = coalesce($2, k), l = coalesce($3, l), t = coalesce($4, t),"
						   " match = coalesce($5, match), block_size = coalesce($6, block_size)"
						   " WHERE id OPERATOR(pg_catalog.=) $1",
						   6, types, values, nulls);
	CommandCounterIncrement();
	warn_of_diversity(aview_load(aview->id));
	PG_RETURN_VOID();
}
