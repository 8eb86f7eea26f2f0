/*
 * kja.c
 *		k-join-anonymity, section 4: Direct and Refinement.
 *
 * Sensitive values are published per sensitive group, which is a union of groups.  In
 * Refinement, the sensitive group is the conventional group that the groups were refined
 * from.  Direct has none; neighbouring groups are joined until their microdata alone
 * satisfies k and l, so that both methods tell as little about sensitive values as
 * conventional k-anonymity does.
 */
#include "base/kanon.h"

#include "cluster/kja.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "cluster/groups.h"
#include "cluster/merge.h"
#include "cluster/mondrian.h"
#include "cluster/points.h"
#include "cluster/rule.h"
#include "cluster/topdown.h"
#include "cluster/trim.h"

/* The rows in a cell of the tree over the public rows. */
#define RANGE_ROWS 16

/* The groups that are joined to sensitive groups at once. */
#define CHUNK_GROUPS 512

/* Return count numbers, from first on. */
static int32 *
number_rows(int first, int count)
{
	int32 *rows = palloc_extended(Max((Size) count, 1) * sizeof(int32), MCXT_ALLOC_HUGE);

	for (int i = 0; i < count; i++)
		rows[i] = first + i;
	return rows;
}

/* Group some rows by the conventional algorithm, and append the groups that have microdata to a list. */
static void
conventional_groups(KjaPlan *plan, GroupRule *rule, int32 *rows, int count, Groups *groups, Report report)
{
	CutPlan mondrian = {.rule = rule, .strategy = CUT_MEDIAN, .report = report};

	if (plan->topdown)
		topdown_groups(rule, &plan->random, rows, count, groups, report);
	else
		cuttree_groups(cuttree_build(&mondrian, rows, count), rule, groups);
}

/* Drop the public rows that the groups do not need. */
static void
trim_groups(const KjaPlan *plan, Groups *groups)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon trimming", ALLOCSET_DEFAULT_SIZES);
	int count = groups->ngroups;
	int32 start = 0;

	/* Rows only move to the front, so that the groups can be added again in place. */
	groups->ngroups = 0;
	for (int i = 0; i < count; i++)
	{
		int32 end = groups->ends[i];
		MemoryContext old = MemoryContextSwitchTo(work);
		int kept = trim_group(plan->points, plan->k, groups->rows + start, end - start);

		MemoryContextSwitchTo(old);
		groups_add(groups, groups->rows + start, kept);
		start = end;
		MemoryContextReset(work);
	}
	MemoryContextDelete(work);
}

/* Return the groups from first to end without their public rows. */
static Groups *
own_groups(const KjaPlan *plan, const Groups *groups, int first, int end)
{
	int32 nrows = group_start(groups, end) - group_start(groups, first);
	Groups *own = groups_create(nrows);
	int32 *rows = palloc_extended((Size) nrows * sizeof(int32), MCXT_ALLOC_HUGE);

	for (int group = first; group < end; group++)
	{
		int count = 0;

		for (int32 i = group_start(groups, group); i < groups->ends[group]; i++)
		{
			if (point_is_own(plan->points, groups->rows[i]))
				rows[count++] = groups->rows[i];
		}
		groups_add(own, rows, count);
	}
	pfree(rows);
	return own;
}

/* Return true if the microdata of the groups from first to end satisfies the rule. */
static bool
kja_is_complete(const KjaPlan *plan, GroupRule *rule, const Groups *groups, int first, int end)
{
	Groups *own = own_groups(plan, groups, first, end);

	return rule_holds(rule, own->rows, group_start(own, own->ngroups));
}

/* Join the groups from first to end to sensitive groups, which get the numbers after *last. */
static void
join_chunk(const KjaPlan *plan, GroupRule *rule, KjaResult *result, int first, int end, int32 *last)
{
	Groups *own = own_groups(plan, result->groups, first, end);
	Groups *joined = own_groups(plan, result->groups, first, end);
	int32 *number = palloc_extended((Size) plan->points->nown * sizeof(int32), MCXT_ALLOC_HUGE);

	merge_groups(rule, joined, 0);
	for (int group = 0; group < joined->ngroups; group++)
	{
		for (int32 i = group_start(joined, group); i < joined->ends[group]; i++)
			number[joined->rows[i]] = *last + group + 1;
	}
	*last += joined->ngroups;
	for (int group = first; group < end; group++)
		result->sg[group] = number[*group_rows(own, group - first)];
}

/* Return the last place in the list where a chunk may end: the groups behind it satisfy the rule. */
static int
last_border(const KjaPlan *plan, GroupRule *rule, const Groups *groups)
{
	int border = groups->ngroups - CHUNK_GROUPS;

	while (border > 0 && !kja_is_complete(plan, rule, groups, border, groups->ngroups))
		border -= CHUNK_GROUPS;
	return border;
}

/* Join groups to sensitive groups, chunk by chunk: neighbours in the list are neighbours in space. */
static void
join_to_sensitive_groups(const KjaPlan *plan, KjaResult *result)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon sensitive groups", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	int border = last_border(plan, rule_create(plan->points, plan->k, plan->l), result->groups);
	int first = 0;
	int32 last = 0;

	while (first < result->groups->ngroups)
	{
		GroupRule *rule = rule_create(plan->points, plan->k, plan->l);
		int end = first + CHUNK_GROUPS;

		while (end <= border && !kja_is_complete(plan, rule, result->groups, first, end))
			end += CHUNK_GROUPS;
		if (end > border)
			end = result->groups->ngroups;
		join_chunk(plan, rule, result, first, end, &last);
		first = end;
		MemoryContextReset(work);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
}

/* Return groups by Direct: all rows are grouped by the conventional algorithm at once. */
static KjaResult *
direct(KjaPlan *plan)
{
	KjaResult *result = palloc0(sizeof(KjaResult));
	GroupRule *rule = rule_create(plan->points, plan->k, 0);
	int nrows = plan->points->nrows;

	result->groups = groups_create(nrows);
	conventional_groups(plan, rule, number_rows(0, nrows), nrows, result->groups, plan->report);
	trim_groups(plan, result->groups);
	result->sg = palloc_extended((Size) result->groups->ngroups * sizeof(int32), MCXT_ALLOC_HUGE);
	join_to_sensitive_groups(plan, result);
	return result;
}

/* A conventional group and the loss of its box. */
typedef struct LossyGroup
{
	double loss;
	int32 group;
} LossyGroup;

/* Compare two groups by loss, then by number. */
static int
compare_losses(const void *left, const void *right)
{
	const LossyGroup *a = left;
	const LossyGroup *b = right;

	if (a->loss != b->loss)
		return a->loss < b->loss ? -1 : 1;
	return a->group - b->group;
}

/* Return the groups in the order of their losses, and set the bounds of each. */
static LossyGroup *
groups_by_loss(const Points *points, const Groups *groups, double *boxes)
{
	LossyGroup *sorted = palloc_extended((Size) groups->ngroups * sizeof(LossyGroup), MCXT_ALLOC_HUGE);

	for (int i = 0; i < groups->ngroups; i++)
	{
		Bounds box = boxes + (Size) i * 2 * points->ncolumns;

		bounds_of(points, box, group_rows(groups, i), group_size(groups, i));
		sorted[i].group = i;
		sorted[i].loss = bounds_loss(points, box);
	}
	qsort(sorted, groups->ngroups, sizeof(LossyGroup), compare_losses);
	return sorted;
}

/*
 * Return, per public row, the group that it refines, or -1: a group with a box that holds
 * the row.  Where boxes overlap, it is the group with the least loss, since a row serves
 * one group only.
 */
static int32 *
share_public_rows(const Points *points, const Groups *groups)
{
	int npublic = points->nrows - points->nown;
	double *boxes = bounds_create(points, groups->ngroups);
	LossyGroup *sorted = groups_by_loss(points, groups, boxes);
	GroupRule *rule = rule_create(points, RANGE_ROWS, 0);
	CutPlan plan = {.rule = rule, .strategy = CUT_MEDIAN};
	int32 *group_of = number_rows(0, npublic);
	int32 *found = number_rows(0, npublic);
	CutTree *tree;

	rule->any_rows = true;
	tree = cuttree_build(&plan, number_rows(points->nown, npublic), npublic);
	for (int i = 0; i < npublic; i++)
		group_of[i] = -1;
	for (int i = 0; i < groups->ngroups; i++)
	{
		int32 group = sorted[i].group;
		int count = cuttree_range(tree, points, boxes + (Size) group * 2 * points->ncolumns, found);

		for (int j = 0; j < count; j++)
		{
			Assert(!point_is_own(points, found[j]));
			if (group_of[found[j] - points->nown] < 0)
				group_of[found[j] - points->nown] = group;
		}
	}
	return group_of;
}

/* Return the groups with the public rows that refine them. */
static Groups *
add_public_rows(const Points *points, const Groups *groups)
{
	int32 *group_of = share_public_rows(points, groups);
	int npublic = points->nrows - points->nown;
	Groups *filled = palloc(sizeof(Groups));
	int32 *next = palloc_extended((Size) groups->ngroups * sizeof(int32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	int32 start = 0;

	Assert(group_start(groups, groups->ngroups) == points->nown);
	*filled = *groups;
	filled->rows = number_rows(0, points->nrows);
	filled->ends = number_rows(0, groups->ngroups);
	for (int i = 0; i < npublic; i++)
	{
		if (group_of[i] >= 0)
			next[group_of[i]]++;
	}
	for (int i = 0; i < groups->ngroups; i++)
	{
		int own = group_size(groups, i);
		int filling = next[i];

		memcpy(filled->rows + start, group_rows(groups, i), own * sizeof(int32));
		next[i] = start + own;
		start += own + filling;
		filled->ends[i] = start;
	}
	for (int i = 0; i < npublic; i++)
	{
		if (group_of[i] >= 0)
			filled->rows[next[group_of[i]]++] = points->nown + i;
	}
	return filled;
}

/*
 * Return groups by Refinement: the microdata is grouped, and each group is parted again
 * together with the public rows in its box.
 */
static KjaResult *
refinement(KjaPlan *plan)
{
	const Points *points = plan->points;
	KjaResult *result = palloc0(sizeof(KjaResult));
	GroupRule *rule = rule_create(points, plan->k, plan->l);
	Groups *coarse = groups_create(points->nown);
	GroupRule *refined = rule_create(points, plan->k, 0);

	conventional_groups(plan, rule, number_rows(0, points->nown), points->nown, coarse, plan->report);
	coarse = add_public_rows(points, coarse);
	result->groups = groups_create(points->nrows);
	result->sg = palloc_extended((Size) points->nown * sizeof(int32), MCXT_ALLOC_HUGE);
	for (int i = 0; i < coarse->ngroups; i++)
	{
		int first = result->groups->ngroups;

		conventional_groups(plan, refined, group_rows(coarse, i), group_size(coarse, i), result->groups, NULL);
		for (int group = first; group < result->groups->ngroups; group++)
			result->sg[group] = i + 1;
		if (plan->report)
			plan->report(coarse->ends[i]);
	}
	trim_groups(plan, result->groups);
	return result;
}

/* Return groups of all microdata rows. */
KjaResult *
kja_groups(KjaPlan *plan)
{
	return plan->refinement ? refinement(plan) : direct(plan);
}
