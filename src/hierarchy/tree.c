/*
 * tree.c
 *		Explicit trees: finding values in them and climbing.
 */
#include "base/kanon.h"

#include "hierarchy/tree.h"

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"

const char *
tree_label(const DghTree *tree, int node)
{
	return tree->labels + tree->label[node];
}

static Datum
make_node(Dgh *dgh, int32 lo, int32 hi, uint8 flags, const char *label, int len)
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

/* The generalized value of a node. */
Datum
tree_value(Dgh *dgh, int node)
{
	DghTree *tree = dgh->tree;
	const char *label = tree_label(tree, node);
	uint8 flags = 0;

	if (node == 0 && strcmp(label, GEN_ROOT_LABEL) == 0)
		return gen_any(dgh->id);
	if (node == 0)
		flags = GEN_IS_ROOT;
	else if (tree->leaf[tree->lo[node]] == node)
		flags = GEN_LEAF;
	return make_node(dgh, tree->lo[node], tree->hi[node], flags, label, strlen(label));
}

static int
find_node(Dgh *dgh, const GenView *value)
{
	int len;
	const char *label = gen_text(value, &len);

	return value->kind == GEN_ANY ? 0 : tree_find(dgh->tree, label, len);
}

static Datum
tree_resolve(Dgh *dgh, const GenView *value)
{
	int node = find_node(dgh, value);
	const char *label;
	int len;

	if (node >= 0)
		return tree_value(dgh, node);
	label = gen_text(value, &len);
	return make_node(dgh, 0, 0, GEN_UNKNOWN, label, len);
}

static int
tree_depth(Dgh *dgh, const GenView *value)
{
	int node = find_node(dgh, value);
	int depth = -1;

	for (; node >= 0; node = dgh->tree->parent[node])
		depth++;
	return depth;
}

static Datum
tree_ascend(Dgh *dgh, const GenView *value, int steps)
{
	int node = find_node(dgh, value);

	while (steps-- > 0)
		node = dgh->tree->parent[node];
	return tree_value(dgh, node);
}

const DghMethods dgh_tree_methods = {
	.resolve = tree_resolve,
	.depth = tree_depth,
	.ascend = tree_ascend,
};
