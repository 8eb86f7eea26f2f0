/*
 * order.h
 *		The values of a column, one behind the other.
 *
 * Numbers come first, then dates, the leaves of the column's tree in their order,
 * the codes of a prefix hierarchy and all other words by their bytes, and NULL.
 * So what lies between two values of a hierarchy has a small value that covers it.
 */
#ifndef KANON_ORDER_H
#define KANON_ORDER_H

#include "hierarchy/generalized.h"
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

/* May a value lie between two of this sort, and be covered by what covers them? */
#define SORT_IS_DENSE(sort) ((sort) <= SORT_LEAF)

/* Zero stands for NULL. */
extern void order_value(const Dictionary *dictionary, Datum value, OrderedValue *result);
extern int order_compare(const OrderedValue *a, const OrderedValue *b);
extern bool order_is_known(const Dictionary *dictionary);

/* The smallest value that covers all from lo to hi, hi itself included or not. */
extern Datum order_cover(const Dictionary *dictionary, const OrderedValue *lo, const OrderedValue *hi, bool open);

#endif
