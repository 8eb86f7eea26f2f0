/*
 * plain_search.c
 *		The rows that a group can take in at the least loss.
 *
 * Algorithm 1 keeps a sorted list per column to find rows near to a group; a
 * kd-tree over the rows finds the very nearest.
 */
#include "release/plain_groups.h"

#include <math.h>

#include "miscadmin.h"

typedef struct Search
{
	const Plain *plain;
	const Shape *shape;
	bool beyond;
	Offer *found; /* cheapest first */
	int wanted;
	int count;
} Search;

void
search_start(Plain *plain, const bool *left_out)
{
	const Space *space = plain->space;
	double **columns = palloc(space->nquasi * sizeof(double *));
	double *factors = palloc(space->nquasi * sizeof(double));
	void *memory = palloc_extended(kdtree_size(space->nrows, space->nquasi), MCXT_ALLOC_HUGE);

	for (int column = 0; column < space->nquasi; column++)
	{
		columns[column] = palloc_extended(space->nrows * sizeof(double), MCXT_ALLOC_HUGE);
		factors[column] = space->width[column] > 0 ? 1 / space->width[column] : 0;
		for (int row = 0; row < space->nrows; row++)
			columns[column][row] = point_values(space->points, row)[column];
	}
	kdtree_build(memory, columns, space->nrows, space->nquasi, factors);
	for (int column = 0; column < space->nquasi; column++)
		pfree(columns[column]);
	plain->tree = kdtree_view(memory);
	plain->position_of = kdtree_positions(&plain->tree);
	plain->removal = kdtree_start_removal(&plain->tree);
	plain->passed_over = palloc_extended(space->nrows * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int row = 0; row < space->nrows; row++)
	{
		if (left_out[row])
			search_remove(plain, row);
	}
}

void
search_remove(Plain *plain, int32 row)
{
	int32 position = plain->position_of[row];

	if (!plain->removal->gone[position])
		kdtree_remove(&plain->tree, plain->removal, position);
}

/* The loss with values between lo and hi taken in, whichever are the best. */
static inline double
loss_with(const Search *search, int column, double lo, double hi)
{
	double lower = search->shape->lower[column];
	double upper = search->shape->upper[column];

	if (hi < lower)
		lower = hi;
	else if (lo > upper)
		upper = lo;
	return column_loss(search->plain->space, column, lower, upper);
}

static double
limit(const Search *search)
{
	return search->count < search->wanted ? INFINITY : search->found[search->count - 1].loss;
}

static double
node_loss(const Search *search, int node)
{
	const KdTree *tree = &search->plain->tree;
	Size at = (Size) node * tree->ncolumns;
	double loss = 0;

	if (search->plain->removal->left[node] == 0)
		return INFINITY;
	for (int column = 0; column < tree->ncolumns; column++)
	{
		double lo = tree->lo[at + column];
		double hi = tree->hi[at + column];

		if (search->beyond && lo >= search->shape->lower[column] && hi <= search->shape->upper[column])
			return INFINITY;
		loss += loss_with(search, column, lo, hi);
	}
	return loss;
}

static double
position_loss(const Search *search, int32 position)
{
	const KdTree *tree = &search->plain->tree;
	double most = limit(search);
	double loss = 0;

	for (int column = 0; column < tree->ncolumns && loss < most; column++)
	{
		double value = tree->values[(Size) column * tree->nrows + position];

		if (search->beyond && value >= search->shape->lower[column] && value <= search->shape->upper[column])
			return INFINITY;
		loss += loss_with(search, column, value, value);
	}
	return loss;
}

static void
offer(Search *search, double loss, int32 position)
{
	int at = search->count < search->wanted ? search->count++ : search->count - 1;

	for (; at > 0 && search->found[at - 1].loss > loss; at--)
		search->found[at] = search->found[at - 1];
	search->found[at] = (Offer){loss, position};
}

static void
search_leaf(Search *search, int node)
{
	const Plain *plain = search->plain;

	for (int32 position = plain->tree.first[node]; position < plain->tree.end[node]; position++)
	{
		double loss;

		if (plain->removal->gone[position] || plain->passed_over[position])
			continue;
		loss = position_loss(search, position);
		if (loss < limit(search))
			offer(search, loss, position);
	}
}

static void
search_node(Search *search, int node)
{
	const KdTree *tree = &search->plain->tree;
	int child[2] = {node + 1, tree->right[node]};
	double loss[2];
	int cheaper;

	if (tree->right[node] == 0)
	{
		search_leaf(search, node);
		return;
	}
	for (int i = 0; i < 2; i++)
		loss[i] = node_loss(search, child[i]);
	cheaper = loss[1] < loss[0] ? 1 : 0;
	if (loss[cheaper] < limit(search))
		search_node(search, child[cheaper]);
	if (loss[1 - cheaper] < limit(search))
		search_node(search, child[1 - cheaper]);
}

int
search_cheapest(const Plain *plain, const Shape *shape, bool beyond, Offer *found, int wanted)
{
	Search search = {plain, shape, beyond, found, wanted, 0};

	CHECK_FOR_INTERRUPTS();
	if (node_loss(&search, 0) < INFINITY)
		search_node(&search, 0);
	return search.count;
}
