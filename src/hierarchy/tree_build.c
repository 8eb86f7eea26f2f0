/*
 * tree_build.c
 *		From edges to a numbered tree.
 *
 * While edges come in, nodes are numbered in the order in which their labels are first
 * seen; tree_builder_finish() orders siblings, renumbers the nodes in preorder and gives
 * each its interval of leaf positions.  The time is that of sorting the leaves, the
 * memory a few arrays.
 *
 * Siblings stand in the order of their first leaves, so that neighbours in the tree are
 * neighbours in value: 5-9 before 10-14.  Leaves stand in the order in which they were
 * imported, else by value, numbers first.
 */
#include "base/kanon.h"

#include "hierarchy/tree_build.h"

#include <math.h>

#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"

/* A label in the index of its tree. */
typedef struct LabelEntry
{
	int32 node;
	uint32 hash;
	char status;
} LabelEntry;

/* The key that stands for tree->wanted. */
#define WANTED (-1)

/* Return the hash of a label. */
static inline uint32
hash_label(const char *label, int len)
{
	return hash_bytes((const unsigned char *) label, len);
}

/* Return true if an entry's label is that of a key. */
static inline bool
labels_equal(const DghTree *tree, int32 stored, int32 key)
{
	const char *label = tree->labels + tree->label[stored];

	if (key != WANTED)
		return stored == key;
	return strncmp(label, tree->wanted, tree->wanted_len) == 0 && label[tree->wanted_len] == '\0';
}

#define TREE_OF(tb) ((DghTree *) (tb)->private_data)

#define SH_PREFIX labelindex
#define SH_ELEMENT_TYPE LabelEntry
#define SH_KEY_TYPE int32
#define SH_KEY node
#define SH_HASH_KEY(tb, key) hash_label(TREE_OF(tb)->wanted, TREE_OF(tb)->wanted_len)
#define SH_EQUAL(tb, a, b) labels_equal(TREE_OF(tb), a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct TreeBuilder
{
	DghTree *tree;
	int capacity;	  /* of tree->parent and tree->label */
	Size labels_used; /* bytes of tree->labels */
	Size labels_size; /* bytes allocated */
};

/* Start a tree without nodes. */
TreeBuilder *
tree_builder_start(void)
{
	TreeBuilder *builder = palloc0(sizeof(TreeBuilder));
	DghTree *tree = palloc0(sizeof(DghTree));

	builder->tree = tree;
	builder->capacity = 64;
	builder->labels_size = 1024;
	tree->parent = palloc(builder->capacity * sizeof(int32));
	tree->label = palloc(builder->capacity * sizeof(Size));
	tree->labels = palloc(builder->labels_size);
	tree->index = labelindex_create(CurrentMemoryContext, builder->capacity, tree);
	return builder;
}

/* Return the node with a label, or -1 if there is none. */
int
tree_find(DghTree *tree, const char *label, int len)
{
	LabelEntry *entry;

	tree->wanted = label;
	tree->wanted_len = len;
	entry = labelindex_lookup(tree->index, WANTED);
	Assert(entry == NULL || (entry->node >= 0 && entry->node < tree->nnodes));
	return entry ? entry->node : -1;
}

/* Return the node of a label, made if it is new. */
static int32
intern_label(TreeBuilder *builder, const char *label)
{
	DghTree *tree = builder->tree;
	Size size = strlen(label) + 1;
	LabelEntry *entry;
	bool found;

	tree->wanted = label;
	tree->wanted_len = size - 1;
	entry = labelindex_insert(tree->index, WANTED, &found);
	if (found)
		return entry->node;

	if (tree->nnodes == builder->capacity)
	{
		builder->capacity *= 2;
		tree->parent = repalloc_huge(tree->parent, builder->capacity * sizeof(int32));
		tree->label = repalloc_huge(tree->label, builder->capacity * sizeof(Size));
	}
	while (builder->labels_used + size > builder->labels_size)
	{
		builder->labels_size *= 2;
		tree->labels = repalloc_huge(tree->labels, builder->labels_size);
	}
	entry->node = tree->nnodes++;
	tree->parent[entry->node] = -1;
	tree->label[entry->node] = builder->labels_used;
	memcpy(tree->labels + builder->labels_used, label, size);
	builder->labels_used += size;
	Assert(builder->labels_used <= builder->labels_size);
	return entry->node;
}

/* Add an edge, or only a label if the parent is NULL. */
void
tree_builder_add(TreeBuilder *builder, const char *child, const char *parent)
{
	int32 child_node = intern_label(builder, child);
	int32 parent_node;

	if (parent == NULL)
		return;
	parent_node = intern_label(builder, parent);
	builder->tree->parent[child_node] = parent_node;
}

/* Return the parent that a label has so far, or NULL if it has none. */
const char *
tree_builder_parent(TreeBuilder *builder, const char *child)
{
	DghTree *tree = builder->tree;
	int node = tree_find(tree, child, strlen(child));

	if (node < 0 || tree->parent[node] < 0)
		return NULL;
	return tree->labels + tree->label[tree->parent[node]];
}

/* Return the next label, from *at on, that has no parent yet, or NULL. Edges may be added between two calls. */
const char *
tree_builder_orphan(TreeBuilder *builder, int *at)
{
	DghTree *tree = builder->tree;

	Assert(*at >= 0);
	for (; *at < tree->nnodes; (*at)++)
	{
		if (tree->parent[*at] == -1)
			return tree->labels + tree->label[(*at)++];
	}
	return NULL;
}

/* Return copies of the labels without any edge, and the root: the only one so far, or '*'. */
List *
tree_builder_lone(TreeBuilder *builder, const char **root)
{
	DghTree *tree = builder->tree;
	bool *has_children = palloc_extended(Max(tree->nnodes, 1) * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	List *lone = NIL;
	int nroots = 0;

	for (int32 node = 0; node < tree->nnodes; node++)
	{
		if (tree->parent[node] >= 0)
			has_children[tree->parent[node]] = true;
	}
	for (int32 node = 0; node < tree->nnodes; node++)
	{
		const char *label = tree->labels + tree->label[node];

		if (tree->parent[node] >= 0)
			continue;
		if (!has_children[node])
			lone = lappend(lone, pstrdup(label));
		else if (nroots++ == 0)
			*root = pstrdup(label);
	}
	if (nroots != 1)
		*root = GEN_ROOT_LABEL;
	return lone;
}

/* Return a cycle of the edges, written out, or NULL if there is none. */
static char *
find_cycle(const DghTree *tree)
{
	int32 *walk = palloc_extended(Max(tree->nnodes, 1) * sizeof(int32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	StringInfoData text;
	int32 node = -1;
	int32 start;

	/* Walk up from every node, and mark each node with the walk that came by first. */
	for (start = 0; start < tree->nnodes; start++)
	{
		for (node = start; node >= 0 && walk[node] == 0; node = tree->parent[node])
			walk[node] = start + 1;
		if (node >= 0 && walk[node] == start + 1)
			break;
	}
	if (start == tree->nnodes)
		return NULL;

	initStringInfo(&text);
	start = node;
	do
	{
		appendStringInfo(&text, "%s -> ", tree->labels + tree->label[node]);
		node = tree->parent[node];
	} while (node != start && text.len < 200);
	appendStringInfoString(&text, node == start ? tree->labels + tree->label[start] : "...");
	return text.data;
}

/* Raise an error if a hierarchy has too many levels. */
static void
refuse_height(int height, const char *name)
{
	if (height > DGH_MAX_HEIGHT)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("hierarchy \"%s\" has %d levels, more than %d", name, height, DGH_MAX_HEIGHT)));
}

/* Return the number of edges on the longest way up.  There must be no cycle. */
static int
find_height(const DghTree *tree)
{
	int32 *depth = palloc_extended(Max(tree->nnodes, 1) * sizeof(int32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	int height = 0;

	for (int32 start = 0; start < tree->nnodes; start++)
	{
		int32 node;
		int steps = 0;

		/* Go up to a node whose depth is known, then the same way again to note the depths. */
		for (node = start; tree->parent[node] >= 0 && depth[node] == 0; node = tree->parent[node])
			steps++;
		steps += depth[node];
		height = Max(height, steps);
		for (node = start; tree->parent[node] >= 0 && depth[node] == 0; node = tree->parent[node])
			depth[node] = steps--;
	}
	pfree(depth);
	return height;
}

/* Raise an error if the edges form a cycle or too many levels. */
void
tree_builder_check(TreeBuilder *builder, const char *name)
{
	char *cycle = find_cycle(builder->tree);

	if (cycle)
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("the edges of hierarchy \"%s\" would form a cycle", name),
				 errdetail("The cycle is %s.", cycle)));
	refuse_height(find_height(builder->tree), name);
}

/* Return the root.  A forest, or a tree without nodes, gets one. */
static int32
find_root(TreeBuilder *builder)
{
	DghTree *tree = builder->tree;
	int32 root = -1;
	int nroots = 0;

	for (int32 node = 0; node < tree->nnodes; node++)
	{
		if (tree->parent[node] == -1)
		{
			root = node;
			nroots++;
		}
	}
	if (nroots == 1 || (nroots == 0 && tree->nnodes > 0))
		return root; /* -1 if no node has a root above it; order_top_down() reports cycles */

	root = intern_label(builder, GEN_ROOT_LABEL);
	for (int32 node = 0; node < tree->nnodes; node++)
	{
		if (tree->parent[node] == -1 && node != root)
			tree->parent[node] = root;
	}
	return root;
}

/* The children of each node, as slices of one array. */
typedef struct Families
{
	int32 *first; /* nnodes + 1 offsets into children */
	int32 *children;
} Families;

/* Return the children of each node. */
static Families
make_families(const DghTree *tree)
{
	Families families;
	int32 *fill;

	families.first = palloc_extended((tree->nnodes + 1) * sizeof(int32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	families.children = palloc_extended(tree->nnodes * sizeof(int32), MCXT_ALLOC_HUGE);
	for (int32 node = 0; node < tree->nnodes; node++)
	{
		if (tree->parent[node] >= 0)
			families.first[tree->parent[node] + 1]++;
	}
	for (int32 node = 0; node < tree->nnodes; node++)
		families.first[node + 1] += families.first[node];

	fill = palloc_extended(tree->nnodes * sizeof(int32), MCXT_ALLOC_HUGE);
	memcpy(fill, families.first, tree->nnodes * sizeof(int32));
	for (int32 node = 0; node < tree->nnodes; node++)
	{
		if (tree->parent[node] >= 0)
			families.children[fill[tree->parent[node]]++] = node;
	}
	return families;
}

/* Return true if a node has no children. */
static inline bool
is_leaf(const Families *families, int32 node)
{
	return families->first[node] == families->first[node + 1];
}

/*
 * Return all nodes from the root down, parents before children.  Triggers keep cycles
 * out of the table; if one has got in all the same, raise an error.
 */
static int32 *
order_top_down(const DghTree *tree, const Families *families, int32 root, const char *name)
{
	int32 *order = palloc_extended(tree->nnodes * sizeof(int32), MCXT_ALLOC_HUGE);
	int count = 0;

	if (root >= 0)
		order[count++] = root;
	for (int at = 0; at < count; at++)
	{
		for (int32 i = families->first[order[at]]; i < families->first[order[at] + 1]; i++)
			order[count++] = families->children[i];
	}
	if (count < tree->nnodes)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("hierarchy \"%s\" has a cycle", name),
				 errhint("Delete an edge of the cycle from %s.dgh_edge.", KANON_SCHEMA)));
	Assert(count == tree->nnodes);
	return order;
}

/* A leaf's place among all leaves. */
typedef struct LeafKey
{
	int32 imported; /* position in the imported order, or PG_INT32_MAX */
	bool is_number; /* the label is a finite number: */
	double number;
	const char *label;
	int32 node;
} LeafKey;

/* Compare two leaves, for qsort(). */
static int
compare_leaf_keys(const void *left, const void *right)
{
	const LeafKey *a = left;
	const LeafKey *b = right;

	if (a->imported != b->imported)
		return a->imported < b->imported ? -1 : 1;
	if (a->is_number != b->is_number)
		return a->is_number ? -1 : 1;
	if (a->is_number && a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return strcmp(a->label, b->label);
}

/* Read the number of a leaf key from its label. */
static void
read_leaf_key(LeafKey *key)
{
	char *end;

	key->number = strtod(key->label, &end);
	key->is_number = end != key->label && *end == '\0' && isfinite(key->number);
}

/* Return each leaf's rank among the leaves; the rank of any other node is that of its first leaf. */
static int32 *
rank_nodes(DghTree *tree, const Families *families, const int32 *top_down,
		   char **leaf_order, int norder)
{
	int32 *rank = palloc_extended(tree->nnodes * sizeof(int32), MCXT_ALLOC_HUGE);
	LeafKey *keys = palloc_extended(tree->nnodes * sizeof(LeafKey), MCXT_ALLOC_HUGE);
	int nkeys = 0;

	for (int32 node = 0; node < tree->nnodes; node++)
		rank[node] = PG_INT32_MAX;
	for (int i = 0; i < norder; i++)
	{
		int32 node = tree_find(tree, leaf_order[i], strlen(leaf_order[i]));

		if (node >= 0)
			rank[node] = i;
	}
	for (int32 node = 0; node < tree->nnodes; node++)
	{
		if (!is_leaf(families, node))
			continue;
		keys[nkeys].node = node;
		keys[nkeys].label = tree->labels + tree->label[node];
		keys[nkeys].imported = rank[node];
		read_leaf_key(&keys[nkeys++]);
	}
	qsort(keys, nkeys, sizeof(LeafKey), compare_leaf_keys);

	for (int32 node = 0; node < tree->nnodes; node++)
		rank[node] = PG_INT32_MAX;
	for (int i = 0; i < nkeys; i++)
		rank[keys[i].node] = i;
	for (int at = tree->nnodes - 1; at > 0; at--)
	{
		int32 parent = tree->parent[top_down[at]];

		Assert(rank[top_down[at]] < nkeys);
		rank[parent] = Min(rank[parent], rank[top_down[at]]);
	}
	return rank;
}

/* Compare two nodes by their ranks, for qsort_arg(). */
static int
compare_ranks(const void *left, const void *right, void *arg)
{
	const int32 *rank = arg;
	int32 a = rank[*(const int32 *) left];
	int32 b = rank[*(const int32 *) right];

	return a < b ? -1 : a > b;
}

/*
 * Return the preorder number of each node, by its old number; siblings are in order.  A
 * node comes right before its descendants, so that the size of each subtree tells where
 * the next sibling starts.
 */
static int32 *
number_nodes(const DghTree *tree, const Families *families, const int32 *top_down)
{
	int32 *size = palloc_extended(tree->nnodes * sizeof(int32), MCXT_ALLOC_HUGE);
	int32 *number = palloc_extended(tree->nnodes * sizeof(int32), MCXT_ALLOC_HUGE);

	for (int32 node = 0; node < tree->nnodes; node++)
		size[node] = 1;
	for (int at = tree->nnodes - 1; at > 0; at--)
		size[tree->parent[top_down[at]]] += size[top_down[at]];

	number[top_down[0]] = 0;
	for (int at = 0; at < tree->nnodes; at++)
	{
		int32 next = number[top_down[at]] + 1;

		for (int32 i = families->first[top_down[at]]; i < families->first[top_down[at] + 1]; i++)
		{
			number[families->children[i]] = next;
			next += size[families->children[i]];
		}
	}
	return number;
}

/* Give the nodes their final numbers. */
static void
renumber_nodes(DghTree *tree, const int32 *number)
{
	int32 *parent = palloc_extended(tree->nnodes * sizeof(int32), MCXT_ALLOC_HUGE);
	Size *label = palloc_extended(tree->nnodes * sizeof(Size), MCXT_ALLOC_HUGE);
	labelindex_iterator iterator;
	LabelEntry *entry;

	for (int32 node = 0; node < tree->nnodes; node++)
	{
		parent[number[node]] = tree->parent[node] >= 0 ? number[tree->parent[node]] : -1;
		label[number[node]] = tree->label[node];
	}
	memcpy(tree->parent, parent, tree->nnodes * sizeof(int32));
	memcpy(tree->label, label, tree->nnodes * sizeof(Size));

	labelindex_start_iterate(tree->index, &iterator);
	while ((entry = labelindex_iterate(tree->index, &iterator)) != NULL)
		entry->node = number[entry->node];
}

/* Give each node its interval of leaf positions, from preorder: a node's subtree ends where its last child's does. */
static void
place_leaves(DghTree *tree)
{
	for (int32 node = 0; node < tree->nnodes; node++)
	{
		bool leaf = node + 1 == tree->nnodes || tree->parent[node + 1] != node;

		tree->lo[node] = tree->nleaves;
		if (leaf && node > 0)
			tree->leaf[tree->nleaves++] = node;
		tree->hi[node] = tree->nleaves;
	}
	for (int32 node = tree->nnodes - 1; node > 0; node--)
		tree->hi[tree->parent[node]] = Max(tree->hi[tree->parent[node]], tree->hi[node]);
}

/*
 * Set the height and the diameter.  A value that the tree does not know stands directly
 * below the root, so that the diameter is at least height + 1.
 */
static void
measure_tree(DghTree *tree, const char *name)
{
	int32 *down = palloc_extended(tree->nnodes * sizeof(int32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (int32 node = tree->nnodes - 1; node > 0; node--)
	{
		int32 parent = tree->parent[node];

		tree->diameter = Max(tree->diameter, down[parent] + down[node] + 1);
		down[parent] = Max(down[parent], down[node] + 1);
	}
	tree->height = Max(down[0], 1);
	tree->diameter = Max(tree->diameter, tree->height + 1);
	refuse_height(tree->height, name);
}

#ifdef USE_ASSERT_CHECKING
/* Return true if nodes are in preorder, their leaf positions nest, and leaves stand at their own positions. */
static bool
tree_is_nested(const DghTree *tree)
{
	if (tree->parent[0] != -1 || tree->lo[0] != 0 || tree->hi[0] != tree->nleaves)
		return false;
	for (int32 node = 1; node < tree->nnodes; node++)
	{
		int32 parent = tree->parent[node];

		if (parent < 0 || parent >= node || tree->lo[node] >= tree->hi[node] || tree->lo[node] < tree->lo[parent] ||
			tree->hi[node] > tree->hi[parent])
			return false;
	}
	for (int32 i = 0; i < tree->nleaves; i++)
	{
		if (tree->lo[tree->leaf[i]] != i || tree->hi[tree->leaf[i]] != i + 1)
			return false;
	}
	return true;
}
#endif

/*
 * Lay the tree out, with the leaves in the given order as far as it goes, and free
 * the builder.  Everything but the tree itself is made in a context of its own.
 */
DghTree *
tree_builder_finish(TreeBuilder *builder, char **leaf_order, int norder, const char *name)
{
	DghTree *tree = builder->tree;
	int32 root = find_root(builder);
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon tree layout",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	Families families = make_families(tree);
	int32 *top_down = order_top_down(tree, &families, root, name);
	int32 *rank = rank_nodes(tree, &families, top_down, leaf_order, norder);

	for (int32 node = 0; node < tree->nnodes; node++)
		qsort_arg(families.children + families.first[node],
				  families.first[node + 1] - families.first[node], sizeof(int32),
				  compare_ranks, rank);
	renumber_nodes(tree, number_nodes(tree, &families, top_down));
	measure_tree(tree, name);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);

	tree->parent = repalloc_huge(tree->parent, tree->nnodes * sizeof(int32));
	tree->label = repalloc_huge(tree->label, tree->nnodes * sizeof(Size));
	tree->labels = repalloc_huge(tree->labels, builder->labels_used);
	tree->lo = palloc_extended(tree->nnodes * sizeof(int32), MCXT_ALLOC_HUGE);
	tree->hi = palloc_extended(tree->nnodes * sizeof(int32), MCXT_ALLOC_HUGE);
	tree->leaf = palloc_extended(tree->nnodes * sizeof(int32), MCXT_ALLOC_HUGE);
	place_leaves(tree);
	Assert(tree_is_nested(tree));
	pfree(builder);
	return tree;
}
