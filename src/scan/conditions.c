/*
 * conditions.c
 *		Splitting the conditions of a query on an A-view.
 *
 * A condition may go to the source only if it selects there the rows that it would
 * select among published rows, or more.  Sensitive columns of suppressed rows,
 * identifiers unless k is 0, and columns that data owners opt out of are published
 * as NULL, so that only conditions that NULL does not satisfy may go there, and are
 * checked again afterwards.  None of them may tell the analyst which values it has
 * met: neither by an error nor, for analysts who may not read the source, by the
 * work that is done for a value that is not published.  For them only columns go to
 * the source that every row publishes as they are (kanon.aview.preselect).
 *
 * Quasi-identifiers are never compared raw together with anything else (the
 * paper's Fig. 7); under match = witness, conditions on nothing but
 * quasi-identifiers, made of nothing but kanon's own comparisons and constants,
 * are asked of the members of a group.
 */
#include "base/kanon.h"

#include "scan/conditions.h"

#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "anonymize/region.h"
#include "aview/aview.h"
#include "aview/refusal.h"
#include "base/extension.h"
#include "source/source.h"

/* The roles of the columns in an expression. */
typedef struct Roles
{
	bool other;
	bool id;
	bool quasi;
	bool sensitive;
	bool generalized; /* one whose type differs between source and view */
	bool whole_row;
	Bitmapset *hidden_by_owner; /* columns that the data owner of a row may hide */
} Roles;

/* Return true if the owners of rows may hide a column; any column may have such a choice. */
static bool
owner_hides(const AViewColumn *column)
{
	return column->disclose >= 0 || column->retain >= 0 || (column->level >= 0 && !column->generalized);
}

/* Collect the roles of the view's columns that a clause mentions. */
static Roles
conditions_roles(const AView *aview, int rti, Node *clause)
{
	Roles roles = {0};
	List *vars = pull_var_clause(clause, PVC_RECURSE_PLACEHOLDERS | PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS);
	ListCell *cell;

	foreach (cell, vars)
	{
		Var *var = lfirst(cell);
		AViewColumn *column;

		if (!IsA(var, Var) || (int) var->varno != rti)
			continue;
		if (var->varattno <= 0 || var->varattno > aview->ncolumns)
		{
			roles.whole_row = true;
			continue;
		}
		column = &aview->columns[var->varattno - 1];
		roles.other |= column->role == ROLE_OTHER;
		roles.id |= column->role == ROLE_ID;
		roles.quasi |= column->role == ROLE_QUASI;
		roles.sensitive |= column->role == ROLE_SENSITIVE;
		roles.generalized |= column->generalized;
		if (owner_hides(column))
			roles.hidden_by_owner = bms_add_member(roles.hidden_by_owner, var->varattno - 1);
	}
	return roles;
}

/* Columns that are published as NULL together: one column, or all columns of a role. */
typedef struct Hidden
{
	const AView *aview;
	int rti;
	ColumnRole role; /* used if column is negative */
	int column;		 /* number among the view's columns, or -1 */
} Hidden;

/* Return true if a Var is one of the hidden columns. */
static bool
is_hidden(const Hidden *hidden, const Var *var)
{
	if ((int) var->varno != hidden->rti || var->varattno <= 0)
		return false;
	if (hidden->column >= 0)
		return var->varattno - 1 == hidden->column;
	return hidden->aview->columns[var->varattno - 1].role == hidden->role;
}

/* Replace the hidden columns of an expression by NULL. */
static Node *
hide_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && is_hidden(context, (Var *) node))
		return (Node *) makeNullConst(((Var *) node)->vartype, ((Var *) node)->vartypmod, ((Var *) node)->varcollid);
	return expression_tree_mutator(node, hide_mutator, context);
}

/* Return true if a condition cannot hold on a row that publishes the hidden columns as NULL. */
static bool
fails_on_hidden(Hidden hidden, Node *clause)
{
	Node *result = eval_const_expressions(NULL, hide_mutator(clause, &hidden));

	return IsA(result, Const) && (((Const *) result)->constisnull || !DatumGetBool(((Const *) result)->constvalue));
}

/* Return true if a condition cannot hold on a row that publishes all columns of a role as NULL. */
static bool
fails_without_role(const AView *aview, int rti, Node *clause, ColumnRole role)
{
	return fails_on_hidden((Hidden){aview, rti, role, -1}, clause);
}

/* Return true if the identifiers of all rows are hidden: no row may have a k of 0. */
static bool
hides_all_ids(const AView *aview)
{
	return aview->k != 0 && !(aview->profile && aview->profile->k >= 0);
}

/* Return true if the identifiers of some rows are hidden. */
static bool
hides_ids(const AView *aview)
{
	return aview->k != 0 || aview->profile;
}

/*
 * Return true if a condition cannot hold on any row that hides a column of it.
 * Suppression hides all sensitive columns of a row together, k hides the
 * identifiers, and the owner of a row hides single columns.
 */
static bool
fails_where_hidden(const AView *aview, int rti, Node *clause, const Roles *roles)
{
	int column = -1;

	if (roles->id && hides_ids(aview) && !fails_without_role(aview, rti, clause, ROLE_ID))
		return false;
	if (roles->sensitive && aview_groups(aview) && !fails_without_role(aview, rti, clause, ROLE_SENSITIVE))
		return false;
	while ((column = bms_next_member(roles->hidden_by_owner, column)) >= 0)
	{
		if (!fails_on_hidden((Hidden){aview, rti, ROLE_OTHER, column}, clause))
			return false;
	}
	return true;
}

/* Return true if every row of the view publishes a column as the source has it. */
static bool
is_always_published(const AView *aview, const AViewColumn *column)
{
	if (owner_hides(column) || column->generalized)
		return false;
	return column->role == ROLE_OTHER || (column->role == ROLE_ID && !hides_ids(aview)) ||
		   (column->role == ROLE_SENSITIVE && !aview_groups(aview));
}

/* Return true if the view shows every row of its source: no row waits for others, and no data owner withholds one. */
static bool
shows_every_row(const AView *aview)
{
	return !aview->materialized && aview->k >= 0 && !(aview->profile && aview->profile->k >= 0);
}

/*
 * Return true if a clause mentions only values that the view publishes.  The work
 * that the source does for such a clause tells nothing that its answer does not tell.
 */
static bool
sees_published_only(const AView *aview, int rti, Node *clause)
{
	ListCell *cell;

	if (!shows_every_row(aview))
		return false;
	foreach (cell, pull_var_clause(clause, PVC_RECURSE_PLACEHOLDERS | PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS))
	{
		Var *var = lfirst(cell);

		if (IsA(var, Var) && (int) var->varno == rti && !is_always_published(aview, &aview->columns[var->varattno - 1]))
			return false;
	}
	return true;
}

bool
conditions_see_hidden(const AView *aview, int rti, List *clauses)
{
	return clauses != NIL && !sees_published_only(aview, rti, (Node *) clauses);
}

/* Return true if conditions on values that some rows hide may go to the source for the current user. */
static bool
reader_is_trusted(const AView *aview)
{
	return aview->preselects_hidden || aview_source_readable(aview);
}

/* Return true if an expression has a Var of the view. */
static bool
mentions(int rti, Node *node)
{
	return bms_is_member(rti, pull_varnos(NULL, node));
}

/* Return true for a column of the view, or a COALESCE of one with values from elsewhere. */
static bool
is_column(int rti, Node *node)
{
	ListCell *cell;

	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	if (!IsA(node, CoalesceExpr))
		return IsA(node, Var);
	foreach (cell, ((CoalesceExpr *) node)->args)
	{
		if (mentions(rti, lfirst(cell)) && !is_column(rti, lfirst(cell)))
			return false;
	}
	return true;
}

/* Return true for a type whose own comparisons cannot raise an error. */
static bool
compares_silently(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case OIDOID:
		case CHAROID:
		case NAMEOID:
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case BYTEAOID:
		case DATEOID:
		case TIMEOID:
		case TIMETZOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case INTERVALOID:
		case UUIDOID:
			return true;
		default:
			return false;
	}
}

/*
 * Return true for a comparison of PostgreSQL's own btree operator classes between a
 * column of the view and a value from elsewhere.  LIKE and the comparisons of
 * records, arrays and jsonb are left out: an operator that raises an error for
 * certain values only would tell by the error that it has met one.
 */
static bool
is_builtin_comparison(int rti, Oid opno, Oid function, List *args)
{
	Node *column = linitial(args);
	Node *value = list_length(args) == 2 ? lsecond(args) : NULL;
	Oid left;
	Oid right;

	if (value == NULL || function >= FirstNormalObjectId || !kanon_sorts(opno))
		return false;
	Assert(OidIsValid(function));
	op_input_types(opno, &left, &right);
	if (!compares_silently(left) || !compares_silently(right))
		return false;
	if (!mentions(rti, column))
	{
		Node *swap = column;

		column = value;
		value = swap;
	}
	return is_column(rti, column) && !mentions(rti, value);
}

/*
 * Return true if a condition does not reveal the values that it is evaluated on.  PostgreSQL may
 * evaluate it on rows that the source leaves out, where that is cheaper: before the
 * source's own WHERE, or below its joins.  A function that is not marked as
 * leakproof may put its arguments into a message; PostgreSQL's own comparisons with
 * a value do not.
 */
static bool
is_discreet(int rti, Node *clause)
{
	ListCell *cell;

	if (!contain_leaked_vars(clause))
		return true;
	switch (nodeTag(clause))
	{
		case T_BoolExpr:
			foreach (cell, ((BoolExpr *) clause)->args)
			{
				if (!is_discreet(rti, lfirst(cell)))
					return false;
			}
			return true;
		case T_OpExpr:
			set_opfuncid((OpExpr *) clause);
			return is_builtin_comparison(rti, ((OpExpr *) clause)->opno, ((OpExpr *) clause)->opfuncid,
										 ((OpExpr *) clause)->args);
		case T_ScalarArrayOpExpr:
			set_sa_opfuncid((ScalarArrayOpExpr *) clause);
			return is_builtin_comparison(rti, ((ScalarArrayOpExpr *) clause)->opno,
										 ((ScalarArrayOpExpr *) clause)->opfuncid,
										 ((ScalarArrayOpExpr *) clause)->args);
		default:
			return false;
	}
}

/*
 * Find a node above a column of the view that is not in the list below.  The parts of
 * a condition that do not depend on the view's rows become parameters, which takes
 * that they have a value by themselves.  Below CASE, conversions of arrays, domains
 * and assignments to fields there are placeholders (CaseTestExpr and others) that
 * stand for a value further up; and an unknown node may have them, too.
 */
static bool
not_plain_walker(Node *node, void *context)
{
	if (node == NULL || !mentions(*(int *) context, node))
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
			return false;
		case T_List:
		case T_BoolExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_FuncExpr:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_CollateExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
			return expression_tree_walker(node, not_plain_walker, context);
		default:
			return true;
	}
}

/*
 * Find an operator or function that compares texts and does not know by which collation:
 * it raises an error for some values.
 */
static bool
unknown_collation_walker(Node *node, void *context)
{
	ListCell *cell;
	List *args;

	if (node == NULL)
		return false;
	args = IsA(node, OpExpr) || IsA(node, DistinctExpr) || IsA(node, NullIfExpr) ? ((OpExpr *) node)->args
		   : IsA(node, ScalarArrayOpExpr)										 ? ((ScalarArrayOpExpr *) node)->args
		   : IsA(node, FuncExpr)												 ? ((FuncExpr *) node)->args
																				 : NIL;
	if (args != NIL && !OidIsValid(exprInputCollation(node)))
	{
		foreach (cell, args)
		{
			Oid type = exprType(lfirst(cell));
			Oid element = get_element_type(type);

			if (type_is_collatable(OidIsValid(element) ? element : type))
				return true;
		}
	}
	return expression_tree_walker(node, unknown_collation_walker, context);
}

/* Return true if the part of a condition that depends on the view's rows has one value wherever it is evaluated. */
static bool
is_immutable_there(const AView *aview, int rti, Node *clause)
{
	List *parameters = NIL;

	return !contain_mutable_functions((Node *) conditions_for_source(aview, rti, list_make1(clause), &parameters));
}

/*
 * Return the reason why a condition may not be handed to the source, or NULL if it may: it
 * selects there exactly the rows that it would select among published rows, or more.  Unless
 * the analyst is trusted, it may see there no value that is not published.
 */
static const char *
objection_to_asking(const AView *aview, int rti, Roles roles, Node *clause, bool trusted)
{
	if (roles.whole_row || roles.generalized || roles.quasi)
		return "a condition is about generalized values";
	if (contain_volatile_functions(clause) || contain_subplans(clause))
		return "a condition is volatile, or has a subquery";
	if (not_plain_walker(clause, &rti))
		return "a condition has an expression of a kind that is not handed on";
	if (roles.id && hides_all_ids(aview))
		return "no row publishes its identifiers";
	if (!trusted && !sees_published_only(aview, rti, clause))
		return "a condition would see values that are not published";
	if (!fails_where_hidden(aview, rti, clause, &roles))
		return "a condition may hold for a row that hides the column";
	if (!is_discreet(rti, clause) || unknown_collation_walker(clause, NULL))
		return "a condition may reveal the values that it is evaluated on";
	if (!is_immutable_there(aview, rti, clause))
		return "the result of a condition depends on the session";
	return NULL;
}

/* Find a parameter that the running plan sets. */
static bool
exec_param_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind != PARAM_EXTERN;
	return expression_tree_walker(node, exec_param_walker, context);
}

bool
uses_exec_params(Node *expression)
{
	return exec_param_walker(expression, NULL);
}

/* Return true if an expression has one value for the whole query: nothing of it comes from a join or a subquery. */
static bool
is_constant(Node *node)
{
	return !contain_var_clause(node) && !contain_volatile_functions(node) && !contain_subplans(node) &&
		   !uses_exec_params(node);
}

/* Return true for one of kanon's own comparisons. */
static bool
is_comparison(Oid function)
{
	return kanon_is_function(function, NULL) && get_func_rettype(function) == BOOLOID;
}

/* Find anything but kanon's comparisons of the view's columns with constants. */
static bool
not_witness_walker(Node *node, void *context)
{
	if (node == NULL || is_constant(node))
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_ArrayExpr:
			break;
		case T_Var:
			return (int) ((Var *) node)->varno != *(int *) context;
		case T_FuncExpr:
			if (!is_comparison(((FuncExpr *) node)->funcid))
				return true;
			break;
		case T_OpExpr:
			set_opfuncid((OpExpr *) node);
			if (!is_comparison(((OpExpr *) node)->opfuncid))
				return true;
			break;
		case T_ScalarArrayOpExpr:
			set_sa_opfuncid((ScalarArrayOpExpr *) node);
			if (!is_comparison(((ScalarArrayOpExpr *) node)->opfuncid))
				return true;
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, not_witness_walker, context);
}

/* Return true if a condition is to be asked of the members of a group: match = witness, on quasi-identifiers only. */
static bool
is_witness_condition(const AView *aview, int rti, Roles roles, Node *clause)
{
	return aview->match == MATCH_WITNESS && aview_groups(aview) && roles.quasi && !roles.other && !roles.id &&
		   !roles.sensitive && !roles.whole_row && !not_witness_walker(clause, &rti);
}

/* Return the constant of "column = constant", in either order, and set the column; NULL for any other clause. */
static Const *
witness_constant(Node *clause, int rti, int *column)
{
	OpExpr *operation = (OpExpr *) clause;
	Node *left;
	Node *right;

	if (!IsA(clause, OpExpr) || list_length(operation->args) != 2 ||
		!kanon_is_function(operation->opfuncid, "avlike"))
		return NULL;
	left = linitial(operation->args);
	right = lsecond(operation->args);
	if (IsA(right, Var))
	{
		Node *swap = left;

		left = right;
		right = swap;
	}
	if (!IsA(left, Var) || !IsA(right, Const) || ((Const *) right)->constisnull)
		return NULL;
	*column = ((Var *) left)->varattno - 1;
	return (Const *) right;
}

/* Return conditions on the source that every witness satisfies, or NIL. */
static List *
witness_region(const AView *aview, int rti, Node *clause)
{
	int column;
	Const *value = witness_constant(clause, rti, &column);

	return value ? region_of_value(aview, column, region_meaning(value->consttype, value->constvalue)) : NIL;
}

/*
 * Return the value from elsewhere that AVLIKE compares a quasi-identifier with, and
 * set the column; NULL if the clause is something else.
 */
static Node *
avlike_value(const AView *aview, int rti, OpExpr *operation, int *column)
{
	Node *left;
	Node *right;

	if (!IsA(operation, OpExpr) || list_length(operation->args) != 2 ||
		!kanon_is_function(get_opcode(operation->opno), "avlike"))
		return NULL;
	Assert(OidIsValid(operation->opno));
	left = linitial(operation->args);
	right = lsecond(operation->args);
	if (mentions(rti, right))
	{
		left = right;
		right = linitial(operation->args);
	}
	if (!IsA(left, Var) || mentions(rti, right) || contain_volatile_functions(right) || contain_subplans(right) ||
		((Var *) left)->varattno <= 0 || aview->columns[((Var *) left)->varattno - 1].role != ROLE_QUASI)
		return NULL;
	*column = ((Var *) left)->varattno - 1;
	return right;
}

List *
conditions_asked(const AView *aview, int rti, List *clauses, List **values)
{
	List *columns = NIL;
	ListCell *cell;

	/* With a profile there may be stored groups that are not shown for the purpose. */
	if (aview->profile && !reader_is_trusted(aview))
		return NIL;
	foreach (cell, clauses)
	{
		int column;
		Node *value = avlike_value(aview, rti, lfirst(cell), &column);

		if (value == NULL)
			continue;
		columns = lappend_int(columns, column);
		*values = lappend(*values, copyObject(value));
	}
	return columns;
}

void
conditions_split(const AView *aview, int rti, List *clauses, List *derived, Conditions *conditions)
{
	List *others = NIL;
	bool trusted = reader_is_trusted(aview);
	ListCell *cell;

	memset(conditions, 0, sizeof(Conditions));
	foreach (cell, clauses)
	{
		Node *clause = lfirst(cell);
		Roles roles = conditions_roles(aview, rti, clause);
		const char *objection = objection_to_asking(aview, rti, roles, clause, trusted);
		bool pre = objection == NULL;
		int column;

		if (roles.id && hides_all_ids(aview) && fails_without_role(aview, rti, clause, ROLE_ID))
			conditions->never = true;
		if (is_witness_condition(aview, rti, roles, clause) && !list_member(derived, clause))
		{
			conditions->witness = lappend(conditions->witness, clause);
			/* Suppressed rows hide their quasi-identifiers. */
			if (trusted)
				conditions->region = list_concat(conditions->region, witness_region(aview, rti, clause));
			continue;
		}
		if (pre)
			conditions->pre = lappend(conditions->pre, clause);
		else
			aview_refuse(aview, "pre-filter", objection);
		/*
		 * Which rows hide a column is known only once they are published, so the condition
		 * is checked again there.  It is checked first: a function that saw the row earlier
		 * would tell that the row had been found by a value that it hides.
		 */
		if (pre &&
			(roles.hidden_by_owner || (roles.sensitive && aview_groups(aview)) || (roles.id && hides_ids(aview))))
			conditions->post = lappend(conditions->post, clause);
		else if (!pre && avlike_value(aview, rti, (OpExpr *) clause, &column))
			conditions->post = lappend(conditions->post, clause);
		else if (!pre)
			others = lappend(others, clause);
	}
	conditions->npost_first = list_length(conditions->post);
	conditions->post = list_concat(conditions->post, others);
}

/* Return the members of a list in the order that they have in another one, which has all of them. */
static List *
sorted_like(List *list, List *clauses)
{
	List *sorted = NIL;
	ListCell *cell;

	foreach (cell, clauses)
	{
		if (list_member_ptr(list, lfirst(cell)))
			sorted = lappend(sorted, lfirst(cell));
	}
	Assert(list_length(sorted) == list_length(list));
	return sorted;
}

void
conditions_sort(Conditions *conditions, List *clauses)
{
	List *first = list_copy_head(conditions->post, conditions->npost_first);
	List *others = list_copy_tail(conditions->post, conditions->npost_first);

	conditions->pre = sorted_like(conditions->pre, clauses);
	conditions->witness = sorted_like(conditions->witness, clauses);
	conditions->post = list_concat(sorted_like(first, clauses), sorted_like(others, clauses));
}

/* The translation of conditions on the view into conditions on its source. */
typedef struct SourceTerms
{
	const AView *aview;
	int rti;
	List **parameters;
} SourceTerms;

/* Replace columns of the view by columns of the source, and expressions without such columns by parameters. */
static Node *
source_mutator(Node *node, void *context)
{
	SourceTerms *terms = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && (int) ((Var *) node)->varno == terms->rti)
	{
		/* objection_to_asking() refuses whole rows. */
		Assert(((Var *) node)->varattno > 0 && ((Var *) node)->varattno <= terms->aview->ncolumns);
		return (Node *) source_column(terms->aview, ((Var *) node)->varattno - 1);
	}
	if (IsA(node, Const))
		return copyObject(node);
	/* not_plain_walker() has made sure that such a part has a value by itself. */
	if (!IsA(node, List) && !mentions(terms->rti, node))
	{
		Param *param = makeNode(Param);

		*terms->parameters = lappend(*terms->parameters, copyObject(node));
		param->paramkind = PARAM_EXTERN;
		param->paramid = list_length(*terms->parameters);
		param->paramtype = exprType(node);
		param->paramtypmod = exprTypmod(node);
		param->paramcollid = exprCollation(node);
		param->location = -1;
		return (Node *) param;
	}
	return expression_tree_mutator(node, source_mutator, context);
}

List *
conditions_for_source(const AView *aview, int rti, List *clauses, List **parameters)
{
	SourceTerms terms = {aview, rti, parameters};

	return (List *) source_mutator((Node *) clauses, &terms);
}
