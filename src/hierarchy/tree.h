/*
 * tree.h
 *		Explicit trees of labels, laid out for comparing and climbing.
 *
 * Nodes are numbered in preorder from the root, 0; leaves also by their
 * position from left to right.  A node covers the leaf positions [lo, hi).
 */
#ifndef KANON_TREE_H
#define KANON_TREE_H

#include "hierarchy/dgh.h"

#include "nodes/pg_list.h"

struct labelindex_hash;

struct DghTree
{
	int nnodes;
	int nleaves;
	int height;	   /* edges from the root to the deepest leaf */
	int diameter;  /* most edges between any two nodes */
	int32 *parent; /* -1 for the root */
	int32 *lo;
	int32 *hi;
	int32 *leaf; /* position to node */
	Size *label; /* offset in labels, where it ends with a zero byte */
	char *labels;
	struct labelindex_hash *index; /* label to node */
	const char *wanted;			   /* the label that a lookup is after */
	int wanted_len;

	struct TreeOrder *orders; /* those that were asked for */
};

/* As what leaves are put in order. */
typedef enum LeafSort
{
	LEAVES_AS_NUMBERS,
	LEAVES_AS_DATES,
	LEAVES_AS_TEXT
} LeafSort;

/*
 * The smallest and the largest leaf below each node, as positions; -1 if none
 * there is of that sort.
 */
typedef struct TreeOrder
{
	struct TreeOrder *next;
	LeafSort sort;
	Oid collation; /* of text */
	int32 *before; /* leaves of that sort before each position, and in all */
	int32 *least;
	int32 *greatest;
	Datum *points; /* each leaf's number or date; zero if it is none */
} TreeOrder;

/* A tree under construction: edges in, tree out, in the caller's context. */
typedef struct TreeBuilder TreeBuilder;

extern TreeBuilder *tree_builder_start(void);
extern void tree_builder_add(TreeBuilder *builder, const char *child, const char *parent);
extern const char *tree_builder_parent(TreeBuilder *builder, const char *child);
extern const char *tree_builder_orphan(TreeBuilder *builder, int *at);
extern List *tree_builder_lone(TreeBuilder *builder, const char **root);
extern void tree_builder_check(TreeBuilder *builder, const char *name);
extern DghTree *tree_builder_finish(TreeBuilder *builder, char **leaf_order, int norder,
									const char *name);

extern int tree_find(DghTree *tree, const char *label, int len);
extern const char *tree_label(const DghTree *tree, int node);
extern Datum tree_value(Dgh *dgh, int node);

/* tree_order.c */
extern const TreeOrder *tree_order(Dgh *dgh, LeafSort sort, Oid collation);

#endif
