/*
 * outlier_tree.c
 *		An index for counting the rows within d.
 *
 * The index has the form of a kd-tree, but does not part a node at the median of its
 * widest column.  Census columns have a few usual values and some rare ones far away: at
 * the median both halves would keep the usual value and one of them all the rare ones, and
 * be as wide as before.  Where nodes are parted so that their rows lose the most width
 * together, the boxes of many rows shrink, so that most nodes are within d or beyond it as
 * a whole.
 */
#include "base/kanon.h"

#include "release/plain/outlier_tree.h"

#include <math.h>

#include "miscadmin.h"

#include "release/common/kdtree.h"

typedef struct OutlierTreeBuilder
{
	KdTree tree;
	double *const *columns; /* the caller's: [column][row] */
	int room;				/* nodes that the arrays have room for */
	int32 *scratch;			/* rows of the right side */
} OutlierTreeBuilder;

/* The stretches of equal width into which a column is divided; it can be parted between them. */
#define BINS 64

/* The rows in a stretch of a column. */
typedef struct Bin
{
	int count;
	double lo; /* their smallest and largest value; infinite if there are none */
	double hi;
} Bin;

/* A cut of a node. */
typedef struct OutlierCut
{
	double saved; /* rows times the width that they lose */
	int column;	  /* -1: all rows are equal */
	double value; /* the largest value of the left side */
} OutlierCut;

/* Make room for one more node. */
static void
outlier_tree_make_room(OutlierTreeBuilder *builder)
{
	KdTree *tree = &builder->tree;
	Size box;

	if (tree->nnodes < builder->room)
		return;
	builder->room *= 2;
	box = (Size) builder->room * tree->ncolumns * sizeof(double);
	tree->first = repalloc_huge(tree->first, (Size) builder->room * sizeof(int32));
	tree->end = repalloc_huge(tree->end, (Size) builder->room * sizeof(int32));
	tree->right = repalloc_huge(tree->right, (Size) builder->room * sizeof(int32));
	tree->lo = repalloc_huge(tree->lo, box);
	tree->hi = repalloc_huge(tree->hi, box);
}

/* Set the box around a node's rows. */
static void
outlier_tree_measure_node(OutlierTreeBuilder *builder, int node)
{
	KdTree *tree = &builder->tree;
	double *lo = tree->lo + (Size) node * tree->ncolumns;
	double *hi = tree->hi + (Size) node * tree->ncolumns;

	Assert(tree->first[node] < tree->end[node]);
	for (int column = 0; column < tree->ncolumns; column++)
	{
		const double *values = builder->columns[column];

		lo[column] = hi[column] = values[tree->row[tree->first[node]]];
		for (int position = tree->first[node] + 1; position < tree->end[node]; position++)
		{
			double value = values[tree->row[position]];

			lo[column] = Min(lo[column], value);
			hi[column] = Max(hi[column], value);
		}
	}
}

/* Divide a node's rows among the bins of a column. */
static void
fill_bins(OutlierTreeBuilder *builder, int node, int column, Bin *bins)
{
	const KdTree *tree = &builder->tree;
	const double *values = builder->columns[column];
	double lo = tree->lo[(Size) node * tree->ncolumns + column];
	double width = tree->hi[(Size) node * tree->ncolumns + column] - lo;

	Assert(width > 0);
	for (int i = 0; i < BINS; i++)
		bins[i] = (Bin){0, INFINITY, -INFINITY};
	for (int position = tree->first[node]; position < tree->end[node]; position++)
	{
		double value = values[tree->row[position]];
		Bin *bin = &bins[Min((int) ((value - lo) / width * BINS), BINS - 1)];

		bin->count++;
		bin->lo = Min(bin->lo, value);
		bin->hi = Max(bin->hi, value);
	}
}

/* Set the best cut to one of a column's, if that saves more. */
static void
outlier_tree_best_cut(const Bin *bins, int column, OutlierCut *best)
{
	double lo = bins[0].lo;
	double hi = bins[BINS - 1].hi;
	double upper[BINS];
	double right = INFINITY;
	double left_hi = lo;
	int total = 0;
	int count = 0;

	for (int i = BINS - 1; i >= 0; i--)
	{
		upper[i] = right = Min(right, bins[i].lo);
		total += bins[i].count;
	}
	for (int i = 0; i < BINS - 1; i++)
	{
		double saved;

		if (bins[i].count == 0)
			continue;
		count += bins[i].count;
		left_hi = bins[i].hi;
		saved = total * (hi - lo) - count * (left_hi - lo) - (total - count) * (hi - upper[i + 1]);
		if (saved > best->saved)
			*best = (OutlierCut){saved, column, left_hi};
	}
}

/* Return the cut of a node that saves most. */
static OutlierCut
outlier_tree_choose_cut(OutlierTreeBuilder *builder, int node)
{
	const KdTree *tree = &builder->tree;
	OutlierCut best = {0, -1, 0};
	Bin bins[BINS];

	for (int column = 0; column < tree->ncolumns; column++)
	{
		Size at = (Size) node * tree->ncolumns + column;

		if (tree->lo[at] == tree->hi[at])
			continue;
		fill_bins(builder, node, column, bins);
		outlier_tree_best_cut(bins, column, &best);
	}
	return best;
}

/* Bring the rows up to the cut to the left, and return where the right side begins. */
static int
part_node(OutlierTreeBuilder *builder, int node, const OutlierCut *cut)
{
	KdTree *tree = &builder->tree;
	int left = tree->first[node];
	int right = 0;

	for (int position = tree->first[node]; position < tree->end[node]; position++)
	{
		int32 row = tree->row[position];

		if (builder->columns[cut->column][row] <= cut->value)
			tree->row[left++] = row;
		else
			builder->scratch[right++] = row;
	}
	memcpy(tree->row + left, builder->scratch, right * sizeof(int32));
	Assert(left > tree->first[node] && right > 0);
	return left;
}

/* Add a node with the rows at positions from first to before end, and the nodes below it. */
static void
outlier_tree_build_node(OutlierTreeBuilder *builder, int first, int end)
{
	KdTree *tree = &builder->tree;
	int node = tree->nnodes;
	OutlierCut cut;
	int middle;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	outlier_tree_make_room(builder);
	tree->nnodes++;
	tree->first[node] = first;
	tree->end[node] = end;
	tree->right[node] = 0;
	outlier_tree_measure_node(builder, node);
	if (end - first <= KDTREE_LEAF)
		return;
	cut = outlier_tree_choose_cut(builder, node);
	if (cut.column < 0)
		return;
	middle = part_node(builder, node, &cut);
	outlier_tree_build_node(builder, first, middle);
	tree->right[node] = tree->nnodes;
	outlier_tree_build_node(builder, middle, end);
}

/* Return a tree over the rows of columns[column][row]. */
KdTree
outlier_tree(double *const *columns, int nrows, int ncolumns)
{
	OutlierTreeBuilder builder = {.columns = columns, .room = 1024};
	KdTree *tree = &builder.tree;
	Size box = (Size) builder.room * ncolumns * sizeof(double);

	Assert(nrows > 0);
	tree->nrows = nrows;
	tree->ncolumns = ncolumns;
	tree->first = palloc(builder.room * sizeof(int32));
	tree->end = palloc(builder.room * sizeof(int32));
	tree->right = palloc(builder.room * sizeof(int32));
	tree->lo = palloc_extended(box, MCXT_ALLOC_HUGE);
	tree->hi = palloc_extended(box, MCXT_ALLOC_HUGE);
	tree->row = palloc_extended((Size) nrows * sizeof(int32), MCXT_ALLOC_HUGE);
	builder.scratch = palloc_extended((Size) nrows * sizeof(int32), MCXT_ALLOC_HUGE);
	for (int row = 0; row < nrows; row++)
		tree->row[row] = row;
	outlier_tree_build_node(&builder, 0, nrows);
	pfree(builder.scratch);
	tree->values = palloc_extended((Size) nrows * ncolumns * sizeof(double), MCXT_ALLOC_HUGE);
	for (int column = 0; column < ncolumns; column++)
	{
		for (int position = 0; position < nrows; position++)
			tree->values[(Size) column * nrows + position] = columns[column][tree->row[position]];
	}
	return *tree;
}
