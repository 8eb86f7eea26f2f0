/*
 * join.h
 *		Joins by AVLIKE that do not compare every pair of rows.
 *
 * AVLIKE is no equality, so PostgreSQL could only try all pairs.  This node keeps
 * the inner rows by the values that they are joined by, and finds those that an
 * outer value matches once per value.  Where the inner rows do not fit into
 * memory, it takes as many as fit, reads the outer side, and goes on.
 */
#ifndef KANON_JOIN_H
#define KANON_JOIN_H

#include "kanon.h"

#include "nodes/extensible.h"

/* custom_exprs: the clauses, all of them operators.  custom_private: for each, whether its left side is the outer one. */

extern const CustomScanMethods avlike_join_methods;
extern const CustomExecMethods avlike_join_exec_methods;

/* join_planner.c */
extern void avlike_join_init(void);

/* join_exec.c */
extern Node *avlike_join_create_state(CustomScan *scan);

#endif
