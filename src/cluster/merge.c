/*
 * merge.c
 *		Joining clusters that are too small, the cheapest pair first.
 *
 * Each unsettled cluster knows the cheapest cluster to join; a queue gives the cheapest of
 * all these pairs.  A cluster's knowledge may be out of date: a pair is checked when it
 * comes up, and the cluster searches again if its partner has changed.
 */
#include "base/kanon.h"

#include "cluster/merge.h"

#include "miscadmin.h"

#include "cluster/clusters.h"
#include "cluster/groups.h"
#include "cluster/points.h"
#include "cluster/rule.h"

/* The state of merge_groups(). */
typedef struct Merger
{
	ClusterSet *set;
	pairingheap *queue; /* the unsettled clusters that have a partner, the cheapest first */
	int nactive;
	int32 *active; /* the clusters that are not gone, and some that are */
	int ngone;	   /* clusters among active that are gone */
} Merger;

/* Order clusters by cost, the cheapest first; ties go to the lower number. */
static int
compare_costs(const pairingheap_node *left, const pairingheap_node *right, void *arg)
{
	const Cluster *a = pairingheap_const_container(Cluster, link, left);
	const Cluster *b = pairingheap_const_container(Cluster, link, right);

	if (a->cost != b->cost)
		return a->cost < b->cost ? 1 : -1;
	return a < b ? 1 : -1;
}

/* Return by how much joining two clusters raises their charge; if that exceeds limit, any number above limit. */
static double
joining_cost(const ClusterSet *set, int a, int b, double limit)
{
	const Cluster *first = &set->clusters[a];
	const Cluster *second = &set->clusters[b];
	double own = first->own + second->own;
	double before = cluster_charge(first) + cluster_charge(second);

	if (Max(first->loss, second->loss) * own - before > limit)
		return INFINITY;
	return bounds_loss_with(set->points, cluster_bounds(set, a), cluster_bounds(set, b), (limit + before) / own) * own -
		   before;
}

/* Find the cheapest cluster for a cluster to join, and queue the cluster. */
static void
find_partner(Merger *merger, int cluster)
{
	ClusterSet *set = merger->set;
	Cluster *seeker = &set->clusters[cluster];

	CHECK_FOR_INTERRUPTS();
	seeker->partner = -1;
	seeker->cost = INFINITY;
	for (int i = 0; i < merger->nactive; i++)
	{
		int32 other = merger->active[i];
		double cost;

		if (other == cluster || set->clusters[other].size == 0)
			continue;
		cost = joining_cost(set, cluster, other, seeker->cost);
		if (cost < seeker->cost || seeker->partner < 0)
		{
			seeker->partner = other;
			seeker->partner_version = set->clusters[other].version;
			seeker->cost = cost;
		}
	}
	if (seeker->partner >= 0)
		pairingheap_add(merger->queue, &seeker->link);
}

/* Note whether a cluster is settled: it keeps the rule or has no microdata. */
static void
merge_settle(ClusterSet *set, int cluster)
{
	Cluster *candidate = &set->clusters[cluster];

	candidate->settled = candidate->own == 0 ||
						 rule_holds(set->rule, set->scratch, cluster_rows(set, cluster, -1));
}

/* Note that one more cluster is gone; drop such clusters from the active ones when they are many. */
static void
drop_gone(Merger *merger)
{
	int kept = 0;

	if (++merger->ngone <= merger->nactive / 4)
		return;
	for (int i = 0; i < merger->nactive; i++)
	{
		if (merger->set->clusters[merger->active[i]].size > 0)
			merger->active[kept++] = merger->active[i];
	}
	merger->nactive = kept;
	merger->ngone = 0;
}

/* Join a cluster to its partner. */
static void
join_partner(Merger *merger, int cluster)
{
	ClusterSet *set = merger->set;
	int into = set->clusters[cluster].partner;
	Cluster *target = &set->clusters[into];
	bool queued = !target->settled;
	bool settled = target->settled && target->own > 0;

	Assert(into >= 0 && into != cluster && target->size > 0);
	if (queued)
		pairingheap_remove(merger->queue, &target->link);
	cluster_join(set, into, cluster);
	target->version++;
	drop_gone(merger);
	if (settled)
		return;
	merge_settle(set, into);
	if (!target->settled)
		find_partner(merger, into);
}

/* Set up the merger: settle all clusters, and find partners for the unsettled ones. */
static void
start_merger(Merger *merger, ClusterSet *set)
{
	merger->set = set;
	merger->queue = pairingheap_allocate(compare_costs, NULL);
	merger->nactive = set->nclusters;
	merger->active = palloc_extended((Size) set->nclusters * sizeof(int32), MCXT_ALLOC_HUGE);
	merger->ngone = 0;
	for (int i = 0; i < set->nclusters; i++)
	{
		merger->active[i] = i;
		merge_settle(set, i);
	}
	for (int i = 0; i < set->nclusters; i++)
	{
		if (!set->clusters[i].settled)
			find_partner(merger, i);
	}
}

/*
 * Join the groups of a list, from first on, until each of them keeps the rule or has no
 * microdata.
 *
 * If all rows together do not keep the rule, the last cluster is left as it is.  Groups
 * without microdata are joined by other groups where that is cheapest, or stay.
 */
void
merge_groups(GroupRule *rule, Groups *groups, int first)
{
	ClusterSet *set = clusters_load(rule, groups, first);
	MemoryContext old = MemoryContextSwitchTo(set->context);
	Merger merger;

	start_merger(&merger, set);
	while (!pairingheap_is_empty(merger.queue))
	{
		Cluster *cheapest = pairingheap_container(Cluster, link, pairingheap_remove_first(merger.queue));
		int cluster = cheapest - set->clusters;
		const Cluster *partner = &set->clusters[cheapest->partner];

		if (partner->size == 0 || partner->version != cheapest->partner_version)
			find_partner(&merger, cluster);
		else
			join_partner(&merger, cluster);
	}
	MemoryContextSwitchTo(old);
	clusters_store(set, groups, first);
}
