/*
 * dictionary.h
 *		The values of one column as small integers, level by level.
 *
 * A dictionary learns a column's values as they come.  Each value gets a code, the code
 * leads to the code of its generalization one level up, and so on to the root.  Reading
 * rows and forming groups deals in codes only; a value is hashed once per row, and
 * generalized once in its life.
 */
#ifndef KANON_DICTIONARY_H
#define KANON_DICTIONARY_H

#include "base/interner.h"
#include "base/settings.h"
#include "hierarchy/dgh.h"

/* The code of NULL at level 0. */
#define NULL_CODE 0

/* The values of one level, numbered by their codes. */
typedef struct DictionaryLevel
{
	int ncodes;
	int capacity;
	Datum *values;	 /* the generalized value of each code, an array of the index; unset for NULL_CODE at level 0 */
	int32 *parent;	 /* the code one level up of each code; unset on the last level */
	Interner *index; /* of the values */
} DictionaryLevel;

typedef struct Dictionary
{
	MemoryContext context; /* owns the dictionary and all values in it */
	MemoryContext work;	   /* reset after each new value */
	Oid type;			   /* the column's type, or the base type of its domain */
	int16 typlen;
	bool typbyval;
	FmgrInfo output;
	PinnedSettings *settings;  /* in force while a value is read or printed; NULL: those of the session */
	Dgh *dgh;				   /* NULL: there is one level above the values, which covers everything */
	int height;				   /* the last level, which has the root only */
	DictionaryLevel *levels;   /* height + 1 of them */
	struct rawindex_hash *raw; /* codes of level 0 by raw value */
} Dictionary;

/*
 * Return a dictionary for a column, in the current memory context; dgh may be NULL.  The
 * settings, those of a view or NULL for the session's, decide on which day a moment is,
 * and how values are spelled.
 */
extern Dictionary *dictionary_create(Oid type, Dgh *dgh, PinnedSettings *settings);
/* Return the code of a raw value at level 0; the dictionary learns new values. */
extern int32 dictionary_code(Dictionary *dictionary, Datum value, bool isnull);

/* Return a raw value, of any type, as a generalized value at level 0, in the current memory context. */
extern Datum dictionary_value(Dictionary *dictionary, Datum value);
/* Return the same from the raw value's text form. */
extern Datum dictionary_read(Dictionary *dictionary, const char *text);
/* Return the value that covers all values of the column. */
extern Datum dictionary_root(const Dictionary *dictionary);

/* Return the code that a code of one level has on a higher level. */
static inline int32
dictionary_climb(const Dictionary *dictionary, int32 code, int from, int to)
{
	Assert(from >= 0 && to <= dictionary->height);
	for (; from < to; from++)
		code = dictionary->levels[from].parent[code];
	return code;
}

#endif
