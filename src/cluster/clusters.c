/*
 * clusters.c
 *		Clusters: groups that gain and lose rows.
 */
#include "base/kanon.h"

#include "cluster/clusters.h"

#include "utils/memutils.h"

#include "cluster/groups.h"
#include "cluster/points.h"
#include "cluster/rule.h"

/* Return room for count rows. */
static int32 *
alloc_rows(int count)
{
	return palloc_extended(Max((Size) count, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
}

/* Return the groups of a list, from first on, as clusters. */
ClusterSet *
clusters_load(GroupRule *rule, const Groups *groups, int first)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon clusters", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	ClusterSet *set = palloc0(sizeof(ClusterSet));
	int32 start = group_start(groups, first);

	Assert(first >= 0 && first <= groups->ngroups);
	set->context = context;
	set->points = rule->points;
	set->rule = rule;
	set->nentries = group_start(groups, groups->ngroups) - start;
	set->clusters = palloc_extended(Max((Size) set->nentries, 1) * sizeof(Cluster), MCXT_ALLOC_HUGE);
	set->boxes = bounds_create(set->points, set->nentries);
	set->rows = alloc_rows(set->nentries);
	set->next = alloc_rows(set->nentries);
	set->scratch = alloc_rows(set->nentries);
	memcpy(set->rows, groups->rows + start, set->nentries * sizeof(int32));
	for (int group = first; group < groups->ngroups; group++)
	{
		int cluster = set->nclusters++;

		set->clusters[cluster] = (Cluster){.head = -1, .tail = -1};
		for (int32 i = group_start(groups, group); i < groups->ends[group]; i++)
			cluster_append(set, cluster, i - start);
	}
	MemoryContextSwitchTo(old);
	return set;
}

/* Put the clusters that are not gone in the place of the groups from first on, and free the set. */
void
clusters_store(ClusterSet *set, Groups *groups, int first)
{
	groups->ngroups = first;
	for (int cluster = 0; cluster < set->nclusters; cluster++)
	{
		if (set->clusters[cluster].size > 0)
			groups_add(groups, set->scratch, cluster_rows(set, cluster, -1));
	}
	MemoryContextDelete(set->context);
}

/* Copy the rows of a cluster's entries, but for one entry, to set->scratch, and return their number. */
int
cluster_rows(const ClusterSet *set, int cluster, int32 skipped_entry)
{
	int count = 0;

	for (int32 entry = set->clusters[cluster].head; entry >= 0; entry = set->next[entry])
	{
		if (entry != skipped_entry)
			set->scratch[count++] = set->rows[entry];
	}
	return count;
}

/* Add an entry at the end of a cluster. */
void
cluster_append(ClusterSet *set, int cluster, int32 entry)
{
	Cluster *into = &set->clusters[cluster];
	double *box = cluster_bounds(set, cluster);

	Assert(entry >= 0 && entry < set->nentries);
	set->next[entry] = -1;
	if (into->size == 0)
	{
		into->head = entry;
		bounds_set(set->points, box, set->rows[entry]);
	}
	else
	{
		set->next[into->tail] = entry;
		bounds_add(set->points, box, set->rows[entry]);
	}
	into->tail = entry;
	into->size++;
	into->own += point_is_own(set->points, set->rows[entry]) ? 1 : 0;
	into->loss = bounds_loss(set->points, box);
}

/* Take an entry out of its cluster, and shrink the cluster's box. */
void
cluster_remove(ClusterSet *set, int cluster, int32 entry)
{
	Cluster *from = &set->clusters[cluster];
	int32 before = -1;

	Assert(from->size > 0);
	for (int32 at = from->head; at != entry; at = set->next[at])
	{
		Assert(at >= 0);
		before = at;
	}
	if (before < 0)
		from->head = set->next[entry];
	else
		set->next[before] = set->next[entry];
	if (from->tail == entry)
		from->tail = before;
	from->size--;
	from->own -= point_is_own(set->points, set->rows[entry]) ? 1 : 0;
	if (from->size > 0)
	{
		bounds_of(set->points, cluster_bounds(set, cluster), set->scratch, cluster_rows(set, cluster, -1));
		from->loss = bounds_loss(set->points, cluster_bounds(set, cluster));
	}
}

/* Move all entries of a cluster to another; the first cluster is gone. */
void
cluster_join(ClusterSet *set, int into, int from)
{
	Cluster *target = &set->clusters[into];
	Cluster *source = &set->clusters[from];
	double *box = cluster_bounds(set, into);
	const double *other = cluster_bounds(set, from);

	Assert(into != from && target->size > 0 && source->size > 0);
	for (int i = 0; i < set->points->ncolumns; i++)
	{
		int upper = set->points->ncolumns + i;

		box[i] = Min(box[i], other[i]);
		box[upper] = Max(box[upper], other[upper]);
	}
	set->next[target->tail] = source->head;
	target->tail = source->tail;
	target->size += source->size;
	target->own += source->own;
	target->loss = bounds_loss(set->points, box);
	*source = (Cluster){.head = -1, .tail = -1, .version = source->version + 1};
}
