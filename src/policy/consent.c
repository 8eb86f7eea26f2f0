/*
 * consent.c
 *		Reading the choices that come with a row of the source.
 *
 * A choice that is NULL or negative counts as the strictest one.
 */
#include "base/kanon.h"

#include "policy/consent.h"

#include "aview/aview.h"
#include "source/layout.h"

/* Return true if a boolean choice is true; NULL is not. */
static bool
read_flag(TupleTableSlot *slot, int place)
{
	Assert(place >= 0 && place < slot->tts_nvalid);
	return !slot->tts_isnull[place] && DatumGetBool(slot->tts_values[place]);
}

/* Return true if there are choices for the row; without a column that says so, there are. */
static bool
has_choices(const AView *aview, const RowLayout *layout, TupleTableSlot *slot)
{
	return aview->profile->found < 0 || read_flag(slot, layout->place[aview->profile->found]);
}

/* Return the k that a row asks for, or -1 if it is not to be shown at all. */
int
consent_k(const AView *aview, const RowLayout *layout, TupleTableSlot *slot)
{
	const AViewProfile *profile = aview->profile;
	int place;

	if (profile == NULL || profile->k < 0 || !has_choices(aview, layout, slot))
		return aview->k;
	place = layout->place[profile->k];
	if (slot->tts_isnull[place] || DatumGetInt64(slot->tts_values[place]) < 0)
		return -1;
	return (int) Min(DatumGetInt64(slot->tts_values[place]), PG_INT32_MAX);
}

/* Return how many levels up a sensitive value is to be generalized, at most a height. */
int
consent_level(const AView *aview, const RowLayout *layout, TupleTableSlot *slot, int column, int height)
{
	int place;

	Assert(column >= 0 && column < aview->ncolumns && height >= 0);
	if (aview->columns[column].level < 0 || !has_choices(aview, layout, slot))
		return 0;
	place = layout->place[aview->columns[column].level];
	if (slot->tts_isnull[place] || DatumGetInt64(slot->tts_values[place]) < 0)
		return height;
	return (int) Min(DatumGetInt64(slot->tts_values[place]), height);
}

/* Return true if a column may be shown, and has not expired. */
bool
consent_given(const AView *aview, const RowLayout *layout, TupleTableSlot *slot, int column)
{
	int disclose = aview->columns[column].disclose;
	int retain = aview->columns[column].retain;

	return (disclose < 0 || read_flag(slot, layout->place[disclose])) &&
		   (retain < 0 || read_flag(slot, layout->place[retain]));
}

/* Add a column to a set, unless it is -1 for none. */
static Bitmapset *
consent_add_column(Bitmapset *columns, int column)
{
	return column < 0 ? columns : bms_add_member(columns, column);
}

/* Add the choices about a whole row. */
Bitmapset *
consent_add_profile(const AView *aview, Bitmapset *columns)
{
	if (aview->profile == NULL)
		return columns;
	columns = consent_add_column(columns, aview->profile->found);
	return consent_add_column(columns, aview->profile->k);
}

/* Add the choices about showing the columns in the set. */
Bitmapset *
consent_add_permissions(const AView *aview, Bitmapset *columns)
{
	Bitmapset *choices = NULL;
	int column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
	{
		choices = consent_add_column(choices, aview->columns[column].disclose);
		choices = consent_add_column(choices, aview->columns[column].retain);
	}
	return bms_add_members(columns, choices);
}

/* Add the choices about showing and generalizing the columns in the set. */
Bitmapset *
consent_add_choices(const AView *aview, Bitmapset *columns)
{
	Bitmapset *choices = NULL;
	int column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		choices = consent_add_column(choices, aview->columns[column].level);
	return bms_add_members(consent_add_permissions(aview, columns), choices);
}
