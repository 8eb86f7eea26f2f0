/*
 * recoding.h
 *		Learning the cells of an A-view from the rows of its source.
 */
#ifndef KANON_DDL_RECODING_H
#define KANON_DDL_RECODING_H

#include "aview/aview.h"
#include "recode/dictionary.h"

/* Compute the view's cells from the present rows of its source, and store them: a chain of steps or a tree of boxes. */
extern void aview_store_recoding(AView *aview);

/* Return true if the hierarchy of a dictionary's column does not know the value of a code. */
extern bool recoding_is_unknown(const Dictionary *dictionary, int32 code);

/* Make and store the tree of boxes of a view by Mondrian. */
extern void aview_store_tree(AView *aview);

#endif
