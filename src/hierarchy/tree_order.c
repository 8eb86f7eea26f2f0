/*
 * tree_order.c
 *		The leaves of a tree in the order of their values: the smallest and the largest
 *		one below each node.
 *
 * Leaf positions follow the order of import, which need not be that of values, and
 * labels may be compared as numbers, as dates, or as text in any collation.  Each order
 * is made when a comparison first needs it, and stays with the tree.
 */
#include "base/kanon.h"

#include "hierarchy/tree.h"

#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/varlena.h"

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"

/* Read the leaves as numbers in any spelling, or as ISO 8601 dates. */
static void
tree_order_read_points(TreeOrder *order, const DghTree *tree)
{
	MemoryContext keep = CurrentMemoryContext;
	MemoryContext work = AllocSetContextCreate(keep, "kanon leaf", ALLOCSET_SMALL_SIZES);

	Assert(order->sort != LEAVES_AS_TEXT);
	order->points = palloc_extended(Max(tree->nleaves, 1) * sizeof(Datum), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int i = 0; i < tree->nleaves; i++)
	{
		const char *label = tree_label(tree, tree->leaf[i]);
		Numeric number;
		Datum point;
		GenView view;

		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(work);
		if (order->sort == LEAVES_AS_DATES)
			point = gen_parse(label, strlen(label));
		else if (gen_parse_number(label, strlen(label), &number))
			point = gen_numeric_interval(GEN_POINT, number, number);
		else
			point = gen_label(label, strlen(label), 0);
		gen_view(point, &view);
		MemoryContextSwitchTo(keep);
		if (gen_is_point(&view) && (order->sort == LEAVES_AS_DATES ? view.kind == GEN_DATE : GEN_IS_NUMBER(&view)))
			order->points[i] = datumCopy(point, false, -1);
		MemoryContextReset(work);
	}
	MemoryContextDelete(work);
}

/* Compare two leaves, given by their positions. */
static int
compare_leaves(const TreeOrder *order, const DghTree *tree, int32 a, int32 b)
{
	const char *left;
	const char *right;

	Assert(a >= 0 && a < tree->nleaves && b >= 0 && b < tree->nleaves);
	if (order->points)
	{
		GenView view_a;
		GenView view_b;
		int result;

		gen_view(order->points[a], &view_a);
		gen_view(order->points[b], &view_b);
		result = gen_bound_cmp(&view_a, false, &view_b, false);
		gen_view_free(&view_a);
		gen_view_free(&view_b);
		return result;
	}
	left = tree_label(tree, tree->leaf[a]);
	right = tree_label(tree, tree->leaf[b]);
	return varstr_cmp(left, strlen(left), right, strlen(right), order->collation);
}

/*
 * Find the smallest and the largest leaf below each node, from the leaves upwards: from
 * the last node in preorder to the first.
 */
static void
find_extremes(TreeOrder *order, const DghTree *tree)
{
	order->least = palloc_extended(tree->nnodes * sizeof(int32), MCXT_ALLOC_HUGE);
	order->greatest = palloc_extended(tree->nnodes * sizeof(int32), MCXT_ALLOC_HUGE);
	for (int32 node = 0; node < tree->nnodes; node++)
		order->least[node] = order->greatest[node] = -1;
	for (int32 i = 0; i < tree->nleaves; i++)
	{
		if (order->points == NULL || order->points[i])
			order->least[tree->leaf[i]] = order->greatest[tree->leaf[i]] = i;
	}
	for (int32 node = tree->nnodes - 1; node > 0; node--)
	{
		int32 parent = tree->parent[node];

		CHECK_FOR_INTERRUPTS();
		if (order->least[node] < 0)
			continue;
		if (order->least[parent] < 0 ||
			compare_leaves(order, tree, order->least[node], order->least[parent]) < 0)
			order->least[parent] = order->least[node];
		if (order->greatest[parent] < 0 ||
			compare_leaves(order, tree, order->greatest[node], order->greatest[parent]) > 0)
			order->greatest[parent] = order->greatest[node];
	}
}

/* Count the leaves of the sort before each position. */
static void
count_leaves(TreeOrder *order, const DghTree *tree)
{
	order->before = palloc_extended((tree->nleaves + 1) * sizeof(int32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int32 i = 0; i < tree->nleaves; i++)
		order->before[i + 1] = order->before[i] + (order->points == NULL || order->points[i] ? 1 : 0);
}

/* Make an order in the current memory context. */
static TreeOrder *
tree_order_make(const DghTree *tree, LeafSort sort, Oid collation)
{
	TreeOrder *order = palloc0(sizeof(TreeOrder));

	order->sort = sort;
	order->collation = collation;
	if (sort != LEAVES_AS_TEXT)
		tree_order_read_points(order, tree);
	count_leaves(order, tree);
	find_extremes(order, tree);
	return order;
}

/* Return an order of a tree's leaves; the collation matters to text only. */
const TreeOrder *
tree_order(Dgh *dgh, LeafSort sort, Oid collation)
{
	MemoryContext context;
	MemoryContext old;
	TreeOrder *order;

	Assert(dgh->kind == DGH_TREE && dgh->tree != NULL);
	for (order = dgh->tree->orders; order; order = order->next)
	{
		if (order->sort == sort && (sort != LEAVES_AS_TEXT || order->collation == collation))
			return order;
	}

	/* Only a complete order becomes part of the tree, so that a cancelled query leaves nothing behind. */
	context = AllocSetContextCreate(CurrentMemoryContext, "kanon leaf order", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	order = tree_order_make(dgh->tree, sort, collation);
	MemoryContextSwitchTo(old);
	MemoryContextSetParent(context, dgh->context);
	order->next = dgh->tree->orders;
	dgh->tree->orders = order;
	return order;
}
