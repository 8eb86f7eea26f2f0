/*
 * maintain.c
 *		Bringing the stored groups up to date with the source.
 *
 * A row that is gone leaves its group.  A row that has changed stays in its group if
 * the group's cell still covers it; otherwise it leaves and arrives again.  Once all
 * rows that leave have left, groups that no longer satisfy the privacy predicate are
 * dissolved; their members arrive again, too, at no lower a step than they were
 * published at.  So do members that ask for a larger k than a group that has become
 * smaller has members.  Then all rows that arrive find their groups (arrive.c).
 */
#include "base/kanon.h"

#include "matview/maintain.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"

#include "anonymize/anonymizer.h"
#include "matview/arrive.h"
#include "matview/check.h"
#include "matview/closest.h"
#include "matview/keeper.h"
#include "matview/tables.h"

struct Maintenance
{
	MemoryContext context; /* of all of this */
	MemoryContext work;	   /* reset after each row */
	Stored stored;
	Keeper *keeper;
	Tuplestorestate *arrivals; /* rows of keeper->arrival */
	TupleTableSlot *slot;	   /* for a row of keeper->row */
	bool empty;				   /* no row was stored when the maintenance started */
	int64 changes;			   /* rows that were gone, new or changed */

	/* The columns of the member just read; valid until work is reset. */
	Datum *values;
	bool *nulls;
};

/* Start to bring groups up to date. */
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

/* Return the table of members. */
Relation
maintenance_members(Maintenance *maintenance)
{
	return maintenance->stored.members;
}

/* Let a row arrive, at its floor or above. */
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

/* Read the columns of a member. */
static void
deform_member(Maintenance *maintenance, HeapTuple member)
{
	heap_deform_tuple(member, RelationGetDescr(maintenance->stored.members), maintenance->values, maintenance->nulls);
}

/* Return the group of the member just read; NULL: it waits. */
static StoredGroup *
group_of_member(Maintenance *maintenance)
{
	if (maintenance->nulls[Anum_members_group - 1])
		return NULL;
	return stored_group(&maintenance->stored, DatumGetInt64(maintenance->values[Anum_members_group - 1]));
}

/* Remove a member from its group, or from the rows that wait. */
static void
leave_group(Maintenance *maintenance, HeapTuple member, const StoredGroup *group)
{
	if (group)
		stored_resize_group(&maintenance->stored, group, group->members - 1, true);
	stored_delete_row(maintenance->stored.members, &member->t_self);
	CommandCounterIncrement();
}

/* Note that the row of a member is gone. */
void
maintenance_drop(Maintenance *maintenance, HeapTuple member)
{
	MemoryContext old = MemoryContextSwitchTo(maintenance->work);

	deform_member(maintenance, member);
	leave_group(maintenance, member, group_of_member(maintenance));
	maintenance->changes++;
	MemoryContextSwitchTo(old);
	MemoryContextReset(maintenance->work);
}

/* Note that a row is gone from the source. */
void
maintenance_remove(Maintenance *maintenance, const Datum *values, const bool *nulls)
{
	MemoryContext old = MemoryContextSwitchTo(maintenance->work);
	HeapTuple member = maintenance->empty ? NULL : stored_find_member(&maintenance->stored, values, nulls);

	MemoryContextSwitchTo(old);
	if (member)
		maintenance_drop(maintenance, member);
}

/* Return true if the member just read has exactly these values. */
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

/* Return the codes of a row at level 0; valid until the next row is read. */
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

/* Return true if a row that has changed may stay in its group. */
static bool
may_stay(Maintenance *maintenance, const StoredGroup *group, const Datum *values, const bool *nulls)
{
	Keeper *keeper = maintenance->keeper;

	if (keeper->personal)
	{
		int64 k = DatumGetInt64(values[keeper->row->natts - 1]);

		Assert(keeper->row->natts == keeper->aview->nkeyed + 1);
		if (k < 0 || (group->key == NULL && k > 1))
			return false;
	}
	return group_is_cell_of(&maintenance->stored, group, read_codes(maintenance, values, nulls));
}

/* Give the member just read its new values: in its group if it may stay there, or else by arriving again. */
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
	/* A row that was in a group, even one of equal rows at step 0, stays in a group: its floor is not 0. */
	if (group && group->key)
		floor = Max(floor, maintenance->keeper->personal ? Max(group->step, 1) : group->step);
	note_arrival(maintenance, floor, values, nulls);
}

/* Note a row of the source as it is now; return true if it is stored. */
bool
maintenance_put(Maintenance *maintenance, const Datum *values, const bool *nulls, ItemPointer was)
{
	MemoryContext old = MemoryContextSwitchTo(maintenance->work);
	HeapTuple member = maintenance->empty ? NULL : stored_find_member(&maintenance->stored, values, nulls);

	if (member)
	{
		*was = member->t_self;
		deform_member(maintenance, member);
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

/* Have the rows that wait look for a group again. */
void
maintenance_recall(Maintenance *maintenance)
{
	MemoryContext old = MemoryContextSwitchTo(maintenance->context);

	(void) come_back(maintenance, 0, 0, 0);
	MemoryContextSwitchTo(old);
}

/* Members that leave their group to arrive again. */
typedef struct Leavers
{
	Stored *stored;
	int64 published; /* members of the group that stay; 0: none do */
	List *members;	 /* copies */
} Leavers;

/* Add a copy of a member that leaves: a MemberVisitor. */
static bool
collect_leaver(void *arg, HeapTuple member)
{
	Leavers *leavers = arg;

	if (leavers->published == 0 || !stored_is_published(leavers->stored, member, leavers->published))
		leavers->members = lappend(leavers->members, heap_copytuple(member));
	return true;
}

/*
 * Let the members of a group, or the rows that wait (0), arrive again at a floor or above:
 * all of them or, if some members are published, the others.  Return how many.
 */
static int
come_back(Maintenance *maintenance, int64 group, int floor, int64 published)
{
	Leavers leavers = {&maintenance->stored, published, NIL};
	ListCell *cell;

	stored_visit_members(&maintenance->stored, group, collect_leaver, &leavers);
	foreach (cell, leavers.members)
	{
		HeapTuple member = lfirst(cell);
		int own;

		deform_member(maintenance, member);
		own = DatumGetInt32(maintenance->values[Anum_members_floor - 1]);
		note_arrival(maintenance, Max(own, floor), maintenance->values + Anum_members_first - 1,
					 maintenance->nulls + Anum_members_first - 1);
		stored_delete_row(maintenance->stored.members, &member->t_self);
	}
	CommandCounterIncrement();
	return list_length(leavers.members);
}

/* Delete a group, and let its members arrive again, no narrower than they were published. */
static void
dissolve(Maintenance *maintenance, StoredGroup *group)
{
	(void) come_back(maintenance, group->id, group->step, 0);
	stored_delete_group(&maintenance->stored, group);
}

/* Let the members that a group cannot publish any more, as it has become smaller, look for a larger one. */
static void
part_from_group(Maintenance *maintenance, const StoredGroup *group)
{
	int64 published = stored_published(&maintenance->stored, group);

	if (published < group->members)
		stored_resize_group(&maintenance->stored, group,
							group->members - come_back(maintenance, group->id, group->step, published), false);
}

/* Check the groups that a member has left, and dissolve them or part from them where they are too small now. */
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
			part_from_group(maintenance, group);
	}
}

/*
 * Dissolve groups with distributions too far from the distribution of all rows, one at a time,
 * until there is none.  This ends: a single group is all rows, and at no distance from them.
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

/* Add the view's name to an error, such as that of an identifier that the source has twice: an error callback. */
static void
name_view(void *arg)
{
	Maintenance *maintenance = arg;

	errcontext("groups of materialized anonymization view \"%s\"", get_rel_name(maintenance->keeper->aview->view));
}

/* Apply the changes, and return how many rows were gone, new or changed. */
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
