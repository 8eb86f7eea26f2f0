/*
 * kdtree.c
 *		Building a kd-tree and finding nearest neighbours in it.
 *
 * Follows Bentley, "Multidimensional Binary Search Trees Used for Associative Searching"
 * (1975), with a box per node: rows are split at the median of the column in which they
 * are spread the most, until few are left.
 */
#include "base/kanon.h"

#include "release/common/kdtree.h"

#include <math.h>

#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "storage/shmem.h"

/* The start of a block. */
typedef struct KdHeader
{
	int32 nrows;
	int32 ncolumns;
	int32 nnodes;
} KdHeader;

/* A row to sort by one of its values. */
typedef struct KdItem
{
	double value;
	int32 row;
} KdItem;

#define ST_SORT sort_items
#define ST_ELEMENT_TYPE KdItem
#define ST_COMPARE(a, b) ((a)->value < (b)->value ? -1 : (a)->value > (b)->value ? 1 \
																				 : (a)->row - (b)->row)
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* The state of building a tree. */
typedef struct KdBuilder
{
	KdTree tree;
	double *const *columns; /* the caller's values, per column and row */
	const double *factors;	/* per column */
	KdItem *items;			/* work space, per position */
} KdBuilder;

/*
 * Return an upper bound for the number of nodes.  Halving stops at KDTREE_LEAF rows, so a
 * leaf has more than half of that.
 */
static int
most_nodes(int nrows)
{
	return 2 * (nrows / (KDTREE_LEAF / 2) + 1);
}

/* Return the number of bytes that a tree needs. */
Size
kdtree_size(int nrows, int ncolumns)
{
	Size nodes = most_nodes(nrows);
	Size doubles = mul_size(ncolumns, add_size(mul_size(2, nodes), nrows));
	Size integers = add_size(mul_size(3, nodes), nrows);

	return add_size(MAXALIGN(sizeof(KdHeader)),
					add_size(mul_size(doubles, sizeof(double)), MAXALIGN(mul_size(integers, sizeof(int32)))));
}

/* Return the view of a tree in a block of memory. */
KdTree
kdtree_view(void *space)
{
	KdHeader *header = space;
	Size nodes = most_nodes(header->nrows);
	KdTree tree;

	tree.nrows = header->nrows;
	tree.ncolumns = header->ncolumns;
	tree.nnodes = header->nnodes;
	tree.lo = (double *) ((char *) space + MAXALIGN(sizeof(KdHeader)));
	tree.hi = tree.lo + nodes * tree.ncolumns;
	tree.values = tree.hi + nodes * tree.ncolumns;
	tree.first = (int32 *) (tree.values + (Size) tree.nrows * tree.ncolumns);
	tree.end = tree.first + nodes;
	tree.right = tree.end + nodes;
	tree.row = tree.right + nodes;
	return tree;
}

/*
 * Set the box around a node's rows, and return the column in which it is the widest, or -1
 * if all rows are equal.
 */
static int
kdtree_measure_node(KdBuilder *builder, int node)
{
	KdTree *tree = &builder->tree;
	int widest = -1;
	double width = -1;

	for (int column = 0; column < tree->ncolumns; column++)
	{
		const double *values = builder->columns[column];
		double lo = values[tree->row[tree->first[node]]];
		double hi = lo;

		for (int position = tree->first[node] + 1; position < tree->end[node]; position++)
		{
			double value = values[tree->row[position]];

			lo = Min(lo, value);
			hi = Max(hi, value);
		}
		tree->lo[(Size) node * tree->ncolumns + column] = lo;
		tree->hi[(Size) node * tree->ncolumns + column] = hi;
		if (lo < hi && (hi - lo) * builder->factors[column] > width)
		{
			width = (hi - lo) * builder->factors[column];
			widest = column;
		}
	}
	return widest;
}

/* Sort the rows at some positions by a column. */
static void
sort_positions(KdBuilder *builder, int first, int end, int column)
{
	for (int position = first; position < end; position++)
	{
		int32 row = builder->tree.row[position];

		builder->items[position].row = row;
		builder->items[position].value = builder->columns[column][row];
	}
	sort_items(builder->items + first, end - first);
	for (int position = first; position < end; position++)
		builder->tree.row[position] = builder->items[position].row;
}

/* Build the node of the rows at some positions, and all nodes below it. */
static void
kdtree_build_node(KdBuilder *builder, int first, int end)
{
	KdTree *tree = &builder->tree;
	int node = tree->nnodes++;
	int middle = first + (end - first) / 2;
	int widest;

	CHECK_FOR_INTERRUPTS();
	tree->first[node] = first;
	tree->end[node] = end;
	tree->right[node] = 0;
	widest = kdtree_measure_node(builder, node);
	if (widest < 0 || end - first <= KDTREE_LEAF)
		return;
	sort_positions(builder, first, end, widest);
	kdtree_build_node(builder, first, middle);
	tree->right[node] = tree->nnodes;
	kdtree_build_node(builder, middle, end);
}

/* Build a tree in a block of memory. */
void
kdtree_build(void *space, double *const *columns, int nrows, int ncolumns, const double *factors)
{
	KdHeader *header = space;
	KdBuilder builder;

	Assert(nrows > 0 && ncolumns > 0);
	header->nrows = nrows;
	header->ncolumns = ncolumns;
	header->nnodes = 0;
	builder.tree = kdtree_view(space);
	builder.columns = columns;
	builder.factors = factors;
	builder.items = palloc_extended(nrows * sizeof(KdItem), MCXT_ALLOC_HUGE);
	for (int row = 0; row < nrows; row++)
		builder.tree.row[row] = row;
	kdtree_build_node(&builder, 0, nrows);
	header->nnodes = builder.tree.nnodes;
	Assert(header->nnodes <= most_nodes(nrows));
	pfree(builder.items);
	for (int column = 0; column < ncolumns; column++)
	{
		double *values = builder.tree.values + (Size) column * nrows;

		for (int position = 0; position < nrows; position++)
			values[position] = columns[column][builder.tree.row[position]];
	}
}

/* Return the position of each of the caller's rows. */
int32 *
kdtree_positions(const KdTree *tree)
{
	int32 *positions = palloc_extended(tree->nrows * sizeof(int32), MCXT_ALLOC_HUGE);

	for (int position = 0; position < tree->nrows; position++)
		positions[tree->row[position]] = position;
	return positions;
}

/*
 * Compute squared distances to count rows from a position on; column by column, so that
 * the compiler can take several rows at a time.
 */
void
kdtree_distances(const KdTree *tree, const KdQuery *query, int first, int count, double *squares)
{
	Assert(count <= KDTREE_LEAF && first >= 0 && first + count <= tree->nrows);
	memset(squares, 0, count * sizeof(double));
	for (int column = 0; column < tree->ncolumns; column++)
	{
		const double *values = tree->values + (Size) column * tree->nrows + first;
		double x = query->point[column];
		double factor = query->factors[column];

		for (int i = 0; i < count; i++)
		{
			double difference = (values[i] - x) * factor;

			squares[i] += difference * difference;
		}
	}
}

/*
 * Compute the smallest and the largest squared distance that a row of a node can have.
 *
 * Every step rounds as in kdtree_distances(), and rounding is monotonic, so that near <=
 * computed distance of a row <= far holds exactly.
 */
void
kdtree_box_distances(const KdTree *tree, const KdQuery *query, int node, double *near, double *far)
{
	const double *lo = tree->lo + (Size) node * tree->ncolumns;
	const double *hi = tree->hi + (Size) node * tree->ncolumns;

	*near = 0;
	*far = 0;
	for (int column = 0; column < tree->ncolumns; column++)
	{
		double below = (lo[column] - query->point[column]) * query->factors[column];
		double above = (query->point[column] - hi[column]) * query->factors[column];
		double gap = Max(Max(below, above), 0);
		double reach = Max(-below, -above);

		*near += gap * gap;
		*far += reach * reach;
	}
}

/* The state of a search for the nearest rows. */
typedef struct Search
{
	const KdTree *tree;
	const KdQuery *query;
	const KdRemoval *removal; /* NULL if no rows are removed */
	binaryheap *worst_first;  /* of the rows found */
	KdNeighbour *found;
	int wanted; /* rows */
	int count;	/* rows found */
} Search;

/* Order neighbours by distance, then by position. */
static int
compare_neighbours(const KdNeighbour *a, const KdNeighbour *b)
{
	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	return a->position < b->position ? -1 : a->position > b->position;
}

/* Order neighbours: a binaryheap comparator. */
static int
compare_neighbours_heap(Datum a, Datum b, void *arg)
{
	return compare_neighbours((KdNeighbour *) DatumGetPointer(a), (KdNeighbour *) DatumGetPointer(b));
}

/* Order neighbours: a qsort comparator. */
static int
compare_neighbours_sort(const void *a, const void *b)
{
	return compare_neighbours(a, b);
}

/* Return true if a row would be among the nearest found so far. */
static bool
search_improves(Search *search, double distance, int position)
{
	KdNeighbour candidate = {distance, position};

	return search->count < search->wanted ||
		   compare_neighbours(&candidate, (KdNeighbour *) DatumGetPointer(binaryheap_first(search->worst_first))) < 0;
}

/* Add a row to the nearest rows, if it is one of them. */
static void
kdtree_offer(Search *search, double distance, int position)
{
	KdNeighbour candidate = {distance, position};
	KdNeighbour *slot;

	if (!search_improves(search, distance, position))
		return;

	if (search->count < search->wanted)
	{
		slot = &search->found[search->count++];
		*slot = candidate;
		binaryheap_add(search->worst_first, PointerGetDatum(slot));
		return;
	}
	slot = (KdNeighbour *) DatumGetPointer(binaryheap_first(search->worst_first));
	*slot = candidate;
	binaryheap_replace_first(search->worst_first, PointerGetDatum(slot));
}

/* Search the rows of a leaf. */
static void
kdtree_search_leaf(Search *search, int node)
{
	const KdTree *tree = search->tree;
	double squares[KDTREE_LEAF];

	for (int first = tree->first[node]; first < tree->end[node]; first += KDTREE_LEAF)
	{
		int count = Min(KDTREE_LEAF, tree->end[node] - first);

		/* A leaf this large has equal rows: if the next one comes too late, so do all behind it. */
		if (first > tree->first[node] && !search_improves(search, squares[0], first))
			return;
		kdtree_distances(tree, search->query, first, count, squares);
		for (int i = 0; i < count; i++)
		{
			if (!search->removal || !search->removal->gone[first + i])
				kdtree_offer(search, squares[i], first + i);
		}
	}
}

/* Return true if a node at a distance of at least near may hold one of the nearest rows. */
static bool
search_may_improve(Search *search, int node, double near)
{
	if (search->removal && search->removal->left[node] == 0)
		return false;
	return search->count < search->wanted ||
		   near <= ((KdNeighbour *) DatumGetPointer(binaryheap_first(search->worst_first)))->distance;
}

/* Search a node, its nearer child first. */
static void
kdtree_search_node(Search *search, int node)
{
	const KdTree *tree = search->tree;
	int child[2] = {node + 1, tree->right[node]};
	double near[2];
	double far;
	int closer;

	if (tree->right[node] == 0)
	{
		kdtree_search_leaf(search, node);
		return;
	}
	for (int i = 0; i < 2; i++)
		kdtree_box_distances(tree, search->query, child[i], &near[i], &far);
	closer = near[1] < near[0] ? 1 : 0;
	if (search_may_improve(search, child[closer], near[closer]))
		kdtree_search_node(search, child[closer]);
	if (search_may_improve(search, child[1 - closer], near[1 - closer]))
		kdtree_search_node(search, child[1 - closer]);
}

/* Find the nearest rows, at most count, and return their number. */
int
kdtree_nearest(const KdTree *tree, const KdQuery *query, const KdRemoval *removal, KdNeighbour *found, int count)
{
	Search search = {tree, query, removal, NULL, found, Min(count, tree->nrows), 0};

	CHECK_FOR_INTERRUPTS();
	if (search.wanted <= 0)
		return 0;
	search.worst_first = binaryheap_allocate(search.wanted, compare_neighbours_heap, NULL);
	kdtree_search_node(&search, 0);
	binaryheap_free(search.worst_first);
	qsort(found, search.count, sizeof(KdNeighbour), compare_neighbours_sort);
	for (int i = 0; i < search.count; i++)
		found[i].distance = sqrt(found[i].distance);
	return search.count;
}

/* Return the state of a tree from which no row is removed yet. */
KdRemoval *
kdtree_start_removal(const KdTree *tree)
{
	KdRemoval *removal = palloc(sizeof(KdRemoval));

	removal->left = palloc_extended(tree->nnodes * sizeof(int32), MCXT_ALLOC_HUGE);
	removal->gone = palloc_extended(tree->nrows * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int node = 0; node < tree->nnodes; node++)
		removal->left[node] = tree->end[node] - tree->first[node];
	return removal;
}

/* Remove the row at a position from the searches that use a removal. */
void
kdtree_remove(const KdTree *tree, KdRemoval *removal, int position)
{
	int node = 0;

	Assert(position >= 0 && position < tree->nrows);
	Assert(!removal->gone[position]);
	removal->gone[position] = true;
	removal->left[node]--;
	while (tree->right[node] != 0)
	{
		node = position < tree->end[node + 1] ? node + 1 : tree->right[node];
		removal->left[node]--;
	}
}
