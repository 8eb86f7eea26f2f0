/*
 * describe.c
 *		The definition of a view as rows: for kanon.policy() and other SQL functions
 *		that put it into words.
 */
#include "base/kanon.h"

#include "aview/aview.h"
#include "aview/choices.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(kanon_aview_columns);
PG_FUNCTION_INFO_V1(kanon_aview_profile);

/* Return the definition of a view that the current role may read or owns; raise an error if it is neither. */
static AView *
describe_load(Oid view)
{
	int32 id = aview_id_of_view(view);

	if (!kanon_owns_relation(view, GetUserId()))
		aview_check_select(view);
	return aview_load(id);
}

/* Return the name of a table's column as a Datum of type name. */
static Datum
describe_name(Oid table, AttrNumber attnum)
{
	Name name = palloc0(NAMEDATALEN);

	namestrcpy(name, get_attname(table, attnum, false));
	return NameGetDatum(name);
}

/* Set a value to the name of the table's column that holds a choice; to NULL if there is no such column. */
static void
describe_choice(const AView *aview, int column, Datum *value, bool *isnull)
{
	Oid table;
	AttrNumber attnum = column < 0 ? 0 : choice_attribute(aview, column, &table);

	*isnull = attnum == 0;
	if (attnum > 0)
		*value = describe_name(table, attnum);
}

/* The roles as SQL names them. */
static const char *const role_names[] = {
	[ROLE_OTHER] = "other",
	[ROLE_ID] = "id",
	[ROLE_QUASI] = "quasi",
	[ROLE_SENSITIVE] = "sensitive",
};

/*
 * Return the columns of a view: aview_columns(view) -> (column, role, dgh, base_table,
 * base_column, disclose, retain, level).
 */
Datum
kanon_aview_columns(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	AView *aview = describe_load(PG_GETARG_OID(0));

	kanon_materialize(fcinfo);
	for (int i = 0; i < aview->ncolumns; i++)
	{
		const AViewColumn *column = &aview->columns[i];
		Oid table = InvalidOid;
		AttrNumber attnum = aview_base_column(aview, i, &table);
		NameData name;
		Datum values[8];
		bool nulls[8] = {false};

		namestrcpy(&name, column->name);
		values[0] = NameGetDatum(&name);
		values[1] = CStringGetTextDatum(role_names[column->role]);
		nulls[2] = column->dgh_name == NULL;
		values[2] = nulls[2] ? (Datum) 0 : CStringGetTextDatum(column->dgh_name);
		nulls[3] = nulls[4] = attnum <= 0;
		values[3] = ObjectIdGetDatum(table);
		if (attnum > 0)
			values[4] = describe_name(table, attnum);
		describe_choice(aview, column->disclose, &values[5], &nulls[5]);
		describe_choice(aview, column->retain, &values[6], &nulls[6]);
		describe_choice(aview, column->level, &values[7], &nulls[7]);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* Return the name of a column of the profile's key: in the view, or in the source if the view does not have it. */
static const char *
key_name(const AView *aview, int column)
{
	Assert(column >= 0 && column < aview->nkeyed);
	if (column < aview->ncolumns)
		return aview->columns[column].name;
	return get_tle_by_resno(aview->rows->targetList, column + 1)->resname;
}

/*
 * Return the profile of a view: aview_profile(view) -> (choices, k, purpose, recipient,
 * view_key, choices_key), or no row if it has none.
 */
Datum
kanon_aview_profile(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	AView *aview = describe_load(PG_GETARG_OID(0));
	ProfileKey key;
	Datum values[6];
	bool nulls[6] = {false};
	Datum *view_names;
	Datum *choice_names;
	ListCell *cell;
	int i = 0;

	kanon_materialize(fcinfo);
	if (aview->profile == NULL)
		return (Datum) 0;
	profile_key(aview, &key);
	values[0] = ObjectIdGetDatum(key.table);
	describe_choice(aview, aview->profile->k, &values[1], &nulls[1]);
	nulls[2] = key.purpose == 0;
	values[2] = nulls[2] ? (Datum) 0 : describe_name(key.table, key.purpose);
	nulls[3] = key.recipient == 0;
	values[3] = nulls[3] ? (Datum) 0 : describe_name(key.table, key.recipient);
	view_names = palloc(list_length(key.view_columns) * sizeof(Datum));
	choice_names = palloc(list_length(key.view_columns) * sizeof(Datum));
	foreach (cell, key.view_columns)
	{
		view_names[i] = CStringGetTextDatum(key_name(aview, lfirst_int(cell)));
		choice_names[i] = CStringGetTextDatum(get_attname(key.table, list_nth_int(key.choices, i), false));
		i++;
	}
	values[4] = PointerGetDatum(construct_array(view_names, i, TEXTOID, -1, false, TYPALIGN_INT));
	values[5] = PointerGetDatum(construct_array(choice_names, i, TEXTOID, -1, false, TYPALIGN_INT));
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	return (Datum) 0;
}
