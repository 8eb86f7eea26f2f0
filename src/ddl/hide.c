/*
 * hide.c
 *		Leaving columns of the source query out of an A-view.
 *
 * Nothing is published that was not declared: a column that has no role, and is not
 * named among the others, is not in the view.  The source then is a query around the
 * administrator's (see aview/projection.h).  Of the columns that the view does not have, it keeps
 * those by which the profile finds the choices of a row's owner.
 */
#include "base/kanon.h"

#include "ddl/create.h"

#include "catalog/namespace.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/regproc.h"
#include "utils/varlena.h"

#include "aview/projection.h"
#include "policy/profile.h"

/* Return true if a column of the source is in the key of the profile. */
static bool
is_profile_key(const AViewRequest *request, const char *name)
{
	ListCell *cell;

	if (request->profile == NULL)
		return false;
	foreach (cell, request->profile->key)
	{
		if (strcmp(((ProfilePair *) lfirst(cell))->view_column, name) == 0)
			return true;
	}
	return false;
}

/* Return the profile table; InvalidOid: there is no profile. */
static Oid
profile_table(const AViewRequest *request)
{
	if (request->profile == NULL)
		return InvalidOid;
	return RangeVarGetRelid(makeRangeVarFromNameList(kanon_name_list(request->profile->table)), NoLock, false);
}

/* Return the numbers of the columns that the view has. */
static List *
shown_columns(const AViewRequest *request, const RequestedSource *source)
{
	bool all = request_names_all(request);
	Oid choices = profile_table(request);
	List *shown = NIL;

	for (int i = 0; i < source->desc->natts; i++)
	{
		const char *name = NameStr(TupleDescAttr(source->desc, i)->attname);
		bool personal = is_profile_key(request, name) || (OidIsValid(choices) && source->origins[i] == choices);

		if (source->columns[i] || (all && !personal))
			shown = lappend_int(shown, i);
	}
	return shown;
}

/* Return the numbers of the columns that the view does not have, but the profile needs. */
static List *
hidden_keys(const AViewRequest *request, const RequestedSource *source, List *shown)
{
	List *keys = NIL;

	for (int i = 0; i < source->desc->natts; i++)
	{
		if (!list_member_int(shown, i) && is_profile_key(request, NameStr(TupleDescAttr(source->desc, i)->attname)))
			keys = lappend_int(keys, i);
	}
	return keys;
}

/* Raise an error for a view that would have no columns. */
static pg_noreturn void
nothing_shown(const AViewRequest *request)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TABLE_DEFINITION),
			 errmsg("anonymization view \"%s\" would have no columns", request->name),
			 errdetail("Columns without a role are not in the view."),
			 errhint("Name identifiers, quasi-identifiers and sensitive columns; columns that may be published as they are"
					 " are named in other, where {*} stands for all of them.")));
}

/* Give a source some of its columns, in their order. */
static void
project_source(RequestedSource *source, List *kept)
{
	TupleDesc desc = CreateTemplateTupleDesc(list_length(kept));
	ColumnRequest **columns = palloc(list_length(kept) * sizeof(ColumnRequest *));
	StringInfoData query;
	ListCell *cell;

	initStringInfo(&query);
	foreach (cell, kept)
	{
		int place = foreach_current_index(cell);
		Form_pg_attribute attribute = TupleDescAttr(source->desc, lfirst_int(cell));

		appendStringInfo(&query, "%s%s.%s", place == 0 ? "SELECT " : ", ", quote_identifier(PROJECTION_NAME),
						 quote_identifier(NameStr(attribute->attname)));
		TupleDescCopyEntry(desc, place + 1, source->desc, lfirst_int(cell) + 1);
		columns[place] = source->columns[lfirst_int(cell)];
	}
	/* A comment at the end of the source must not swallow the parenthesis. */
	appendStringInfo(&query, " FROM (%s\n) AS %s", source->query, quote_identifier(PROJECTION_NAME));
	source->query = query.data;
	source->desc = desc;
	source->columns = columns;
	source->origins = NULL;
}

/* Leave out the columns of a source that are not to be in the view: see create.h. */
void
source_hide_columns(const AViewRequest *request, RequestedSource *source)
{
	List *shown = shown_columns(request, source);

	if (shown == NIL)
		nothing_shown(request);
	source->nshown = list_length(shown);
	if (source->nshown < source->desc->natts)
		project_source(source, list_concat(shown, hidden_keys(request, source, shown)));
	Assert(source->nshown > 0 && source->nshown <= source->desc->natts);
}
