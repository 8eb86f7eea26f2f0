/*
 * merge.h
 *		Joining groups that are too small.
 */
#ifndef KANON_MERGE_H
#define KANON_MERGE_H

#include "cluster/groups.h"
#include "cluster/rule.h"

/*
 * Join the groups of a list, from first on, until each of them keeps the rule or has no
 * microdata.  If all their rows together do not keep the rule, the last group is left as
 * it is.
 */
extern void merge_groups(GroupRule *rule, Groups *groups, int first);

#endif
