/*
 * improve.c
 *		Rearranging groups so that they lose less, by three kinds of steps: a group is
 *		parted by a cut, a row moves to another group, a group is dissolved and each of
 *		its rows goes to the group that it costs least in.
 *
 * Every step keeps the rule.  Steps are taken while they lower the loss, up to a number of
 * rounds; later rounds bring little.
 */
#include "base/kanon.h"

#include "cluster/improve.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "cluster/clusters.h"
#include "cluster/groups.h"
#include "cluster/mondrian.h"
#include "cluster/points.h"
#include "cluster/rule.h"

/* The most rounds that are taken. */
#define MAX_ROUNDS 4

/* The least gain of a step, larger than rounding errors. */
#define WORTHWHILE 1e-9

/* Return 1 if a row is charged a loss, else 0: public rows cost only others. */
static int
charged(const ClusterSet *set, int32 row)
{
	return point_is_own(set->points, row) ? 1 : 0;
}

/*
 * Return the cluster, but for one, to which a row can be added at the least cost, and set
 * *limit to that cost; return -1 if no cost is below *limit.
 */
static int
cheapest_home(const ClusterSet *set, int32 row, int except, double *limit)
{
	int home = -1;

	Assert(except >= 0 && except < set->nclusters);
	for (int i = 0; i < set->nclusters; i++)
	{
		const Cluster *cluster = &set->clusters[i];
		double before = cluster_charge(cluster);
		int own = cluster->own + charged(set, row);
		double cost;

		/* The row itself is charged at least the loss of the box as it is. */
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

/* Return true if a row is on a face of its cluster's box, so that the box may shrink without the row. */
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

/* Return the charge that a cluster saves without one of its entries; 0 if the rule needs the entry. */
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

/* Move rows to clusters in which they cost less, and return how many have moved. */
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

/*
 * Set the cluster that each row of a cluster would go to if the cluster were dissolved;
 * return false if that does not lower the loss.
 */
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

/* Dissolve the clusters that cost more than their rows would in other clusters, and return how many. */
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

/* Part the groups, from first on, that can be parted. */
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

/* Take one round of steps; return false if there was nothing to move or dissolve. */
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

/* Rearrange the groups of a list, from first on, as long as that lowers their loss. */
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
