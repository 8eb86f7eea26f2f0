/*
 * coverage.c
 *		The share of a generalized value that lies in a range, or on one value, if all
 *		values that it stands for are equally likely.
 *
 * An interval is measured by length, a node by its leaves, a masked code by the digits
 * that it hides.  A value that cannot be measured, an unbounded interval or everything
 * without a hierarchy, gives NULL.
 *
 * Functions here return true, and the share, or false for NULL.
 */
#include "base/kanon.h"

#include "hierarchy/compare.h"

#include <math.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/numeric.h"
#include "utils/varlena.h"

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"

PG_FUNCTION_INFO_V1(kanon_coverage_range);
PG_FUNCTION_INFO_V1(kanon_coverage_value);

/* An argument of the call: a bound of the range, or the value. */
typedef struct Asked
{
	int argument; /* its place in the call */
	const GenView *view;
} Asked;

/* Raise the error that an argument is no number, or no date, and the value is one. */
static pg_noreturn void
coverage_not_comparable(const GenView *view, const GenView *argument)
{
	int len;
	int argument_len;
	const char *text = gen_text(view, &len);
	const char *coverage_argument = gen_text(argument, &argument_len);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"%.*s\" cannot be compared with the generalized value \"%.*s\"",
					argument_len, coverage_argument, len, text)));
}

/*
 * Read an argument as an interval of numbers, or of dates if numbers is false; return
 * false if it is none.  A label may spell one.
 */
static bool
coverage_interval(Comparison *comparison, const Asked *asked, bool numbers, GenView *interval)
{
	const GenView *view = asked->view;

	if (view->kind == GEN_LABEL)
		view = comparison_reread(comparison, asked->argument, view, numbers);
	if (view == NULL)
		return false;
	*interval = *view;
	return GEN_IS_INTERVAL(interval) && GEN_IS_NUMBER(interval) == numbers &&
		   !isnan(gen_double_bound(interval, false)) && !isnan(gen_double_bound(interval, true));
}

/* Return the share of [lo, hi] that lies in [from, to); a point lies inside or outside. */
static double
share(double lo, double hi, double from, double to)
{
	Assert(lo <= hi);
	if (lo == hi)
		return from <= lo && lo < to ? 1 : 0;
	return Max(0, Min(hi, to) - Max(lo, from)) / (hi - lo);
}

/* Return the share of an interval that a value is: one unit for a single value, or another interval. */
static double
share_of_value(const GenView *view, const GenView *value)
{
	double lo = gen_double_bound(view, false);
	double hi = gen_double_bound(view, true);
	double start = gen_double_bound(value, false);

	if (!gen_is_point(value))
		return share(lo, hi, start, gen_double_bound(value, true));
	if (lo == hi)
		return start == lo ? 1 : 0;
	if (start < lo || start > hi || (start == hi && !(view->flags & GEN_UPPER_INC)))
		return 0;
	return Min(1, 1 / (hi - lo));
}

/* Measure an interval. */
static bool
coverage_of_interval(Comparison *comparison, const GenView *view, const Asked *from, const Asked *to, double *result)
{
	GenView start;
	GenView end;

	if (!coverage_interval(comparison, from, GEN_IS_NUMBER(view), &start))
		coverage_not_comparable(view, from->view);
	if (to && !coverage_interval(comparison, to, GEN_IS_NUMBER(view), &end))
		coverage_not_comparable(view, to->view);
	if (!isfinite(gen_double_bound(view, true) - gen_double_bound(view, false)))
		return false;
	if (to)
		*result = share(gen_double_bound(view, false), gen_double_bound(view, true), gen_double_bound(&start, false),
						gen_double_bound(&end, false));
	else
		*result = share_of_value(view, &start);
	return true;
}

/* A range of leaves, by an order of their values. */
typedef struct LeafRange
{
	const TreeOrder *order;
	GenView from; /* a number or a date, or text, as the order is */
	GenView to;
} LeafRange;

/*
 * Choose the order of a range: as numbers or dates if there are such leaves and the
 * bounds are such, or else as text.
 */
static void
leaf_range_start(Comparison *comparison, Dgh *dgh, const Asked *from, const Asked *to, LeafRange *range)
{
	for (LeafSort sort = LEAVES_AS_NUMBERS; sort <= LEAVES_AS_DATES; sort++)
	{
		range->order = tree_order(dgh, sort, InvalidOid);
		if (range->order->before[dgh->tree->nleaves] > 0 &&
			coverage_interval(comparison, from, sort == LEAVES_AS_NUMBERS, &range->from) &&
			coverage_interval(comparison, to, sort == LEAVES_AS_NUMBERS, &range->to))
			return;
	}
	range->order = tree_order(dgh, LEAVES_AS_TEXT, comparison->collation);
	range->from = *from->view;
	range->to = *to->view;
}

/* Compare a label with the text of a bound. */
static int
compare_label(const char *label, int len, const GenView *bound, Oid collation)
{
	int bound_len;
	const char *text = gen_text(bound, &bound_len);

	return varstr_cmp(label, len, text, bound_len, collation);
}

/* Return true if a leaf, given by its position, is in a range. */
static bool
leaf_in_range(const DghTree *tree, int leaf, const LeafRange *range)
{
	const char *label = tree_label(tree, tree->leaf[leaf]);
	int len = strlen(label);
	GenView point;
	bool result;

	Assert(leaf >= 0 && leaf < tree->nleaves);
	if (range->order->points == NULL)
		return compare_label(label, len, &range->from, range->order->collation) >= 0 &&
			   compare_label(label, len, &range->to, range->order->collation) < 0;
	if (!range->order->points[leaf])
		return false;
	gen_view(range->order->points[leaf], &point);
	result = gen_bound_cmp(&point, false, &range->from, false) >= 0 &&
			 gen_bound_cmp(&point, false, &range->to, false) < 0;
	gen_view_free(&point);
	return result;
}

/* Return the share of the leaves below a node whose values are in [from, to). */
static double
coverage_of_leaves(Comparison *comparison, Dgh *dgh, const GenView *node, const Asked *from, const Asked *to)
{
	LeafRange range;
	int count = 0;

	Assert(node->lo < node->hi && node->hi <= dgh->tree->nleaves);
	leaf_range_start(comparison, dgh, from, to, &range);
	for (int32 leaf = node->lo; leaf < node->hi; leaf++)
	{
		CHECK_FOR_INTERRUPTS();
		if (leaf_in_range(dgh->tree, leaf, &range))
			count++;
	}
	return (double) count / (node->hi - node->lo);
}

/* Return the share of the leaves below a node that are also below the node of an argument. */
static double
common_share(Comparison *comparison, Dgh *dgh, const GenView *node, const Asked *value)
{
	const GenView *asked = comparison_resolve(comparison, 0, 1, dgh, value->view);

	if (asked->kind == GEN_ANY || (asked->flags & GEN_IS_ROOT))
		return 1;
	if (asked->kind != GEN_NODE || (asked->flags & GEN_UNKNOWN))
		return 0;
	return Max(0, (double) Min(node->hi, asked->hi) - Max(node->lo, asked->lo)) / (node->hi - node->lo);
}

/* Measure a node of a tree, or everything in a hierarchy, by its leaves. */
static bool
coverage_of_node(Comparison *comparison, const GenView *view, const Asked *from, const Asked *to, double *result)
{
	Dgh *dgh = comparison_dgh(comparison, 0, view->dgh);
	GenView node;

	if (dgh == NULL || dgh->tree == NULL)
		return false;
	node = *comparison_resolve(comparison, 0, 0, dgh, view);
	if (node.kind == GEN_ANY)
	{
		node.lo = 0;
		node.hi = dgh->tree->nleaves;
	}
	if (node.lo == node.hi)
		return false;
	*result = to ? coverage_of_leaves(comparison, dgh, &node, from, to) : common_share(comparison, dgh, &node, from);
	return true;
}

/* Measure a label that spells a number or a date, in a range of such. */
static bool
coverage_of_spelling(Comparison *comparison, const GenView *view, const Asked *from, const Asked *to, double *result)
{
	for (int numbers = 1; numbers >= 0; numbers--)
	{
		const GenView *read = comparison_reread(comparison, 0, view, numbers);
		GenView start;
		GenView end;

		if (read && !(view->flags & GEN_FROM_TEXT) && coverage_interval(comparison, from, numbers, &start) &&
			coverage_interval(comparison, to, numbers, &end))
			return coverage_of_interval(comparison, read, from, to, result);
	}
	return false;
}

/* Measure a label: a single value, inside or outside. */
static bool
coverage_of_label(Comparison *comparison, const GenView *view, const Asked *from, const Asked *to, double *result)
{
	int len;
	const char *text = gen_text(view, &len);
	bool within;

	if (to && coverage_of_spelling(comparison, view, from, to, result))
		return true;
	if (to)
		within = compare_label(text, len, from->view, comparison->collation) >= 0 &&
				 compare_label(text, len, to->view, comparison->collation) < 0;
	else
		within = comparison_avlike(comparison, view, from->view);
	*result = within ? 1 : 0;
	return true;
}

/* Return the number of characters of a code that are masked. */
static int
masked_characters(const GenView *prefix)
{
	Assert(prefix->kind == GEN_PREFIX && prefix->lo <= prefix->len);
	return pg_mbstrlen_with_len(prefix->label + prefix->lo, prefix->len - prefix->lo);
}

/* Return the share of the codes of a masked one that an argument stands for as well.  They are nested, or apart. */
static double
common_codes(Comparison *comparison, const GenView *view, const Asked *value)
{
	Dgh *dgh = comparison_dgh(comparison, 0, view->dgh);
	const GenView *asked = value->view;
	int masked = 0;

	if (!comparison_avlike(comparison, view, asked))
		return 0;
	if (dgh)
		asked = comparison_resolve(comparison, 0, 1, dgh, asked);
	if (asked->kind == GEN_ANY)
		return 1;
	if (asked->kind == GEN_PREFIX)
		masked = masked_characters(asked);
	return pow(10, Min(0, masked - masked_characters(view)));
}

/* Measure a masked code; in a range, masked digits are an interval of numbers. */
static bool
coverage_of_prefix(Comparison *comparison, const GenView *view, const Asked *from, const Asked *to, double *result)
{
	GenView codes;
	GenView start;
	GenView end;

	if (to == NULL)
	{
		*result = common_codes(comparison, view, from);
		return true;
	}
	if (!comparison_digits(view, &codes))
		return gen_is_point(view) && coverage_of_label(comparison, view, from, to, result);
	if (!coverage_interval(comparison, from, true, &start))
		coverage_not_comparable(view, from->view);
	if (!coverage_interval(comparison, to, true, &end))
		coverage_not_comparable(view, to->view);
	*result = share(gen_double_bound(&codes, false), gen_double_bound(&codes, true) + (gen_is_point(view) ? 0 : 1),
					gen_double_bound(&start, false), gen_double_bound(&end, false));
	return true;
}

/* Measure a value: the share of it in [from, to), or on from if to is NULL. */
static bool
coverage(Comparison *comparison, const GenView *view, const Asked *from, const Asked *to, double *result)
{
	switch ((GenKind) view->kind)
	{
		case GEN_INT:
		case GEN_NUMERIC:
		case GEN_DATE:
			return coverage_of_interval(comparison, view, from, to, result);
		case GEN_PREFIX:
			return coverage_of_prefix(comparison, view, from, to, result);
		case GEN_ANY:
			return coverage_of_node(comparison, view, from, to, result);
		case GEN_NODE:
			if (!(view->flags & GEN_UNKNOWN) &&
				!(gen_is_itself(view) && comparison_dgh(comparison, 0, view->dgh) == NULL))
				return coverage_of_node(comparison, view, from, to, result);
			break;
		case GEN_LABEL:
			break;
	}
	return coverage_of_label(comparison, view, from, to, result);
}

/* Return the share of a value that lies in a range: coverage(value, lo, hi). */
Datum
kanon_coverage_range(PG_FUNCTION_ARGS)
{
	Comparison *comparison = comparison_start(fcinfo);
	GenView room[3];
	const GenView *view = comparison_argument(comparison, fcinfo, 0, &room[0]);
	Asked from = {1, comparison_argument(comparison, fcinfo, 1, &room[1])};
	Asked to = {2, comparison_argument(comparison, fcinfo, 2, &room[2])};
	double result;

	if (!coverage(comparison, view, &from, &to, &result))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(result);
}

/* Return the share of a value that is another value: coverage(value, x). */
Datum
kanon_coverage_value(PG_FUNCTION_ARGS)
{
	Comparison *comparison = comparison_start(fcinfo);
	GenView room[2];
	const GenView *view = comparison_argument(comparison, fcinfo, 0, &room[0]);
	Asked asked = {1, comparison_argument(comparison, fcinfo, 1, &room[1])};
	double result;

	if (!coverage(comparison, view, &asked, NULL, &result))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(result);
}
