/*
 * maintain.c
 *		Bringing the stored groups up to date with the source.
 *
 * A row that is gone leaves its group.  A row that has changed stays where it is,
 * if its group's cell still covers it, and otherwise leaves and comes back.  When
 * all have left, groups that no longer satisfy the privacy predicate are
 * dissolved; their members come back too, at no lower a step than they were
 * published at.  So do members that ask for more than a smaller group has.  Then
 * those that come find their groups (arrive.c).
 */
#include "base/kanon.h"

#include "matview/matview.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"

#include "anonymize/anonymizer.h"

struct Maintenance
{
	MemoryContext context;
	MemoryContext work; /* reset after each row */
	Stored stored;
	Keeper *keeper;
	Tuplestorestate *arrivals;
	TupleTableSlot *slot;
	bool empty; /* nothing was stored when it began */
	int64 changes;

	/* A member, taken apart. */
	Datum *values;
	bool *nulls;
};

Maintenance *
maintenance_start(Keeper *keeper)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon maintenance", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Maintenance *maintenance = palloc0(sizeof(Maintenance));

	maintenance->context = context;
	maintenance->work = AllocSetContextCreate(context, "kanon maintenance row", ALLOCSET_DEFAULT_SIZES);
	maintenance->keeper = keeper;
	stored_open(&maintenance->stored, keeper);
	maintenance->arrivals = tuplestore_begin_heap(false, false, work_mem);
	maintenance->slot = MakeSingleTupleTableSlot(keeper->row, &TTSOpsVirtual);
	maintenance->empty = !stored_any_member(&maintenance->stored);
	maintenance->values = palloc(RelationGetDescr(maintenance->stored.members)->natts * sizeof(Datum));
	maintenance->nulls = palloc(RelationGetDescr(maintenance->stored.members)->natts * sizeof(bool));
	MemoryContextSwitchTo(old);
	return maintenance;
}

Relation
maintenance_members(Maintenance *maintenance)
{
	return maintenance->stored.members;
}

static void
note_arrival(Maintenance *maintenance, int floor, const Datum *values, const bool *nulls)
{
	int ncolumns = maintenance->keeper->row->natts;
	Datum *all = palloc((ncolumns + 1) * sizeof(Datum));
	bool *all_nulls = palloc((ncolumns + 1) * sizeof(bool));

	all[0] = Int32GetDatum(floor);
	all_nulls[0] = false;
	memcpy(all + 1, values, ncolumns * sizeof(Datum));
	memcpy(all_nulls + 1, nulls, ncolumns * sizeof(bool));
	tuplestore_putvalues(maintenance->arrivals, maintenance->keeper->arrival, all, all_nulls);
}

static void
read_member(Maintenance *maintenance, HeapTuple member)
{
	heap_deform_tuple(member, RelationGetDescr(maintenance->stored.members), maintenance->values, maintenance->nulls);
}

/* The group of the member just read; null while it waits. */
static StoredGroup *
group_of_member(Maintenance *maintenance)
{
	if (maintenance->nulls[Anum_members_group - 1])
		return NULL;
	return stored_group(&maintenance->stored, DatumGetInt64(maintenance->values[Anum_members_group - 1]));
}

static void
leave_group(Maintenance *maintenance, HeapTuple member, const StoredGroup *group)
{
	if (group)
		stored_resize_group(&maintenance->stored, group, group->members - 1, true);
	CatalogTupleDelete(maintenance->stored.members, &member->t_self);
	CommandCounterIncrement();
}

void
maintenance_drop(Maintenance *maintenance, HeapTuple member)
{
	MemoryContext old = MemoryContextSwitchTo(maintenance->work);

	read_member(maintenance, member);
	leave_group(maintenance, member, group_of_member(maintenance));
	maintenance->changes++;
	MemoryContextSwitchTo(old);
	MemoryContextReset(maintenance->work);
}

void
maintenance_remove(Maintenance *maintenance, const Datum *values, const bool *nulls)
{
	MemoryContext old = MemoryContextSwitchTo(maintenance->work);
	HeapTuple member = maintenance->empty ? NULL : stored_find_member(&maintenance->stored, values, nulls);

	MemoryContextSwitchTo(old);
	if (member)
		maintenance_drop(maintenance, member);
}

/* Is a row stored exactly as it is now? */
static bool
is_unchanged(Maintenance *maintenance, const Datum *values, const bool *nulls)
{
	TupleDesc row = maintenance->keeper->row;

	for (int i = 0; i < row->natts; i++)
	{
		int at = Anum_members_first - 1 + i;
		Form_pg_attribute attribute = TupleDescAttr(row, i);

		if (nulls[i] != maintenance->nulls[at] ||
			(!nulls[i] && !datum_image_eq(values[i], maintenance->values[at], attribute->attbyval, attribute->attlen)))
			return false;
	}
	return true;
}

static const int32 *
read_codes(Maintenance *maintenance, const Datum *values, const bool *nulls)
{
	Anonymizer *anonymizer = maintenance->keeper->anonymizer;
	TupleTableSlot *slot = maintenance->slot;

	ExecClearTuple(slot);
	memcpy(slot->tts_values, values, slot->tts_tupleDescriptor->natts * sizeof(Datum));
	memcpy(slot->tts_isnull, nulls, slot->tts_tupleDescriptor->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	anonymizer_read(anonymizer, maintenance->keeper->layout, slot, false);
	return anonymizer_row(anonymizer)->codes;
}

/* May a row that has changed stay in its group? */
static bool
may_stay(Maintenance *maintenance, const StoredGroup *group, const Datum *values, const bool *nulls)
{
	Keeper *keeper = maintenance->keeper;

	if (keeper->personal)
	{
		int64 k = DatumGetInt64(values[keeper->row->natts - 1]);

		if (k < 0 || (group->key == NULL && k > 1))
			return false;
	}
	return group_is_cell_of(&maintenance->stored, group, read_codes(maintenance, values, nulls));
}

/* The member just read has other values now. */
static void
change_member(Maintenance *maintenance, HeapTuple member, const Datum *values, const bool *nulls)
{
	Stored *stored = &maintenance->stored;
	StoredGroup *group = group_of_member(maintenance);
	int floor = DatumGetInt32(maintenance->values[Anum_members_floor - 1]);

	if (group && may_stay(maintenance, group, values, nulls))
	{
		stored_update_member(stored, member, group->id, floor, values, nulls);
		/* A sensitive value may have been the only one of its kind. */
		stored_resize_group(stored, group, group->members, true);
		return;
	}
	leave_group(maintenance, member, group);
	/* Whoever was in a group, be it of equals, stays in one. */
	if (group && group->key)
		floor = Max(floor, maintenance->keeper->personal ? Max(group->step, 1) : group->step);
	note_arrival(maintenance, floor, values, nulls);
}

bool
maintenance_put(Maintenance *maintenance, const Datum *values, const bool *nulls, ItemPointer was)
{
	MemoryContext old = MemoryContextSwitchTo(maintenance->work);
	HeapTuple member = maintenance->empty ? NULL : stored_find_member(&maintenance->stored, values, nulls);

	if (member)
	{
		*was = member->t_self;
		read_member(maintenance, member);
		if (!is_unchanged(maintenance, values, nulls))
		{
			change_member(maintenance, member, values, nulls);
			maintenance->changes++;
		}
	}
	else
	{
		note_arrival(maintenance, 0, values, nulls);
		maintenance->changes++;
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(maintenance->work);
	return member != NULL;
}

static int come_back(Maintenance *maintenance, int64 group, int floor, int64 published);

void
maintenance_recall(Maintenance *maintenance)
{
	MemoryContext old = MemoryContextSwitchTo(maintenance->context);

	(void) come_back(maintenance, 0, 0, 0);
	MemoryContextSwitchTo(old);
}

typedef struct Leavers
{
	Stored *stored;
	int64 published;
	List *members;
} Leavers;

static bool
collect_member(void *arg, HeapTuple member)
{
	Leavers *leavers = arg;

	if (leavers->published == 0 || !stored_is_published(leavers->stored, member, leavers->published))
		leavers->members = lappend(leavers->members, heap_copytuple(member));
	return true;
}

/*
 * The members of a group come back, or those that wait (0); all of them or, if so
 * many are published, the others.  Returns how many.
 */
static int
come_back(Maintenance *maintenance, int64 group, int floor, int64 published)
{
	Leavers leavers = {&maintenance->stored, published, NIL};
	ListCell *cell;

	stored_visit_members(&maintenance->stored, group, collect_member, &leavers);
	foreach (cell, leavers.members)
	{
		HeapTuple member = lfirst(cell);
		int own;

		read_member(maintenance, member);
		own = DatumGetInt32(maintenance->values[Anum_members_floor - 1]);
		note_arrival(maintenance, Max(own, floor), maintenance->values + Anum_members_first - 1,
					 maintenance->nulls + Anum_members_first - 1);
		CatalogTupleDelete(maintenance->stored.members, &member->t_self);
	}
	CommandCounterIncrement();
	return list_length(leavers.members);
}

/* The members of a group come back, no narrower than they were published. */
static void
dissolve(Maintenance *maintenance, StoredGroup *group)
{
	(void) come_back(maintenance, group->id, group->step, 0);
	stored_delete_group(&maintenance->stored, group);
}

/* Members that a smaller group cannot publish look for a larger one. */
static void
part(Maintenance *maintenance, const StoredGroup *group)
{
	int64 published = stored_published(&maintenance->stored, group);

	if (published < group->members)
		stored_resize_group(&maintenance->stored, group,
							group->members - come_back(maintenance, group->id, group->step, published), false);
}

static void
dissolve_weakened(Maintenance *maintenance)
{
	ListCell *cell;

	foreach (cell, stored_weakened(&maintenance->stored))
	{
		StoredGroup *group = lfirst(cell);

		if (!group_holds(&maintenance->stored, group))
			dissolve(maintenance, group);
		else if (maintenance->keeper->personal)
			part(maintenance, group);
	}
}

/*
 * A group that is too far from the whole is dissolved into others, one at a time;
 * the last one, which is the whole, is not far from it.
 */
static void
restore_closeness(Maintenance *maintenance)
{
	List *groups;

	while ((groups = groups_not_close(&maintenance->stored)) != NIL)
	{
		tuplestore_clear(maintenance->arrivals);
		dissolve(maintenance, linitial(groups));
		arrive(&maintenance->stored, maintenance->arrivals, false);
	}
}

/* Said with errors, such as that of an identifier that the source has twice. */
static void
name_view(void *arg)
{
	Maintenance *maintenance = arg;

	errcontext("groups of materialized anonymization view \"%s\"", get_rel_name(maintenance->keeper->aview->view));
}

int64
maintenance_end(Maintenance *maintenance)
{
	MemoryContext old = MemoryContextSwitchTo(maintenance->context);
	int64 changes = maintenance->changes;
	ErrorContextCallback context = {error_context_stack, name_view, maintenance};

	error_context_stack = &context;
	dissolve_weakened(maintenance);
	arrive(&maintenance->stored, maintenance->arrivals, true);
	restore_closeness(maintenance);
	tuplestore_end(maintenance->arrivals);
	ExecDropSingleTupleTableSlot(maintenance->slot);
	stored_close(&maintenance->stored);
	error_context_stack = context.previous;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(maintenance->context);
	return changes;
}
