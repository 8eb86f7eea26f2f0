/*
 * box_share.c
 *		kanon.box_share: how much of a published box lies in a range, if all that
 *		it stands for is equally likely.
 *
 * kanon.kja_count adds these shares up.  A range is given by numbers: for a tree
 * whose leaves are numbers these are compared with the leaves, for any other
 * with their positions from 0 on, for dates they count days from 2000-01-01.
 */
#include "base/kanon.h"

#include "release/common/grouping.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/numeric.h"
#include "catalog/pg_type.h"

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"

PG_FUNCTION_INFO_V1(kanon_box_share);

/* [from, to) on one column; infinite where not bounded. */
typedef struct Range
{
	double from;
	double to;
} Range;

static double
to_double(Numeric number)
{
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8, NumericGetDatum(number)));
}

static double
overlap(double lo, double hi, Range range)
{
	return Max(0, Min(hi, range.to) - Max(lo, range.from));
}

static double
interval_share(const GenView *view, Range range)
{
	double lo = gen_double_bound(view, false);
	double hi = gen_double_bound(view, true);

	if (lo == hi)
		return range.from <= lo && lo < range.to ? 1 : 0;
	/* Nothing is known about the width of an open interval. */
	return isinf(hi - lo) ? 1 : overlap(lo, hi, range) / (hi - lo);
}

static double
leaves_share(Dgh *dgh, int32 lo, int32 hi, Range range)
{
	const TreeOrder *order = tree_order(dgh, LEAVES_AS_NUMBERS, InvalidOid);
	int count = 0;

	if (order->before[dgh->tree->nleaves] < dgh->tree->nleaves)
		return overlap(lo, hi, range) / (hi - lo);
	for (int32 leaf = lo; leaf < hi; leaf++)
	{
		GenView number;

		gen_view(order->points[leaf], &number);
		count += interval_share(&number, range) > 0 ? 1 : 0;
		gen_view_free(&number);
	}
	return (double) count / (hi - lo);
}

/* Everything, or a node by the hierarchy as it is now. */
static double
node_share(Datum value, const GenView *view, Range range)
{
	Dgh *dgh = view->dgh > 0 ? dgh_find_by_id(view->dgh) : NULL;
	GenView node = *view;

	/* Everything without a hierarchy has no width; it is counted in. */
	if (dgh == NULL || dgh->tree == NULL || dgh->tree->nleaves == 0)
		return 1;
	if (view->kind == GEN_ANY)
		return leaves_share(dgh, 0, dgh->tree->nleaves, range);
	gen_view(dgh_resolve(dgh, value), &node);
	/* A word that the tree does not know is no leaf. */
	return node.lo < node.hi ? leaves_share(dgh, node.lo, node.hi, range) : 0;
}

static double
value_share(Datum value, Range range)
{
	GenView view;
	const char *text;
	int len;

	gen_view(value, &view);
	if (GEN_IS_INTERVAL(&view))
		return interval_share(&view, range);
	if (view.kind == GEN_ANY || view.kind == GEN_NODE)
		return node_share(value, &view, range);
	text = gen_text(&view, &len);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a range of numbers cannot be asked for where values are words like \"%.*s\"", len, text),
			 errhint("Leave the column out of the range: null in lo and hi.")));
}

/* The elements of an array of numbers, null as infinity. */
static double *
read_bounds(ArrayType *array, int count, const char *name, double missing)
{
	Datum *values;
	bool *nulls;
	int given;
	double *bounds = palloc(count * sizeof(double));

	deconstruct_array(array, NUMERICOID, -1, false, TYPALIGN_INT, &values, &nulls, &given);
	if (given != count)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("%s has %d numbers, but the release has %d quasi-identifiers", name, given, count)));
	for (int i = 0; i < count; i++)
		bounds[i] = nulls[i] ? missing : to_double(DatumGetNumeric(values[i]));
	return bounds;
}

/* box_share(box kanon.generalized[], lo numeric[], hi numeric[]) */
Datum
kanon_box_share(PG_FUNCTION_ARGS)
{
	ArrayType *box = PG_GETARG_ARRAYTYPE_P(0);
	Datum *values;
	bool *nulls;
	int count = box_values(box, &values, &nulls);
	double *lo = read_bounds(PG_GETARG_ARRAYTYPE_P(1), count, "lo", -INFINITY);
	double *hi = read_bounds(PG_GETARG_ARRAYTYPE_P(2), count, "hi", INFINITY);
	double share = 1;

	for (int i = 0; i < count && share > 0; i++)
	{
		Range range = {lo[i], hi[i]};

		if (isinf(range.from) && isinf(range.to))
			continue;
		/* Null is in no range. */
		share *= nulls[i] ? 0 : value_share(values[i], range);
	}
	PG_RETURN_FLOAT8(share);
}
