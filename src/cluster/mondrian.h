/*
 * mondrian.h
 *		Mondrian: points parted by one column after another until the cells
 *		cannot be parted any further.
 *
 * The tree holds nothing but splits (column, value): it says for any point, also
 * for one that it was not made from, in which cell it lies.  Rows with equal
 * values are never parted, so that the cells do not depend on the order of rows.
 */
#ifndef KANON_KDTREE_H
#define KANON_KDTREE_H

#include "cluster/groups.h"
#include "cluster/points.h"
#include "cluster/rule.h"

typedef struct CutNode
{
	int32 column; /* that the cell is parted on; -1: a leaf */
	int32 left;	  /* child with the values below split; the other child is the next node */
	double split;

	/* The rows in it, as long as the tree's rows are kept. */
	int32 first;
	int32 count;

	int32 turn; /* column to try first */
	int32 depth;
} CutNode;

typedef struct CutTree
{
	int nnodes;
	int capacity;
	CutNode *nodes; /* the root is the first */
	int depth;	   /* of the deepest */
	int nleaves;
	int32 *leaves; /* nodes, from left to right */
	int32 *rows;
} CutTree;

typedef enum CutStrategy
{
	CUT_MEDIAN, /* columns take turns; at the median */
	CUT_GAIN	   /* the cut that lowers the loss most */
} CutStrategy;

typedef struct CutPlan
{
	GroupRule *rule; /* both sides of a split have to keep it, or have no microdata */
	CutStrategy strategy;
	int enough;	   /* cells with no more rows than this are left alone */
	int least;	   /* rows that a side should have beyond the rule's k, if possible */
	Report report; /* rows in finished cells */
} CutPlan;

/* A split under consideration. */
typedef struct Cut
{
	int column;
	double split;
} Cut;

/* Rearranges the rows; the tree refers to them. */
extern CutTree *cuttree_build(const CutPlan *plan, int32 *rows, int nrows);
/* Leaves with microdata, from left to right. */
extern void cuttree_groups(const CutTree *tree, const GroupRule *rule, Groups *groups);
/* Rows inside a box: into found, which has room for all; returns their number. */
extern int cuttree_range(const CutTree *tree, const Points *points, const double *box, int32 *found);

/* gain.c */
extern bool gain_cut(const CutPlan *plan, int least, int32 *rows, int count, Cut *cut);

#endif
