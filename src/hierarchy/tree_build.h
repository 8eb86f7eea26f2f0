/*
 * tree_build.h
 *		Building a tree of labels from its edges.
 *
 * A builder and its tree belong to the memory context in which the builder was
 * started; labels are copied.  While edges are added they may form a cycle or a
 * forest: tree_builder_check() refuses the one, tree_builder_finish() gives the
 * other a root.
 */
#ifndef KANON_TREE_BUILD_H
#define KANON_TREE_BUILD_H

#include "nodes/pg_list.h"

#include "hierarchy/dgh.h"

typedef struct TreeBuilder TreeBuilder;

/* Start a tree without nodes. */
extern TreeBuilder *tree_builder_start(void);

/* Add an edge, or only a label if the parent is NULL; an edge replaces the child's edge before. */
extern void tree_builder_add(TreeBuilder *builder, const char *child, const char *parent);

/* Return the parent that a label has so far, or NULL. */
extern const char *tree_builder_parent(TreeBuilder *builder, const char *child);

/* Return the next label without a parent, from *at on, or NULL; edges may be added between two calls. */
extern const char *tree_builder_orphan(TreeBuilder *builder, int *at);

/* Return copies of the labels without any edge, and the root: the only one so far, or '*'. */
extern List *tree_builder_lone(TreeBuilder *builder, const char **root);

/* Raise an error if the edges form a cycle or too many levels; name is the hierarchy's. */
extern void tree_builder_check(TreeBuilder *builder, const char *name);

/* Lay the tree out, with the leaves in the given order as far as it goes, and free the builder. */
extern DghTree *tree_builder_finish(TreeBuilder *builder, char **leaf_order, int norder, const char *name);

#endif
