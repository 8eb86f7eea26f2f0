/*
 * celltree.h
 *		A tree of nested boxes, each smaller in one column than the one around it.
 *
 * Box 0 is the whole space.  A class is in the deepest box on its way down: at each box
 * it goes on to the first box inside that holds its value.  A class stays where it
 * is if none of these boxes holds its value, which was not there when the tree was made.
 */
#ifndef KANON_CELLTREE_H
#define KANON_CELLTREE_H

#include "recode/recode.h"

/* A box, identified by its number in CellTree.boxes. */
typedef struct CellBox
{
	/* As stored with the view. */
	int32 parent;	/* the box around it, which has a smaller number */
	int32 column;	/* the column in which the box is smaller than its parent */
	const char *lo; /* the text forms of the least and the greatest value; NULL stands for the value NULL */
	const char *hi;
	bool open; /* the box does not hold hi itself */

	/* Set by celltree_prepare(). */
	int32 depth;   /* boxes around it */
	int32 child;   /* the first box inside; 0: none */
	int32 next;	   /* the next box inside the same parent; 0: none */
	int32 lo_rank; /* the ranks of the least and the greatest value inside, among the column's bounds */
	int32 hi_rank;
	bool value_known; /* value is set; it is made when a row is first published in the box */
	CellValue value;  /* the published value of the box's column */
} CellBox;

typedef struct CellTree
{
	MemoryContext context; /* owns the tree */
	MemoryContext work;	   /* reset after each value that is ranked */
	int nboxes;
	CellBox *boxes;
	struct BoundList *bounds; /* per column */
	CellValue *roots;		  /* per column: the value that covers all others */
} CellTree;

/* Set up a recoder's nesting, width and steps, and the tree's links and ranks; columns and tree are set. */
extern void celltree_prepare(Recoder *recoder);

#endif
