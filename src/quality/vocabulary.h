/*
 * vocabulary.h
 *		The values that a column may have, as an attacker knows them.
 *
 * Of a tree these are its leaves; of intervals and dates, all whole numbers and all days
 * in the highest intervals that occur; of anything else, the values that occur.  Real
 * numbers cannot be listed: there the intervals of the lowest level stand for them, and
 * so they do where a list would be too long.
 *
 * Values are in such an order that each cell of a recoding holds a range of them.
 */
#ifndef KANON_VOCABULARY_H
#define KANON_VOCABULARY_H

#include "recode/dictionary.h"
#include "recode/order.h"
#include "recode/recode.h"

/* A range of a vocabulary: from lo to before hi. */
typedef struct ValueRange
{
	int32 lo;
	int32 hi;
} ValueRange;

typedef struct Vocabulary
{
	Dictionary *dictionary; /* not owned; has learned the listed values */
	int unit;				/* the level of the values; of lower levels the vocabulary knows nothing */
	bool exact;				/* they are single values, all that the column may have */
	int count;
	int32 *codes;		  /* of the values, at level unit */
	ValueRange **ranges;  /* of a chain: by level, from unit on, and code */
	OrderedValue *values; /* of a tree of boxes: the values in order */
} Vocabulary;

/*
 * Return the vocabulary of a recoder's column, all of whose rows the dictionary has learned,
 * in the current memory context; with_null: NULL occurs.
 */
extern Vocabulary *vocabulary_create(const Recoder *recoder, int column, bool with_null);

/* Return the values of a column that the cell of a place holds at a step; none, if it is finer than the values. */
extern ValueRange vocabulary_range(const Vocabulary *vocabulary, const Recoder *recoder, int step,
								   const int32 *place, int column);

/* Return a value as a generalized one; 0 for NULL. */
extern Datum vocabulary_value(const Vocabulary *vocabulary, int index);

#endif
