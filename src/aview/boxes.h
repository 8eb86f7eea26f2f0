/*
 * boxes.h
 *		The boxes of an A-view by Mondrian, as kanon.aview_tree stores them.
 */
#ifndef KANON_BOXES_H
#define KANON_BOXES_H

#include "aview/aview.h"
#include "recode/celltree.h"

/* A row per view; the boxes are arrays of equal length, each after its parent. */
enum Anum_aview_tree
{
	Anum_aview_tree_aview = 1,
	Anum_aview_tree_parent,
	Anum_aview_tree_attnum,
	Anum_aview_tree_lo,
	Anum_aview_tree_hi,
	Anum_aview_tree_open,
	Natts_aview_tree = Anum_aview_tree_open
};

/* Return the tree of a view's boxes in the current memory context. */
extern CellTree *aview_load_tree(const AView *aview);

#endif
