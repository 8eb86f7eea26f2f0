/*
 * celltree.h
 *		A tree of nested boxes, each smaller in one column than the one around it.
 *
 * Box 0 is the whole space.  A class is in the deepest box on its way down: at
 * each box it goes on to the first box inside that holds its value.  A value that
 * none of them holds, since it was not there when the tree was made, stays.
 */
#ifndef KANON_CELLTREE_H
#define KANON_CELLTREE_H

#include "recode/recode.h"

typedef struct CellBox
{
	int32 parent;	/* the box around it, which has a smaller number */
	int32 column;	/* in which it is smaller */
	const char *lo; /* text forms of the least and the greatest value; null is NULL */
	const char *hi;
	bool open; /* without hi itself */

	/* Filled in by tree_prepare(). */
	int32 depth;
	int32 child; /* the first box inside; 0: none */
	int32 next;	 /* the next one inside the same box; 0: none */
	int32 lo_rank;
	int32 hi_rank; /* the greatest inside */
	bool value_known;
	CellValue value; /* of its column */
} CellBox;

typedef struct CellTree
{
	MemoryContext context;
	MemoryContext work;
	int nboxes;
	CellBox *boxes;
	struct BoundList *bounds; /* per column */
	CellValue *roots;		  /* per column: what covers everything */
} CellTree;

#endif
