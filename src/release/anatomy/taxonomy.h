/*
 * taxonomy.h
 *		The part of a hierarchy that a table's sensitive values use, with their
 *		frequencies: on which levels can groups keep them apart?
 *
 * Depth counts from the root, 0.  Cutting the tree at a depth generalizes what
 * is below to its ancestor there and leaves what is above as it is.  The
 * initial depth is the first, from the root, on which a value of the table
 * stands; generalizations are counted from there, so that n - 1 of them end at
 * the depth initial - (n - 1).
 */
#ifndef KANON_RELEASE_TAXONOMY_H
#define KANON_RELEASE_TAXONOMY_H

#include "hierarchy/dgh.h"

typedef struct TaxonomyNode
{
	Datum value;  /* kanon.generalized; first, as the key of the node's number */
	int32 parent; /* -1 for the root */
	int32 depth;
	int64 own;	 /* rows with this very value */
	int64 below; /* these and all below it */
} TaxonomyNode;

/* The node with the most rows after a cut. */
typedef struct TaxonomyLoad
{
	int32 node;
	int64 rows;
} TaxonomyLoad;

typedef struct Taxonomy
{
	Dgh *dgh;
	int64 nrows;
	int nnodes;
	TaxonomyNode *nodes;
	int32 *node_of_word;
	int initial;		 /* the first depth with a value of the table */
	int deepest;		 /* the last one */
	TaxonomyLoad *loads; /* per depth up to the deepest */
} Taxonomy;

extern Taxonomy *taxonomy_build(Dgh *dgh, const char **words, const int64 *counts, int nwords);

/* The ancestor of a node at a depth, or the node if it is not below that. */
extern int32 taxonomy_cut(const Taxonomy *taxonomy, int32 node, int depth);

/* The depth nearest to the root on which no node has more than one row in l; -1: none. */
extern int taxonomy_first_depth(const Taxonomy *taxonomy, int l);

/* The largest n that groups of l rows can have; 0: not even groups of different values. */
extern int taxonomy_max_n(const Taxonomy *taxonomy, int l);

/* The depth of the cut for an n, which must not be larger than that. */
extern int taxonomy_depth_for(const Taxonomy *taxonomy, int l, int n);

/* A node as text. */
extern char *taxonomy_label(const Taxonomy *taxonomy, int32 node);

#endif
