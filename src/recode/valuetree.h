/*
 * valuetree.h
 *		The hierarchical distance between two distributions of a column's values.
 */
#ifndef KANON_VALUETREE_H
#define KANON_VALUETREE_H

#include "recode/dictionary.h"

typedef struct ValueTree ValueTree;

/*
 * Return the tree over the values that have the first ncodes codes of a dictionary,
 * which has a hierarchy.  The tree lives in the current memory context and refers to
 * the dictionary's values.
 */
extern ValueTree *valuetree_create(const Dictionary *dictionary, int ncodes);
/* Return the distance between two distributions, from 0 (equal) to 1; each has one share per code. */
extern double valuetree_distance(const ValueTree *tree, const double *share, const double *other);

#endif
