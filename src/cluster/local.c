/*
 * local.c
 *		Local recoding: groups joined from single rows, then improved.
 *
 * Joining takes time quadratic in the number of rows, so a tree parts the rows into blocks
 * first.  Larger blocks lose a little less.
 */
#include "base/kanon.h"

#include "cluster/local.h"

#include "miscadmin.h"

#include "cluster/groups.h"
#include "cluster/improve.h"
#include "cluster/merge.h"
#include "cluster/mondrian.h"
#include "cluster/points.h"
#include "cluster/rule.h"

/* Compare two rows by their values, then by number. */
static int
compare_points(const void *left, const void *right, void *arg)
{
	const Points *points = arg;
	const double *a = point_values(points, *(const int32 *) left);
	const double *b = point_values(points, *(const int32 *) right);

	for (int i = 0; i < points->ncolumns; i++)
	{
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	}
	return *(const int32 *) left - *(const int32 *) right;
}

/* Append each set of equal rows to a list of groups. */
static void
add_equal_rows(const Points *points, int32 *rows, int nrows, Groups *groups)
{
	int start = 0;

	qsort_arg(rows, nrows, sizeof(int32), compare_points, (void *) points);
	for (int i = 1; i <= nrows; i++)
	{
		if (i < nrows && memcmp(point_values(points, rows[i]), point_values(points, rows[start]),
								points->ncolumns * sizeof(double)) == 0)
			continue;
		groups_add(groups, rows + start, i - start);
		start = i;
	}
}

/* Append groups to a list: rows are joined up to k within blocks, then rearranged. */
void
local_groups(GroupRule *rule, int block_size, int32 *rows, int nrows, Groups *groups, Report report)
{
	CutPlan plan = {
		.rule = rule,
		.strategy = CUT_GAIN,
		.enough = block_size,
		.least = block_size / 8,
	};
	CutTree *tree = cuttree_build(&plan, rows, nrows);

	for (int i = 0; i < tree->nleaves; i++)
	{
		const CutNode *leaf = &tree->nodes[tree->leaves[i]];
		int first = groups->ngroups;

		add_equal_rows(rule->points, rows + leaf->first, leaf->count, groups);
		merge_groups(rule, groups, first);
		improve_groups(rule, groups, first);
		if (report)
			report(leaf->first + leaf->count);
	}
}
