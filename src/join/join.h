/*
 * join.h
 *		Joins by AVLIKE that do not compare every pair of rows.
 *
 * AVLIKE is no equality, so PostgreSQL could only try all pairs.  This node keeps
 * the inner rows by the values that they are joined by, and finds those that an
 * outer row joins with once per class of rows with the same values.  Where the inner rows do not fit into
 * memory, it takes as many as fit, meets them with all outer rows, and goes on:
 * outer rows are kept for that, and it is noted who has found a partner.
 */
#ifndef KANON_JOIN_H
#define KANON_JOIN_H

#include "nodes/extensible.h"

/* custom_exprs: the clauses, all of them operators, and what else makes a pair one. */
enum
{
	JOIN_KEYS,
	JOIN_FILTER,
};

/* custom_private: the JoinType, and for each clause whether its left side is the outer one. */
enum
{
	JOIN_KIND,
	JOIN_SIDES,
};

extern const CustomScanMethods avlike_join_methods;
extern const CustomExecMethods avlike_join_exec_methods;

/* join_planner.c */
extern void avlike_join_init(void);

/* join_exec.c */
extern Node *avlike_join_create_state(CustomScan *scan);

#endif
