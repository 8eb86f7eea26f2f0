/*
 * choices.c
 *		The choices of the rows' owners, found in the source of an A-view.
 *
 * profile_join.c has written the source as SELECT ... FROM (rows) LEFT JOIN choices
 * ON ..., and has named its columns of choices; here its analyzed form is read.
 */
#include "base/kanon.h"

#include "aview/choices.h"

#include "access/genam.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "aview/aview.h"
#include "aview/projection.h"
#include "aview/purpose.h"
#include "base/extension.h"

/* The range table of a source with a profile: the rows, their choices. */
#define ROWS_RTI 1
#define CHOICES_RTI 2

/* Enter a further column of the source into the definition, as its name says. */
static void
read_choice(AView *aview, int column, const char *name)
{
	int number = 0;
	int *place = NULL;

	if (sscanf(name, CHOICE_KEY, &number) == 1 && column == aview->nkeyed)
		place = &aview->nkeyed;
	else if (strcmp(name, CHOICE_FOUND) == 0)
		place = &aview->profile->found;
	else if (strcmp(name, CHOICE_K) == 0)
		place = &aview->profile->k;
	else if (strcmp(name, CHOICE_DEMAND) == 0)
		place = &aview->profile->demand;
	else if (sscanf(name, CHOICE_LEVEL, &number) == 1 && number >= 1 && number <= aview->ncolumns)
		place = &aview->columns[number - 1].level;
	else if (sscanf(name, CHOICE_DISCLOSE, &number) == 1 && number >= 1 && number <= aview->ncolumns)
		place = &aview->columns[number - 1].disclose;
	else if (sscanf(name, CHOICE_RETAIN, &number) == 1 && number >= 1 && number <= aview->ncolumns)
		place = &aview->columns[number - 1].retain;
	if (place == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the definition of anonymization view \"%s\" does not fit the view",
						get_rel_name(aview->view))));
	*place = place == &aview->nkeyed ? column + 1 : column;
}

/*
 * Replace the calls of current_purpose() and current_recipient() by their values: access
 * was granted for these, also to rows that are read later in the same execution.
 */
static Node *
bind_mutator(Node *node, void *context)
{
	AView *aview = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, FuncExpr))
	{
		Oid function = ((FuncExpr *) node)->funcid;
		const char *value = kanon_is_function(function, PURPOSE_FUNCTION)	  ? aview->profile->purpose
							: kanon_is_function(function, RECIPIENT_FUNCTION) ? aview->profile->recipient
																			  : NULL;

		if (value)
			return (Node *) makeConst(TEXTOID, -1, exprCollation(node), -1, CStringGetTextDatum(value), false, false);
	}
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, bind_mutator, context, 0);
	return expression_tree_mutator(node, bind_mutator, context);
}

/* Raise an error if a row of the source may have several rows of choices. */
static void
check_choices(const AView *aview)
{
	if (!choices_are_unique(aview->source))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the profile table of anonymization view \"%s\" has lost the key by which choices are found",
						get_rel_name(aview->view)),
				 errdetail("There may be two rows of choices for one person, purpose and recipient."),
				 errhint("Create the unique index again, or the view.")));
}

/* Set up the view's profile, if its source has more columns than the view; otherwise it has none. */
void
profile_read(AView *aview)
{
	RangeTblEntry *rows;
	ListCell *cell;
	int column = 0;

	aview->rows = aview->source;
	aview->nkeyed = aview->ncolumns;
	if (aview->nsource == aview->ncolumns)
		return;
	aview->profile = palloc0(sizeof(AViewProfile));
	aview->profile->purpose = pstrdup(kanon_purpose);
	aview->profile->recipient = pstrdup(kanon_recipient);
	aview->profile->found = aview->profile->k = aview->profile->shown = aview->profile->demand = -1;
	foreach (cell, aview->source->targetList)
	{
		TargetEntry *entry = lfirst(cell);

		if (!entry->resjunk && column++ >= aview->ncolumns)
			read_choice(aview, column - 1, entry->resname);
	}
	if (aview->profile->found < 0)
		read_choice(aview, 0, "");
	rows = rt_fetch(ROWS_RTI, aview->source->rtable);
	Assert(rows->rtekind == RTE_SUBQUERY && aview->profile->found >= aview->nkeyed);
	rows->subquery = projection_read(rows->subquery);
	aview->profile->stated = aview->source;
	aview->source = (Query *) bind_mutator((Node *) aview->source, aview);
	aview->rows = rt_fetch(ROWS_RTI, aview->source->rtable)->subquery;
	check_choices(aview);
}

/* Return the column of the choices that a condition of the join compares, or 0 if it compares none. */
static AttrNumber
compared_column(OpExpr *condition)
{
	Node *argument = IsA(condition, OpExpr) ? linitial(condition->args) : NULL;

	while (argument && IsA(argument, RelabelType))
		argument = (Node *) ((RelabelType *) argument)->arg;
	if (argument == NULL || !IsA(argument, Var) || ((Var *) argument)->varno != CHOICES_RTI)
		return 0;
	return ((Var *) argument)->varattno;
}

/* Return true if a condition compares a column of an index by the equality of the index. */
static bool
is_compared(Relation index, int position, List *conditions)
{
	AttrNumber attnum = index->rd_index->indkey.values[position];
	ListCell *cell;

	Assert(position >= 0 && position < index->rd_index->indnkeyatts);
	foreach (cell, conditions)
	{
		OpExpr *condition = lfirst(cell);

		if (attnum > 0 && compared_column(condition) == attnum &&
			op_in_opfamily(condition->opno, index->rd_opfamily[position]) &&
			(!OidIsValid(index->rd_indcollation[position]) ||
			 index->rd_indcollation[position] == condition->inputcollid ||
			 get_collation_isdeterministic(condition->inputcollid)))
			return true;
	}
	return false;
}

/* Return true if an index rules out that two rows of its table satisfy the conditions. */
static bool
index_is_key(Oid oid, List *conditions)
{
	Relation index = index_open(oid, AccessShareLock);
	bool result = index->rd_index->indisunique && index->rd_index->indisvalid && index->rd_index->indimmediate &&
				  RelationGetIndexPredicate(index) == NIL;

	for (int i = 0; result && i < index->rd_index->indnkeyatts; i++)
		result = is_compared(index, i, conditions);
	index_close(index, AccessShareLock);
	return result;
}

/* Return true if there is at most one row of choices for each row of the source. */
bool
choices_are_unique(const Query *source)
{
	RangeTblEntry *choices = rt_fetch(CHOICES_RTI, source->rtable);
	JoinExpr *join = linitial_node(JoinExpr, source->jointree->fromlist);
	List *conditions;
	Relation table;
	bool result = false;
	ListCell *cell;

	Assert(join->rtindex > CHOICES_RTI && list_length(source->rtable) >= CHOICES_RTI);
	/* A subquery groups by the key. */
	if (choices->rtekind == RTE_SUBQUERY)
		return true;
	if (choices->relkind != RELKIND_PARTITIONED_TABLE &&
		(choices->relkind != RELKIND_RELATION || has_subclass(choices->relid)))
		return false;
	conditions = make_ands_implicit((Expr *) join->quals);
	table = relation_open(choices->relid, AccessShareLock);
	foreach (cell, RelationGetIndexList(table))
		result = result || index_is_key(lfirst_oid(cell), conditions);
	relation_close(table, NoLock);
	return result;
}

/* Return the table whose key finds the choices of a row; InvalidOid if no key is needed. */
Oid
choices_table(const AView *aview)
{
	RangeTblEntry *choices = aview->profile ? rt_fetch(CHOICES_RTI, aview->source->rtable) : NULL;

	return choices && choices->rtekind == RTE_RELATION ? choices->relid : InvalidOid;
}

/* Return the column of the profile table itself that a column of the choices comes from, and set the table. */
static AttrNumber
table_attribute(const Query *source, AttrNumber attnum, Oid *table)
{
	RangeTblEntry *choices = rt_fetch(CHOICES_RTI, source->rtable);
	Node *expression;
	List *vars;

	if (choices->rtekind == RTE_RELATION)
	{
		*table = choices->relid;
		return attnum;
	}
	/* The strictest of several rows: an expression on one of the table's columns. */
	expression = (Node *) list_nth_node(TargetEntry, choices->subquery->targetList, attnum - 1)->expr;
	vars = pull_var_clause(kanon_ungrouped(choices->subquery, expression), PVC_RECURSE_AGGREGATES);
	*table = rt_fetch(linitial_node(Var, vars)->varno, choices->subquery->rtable)->relid;
	return linitial_node(Var, vars)->varattno;
}

/* Return the column of the profile table that a further column of the source comes from: see choices.h. */
AttrNumber
choice_attribute(const AView *aview, int column, Oid *table)
{
	TargetEntry *entry = list_nth_node(TargetEntry, aview->profile->stated->targetList, column);
	List *vars = pull_var_clause((Node *) entry->expr, 0);

	Assert(column >= aview->nkeyed && column < list_length(aview->profile->stated->targetList));
	return vars == NIL ? 0 : table_attribute(aview->profile->stated, linitial_node(Var, vars)->varattno, table);
}

/* Return the query for the largest k that a row's owner asks for: see choices.h. */
Query *
demand_query(const AView *aview)
{
	TargetEntry *entry = list_nth_node(TargetEntry, aview->source->targetList, aview->profile->demand);

	Assert(aview->profile->demand >= aview->nkeyed);
	return castNode(Query, castNode(SubLink, entry->expr)->subselect);
}

/*
 * Return the column of the choices that a condition compares with a call of a function,
 * or 0 if there is no such condition.
 */
static AttrNumber
column_for(List *conditions, const char *function)
{
	ListCell *cell;

	foreach (cell, conditions)
	{
		OpExpr *condition = lfirst(cell);
		FuncExpr *call = IsA(condition, OpExpr) ? lsecond(condition->args) : NULL;

		if (call && IsA(call, FuncExpr) && kanon_is_function(call->funcid, function))
			return linitial_node(Var, pull_var_clause(linitial(condition->args), 0))->varattno;
	}
	return 0;
}

/* Find out how rows are joined with choices: see choices.h. */
void
profile_key(const AView *aview, ProfileKey *key)
{
	const Query *source = aview->profile->stated;
	RangeTblEntry *choices = rt_fetch(CHOICES_RTI, source->rtable);
	JoinExpr *join = linitial_node(JoinExpr, source->jointree->fromlist);
	List *conditions = make_ands_implicit((Expr *) join->quals);
	ListCell *cell;

	memset(key, 0, sizeof(ProfileKey));
	foreach (cell, conditions)
	{
		AttrNumber attnum = compared_column(lfirst(cell));
		List *vars = attnum > 0 ? pull_var_clause(lsecond(lfirst_node(OpExpr, cell)->args), 0) : NIL;

		if (vars == NIL)
			continue;
		key->view_columns = lappend_int(key->view_columns, linitial_node(Var, vars)->varattno - 1);
		key->choices = lappend_int(key->choices, table_attribute(source, attnum, &key->table));
	}
	if (choices->rtekind == RTE_SUBQUERY)
		conditions = make_ands_implicit((Expr *) choices->subquery->jointree->quals);
	key->purpose = column_for(conditions, PURPOSE_FUNCTION);
	key->recipient = column_for(conditions, RECIPIENT_FUNCTION);
}
