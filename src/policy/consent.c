/*
 * consent.c
 *		Reading the choices that come with a row of the source.
 */
#include "base/kanon.h"

#include "policy/consent.h"

#include "aview/aview.h"
#include "source/layout.h"

static bool
read_flag(TupleTableSlot *slot, int place)
{
	return !slot->tts_isnull[place] && DatumGetBool(slot->tts_values[place]);
}

/* Are there choices for the row?  Without a column that says so, there are. */
static bool
has_choices(const AView *aview, const RowLayout *layout, TupleTableSlot *slot)
{
	return aview->profile->found < 0 || read_flag(slot, layout->place[aview->profile->found]);
}

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

int
consent_level(const AView *aview, const RowLayout *layout, TupleTableSlot *slot, int column, int height)
{
	int place;

	if (aview->columns[column].level < 0 || !has_choices(aview, layout, slot))
		return 0;
	place = layout->place[aview->columns[column].level];
	if (slot->tts_isnull[place] || DatumGetInt64(slot->tts_values[place]) < 0)
		return height;
	return (int) Min(DatumGetInt64(slot->tts_values[place]), height);
}

bool
consent_given(const AView *aview, const RowLayout *layout, TupleTableSlot *slot, int column)
{
	int disclose = aview->columns[column].disclose;
	int retain = aview->columns[column].retain;

	return (disclose < 0 || read_flag(slot, layout->place[disclose])) && (retain < 0 || read_flag(slot, layout->place[retain]));
}

static Bitmapset *
add_column(Bitmapset *columns, int column)
{
	return column < 0 ? columns : bms_add_member(columns, column);
}

Bitmapset *
consent_add_profile(const AView *aview, Bitmapset *columns)
{
	if (aview->profile == NULL)
		return columns;
	columns = add_column(columns, aview->profile->found);
	return add_column(columns, aview->profile->k);
}

Bitmapset *
consent_add_permissions(const AView *aview, Bitmapset *columns)
{
	Bitmapset *choices = NULL;
	int column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
	{
		choices = add_column(choices, aview->columns[column].disclose);
		choices = add_column(choices, aview->columns[column].retain);
	}
	return bms_add_members(columns, choices);
}

Bitmapset *
consent_add_choices(const AView *aview, Bitmapset *columns)
{
	Bitmapset *choices = NULL;
	int column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		choices = add_column(choices, aview->columns[column].level);
	return bms_add_members(consent_add_permissions(aview, columns), choices);
}
