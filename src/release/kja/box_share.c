/*
 * box_share.c
 *		kanon.box_share: the share of a published box that lies in a range, if all
 *		values that the box stands for are equally likely.
 *
 * kanon.kja_count adds these shares up.  A range is given by numbers: for a tree whose
 * leaves are numbers, they are compared with the leaves; for any other tree, with the
 * positions of the leaves from 0 on; for dates, they count days from 2000-01-01.
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

/* [from, to) on one column; infinite where it has no bound. */
typedef struct Range
{
	double from;
	double to;
} Range;

/* Return a numeric as a double. */
static double
to_double(Numeric number)
{
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8, NumericGetDatum(number)));
}

/* Return the length of the intersection of [lo, hi] and a range. */
static double
overlap(double lo, double hi, Range range)
{
	return Max(0, Min(hi, range.to) - Max(lo, range.from));
}

/* Return the share of an interval that lies in a range. */
static double
range_interval_share(const GenView *view, Range range)
{
	double lo = gen_double_bound(view, false);
	double hi = gen_double_bound(view, true);

	if (lo == hi)
		return range.from <= lo && lo < range.to ? 1 : 0;
	/* An unbounded interval has no width to take a share of; all of it is counted. */
	return isinf(hi - lo) ? 1 : overlap(lo, hi, range) / (hi - lo);
}

/* Return the share of a tree's leaves, from lo to before hi, that lies in a range. */
static double
range_leaves_share(Dgh *dgh, int32 lo, int32 hi, Range range)
{
	const TreeOrder *order = tree_order(dgh, LEAVES_AS_NUMBERS, InvalidOid);
	int count = 0;

	Assert(lo >= 0 && lo < hi && hi <= dgh->tree->nleaves);
	if (order->before[dgh->tree->nleaves] < dgh->tree->nleaves)
		return overlap(lo, hi, range) / (hi - lo);
	for (int32 leaf = lo; leaf < hi; leaf++)
	{
		GenView number;

		gen_view(order->points[leaf], &number);
		count += range_interval_share(&number, range) > 0 ? 1 : 0;
		gen_view_free(&number);
	}
	return (double) count / (hi - lo);
}

/*
 * Return the share of a node of the hierarchy as it is now, or of the value that covers
 * everything, that lies in a range.
 */
static double
range_node_share(Datum value, const GenView *view, Range range)
{
	Dgh *dgh = view->dgh > 0 ? dgh_find_by_id(view->dgh) : NULL;
	GenView node = *view;

	/* Without a hierarchy the value has no width to take a share of; all of it is counted. */
	if (dgh == NULL || dgh->tree == NULL || dgh->tree->nleaves == 0)
		return 1;
	if (view->kind == GEN_ANY)
		return range_leaves_share(dgh, 0, dgh->tree->nleaves, range);
	gen_view(dgh_resolve(dgh, value), &node);
	/* A word that the tree does not know is no leaf. */
	return node.lo < node.hi ? range_leaves_share(dgh, node.lo, node.hi, range) : 0;
}

/* Return the share of a generalized value that lies in a range. */
static double
range_value_share(Datum value, Range range)
{
	GenView view;
	const char *text;
	int len;

	gen_view(value, &view);
	if (GEN_IS_INTERVAL(&view))
		return range_interval_share(&view, range);
	if (view.kind == GEN_ANY || view.kind == GEN_NODE)
		return range_node_share(value, &view, range);
	text = gen_text(&view, &len);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a range of numbers cannot be compared with words like \"%.*s\"", len, text),
			 errhint("Leave the column out of the range: null in lo and hi.")));
}

/* Return the elements of an array of numbers, NULL as infinity. */
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

/*
 * Return the share of a box that lies in a range: box_share(box kanon.generalized[], lo
 * numeric[], hi numeric[]).
 */
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
		/* NULL is in no range. */
		share *= nulls[i] ? 0 : range_value_share(values[i], range);
	}
	PG_RETURN_FLOAT8(share);
}
