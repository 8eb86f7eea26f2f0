/*
 * order.h
 *		The values of a column, one behind the other.
 *
 * Numbers come first, then dates, the leaves of the column's tree in their order,
 * the codes of a prefix hierarchy and all other words by their bytes, and NULL.
 * Values that are next to each other so have little in common to cover them:
 * what lies between two of one sort has a smallest value that covers it.
 */
#ifndef KANON_ORDER_H
#define KANON_ORDER_H

#include "recode/dictionary.h"

typedef enum ValueSort
{
	SORT_NUMBER,
	SORT_DATE,
	SORT_LEAF,
	SORT_CODE, /* of a prefix hierarchy */
	SORT_WORD,
	SORT_NULL
} ValueSort;

/* A value at level 0.  It refers to the value that it was made from. */
typedef struct OrderedValue
{
	ValueSort sort;
	Datum value; /* unset: NULL */
	GenView view;
	const char *text;
	int len;
} OrderedValue;

/* Is there no gap between two values of a sort that are next to each other among those of a column? */
#define SORT_IS_DENSE(sort) ((sort) <= SORT_LEAF)

/* Zero stands for NULL. */
extern void order_value(const Dictionary *dictionary, Datum value, OrderedValue *result);
extern int order_compare(const OrderedValue *a, const OrderedValue *b);
extern bool order_is_known(const Dictionary *dictionary);

/* The smallest value that covers all from lo to hi, hi itself included or not. */
extern Datum order_cover(const Dictionary *dictionary, const OrderedValue *lo, const OrderedValue *hi, bool open);

#endif
