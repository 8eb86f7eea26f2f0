/*
 * equal_words.c
 *		Sensitive values of a release that print differently and are equal, or cover each
 *		other.
 *
 * Two words are one value if their column calls them equal, such as 100 and 100.0; and two
 * values are one if they print alike, since the words are what is published.
 */
#include "base/kanon.h"

#include "release/common/equal_words.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "base/extension.h"
#include "base/interner.h"
#include "base/valuecodes.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "release/common/input.h"

/* Return true if a value covers another one of the same column. */
static bool
covers_any(const ValueCodes *codes, Datum value)
{
	GenView view;

	gen_view(value, &view);
	for (int32 i = 0; i < codes->values->count && !gen_is_itself(&view); i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (dgh_covers(NULL, value, interner_datum(codes->values, i)))
			return true;
	}
	return false;
}

/* Set which numbers of a column stand for values that cover others. */
void
release_find_covering(ReleaseSource *source, ReleaseColumn *values, const ValueCodes *codes)
{
	values->nwords = codes->values->count;
	if (getBaseType(values->type) != kanon_generalized_type())
		return;
	values->covering = MemoryContextAlloc(source->context, Max(values->nwords, 1) * sizeof(bool));
	for (int32 i = 0; i < values->nwords; i++)
		values->covering[i] = covers_any(codes, interner_datum(codes->values, i));
}

/* Return the first number of all numbers that are joined with one: union-find with halved paths. */
static int32
first_of(int32 *joined, int32 number)
{
	while (joined[number] != number)
		number = joined[number] = joined[joined[number]];
	return number;
}

/*
 * Set, per word, one of its values, or -1 if no row has the word; return, per number of a
 * value, the number that leads to the first of all values that are one with it.
 */
static int32 *
join_values(const ReleaseSource *source, const ReleaseColumn *words, const ReleaseColumn *values, int32 *of_word)
{
	int32 *joined = palloc_extended(Max(values->nwords, 1) * sizeof(int32), MCXT_ALLOC_HUGE);

	for (int32 i = 0; i < values->nwords; i++)
		joined[i] = i;
	for (int32 i = 0; i < words->nwords; i++)
		of_word[i] = -1;
	for (int row = 0; row < source->nown; row++)
	{
		int32 value;
		int32 word;

		if (isnan(values->values[row]) || isnan(words->values[row]))
			continue;
		value = (int32) values->values[row];
		word = (int32) words->values[row];
		Assert(value < values->nwords && word < words->nwords);
		if (of_word[word] >= 0)
			joined[first_of(joined, value)] = first_of(joined, of_word[word]);
		of_word[word] = value;
	}
	return joined;
}

/* Return, per word of a column, a number that all equal words have, in the order of the words. */
int32 *
release_equal_words(const ReleaseSource *source, const ReleaseColumn *words, const ReleaseColumn *values, int *count)
{
	int32 *result = palloc_extended(Max(words->nwords, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
	int32 *joined = join_values(source, words, values, result);
	int32 *number_of = palloc_extended(Max(values->nwords, 1) * sizeof(int32), MCXT_ALLOC_HUGE);

	*count = 0;
	for (int32 i = 0; i < values->nwords; i++)
		number_of[i] = -1;
	for (int32 i = 0; i < words->nwords; i++)
	{
		int32 *number = result[i] < 0 ? NULL : &number_of[first_of(joined, result[i])];

		if (number == NULL || *number < 0)
			result[i] = (*count)++;
		else
			result[i] = *number;
		if (number)
			*number = result[i];
	}
	pfree(joined);
	pfree(number_of);
	return result;
}

/* Raise an error if two words are equal, but have different nodes in a hierarchy. */
void
release_refuse_equal_words(const char *column, const char **words, int nwords, const int32 *number, const int32 *node)
{
	int32 *first = palloc_extended(Max(nwords, 1) * sizeof(int32), MCXT_ALLOC_HUGE);

	for (int32 i = 0; i < nwords; i++)
		first[i] = -1;
	for (int32 i = 0; i < nwords; i++)
	{
		int32 other = first[number[i]];

		Assert(number[i] >= 0 && number[i] < nwords);
		first[number[i]] = i;
		if (other >= 0 && (node == NULL || node[other] != node[i]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the values \"%s\" and \"%s\" of column \"%s\" are equal, but not in its hierarchy",
							words[other], words[i], column),
					 errhint("Spell equal values alike in the source.")));
	}
	pfree(first);
}

/* Raise an error for a word that covers another one. */
static void
refuse_word(const ReleaseColumn *words, int32 word)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the value \"%s\" covers other values of column \"%s\"", words->words[word], words->name),
			 errdetail("Its row may have any of these values."),
			 errhint("Leave such rows out of the source.")));
}

/* Return the values of the words that rows of the source have in the column's hierarchy; 0 for other words. */
static Datum *
resolve_words(const ReleaseSource *source, const ReleaseColumn *words)
{
	Datum *resolved = palloc_extended(Max(words->nwords, 1) * sizeof(Datum), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (int row = 0; row < source->nown; row++)
	{
		int32 word = isnan(words->values[row]) ? -1 : (int32) words->values[row];

		if (word >= 0 && resolved[word] == (Datum) 0)
			resolved[word] = dgh_resolve(words->dgh, gen_label(words->words[word], strlen(words->words[word]), 0));
	}
	return resolved;
}

/* Raise an error if a word covers another one in the column's hierarchy. */
static void
refuse_inner_words(const ReleaseSource *source, const ReleaseColumn *words)
{
	Datum *resolved = resolve_words(source, words);

	for (int32 word = 0; word < words->nwords; word++)
	{
		GenView view;

		if (resolved[word] == (Datum) 0)
			continue;
		gen_view(resolved[word], &view);
		for (int32 other = 0; other < words->nwords && !gen_is_itself(&view); other++)
		{
			CHECK_FOR_INTERRUPTS();
			if (resolved[other] != (Datum) 0 && dgh_covers(words->dgh, resolved[word], resolved[other]))
				refuse_word(words, word);
		}
	}
}

/* Raise an error if a value of a column covers another one. */
void
release_refuse_covering(const ReleaseSource *source, const ReleaseColumn *words, const ReleaseColumn *values)
{
	if (words->dgh)
		refuse_inner_words(source, words);
	for (int row = 0; row < source->nown && values->covering; row++)
	{
		if (!isnan(values->values[row]) && values->covering[(int32) values->values[row]])
			refuse_word(words, (int32) words->values[row]);
	}
}
