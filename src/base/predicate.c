/*
 * predicate.c
 *		Reading conditions.
 */
#include "base/kanon.h"

#include "base/predicate.h"

#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"

#include "base/pure.h"

void
predicate_error(const char *predicate, const char *rule)
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
		predicate_error(predicate, "It must be one expression and no query.");
	target = linitial_node(ResTarget, select->targetList);
	if (target->name)
		predicate_error(predicate, "It must be one expression, without a name.");
	/* Where an expression is expected, the parser does not expect that all columns are one. */
	if (IsA(target->val, ColumnRef) && IsA(llast(((ColumnRef *) target->val)->fields), A_Star))
		predicate_error(predicate, "It must be one expression and no list of columns.");
	return target->val;
}

static void
check_predicate(const char *predicate, Node *expression)
{
	const char *objection = plain_objection(expression);

	if (objection)
		predicate_error(predicate, objection);
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

Node *
predicate_analyze(const char *predicate, ParseState *state, ParseNamespaceItem *item)
{
	ErrorContextCallback callback = {.previous = error_context_stack,
									 .callback = show_predicate,
									 .arg = unconstify(char *, predicate)};
	Node *expression;

	error_context_stack = &callback;
	state->p_sourcetext = predicate;
	addNSItemToQuery(state, item, false, true, true);
	expression = transformExpr(state, parse_predicate(predicate), EXPR_KIND_WHERE);
	expression = coerce_to_boolean(state, expression, "the predicate");
	assign_expr_collations(state, expression);
	error_context_stack = callback.previous;
	free_parsestate(state);
	check_predicate(predicate, expression);
	return expression;
}
