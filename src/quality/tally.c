/*
 * tally.c
 *		Classes of rows, by their raw and by their published quasi-identifiers.
 *
 * Values become codes, and classes tuples of codes, so that a row costs a few lookups.
 * Memory grows with the number of different rows, and of people where a person may have
 * several rows.
 */
#include "base/kanon.h"

#include "quality/quality.h"

#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "aview/aview.h"
#include "aview/sameness.h"
#include "base/extension.h"
#include "base/interner.h"
#include "base/valuecodes.h"
#include "recode/dictionary.h"
#include "recode/ldiversity.h"

/* How the published values of a sensitive column are counted. */
struct TallySensitive
{
	const AViewColumn *definition;
	int column;
	Dictionary *dictionary; /* of published values, if they are generalized; else NULL */
	ValueCodes *equal;		/* of values, where codes of the dictionary do not tell which are equal; else NULL */
	DiversityRule rule;
};

/* Create a dictionary for each column with one of two roles, of its published or of its raw values. */
static Dictionary **
tally_dictionaries(const AView *aview, ColumnRole first, ColumnRole second, bool published)
{
	Dictionary **result = palloc0(Max(aview->ncolumns, 1) * sizeof(Dictionary *));

	for (int i = 0; i < aview->ncolumns; i++)
	{
		AViewColumn *column = &aview->columns[i];

		if (column->role == first || column->role == second)
			result[i] = published ? dictionary_create(kanon_generalized_type(), NULL, NULL)
								  : dictionary_create(column->source_type, column->dgh, aview->settings);
	}
	return result;
}

/* Create codes for the values of each identifier. */
static ValueCodes **
tally_ids(const AView *aview)
{
	ValueCodes **result = palloc0(Max(aview->ncolumns, 1) * sizeof(ValueCodes *));

	for (int i = 0; i < aview->ncolumns; i++)
	{
		const AViewColumn *column = &aview->columns[i];

		if (column->role == ROLE_ID)
			result[i] = valuecodes_create_for_any(getBaseType(column->source_type), column->source_collation);
	}
	return result;
}

/* Set how the published values of sensitive columns are counted. */
static void
list_sensitive(Tally *tally)
{
	const AView *aview = tally->aview;

	tally->sensitive = palloc0(Max(aview->ncolumns, 1) * sizeof(struct TallySensitive));
	for (int i = 0; i < aview->ncolumns; i++)
	{
		struct TallySensitive *sensitive = &tally->sensitive[tally->nsensitive];

		if (aview->columns[i].role != ROLE_SENSITIVE)
			continue;
		tally->nsensitive++;
		sensitive->definition = &aview->columns[i];
		sensitive->column = i;
		sensitive->rule.context = CurrentMemoryContext;
		sensitive->rule.people = !tally->count_rows;
		sensitive->equal = sameness_create(&aview->columns[i]);
		if (values_may_cover(&aview->columns[i]))
			sensitive->rule.dictionary = sensitive->dictionary =
				dictionary_create(kanon_generalized_type(), aview->columns[i].dgh, aview->settings);
		else if (sensitive->equal == NULL)
			sensitive->equal = valuecodes_create_for_any(getBaseType(aview->columns[i].source_type),
														 aview->columns[i].source_collation);
	}
}

/* Return the number of columns that are identifiers. */
static int
count_id_columns(const AView *aview)
{
	int count = 0;

	for (int i = 0; i < aview->ncolumns; i++)
		count += aview->columns[i].role == ROLE_ID;
	return count;
}

/* Create an empty tally. */
Tally *
tally_create(const AView *aview)
{
	Tally *tally = palloc0(sizeof(Tally));
	int columns = Max(aview->ncolumns, 1);

	tally->aview = aview;
	tally->count_rows = aview_counts_rows(aview);
	tally->raw = tally_dictionaries(aview, ROLE_QUASI, ROLE_SENSITIVE, false);
	tally->raw_rows = palloc0(columns * sizeof(int64 *));
	tally->raw_room = palloc0(columns * sizeof(int));
	tally->shown = tally_dictionaries(aview, ROLE_QUASI, ROLE_QUASI, true);
	tally->ids = tally_ids(aview);
	list_sensitive(tally);
	tally->raw_index = interner_create_tuples(CurrentMemoryContext, aview->nquasi);
	tally->raw_classes = palloc(tally->raw_index->room * sizeof(RawClass));
	tally->shown_index = interner_create_tuples(CurrentMemoryContext, aview->nquasi + 1);
	tally->shown_classes = palloc(tally->shown_index->room * sizeof(ShownClass));
	tally->people = interner_create_tuples(CurrentMemoryContext, count_id_columns(aview));
	tally->memberships = interner_create_tuples(CurrentMemoryContext, 2);
	tally->codes = palloc0((columns + 1) * sizeof(int32));
	return tally;
}

/* Count a row for a raw value of a column, given by its code. */
static void
tally_value(Tally *tally, int column, int32 code)
{
	Assert(code >= 0);
	if (code >= tally->raw_room[column])
	{
		int room = Max(64, 2 * code);
		int64 *old = tally->raw_rows[column];

		tally->raw_rows[column] = MemoryContextAllocExtended(tally->raw_index->context, room * sizeof(int64),
															 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		if (old)
		{
			memcpy(tally->raw_rows[column], old, tally->raw_room[column] * sizeof(int64));
			pfree(old);
		}
		tally->raw_room[column] = room;
	}
	tally->raw_rows[column][code]++;
}

/*
 * Return the number of the person that a row is about, or -1 if an identifier is missing: the
 * row may be about any person.  It is the row's own number if each row is a person.  In that
 * case numbers repeat after 2^31 rows, and two rows of one class are taken for one person only
 * if they are exactly so many rows apart.
 */
static int32
find_person(Tally *tally, const Pair *pair)
{
	const AView *aview = tally->aview;
	int count = 0;
	bool found;

	if (tally->count_rows)
		return (int32) (tally->nrows & PG_INT32_MAX);
	for (int i = 0; i < aview->ncolumns; i++)
	{
		int raw = aview->ncolumns + i;

		if (tally->ids[i])
		{
			if (pair->nulls[raw])
				return -1;
			tally->codes[count++] = valuecodes_code(tally->ids[i], pair->values[raw], false);
		}
	}
	return interner_code(tally->people, tally->codes, &found);
}

/* Return the raw class of a row, and note whether it has more than one person. */
static int32
find_raw_class(Tally *tally, const Pair *pair, int32 person)
{
	const AView *aview = tally->aview;
	Interner *index = tally->raw_index;
	int room = index->room;
	int32 number;
	bool found;

	for (int i = 0; i < aview->nquasi; i++)
	{
		int column = aview->quasi[i];
		int raw = aview->ncolumns + column;

		tally->codes[i] = dictionary_code(tally->raw[column], pair->values[raw], pair->nulls[raw]);
		tally_value(tally, column, tally->codes[i]);
	}
	number = interner_code(index, tally->codes, &found);
	if (room != index->room)
		tally->raw_classes = repalloc_huge(tally->raw_classes, index->room * sizeof(RawClass));
	if (!found)
		tally->raw_classes[number] = (RawClass){.person = person, .shown = -1};
	else if (tally->raw_classes[number].person < 0)
		tally->raw_classes[number].person = person;
	else if (person >= 0 && tally->raw_classes[number].person != person)
		tally->raw_classes[number].crowd = true;
	return number;
}

/* Return the shown class of a row. */
static int32
find_shown_class(Tally *tally, const Pair *pair)
{
	const AView *aview = tally->aview;
	Interner *index = tally->shown_index;
	int room = index->room;
	int32 number;
	bool found;

	tally->codes[0] = pair->fate;
	for (int i = 0; i < aview->nquasi; i++)
	{
		int column = aview->quasi[i];

		tally->codes[i + 1] = dictionary_code(tally->shown[column], pair->values[column], pair->nulls[column]);
	}
	number = interner_code(index, tally->codes, &found);
	if (room != index->room)
		tally->shown_classes = repalloc_huge(tally->shown_classes, index->room * sizeof(ShownClass));
	if (!found)
		tally->shown_classes[number] = (ShownClass){
			.diverse = palloc0(Max(tally->nsensitive, 1) * sizeof(Diversity))};
	return number;
}

/* Count the published sensitive values of a person's row for its shown class. */
static void
tally_diverse(Tally *tally, const Pair *pair, ShownClass *class, int32 person)
{
	for (int i = 0; i < tally->nsensitive; i++)
	{
		struct TallySensitive *sensitive = &tally->sensitive[i];
		int32 value;

		if (pair->nulls[sensitive->column])
			continue;
		if (sensitive->dictionary == NULL)
			value = valuecodes_code(sensitive->equal, pair->values[sensitive->column], false);
		else
			value = dictionary_code(sensitive->dictionary, pair->values[sensitive->column], false);
		/* Of a generalized value, the raw one says nothing; only labels can be compared. */
		if (sensitive->dictionary && sensitive->equal)
			sameness_learn(sensitive->definition, sensitive->equal, &sensitive->rule, value, 1, (Datum) 0);
		diversity_add(&sensitive->rule, tally->raw_index->context, &class->diverse[i], value, person);
	}
}

/* Count the sensitive values of a row. */
static void
tally_sensitive(Tally *tally, const Pair *pair)
{
	const AView *aview = tally->aview;

	for (int column = 0; column < aview->ncolumns; column++)
	{
		int raw = aview->ncolumns + column;

		if (aview->columns[column].role == ROLE_SENSITIVE)
			tally_value(tally, column, dictionary_code(tally->raw[column], pair->values[raw], pair->nulls[raw]));
	}
}

/* Add a row to its classes, and return its shown class. */
int
tally_add(Tally *tally, const Pair *pair)
{
	MemoryContext old = MemoryContextSwitchTo(tally->raw_index->context);
	int32 person = find_person(tally, pair);
	int32 raw = find_raw_class(tally, pair, person);
	int32 shown = find_shown_class(tally, pair);
	int32 membership[2] = {shown, person};
	ShownClass *class = &tally->shown_classes[shown];
	bool known = person < 0;

	tally->nrows++;
	class->rows++;
	class->k += Max(pair->k, 1);
	if (!tally->count_rows && person >= 0)
		interner_code(tally->memberships, membership, &known);
	class->people += !known;
	if (person >= 0 && pair->fate != FATE_SUPPRESSED)
		tally_diverse(tally, pair, class, person);
	if (tally->raw_classes[raw].shown < 0)
		tally->raw_classes[raw].shown = shown;
	tally_sensitive(tally, pair);
	MemoryContextSwitchTo(old);
	return shown;
}

/* Return the fate of the rows of a shown class: the first code of its tuple. */
Fate
tally_fate(const Tally *tally, int class)
{
	return (Fate) interner_tuple(tally->shown_index, class)[0];
}

/* Return the codes of a shown class's quasi-identifiers. */
const int32 *
tally_shown_codes(const Tally *tally, int class)
{
	return interner_tuple(tally->shown_index, class) + 1;
}

/* Return how many different values of different people a shown class has in a sensitive column. */
int
tally_diversity(const Tally *tally, int class, int index)
{
	Assert(index >= 0 && index < tally->nsensitive);
	return diversity_count(&tally->sensitive[index].rule, &tally->shown_classes[class].diverse[index]);
}

/* Count the raw classes that each shown class is made of; and a person for each class without an identified person. */
void
tally_finish(Tally *tally)
{
	for (int i = 0; i < tally->shown_index->count; i++)
		tally->shown_classes[i].people = Max(tally->shown_classes[i].people, 1);
	for (int i = 0; i < tally->raw_index->count; i++)
	{
		ShownClass *class = &tally->shown_classes[tally->raw_classes[i].shown];

		Assert(tally->raw_classes[i].shown >= 0 && tally->raw_classes[i].shown < tally->shown_index->count);
		class->raw_classes++;
		class->raw_alone += !tally->raw_classes[i].crowd;
	}
}
