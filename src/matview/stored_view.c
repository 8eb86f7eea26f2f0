/*
 * stored_view.c
 *		The stored groups of a materialized view as a source of published rows.
 *
 * The source is groups joined with members.  Its columns are the view's columns as they
 * are published, then the view's columns as they are, then the number of the group.
 * With a profile, these rows are joined with choices as the rows of the view's own
 * source are; and where stored groups may be too small for the choices of a purpose
 * and recipient, a last column says whether a row's group is large enough.
 */
#include "base/kanon.h"

#include "matview/stored.h"

#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "anonymize/region.h"
#include "aview/aview.h"
#include "aview/choices.h"
#include "base/extension.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "matview/follow.h"
#include "source/source.h"

/* Columns of stored rows beside the columns of the view. */
#define STORED_RAW "kanon raw %d"
#define STORED_GROUP "kanon group" /* its number; below 0 for a row that is alone, and shown as it is */
#define STORED_SHOWN "kanon shown"

/* The range table index of the rows in a source with a profile. */
#define ROWS_RTI 1

/* Have a query run with the rights of kanon's owner: a role that may query the view may not read its tables. */
static void
read_as_owner(Query *query)
{
	Oid owner = kanon_owner();
	ListCell *cell;

	foreach (cell, kanon_permissions(query))
		((KanonPermission *) lfirst(cell))->checkAsUser = owner;
}

/* Return the query of a text. */
static Query *
analyze_stored(const char *text)
{
	return kanon_analyze(linitial_node(RawStmt, raw_parser(text, RAW_PARSE_DEFAULT)), text);
}

/* Return the query of a text over stored tables, with the rights of kanon's owner. */
Query *
stored_query(const char *text)
{
	Query *query = analyze_stored(text);

	read_as_owner(query);
	return query;
}

/* Return true if each row has a k of its own. */
bool
stored_is_personal(const AView *aview)
{
	return aview->profile && aview->profile->demand >= 0;
}

/* Return the name of a column's type for the text of a query. */
static char *
column_type_name(const AViewColumn *column)
{
	return format_type_extended(column->source_type, column->source_typmod,
								FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
}

/* Append a column as it is published if its owner lets it be seen. */
static void
append_published(StringInfo text, const AView *aview, int column)
{
	const AViewColumn *c = &aview->columns[column];

	if (c->role == ROLE_QUASI)
		appendStringInfo(text, "g.c%d", column + 1);
	else if (c->role == ROLE_ID && stored_is_personal(aview))
		appendStringInfo(text, "CASE WHEN g.g_key IS NULL AND m.m_k OPERATOR(pg_catalog.=) 0 THEN m.c%d ELSE m.c%d END",
						 column + 1, column + 1);
	else
		appendStringInfo(text, "m.c%d", column + 1);
	appendStringInfo(text, " AS %s", quote_identifier(c->name));
}

/*
 * Replace identifiers by NULL, in the query and not in its text: SQL does not let NULL be
 * written for a domain that is NOT NULL.
 */
static void
hide_ids(const AView *aview, Query *rows)
{
	for (int i = 0; i < aview->ncolumns; i++)
	{
		const AViewColumn *c = &aview->columns[i];
		TargetEntry *entry = list_nth_node(TargetEntry, rows->targetList, aview->nkeyed + i);
		Expr *hidden = (Expr *) makeNullConst(c->source_type, c->source_typmod, c->source_collation);

		if (c->role != ROLE_ID)
			continue;
		if (stored_is_personal(aview))
			castNode(CaseExpr, entry->expr)->defresult = hidden;
		else
			entry->expr = hidden;
	}
}

/* Return the condition that members of a group are shown, where rows have a k of their own. */
const char *
stored_shown(const AView *aview)
{
	return stored_is_personal(aview) ? " AND m.m_k OPERATOR(pg_catalog.<=) g.g_size" : "";
}

/* Return the query for the columns as they are, then as they are published, the group and the k. */
static Query *
published_rows(const AView *aview)
{
	StringInfoData text;
	Query *query;

	initStringInfo(&text);
	appendStringInfoString(&text, "SELECT ");
	for (int i = 0; i < aview->nkeyed; i++)
		appendStringInfo(&text, "m.c%d AS \"" STORED_RAW "\", ", i + 1, i + 1);
	for (int i = 0; i < aview->ncolumns; i++)
	{
		append_published(&text, aview, i);
		appendStringInfoString(&text, ", ");
	}
	appendStringInfo(&text, "CASE WHEN g.g_key IS NULL THEN OPERATOR(pg_catalog.-) g.g_id ELSE g.g_id END AS %s%s",
					 quote_identifier(STORED_GROUP),
					 stored_is_personal(aview) ? ", m.m_k AS \"" CHOICE_DEMAND "\"" : "");
	appendStringInfo(&text,
					 " FROM kanon.groups_%d AS g, kanon.members_%d AS m WHERE m.m_group OPERATOR(pg_catalog.=) g.g_id%s",
					 aview->id, aview->id, stored_shown(aview));
	query = stored_query(text.data);
	hide_ids(aview, query);
	return query;
}

/* Return a column of the rows that a source with a profile joins with choices. */
static Expr *
column_of_rows(const Query *rows, int column)
{
	Expr *expr = list_nth_node(TargetEntry, rows->targetList, column)->expr;

	return (Expr *) makeVar(ROWS_RTI, column + 1, exprType((Node *) expr), exprTypmod((Node *) expr),
							exprCollation((Node *) expr), 0);
}

/* Append an expression to the columns of a source. */
static void
append_entry(Query *source, Expr *expr, const char *name)
{
	source->targetList = lappend(source->targetList,
								 makeTargetEntry(expr, list_length(source->targetList) + 1, pstrdup(name), false));
}

/*
 * Return the source with stored rows in place of its own: they are joined with choices by
 * their columns as they are, and shown as they are published.
 */
static Query *
join_choices(const AView *aview, Query *rows)
{
	Query *source = copyObject(aview->source);
	RangeTblEntry *rte = rt_fetch(ROWS_RTI, source->rtable);
	int nkeyed = aview->nkeyed;
	int group = nkeyed + aview->ncolumns;
	ListCell *cell;
	List *names = NIL;

	foreach (cell, rows->targetList)
		names = lappend(names, makeString(pstrdup(lfirst_node(TargetEntry, cell)->resname)));
	rte->subquery = rows;
	rte->eref = makeAlias("rows", names);
	for (int i = 0; i < aview->ncolumns; i++)
		list_nth_node(TargetEntry, source->targetList, i)->expr = column_of_rows(rows, nkeyed + i);
	if (stored_is_personal(aview))
	{
		list_nth_node(TargetEntry, source->targetList, aview->profile->demand)->expr = column_of_rows(rows, group + 1);
		source->hasSubLinks = false;
	}
	for (int i = 0; i < nkeyed; i++)
		append_entry(source, column_of_rows(rows, i), psprintf(STORED_RAW, i + 1));
	append_entry(source, column_of_rows(rows, group), STORED_GROUP);
	return source;
}

/*
 * Put the published columns first, as in the view, then the columns as they are, then the
 * others; there is no profile, and so no further column of its key.
 */
static Query *
order_columns(const AView *aview, Query *rows)
{
	List *raw = list_copy_head(rows->targetList, aview->ncolumns);
	int place = 0;
	ListCell *cell;

	Assert(aview->nkeyed == aview->ncolumns);
	rows->targetList = list_copy_tail(rows->targetList, aview->ncolumns);
	rows->targetList = list_concat(list_copy_head(rows->targetList, aview->ncolumns),
								   list_concat(raw, list_copy_tail(rows->targetList, aview->ncolumns)));
	foreach (cell, rows->targetList)
		lfirst_node(TargetEntry, cell)->resno = ++place;
	return rows;
}

/*
 * Return true if the shown members of each group have to be counted.  Groups are stored for
 * the largest k of all purposes and recipients.  For one of them they may be too small where
 * choices change without a trigger, or where rows without choices for it are not shown.
 */
static bool
has_to_count(const AView *aview)
{
	ProfileKey key;

	if (!stored_is_personal(aview))
		return false;
	profile_key(aview, &key);
	return !follow_is_complete(aview) || (aview->k < 0 && (key.purpose > 0 || key.recipient > 0));
}

/*
 * Return the source with a last column, which is true if the members of a row's group that
 * are shown for these choices are as many as each of them asks for.  With l or t all members
 * must be shown, since diversity and closeness are known of the whole group only.
 */
static Query *
count_shown(const AView *aview, Query *joined)
{
	const AViewColumn *columns = aview->columns;
	const char *found = quote_identifier(columns[aview->profile->found].name);
	const char *k = quote_identifier(columns[aview->profile->k].name);
	char *now = psprintf("CASE WHEN %s THEN %s ELSE %d END", found, k, aview->k);
	/* The larger of the stored k, which is for all purposes, and the k for this purpose as it is now. */
	char *asks = psprintf("GREATEST(%s, \"" CHOICE_DEMAND "\")", now);
	char *is_shown = psprintf("(%s OPERATOR(pg_catalog.>=) 0) IS TRUE", now);
	StringInfoData text;
	Query *query;

	initStringInfo(&text);
	appendStringInfo(&text, "SELECT *, %s AND pg_catalog.count(*) FILTER (WHERE %s) OVER groups OPERATOR(pg_catalog.>=)"
							" pg_catalog.max(%s) FILTER (WHERE %s) OVER groups",
					 is_shown, is_shown, asks, is_shown);
	if (aview->l > 0 || aview->t > 0)
		appendStringInfo(&text, " AND pg_catalog.bool_and(%s) OVER groups", is_shown);
	appendStringInfo(&text, " AS %s FROM (SELECT ", quote_identifier(STORED_SHOWN));
	for (int i = 0; i < aview->nsource; i++)
	{
		bool quasi = i < aview->ncolumns && columns[i].role == ROLE_QUASI;

		appendStringInfo(&text, "%sNULL::%s%s AS %s", i > 0 ? ", " : "", column_type_name(&columns[i]),
						 quasi ? " COLLATE pg_catalog.\"C\"" : "", quote_identifier(columns[i].name));
	}
	appendStringInfo(&text, ") AS joined WINDOW groups AS (PARTITION BY %s", quote_identifier(STORED_GROUP));
	/* The quasi-identifiers, equal in each group, are listed so that conditions on them are pushed down to an index. */
	for (int i = 0; i < aview->nquasi; i++)
		appendStringInfo(&text, ", %s", quote_identifier(columns[aview->quasi[i]].name));
	appendStringInfoChar(&text, ')');
	query = analyze_stored(text.data);
	rt_fetch(1, query->rtable)->subquery = joined;
	return query;
}

/* Return the columns: of the source as published, of the view as they are, the group, and whether it is shown. */
static AViewColumn *
stored_columns(const AView *aview)
{
	int nsource = aview->nsource;
	int nkeyed = aview->nkeyed;
	AViewColumn *columns = palloc0((nsource + nkeyed + 2) * sizeof(AViewColumn));

	memcpy(columns, aview->columns, nsource * sizeof(AViewColumn));
	memcpy(columns + nsource, aview->columns, nkeyed * sizeof(AViewColumn));
	for (int i = 0; i < nkeyed; i++)
	{
		columns[nsource + i].name = psprintf(STORED_RAW, i + 1);
		if (columns[i].role != ROLE_QUASI)
			continue;
		columns[i].source_type = kanon_generalized_type();
		columns[i].source_typmod = -1;
		columns[i].source_collation = C_COLLATION_OID;
	}
	columns[nsource + nkeyed] = (AViewColumn){.name = STORED_GROUP, .source_type = INT8OID, .source_typmod = -1};
	columns[nsource + nkeyed + 1] = (AViewColumn){.name = STORED_SHOWN, .source_type = BOOLOID, .source_typmod = -1};
	return columns;
}

/* Replace the source of a view by its published rows. */
static void
replace_source(const AView *aview, AView *stored)
{
	if (aview->profile == NULL)
	{
		stored->source = order_columns(aview, stored->rows);
		return;
	}
	stored->profile = palloc(sizeof(AViewProfile));
	*stored->profile = *aview->profile;
	stored->source = join_choices(aview, stored->rows);
	if (has_to_count(aview))
	{
		stored->source = count_shown(stored, stored->source);
		stored->profile->shown = stored->nsource++;
	}
}

/* Return the same view with its published rows as its source. */
AView *
stored_view(const AView *aview)
{
	AView *stored = palloc(sizeof(AView));

	Assert(aview->materialized);
	*stored = *aview;
	stored->rows = published_rows(aview);
	stored->columns = stored_columns(aview);
	stored->raw = aview->nsource;
	stored->nsource = aview->nsource + aview->nkeyed + 1;
	replace_source(aview, stored);
	source_mention(aview, stored->source);
	return stored;
}

/* Return a value and all values that generalize it, as an array. */
static Datum
path_of(Dgh *dgh, Datum value)
{
	Datum *path = palloc((dgh->height + 1) * sizeof(Datum));
	int length = 0;
	bool at_root = false;

	for (int steps = 0; steps <= dgh->height && !at_root; steps++)
		path[length++] = dgh_climb(dgh, value, steps, &at_root);
	return PointerGetDatum(construct_array(path, length, kanon_generalized_type(), -1, false, TYPALIGN_INT));
}

/* Return a condition by which an index finds the groups for which AVLIKE holds; NULL: there is none. */
Node *
stored_probe(const AView *stored, int column, Oid type, Datum value)
{
	Dgh *dgh = stored->columns[column].dgh;
	ScalarArrayOpExpr *probe;
	GenView view;
	Oid generalized = kanon_generalized_type();

	if (dgh == NULL)
		return NULL;
	value = dgh_resolve(dgh, region_meaning(type, value));
	gen_view(value, &view);
	/* A value that stands for several also covers groups below it, which this condition does not find. */
	if (!gen_is_itself(&view))
		return NULL;
	probe = makeNode(ScalarArrayOpExpr);
	probe->opno = lookup_type_cache(generalized, TYPECACHE_EQ_OPR)->eq_opr;
	probe->opfuncid = get_opcode(probe->opno);
	probe->useOr = true;
	probe->inputcollid = C_COLLATION_OID;
	probe->args = list_make2(source_column(stored, column), makeConst(get_array_type(generalized), -1, C_COLLATION_OID,
																	  -1, path_of(dgh, value), false, false));
	probe->location = -1;
	return (Node *) probe;
}
