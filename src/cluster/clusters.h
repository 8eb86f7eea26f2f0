/*
 * clusters.h
 *		Clusters: groups that rows come to and go from.
 *
 * A cluster charges its loss for every microdata row in it; the sum over all
 * clusters is what merging and improving them keep low.
 */
#ifndef KANON_CLUSTER_H
#define KANON_CLUSTER_H

#include "lib/pairingheap.h"

#include "cluster/groups.h"
#include "cluster/points.h"
#include "cluster/rule.h"

typedef struct Cluster
{
	int32 head; /* entries of the set, linked by next; -1: none */
	int32 tail;
	int32 size; /* 0: it has gone */
	int32 own;
	double loss;
	bool settled; /* keeps the rule, or has no microdata to publish */

	/* merge.c: the cheapest other cluster, as of the last look at it. */
	uint32 version; /* changes with its rows */
	int32 partner;
	uint32 partner_version;
	double cost;
	pairingheap_node link;
} Cluster;

typedef struct ClusterSet
{
	MemoryContext context;
	const Points *points;
	GroupRule *rule;
	int nclusters;
	Cluster *clusters; /* room for as many as there are entries */
	double *boxes;
	int nentries;
	int32 *rows; /* of each entry */
	int32 *next;
	int32 *scratch; /* room for all rows */
} ClusterSet;

static inline double *
cluster_bounds(const ClusterSet *set, int cluster)
{
	return set->boxes + (Size) cluster * 2 * set->points->ncolumns;
}

/* What a cluster's rows lose. */
static inline double
cluster_charge(const Cluster *cluster)
{
	return cluster->loss * cluster->own;
}

/* The groups from first on, as clusters; and back, without the empty ones. */
extern ClusterSet *clusters_load(GroupRule *rule, const Groups *groups, int first);
extern void clusters_store(ClusterSet *set, Groups *groups, int first);

extern int cluster_rows(const ClusterSet *set, int cluster, int32 skipped_entry);
extern void cluster_append(ClusterSet *set, int cluster, int32 entry);
extern void cluster_remove(ClusterSet *set, int cluster, int32 entry);
extern void cluster_join(ClusterSet *set, int into, int from);

/* merge.c: joins groups, from first on, until all of them keep the rule. */
extern void merge_groups(GroupRule *rule, Groups *groups, int first);

/* improve.c: rearranges groups, from first on, so that they lose less. */
extern void improve_groups(GroupRule *rule, Groups *groups, int first);

#endif
