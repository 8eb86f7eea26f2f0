/*
 * topdown.h
 *		Groups by clustering: TopDown, and local recoding.
 */
#ifndef KANON_TOPDOWN_H
#define KANON_TOPDOWN_H

#include "cluster/groups.h"
#include "cluster/rule.h"

/*
 * Both append groups to a list, and rearrange the rows; together the rows have
 * to keep the rule.  The result depends on the order of the rows.
 */

/* Xu et al. 2006: parted around two far rows, again and again, then joined up to k. */
extern void topdown_groups(GroupRule *rule, pg_prng_state *random, int32 *rows, int nrows, Groups *groups,
						   Report report);

/*
 * Joined from single rows up to k, then rearranged while that lowers the loss;
 * within cells of at most block_size rows.
 */
extern void local_groups(GroupRule *rule, int block_size, int32 *rows, int nrows, Groups *groups, Report report);

#endif
