/*
 * describe.c
 *		What a view's definition says, as rows: for kanon.policy() and whatever else
 *		puts it into words.
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
PG_FUNCTION_INFO_V1(kanon_aview_selects);

static AView *
load_readable(Oid view)
{
	int32 id = aview_id_of_view(view);

	if (pg_class_aclcheck(view, GetUserId(), ACL_SELECT) != ACLCHECK_OK && !kanon_owns_relation(view, GetUserId()))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_VIEW, get_rel_name(view));
	return aview_load(id);
}

/* A table's column as a value of type name. */
static Datum
name_datum(Oid table, AttrNumber attnum)
{
	Name name = palloc0(NAMEDATALEN);

	namestrcpy(name, get_attname(table, attnum, false));
	return NameGetDatum(name);
}

static void
put_choice(const AView *aview, int column, Datum *value, bool *isnull)
{
	Oid table;
	AttrNumber attnum = column < 0 ? 0 : choice_attribute(aview, column, &table);

	*isnull = attnum == 0;
	if (attnum > 0)
		*value = name_datum(table, attnum);
}

static const char *const role_names[] = {
	[ROLE_OTHER] = "other",
	[ROLE_ID] = "id",
	[ROLE_QUASI] = "quasi",
	[ROLE_SENSITIVE] = "sensitive",
};

/* aview_columns(view) -> (column, role, dgh, base_table, base_column, disclose, retain, level) */
Datum
kanon_aview_columns(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	AView *aview = load_readable(PG_GETARG_OID(0));

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
			values[4] = name_datum(table, attnum);
		put_choice(aview, column->disclose, &values[5], &nulls[5]);
		put_choice(aview, column->retain, &values[6], &nulls[6]);
		put_choice(aview, column->level, &values[7], &nulls[7]);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* aview_profile(view) -> (choices, k, purpose, recipient, view_key, choices_key); no row without a profile */
Datum
kanon_aview_profile(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	AView *aview = load_readable(PG_GETARG_OID(0));
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
	put_choice(aview, aview->profile->k, &values[1], &nulls[1]);
	nulls[2] = key.purpose == 0;
	values[2] = nulls[2] ? (Datum) 0 : name_datum(key.table, key.purpose);
	nulls[3] = key.recipient == 0;
	values[3] = nulls[3] ? (Datum) 0 : name_datum(key.table, key.recipient);
	view_names = palloc(list_length(key.view_columns) * sizeof(Datum));
	choice_names = palloc(list_length(key.view_columns) * sizeof(Datum));
	foreach (cell, key.view_columns)
	{
		view_names[i] = CStringGetTextDatum(aview->columns[lfirst_int(cell)].name);
		choice_names[i] = CStringGetTextDatum(get_attname(key.table, list_nth_int(key.choices, i), false));
		i++;
	}
	values[4] = PointerGetDatum(construct_array(view_names, i, TEXTOID, -1, false, TYPALIGN_INT));
	values[5] = PointerGetDatum(construct_array(choice_names, i, TEXTOID, -1, false, TYPALIGN_INT));
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	return (Datum) 0;
}

/* aview_selects(view): does its source leave out rows of the table behind it? */
Datum
kanon_aview_selects(PG_FUNCTION_ARGS)
{
	const Query *rows = load_readable(PG_GETARG_OID(0))->rows;

	PG_RETURN_BOOL(rows->jointree->quals || rows->limitCount || rows->limitOffset || rows->distinctClause || rows->havingQual);
}
