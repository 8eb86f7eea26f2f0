/*
 * topdown.h
 *		Groups by clustering: TopDown (Xu et al. 2006).
 */
#ifndef KANON_TOPDOWN_H
#define KANON_TOPDOWN_H

#include "cluster/groups.h"
#include "cluster/rule.h"

/*
 * Append groups to a list: rows are parted around two rows that are far apart, again and
 * again, then joined up to k.  The rows, which together keep the rule, are rearranged; the
 * result depends on their order.  Report, which may be NULL, is told how many rows are done.
 */
extern void topdown_groups(GroupRule *rule, pg_prng_state *random, int32 *rows, int nrows, Groups *groups,
						   Report report);

#endif
