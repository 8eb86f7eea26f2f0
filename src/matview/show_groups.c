/*
 * show_groups.c
 *		kanon.groups: the stored groups of a materialized view, for the view's owner.
 */
#include "base/kanon.h"

#include "matview/matview.h"

#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "aview/aview.h"
#include "base/extension.h"
#include "matview/policies.h"
#include "matview/stored.h"
#include "source/source.h"

PG_FUNCTION_INFO_V1(kanon_groups);

/* Return the definition of a materialized view, for its owner only. */
AView *
matview_load_owned(Oid view)
{
	AView *aview = aview_load(aview_id_of_view(view));

	if (!kanon_owns_relation(view, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_VIEW, get_rel_name(view));
	if (!aview->materialized)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("anonymization view \"%s\" is not materialized", get_rel_name(view))));
	source_check_rights(aview);
	return aview;
}

/* Return an SQL expression for the object {"column": expression, ...} of the columns of a role. */
static char *
object_of(const AView *aview, ColumnRole role, const char *form)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, "pg_catalog.jsonb_build_object(");
	for (int i = 0; i < aview->ncolumns; i++)
	{
		if (aview->columns[i].role != role)
			continue;
		appendStringInfo(&text, "%s%s, ", text.data[text.len - 1] == '(' ? "" : ", ",
						 quote_literal_cstr(aview->columns[i].name));
		appendStringInfo(&text, form, i + 1);
	}
	appendStringInfoChar(&text, ')');
	return text.data;
}

/* kanon.groups(view): return the groups as in the paper's Fig. 10; rows that wait come last. */
Datum
kanon_groups(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	AView *aview = matview_load_owned(PG_GETARG_OID(0));
	/*
	 * Values are shown by their output functions: any role may define a cast to json, and
	 * this runs with kanon's rights.
	 */
	const char *list =
		"pg_catalog.jsonb_agg(CASE WHEN m.c%1$d IS NULL THEN NULL ELSE pg_catalog.format('%%s', m.c%1$d) END ORDER BY m.ctid)";
	StringInfoData command;
	StringInfoData cell;

	policies_check(aview);
	initStringInfo(&command);
	initStringInfo(&cell);
	for (int i = 0; i < aview->nquasi; i++)
		appendStringInfo(&cell, ", g.c%d", aview->quasi[i] + 1);
	appendStringInfo(&command,
					 "SELECT g.g_id, pg_catalog.count(*), CASE WHEN g.g_id IS NOT NULL THEN %s END, %s, %s, %s"
					 " FROM kanon.members_%d AS m LEFT JOIN kanon.groups_%d AS g ON g.g_id OPERATOR(pg_catalog.=) m.m_group%s"
					 " GROUP BY g.g_id%s ORDER BY g.g_id",
					 object_of(aview, ROLE_QUASI, "g.c%d::pg_catalog.text"), object_of(aview, ROLE_ID, list),
					 object_of(aview, ROLE_SENSITIVE, list), object_of(aview, ROLE_OTHER, list), aview->id, aview->id,
					 stored_shown(aview), cell.data);
	kanon_materialize(fcinfo);
	kanon_select(command.data, result->setResult);
	return (Datum) 0;
}
