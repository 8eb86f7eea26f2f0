/*
 * matches.h
 *		Which values of one column AVLIKE which values of another.
 *
 * Published values repeat: a value is compared once, not once per row.  Nor is it
 * compared with every other: values that stand on one line (leaf positions of one
 * hierarchy, whole numbers, days) can only be nested where they overlap.
 */
#ifndef KANON_MATCHES_H
#define KANON_MATCHES_H

#include "fmgr.h"
#include "nodes/primnodes.h"

typedef struct Matches Matches;

/* The numbers of inner values that match an outer one, in their order. */
typedef struct MatchList
{
	int count;
	int *values;
} MatchList;

/*
 * In the current memory context; what is found out about outer values, in a child
 * of the cache.  outer_is_left: the operator's left argument is the outer value.
 */
extern Matches *matches_create(OpExpr *clause, bool outer_is_left, MemoryContext cache);
/* The number of an inner value; all of them are to be known before the first outer one comes. */
extern int matches_add_inner(Matches *matches, Datum value);
extern int matches_count_inner(const Matches *matches);
/* The number of an outer value, until outer values are forgotten. */
extern int matches_add_outer(Matches *matches, Datum value);
/* Who matches it; the list stays where it is until the next new value comes. */
extern const MatchList *matches_of_outer(const Matches *matches, int number);
extern void matches_forget_outer(Matches *matches);

#endif
