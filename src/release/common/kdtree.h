/*
 * kdtree.h
 *		A kd-tree over rows of doubles: who is near, without looking at everyone.
 *
 * A tree is one block of memory without pointers in it, so that it can lie in
 * dynamic shared memory; a KdTree is a process's view of such a block.  Rows
 * get positions, and a node holds a run of them, so that the values of a leaf
 * lie side by side.
 *
 * The values stay as the caller has them.  A query brings a factor per column
 * that its differences are multiplied with: two rows are at distance 0 only
 * where they are equal, whatever the scale, and each query may have its own.
 */
#ifndef KANON_RELEASE_KDTREE_H
#define KANON_RELEASE_KDTREE_H

/* A leaf has at most so many rows, unless they are all equal. */
#define KDTREE_LEAF 32

typedef struct KdTree
{
	int nrows;
	int ncolumns;
	int nnodes;

	/* By node; 0 is the root. */
	int32 *first; /* the positions from first to before end */
	int32 *end;
	int32 *right; /* the right child, the left one being the next node; 0: a leaf */
	double *lo;	  /* node * ncolumns + column: the smallest box around its rows */
	double *hi;

	/* By position. */
	int32 *row;		/* of the caller's */
	double *values; /* column * nrows + position */
} KdTree;

typedef struct KdQuery
{
	const double *point;
	const double *factors; /* finite, not negative; 0: the column does not matter */
} KdQuery;

typedef struct KdNeighbour
{
	double distance;
	int32 position;
} KdNeighbour;

/* Rows taken out of a tree, by node and by position; the tree itself stays. */
typedef struct KdRemoval
{
	int32 *left; /* by node: how many rows it still has */
	bool *gone;	 /* by position */
} KdRemoval;

/* How many bytes a tree needs, aligned as palloc aligns. */
extern Size kdtree_size(int nrows, int ncolumns);

/* columns[column][row], at least one row and one column; factors as in a query. */
extern void kdtree_build(void *space, double *const *columns, int nrows, int ncolumns, const double *factors);
extern KdTree kdtree_view(void *space);
/* Where each of the caller's rows is. */
extern int32 *kdtree_positions(const KdTree *tree);

/* Squared distances to count rows, at most KDTREE_LEAF, from a position on. */
extern void kdtree_distances(const KdTree *tree, const KdQuery *query, int first, int count, double *squares);
/* The smallest and the largest squared distance that a row of a node can have. */
extern void kdtree_box_distances(const KdTree *tree, const KdQuery *query, int node, double *near, double *far);

/* The nearest rows, nearest first, at most count; ties by position. */
extern int kdtree_nearest(const KdTree *tree, const KdQuery *query, const KdRemoval *removal,
						  KdNeighbour *found, int count);

extern KdRemoval *kdtree_start_removal(const KdTree *tree);
extern void kdtree_remove(const KdTree *tree, KdRemoval *removal, int position);

/* Is the row at a position equal to a point, in every column? */
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

static inline void
kdtree_point(const KdTree *tree, int position, double *point)
{
	for (int column = 0; column < tree->ncolumns; column++)
		point[column] = tree->values[(Size) column * tree->nrows + position];
}

/* Are all rows of a node equal? */
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
