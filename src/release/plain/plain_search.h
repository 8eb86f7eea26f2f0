/*
 * plain_search.h
 *		The rows that a group can take in at the least loss.
 */
#ifndef KANON_RELEASE_PLAIN_SEARCH_H
#define KANON_RELEASE_PLAIN_SEARCH_H

#include "release/plain/plain_check.h"
#include "release/plain/plain_groups.h"

/* The rows that a search is for. */
typedef struct Wanted
{
	const Shape *shape;	 /* of the group that takes them in */
	const double *least; /* by column: their raw value is more than this, */
	const double *most;	 /* and less than this */
	double limit;		 /* the shape with one of them loses less than this, */
	double limit_known;	 /* and less than this if its sensitive value is known */
	const bool *known;	 /* by sensitive value: the shape has it */
	bool beyond;		 /* only rows that are outside the shape in every column */
} Wanted;

/* Return true if a row with a sensitive value is wanted, where the shape with it has a loss below the limit. */
static inline bool
wanted_value(const Wanted *wanted, double loss, int32 value)
{
	return loss < wanted->limit_known || !wanted->known[value];
}

/* A row that was found. */
typedef struct Offer
{
	double loss; /* of the shape with it */
	int32 row;
} Offer;

/* Set up the search among all rows that are not left out; left_out is by row. */
extern void search_start(Plain *plain, const bool *left_out);
/* Remove a row from searches. */
extern void search_remove(Plain *plain, int32 row);
/* Rebuild the index if many rows were removed, to keep searching fast; positions change. */
extern void search_refresh(Plain *plain);
/* Find the cheapest rows to take in, at most this many, the cheapest first; return their number. */
extern int search_cheapest(const Plain *plain, const Wanted *wanted, Offer *found, int most);

#endif
