/*
 * order.h
 *		The values of a column in one order, and the values that cover two of them.
 *
 * Numbers come first, then dates, the leaves of the column's tree in their order, the
 * codes of a prefix hierarchy and all other words by their bytes, and NULL.  So the values
 * between two values of a hierarchy have a small value that covers them all.
 */
#ifndef KANON_ORDER_H
#define KANON_ORDER_H

#include "hierarchy/generalized.h"
#include "recode/dictionary.h"

/* The sorts of values, in their order. */
typedef enum ValueSort
{
	SORT_NUMBER,
	SORT_DATE,
	SORT_LEAF,
	SORT_CODE, /* of a prefix hierarchy */
	SORT_WORD,
	SORT_NULL
} ValueSort;

/* A value at level 0, ready to be compared. */
typedef struct OrderedValue
{
	ValueSort sort;
	Datum value;	  /* not owned; 0: NULL */
	GenView view;	  /* the value taken apart; it points into the value */
	const char *text; /* SORT_CODE, SORT_WORD */
	int len;		  /* of text */
} OrderedValue;

/* True for sorts of which a value between two others is covered by the value that covers these two. */
#define SORT_IS_DENSE(sort) ((sort) <= SORT_LEAF)

/* Set up a value for order_compare(); zero stands for NULL. */
extern void order_value(const Dictionary *dictionary, Datum value, OrderedValue *result);
/* Return a negative number, zero or a positive number, as a is less than, equal to or greater than b. */
extern int order_compare(const OrderedValue *a, const OrderedValue *b);
/* Return true if the column's values have an order that tells them apart. */
extern bool order_is_known(const Dictionary *dictionary);

/* Return the smallest value that covers all values from lo to hi, hi itself included or not. */
extern Datum order_cover(const Dictionary *dictionary, const OrderedValue *lo, const OrderedValue *hi, bool open);

#endif
