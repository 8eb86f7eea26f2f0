/*
 * matches.h
 *		The values of one column that match values of another by AVLIKE.
 *
 * Published values repeat, so each value is numbered and compared once, not once per
 * row.  It is not compared with every other value, either: values that stand on one
 * line (leaf positions of one hierarchy, whole numbers, days) can only match where
 * they overlap.
 *
 * All inner values are added before the first outer value.
 */
#ifndef KANON_MATCHES_H
#define KANON_MATCHES_H

#include "fmgr.h"
#include "nodes/primnodes.h"

typedef struct Matches Matches;

/* The numbers of the inner values that match an outer value, in ascending order. */
typedef struct MatchList
{
	int count;
	int *values;
} MatchList;

/*
 * Create an empty set of values in the current memory context; outer values and their
 * matches are kept in a child of the context cache.  outer_is_left: the left argument of
 * the clause's operator is the outer value.
 */
extern Matches *matches_create(OpExpr *clause, bool outer_is_left, MemoryContext cache);
/* Add an inner value and return its number. */
extern int matches_add_inner(Matches *matches, Datum value);
/* Return the number of inner values. */
extern int matches_count_inner(const Matches *matches);
/* Add an outer value and return its number, which holds until outer values are forgotten. */
extern int matches_add_outer(Matches *matches, Datum value);
/* Return the matches of an outer value; the list is valid until the next new outer value is added. */
extern const MatchList *matches_of_outer(const Matches *matches, int number);
/* Forget all outer values. */
extern void matches_forget_outer(Matches *matches);

#endif
