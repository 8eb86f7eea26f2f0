/*
 * tables.c
 *		Reading and writing the tables of groups and members.
 *
 * The caller holds the view's lock, so that no other transaction writes these tables.
 * All rows count that are committed or of this transaction, and reads use
 * SnapshotSelf at every isolation level: a snapshot of an earlier moment would miss
 * the changes of earlier holders of the lock.
 */
#include "base/kanon.h"

#include "matview/tables.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/catalog.h"
#include "catalog/index.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/extension.h"
#include "matview/keeper.h"

/* The number of members of a group that has changed. */
typedef struct GroupSize
{
	int64 group;
	int64 members;
	bool weakened; /* by a member that has left or changed: to be checked */
	char status;   /* of the hash table */
} GroupSize;

#define SH_PREFIX sizes
#define SH_ELEMENT_TYPE GroupSize
#define SH_KEY_TYPE int64
#define SH_KEY group
#define SH_HASH_KEY(tb, k) murmurhash32((uint32) (k) ^ (uint32) ((k) >> 32))
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Enter a row into the indexes of its table. */
static void
enter_into_indexes(Relation rel, HeapTuple tuple, CatalogIndexState indexes)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsHeapTuple);

	ExecStoreHeapTuple(tuple, slot, false);
	for (int i = 0; i < indexes->ri_NumIndices; i++)
	{
		Relation index = indexes->ri_IndexRelationDescs[i];
		IndexInfo *info = indexes->ri_IndexRelationInfo[i];
		Datum values[INDEX_MAX_KEYS];
		bool nulls[INDEX_MAX_KEYS];

		FormIndexDatum(info, slot, NULL, values, nulls);
		(void) index_insert(index, values, nulls, &tuple->t_self, rel,
							info->ii_Unique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO, false, info);
	}
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Insert a row of raw values, which must not leave the server by logical replication, also not
 * where a publication has all tables.
 */
static void
insert_row(Relation rel, HeapTuple tuple, CatalogIndexState indexes)
{
	if (!RelationIsLogicallyLogged(rel))
	{
		CatalogTupleInsertWithInfo(rel, tuple, indexes);
		return;
	}
	heap_insert(rel, tuple, GetCurrentCommandId(true), HEAP_INSERT_NO_LOGICAL, NULL);
	enter_into_indexes(rel, tuple, indexes);
}

/* Delete a row.  Its table is created with REPLICA IDENTITY NOTHING, so that this is not replicated. */
void
stored_delete_row(Relation rel, ItemPointer row)
{
	simple_heap_delete(rel, row);
}

/* Replace a row.  An update would be replicated with the new values. */
static void
replace_row(Relation rel, ItemPointer old, HeapTuple tuple, CatalogIndexState indexes)
{
	if (!RelationIsLogicallyLogged(rel))
	{
		CatalogTupleUpdateWithInfo(rel, old, tuple, indexes);
		return;
	}
	stored_delete_row(rel, old);
	insert_row(rel, tuple, indexes);
}

/* Delete all rows of a table. */
static void
delete_rows(Oid table)
{
	Relation rel = table_open(table, RowExclusiveLock);
	TableScanDesc scan = table_beginscan(rel, SnapshotSelf, 0, NULL);
	HeapTuple row;

	while ((row = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		stored_delete_row(rel, &row->t_self);
	}
	table_endscan(scan);
	table_close(rel, NoLock);
}

/* Delete all groups and members of a view. */
void
stored_delete_all(int32 id)
{
	delete_rows(kanon_relation(psprintf("groups_%d", id)));
	delete_rows(kanon_relation(psprintf("members_%d", id)));
	CommandCounterIncrement();
}

/* Open the tables. */
void
stored_open(Stored *stored, Keeper *keeper)
{
	memset(stored, 0, sizeof(Stored));
	stored->keeper = keeper;
	stored->groups = table_open(keeper->groups, RowExclusiveLock);
	stored->members = table_open(keeper->members, RowExclusiveLock);
	stored->group_indexes = CatalogOpenIndexes(stored->groups);
	stored->member_indexes = CatalogOpenIndexes(stored->members);
	stored->sizes = sizes_create(CurrentMemoryContext, 16, NULL);
}

static void rewrite_group(Stored *stored, StoredGroup *group);

/* Write the numbers of members that have changed. */
static void
write_sizes(Stored *stored)
{
	sizes_iterator iterator;
	GroupSize *entry;

	sizes_start_iterate(stored->sizes, &iterator);
	while ((entry = sizes_iterate(stored->sizes, &iterator)) != NULL)
	{
		StoredGroup *group = stored_group(stored, entry->group);

		if (group)
			rewrite_group(stored, group);
	}
}

/* Write the numbers of members, and close the tables. */
void
stored_close(Stored *stored)
{
	write_sizes(stored);
	CatalogCloseIndexes(stored->group_indexes);
	CatalogCloseIndexes(stored->member_indexes);
	table_close(stored->groups, NoLock);
	table_close(stored->members, NoLock);
	CommandCounterIncrement();
}

/* Return a row of groups_N as a group, with its members as they are to be written. */
StoredGroup *
stored_group_copy(Stored *stored, HeapTuple tuple)
{
	TupleDesc desc = RelationGetDescr(stored->groups);
	StoredGroup *group = palloc0(sizeof(StoredGroup));
	GroupSize *changed;

	group->tuple = heap_copytuple(tuple);
	group->values = palloc(desc->natts * sizeof(Datum));
	group->nulls = palloc(desc->natts * sizeof(bool));
	heap_deform_tuple(group->tuple, desc, group->values, group->nulls);
	group->id = DatumGetInt64(group->values[Anum_groups_id - 1]);
	group->step = DatumGetInt32(group->values[Anum_groups_step - 1]);
	group->members = DatumGetInt64(group->values[Anum_groups_members - 1]);
	changed = sizes_lookup(stored->sizes, group->id);
	if (changed)
		group->members = changed->members;
	if (!group->nulls[Anum_groups_key - 1])
	{
		bytea *key = DatumGetByteaPP(group->values[Anum_groups_key - 1]);

		group->key = (const uint8 *) VARDATA_ANY(key);
		group->length = VARSIZE_ANY_EXHDR(key) / KEY_BYTES;
		Assert(VARSIZE_ANY_EXHDR(key) % KEY_BYTES == 0);
	}
	return group;
}

/* Return the group with a number; NULL: there is none. */
StoredGroup *
stored_group(Stored *stored, int64 id)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;
	StoredGroup *group;

	ScanKeyInit(&key, Anum_groups_id, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(id));
	scan = systable_beginscan(stored->groups, stored->keeper->groups_by_id, true, SnapshotSelf, 1, &key);
	tuple = systable_getnext(scan);
	group = HeapTupleIsValid(tuple) ? stored_group_copy(stored, tuple) : NULL;
	systable_endscan(scan);
	return group;
}

/* Return true if there is a group that rows may join. */
bool
stored_any_group(Stored *stored)
{
	ScanKeyData key;
	SysScanDesc scan;
	bool any;

	ScanKeyInit(&key, Anum_groups_key, BTGreaterEqualStrategyNumber, F_BYTEAGE, PointerGetDatum(cstring_to_text("")));
	scan = systable_beginscan(stored->groups, stored->keeper->groups_by_key, true, SnapshotSelf, 1, &key);
	any = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	return any;
}

/* Return the k of a member, which is its last column. */
static int64
member_k(Stored *stored, HeapTuple member)
{
	bool isnull;

	return DatumGetInt64(
		heap_getattr(member, RelationGetDescr(stored->members)->natts, RelationGetDescr(stored->members), &isnull));
}

/* Return true if a member of a group is published, given how many of its members are. */
bool
stored_is_published(Stored *stored, HeapTuple member, int64 published)
{
	return !stored->keeper->personal || member_k(stored, member) <= published;
}

/*
 * Return how many members of a group are published.  From the member with the largest k down,
 * each one is left out that asks for more members than are left.
 */
int64
stored_published(Stored *stored, const StoredGroup *group)
{
	ScanKeyData key;
	Relation index;
	SysScanDesc scan;
	HeapTuple member;
	int64 published = group->members;

	if (!stored->keeper->personal || group->key == NULL)
		return published;
	ScanKeyInit(&key, Anum_members_group, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(group->id));
	index = index_open(stored->keeper->members_by_group, AccessShareLock);
	scan = systable_beginscan_ordered(stored->members, index, SnapshotSelf, 1, &key);
	while (HeapTupleIsValid(member = systable_getnext_ordered(scan, BackwardScanDirection)) &&
		   member_k(stored, member) > published)
		published--;
	systable_endscan_ordered(scan);
	index_close(index, AccessShareLock);
	return published;
}

/* Return true if there is a member, or a row that waits. */
bool
stored_any_member(Stored *stored)
{
	SysScanDesc scan = systable_beginscan(stored->members, InvalidOid, false, SnapshotSelf, 0, NULL);
	bool any = HeapTupleIsValid(systable_getnext(scan));

	systable_endscan(scan);
	return any;
}

/* Return the next free number of a group, one after another: the numbers tell nothing about groups. */
static int64
next_group_number(Stored *stored)
{
	Relation index;
	SysScanDesc scan;
	HeapTuple last;
	bool isnull;

	if (stored->next_group == 0)
	{
		index = index_open(stored->keeper->groups_by_id, AccessShareLock);
		scan = systable_beginscan_ordered(stored->groups, index, SnapshotSelf, 0, NULL);
		last = systable_getnext_ordered(scan, BackwardScanDirection);
		if (HeapTupleIsValid(last))
			stored->next_group =
				DatumGetInt64(heap_getattr(last, Anum_groups_id, RelationGetDescr(stored->groups), &isnull));
		systable_endscan_ordered(scan);
		index_close(index, AccessShareLock);
		stored->next_group++;
	}
	return stored->next_group++;
}

/* Return the key of a cell at a step, which is the start of a row's key. */
static Datum
key_datum(Stored *stored, const uint8 *key, int step)
{
	int size = (stored->keeper->recoder->nsteps - step) * KEY_BYTES;
	bytea *result = palloc(VARHDRSZ + size);

	Assert(step >= 0 && size >= 0);

	SET_VARSIZE(result, VARHDRSZ + size);
	memcpy(VARDATA(result), key, size);
	return PointerGetDatum(result);
}

/* Fill in the columns of groups_N for the cell of some codes at a step, with a key or without. */
static void
fill_cell(Stored *stored, const int32 *codes, int step, const uint8 *key, Datum *values, bool *nulls)
{
	values[Anum_groups_step - 1] = Int32GetDatum(step);
	nulls[Anum_groups_step - 1] = false;
	nulls[Anum_groups_key - 1] = key == NULL;
	if (key)
		values[Anum_groups_key - 1] = key_datum(stored, key, step);
	for (int i = 0; i < stored->keeper->aview->nquasi; i++)
		values[Anum_groups_first - 1 + i] = keeper_cell_value(stored->keeper, codes, i, step,
															  &nulls[Anum_groups_first - 1 + i]);
}

/* Store a group. */
StoredGroup *
stored_new_group(Stored *stored, const int32 *codes, int step, const uint8 *key, int64 members)
{
	TupleDesc desc = RelationGetDescr(stored->groups);
	Datum *values = palloc0(desc->natts * sizeof(Datum));
	bool *nulls = palloc0(desc->natts * sizeof(bool));
	HeapTuple tuple;

	values[Anum_groups_id - 1] = Int64GetDatum(next_group_number(stored));
	/* All members that form a group can be published in it. */
	values[Anum_groups_size - 1] = values[Anum_groups_members - 1] = Int64GetDatum(members);
	fill_cell(stored, codes, step, key, values, nulls);
	tuple = heap_form_tuple(desc, values, nulls);
	insert_row(stored->groups, tuple, stored->group_indexes);
	CommandCounterIncrement();
	return stored_group_copy(stored, tuple);
}

/* Write a new version of a group's row. */
static void
rewrite_group(Stored *stored, StoredGroup *group)
{
	HeapTuple tuple;

	group->values[Anum_groups_size - 1] = Int64GetDatum(stored_published(stored, group));
	group->values[Anum_groups_members - 1] = Int64GetDatum(group->members);
	tuple = heap_form_tuple(RelationGetDescr(stored->groups), group->values, group->nulls);
	tuple->t_self = group->tuple->t_self;
	replace_row(stored->groups, &group->tuple->t_self, tuple, stored->group_indexes);
	group->tuple->t_self = tuple->t_self;
	/* The same row may be written again. */
	CommandCounterIncrement();
}

/* Set the number of members of a group, to be written when the tables are closed. */
void
stored_resize_group(Stored *stored, const StoredGroup *group, int64 members, bool weakened)
{
	bool found;
	GroupSize *entry = sizes_insert(stored->sizes, group->id, &found);

	Assert(members >= 0);
	entry->members = members;
	entry->weakened = weakened || (found && entry->weakened);
}

/* Return the groups that have to be checked. */
List *
stored_weakened(Stored *stored)
{
	sizes_iterator iterator;
	GroupSize *entry;
	List *groups = NIL;

	sizes_start_iterate(stored->sizes, &iterator);
	while ((entry = sizes_iterate(stored->sizes, &iterator)) != NULL)
	{
		StoredGroup *group = entry->weakened ? stored_group(stored, entry->group) : NULL;

		if (group)
			groups = lappend(groups, group);
		entry->weakened = false;
	}
	return groups;
}

/* Generalize a group to the cell of some codes. */
void
stored_raise_group(Stored *stored, StoredGroup *group, const int32 *codes, int step, const uint8 *key)
{
	Assert(step > group->step && group->key != NULL);
	group->step = step;
	fill_cell(stored, codes, step, key, group->values, group->nulls);
	rewrite_group(stored, group);
}

/* Delete a group. */
void
stored_delete_group(Stored *stored, StoredGroup *group)
{
	sizes_delete(stored->sizes, group->id);
	stored_delete_row(stored->groups, &group->tuple->t_self);
	CommandCounterIncrement();
}

/* Return a row of members_N; group 0: the row waits. */
static HeapTuple
form_member(Stored *stored, int64 group, int floor, const Datum *values, const bool *nulls)
{
	TupleDesc desc = RelationGetDescr(stored->members);
	int ncolumns = stored->keeper->row->natts;
	Datum *all = palloc(desc->natts * sizeof(Datum));
	bool *all_nulls = palloc(desc->natts * sizeof(bool));

	all[Anum_members_group - 1] = Int64GetDatum(group);
	all_nulls[Anum_members_group - 1] = group == 0;
	all[Anum_members_floor - 1] = Int32GetDatum(floor);
	all_nulls[Anum_members_floor - 1] = false;
	memcpy(all + Anum_members_first - 1, values, ncolumns * sizeof(Datum));
	memcpy(all_nulls + Anum_members_first - 1, nulls, ncolumns * sizeof(bool));
	return heap_form_tuple(desc, all, all_nulls);
}

/* Store a row as a member of a group, or as waiting. */
void
stored_insert_member(Stored *stored, int64 group, int floor, const Datum *values, const bool *nulls)
{
	insert_row(stored->members, form_member(stored, group, floor, values, nulls), stored->member_indexes);
}

/* Store other values of a member, or another group. */
void
stored_update_member(Stored *stored, HeapTuple old, int64 group, int floor, const Datum *values, const bool *nulls)
{
	replace_row(stored->members, &old->t_self, form_member(stored, group, floor, values, nulls),
				stored->member_indexes);
	CommandCounterIncrement();
}

/* Return a copy of the member with the identifiers of a row; NULL: there is none. */
HeapTuple
stored_find_member(Stored *stored, const Datum *values, const bool *nulls)
{
	const Keeper *keeper = stored->keeper;
	ScanKeyData *keys = palloc(keeper->nids * sizeof(ScanKeyData));
	SysScanDesc scan;
	HeapTuple tuple;

	memcpy(keys, keeper->id_keys, keeper->nids * sizeof(ScanKeyData));
	for (int i = 0; i < keeper->nids; i++)
	{
		if (nulls[keeper->ids[i]])
			return NULL;
		keys[i].sk_argument = values[keeper->ids[i]];
	}
	scan = systable_beginscan(stored->members, keeper->members_by_id, true, SnapshotSelf, keeper->nids, keys);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		tuple = heap_copytuple(tuple);
	systable_endscan(scan);
	return tuple;
}

/* Call a function for each member of a group, or each row that waits (0), until it returns false. */
void
stored_visit_members(Stored *stored, int64 group, MemberVisitor visit, void *arg)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;

	ScanKeyEntryInitialize(&key, group == 0 ? SK_ISNULL | SK_SEARCHNULL : 0, Anum_members_group,
						   group == 0 ? InvalidStrategy : BTEqualStrategyNumber, InvalidOid, InvalidOid,
						   group == 0 ? InvalidOid : F_INT8EQ, Int64GetDatum(group));
	scan = systable_beginscan(stored->members, stored->keeper->members_by_group, true, SnapshotSelf, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		if (!visit(arg, tuple))
			break;
	}
	systable_endscan(scan);
}
