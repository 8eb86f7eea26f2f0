/*
 * anatomy_count.c
 *		kanon.anatomy_count: an estimate of a count from the two tables of a release.
 *
 * Within a group, every row has each of the group's sensitive values with the same
 * probability.  So a row that satisfies the predicate counts with the share of the group's
 * values that are in the list.
 */
#include "base/kanon.h"

#include "base/predicate.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_relation.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

PG_FUNCTION_INFO_V1(kanon_anatomy_count);

#define QIT_ALIAS "qit"

/*
 * Return true if an expression has a column that is not of the table itself, or the
 * group's number: a tree walker.
 */
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

/*
 * Return a checked predicate as SQL over the alias.  It is deparsed from the analyzed
 * expression, so that the text cannot mean one thing here and another in the query.
 */
static char *
plain_predicate(const char *predicate, Oid qit)
{
	Relation relation = relation_open(qit, AccessShareLock);
	ParseState *state = make_parsestate(NULL);
	Node *expression;

	expression = predicate_analyze(predicate, state,
								   addRangeTableEntryForRelation(state, relation, AccessShareLock,
																 makeAlias(QIT_ALIAS, NIL), false, true));
	relation_close(relation, NoLock);
	if (finds_other_column(expression, &qit))
		predicate_error(predicate, "It must use quasi-identifier columns only.");
	return deparse_expression(expression, deparse_context_for(QIT_ALIAS, qit), true, false);
}

/* Return the quoted name of a table; raise an error unless it has all these columns. */
static char *
anatomy_table_name(Oid relation, const char *const *columns)
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

/* The %s stand for the table qit, the condition and the table st.  The second column names a group without values. */
#define ESTIMATE_QUERY \
	"SELECT pg_catalog.sum(q.rows OPERATOR(pg_catalog.*) s.asked OPERATOR(pg_catalog./) s.rows)," \
	" pg_catalog.min(q.grp::pg_catalog.text) FILTER (WHERE s.grp IS NULL)" \
	" FROM (SELECT qit.grp, pg_catalog.count(*)::pg_catalog.float8 AS rows" \
	"  FROM %s AS qit WHERE %s GROUP BY qit.grp) AS q" \
	" LEFT JOIN (SELECT st.grp, pg_catalog.sum(st.count)::pg_catalog.float8 AS rows," \
	"   pg_catalog.sum(st.count) FILTER (WHERE st.value OPERATOR(pg_catalog.=) ANY ($1))::pg_catalog.float8 AS asked" \
	"  FROM %s AS st GROUP BY st.grp) AS s ON s.grp OPERATOR(pg_catalog.=) q.grp"

/* Estimate a count: anatomy_count(qit, st, predicate, sensitive_values). */
Datum
kanon_anatomy_count(PG_FUNCTION_ARGS)
{
	Oid qit = PG_GETARG_OID(0);
	Oid types[1] = {TEXTARRAYOID};
	Datum values[1] = {PG_GETARG_DATUM(3)};
	char *qit_name = anatomy_table_name(qit, (const char *const[]){"grp", NULL});
	char *st_name = anatomy_table_name(PG_GETARG_OID(1), (const char *const[]){"grp", "value", "count", NULL});
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
