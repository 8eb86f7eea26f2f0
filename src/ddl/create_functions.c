/*
 * create_functions.c
 *		The SQL functions that create, drop and alter A-views.
 */
#include "base/kanon.h"

#include "ddl/create.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "commands/tablecmds.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/regproc.h"
#include "utils/varlena.h"

#include "aview/aview.h"
#include "base/extension.h"
#include "base/progress.h"
#include "ddl/position.h"
#include "policy/profile.h"

PG_FUNCTION_INFO_V1(kanon_create_anonymization_view);
PG_FUNCTION_INFO_V1(kanon_drop_anonymization_view);
PG_FUNCTION_INFO_V1(kanon_alter_anonymization_view);

/* Append a request for a column to a list; it has no position in a text. */
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

/* Append requests for the columns of a role in an array of names. */
static List *
read_names(List *requests, ArrayType *names, ColumnRole role)
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
					 errmsg(role == ROLE_ID ? "the name of an identifier must not be null"
											: "the name of a column must not be null")));
		requests = add_request(requests, TextDatumGetCString(elements[i]), NULL, role);
	}
	return requests;
}

/* Return a JSON value as text. */
static char *
jsonb_text(JsonbValue *value)
{
	Jsonb *json = JsonbValueToJsonb(value);

	return JsonbToCString(NULL, &json->root, VARSIZE(json));
}

/* Append requests for the columns of a JSON object {"column": "hierarchy" or null, ...}. */
static List *
read_columns(List *requests, Jsonb *columns, ColumnRole role, const char *argument)
{
	JsonbIterator *iterator = JsonbIteratorInit(&columns->root);
	JsonbIteratorToken token;
	JsonbValue value;
	char *name = NULL;

	if (!JB_ROOT_IS_OBJECT(columns))
		request_bad_argument(argument, JsonbToCString(NULL, &columns->root, VARSIZE(columns)),
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
			request_bad_argument(psprintf("the hierarchy of \"%s\"", name), jsonb_text(&value),
								 "the name of a hierarchy or null");
	}
	return requests;
}

/*
 * Create an A-view: create_anonymization_view(name, query, id, quasi_ids, sensitive, k,
 * l, t, profile, algorithm, match, materialized, block_size, preselect, keep_order,
 * session_settings, other).
 */
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
		request.columns = read_names(request.columns, PG_GETARG_ARRAYTYPE_P(2), ROLE_ID);
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
	if (!PG_ARGISNULL(16))
		request.columns = read_names(request.columns, PG_GETARG_ARRAYTYPE_P(16), ROLE_OTHER);
	progress_start(fcinfo);
	view = aview_create(&request);
	progress_end();
	PG_RETURN_OID(view);
}

/* Drop an A-view: drop_anonymization_view(name). */
Datum
kanon_drop_anonymization_view(PG_FUNCTION_ARGS)
{
	aview_drop(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PG_RETURN_VOID();
}

/* Return true if a view has a column of a role. */
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

/* Raise an error for a bad change of a view. */
static void
check_change(FunctionCallInfo fcinfo, const AView *aview)
{
	AViewRequest change = {
		.has_k = !PG_ARGISNULL(1),
		.has_l = !PG_ARGISNULL(2),
		.has_t = !PG_ARGISNULL(3),
		.match = PG_ARGISNULL(4) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(4)),
		.has_block_size = !PG_ARGISNULL(5),
		.preselect = PG_ARGISNULL(6) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(6)),
	};

	change.k = change.has_k ? PG_GETARG_INT32(1) : 0;
	change.l = change.has_l ? PG_GETARG_INT32(2) : 0;
	change.t = change.has_t ? PG_GETARG_FLOAT8(3) : 0;
	change.block_size = change.has_block_size ? PG_GETARG_INT32(5) : 0;
	request_check_values(&change);
	request_check_roles(&change, has_column(aview, ROLE_SENSITIVE), has_column(aview, ROLE_ID));
}

/*
 * Return the definition of a view that is to be altered.  The view is locked first, as
 * by ALTER VIEW: running queries keep the definition that they started with.
 */
static AView *
load_to_alter(const char *name)
{
	RangeVar *range = makeRangeVarFromNameList(kanon_name_list(name));
	Oid view = RangeVarGetRelidExtended(range, AccessExclusiveLock, 0, RangeVarCallbackOwnsRelation, NULL);

	return aview_load(aview_id_of_view(view));
}

/* Arguments of alter_anonymization_view(); stored groups depend on those before preselect. */
#define ALTER_ARGUMENTS 7
#define ALTER_PRESELECT 6

/*
 * Alter an A-view: alter_anonymization_view(name, k, l, t, match, block_size, preselect);
 * NULL leaves a part as it is.
 */
Datum
kanon_alter_anonymization_view(PG_FUNCTION_ARGS)
{
	Oid types[ALTER_ARGUMENTS] = {INT4OID, INT4OID, INT4OID, FLOAT8OID, TEXTOID, INT4OID, TEXTOID};
	Datum values[ALTER_ARGUMENTS];
	char nulls[ALTER_ARGUMENTS + 1] = "       ";
	bool regroups = false;
	AView *aview;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the name of an anonymization view must not be null")));
	aview = load_to_alter(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	for (int i = 1; i < ALTER_ARGUMENTS; i++)
	{
		values[i] = PG_ARGISNULL(i) ? (Datum) 0 : PG_GETARG_DATUM(i);
		nulls[i] = PG_ARGISNULL(i) ? 'n' : ' ';
		regroups |= i < ALTER_PRESELECT && !PG_ARGISNULL(i);
	}
	if (regroups || PG_ARGISNULL(ALTER_PRESELECT))
		aview_check_not_materialized(aview);
	check_change(fcinfo, aview);
	values[0] = Int32GetDatum(aview->id);
	kanon_execute("UPDATE kanon.aview SET k = coalesce($2, k), l = coalesce($3, l), t = coalesce($4, t),"
				  " match = coalesce($5, match), block_size = coalesce($6, block_size),"
				  " preselect = coalesce($7, preselect) WHERE id OPERATOR(pg_catalog.=) $1",
				  ALTER_ARGUMENTS, types, values, nulls);
	CommandCounterIncrement();
	aview_warn_of_diversity(aview_load(aview->id));
	PG_RETURN_VOID();
}
