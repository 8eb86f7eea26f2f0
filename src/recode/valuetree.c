/*
 * valuetree.c
 *		The hierarchical distance between two distributions of a column's values.
 *
 * The distance of two values is the level of their lowest common ancestor, divided by the
 * height of the hierarchy.  The level of a node is its height above its deepest leaf, so
 * that a tree with leaves on several levels has one distance, too; an inner node that
 * occurs as a value is a leaf below itself.
 *
 * The distance of two distributions is the least work of turning one into the other: shares
 * are balanced between the values below a node as far as possible, at the cost of the
 * node's level, and the rest passes on to the node above.
 */
#include "base/kanon.h"

#include "recode/valuetree.h"

#include "catalog/pg_collation.h"

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"
#include "recode/dictionary.h"

/* Nodes are numbered: the leaves have the codes of the column's values, inner nodes the numbers from ncodes on. */
struct ValueTree
{
	int ncodes;
	int nnodes;
	int height;	   /* of the hierarchy */
	Datum *inner;  /* the values of the inner nodes, in ascending order */
	int *level;	   /* per node */
	int32 *parent; /* per node; -1 for the root */
	int32 *order;  /* all nodes, by ascending level */
};

/* Compare two values by identity, for qsort() and bsearch(). */
static int
valuetree_compare(const void *left, const void *right)
{
	GenView a;
	GenView b;

	gen_view(*(const Datum *) left, &a);
	gen_view(*(const Datum *) right, &b);
	return gen_identity_cmp(&a, &b, C_COLLATION_OID);
}

/* Return the levels of all nodes of an explicit tree. */
static int *
tree_levels(const DghTree *tree)
{
	int *levels = palloc0(tree->nnodes * sizeof(int));

	for (int node = tree->nnodes - 1; node > 0; node--)
		levels[tree->parent[node]] = Max(levels[tree->parent[node]], levels[node] + 1);
	return levels;
}

/* Return the level of a value; 0 for leaves and for values that the hierarchy does not know. */
static int
level_of(Dgh *dgh, const int *levels, Datum value)
{
	GenView view;
	int depth;
	int len;
	int node;

	gen_view(value, &view);
	if (view.kind == GEN_ANY || (view.flags & GEN_IS_ROOT))
		return dgh->height;
	if (dgh->tree)
	{
		const char *label = gen_text(&view, &len);

		node = tree_find(dgh->tree, label, len);
		return node < 0 ? 0 : levels[node];
	}
	depth = dgh->methods->depth(dgh, &view);
	return depth < 0 ? 0 : dgh->height - depth;
}

/* Collect all inner nodes that are above the column's values, each once. */
static void
collect_inner(ValueTree *tree, const Dictionary *dictionary, const int *levels)
{
	int room = tree->ncodes;
	int count = 0;
	int unique = 0;

	for (int i = 1; i <= dictionary->height; i++)
		room += dictionary->levels[i].ncodes;
	tree->inner = palloc(room * sizeof(Datum));
	for (int i = 0; i <= dictionary->height; i++)
	{
		int first = i == 0 ? NULL_CODE + 1 : 0;
		int end = i == 0 ? tree->ncodes : dictionary->levels[i].ncodes;

		for (int code = first; code < end; code++)
		{
			if (level_of(dictionary->dgh, levels, dictionary->levels[i].values[code]) > 0)
				tree->inner[count++] = dictionary->levels[i].values[code];
		}
	}
	qsort(tree->inner, count, sizeof(Datum), valuetree_compare);
	for (int i = 0; i < count; i++)
	{
		if (i == 0 || valuetree_compare(&tree->inner[i], &tree->inner[unique - 1]) != 0)
			tree->inner[unique++] = tree->inner[i];
	}
	tree->nnodes = tree->ncodes + unique;
}

/* Return the inner node of a value, or -1. */
static int
find_inner(const ValueTree *tree, Datum value)
{
	Datum *found = bsearch(&value, tree->inner, tree->nnodes - tree->ncodes, sizeof(Datum), valuetree_compare);

	return found ? tree->ncodes + (int) (found - tree->inner) : -1;
}

/* Link a code to the inner nodes above it, up to the root. */
static void
link_code(ValueTree *tree, const Dictionary *dictionary, int32 code)
{
	int32 below = code;
	int32 at = code;

	for (int i = 0; i <= dictionary->height; i++)
	{
		int node;

		if (i > 0)
			at = dictionary->levels[i - 1].parent[at];
		node = i == 0 && code == NULL_CODE ? -1 : find_inner(tree, dictionary->levels[i].values[at]);
		if (node < 0 || node == below)
			continue;
		tree->parent[below] = node;
		below = node;
	}
}

/* Order the nodes by level. */
static void
order_nodes(ValueTree *tree)
{
	int count = 0;

	tree->order = palloc(tree->nnodes * sizeof(int32));
	for (int level = 0; level <= tree->height; level++)
	{
		for (int node = 0; node < tree->nnodes; node++)
		{
			if (tree->level[node] == level)
				tree->order[count++] = node;
		}
	}
	Assert(count == tree->nnodes);
}

/* Return the tree over the values that have the first ncodes codes of a dictionary. */
ValueTree *
valuetree_create(const Dictionary *dictionary, int ncodes)
{
	ValueTree *tree = palloc0(sizeof(ValueTree));
	int *levels = dictionary->dgh->tree ? tree_levels(dictionary->dgh->tree) : NULL;

	Assert(ncodes <= dictionary->levels[0].ncodes);

	tree->ncodes = ncodes;
	tree->height = dictionary->height;
	collect_inner(tree, dictionary, levels);
	tree->level = palloc0(tree->nnodes * sizeof(int));
	tree->parent = palloc(tree->nnodes * sizeof(int32));
	memset(tree->parent, -1, tree->nnodes * sizeof(int32));
	for (int node = ncodes; node < tree->nnodes; node++)
		tree->level[node] = level_of(dictionary->dgh, levels, tree->inner[node - ncodes]);
	for (int code = 0; code < ncodes; code++)
		link_code(tree, dictionary, code);
	order_nodes(tree);
	return tree;
}

/* Return the distance between two distributions, each of which has one share per code. */
double
valuetree_distance(const ValueTree *tree, const double *share, const double *other)
{
	double *surplus = palloc0(tree->nnodes * sizeof(double));
	double *deficit = palloc0(tree->nnodes * sizeof(double));
	double sum = 0;

	for (int i = 0; i < tree->nnodes; i++)
	{
		int node = tree->order[i];
		double extra = node < tree->ncodes ? share[node] - other[node] : surplus[node] - deficit[node];

		sum += Min(surplus[node], deficit[node]) * tree->level[node] / tree->height;
		if (tree->parent[node] < 0)
			continue;
		if (extra > 0)
			surplus[tree->parent[node]] += extra;
		else
			deficit[tree->parent[node]] -= extra;
	}
	pfree(surplus);
	pfree(deficit);
	return sum;
}
