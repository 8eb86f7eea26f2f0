/*
 * taxonomy.h
 *		The part of a hierarchy that a table's sensitive values use, with their
 *		frequencies, to find the levels on which groups can keep them apart.
 *
 * Depth counts from the root, 0. Cutting the tree at a depth generalizes each value below
 * it to its ancestor there, and leaves values above it as they are.  The initial depth is
 * the first, from the root, on which a value of the table stands; generalizations are
 * counted from there, so that n - 1 of them end at the depth initial - (n - 1).
 */
#ifndef KANON_RELEASE_TAXONOMY_H
#define KANON_RELEASE_TAXONOMY_H

#include "hierarchy/dgh.h"

/* A value of the table, or an ancestor of one. */
typedef struct TaxonomyNode
{
	Datum value;  /* kanon.generalized; first, as the key of the node's number */
	int32 parent; /* -1 for the root */
	int32 depth;
	int64 own;	 /* rows with this value */
	int64 below; /* rows with this value or one below it */
} TaxonomyNode;

/* The node with the most rows after a cut. */
typedef struct TaxonomyLoad
{
	int32 node;
	int64 rows;
} TaxonomyLoad;

typedef struct Taxonomy
{
	Dgh *dgh; /* pinned to the taxonomy's memory context */
	int64 nrows;
	int nnodes;
	TaxonomyNode *nodes;
	int32 *node_of_word; /* per word of the table */
	int initial;		 /* the first depth with a value of the table */
	int deepest;		 /* the last one */
	TaxonomyLoad *loads; /* per depth of a cut, up to the deepest */
} Taxonomy;

/* Build the taxonomy of words and their frequencies; raise an error if the hierarchy does not know a word. */
extern Taxonomy *taxonomy_build(Dgh *dgh, const char **words, const int64 *counts, int nwords);

/* Return the ancestor of a node at a depth, or the node if it is not below that depth. */
extern int32 taxonomy_cut(const Taxonomy *taxonomy, int32 node, int depth);

/* Return the depth nearest to the root on which no node has more than one row in l, or -1 if there is none. */
extern int taxonomy_first_depth(const Taxonomy *taxonomy, int l);

/* Return the largest n that groups of l rows can have, or 0 if not even their values can differ. */
extern int taxonomy_max_n(const Taxonomy *taxonomy, int l);

/* Return the depth of the cut for an n, which must not be larger than the largest. */
extern int taxonomy_depth_for(const Taxonomy *taxonomy, int l, int n);

/* Return the text of a node. */
extern char *taxonomy_label(const Taxonomy *taxonomy, int32 node);

#endif
