/*
 * kdtree.h
 *		A kd-tree over rows of doubles, to find the rows near a point without looking at
 *		all of them.
 *
 * A tree is one block of memory without pointers in it, so that it can lie in dynamic
 * shared memory; a KdTree is a process's view of such a block.  Rows get positions, and a
 * node holds a run of positions, so that the values of a leaf lie side by side.
 *
 * The values stay as the caller has them.  A query brings a factor per column, which
 * multiplies its differences: two rows are at distance 0 only if they are equal, whatever
 * the scale, and each query may have its own scale.
 */
#ifndef KANON_RELEASE_KDTREE_H
#define KANON_RELEASE_KDTREE_H

/* A leaf has at most so many rows, unless they are all equal. */
#define KDTREE_LEAF 32

/* A view of a tree. */
typedef struct KdTree
{
	int nrows;
	int ncolumns;
	int nnodes;

	/* By node; 0 is the root. */
	int32 *first; /* the positions from first to before end */
	int32 *end;
	int32 *right; /* the right child, and the left one is the next node; 0 for a leaf */
	double *lo;	  /* the smallest box around the rows, at node * ncolumns + column */
	double *hi;

	/* By position. */
	int32 *row;		/* the row's number at the caller */
	double *values; /* at column * nrows + position */
} KdTree;

/* A point to search from, with the scale of its distances. */
typedef struct KdQuery
{
	const double *point;   /* per column */
	const double *factors; /* finite, not negative; 0 if the column does not matter */
} KdQuery;

/* A row found. */
typedef struct KdNeighbour
{
	double distance;
	int32 position;
} KdNeighbour;

/* Rows removed from searches; the tree itself does not change. */
typedef struct KdRemoval
{
	int32 *left; /* per node: rows that are not removed */
	bool *gone;	 /* per position */
} KdRemoval;

/* Return the number of bytes that a tree needs, aligned as palloc aligns. */
extern Size kdtree_size(int nrows, int ncolumns);

/* Build a tree of columns[column][row], with at least one row and one column; factors are as in a query. */
extern void kdtree_build(void *space, double *const *columns, int nrows, int ncolumns, const double *factors);
/* Return the view of a tree in a block of memory. */
extern KdTree kdtree_view(void *space);
/* Return the position of each of the caller's rows. */
extern int32 *kdtree_positions(const KdTree *tree);

/* Compute squared distances to count rows, at most KDTREE_LEAF, from a position on. */
extern void kdtree_distances(const KdTree *tree, const KdQuery *query, int first, int count, double *squares);
/* Compute the smallest and the largest squared distance that a row of a node can have. */
extern void kdtree_box_distances(const KdTree *tree, const KdQuery *query, int node, double *near, double *far);

/* Find the nearest rows, nearest first, at most count, ties by position; return their number. */
extern int kdtree_nearest(const KdTree *tree, const KdQuery *query, const KdRemoval *removal,
						  KdNeighbour *found, int count);

/* Return the state of a tree from which no row is removed yet. */
extern KdRemoval *kdtree_start_removal(const KdTree *tree);
/* Remove the row at a position. */
extern void kdtree_remove(const KdTree *tree, KdRemoval *removal, int position);

/* Return true if the row at a position is equal to a point in every column. */
static inline bool
kdtree_equal(const KdTree *tree, int position, const double *point)
{
	for (int column = 0; column < tree->ncolumns; column++)
	{
		if (tree->values[(Size) column * tree->nrows + position] != point[column])
			return false;
	}
	return true;
}

/* Copy the values of the row at a position. */
static inline void
kdtree_point(const KdTree *tree, int position, double *point)
{
	for (int column = 0; column < tree->ncolumns; column++)
		point[column] = tree->values[(Size) column * tree->nrows + position];
}

/* Return true if all rows of a node are equal. */
static inline bool
kdtree_is_point(const KdTree *tree, int node)
{
	Size at = (Size) node * tree->ncolumns;

	for (int column = 0; column < tree->ncolumns; column++)
	{
		if (tree->lo[at + column] != tree->hi[at + column])
			return false;
	}
	return true;
}

#endif
