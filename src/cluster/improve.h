/*
 * improve.h
 *		Rearranging groups so that they lose less.
 */
#ifndef KANON_IMPROVE_H
#define KANON_IMPROVE_H

#include "cluster/groups.h"
#include "cluster/rule.h"

/* Rearrange the groups of a list, from first on, as long as that lowers their loss; they keep the rule. */
extern void improve_groups(GroupRule *rule, Groups *groups, int first);

#endif
