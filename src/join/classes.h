/*
 * classes.h
 *		Classes of rows that have the same values wherever they are joined.
 *
 * Published rows come in groups, and rows of one group join with the same rows:
 * who matches whom is found out once per pair of classes, not of rows.
 */
#ifndef KANON_CLASSES_H
#define KANON_CLASSES_H

#include "join/matches.h"

typedef struct Classes Classes;

/* One clause that sides are joined by. */
typedef struct JoinClause
{
	OpExpr *clause;
	bool outer_is_left;
} JoinClause;

/* In the current memory context.  one_is_enough: nobody wants to know more of an outer class than whether it has a match. */
extern Classes *classes_create(const JoinClause *clauses, int nclauses, bool one_is_enough);
/*
 * The number of the class of an inner row, which has a value for each clause.  Leaves things behind in the current memory
 * context, as does classes_of_outer().
 */
extern int classes_add_inner(Classes *classes, const Datum *values);
extern int classes_count_inner(const Classes *classes);
/* After the last inner row. */
extern void classes_close_inner(Classes *classes);
/* The numbers of inner classes that an outer row joins with, until the next is asked for. */
extern const MatchList *classes_of_outer(Classes *classes, const Datum *values);

#endif
