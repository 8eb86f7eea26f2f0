/*
 * join.h
 *		Joins by AVLIKE that do not compare every pair of rows.
 *
 * AVLIKE is no equality, so that PostgreSQL itself could only compare all pairs of
 * rows.  This node finds the inner rows that an outer row joins with once per class of
 * outer rows with the same values.  Where the inner rows do not fit into memory, it
 * loads as many as fit, joins them with all outer rows, and goes on with the next;
 * join_exec.c says how.
 */
#ifndef KANON_JOIN_H
#define KANON_JOIN_H

#include "nodes/extensible.h"

/* The members of custom_exprs, each a List. */
enum JoinExprs
{
	JOIN_KEYS,	/* the clauses that join the sides, all of them OpExprs */
	JOIN_FILTER /* the other conditions that two rows must satisfy to be joined */
};

/* The members of custom_private. */
enum JoinPrivate
{
	JOIN_KIND, /* Integer: JoinType */
	JOIN_SIDES /* List of integers, one per clause: 1 if the left side is the outer one */
};

extern const CustomScanMethods avlike_join_methods;
extern const CustomExecMethods avlike_join_exec_methods;

/* join_planner.c */
extern void avlike_join_init(void);

/* join_exec.c */
extern Node *avlike_join_create_state(CustomScan *scan);

#endif
