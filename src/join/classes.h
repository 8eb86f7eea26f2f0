/*
 * classes.h
 *		Classes of rows that have the same values in all clauses of a join.
 *
 * Published rows come in groups, and the rows of a group join with the same rows.  So
 * matches are looked for once per pair of classes, not once per pair of rows.
 *
 * All inner rows are added first, then classes_close_inner() is called, and from then
 * on outer rows are looked up.
 */
#ifndef KANON_CLASSES_H
#define KANON_CLASSES_H

#include "join/matches.h"

typedef struct Classes Classes;

/* A clause that joins the two sides. */
typedef struct JoinClause
{
	OpExpr *clause;
	bool outer_is_left;
} JoinClause;

/*
 * Create an empty set of classes in the current memory context.  one_is_enough: the
 * caller only asks whether an outer class has a match, so that one is returned.
 */
extern Classes *classes_create(const JoinClause *clauses, int nclauses, bool one_is_enough);
/*
 * Add the class of an inner row, given by its value for each clause, and return its
 * number.  This and classes_of_outer() leave garbage in the current memory context.
 */
extern int classes_add_inner(Classes *classes, const Datum *values);
/* Return the number of inner classes. */
extern int classes_count_inner(const Classes *classes);
/* Prepare for looking up outer rows; no inner row may be added afterwards. */
extern void classes_close_inner(Classes *classes);
/* Return the numbers of the inner classes that an outer row joins with; the list is valid until the next call. */
extern const MatchList *classes_of_outer(Classes *classes, const Datum *values);

#endif
