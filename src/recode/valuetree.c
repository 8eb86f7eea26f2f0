/*
 * valuetree.c
 *		The hierarchical distance between distributions of a sensitive column.
 *
 * Two values are as far apart as the level of their lowest common ancestor over
 * the height of the hierarchy.  The level of a node is that above its deepest
 * leaf, so that a tree whose leaves are not all on one level has one distance,
 * too; an inner node that occurs as a value is a leaf below itself.  What cannot
 * be balanced below a node has to pass it.
 */
#include "base/kanon.h"

#include "recode/recode.h"

#include "catalog/pg_collation.h"

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"
#include "recode/dictionary.h"

struct ValueTree
{
	int ncodes; /* nodes below this are the column's codes */
	int nnodes;
	int height;
	Datum *inner;	/* values of the nodes from ncodes on, in their order */
	int *level;
	int32 *parent; /* -1 for the root */
	int32 *order;	/* nodes, those below before those above */
};

static int
compare_values(const void *left, const void *right)
{
	GenView a;
	GenView b;

	gen_view(*(const Datum *) left, &a);
	gen_view(*(const Datum *) right, &b);
	return gen_identity_cmp(&a, &b, C_COLLATION_OID);
}

/* Levels of the nodes of an explicit tree. */
static int *
tree_levels(const DghTree *tree)
{
	int *levels = palloc0(tree->nnodes * sizeof(int));

	for (int node = tree->nnodes - 1; node > 0; node--)
		levels[tree->parent[node]] = Max(levels[tree->parent[node]], levels[node] + 1);
	return levels;
}

/* The level of a value; 0 for leaves and for what the hierarchy does not know. */
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

/* All inner nodes that the column's values lead to, each once. */
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
		for (int code = i == 0 ? NULL_CODE + 1 : 0; code < (i == 0 ? tree->ncodes : dictionary->levels[i].ncodes); code++)
		{
			if (level_of(dictionary->dgh, levels, dictionary->levels[i].values[code]) > 0)
				tree->inner[count++] = dictionary->levels[i].values[code];
		}
	}
	qsort(tree->inner, count, sizeof(Datum), compare_values);
	for (int i = 0; i < count; i++)
	{
		if (i == 0 || compare_values(&tree->inner[i], &tree->inner[unique - 1]) != 0)
			tree->inner[unique++] = tree->inner[i];
	}
	tree->nnodes = tree->ncodes + unique;
}

static int
find_inner(const ValueTree *tree, Datum value)
{
	Datum *found = bsearch(&value, tree->inner, tree->nnodes - tree->ncodes, sizeof(Datum), compare_values);

	return found ? tree->ncodes + (int) (found - tree->inner) : -1;
}

/* From a code to the root. */
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
}

/* For the first codes of a dictionary with a hierarchy. */
ValueTree *
valuetree_create(const Dictionary *dictionary, int ncodes)
{
	ValueTree *tree = palloc0(sizeof(ValueTree));
	int *levels = dictionary->dgh->tree ? tree_levels(dictionary->dgh->tree) : NULL;

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

/* How far two distributions over the codes are from each other. */
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
