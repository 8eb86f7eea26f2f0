/*
 * plain_search.c
 *		The rows that a group can take in at the least loss.
 *
 * Algorithm 1 keeps a sorted list per column to find rows near to a group; a kd-tree over
 * the rows finds the very nearest.
 */
#include "base/kanon.h"

#include "release/plain/plain_search.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "cluster/points.h"
#include "release/common/kdtree.h"
#include "release/plain/outlier.h"
#include "release/plain/plain_check.h"
#include "release/plain/plain_groups.h"

/* The state of search_cheapest(). */
typedef struct Search
{
	const Plain *plain;
	const Wanted *wanted;
	Offer *found; /* the rows found so far, the cheapest first */
	int most;	  /* rows that are asked for */
	int count;	  /* rows in found */
} Search;

/* Build the index over some rows, in the context of the index. */
static void
search_build_index(Plain *plain, const int32 *rows, int count)
{
	const Space *space = plain->space;
	MemoryContext old = MemoryContextSwitchTo(plain->index_context);
	double **columns = palloc(space->nquasi * sizeof(double *));
	double *factors = palloc(space->nquasi * sizeof(double));
	void *memory = palloc_extended(kdtree_size(count, space->nquasi), MCXT_ALLOC_HUGE);

	for (int column = 0; column < space->nquasi; column++)
	{
		columns[column] = palloc_extended(count * sizeof(double), MCXT_ALLOC_HUGE);
		factors[column] = space->width[column] > 0 ? 1 / space->width[column] : 0;
		for (int i = 0; i < count; i++)
			columns[column][i] = point_values(space->points, rows[i])[column];
	}
	kdtree_build(memory, columns, count, space->nquasi, factors);
	for (int column = 0; column < space->nquasi; column++)
		pfree(columns[column]);
	plain->tree = kdtree_view(memory);
	plain->removal = kdtree_start_removal(&plain->tree);
	for (int position = 0; position < count; position++)
	{
		plain->tree.row[position] = rows[plain->tree.row[position]];
		plain->position_of[plain->tree.row[position]] = position;
	}
	MemoryContextSwitchTo(old);
}

/* Set up the search among all rows that are not left out. */
void
search_start(Plain *plain, const bool *left_out)
{
	int nrows = plain->space->nrows;
	int32 *rows = palloc_extended(nrows * sizeof(int32), MCXT_ALLOC_HUGE);

	plain->index_context = AllocSetContextCreate(CurrentMemoryContext, "kanon rows to take in", ALLOCSET_DEFAULT_SIZES);
	plain->position_of = palloc_extended(nrows * sizeof(int32), MCXT_ALLOC_HUGE);
	plain->passed_over = palloc_extended(nrows * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int row = 0; row < nrows; row++)
		rows[row] = row;
	search_build_index(plain, rows, nrows);
	for (int row = 0; row < nrows; row++)
	{
		if (left_out[row])
			search_remove(plain, row);
	}
	pfree(rows);
}

/*
 * Rebuild the index for the rows that are left, each time that half of them are removed:
 * boxes do not shrink when rows leave them.
 */
void
search_refresh(Plain *plain)
{
	const KdTree *tree = &plain->tree;
	int left = plain->removal->left[0];
	int32 *rows;
	int count = 0;

	if (left == 0 || left > tree->nrows / 2)
		return;
	rows = palloc_extended(left * sizeof(int32), MCXT_ALLOC_HUGE);
	for (int position = 0; position < tree->nrows; position++)
	{
		int32 row = tree->row[position];

		plain->position_of[row] = -1;
		if (!plain->removal->gone[position])
			rows[count++] = row;
	}
	MemoryContextReset(plain->index_context);
	search_build_index(plain, rows, count);
	pfree(rows);
}

/* Remove a row from searches. */
void
search_remove(Plain *plain, int32 row)
{
	int32 position = plain->position_of[row];

	if (position >= 0 && !plain->removal->gone[position])
		kdtree_remove(&plain->tree, plain->removal, position);
}

/* Return the least loss of a column if the shape takes in a value between lo and hi. */
static inline double
search_loss_with(const Search *search, int column, double lo, double hi)
{
	double lower = search->wanted->shape->lower[column];
	double upper = search->wanted->shape->upper[column];

	if (hi < lower)
		lower = hi;
	else if (lo > upper)
		upper = lo;
	return column_loss(search->plain->space, column, lower, upper);
}

/* Return the loss that a row must stay below. */
static double
search_limit(const Search *search)
{
	return search->count < search->most ? search->wanted->limit : search->found[search->count - 1].loss;
}

/* Return a loss that no row of a node stays below; infinite if the node has no row that is wanted. */
static double
node_loss(const Search *search, int node)
{
	const KdTree *tree = &search->plain->tree;
	Size at = (Size) node * tree->ncolumns;
	double most = search_limit(search);
	double loss = 0;

	if (search->plain->removal->left[node] == 0)
		return INFINITY;
	for (int column = 0; column < tree->ncolumns && loss < most; column++)
	{
		double lo = tree->lo[at + column];
		double hi = tree->hi[at + column];

		if (hi <= search->wanted->least[column] || lo >= search->wanted->most[column])
			return INFINITY;
		if (search->wanted->beyond && lo >= search->wanted->shape->lower[column] &&
			hi <= search->wanted->shape->upper[column])
			return INFINITY;
		loss += search_loss_with(search, column, lo, hi);
	}
	return loss;
}

/* Return the loss with the row at a position; infinite if the row is not wanted. */
static double
position_loss(const Search *search, int32 position)
{
	const KdTree *tree = &search->plain->tree;
	double most = search_limit(search);
	double loss = 0;

	for (int column = 0; column < tree->ncolumns && loss < most; column++)
	{
		double value = tree->values[(Size) column * tree->nrows + position];

		if (value <= search->wanted->least[column] || value >= search->wanted->most[column])
			return INFINITY;
		if (search->wanted->beyond && value >= search->wanted->shape->lower[column] &&
			value <= search->wanted->shape->upper[column])
			return INFINITY;
		loss += search_loss_with(search, column, value, value);
	}
	return loss;
}

/* Add a row to the rows found; it replaces the most expensive one if there are enough. */
static void
search_add(Search *search, double loss, int32 row)
{
	int at = search->count < search->most ? search->count++ : search->count - 1;

	Assert(at >= 0 && at < search->most);
	for (; at > 0 && search->found[at - 1].loss > loss; at--)
		search->found[at] = search->found[at - 1];
	search->found[at] = (Offer){loss, row};
}

/* Search the rows of a leaf. */
static void
search_rows_of_leaf(Search *search, int node)
{
	const Plain *plain = search->plain;

	for (int32 position = plain->tree.first[node]; position < plain->tree.end[node]; position++)
	{
		double loss;

		if (plain->removal->gone[position] || plain->passed_over[plain->tree.row[position]])
			continue;
		loss = position_loss(search, position);
		if (loss < search_limit(search) &&
			wanted_value(search->wanted, loss, plain->space->value_of[plain->tree.row[position]]))
			search_add(search, loss, plain->tree.row[position]);
	}
}

/* Search the rows of a node, the cheaper child first. */
static void
search_below_node(Search *search, int node)
{
	const KdTree *tree = &search->plain->tree;
	int child[2] = {node + 1, tree->right[node]};
	double loss[2];
	int cheaper;

	if (tree->right[node] == 0)
	{
		search_rows_of_leaf(search, node);
		return;
	}
	for (int i = 0; i < 2; i++)
		loss[i] = node_loss(search, child[i]);
	cheaper = loss[1] < loss[0] ? 1 : 0;
	if (loss[cheaper] < search_limit(search))
		search_below_node(search, child[cheaper]);
	if (loss[1 - cheaper] < search_limit(search))
		search_below_node(search, child[1 - cheaper]);
}

/* Find the cheapest rows to take in, at most this many, the cheapest first; return their number. */
int
search_cheapest(const Plain *plain, const Wanted *wanted, Offer *found, int most)
{
	Search search = {plain, wanted, found, most, 0};

	Assert(most > 0);
	CHECK_FOR_INTERRUPTS();
	if (node_loss(&search, 0) < INFINITY)
		search_below_node(&search, 0);
	return search.count;
}
