/*
 * check.c
 *		Checking stored groups against the view's privacy predicate.
 *
 * A group that only grows still satisfies k and l.  A group that has lost a member is
 * counted again.  t compares each group with all rows, so that any change may break
 * it in any group: all groups of such a view are checked after every change.
 */
#include "base/kanon.h"

#include "matview/check.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "anonymize/anonymizer.h"
#include "aview/aview.h"
#include "matview/tables.h"
#include "recode/histogram.h"
#include "recode/privacy.h"
#include "recode/recode.h"

/* The sensitive values of a group's published members, in codes. */
typedef struct GroupTally
{
	Stored *stored;
	const Recoder *recoder; /* knows the privacy predicate to be checked */
	Anonymizer *anonymizer; /* codes members */
	TupleTableSlot *slot;
	int64 published; /* members of the group */
	int64 rows;		 /* members tallied so far */
	int64 room;
	uint64 **codes; /* by sensitive column, then member */
} GroupTally;

/* Set the slot to the columns of the source in a row of members_N. */
static void
read_tallied_member(Stored *stored, HeapTuple member, TupleTableSlot *slot)
{
	TupleDesc desc = RelationGetDescr(stored->members);
	Datum *values = palloc(desc->natts * sizeof(Datum));
	bool *nulls = palloc(desc->natts * sizeof(bool));

	heap_deform_tuple(member, desc, values, nulls);
	ExecClearTuple(slot);
	memcpy(slot->tts_values, values + Anum_members_first - 1, slot->tts_tupleDescriptor->natts * sizeof(Datum));
	memcpy(slot->tts_isnull, nulls + Anum_members_first - 1, slot->tts_tupleDescriptor->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
}

/* Add a member to the tally, if it is published: a MemberVisitor. */
static bool
tally_member(void *arg, HeapTuple member)
{
	GroupTally *tally = arg;
	const Recoder *recoder = tally->recoder;

	if (!stored_is_published(tally->stored, member, tally->published))
		return true;
	read_tallied_member(tally->stored, member, tally->slot);
	(void) anonymizer_read(tally->anonymizer, anonymizer_layout(tally->anonymizer), tally->slot, true);
	if (tally->rows == tally->room)
	{
		tally->room = Max(64, 2 * tally->room);
		for (int i = 0; i < recoder->nsensitive; i++)
			tally->codes[i] = tally->rows > 0 ? repalloc_huge(tally->codes[i], tally->room * sizeof(uint64))
											  : palloc(tally->room * sizeof(uint64));
	}
	Assert(tally->rows < tally->room);
	for (int i = 0; i < recoder->nsensitive; i++)
		tally->codes[i][tally->rows] = anonymizer_row(tally->anonymizer)->sensitive[i];
	tally->rows++;
	return true;
}

/* Compare codes for qsort(). */
static int
compare_tallied_codes(const void *a, const void *b)
{
	uint64 left = *(const uint64 *) a;
	uint64 right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

/* Sort some codes, and make a bag of them: each code once, with its count. */
static void
make_bag(Bag *bag, uint64 *codes, int64 count)
{
	qsort(codes, count, sizeof(uint64), compare_tallied_codes);
	bag->keys = palloc(Max(count, 1) * sizeof(uint64));
	bag->counts = palloc0(Max(count, 1) * sizeof(int64));
	bag->size = 0;
	for (int64 i = 0; i < count; i++)
	{
		if (i == 0 || codes[i] != codes[i - 1])
			bag->keys[bag->size++] = codes[i];
		bag->counts[bag->size - 1]++;
	}
}

/* Return true if a group satisfies the privacy predicate of a recoder. */
static bool
tally_holds(Stored *stored, Anonymizer *anonymizer, const Recoder *recoder, const StoredGroup *group)
{
	Bag *bags = palloc0(Max(recoder->nsensitive, 1) * sizeof(Bag));
	GroupTally tally = {
		.stored = stored, .recoder = recoder, .anonymizer = anonymizer, .published = stored_published(stored, group)};
	/* Where members have a k of their own, the published ones are as many as each of them asks for. */
	int k = stored->keeper->personal ? 1 : recoder->k;

	if (group->key == NULL)
		return group->members > 0;
	if (recoder->nsensitive == 0)
		return privacy_holds(recoder, k, tally.published, NULL);
	tally.slot = MakeSingleTupleTableSlot(stored->keeper->row, &TTSOpsVirtual);
	tally.codes = palloc0(recoder->nsensitive * sizeof(uint64 *));
	stored_visit_members(stored, group->id, tally_member, &tally);
	for (int i = 0; i < recoder->nsensitive; i++)
		make_bag(&bags[i], tally.codes[i], tally.rows);
	ExecDropSingleTupleTableSlot(tally.slot);
	return privacy_holds(recoder, k, tally.published, bags);
}

/* Return true if a group satisfies k and l; but not t, which depends on all groups. */
bool
group_holds(Stored *stored, const StoredGroup *group)
{
	Recoder recoder = *stored->keeper->recoder;

	recoder.t = 0;
	return tally_holds(stored, stored->keeper->anonymizer, &recoder, group);
}

/* Create an anonymizer that knows the distributions over all members, also members that wait. */
static Anonymizer *
learn_distributions(Stored *stored)
{
	AView *aview = stored->keeper->rows;
	Anonymizer *anonymizer = anonymizer_create(aview, bms_add_range(NULL, 0, aview->nkeyed - 1), InvalidSnapshot);
	Histogram *histogram = histogram_create(anonymizer_recoder(anonymizer), true);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(stored->keeper->row, &TTSOpsVirtual);
	SysScanDesc scan = systable_beginscan(stored->members, InvalidOid, false, SnapshotSelf, 0, NULL);
	HeapTuple member;

	while (HeapTupleIsValid(member = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		read_tallied_member(stored, member, slot);
		(void) anonymizer_read(anonymizer, anonymizer_layout(anonymizer), slot, true);
		anonymizer_count(anonymizer, histogram);
	}
	systable_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	anonymizer_set_distributions(anonymizer);
	return anonymizer;
}

/* Return the groups with a distribution of sensitive values farther than t from the one of all rows. */
List *
groups_not_close(Stored *stored)
{
	Anonymizer *anonymizer;
	SysScanDesc scan;
	HeapTuple tuple;
	List *found = NIL;

	if (stored->keeper->aview->t <= 0)
		return NIL;
	anonymizer = learn_distributions(stored);
	scan = systable_beginscan(stored->groups, InvalidOid, false, SnapshotSelf, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		StoredGroup *group = stored_group_copy(stored, tuple);

		if (!tally_holds(stored, anonymizer, anonymizer_recoder(anonymizer), group))
			found = lappend(found, group);
	}
	systable_endscan(scan);
	return found;
}
