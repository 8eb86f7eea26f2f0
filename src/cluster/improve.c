/*
 * improve.c
 *		Rearranging groups so that they lose less, by three kinds of steps: a group
 *		is parted by a cut, a row moves to another group, a group is dissolved and
 *		its rows go where they cost least.
 *
 * Every step keeps the rule.  Steps are taken while they pay, up to a number of
 * rounds; later rounds bring little.
 */
#include "base/kanon.h"

#include "cluster/clusters.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "cluster/groups.h"
#include "cluster/mondrian.h"
#include "cluster/points.h"
#include "cluster/rule.h"

#define MAX_ROUNDS 4

/* A step has to be worth more than rounding errors. */
#define WORTHWHILE 1e-9

/* What a row adds to the number of those that are charged: public rows cost only others. */
static int
charged(const ClusterSet *set, int32 row)
{
	return point_is_own(set->points, row) ? 1 : 0;
}

/* The cluster that a row costs least in, and that cost if it is below the limit. */
static int
cheapest_home(const ClusterSet *set, int32 row, int except, double *limit)
{
	int home = -1;

	for (int i = 0; i < set->nclusters; i++)
	{
		const Cluster *cluster = &set->clusters[i];
		double before = cluster_charge(cluster);
		int own = cluster->own + charged(set, row);
		double cost;

		/* The row itself loses what the others in there lose already, at least. */
		if (i == except || cluster->size == 0 || cluster->loss * charged(set, row) >= *limit)
			continue;
		cost = bounds_loss_with_row(set->points, cluster_bounds(set, i), row, (*limit + before) / own) * own - before;
		if (cost < *limit)
		{
			*limit = cost;
			home = i;
		}
	}
	return home;
}

/* Does the row hold a face of the box, so that the box may shrink without it? */
static bool
touches_face(const ClusterSet *set, int cluster, int32 row)
{
	const double *values = point_values(set->points, row);
	const double *box = cluster_bounds(set, cluster);
	const double *upper = box + set->points->ncolumns;

	for (int i = 0; i < set->points->ncolumns; i++)
	{
		if (box[i] != upper[i] && (values[i] == box[i] || values[i] == upper[i]))
			return true;
	}
	return false;
}

/* What a cluster saves without one of its rows; 0 if the rule wants it. */
static double
saving_without(ClusterSet *set, int cluster, int32 entry, Bounds box)
{
	const Cluster *from = &set->clusters[cluster];
	int count;

	if (from->size <= set->rule->k || !touches_face(set, cluster, set->rows[entry]))
		return 0;
	count = cluster_rows(set, cluster, entry);
	if (count == 0 || !rule_holds(set->rule, set->scratch, count))
		return 0;
	bounds_of(set->points, box, set->scratch, count);
	return cluster_charge(from) - bounds_loss(set->points, box) * (from->own - charged(set, set->rows[entry]));
}

/* Rows that are cheaper elsewhere move there. */
static int
move_rows(ClusterSet *set, Bounds box)
{
	int moved = 0;

	for (int cluster = 0; cluster < set->nclusters; cluster++)
	{
		int32 next;

		CHECK_FOR_INTERRUPTS();
		if (set->clusters[cluster].size == 0 || set->clusters[cluster].loss == 0)
			continue;
		for (int32 entry = set->clusters[cluster].head; entry >= 0; entry = next)
		{
			double limit = saving_without(set, cluster, entry, box) - WORTHWHILE;
			int home;

			next = set->next[entry];
			if (limit <= 0)
				continue;
			home = cheapest_home(set, set->rows[entry], cluster, &limit);
			if (home < 0)
				continue;
			cluster_remove(set, cluster, entry);
			cluster_append(set, home, entry);
			moved++;
		}
	}
	return moved;
}

/* Where the rows of a cluster would go if it were dissolved; false: that does not pay. */
static bool
plan_dissolution(const ClusterSet *set, int cluster, int32 *homes)
{
	double left = cluster_charge(&set->clusters[cluster]) - WORTHWHILE;
	int count = 0;

	for (int32 entry = set->clusters[cluster].head; entry >= 0; entry = set->next[entry])
	{
		double cost = left;

		if (left <= 0)
			return false;
		homes[count] = cheapest_home(set, set->rows[entry], cluster, &cost);
		if (homes[count++] < 0)
			return false;
		left -= cost;
	}
	return true;
}

static int
dissolve_clusters(ClusterSet *set)
{
	int dissolved = 0;

	for (int i = 0; i < set->nclusters; i++)
	{
		Cluster *cluster = &set->clusters[i];
		int32 next;
		int count = 0;

		CHECK_FOR_INTERRUPTS();
		if (cluster->size == 0 || !plan_dissolution(set, i, set->scratch))
			continue;
		for (int32 entry = cluster->head; entry >= 0; entry = next)
		{
			next = set->next[entry];
			cluster_append(set, set->scratch[count++], entry);
		}
		*cluster = (Cluster){.head = -1, .tail = -1};
		dissolved++;
	}
	return dissolved;
}

/* Parts the groups, from first on, that can be parted. */
static void
split_groups(GroupRule *rule, Groups *groups, int first)
{
	CutPlan plan = {.rule = rule, .strategy = CUT_GAIN};
	int count = group_start(groups, groups->ngroups) - group_start(groups, first);
	Groups *parts = groups_create(count);

	for (int group = first; group < groups->ngroups; group++)
	{
		CutTree *tree = cuttree_build(&plan, group_rows(groups, group), group_size(groups, group));

		cuttree_groups(tree, rule, parts);
	}
	groups->ngroups = first;
	for (int group = 0; group < parts->ngroups; group++)
		groups_add(groups, group_rows(parts, group), group_size(parts, group));
}

static bool
improve_once(GroupRule *rule, Groups *groups, int first)
{
	ClusterSet *set;
	int steps;
	Bounds box = bounds_create(rule->points, 1);

	split_groups(rule, groups, first);
	set = clusters_load(rule, groups, first);
	steps = move_rows(set, box);
	steps += dissolve_clusters(set);
	clusters_store(set, groups, first);
	return steps > 0;
}

void
improve_groups(GroupRule *rule, Groups *groups, int first)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon improvement", ALLOCSET_DEFAULT_SIZES);
	bool more = true;

	for (int round = 0; round < MAX_ROUNDS && more; round++)
	{
		MemoryContext old = MemoryContextSwitchTo(work);

		more = improve_once(rule, groups, first);
		MemoryContextSwitchTo(old);
		MemoryContextReset(work);
	}
	MemoryContextDelete(work);
}
