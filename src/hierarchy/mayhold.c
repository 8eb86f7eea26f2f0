/*
 * mayhold.c
 *		<>, <, <=, > and >= on generalized values: each may hold if it holds for at
 *		least one pair of the values that the two sides stand for.
 *
 * Both sides are brought to their extents: of numbers where both have numbers, or of
 * dates; other values are compared as text in the collation of the comparison.  A value
 * of a text column is compared as text.  Where more than one reading is possible, the
 * comparison may hold if it may in any of them.
 */
#include "base/kanon.h"

#include "hierarchy/compare.h"

#include "utils/builtins.h"
#include "utils/pg_locale.h"
#include "utils/varlena.h"

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"

PG_FUNCTION_INFO_V1(kanon_may_be_ne);
PG_FUNCTION_INFO_V1(kanon_may_be_lt);
PG_FUNCTION_INFO_V1(kanon_may_be_le);
PG_FUNCTION_INFO_V1(kanon_may_be_gt);
PG_FUNCTION_INFO_V1(kanon_may_be_ge);

/* One side of a comparison. */
typedef struct Side
{
	int number; /* of the argument: 0 or 1 */
	const GenView *view;
} Side;

/* The texts that a value stands for: from lo to hi, or to the last one that begins with hi.  Not terminated. */
typedef struct TextExtent
{
	const char *lo;
	int lo_len;
	const char *hi;
	int hi_len;
	bool open; /* hi is a prefix */
} TextExtent;

/* Return the node of a value in the tree that it comes from, or -1. */
static int
mayhold_node(Comparison *comparison, const Side *side, Dgh **dgh)
{
	const GenView *view = side->view;

	if (view->kind != GEN_NODE || (view->flags & GEN_UNKNOWN))
		return -1;
	*dgh = comparison_dgh(comparison, side->number, view->dgh);
	if (*dgh == NULL || (*dgh)->tree == NULL)
		return -1;
	return tree_find((*dgh)->tree, view->label, view->len);
}

/*
 * Find the interval of the numbers among the leaves below a node, or of the dates if
 * numbers is false; return false if there are none.
 */
static bool
node_interval(Dgh *dgh, int node, bool numbers, GenView *extent)
{
	const TreeOrder *order = tree_order(dgh, numbers ? LEAVES_AS_NUMBERS : LEAVES_AS_DATES, InvalidOid);
	GenView greatest;

	Assert((order->least[node] < 0) == (order->greatest[node] < 0));
	if (order->least[node] < 0)
		return false;
	gen_view(order->points[order->least[node]], extent);
	gen_view(order->points[order->greatest[node]], &greatest);
	if (extent->kind == GEN_NUMERIC || greatest.kind == GEN_NUMERIC)
		gen_view(gen_numeric_interval(GEN_POINT, gen_numeric_bound(extent, false), gen_numeric_bound(&greatest, true)),
				 extent);
	else
		extent->ihi = greatest.ihi;
	return true;
}

/* Read a value as an interval of numbers, or of dates if numbers is false; return false if it stands for none. */
static bool
interval_extent(Comparison *comparison, const Side *side, bool numbers, GenView *extent)
{
	const GenView *view = side->view;
	const GenView *read;
	Dgh *dgh;
	int node;

	if (GEN_IS_INTERVAL(view))
	{
		*extent = *view;
		return GEN_IS_NUMBER(view) == numbers;
	}
	if (view->kind == GEN_PREFIX && numbers && comparison_digits(view, extent))
		return true;
	if (view->kind == GEN_PREFIX && !gen_is_point(view))
		return false;
	node = mayhold_node(comparison, side, &dgh);
	if (node >= 0)
		return node_interval(dgh, node, numbers, extent);
	read = comparison_reread(comparison, side->number, view, numbers);
	if (read)
		*extent = *read;
	return read != NULL;
}

/* Return true if a value may also stand for something else than that interval. */
static bool
is_mixed(Comparison *comparison, const Side *side, bool numbers)
{
	const TreeOrder *order;
	Dgh *dgh;
	int node = mayhold_node(comparison, side, &dgh);

	if (node < 0)
		return side->view->kind == GEN_PREFIX;
	order = tree_order(dgh, numbers ? LEAVES_AS_NUMBERS : LEAVES_AS_DATES, InvalidOid);
	return order->before[dgh->tree->hi[node]] - order->before[dgh->tree->lo[node]] <
		   dgh->tree->hi[node] - dgh->tree->lo[node];
}

/* Return true if a value of a may be below one of b, or equal to it if or_equal. */
static bool
interval_may_be_below(const GenView *a, const GenView *b, bool or_equal)
{
	int order = gen_bound_cmp(a, false, b, true);

	/* Either of two moments of one day may be the earlier one. */
	if ((a->flags | b->flags) & GEN_MOMENT)
		or_equal = true;
	if (order != 0 || !or_equal)
		return order < 0;
	return (a->flags & GEN_LOWER_INC) && (b->flags & GEN_UPPER_INC);
}

/* Find the texts that a value stands for; return false for an interval. */
static bool
text_extent(Comparison *comparison, const Side *side, TextExtent *extent)
{
	const GenView *view = side->view;
	Dgh *dgh;
	int node = mayhold_node(comparison, side, &dgh);

	extent->open = false;
	if (node >= 0)
	{
		const TreeOrder *order = tree_order(dgh, LEAVES_AS_TEXT, comparison->collation);

		if (order->least[node] < 0)
			return false;
		extent->lo = tree_label(dgh->tree, dgh->tree->leaf[order->least[node]]);
		extent->hi = tree_label(dgh->tree, dgh->tree->leaf[order->greatest[node]]);
		extent->lo_len = strlen(extent->lo);
		extent->hi_len = strlen(extent->hi);
		return true;
	}
	if (GEN_IS_INTERVAL(view) && !gen_is_point(view))
		return false;
	extent->lo = extent->hi = gen_text(view, &extent->lo_len);
	if (view->kind == GEN_PREFIX)
	{
		extent->open = view->lo < view->len;
		extent->lo_len = view->lo;
	}
	extent->hi_len = extent->lo_len;
	return true;
}

/* Return true if a text consists of ASCII digits. */
static bool
is_digits(const char *text, int len)
{
	for (int i = 0; i < len; i++)
	{
		if (text[i] < '0' || text[i] > '9')
			return false;
	}
	return true;
}

/*
 * Return true if all texts that begin with a prefix sort right behind it.  In many
 * collations they do not, because letters are taken together or punctuation is passed
 * over.  Digits are safe.
 */
static bool
prefixes_keep_order(Comparison *comparison, const TextExtent *a, const TextExtent *b)
{
	return (is_digits(a->lo, a->lo_len) && is_digits(b->hi, b->hi_len)) ||
		   kanon_collation_is_c(comparison->collation);
}

/* Return true if a text of a may be below one of b, or equal to it if or_equal. */
static bool
text_may_be_below(Comparison *comparison, const TextExtent *a, const TextExtent *b, bool or_equal)
{
	int order;

	if ((a->open || b->open) && !prefixes_keep_order(comparison, a, b))
		return true;
	order = varstr_cmp(a->lo, a->lo_len, b->hi, b->hi_len, comparison->collation);
	if (order < 0 || (order == 0 && (or_equal || b->open)))
		return true;
	return b->open && a->lo_len >= b->hi_len && memcmp(a->lo, b->hi, b->hi_len) == 0;
}

/* Find the texts that both sides stand for; return false if one is an interval. */
static bool
text_extents(Comparison *comparison, const Side *a, const Side *b, TextExtent *text_a, TextExtent *text_b)
{
	return text_extent(comparison, a, text_a) && text_extent(comparison, b, text_b);
}

/* Return true if a value of a may be below one of b, or equal to it if or_equal, in any reading. */
static bool
may_be_below(Comparison *comparison, const Side *a, const Side *b, bool or_equal)
{
	GenView interval_a;
	GenView interval_b;
	TextExtent text_a;
	TextExtent text_b;

	if (((a->view->flags | b->view->flags) & GEN_FROM_TEXT) && text_extents(comparison, a, b, &text_a, &text_b))
		return text_may_be_below(comparison, &text_a, &text_b, or_equal);
	for (int numbers = 1; numbers >= 0; numbers--)
	{
		if (!interval_extent(comparison, a, numbers, &interval_a) ||
			!interval_extent(comparison, b, numbers, &interval_b))
			continue;
		if (interval_may_be_below(&interval_a, &interval_b, or_equal))
			return true;
		if (!is_mixed(comparison, a, numbers) && !is_mixed(comparison, b, numbers))
			return false;
	}
	return text_extents(comparison, a, b, &text_a, &text_b) &&
		   text_may_be_below(comparison, &text_a, &text_b, or_equal);
}

/*
 * Replace a stored value by the present value of its hierarchy; by anything, if the
 * hierarchy does not exist any more.
 */
static void
mayhold_update(Comparison *comparison, int side, GenView *view)
{
	Dgh *dgh;

	if (!GEN_IS_BOUND(view))
		return;
	dgh = comparison_dgh(comparison, side, view->dgh);
	if (dgh)
		*view = *comparison_find(comparison, &comparison->current[side], dgh, view);
	else if (gen_is_itself(view))
		view->kind = GEN_LABEL;
	else
		view->flags |= GEN_IS_ROOT;
}

/* Replace a constant that names a node of the other value's hierarchy by the node, which stands for its leaves. */
static void
mayhold_bind(Comparison *comparison, GenView *a, GenView *b)
{
	Dgh *dgh;

	if (GEN_IS_BOUND(a) && !GEN_IS_BOUND(b) && (dgh = comparison_dgh(comparison, 0, a->dgh)) != NULL)
		*b = *comparison_find(comparison, &comparison->bound[1], dgh, b);
	else if (GEN_IS_BOUND(b) && !GEN_IS_BOUND(a) && (dgh = comparison_dgh(comparison, 1, b->dgh)) != NULL)
		*a = *comparison_find(comparison, &comparison->bound[0], dgh, a);
}

/* A comparison of two values in the present states of their hierarchies. */
typedef bool (*MayHold)(Comparison *comparison, const GenView *a, const GenView *b);

/* Evaluate a comparison of the two arguments of a call. */
static bool
may_hold(FunctionCallInfo fcinfo, MayHold relation)
{
	Comparison *comparison = comparison_start(fcinfo);
	GenView room[2];
	GenView a = *comparison_argument(comparison, fcinfo, 0, &room[0]);
	GenView b = *comparison_argument(comparison, fcinfo, 1, &room[1]);

	mayhold_update(comparison, 0, &a);
	mayhold_update(comparison, 1, &b);
	mayhold_bind(comparison, &a, &b);
	/* The root stands also for values that the hierarchy does not know. */
	if ((a.flags | b.flags) & GEN_IS_ROOT)
		return true;
	return relation(comparison, &a, &b);
}

/* Return true if a value is a single one, in any spelling. */
static bool
is_single(Comparison *comparison, int side, const GenView *view)
{
	const GenView *read = NULL;

	if (view->kind == GEN_LABEL && !(view->flags & GEN_FROM_TEXT))
		read = comparison_reread(comparison, side, view, true);
	if (view->kind == GEN_LABEL && !(view->flags & GEN_FROM_TEXT) && read == NULL)
		read = comparison_reread(comparison, side, view, false);
	if (read)
		view = read;
	return gen_is_point(view) && !(view->kind == GEN_DATE && (view->flags & GEN_MOMENT));
}

/* Return true if two values may be different. */
static bool
may_differ(Comparison *comparison, const GenView *a, const GenView *b)
{
	return !is_single(comparison, 0, a) || !is_single(comparison, 1, b) || !comparison_avlike(comparison, a, b);
}

/* Return true if the first value may be below the other. */
static bool
may_be_lt(Comparison *comparison, const GenView *a, const GenView *b)
{
	return may_be_below(comparison, &(Side){0, a}, &(Side){1, b}, false);
}

/* Return true if the first value may be below the other, or equal to it. */
static bool
may_be_le(Comparison *comparison, const GenView *a, const GenView *b)
{
	return may_be_below(comparison, &(Side){0, a}, &(Side){1, b}, true);
}

/* Return true if the first value may be above the other. */
static bool
may_be_gt(Comparison *comparison, const GenView *a, const GenView *b)
{
	return may_be_below(comparison, &(Side){1, b}, &(Side){0, a}, false);
}

/* Return true if the first value may be above the other, or equal to it. */
static bool
may_be_ge(Comparison *comparison, const GenView *a, const GenView *b)
{
	return may_be_below(comparison, &(Side){1, b}, &(Side){0, a}, true);
}

/* Return true if the two arguments may be different. */
Datum
kanon_may_be_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(may_hold(fcinfo, may_differ));
}

/* Return true if the first argument may be below the other. */
Datum
kanon_may_be_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(may_hold(fcinfo, may_be_lt));
}

/* Return true if the first argument may be below the other, or equal to it. */
Datum
kanon_may_be_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(may_hold(fcinfo, may_be_le));
}

/* Return true if the first argument may be above the other. */
Datum
kanon_may_be_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(may_hold(fcinfo, may_be_gt));
}

/* Return true if the first argument may be above the other, or equal to it. */
Datum
kanon_may_be_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(may_hold(fcinfo, may_be_ge));
}
