/*
 * outlier_tree.h
 *		An index for counting the rows within d.
 */
#ifndef KANON_RELEASE_OUTLIER_TREE_H
#define KANON_RELEASE_OUTLIER_TREE_H

#include "release/common/kdtree.h"

/* Return a tree over the rows of columns[column][row], at least one row, in the current memory context. */
extern KdTree outlier_tree(double *const *columns, int nrows, int ncolumns);

#endif
