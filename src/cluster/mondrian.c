/*
 * mondrian.c
 *		Mondrian (LeFevre et al. 2006, as section 2.2 of Sacharidis et al. uses it):
 *		building the tree, its groups, and range queries.
 *
 * The tree is built from the root, the left child first.  The rows of a node are next to
 * each other, and a cut only rearranges them among themselves.
 */
#include "base/kanon.h"

#include "cluster/mondrian.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "cluster/gain.h"
#include "cluster/groups.h"
#include "cluster/points.h"
#include "cluster/rule.h"

#define ST_SORT sort_doubles
#define ST_ELEMENT_TYPE double
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* The state of cuttree_build(). */
typedef struct CutBuild
{
	const CutPlan *plan;
	const Points *points;
	CutTree *tree;
	double *points_copy; /* the values of the tree's rows, in the same order, so that a cell is in one place */
	double *values;		 /* scratch: one column of a cell */
	int depth_limit;	 /* the depth from which on cells are cut at a median */

	/* A stack of nodes that may have to be cut. */
	int32 *open;
	int nopen;
	int open_capacity;
} CutBuild;

/*
 * Return the value that would be at a place if the values were sorted, by quickselect; if
 * that chooses badly for too long, the rest is sorted.  The values are rearranged.
 */
static double
select_value(double *values, int count, int place)
{
	int rounds = 2 * pg_leftmost_one_pos32(count) + 8;

	Assert(place >= 0 && place < count);
	while (count > 16 && rounds-- > 0)
	{
		double a = values[0];
		double b = values[count / 2];
		double c = values[count - 1];
		double pivot = Max(Min(a, b), Min(Max(a, b), c));
		int left = 0;
		int right = count - 1;

		while (left <= right)
		{
			while (values[left] < pivot)
				left++;
			while (values[right] > pivot)
				right--;
			if (left <= right)
			{
				double swap = values[left];

				values[left++] = values[right];
				values[right--] = swap;
			}
		}
		if (place <= right)
			count = right + 1;
		else if (place >= left)
		{
			values += left;
			count -= left;
			place -= left;
		}
		else
			return pivot;
	}
	sort_doubles(values, count);
	return values[place];
}

/* Return the copy of a row's values. */
static inline double *
row_values(const CutBuild *build, int32 place)
{
	return build->points_copy + (Size) place * build->points->ncolumns;
}

/* Swap two rows of the tree, and the copies of their values. */
static void
cuttree_swap_rows(CutBuild *build, int32 a, int32 b)
{
	int32 *rows = build->tree->rows;
	double *left = row_values(build, a);
	double *right = row_values(build, b);
	int32 row = rows[a];

	rows[a] = rows[b];
	rows[b] = row;
	for (int i = 0; i < build->points->ncolumns; i++)
	{
		double value = left[i];

		left[i] = right[i];
		right[i] = value;
	}
}

/* Bring the rows below the cut to the front of the cell, and return their number. */
static int
cuttree_part_rows(CutBuild *build, const CutNode *node, const Cut *cut)
{
	int left = node->first;
	int right = node->first + node->count - 1;

	while (left <= right)
	{
		while (left <= right && row_values(build, left)[cut->column] < cut->split)
			left++;
		while (left <= right && !(row_values(build, right)[cut->column] < cut->split))
			right--;
		if (left < right)
			cuttree_swap_rows(build, left++, right--);
	}
	return left - node->first;
}

/* Return true if the first left rows of a cell and the others each have l sensitive values or no microdata. */
static bool
parts_allowed(GroupRule *rule, const int32 *rows, int count, int left)
{
	const int32 *starts[2] = {rows, rows + left};
	int counts[2] = {left, count - left};

	for (int side = 0; side < 2; side++)
	{
		if (rule_own(rule, starts[side], counts[side]) > 0 &&
			!rule_diverse(rule, starts[side], counts[side]))
			return false;
	}
	return true;
}

/* A split of a column's values beside their median, and the number of values below it. */
typedef struct MedianCut
{
	double split;
	int below;
} MedianCut;

/* Return the difference between the numbers of rows on the two sides of a cut. */
static int64
unevenness(const CutNode *node, const MedianCut *cut)
{
	int64 difference = 2 * (int64) cut->below - node->count;

	return Max(difference, -difference);
}

/* Set the cuts below all values equal to the median, and above them: the more even cut first. */
static void
median_cuts(CutBuild *build, const CutNode *node, int column, MedianCut cuts[2])
{
	double *values = build->values;
	double median;
	MedianCut below = {0};
	MedianCut above = {.split = INFINITY};

	for (int i = 0; i < node->count; i++)
		values[i] = row_values(build, node->first + i)[column];
	median = select_value(values, node->count, node->count / 2);
	below.split = median;
	for (int i = 0; i < node->count; i++)
	{
		below.below += values[i] < median ? 1 : 0;
		above.below += values[i] <= median ? 1 : 0;
		if (values[i] > median && values[i] < above.split)
			above.split = values[i];
	}
	if (unevenness(node, &above) < unevenness(node, &below))
	{
		cuts[0] = above;
		cuts[1] = below;
	}
	else
	{
		cuts[0] = below;
		cuts[1] = above;
	}
}

/*
 * Set the cut at the median of the first column, from the node's turn on, that can
 * be cut; return false if there is none.
 */
static bool
median_cut(CutBuild *build, const CutNode *node, int least, Cut *cut)
{
	GroupRule *rule = build->plan->rule;
	int32 *rows = build->tree->rows + node->first;
	int bound = Max(rule->k, least);

	for (int i = 0; i < build->points->ncolumns; i++)
	{
		MedianCut cuts[2];

		cut->column = (node->turn + i) % build->points->ncolumns;
		median_cuts(build, node, cut->column, cuts);
		for (int j = 0; j < 2; j++)
		{
			cut->split = cuts[j].split;
			if (cuts[j].below < bound || node->count - cuts[j].below < bound)
				continue;
			if (rule->l == 0 ||
				parts_allowed(rule, rows, node->count, cuttree_part_rows(build, node, cut)))
				return true;
		}
	}
	return false;
}

/*
 * Set the cut of a cell that the plan's strategy chooses; return false if there is none.
 *
 * Cuts by gain may peel off few rows again and again; from some depth on, cells are
 * halved, so that building stays within n log n.
 */
static bool
cuttree_choose_cut(CutBuild *build, const CutNode *node, int least, Cut *cut)
{
	if (build->plan->strategy == CUT_GAIN && node->depth <= build->depth_limit)
		return gain_cut(build->plan, least, build->tree->rows + node->first, node->count, cut);
	return median_cut(build, node, least, cut);
}

/* Add a node to the tree. */
static void
add_node(CutBuild *build, CutNode node)
{
	CutTree *tree = build->tree;

	Assert(node.first >= 0 && node.count >= 0);
	if (tree->nnodes == tree->capacity)
	{
		tree->capacity *= 2;
		tree->nodes = repalloc_huge(tree->nodes, (Size) tree->capacity * sizeof(CutNode));
		tree->leaves = repalloc_huge(tree->leaves, (Size) tree->capacity * sizeof(int32));
	}
	tree->nodes[tree->nnodes++] = node;
	tree->depth = Max(tree->depth, node.depth);
}

/* Push a node on the stack of open nodes. */
static void
cuttree_open_node(CutBuild *build, int32 node)
{
	if (build->nopen == build->open_capacity)
	{
		build->open_capacity *= 2;
		build->open = repalloc_huge(build->open, (Size) build->open_capacity * sizeof(int32));
	}
	build->open[build->nopen++] = node;
}

/* Cut a node's cell: add its two children to the tree, and push them so that the left one is next. */
static void
split_node(CutBuild *build, int32 index, const Cut *cut)
{
	CutTree *tree = build->tree;
	CutNode node = tree->nodes[index];
	int below = cuttree_part_rows(build, &node, cut);
	CutNode child = {
		.column = -1,
		.first = node.first,
		.count = below,
		.turn = (cut->column + 1) % build->points->ncolumns,
		.depth = node.depth + 1,
	};

	Assert(below > 0 && below < node.count);
	tree->nodes[index].column = cut->column;
	tree->nodes[index].split = cut->split;
	tree->nodes[index].left = tree->nnodes;
	add_node(build, child);
	child.first += below;
	child.count = node.count - below;
	add_node(build, child);
	cuttree_open_node(build, tree->nnodes - 1);
	cuttree_open_node(build, tree->nnodes - 2);
}

/*
 * Set the cut of a node's cell, first with as many rows on each side as the plan wants;
 * return false if the node stays a leaf.
 */
static bool
find_cut(CutBuild *build, int32 index, Cut *cut)
{
	const CutPlan *plan = build->plan;
	const CutNode *node = &build->tree->nodes[index];

	if (node->count < 2 * (int64) plan->rule->k || node->count <= plan->enough)
		return false;
	if (!plan->rule->any_rows && rule_own(plan->rule, build->tree->rows + node->first, node->count) == 0)
		return false;
	return cuttree_choose_cut(build, node, plan->least, cut) ||
		   (plan->least > plan->rule->k && cuttree_choose_cut(build, node, 0, cut));
}

/* Set up the state of cuttree_build(), with the root as the open node. */
static void
start_build(CutBuild *build, const CutPlan *plan, int32 *rows, int nrows)
{
	CutTree *tree = palloc0(sizeof(CutTree));

	build->plan = plan;
	build->points = plan->rule->points;
	build->tree = tree;
	build->values = palloc_extended(Max((Size) nrows, 1) * sizeof(double), MCXT_ALLOC_HUGE);
	build->points_copy = palloc_extended(Max((Size) nrows, 1) * build->points->ncolumns * sizeof(double),
										 MCXT_ALLOC_HUGE);
	for (int i = 0; i < nrows; i++)
		memcpy(row_values(build, i), point_values(build->points, rows[i]), build->points->ncolumns * sizeof(double));
	build->depth_limit = 2 * pg_leftmost_one_pos32(Max(nrows, 1)) + 16;
	build->nopen = 0;
	build->open_capacity = 64;
	build->open = palloc(build->open_capacity * sizeof(int32));

	tree->capacity = 64;
	tree->nodes = palloc(tree->capacity * sizeof(CutNode));
	tree->leaves = palloc(tree->capacity * sizeof(int32));
	tree->rows = rows;
	add_node(build, (CutNode){.column = -1, .count = nrows});
	cuttree_open_node(build, 0);
}

/* Build a tree over some rows. */
CutTree *
cuttree_build(const CutPlan *plan, int32 *rows, int nrows)
{
	CutBuild build;
	int64 finished = 0;

	start_build(&build, plan, rows, nrows);
	while (build.nopen > 0)
	{
		int32 index = build.open[--build.nopen];
		Cut cut;

		CHECK_FOR_INTERRUPTS();
		if (find_cut(&build, index, &cut))
		{
			split_node(&build, index, &cut);
			continue;
		}
		build.tree->leaves[build.tree->nleaves++] = index;
		finished += build.tree->nodes[index].count;
		if (plan->report)
			plan->report(finished);
	}
	pfree(build.values);
	pfree(build.points_copy);
	pfree(build.open);
	return build.tree;
}

/* Append the leaves that have microdata to a list of groups, from left to right. */
void
cuttree_groups(const CutTree *tree, const GroupRule *rule, Groups *groups)
{
	for (int i = 0; i < tree->nleaves; i++)
	{
		const CutNode *leaf = &tree->nodes[tree->leaves[i]];
		const int32 *rows = tree->rows + leaf->first;

		if (rule_own(rule, rows, leaf->count) > 0)
			groups_add(groups, rows, leaf->count);
	}
}

/* Copy the rows inside a box to found, and return their number. */
int
cuttree_range(const CutTree *tree, const Points *points, const double *box, int32 *found)
{
	const double *upper = box + points->ncolumns;
	int32 *open = palloc((tree->depth + 2) * sizeof(int32));
	int nopen = 0;
	int count = 0;

	open[nopen++] = 0;
	while (nopen > 0)
	{
		const CutNode *node = &tree->nodes[open[--nopen]];

		Assert(nopen <= tree->depth + 1);
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; node->column < 0 && i < node->count; i++)
		{
			int32 row = tree->rows[node->first + i];

			if (bounds_hold(points, box, row))
				found[count++] = row;
		}
		if (node->column >= 0 && upper[node->column] >= node->split)
			open[nopen++] = node->left + 1;
		if (node->column >= 0 && box[node->column] < node->split)
			open[nopen++] = node->left;
	}
	pfree(open);
	return count;
}
