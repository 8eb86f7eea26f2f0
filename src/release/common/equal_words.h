/*
 * equal_words.h
 *		Sensitive values of a release that print differently and are equal, or cover each
 *		other.
 *
 * A sensitive column is read twice: as words, which are published, and as values, which
 * are compared as the column's type and collation say.
 */
#ifndef KANON_EQUAL_WORDS_H
#define KANON_EQUAL_WORDS_H

#include "base/valuecodes.h"
#include "release/common/input.h"

/* Set which numbers of a COLUMN_VALUE stand for values that cover others, if they are generalized. */
extern void release_find_covering(ReleaseSource *source, ReleaseColumn *values, const ValueCodes *codes);
/*
 * Return, per word of a column, a number that all equal words have, from 0 on without gaps in
 * the order of the words; set their count.
 */
extern int32 *release_equal_words(const ReleaseSource *source, const ReleaseColumn *words,
								  const ReleaseColumn *values, int *count);
/*
 * Raise an error if two of a column's words are equal by their numbers, but have different
 * nodes in its hierarchy; without nodes, every word has its own.
 */
extern void release_refuse_equal_words(const char *column, const char **words, int nwords, const int32 *number,
									   const int32 *node);
/* Raise an error if a value of a column covers another one. */
extern void release_refuse_covering(const ReleaseSource *source, const ReleaseColumn *words,
									const ReleaseColumn *values);

#endif
