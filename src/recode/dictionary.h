/*
 * dictionary.h
 *		The values of one column as small integers, level by level.
 *
 * A dictionary learns a column's values as they come.  Each gets a code, the
 * code leads to the code of its generalization one level up, and so on to the
 * root.  What reads rows and builds groups deals in codes only; a value is
 * hashed once per row, and generalized once in its life.
 */
#ifndef KANON_DICTIONARY_H
#define KANON_DICTIONARY_H

#include "base/interner.h"
#include "hierarchy/dgh.h"

/* The code of NULL at level 0. */
#define NULL_CODE 0

typedef struct DictionaryLevel
{
	int ncodes;
	int capacity;
	Datum *values; /* generalized; unset for NULL_CODE at level 0 */
	int32 *parent; /* code one level up; not on the last level */
	Interner *index; /* of the values, whose array is its own */
} DictionaryLevel;

typedef struct Dictionary
{
	MemoryContext context;
	MemoryContext work; /* reset after each new value */
	Oid type;
	int16 typlen;
	bool typbyval;
	FmgrInfo output;
	Dgh *dgh; /* null: a value, or everything */
	int height;
	DictionaryLevel *levels; /* height + 1 of them */
	struct rawindex_hash *raw;
} Dictionary;

extern Dictionary *dictionary_create(Oid type, Dgh *dgh);
extern int32 dictionary_code(Dictionary *dictionary, Datum value, bool isnull);

/* A raw value as a generalized one at level 0, whatever its type. */
extern Datum dictionary_value(Dictionary *dictionary, Datum value);
extern Datum dictionary_read(Dictionary *dictionary, const char *text);
/* What covers all values of the column. */
extern Datum dictionary_root(const Dictionary *dictionary);

/* The code that a code of one level has on a higher one. */
static inline int32
dictionary_climb(const Dictionary *dictionary, int32 code, int from, int to)
{
	for (; from < to; from++)
		code = dictionary->levels[from].parent[code];
	return code;
}

#endif
