/*
 * clusters.h
 *		Clusters: groups that gain and lose rows.
 *
 * A cluster charges its loss for every microdata row in it; merging and improving keep the
 * sum of these charges over all clusters low.
 */
#ifndef KANON_CLUSTERS_H
#define KANON_CLUSTERS_H

#include "lib/pairingheap.h"

#include "cluster/groups.h"
#include "cluster/points.h"
#include "cluster/rule.h"

typedef struct Cluster
{
	int32 head;	  /* the first of its entries, which ClusterSet.next links; -1: none */
	int32 tail;	  /* the last one */
	int32 size;	  /* entries; 0: the cluster is gone */
	int32 own;	  /* entries that are microdata rows */
	double loss;  /* of its box */
	bool settled; /* the cluster keeps the rule, or has no microdata to publish */

	/* Of merge.c: the cheapest cluster to join, as of the last search for it. */
	uint32 version;			/* changes with the cluster's rows */
	int32 partner;			/* -1: none */
	uint32 partner_version; /* the partner's version at that time */
	double cost;			/* of joining it */
	pairingheap_node link;	/* in the queue, if the cluster is not settled and has a partner */
} Cluster;

/* A set of clusters.  Its entries are the rows that were loaded; each is in one cluster. */
typedef struct ClusterSet
{
	MemoryContext context; /* owns everything but points and rule */
	const Points *points;
	GroupRule *rule;
	int nclusters;
	Cluster *clusters; /* room for as many as there are entries */
	double *boxes;	   /* the bounds of each cluster */
	int nentries;
	int32 *rows;	/* per entry */
	int32 *next;	/* per entry: the next one of the same cluster; -1: none */
	int32 *scratch; /* room for all rows */
} ClusterSet;

/* Return the bounds of a cluster's box. */
static inline double *
cluster_bounds(const ClusterSet *set, int cluster)
{
	return set->boxes + (Size) cluster * 2 * set->points->ncolumns;
}

/* Return the loss that a cluster charges for all its microdata rows. */
static inline double
cluster_charge(const Cluster *cluster)
{
	return cluster->loss * cluster->own;
}

/* Return the groups of a list, from first on, as clusters in a memory context of their own. */
extern ClusterSet *clusters_load(GroupRule *rule, const Groups *groups, int first);
/* Put the clusters that are not gone in the place of the groups from first on, and free the set. */
extern void clusters_store(ClusterSet *set, Groups *groups, int first);

/* Copy the rows of a cluster's entries, but for one entry, to set->scratch, and return their number; -1 skips none. */
extern int cluster_rows(const ClusterSet *set, int cluster, int32 skipped_entry);
/* Add an entry, which is in no cluster, at the end of a cluster. */
extern void cluster_append(ClusterSet *set, int cluster, int32 entry);
/* Take an entry out of its cluster. */
extern void cluster_remove(ClusterSet *set, int cluster, int32 entry);
/* Move all entries of a cluster to another; the first cluster is gone. */
extern void cluster_join(ClusterSet *set, int into, int from);

#endif
