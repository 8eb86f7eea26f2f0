/*
 * tree.c
 *		Explicit trees: finding values in them and climbing.
 */
#include "base/kanon.h"

#include "hierarchy/tree.h"

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"

/* Return the label of a node. */
const char *
tree_label(const DghTree *tree, int node)
{
	Assert(node >= 0 && node < tree->nnodes);
	return tree->labels + tree->label[node];
}

/*
 * Make the value of a node, or of a word that the tree does not know.  While the
 * transaction is changing the hierarchy, the positions belong to no generation.
 */
static Datum
tree_make_node(Dgh *dgh, int32 lo, int32 hi, uint8 flags, const char *label, int len)
{
	GenView node = {
		.kind = GEN_NODE,
		.flags = flags,
		.dgh = dgh->id,
		.generation = dgh->generation == DGH_UNSETTLED ? 0 : dgh->generation,
		.lo = lo,
		.hi = hi,
		.label = label,
		.len = len,
	};

	return gen_node(&node);
}

/* Return the generalized value of a node; everything, if that is the name of the root. */
Datum
tree_value(Dgh *dgh, int node)
{
	DghTree *tree = dgh->tree;
	const char *label = tree_label(tree, node);
	uint8 flags = 0;

	Assert(dgh->kind == DGH_TREE);
	Assert(tree->lo[node] <= tree->hi[node] && tree->hi[node] <= tree->nleaves);
	if (node == 0 && strcmp(label, GEN_ROOT_LABEL) == 0)
		return gen_any(dgh->id);
	if (node == 0)
		flags = GEN_IS_ROOT;
	else if (tree->leaf[tree->lo[node]] == node)
		flags = GEN_LEAF;
	return tree_make_node(dgh, tree->lo[node], tree->hi[node], flags, label, strlen(label));
}

/* Return the node that a value's text form names, or -1 if there is none. */
static int
tree_node_of(Dgh *dgh, const GenView *value)
{
	int len;
	const char *label = gen_text(value, &len);

	return value->kind == GEN_ANY ? 0 : tree_find(dgh->tree, label, len);
}

/* Return the tree's node for a value; a word that the tree does not know becomes a node of its own. */
static Datum
tree_resolve(Dgh *dgh, const GenView *value)
{
	int node = tree_node_of(dgh, value);
	const char *label;
	int len;

	if (node >= 0)
		return tree_value(dgh, node);
	label = gen_text(value, &len);
	return tree_make_node(dgh, 0, 0, GEN_UNKNOWN, label, len);
}

/* Return the steps from the node of a value up to the root, or -1 if the tree does not know the value. */
static int
tree_depth(Dgh *dgh, const GenView *value)
{
	int node = tree_node_of(dgh, value);
	int depth = -1;

	for (; node >= 0; node = dgh->tree->parent[node])
		depth++;
	return depth;
}

/* Return the node that is some steps above the node of a value. */
static Datum
tree_ascend(Dgh *dgh, const GenView *value, int steps)
{
	int node = tree_node_of(dgh, value);

	Assert(node >= 0);
	while (steps-- > 0)
	{
		node = dgh->tree->parent[node];
		Assert(node >= 0);
	}
	return tree_value(dgh, node);
}

const DghMethods dgh_tree_methods = {
	.resolve = tree_resolve,
	.depth = tree_depth,
	.ascend = tree_ascend,
};
