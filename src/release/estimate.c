/*
 * estimate.c
 *		anatomy_count: estimating a count from the two tables of a release.
 *
 * Within a group every row has each of the group's sensitive values with the
 * same chance, so that a row that satisfies the predicate counts with the share
 * of the group's values that are asked for.
 */
#include "release/anatomy.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "plain.h"

PG_FUNCTION_INFO_V1(kanon_anatomy_count);

#define QIT_ALIAS "qit"

static void
not_plain(const char *predicate, const char *rule)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the predicate \"%s\" is not a plain condition", predicate),
			 errdetail("%s", rule)));
}

/* The one expression that a text consists of. */
static Node *
parse_predicate(const char *predicate)
{
	List *statements = raw_parser(predicate, RAW_PARSE_PLPGSQL_EXPR);
	SelectStmt *select = (SelectStmt *) linitial_node(RawStmt, statements)->stmt;
	ResTarget *target;

	if (select->distinctClause || select->fromClause || select->whereClause || select->groupClause ||
		select->havingClause || select->windowClause || select->sortClause || select->limitOffset ||
		select->limitCount || select->lockingClause || list_length(select->targetList) != 1)
		not_plain(predicate, "It must be one expression and no query.");
	target = linitial_node(ResTarget, select->targetList);
	if (target->name)
		not_plain(predicate, "It must be one expression, without a name.");
	return target->val;
}

/* Only columns of the table itself, and not the group's number. */
static bool
finds_other_column(Node *node, void *relation)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		AttrNumber attribute = ((Var *) node)->varattno;

		return attribute <= 0 ||
			   strcmp(get_attname(*(Oid *) relation, attribute, false), "grp") == 0;
	}
	return expression_tree_walker(node, finds_other_column, relation);
}

static void
check_predicate(const char *predicate, Node *expression, Oid qit)
{
	const char *objection = plain_objection(expression);

	if (objection)
		not_plain(predicate, objection);
	if (finds_other_column(expression, &qit))
		not_plain(predicate, "It must use quasi-identifier columns only.");
}

/* Places in the predicate, not in the query that calls us. */
static void
show_predicate(void *predicate)
{
	int position = geterrposition();

	if (position <= 0)
		return;
	errposition(0);
	internalerrposition(position);
	internalerrquery(predicate);
}

/* The predicate as an expression over the table. */
static Node *
analyze_predicate(const char *predicate, Oid qit)
{
	ErrorContextCallback callback = {.previous = error_context_stack,
									 .callback = show_predicate,
									 .arg = unconstify(char *, predicate)};
	ParseState *state = make_parsestate(NULL);
	Relation relation = relation_open(qit, AccessShareLock);
	Node *expression;

	error_context_stack = &callback;
	state->p_sourcetext = predicate;
	addNSItemToQuery(state,
					 addRangeTableEntryForRelation(state, relation, AccessShareLock,
												   makeAlias(QIT_ALIAS, NIL), false, true),
					 false, true, true);
	expression = transformExpr(state, parse_predicate(predicate), EXPR_KIND_WHERE);
	expression = coerce_to_boolean(state, expression, "the predicate");
	assign_expr_collations(state, expression);
	error_context_stack = callback.previous;
	relation_close(relation, NoLock);
	free_parsestate(state);
	return expression;
}

/*
 * A predicate, checked, as SQL over the alias.  What is run is written anew from
 * what was checked, so that the text cannot mean one thing here and another
 * in the query.
 */
static char *
plain_predicate(const char *predicate, Oid qit)
{
	Node *expression = analyze_predicate(predicate, qit);

	check_predicate(predicate, expression, qit);
	return deparse_expression(expression, deparse_context_for(QIT_ALIAS, qit), true, false);
}

/* The quoted name of a table that has all these columns. */
static char *
table_name(Oid relation, const char *const *columns)
{
	char *name = get_rel_name(relation);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation)));
	for (; *columns; columns++)
	{
		if (get_attnum(relation, *columns) == InvalidAttrNumber)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("relation \"%s\" has no column \"%s\"", name, *columns),
					 errhint("The tables must be as kanon.publish_anatomy makes them.")));
	}
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name);
}

/* The tables and the condition go in by %s.  A group without values has no business here. */
#define ESTIMATE_QUERY                                                                                                \
	"SELECT pg_catalog.sum(q.rows OPERATOR(pg_catalog.*) s.asked OPERATOR(pg_catalog./) s.rows),"                     \
	" pg_catalog.min(q.grp::pg_catalog.text) FILTER (WHERE s.grp IS NULL)"                                            \
	" FROM (SELECT qit.grp, pg_catalog.count(*)::pg_catalog.float8 AS rows"                                           \
	"  FROM %s AS qit WHERE %s GROUP BY qit.grp) AS q"                                                                \
	" LEFT JOIN (SELECT st.grp, pg_catalog.sum(st.count)::pg_catalog.float8 AS rows,"                                 \
	"   pg_catalog.sum(st.count) FILTER (WHERE st.value OPERATOR(pg_catalog.=) ANY ($1))::pg_catalog.float8 AS asked" \
	"  FROM %s AS st GROUP BY st.grp) AS s ON s.grp OPERATOR(pg_catalog.=) q.grp"

/* anatomy_count(qit, st, predicate, sensitive_values) */
Datum
kanon_anatomy_count(PG_FUNCTION_ARGS)
{
	Oid qit = PG_GETARG_OID(0);
	Oid types[1] = {TEXTARRAYOID};
	Datum values[1] = {PG_GETARG_DATUM(3)};
	char *qit_name = table_name(qit, (const char *const[]){"grp", NULL});
	char *st_name = table_name(PG_GETARG_OID(1), (const char *const[]){"grp", "value", "count", NULL});
	char *condition = plain_predicate(text_to_cstring(PG_GETARG_TEXT_PP(2)), qit);
	char *stray;
	bool isnull;
	Datum result;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args(psprintf(ESTIMATE_QUERY, qit_name, condition, st_name),
							  1, types, values, NULL, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not estimate: %s", SPI_result_code_string(SPI_result));
	result = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
	stray = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2);
	if (stray)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("group %s of %s has no sensitive values in %s", stray, qit_name, st_name),
				 errhint("The tables must be of one release.")));
	SPI_finish();
	PG_RETURN_FLOAT8(isnull ? 0 : DatumGetFloat8(result));
}
