/*
 * predicate.c
 *		Conditions that are given as text, parsed and checked.
 *
 * The text goes through PostgreSQL's own parser as one expression, so that it can hold
 * neither a query nor a second statement.
 */
#include "base/kanon.h"

#include "base/predicate.h"

#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"

#include "base/pure.h"

/* Raise the error for a predicate that breaks a rule; the rule is a sentence. */
void
predicate_error(const char *predicate, const char *rule)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the predicate \"%s\" is not a plain condition", predicate),
			 errdetail("%s", rule)));
}

/* Return the parse tree of the one expression that a text consists of. */
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
	/* The parser takes a row's asterisk for an expression here. */
	if (IsA(target->val, ColumnRef) && IsA(llast(((ColumnRef *) target->val)->fields), A_Star))
		predicate_error(predicate, "It must be one expression and no list of columns.");
	return target->val;
}

/* Refuse an expression that looks at more than the columns it names. */
static void
predicate_check(const char *predicate, Node *expression)
{
	const char *objection = plain_objection(expression);

	if (objection)
		predicate_error(predicate, objection);
}

/* Report an error's position as one in the predicate, not in the query that calls us: an error context callback. */
static void
predicate_context(void *predicate)
{
	int position = geterrposition();

	if (position <= 0)
		return;
	errposition(0);
	internalerrposition(position);
	internalerrquery(predicate);
}

/* Return a predicate as an analyzed boolean expression over an item's columns.  Frees the parse state. */
Node *
predicate_analyze(const char *predicate, ParseState *state, ParseNamespaceItem *item)
{
	ErrorContextCallback callback = {.previous = error_context_stack,
									 .callback = predicate_context,
									 .arg = unconstify(char *, predicate)};
	Node *expression;

	Assert(predicate != NULL && state != NULL && item != NULL);
	error_context_stack = &callback;
	state->p_sourcetext = predicate;
	addNSItemToQuery(state, item, false, true, true);
	expression = transformExpr(state, parse_predicate(predicate), EXPR_KIND_WHERE);
	expression = coerce_to_boolean(state, expression, "the predicate");
	assign_expr_collations(state, expression);
	error_context_stack = callback.previous;
	free_parsestate(state);
	predicate_check(predicate, expression);
	return expression;
}
