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

struct labelindex_hash;

/* The arrays have a member per node, leaf has one per leaf; all memory is that of the Dgh's context. */
struct DghTree
{
	int nnodes;
	int nleaves;
	int height;	   /* edges from the root to the deepest leaf */
	int diameter;  /* most edges between any two nodes */
	int32 *parent; /* -1 for the root */
	int32 *lo;	   /* the first leaf position that a node covers */
	int32 *hi;	   /* the position after the last one */
	int32 *leaf;   /* position to node */
	Size *label;   /* offset in labels, where it ends with a zero byte */
	char *labels;
	struct labelindex_hash *index; /* label to node */
	const char *wanted;			   /* the label that a lookup searches for */
	int wanted_len;

	struct TreeOrder *orders; /* a list of the orders that comparisons have needed so far */
};

/* The ways to put leaves in order. */
typedef enum LeafSort
{
	LEAVES_AS_NUMBERS,
	LEAVES_AS_DATES,
	LEAVES_AS_TEXT
} LeafSort;

/*
 * The smallest and the largest leaf below each node, as positions; -1 if no leaf
 * below the node is of that sort.
 */
typedef struct TreeOrder
{
	struct TreeOrder *next;
	LeafSort sort;
	Oid collation; /* of text */
	int32 *before; /* leaves of that sort before each position; at nleaves, all of them */
	int32 *least;  /* by node */
	int32 *greatest;
	Datum *points; /* by position: a leaf's number or date, or 0; null for text */
} TreeOrder;

/* tree_build.c: return the node with a label, or -1 */
extern int tree_find(DghTree *tree, const char *label, int len);

/* tree.c */
extern const char *tree_label(const DghTree *tree, int node);
extern Datum tree_value(Dgh *dgh, int node);

/* tree_order.c: return an order of a tree's leaves, which stays with the tree */
extern const TreeOrder *tree_order(Dgh *dgh, LeafSort sort, Oid collation);

#endif
