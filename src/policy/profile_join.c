/*
 * profile_join.c
 *		The source of an A-view, joined with the choices of a profile.
 *
 * The join is written as SQL text, from which CREATE VIEW makes the view.  A choice
 * that is missing or NULL counts as the strictest one: opted out, expired, fully
 * generalized, not shown.  Where the profile table has no key that rules out two rows
 * for one person, purpose and recipient, the strictest of these rows counts.
 */
#include "base/kanon.h"

#include "policy/profile.h"

#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "parser/analyze.h"
#include "parser/parse_oper.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "aview/aview.h"
#include "aview/choices.h"
#include "aview/purpose.h"
#include "base/typekind.h"

/* The quasi-identifiers that an owner shows are kept as a set of this many bits. */
#define MAX_QUASI 64

/* The types that a column of choices may have. */
typedef enum ChoiceType
{
	TYPE_ANY,
	TYPE_INTEGER,
	TYPE_BOOLEAN,
	TYPE_MOMENT
} ChoiceType;

/* The join of a source with the choices of a profile. */
typedef struct ChoiceJoin
{
	const ProfileRequest *profile;
	Relation table;			 /* the profile table */
	TupleDesc desc;			 /* of the source */
	ColumnRequest **columns; /* for each column of the source, or NULL */
	int nshown;				 /* the first columns of the source, which the view has */
	char *purpose;			 /* column of the profile table; NULL: none */
	char *recipient;		 /* the same */
	List *key;				 /* ProfilePairs, complete */
} ChoiceJoin;

/* Return true if a column of a type can hold choices of a kind. */
static bool
type_fits(Oid type, ChoiceType wanted)
{
	switch (wanted)
	{
		case TYPE_INTEGER:
			return typekind(type) == TYPEKIND_INTEGER;
		case TYPE_BOOLEAN:
			return typekind(type) == TYPEKIND_BOOLEAN;
		case TYPE_MOMENT:
			return typekind(type) == TYPEKIND_DATE || getBaseType(type) == TIMESTAMPTZOID;
		case TYPE_ANY:
			break;
	}
	return true;
}

/* Return a column of the profile table, or NULL if it has none of the name. */
static Form_pg_attribute
find_choice(const ChoiceJoin *join, const char *name)
{
	TupleDesc desc = RelationGetDescr(join->table);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (!attribute->attisdropped && strcmp(NameStr(attribute->attname), name) == 0)
			return attribute;
	}
	return NULL;
}

/* Return a column of the profile table as SQL text; raise an error unless it has a wanted type. */
static const char *
choice_column(const ChoiceJoin *join, const char *name, ChoiceType wanted)
{
	static const char *const wanted_names[] = {
		[TYPE_ANY] = "",
		[TYPE_INTEGER] = "smallint, integer or bigint",
		[TYPE_BOOLEAN] = "boolean",
		[TYPE_MOMENT] = "timestamp with time zone or date",
	};
	Form_pg_attribute attribute = find_choice(join, name);

	if (attribute == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("profile table \"%s\" has no column \"%s\"", RelationGetRelationName(join->table), name)));
	if (!type_fits(attribute->atttypid, wanted))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of profile table \"%s\" is of type %s, but it must be of type %s", name,
						RelationGetRelationName(join->table), format_type_be(attribute->atttypid),
						wanted_names[wanted])));
	return psprintf("choice.%s", quote_identifier(name));
}

/* Return the number of a column of the source, from 1, or 0 if it has none of the name. */
static int
find_source_column(const ChoiceJoin *join, const char *name)
{
	for (int i = 0; i < join->desc->natts; i++)
	{
		if (strcmp(NameStr(TupleDescAttr(join->desc, i)->attname), name) == 0)
			return i + 1;
	}
	return 0;
}

/* Return the number of a column of the view, from 1; raise an error if there is none of the name. */
static int
view_column(const ChoiceJoin *join, const char *name)
{
	int number = find_source_column(join, name);

	if (number == 0 || number > join->nshown)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("the view has no column \"%s\"", name),
				 errdetail("The profile names it."),
				 errhint("A column of the source is in the view if it has a role or is named in other.")));
	return number;
}

/*
 * Return the one column of the primary key that is neither purpose nor recipient, or
 * NULL if there is not exactly one.
 */
static char *
key_column(const ChoiceJoin *join)
{
	char *found = NULL;
	Oid index = kanon_primary_key(join->table);
	Relation rel;

	if (!OidIsValid(index))
		return NULL;
	rel = relation_open(index, AccessShareLock);
	for (int i = 0; i < rel->rd_index->indnkeyatts; i++)
	{
		char *name = get_attname(RelationGetRelid(join->table), rel->rd_index->indkey.values[i], false);

		if ((join->purpose && strcmp(name, join->purpose) == 0) ||
			(join->recipient && strcmp(name, join->recipient) == 0))
			continue;
		if (found)
		{
			found = NULL;
			break;
		}
		found = name;
	}
	relation_close(rel, AccessShareLock);
	return found;
}

/* Find the columns that REFERENCES does not name: the purpose and the recipient of that name, and the key. */
static void
complete_names(ChoiceJoin *join)
{
	ProfilePair *given = linitial(join->profile->key);
	ProfilePair *pair = palloc0(sizeof(ProfilePair));

	join->purpose = join->profile->purpose;
	join->recipient = join->profile->recipient;
	join->key = join->profile->key;
	if (!join->profile->by_statement)
		return;
	Assert(list_length(join->key) == 1 && given->table_column == NULL);
	join->purpose = find_choice(join, "purpose") ? "purpose" : NULL;
	join->recipient = find_choice(join, "recipient") ? "recipient" : NULL;
	pair->view_column = given->view_column;
	pair->table_column = find_choice(join, given->view_column) ? given->view_column : key_column(join);
	if (pair->table_column == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("profile table \"%s\" has no column \"%s\" and no other key",
						RelationGetRelationName(join->table), given->view_column),
				 errhint("Use kanon.create_anonymization_view, whose profile names the columns that belong together.")));
	join->key = list_make1(pair);
}

/* Return a condition that a column may still be shown.  It compares in UTC: the reader may set any other time zone. */
static char *
not_expired(const ChoiceJoin *join, const char *name)
{
	const char *column = choice_column(join, name, TYPE_MOMENT);
	bool is_date = typekind(find_choice(join, name)->atttypid) == TYPEKIND_DATE;

	return psprintf("(%s OPERATOR(pg_catalog.>=) %s) IS TRUE", column,
					is_date ? "pg_catalog.timezone('UTC', pg_catalog.statement_timestamp())::pg_catalog.date"
							: "pg_catalog.statement_timestamp()");
}

/* Append a column of the result: an expression on a row of choices, or the strictest value of several rows. */
static void
append_choice(StringInfo text, const char *expression, const char *name, bool is_flag, bool strictest)
{
	if (strictest && is_flag)
		expression = psprintf("pg_catalog.bool_and(%s)", expression);
	else if (strictest)
		expression =
			psprintf("CASE WHEN pg_catalog.bool_and(%s OPERATOR(pg_catalog.>=) 0) IS TRUE AND pg_catalog.bool_or(%s IS NULL) IS FALSE"
					 " THEN pg_catalog.max(%s) END",
					 expression, expression, expression);
	appendStringInfo(text, ", %s AS %s", expression, quote_identifier(name));
}

/* Return a column of the profile table as a bigint in SQL text. */
static char *
integer_choice(const ChoiceJoin *join, const char *name)
{
	return psprintf("%s::pg_catalog.int8", choice_column(join, name, TYPE_INTEGER));
}

/* Append how many levels up sensitive columns are to be generalized. */
static void
append_levels(const ChoiceJoin *join, StringInfo text, bool strictest)
{
	ListCell *cell;

	for (int i = 0; join->profile->level && i < join->nshown; i++)
	{
		if (join->columns[i] && join->columns[i]->role == ROLE_SENSITIVE)
			append_choice(text, integer_choice(join, join->profile->level), psprintf(CHOICE_LEVEL, i + 1), false,
						  strictest);
	}
	foreach (cell, join->profile->levels)
	{
		ProfilePair *pair = lfirst(cell);
		int number = view_column(join, pair->view_column);

		if (join->columns[number - 1] == NULL || join->columns[number - 1]->role != ROLE_SENSITIVE)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("sa_level is about column \"%s\", which is not sensitive", pair->view_column)));
		append_choice(text, integer_choice(join, pair->table_column), psprintf(CHOICE_LEVEL, number), false, strictest);
	}
}

/* Append the choices as columns, each behind a comma. */
static void
append_choices(const ChoiceJoin *join, StringInfo text, bool strictest)
{
	ListCell *cell;

	if (join->profile->k)
		append_choice(text, integer_choice(join, join->profile->k), CHOICE_K, false, strictest);
	append_levels(join, text, strictest);
	foreach (cell, join->profile->disclose)
	{
		ProfilePair *pair = lfirst(cell);
		const char *column = choice_column(join, pair->table_column, TYPE_BOOLEAN);

		append_choice(text, psprintf("%s IS TRUE", column),
					  psprintf(CHOICE_DISCLOSE, view_column(join, pair->view_column)), true, strictest);
	}
	foreach (cell, join->profile->retain)
	{
		ProfilePair *pair = lfirst(cell);

		append_choice(text, not_expired(join, pair->table_column),
					  psprintf(CHOICE_RETAIN, view_column(join, pair->view_column)), true, strictest);
	}
}

/* Append " AND choice.purpose = the purpose AND choice.recipient = the recipient". */
static void
append_context(const ChoiceJoin *join, StringInfo text)
{
	if (join->purpose)
		appendStringInfo(text, " AND %s::pg_catalog.text OPERATOR(pg_catalog.=) %s.%s()",
						 choice_column(join, join->purpose, TYPE_ANY), KANON_SCHEMA, PURPOSE_FUNCTION);
	if (join->recipient)
		appendStringInfo(text, " AND %s::pg_catalog.text OPERATOR(pg_catalog.=) %s.%s()",
						 choice_column(join, join->recipient, TYPE_ANY), KANON_SCHEMA, RECIPIENT_FUNCTION);
}

/* Return the name of the profile table as SQL text. */
static const char *
profile_table_name(const ChoiceJoin *join)
{
	return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(join->table)),
									  RelationGetRelationName(join->table));
}

/* Append "(SELECT keys, the strictest choices FROM the table GROUP BY keys)". */
static void
append_strictest(const ChoiceJoin *join, StringInfo text)
{
	StringInfoData keys;
	ListCell *cell;

	initStringInfo(&keys);
	foreach (cell, join->key)
		appendStringInfo(&keys, "%s%s", keys.len > 0 ? ", " : "",
						 choice_column(join, ((ProfilePair *) lfirst(cell))->table_column, TYPE_ANY));
	appendStringInfo(text, "(SELECT %s", keys.data);
	append_choices(join, text, true);
	appendStringInfo(text, " FROM %s AS choice WHERE true", profile_table_name(join));
	append_context(join, text);
	appendStringInfo(text, " GROUP BY %s)", keys.data);
}

/* Append the columns that append_choices() has named, as columns of the join. */
static void
append_given_choices(const ChoiceJoin *join, StringInfo text)
{
	StringInfoData choices;
	TupleDesc desc;
	SPIPlanPtr plan;

	initStringInfo(&choices);
	appendStringInfoString(&choices, "SELECT NULL");
	append_choices(join, &choices, false);
	appendStringInfo(&choices, " FROM %s AS choice", profile_table_name(join));
	plan = SPI_prepare(choices.data, 0, NULL);
	if (plan == NULL)
		elog(ERROR, "could not prepare the choices: %s", SPI_result_code_string(SPI_result));
	desc = ((CachedPlanSource *) linitial(SPI_plan_get_plan_sources(plan)))->resultDesc;
	for (int i = 1; i < desc->natts; i++)
		appendStringInfo(text, ", choice.%s", quote_identifier(NameStr(TupleDescAttr(desc, i)->attname)));
}

/* Return the type of a column of the source that is in the key; raise an error if there is none of the name. */
static Oid
key_type(const ChoiceJoin *join, const char *name)
{
	int number = find_source_column(join, name);

	if (number == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("the source has no column \"%s\"", name),
				 errdetail("The profile names it.")));
	return TupleDescAttr(join->desc, number - 1)->atttypid;
}

/* Raise an error that names the profile if a column of the view cannot be compared with a key column. */
static void
check_comparable(const ChoiceJoin *join, const ProfilePair *pair)
{
	Oid type = key_type(join, pair->view_column);
	Form_pg_attribute choice = find_choice(join, pair->table_column);
	Operator equals = choice ? oper(NULL, list_make1(makeString("=")), choice->atttypid, type, true, -1) : NULL;

	if (choice && equals == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("key \"%s\" of profile table \"%s\" is of type %s, but column \"%s\" of the source is of type %s",
						pair->table_column, RelationGetRelationName(join->table), format_type_be(choice->atttypid),
						pair->view_column, format_type_be(type)),
				 errhint("Cast the column in the source query, or name another key.")));
	if (equals)
		ReleaseSysCache(equals);
}

/* Append " AND choice.key = source.key" for each pair of the key. */
static void
append_key(const ChoiceJoin *join, StringInfo text)
{
	ListCell *cell;

	foreach (cell, join->key)
	{
		ProfilePair *pair = lfirst(cell);

		check_comparable(join, pair);
		appendStringInfo(text, " AND %s = source.%s", choice_column(join, pair->table_column, TYPE_ANY),
						 quote_identifier(pair->view_column));
	}
}

/*
 * Append the largest k that the row's owner asks for, for any purpose and
 * recipient: -1 if one is missing or negative, NULL if there are no choices.
 */
static void
append_demand(const ChoiceJoin *join, StringInfo text)
{
	const char *k = integer_choice(join, join->profile->k);

	appendStringInfo(text,
					 ", (SELECT CASE WHEN pg_catalog.count(%s) OPERATOR(pg_catalog.=) pg_catalog.count(*) AND pg_catalog.min(%s)"
					 " OPERATOR(pg_catalog.>=) 0 THEN pg_catalog.max(%s) ELSE -1 END FROM %s AS choice WHERE true",
					 k, k, k, profile_table_name(join));
	append_key(join, text);
	appendStringInfo(text, " HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 0) AS %s",
					 quote_identifier(CHOICE_DEMAND));
}

/* Return the text of the join; strictest: with the strictest of several rows of choices. */
static char *
join_text(const ChoiceJoin *join, const char *source, bool strictest)
{
	ProfilePair *first = linitial(join->key);
	StringInfoData text;

	Assert(join->key != NIL && first->table_column != NULL);
	initStringInfo(&text);
	appendStringInfoString(&text, "SELECT ");
	for (int i = 0; i < join->desc->natts; i++)
	{
		appendStringInfo(&text, "source.%s", quote_identifier(NameStr(TupleDescAttr(join->desc, i)->attname)));
		if (i >= join->nshown)
			appendStringInfo(&text, " AS \"" CHOICE_KEY "\"", i - join->nshown + 1);
		appendStringInfoString(&text, ", ");
	}
	appendStringInfo(&text, "%s IS NOT NULL AS %s", choice_column(join, first->table_column, TYPE_ANY),
					 quote_identifier(CHOICE_FOUND));
	if (strictest)
		append_given_choices(join, &text);
	else
		append_choices(join, &text, false);
	if (join->profile->for_all && join->profile->k)
		append_demand(join, &text);
	/* A comment at the end of the source must not swallow the parenthesis. */
	appendStringInfo(&text, " FROM (%s\n) AS source LEFT JOIN ", source);
	if (strictest)
		append_strictest(join, &text);
	else
		appendStringInfoString(&text, profile_table_name(join));
	appendStringInfoString(&text, " AS choice ON true");
	append_key(join, &text);
	if (!strictest)
		append_context(join, &text);
	return text.data;
}

/* Return a query as the parser understands it; views in it are not expanded. */
static Query *
analyze_join(const char *query)
{
	RawStmt *statement = linitial_node(RawStmt, raw_parser(query, RAW_PARSE_DEFAULT));

	return kanon_analyze(statement, query);
}

/* Raise an error if a relation cannot be a profile table. */
static void
check_kind(Relation table)
{
	char kind = table->rd_rel->relkind;

	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_VIEW &&
		kind != RELKIND_MATVIEW && kind != RELKIND_FOREIGN_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" cannot be a profile table: it has no rows of choices",
						RelationGetRelationName(table))));
}

/* Raise an error if a column of the source has a name like a column of choices. */
static void
check_names(TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
	{
		const char *name = NameStr(TupleDescAttr(desc, i)->attname);

		if (strncmp(name, "kanon ", 6) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_RESERVED_NAME),
					 errmsg("column \"%s\" cannot be in a view with a profile", name),
					 errdetail("Names that begin with \"kanon \" are those of the choices."),
					 errhint("Give it another name in the source query.")));
	}
}

/* Raise an error if there are more quasi-identifiers than an owner's set has bits. */
static void
check_width(const ChoiceJoin *join)
{
	int count = 0;

	for (int i = 0; i < join->desc->natts; i++)
		count += join->columns[i] && join->columns[i]->role == ROLE_QUASI;
	if (count > MAX_QUASI)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a view with a profile may have %d quasi-identifiers, but there are %d", MAX_QUASI, count)));
}

/* Return the text of a source joined with the choices of a profile: see profile.h. */
char *
profile_join(const ProfileRequest *profile, const char *source, TupleDesc desc, ColumnRequest **columns, int nshown)
{
	RangeVar *name = makeRangeVarFromNameList(kanon_name_list(profile->table));
	ChoiceJoin join = {.profile = profile, .desc = desc, .columns = columns, .nshown = nshown};
	char *text;

	join.table = relation_openrv(name, AccessShareLock);
	check_kind(join.table);
	check_names(desc);
	complete_names(&join);
	check_width(&join);
	text = join_text(&join, source, false);
	if (!choices_are_unique(analyze_join(text)))
		text = join_text(&join, source, true);
	relation_close(join.table, NoLock);
	return text;
}
