/*
 * mondrian.h
 *		Mondrian: points parted by one column after another until no cell can be parted
 *		any further.
 *
 * The tree holds nothing but splits (column, value): it says for any point, also for one
 * that it was not made from, in which cell the point lies.  Rows with equal values are
 * never parted, so that the cells do not depend on the order of rows.
 */
#ifndef KANON_MONDRIAN_H
#define KANON_MONDRIAN_H

#include "cluster/groups.h"
#include "cluster/points.h"
#include "cluster/rule.h"

/* A node of the tree: a cell, and how it is parted. */
typedef struct CutNode
{
	int32 column; /* the column on which the cell is parted; -1: a leaf */
	int32 left;	  /* the child with the values below split; the other child is the node after that */
	double split;

	int32 first; /* the cell's rows are count of the tree's rows, from first on */
	int32 count;

	int32 turn;	 /* the column to try first */
	int32 depth; /* nodes above */
} CutNode;

typedef struct CutTree
{
	int nnodes;
	int capacity;	/* of nodes and leaves */
	CutNode *nodes; /* the root is the first */
	int depth;		/* of the deepest node */
	int nleaves;
	int32 *leaves; /* nodes, from left to right */
	int32 *rows;   /* the caller's */
} CutTree;

typedef enum CutStrategy
{
	CUT_MEDIAN, /* columns take turns, and are cut beside their median */
	CUT_GAIN	/* the cut that lowers the loss most is taken */
} CutStrategy;

/* The task of cuttree_build(). */
typedef struct CutPlan
{
	GroupRule *rule; /* each side of a cut keeps it, or has k rows and no microdata */
	CutStrategy strategy;
	int enough;	   /* cells with no more rows than this are not cut */
	int least;	   /* rows that each side should have if it is more than the rule's k, and possible */
	Report report; /* told how many rows are in finished cells; may be NULL */
} CutPlan;

/* A cut of a cell: the rows with a value below split in the column are on one side. */
typedef struct Cut
{
	int column;
	double split;
} Cut;

/* Build a tree over some rows in the current memory context.  The rows are rearranged, and the tree refers to them. */
extern CutTree *cuttree_build(const CutPlan *plan, int32 *rows, int nrows);
/* Append the leaves that have microdata to a list of groups, from left to right. */
extern void cuttree_groups(const CutTree *tree, const GroupRule *rule, Groups *groups);
/* Copy the rows inside a box to found, which has room for all rows, and return their number. */
extern int cuttree_range(const CutTree *tree, const Points *points, const double *box, int32 *found);

#endif
