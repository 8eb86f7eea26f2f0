/*
 * check.c
 *		Checking stored groups against the view's privacy predicate.
 *
 * Each row is a person: identifiers are unique and never missing.  So a group that only
 * grows still satisfies k and l.  A group that has lost a member is
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

/* The sensitive values of a group's published members. */
typedef struct GroupTally
{
	Stored *stored;
	Anonymizer *anonymizer; /* codes members */
	Histogram *histogram;	/* counts all members in one class */
	int32 *codes;			/* of that class */
	TupleTableSlot *slot;
	int64 published; /* members of the group */
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
	RecodeRow row;

	if (!stored_is_published(tally->stored, member, tally->published))
		return true;
	read_tallied_member(tally->stored, member, tally->slot);
	(void) anonymizer_read(tally->anonymizer, anonymizer_layout(tally->anonymizer), tally->slot, true);
	row = *anonymizer_row(tally->anonymizer);
	row.codes = tally->codes;
	(void) histogram_add(tally->histogram, &row);
	return true;
}

/* Return true if a group satisfies the privacy predicate of a recoder, given the counts of its members. */
static bool
tally_holds(GroupTally *tally, Recoder *recoder, const StoredGroup *group, GroupCounts *counts)
{
	if (recoder->l > 0 || recoder->t > 0)
	{
		tally->slot = MakeSingleTupleTableSlot(tally->stored->keeper->row, &TTSOpsVirtual);
		tally->histogram = histogram_create(recoder, true);
		tally->codes = palloc0(Max(recoder->ncolumns, 1) * sizeof(int32));
		(void) histogram_class(tally->histogram, tally->codes);
		stored_visit_members(tally->stored, group->id, tally_member, tally);
		counts->sensitive = tally->histogram->sensitive;
		counts->diverse = tally->histogram->diverse;
		ExecDropSingleTupleTableSlot(tally->slot);
	}
	return privacy_holds(recoder, counts);
}

/* Return true if a group satisfies the privacy predicate of a recoder, which may be a copy of the anonymizer's. */
static bool
stored_group_holds(Stored *stored, Anonymizer *anonymizer, Recoder *recoder, const StoredGroup *group)
{
	MemoryContext work;
	MemoryContext old;
	GroupTally tally = {.stored = stored, .anonymizer = anonymizer, .published = stored_published(stored, group)};
	/* Where members have a k of their own, the published ones are as many as each of them asks for. */
	GroupCounts counts = {.k = stored->keeper->personal ? 1 : recoder->k, .individuals = tally.published};
	bool result;

	if (group->key == NULL)
		return group->members > 0;
	work = AllocSetContextCreate(CurrentMemoryContext, "kanon group check", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(work);
	result = tally_holds(&tally, recoder, group, &counts);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
	return result;
}

/* Return true if a group satisfies k and l; but not t, which depends on all groups. */
bool
group_holds(Stored *stored, const StoredGroup *group)
{
	Recoder recoder = *stored->keeper->recoder;

	recoder.t = 0;
	return stored_group_holds(stored, stored->keeper->anonymizer, &recoder, group);
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

		if (!stored_group_holds(stored, anonymizer, anonymizer_recoder(anonymizer), group))
			found = lappend(found, group);
	}
	systable_endscan(scan);
	return found;
}
