/*
 * order.c
 *		The values of a column in one order, and the values that cover two of them.
 */
#include "base/kanon.h"

#include "recode/order.h"

#include "base/extension.h"
#include "base/typekind.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"
#include "recode/dictionary.h"

/* Return the sort of a value. */
static ValueSort
order_sort_of(const Dictionary *dictionary, const GenView *view)
{
	const Dgh *dgh = dictionary->dgh;

	if (GEN_IS_INTERVAL(view) && gen_is_point(view))
		return GEN_IS_NUMBER(view) ? SORT_NUMBER : SORT_DATE;
	if (view->kind == GEN_NODE && dgh && dgh->kind == DGH_TREE && (view->flags & GEN_LEAF))
		return SORT_LEAF;
	if (view->kind == GEN_PREFIX && dgh && dgh->kind == DGH_PREFIX)
		return SORT_CODE;
	return SORT_WORD;
}

/* Set up a value for order_compare(); zero stands for NULL. */
void
order_value(const Dictionary *dictionary, Datum value, OrderedValue *result)
{
	memset(result, 0, sizeof(OrderedValue));
	result->value = value;
	result->sort = SORT_NULL;
	if (DatumGetPointer(value) == NULL)
		return;
	gen_view(value, &result->view);
	result->sort = order_sort_of(dictionary, &result->view);
	if (result->sort >= SORT_CODE)
		result->text = gen_text(&result->view, &result->len);
}

/* Compare two values. */
int
order_compare(const OrderedValue *a, const OrderedValue *b)
{
	int order;

	if (a->sort != b->sort)
		return a->sort < b->sort ? -1 : 1;
	switch (a->sort)
	{
		case SORT_NUMBER:
		case SORT_DATE:
			return gen_bound_cmp(&a->view, false, &b->view, false);
		case SORT_LEAF:
			return a->view.lo < b->view.lo ? -1 : a->view.lo > b->view.lo;
		case SORT_CODE:
		case SORT_WORD:
			order = memcmp(a->text, b->text, Min(a->len, b->len));
			return order != 0 ? order : a->len - b->len;
		case SORT_NULL:
			break;
	}
	return 0;
}

/*
 * Return true if the column's values have an order.  Values that another view has
 * published, and no hierarchy orders, have none: their text does not say which of several
 * values they are.
 */
bool
order_is_known(const Dictionary *dictionary)
{
	return dictionary->dgh || dictionary->type != kanon_generalized_type();
}

/* Return true if values are whole numbers or days, so that [1,2) is 1. */
static bool
is_whole(const Dictionary *dictionary, ValueSort sort)
{
	return sort == SORT_DATE || typekind_of_base(dictionary->type) == TYPEKIND_INTEGER;
}

/* Return the interval of numbers or dates from one value to another, the second one included or not. */
static Datum
cover_interval(const Dictionary *dictionary, const GenView *lo, const GenView *hi, bool open)
{
	uint8 flags = GEN_LOWER_INC | (open ? 0 : GEN_UPPER_INC);

	if (lo->kind == GEN_NUMERIC || hi->kind == GEN_NUMERIC)
		return gen_numeric_interval(flags, gen_numeric_bound(lo, false), gen_numeric_bound(hi, false));
	if (open && is_whole(dictionary, lo->kind == GEN_DATE ? SORT_DATE : SORT_NUMBER) && hi->ilo - 1 == lo->ilo)
		return gen_whole_interval(lo->kind, GEN_POINT, lo->ilo, lo->ilo);
	return gen_whole_interval(lo->kind, flags, lo->ilo, hi->ilo);
}

/* Return the lowest node of the column's tree over the leaves from first to last. */
static Datum
cover_leaves(const Dictionary *dictionary, int32 first, int32 last)
{
	DghTree *tree = dictionary->dgh->tree;
	int32 node = tree->leaf[first];

	Assert(first >= 0 && first <= last && last < tree->nleaves);
	while (tree->hi[node] <= last)
		node = tree->parent[node];
	return tree_value(dictionary->dgh, node);
}

/* Return the smallest value that covers all values from lo to hi, hi itself included or not. */
Datum
order_cover(const Dictionary *dictionary, const OrderedValue *lo, const OrderedValue *hi, bool open)
{
	int order = order_compare(lo, hi);

	if (order == 0 && !open)
		return lo->value;
	if (lo->sort != hi->sort || order >= 0)
		return dictionary_root(dictionary);
	switch (lo->sort)
	{
		case SORT_NUMBER:
		case SORT_DATE:
			return cover_interval(dictionary, &lo->view, &hi->view, open);
		case SORT_LEAF:
			return cover_leaves(dictionary, lo->view.lo, hi->view.lo - (open ? 1 : 0));
		case SORT_CODE:
			return open ? dictionary_root(dictionary) : dgh_join(dictionary->dgh, lo->value, hi->value);
		case SORT_WORD:
		case SORT_NULL:
			break;
	}
	return dictionary_root(dictionary);
}
