/*
 * answers.c
 *		Precision and recall of a condition (Eltabakh et al., section 8.1).
 *
 * If the view matches by cover, a row is in the answer if its published values satisfy the
 * condition.  If it matches by witness, the answer depends on the other members of the
 * row's group, too, so the view itself is queried; a row with raw values that satisfy the
 * condition is its own witness, so the rows that are both answered and wanted need no
 * query.
 */
#include "base/kanon.h"

#include "quality/answers.h"

#include "access/relation.h"
#include "executor/spi.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_relation.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "aview/aview.h"
#include "base/predicate.h"
#include "quality/quality.h"

#define VIEW_ALIAS "v"

/* The state of a walk that moves the columns of an expression to their places in a pair. */
typedef struct Placing
{
	const char *predicate; /* the condition as given, for errors */
	int offset;			   /* of the columns in a pair: 0 for the published ones, ncolumns for the raw ones */
	Bitmapset *columns;	   /* columns of the view that were met */
} Placing;

/* Move the columns of an expression to their places in a pair, and collect them. */
static bool
place_walker(Node *node, void *context)
{
	Placing *placing = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var *var = (Var *) node;

		if (var->varattno <= 0)
			predicate_error(placing->predicate, "It must use columns of the view only.");
		placing->columns = bms_add_member(placing->columns, var->varattno - 1);
		var->varattno += placing->offset;
		return false;
	}
	return expression_tree_walker(node, place_walker, context);
}

/* Prepare an analyzed condition for evaluation on pairs, its columns moved by an offset. */
static ExprState *
answers_prepare(Answers *answers, Node *expression, const char *predicate, int offset)
{
	Placing placing = {.predicate = predicate, .offset = offset, .columns = answers->columns};

	expression = copyObject(expression);
	place_walker(expression, &placing);
	answers->columns = placing.columns;
	return ExecPrepareExpr((Expr *) expression, answers->estate);
}

/* Return the condition, analyzed over the view. */
static Node *
condition_on_view(const AView *aview, const char *predicate)
{
	Relation view = relation_open(aview->view, AccessShareLock);
	ParseState *state = make_parsestate(NULL);
	Node *expression = predicate_analyze(predicate, state,
										 addRangeTableEntryForRelation(state, view, AccessShareLock,
																	   makeAlias(VIEW_ALIAS, NIL), false, true));

	relation_close(view, NoLock);
	return expression;
}

/* Return the condition, analyzed over the source's query, with the columns named as in the view. */
static Node *
condition_on_source(const AView *aview, const char *predicate)
{
	ParseState *state = make_parsestate(NULL);
	List *names = NIL;

	for (int i = 0; i < aview->ncolumns; i++)
		names = lappend(names, makeString(aview->columns[i].name));
	return predicate_analyze(predicate, state,
							 addRangeTableEntryForSubquery(state, copyObject(aview->source),
														   makeAlias(VIEW_ALIAS, names), false, true));
}

/* Return the row type of a pair: the published columns, then the raw ones. */
static TupleDesc
pair_desc(const AView *aview)
{
	TupleDesc desc = CreateTemplateTupleDesc(2 * aview->ncolumns);

	for (int i = 0; i < aview->ncolumns; i++)
	{
		AViewColumn *column = &aview->columns[i];

		TupleDescInitEntry(desc, i + 1, column->name, aview_column_type(aview, i),
						   column->generalized ? -1 : column->source_typmod, 0);
		TupleDescInitEntry(desc, aview->ncolumns + i + 1, column->name, column->source_type, column->source_typmod, 0);
	}
	return desc;
}

/* Prepare to evaluate a condition on published and on raw rows. */
Answers *
answers_create(const AView *aview, const char *predicate)
{
	Answers *answers = palloc0(sizeof(Answers));
	Node *expression = condition_on_view(aview, predicate);

	answers->aview = aview;
	answers->estate = CreateExecutorState();
	answers->slot = MakeSingleTupleTableSlot(pair_desc(aview), &TTSOpsVirtual);
	answers->condition = deparse_expression(expression, deparse_context_for(VIEW_ALIAS, aview->view), true, false);
	answers->published = answers_prepare(answers, expression, predicate, 0);
	for (int i = 0; i < aview->nquasi && aview->match == MATCH_WITNESS; i++)
		answers->needs_witness |= bms_is_member(aview->quasi[i], answers->columns);
	answers->raw = answers_prepare(answers, condition_on_source(aview, predicate), predicate, aview->ncolumns);
	return answers;
}

/* Return true if a condition is true, and not NULL, for the row in the slot. */
static bool
condition_holds(Answers *answers, ExprState *condition, ExprContext *context)
{
	bool isnull;
	Datum result = ExecEvalExprSwitchContext(condition, context, &isnull);

	return !isnull && DatumGetBool(result);
}

/* Count a row: whether it is in the answer, whether it is wanted, and whether it is both. */
void
answers_add(Answers *answers, const Pair *pair)
{
	const AView *aview = answers->aview;
	ExprContext *context = GetPerTupleExprContext(answers->estate);
	bool answered;
	bool wanted;

	Assert(pair->values != NULL && answers->slot->tts_tupleDescriptor->natts == 2 * aview->ncolumns);
	ResetExprContext(context);
	ExecClearTuple(answers->slot);
	memcpy(answers->slot->tts_values, pair->values, 2 * aview->ncolumns * sizeof(Datum));
	memcpy(answers->slot->tts_isnull, pair->nulls, 2 * aview->ncolumns * sizeof(bool));
	ExecStoreVirtualTuple(answers->slot);
	context->ecxt_scantuple = answers->slot;
	answered = condition_holds(answers, answers->published, context);
	wanted = condition_holds(answers, answers->raw, context);
	/* A suppressed row is in no answer: its group has no cell to be a witness for. */
	if (answers->needs_witness && pair->fate == FATE_SUPPRESSED)
		answered = false;
	answers->answered += answered;
	answers->wanted += wanted;
	answers->right += answered && wanted;
}

/* Return the number of rows of the view itself that satisfy the condition. */
static int64
ask_view(const Answers *answers)
{
	Oid view = answers->aview->view;
	char *name = quote_qualified_identifier(get_namespace_name(get_rel_namespace(view)), get_rel_name(view));
	int64 result;
	bool isnull;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(psprintf("SELECT pg_catalog.count(*) FROM %s AS " VIEW_ALIAS " WHERE %s", name, answers->condition),
					true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not query the view: %s", SPI_result_code_string(SPI_result));
	result = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
	SPI_finish();
	return result;
}

/* Complete the counts, and free the state of the evaluation. */
void
answers_finish(Answers *answers)
{
	Assert(answers->right <= answers->answered && answers->right <= answers->wanted);
	if (answers->needs_witness)
		answers->answered = ask_view(answers);
	ExecDropSingleTupleTableSlot(answers->slot);
	FreeExecutorState(answers->estate);
}
