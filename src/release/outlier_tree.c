/*
 * outlier_tree.c
 *		The index that rows within d are counted with.
 *
 * It has the form of a kd-tree, but parts a node in the middle of its widest
 * column instead of at the median.  Census columns have a few usual values and
 * some rare ones far away: at the median both halves would keep the usual value
 * and one of them all the rare ones, and be as wide as before.  Parted in the
 * middle the boxes shrink, so that most nodes are within d or beyond it as a
 * whole.
 */
#include "release/outlier.h"

#include "miscadmin.h"

typedef struct TreeBuilder
{
	KdTree tree;
	double *const *columns;
	int room;		/* nodes that the arrays have room for */
	int32 *scratch; /* rows of the right side */
} TreeBuilder;

static void
make_room(TreeBuilder *builder)
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

/* The box around a node's rows; returns the column in which it is the widest, or -1. */
static int
measure_node(TreeBuilder *builder, int node)
{
	KdTree *tree = &builder->tree;
	double *lo = tree->lo + (Size) node * tree->ncolumns;
	double *hi = tree->hi + (Size) node * tree->ncolumns;
	int widest = -1;

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
		if (lo[column] < hi[column] && (widest < 0 || hi[column] - lo[column] > hi[widest] - lo[widest]))
			widest = column;
	}
	return widest;
}

/* Rows up to the middle to the left; returns where the right side begins. */
static int
part_node(TreeBuilder *builder, int node, int column)
{
	KdTree *tree = &builder->tree;
	Size at = (Size) node * tree->ncolumns + column;
	double middle = tree->lo[at] + (tree->hi[at] - tree->lo[at]) / 2;
	int left = tree->first[node];
	int right = 0;

	for (int position = tree->first[node]; position < tree->end[node]; position++)
	{
		int32 row = tree->row[position];

		/* The middle of two neighbours may be rounded to the upper one. */
		if (builder->columns[column][row] <= middle && builder->columns[column][row] < tree->hi[at])
			tree->row[left++] = row;
		else
			builder->scratch[right++] = row;
	}
	memcpy(tree->row + left, builder->scratch, right * sizeof(int32));
	return left;
}

static void
build_node(TreeBuilder *builder, int first, int end)
{
	KdTree *tree = &builder->tree;
	int node = tree->nnodes;
	int widest;
	int middle;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	make_room(builder);
	tree->nnodes++;
	tree->first[node] = first;
	tree->end[node] = end;
	tree->right[node] = 0;
	widest = measure_node(builder, node);
	if (widest < 0 || end - first <= KDTREE_LEAF)
		return;
	middle = part_node(builder, node, widest);
	build_node(builder, first, middle);
	tree->right[node] = tree->nnodes;
	build_node(builder, middle, end);
}

KdTree
space_tree(double *const *columns, int nrows, int ncolumns)
{
	TreeBuilder builder = {.columns = columns, .room = 1024};
	KdTree *tree = &builder.tree;
	Size box = (Size) builder.room * ncolumns * sizeof(double);

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
	build_node(&builder, 0, nrows);
	pfree(builder.scratch);
	tree->values = palloc_extended((Size) nrows * ncolumns * sizeof(double), MCXT_ALLOC_HUGE);
	for (int column = 0; column < ncolumns; column++)
	{
		for (int position = 0; position < nrows; position++)
			tree->values[(Size) column * nrows + position] = columns[column][tree->row[position]];
	}
	return *tree;
}
