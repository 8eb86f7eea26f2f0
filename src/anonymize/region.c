/*
 * region.c
 *		From generalized values back to conditions on the columns of the source.
 *
 * Each function returns a list of conditions, all of which hold for every row whose
 * raw value the generalized one covers; NIL stands for no condition.  Operators are
 * taken from pg_catalog and not by the search path, so that indexes can be used and
 * no code of a user is called.
 */
#include "base/kanon.h"

#include "anonymize/region.h"

#include <math.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_collate.h"
#include "parser/parse_node.h"
#include "parser/parse_oper.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "aview/aview.h"
#include "base/extension.h"
#include "base/settings.h"
#include "base/typekind.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"
#include "recode/dictionary.h"
#include "recode/recode.h"
#include "source/source.h"

/* The labels in a list at most: a longer list costs more than reading rows in vain. */
#define MAX_LABELS 1000

/* Return the kind of a column's type, or TYPEKIND_OTHER if no condition here holds values of that kind. */
static TypeKind
region_kind(Oid type)
{
	TypeKind kind = typekind(type);

	return kind == TYPEKIND_BOOLEAN || kind == TYPEKIND_PADDED || kind == TYPEKIND_NAME ? TYPEKIND_OTHER : kind;
}

/* Return the comparison of a column with a value, by an operator of pg_catalog. */
static Node *
compare_column(Node *column, const char *name, Node *value)
{
	ParseState *pstate = make_parsestate(NULL);
	Node *result = (Node *) make_op(pstate, list_make2(makeString("pg_catalog"), makeString(pstrdup(name))),
									column, value, NULL, -1);

	assign_expr_collations(pstate, result);
	free_parsestate(pstate);
	return result;
}

/*
 * Return the condition that a column equals a value, as the column's type defines it; NULL if
 * it has no equality.
 */
static Node *
equals(const AViewColumn *column, Node *var, Node *value)
{
	Oid opno;

	if (region_kind(column->source_type) != TYPEKIND_OTHER)
		return compare_column(var, "=", value);
	opno = lookup_type_cache(column->source_type, TYPECACHE_EQ_OPR)->eq_opr;
	if (!OidIsValid(opno))
		return NULL;
	return (Node *) make_opclause(opno, BOOLOID, false, (Expr *) var, (Expr *) value, InvalidOid,
								  column->source_collation);
}

/* Return a text as a constant. */
static Node *
text_constant(const char *text, int len)
{
	return (Node *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
							  PointerGetDatum(cstring_to_text_with_len(text, len)), false, false);
}

/* Return a bound of an interval as a constant that the column can be compared with; NULL if there is none. */
static Node *
bound_constant(const AViewColumn *column, const GenView *view, bool upper)
{
	int64 whole = upper ? view->ihi : view->ilo;
	Numeric number = NULL;
	double value;

	if (GEN_IS_NUMBER(view))
		number = view->kind == GEN_INT ? int64_to_numeric(whole) : (upper ? view->nhi : view->nlo);
	switch (region_kind(column->source_type))
	{
		case TYPEKIND_INTEGER:
			if (view->kind != GEN_INT)
				return NULL;
			return (Node *) makeConst(INT8OID, -1, InvalidOid, 8, Int64GetDatum(whole), false, FLOAT8PASSBYVAL);
		case TYPEKIND_NUMERIC:
			if (number == NULL)
				return NULL;
			return (Node *) makeConst(NUMERICOID, -1, InvalidOid, -1, NumericGetDatum(number), false, false);
		case TYPEKIND_FLOAT:
			if (number == NULL)
				return NULL;
			/* Rounding must not exclude a row, so the bound is moved outwards, also to infinity. */
			value = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(number)));
			if (getBaseType(column->source_type) == FLOAT4OID)
				value = nextafterf((float4) value, upper ? INFINITY : -INFINITY);
			else
				value = nextafter(value, upper ? INFINITY : -INFINITY);
			return (Node *) makeConst(FLOAT8OID, -1, InvalidOid, 8, Float8GetDatum(value), false, FLOAT8PASSBYVAL);
		case TYPEKIND_DATE:
			if (view->kind != GEN_DATE)
				return NULL;
			return (Node *) makeConst(DATEOID, -1, InvalidOid, 4, DateADTGetDatum(whole), false, true);
		default:
			return NULL;
	}
}

/*
 * Return the start of a day, for timestamps with time zone in that of the settings in force, as
 * a constant: an infinite one for a day that no timestamp can have.
 */
static Node *
start_of_day(int64 days, bool zoned)
{
	DateADT day = IS_VALID_DATE(days) ? days : days < 0 ? DATEVAL_NOBEGIN
														: DATEVAL_NOEND;
	int overflow;
	Timestamp start = zoned ? date2timestamptz_opt_overflow(day, &overflow)
							: date2timestamp_opt_overflow(day, &overflow);

	return (Node *) makeConst(zoned ? TIMESTAMPTZOID : TIMESTAMPOID, -1, InvalidOid, 8, TimestampGetDatum(start),
							  false, FLOAT8PASSBYVAL);
}

/*
 * Return conditions for the timestamps of the days of an interval, and for the first moment
 * after them.  The infinite timestamps end with themselves, so that "<=" must include them.
 */
static List *
timestamp_region(const AViewColumn *column, Node *var, const GenView *view)
{
	bool zoned = getBaseType(column->source_type) == TIMESTAMPTZOID;
	int64 end = view->ihi + ((view->flags & GEN_UPPER_INC) ? 1 : 0);

	if (view->kind != GEN_DATE || (view->flags & (GEN_LOWER_INF | GEN_UPPER_INF)))
		return NIL;
	return list_make2(compare_column(copyObject(var), ">=", start_of_day(view->ilo, zoned)),
					  compare_column(var, "<=", start_of_day(end, zoned)));
}

/* Return conditions for the values of an interval; its bounds count as inside. */
static List *
interval_region(const AViewColumn *column, Node *var, const GenView *view)
{
	List *conditions = NIL;
	Node *bound;

	if (region_kind(column->source_type) == TYPEKIND_TIMESTAMP)
		return timestamp_region(column, var, view);
	if (!(view->flags & GEN_LOWER_INF) && (bound = bound_constant(column, view, false)) != NULL)
		conditions = lappend(conditions, compare_column(copyObject(var), ">=", bound));
	if (!(view->flags & GEN_UPPER_INF) && (bound = bound_constant(column, view, true)) != NULL)
		conditions = lappend(conditions, compare_column(copyObject(var), "<=", bound));
	return conditions;
}

/*
 * Return the single value that a text stands for, as a constant of the column's type; NULL if
 * the text may stand for others, too.
 */
static Node *
value_constant(const AViewColumn *column, const char *text, int len)
{
	Numeric number;
	GenView view;
	int64 days;
	Oid input;
	Oid parameter;

	switch (region_kind(column->source_type))
	{
		case TYPEKIND_TEXT:
			return text_constant(text, len);
		case TYPEKIND_INTEGER:
			if (!gen_parse_number(text, len, &number))
				return NULL;
			gen_view(gen_numeric_interval(GEN_POINT, number, number), &view);
			return bound_constant(column, &view, false);
		case TYPEKIND_NUMERIC:
			if (!gen_parse_number(text, len, &number))
				return NULL;
			return (Node *) makeConst(NUMERICOID, -1, InvalidOid, -1, NumericGetDatum(number), false, false);
		case TYPEKIND_DATE:
			if (!gen_parse_date(text, len, &days))
				return NULL;
			return (Node *) makeConst(DATEOID, -1, InvalidOid, 4, DateADTGetDatum(days), false, true);
		case TYPEKIND_FLOAT:
		case TYPEKIND_TIMESTAMP:
			return NULL;
		default:
			break;
	}
	/* The text is the output of this type. */
	getTypeInputInfo(column->source_type, &input, &parameter);
	return (Node *) makeConst(column->source_type, -1, column->source_collation, get_typlen(column->source_type),
							  OidInputFunctionCall(input, pnstrdup(text, len), parameter, -1), false,
							  get_typbyval(column->source_type));
}

/* Return the condition that a column equals one of some constants, which have one type; NIL if there are none. */
static List *
any_of(Node *var, List *values)
{
	ParseState *pstate;
	ArrayExpr *array;
	Node *result;

	if (list_length(values) <= 1)
		return values == NIL ? NIL : list_make1(compare_column(var, "=", linitial(values)));
	Assert(exprType(linitial(values)) == exprType(llast(values)));
	pstate = make_parsestate(NULL);
	array = makeNode(ArrayExpr);
	array->element_typeid = ((Const *) linitial(values))->consttype;
	array->array_typeid = get_array_type(array->element_typeid);
	array->array_collid = ((Const *) linitial(values))->constcollid;
	array->elements = values;
	array->location = -1;
	result = (Node *) make_scalar_array_op(pstate, list_make2(makeString("pg_catalog"), makeString("=")), true,
										   var, (Node *) array, -1);
	assign_expr_collations(pstate, result);
	free_parsestate(pstate);
	return list_make1(result);
}

/* Return the condition that a column has one of the labels of a subtree. */
static List *
subtree_region(const AView *aview, int column, Node *var, const GenView *view)
{
	DghTree *tree = aview->columns[column].dgh->tree;
	int node = tree_find(tree, view->label, view->len);
	List *values = NIL;
	TypeKind kind = region_kind(aview->columns[column].source_type);

	if (node < 0 || kind == TYPEKIND_OTHER || kind == TYPEKIND_FLOAT || kind == TYPEKIND_TIMESTAMP)
		return NIL;
	for (int i = node; i < tree->nnodes && (i == node || tree->parent[i] >= node); i++)
	{
		const char *label = tree_label(tree, i);
		Node *constant = value_constant(&aview->columns[column], label, strlen(label));

		if (list_length(values) > MAX_LABELS)
			return NIL;
		if (constant)
			values = lappend(values, constant);
	}
	return any_of(var, values);
}

/* Return the condition that a text has the unmasked prefix of a masked code. */
static List *
prefix_region(const AViewColumn *column, Node *var, const GenView *view)
{
	/* ^@ does not support collations under which different texts are equal. */
	if (region_kind(column->source_type) != TYPEKIND_TEXT || !get_collation_isdeterministic(column->source_collation))
		return NIL;
	return list_make1(compare_column(var, "^@", text_constant(view->label, view->lo)));
}

/*
 * Return the condition for the codes that a masked code covers, and for the masked codes that
 * cover it, which may be values of the column, too.
 */
static List *
masked_region(const AViewColumn *column, Node *var, const GenView *view)
{
	List *below = gen_is_point(view) ? NIL : prefix_region(column, copyObject(var), view);
	List *values = NIL;
	List *above;

	if (!gen_is_point(view) && below == NIL)
		return NIL;
	for (int kept = view->lo; kept >= 0; kept = kept > 0 ? pg_mbcliplen(view->label, kept, kept - 1) : -1)
	{
		StringInfoData masked;
		Node *constant;

		initStringInfo(&masked);
		appendBinaryStringInfo(&masked, view->label, kept);
		for (int i = pg_mbstrlen_with_len(view->label, kept); i < column->dgh->height; i++)
			appendStringInfoString(&masked, column->dgh->mask);
		constant = value_constant(column, masked.data, masked.len);
		if (constant)
			values = lappend(values, constant);
	}
	above = any_of(var, values);
	if (below == NIL)
		return above;
	return list_make1(makeBoolExpr(OR_EXPR, list_concat(below, above), -1));
}

/*
 * Return true if all raw values of a class have the same text.  035 and 35.0 are one
 * number, and a generalized 35 may be a number or a label.
 */
static bool
has_one_spelling(const AViewColumn *column, const GenView *view)
{
	if (column->source_type == kanon_generalized_type())
		return false;
	return !GEN_IS_INTERVAL(view) || column->dgh == NULL || region_kind(column->source_type) != TYPEKIND_TEXT;
}

/* Return conditions for the rows with a raw value of the class of a value. */
static List *
single_region(const AViewColumn *column, Node *var, const GenView *view)
{
	int len;
	const char *text = gen_text(view, &len);
	Node *constant = has_one_spelling(column, view) ? value_constant(column, text, len) : NULL;
	Node *condition = constant ? equals(column, var, constant) : NULL;

	if (condition)
		return list_make1(condition);
	return GEN_IS_INTERVAL(view) ? interval_region(column, var, view) : NIL;
}

/* Return conditions for the rows with a raw value that a generalized value covers. */
static List *
covered_region(const AView *aview, int column, const GenView *view)
{
	const AViewColumn *c = &aview->columns[column];
	Node *var = (Node *) source_column(aview, column);

	if (view->kind == GEN_ANY || (view->flags & GEN_IS_ROOT))
		return NIL;
	if (GEN_IS_INTERVAL(view))
		return interval_region(c, var, view);
	if (view->kind == GEN_NODE && !(view->flags & GEN_UNKNOWN))
		return subtree_region(aview, column, var, view);
	if (view->kind == GEN_PREFIX)
		return prefix_region(c, var, view);
	return single_region(c, var, view);
}

/* Return the condition that a column is NULL. */
static Node *
column_is_null(const AView *aview, int column)
{
	NullTest *test = makeNode(NullTest);

	test->arg = (Expr *) source_column(aview, column);
	test->nulltesttype = IS_NULL;
	test->location = -1;
	return (Node *) test;
}

/* Return conditions for the rows that may be in the cell of a step around codes. */
List *
region_of_codes(const AView *aview, const Recoder *recoder, int step, const int32 *codes)
{
	List *conditions = NIL;
	int level = settings_enter(aview->settings);
	int32 place[MAX_PLACE];

	Assert(recoder->ncolumns == aview->nquasi && recoder->width <= MAX_PLACE);
	Assert(step >= 0 && step <= recoder->nsteps);
	recoder->nesting->locate(recoder, step, codes, place);
	for (int i = 0; i < recoder->ncolumns; i++)
	{
		CellValue value = recoder->nesting->value(recoder, step, place, i);
		GenView view;

		if (value.isnull)
		{
			conditions = lappend(conditions, column_is_null(aview, aview->quasi[i]));
			continue;
		}
		gen_view(value.value, &view);
		if (!value.raw)
			conditions = list_concat(conditions, covered_region(aview, aview->quasi[i], &view));
		else if (view.kind != GEN_ANY)
			conditions = list_concat(conditions, single_region(&aview->columns[aview->quasi[i]],
															   (Node *) source_column(aview, aview->quasi[i]), &view));
	}
	settings_leave(level);
	return conditions;
}

/*
 * Return true if a raw value may stand for several values, so that it may cover a value that
 * AVLIKE asks for: inner labels, intervals and masked codes can be written as text, masked
 * codes also as numbers.
 */
static bool
may_have_inner_values(const AViewColumn *column)
{
	TypeKind kind = region_kind(column->source_type);

	if (column->dgh == NULL)
		return column->source_type == kanon_generalized_type();
	return column->dgh->kind == DGH_TREE || column->dgh->kind == DGH_PREFIX ||
		   kind == TYPEKIND_TEXT || kind == TYPEKIND_OTHER;
}

/*
 * Return conditions for the rows that may satisfy AVLIKE with a value.  AVLIKE holds for the
 * raw values that the value covers, and for raw values that cover it; a column of single
 * values has none of the latter.  What the value says is up to the session, whose analyst
 * wrote it; where the rows of a day are is up to the view's settings.
 */
List *
region_of_value(const AView *aview, int column, Datum generalized)
{
	const AViewColumn *c = &aview->columns[column];
	List *conditions;
	GenView view;
	int level;

	gen_view(c->dgh ? dgh_resolve(c->dgh, generalized) : generalized, &view);
	if (region_kind(c->source_type) == TYPEKIND_OTHER)
		return NIL; /* the text of the value need not be valid input of the type */
	if (c->dgh && c->dgh->kind == DGH_PREFIX && view.kind == GEN_PREFIX)
		return masked_region(c, (Node *) source_column(aview, column), &view);
	if (may_have_inner_values(c))
		return NIL;
	level = settings_enter(aview->settings);
	conditions = gen_is_point(&view) ? single_region(c, (Node *) source_column(aview, column), &view)
									 : covered_region(aview, column, &view);
	settings_leave(level);
	return conditions;
}

/* Return the conditions of a lookup by all quasi-identifiers, for estimating its cost. */
List *
region_template(const AView *aview)
{
	List *conditions = NIL;

	for (int i = 0; i < aview->nquasi; i++)
	{
		const AViewColumn *column = &aview->columns[aview->quasi[i]];
		Param *param = makeNode(Param);
		Node *condition;

		param->paramkind = PARAM_EXTERN;
		param->paramid = list_length(conditions) + 1;
		param->paramtype = getBaseType(column->source_type);
		if (region_kind(column->source_type) == TYPEKIND_TEXT)
			param->paramtype = TEXTOID;
		param->paramtypmod = -1;
		param->paramcollid = get_typcollation(param->paramtype);
		param->location = -1;
		condition = equals(column, (Node *) source_column(aview, aview->quasi[i]), (Node *) param);
		if (condition)
			conditions = lappend(conditions, condition);
	}
	return conditions;
}

/* Return the generalized value as which comparisons take a value of some type. */
Datum
region_meaning(Oid type, Datum value)
{
	Oid output;
	bool is_varlena;
	char *text;

	if (type == kanon_generalized_type())
		return value;
	if (type != TEXTOID)
		return dictionary_value(dictionary_create(type, NULL, NULL), value);
	getTypeOutputInfo(type, &output, &is_varlena);
	text = OidOutputFunctionCall(output, value);
	return gen_parse(text, strlen(text));
}
