/*
 * local.h
 *		Local recoding: groups joined from single rows, then improved.
 */
#ifndef KANON_LOCAL_H
#define KANON_LOCAL_H

#include "cluster/groups.h"
#include "cluster/rule.h"

/*
 * Append groups to a list: rows are joined up to k, then rearranged while that lowers the
 * loss, within cells of at most block_size rows.  The rows, which together keep the rule,
 * are rearranged; the result depends on their order.  Report, which may be NULL, is told
 * how many rows are done.
 */
extern void local_groups(GroupRule *rule, int block_size, int32 *rows, int nrows, Groups *groups, Report report);

#endif
