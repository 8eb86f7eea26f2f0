/*
 * histogram.h
 *		Classes of equal rows, with the counts that the privacy predicate needs.
 */
#ifndef KANON_HISTOGRAM_H
#define KANON_HISTOGRAM_H

#include "recode/recode.h"

/* A set of keys in ascending order, each with a count. */
typedef struct Bag
{
	int size; /* keys in the bag */
	int room; /* keys that fit into the arrays */
	uint64 *keys;
	int64 *counts; /* NULL: the bag only says which keys are present */
} Bag;

/*
 * Classes are numbered from 0 in the order in which they are first seen.  All arrays
 * have room for capacity classes and belong to the histogram's context.
 */
typedef struct Histogram
{
	MemoryContext context;
	Recoder *recoder; /* not owned */
	int nclasses;
	int capacity;
	int32 *codes; /* ncolumns per class, at level 0 */
	struct classindex_hash *index;
	Cell **cells; /* the cell in which a class is published, NULL until it is */
	int *leaders; /* per unpublished class: the class that has the counts of its group; set by recode() */

	/* All are NULL in a histogram that only tells classes apart. */
	int64 *rows;
	int *k;			  /* the largest k that a row of the class asks for; NULL: the recoder's k holds for all */
	Bag *visible;	  /* the sets of columns that the rows' owners let be seen; NULL: all columns are seen */
	Bag *individuals; /* hashes of identifiers; NULL: each row is an individual of its own */
	Bag *sensitive;	  /* nsensitive bags of codes per class; NULL: t is not asked for */

	struct Diversity *diverse; /* values of people, nsensitive per class; NULL: l is not asked for */

	const int32 *wanted; /* the codes that the lookup under way compares with */
} Histogram;

/* A row, or a number of rows that agree in all of this, in codes. */
typedef struct RecodeRow
{
	int64 rows; /* how many rows */
	int32 *codes;
	int k;			   /* below 2: the row is in no group; below 0: it is not shown at all */
	uint64 visible;	   /* a bit for each column that the row's owner lets be seen */
	uint64 individual; /* a hash of the identifiers */
	bool identified;   /* no identifier is missing; otherwise the row adds no individual */
	int32 *sensitive;  /* nsensitive codes, for t */
	int32 *values;	   /* nsensitive values, for l; NO_VALUE: none */
} RecodeRow;

/* Return an empty histogram in the current memory context; without counting, it only tells classes apart. */
extern Histogram *histogram_create(Recoder *recoder, bool counting);
/* Return the class that has these codes, or -1. */
extern int histogram_find(Histogram *histogram, const int32 *codes);
/* Return the class that has these codes, after adding it if it is new. */
extern int histogram_class(Histogram *histogram, const int32 *codes);
/* Count a row, and return its class. */
extern int histogram_add(Histogram *histogram, const RecodeRow *row);
/* Add a class of another histogram of the same recoder, with its counts and bags. */
extern void histogram_take(Histogram *histogram, const Histogram *other, int class);

/* Return true to end histogram_test(). */
typedef bool (*ClassTest)(void *arg, const int32 *codes);
/*
 * Call a function with the codes of a class as the rows' owners let them be seen, once
 * for each set of visible columns, until it returns true; return true if it did.
 */
extern bool histogram_test(const Histogram *histogram, int class, ClassTest test, void *arg);

/*
 * Add the keys of another bag, with their counts; new keys only while the bag has fewer than
 * limit keys, if limit is not 0.  The bag's arrays live in the current memory context.
 */
extern void bag_merge(Bag *bag, const Bag *other, int limit);

/* Print a histogram and its first classes to the server's standard error, for a debugger. */
extern void histogram_dump(const Histogram *histogram);

#endif
