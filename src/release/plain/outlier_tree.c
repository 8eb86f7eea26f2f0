/*
 * outlier_tree.c
 *		The index that rows within d are counted with.
 *
 * It has the form of a kd-tree, but does not part a node at the median of its
 * widest column.  Census columns have a few usual values and some rare ones far
 * away: at the median both halves would keep the usual value and one of them all
 * the rare ones, and be as wide as before.  Parted where the rows lose the most
 * width together, the boxes of the many shrink, so that most nodes are within d or
 * beyond it as a whole.
 */
#include "base/kanon.h"

#include <math.h>

#include "miscadmin.h"

#include "release/common/kdtree.h"
#include "release/plain/outlier.h"

typedef struct OutlierTreeBuilder
{
	KdTree tree;
	double *const *columns;
	int room;		/* nodes that the arrays have room for */
	int32 *scratch; /* rows of the right side */
} OutlierTreeBuilder;

/* Places at which a column may be parted. */
#define BINS 64

/* The rows between two points of a column. */
typedef struct Bin
{
	int count;
	double lo;
	double hi;
} Bin;

typedef struct OutlierCut
{
	double saved;
	int column;	  /* -1: all rows are equal */
	double value; /* the largest of the left side */
} OutlierCut;

static void
make_room(OutlierTreeBuilder *builder)
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

/* The box around a node's rows. */
static void
measure_node(OutlierTreeBuilder *builder, int node)
{
	KdTree *tree = &builder->tree;
	double *lo = tree->lo + (Size) node * tree->ncolumns;
	double *hi = tree->hi + (Size) node * tree->ncolumns;

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

static void
fill_bins(OutlierTreeBuilder *builder, int node, int column, Bin *bins)
{
	const KdTree *tree = &builder->tree;
	const double *values = builder->columns[column];
	double lo = tree->lo[(Size) node * tree->ncolumns + column];
	double width = tree->hi[(Size) node * tree->ncolumns + column] - lo;

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

/* What parting a column saves: rows times the width that they lose. */
static void
best_cut(const Bin *bins, int column, OutlierCut *best)
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

/* The cut that makes boxes of many rows narrow. */
static OutlierCut
choose_cut(OutlierTreeBuilder *builder, int node)
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
		best_cut(bins, column, &best);
	}
	return best;
}

/* Rows up to the cut to the left; returns where the right side begins. */
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
	return left;
}

static void
build_node(OutlierTreeBuilder *builder, int first, int end)
{
	KdTree *tree = &builder->tree;
	int node = tree->nnodes;
	OutlierCut cut;
	int middle;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	make_room(builder);
	tree->nnodes++;
	tree->first[node] = first;
	tree->end[node] = end;
	tree->right[node] = 0;
	measure_node(builder, node);
	if (end - first <= KDTREE_LEAF)
		return;
	cut = choose_cut(builder, node);
	if (cut.column < 0)
		return;
	middle = part_node(builder, node, &cut);
	build_node(builder, first, middle);
	tree->right[node] = tree->nnodes;
	build_node(builder, middle, end);
}

KdTree
space_tree(double *const *columns, int nrows, int ncolumns)
{
	OutlierTreeBuilder builder = {.columns = columns, .room = 1024};
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
