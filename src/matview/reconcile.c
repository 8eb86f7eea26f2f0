/*
 * reconcile.c
 *		Comparing the stored groups of a materialized view with its source.
 *
 * Each row of the source is noted as it is now.  The members that no row has met are
 * gone from the source.
 */
#include "base/kanon.h"

#include "matview/reconcile.h"

#include "access/htup_details.h"
#include "access/heapam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "aview/aview.h"
#include "matview/demand.h"
#include "matview/keeper.h"
#include "matview/maintain.h"
#include "matview/matview.h"
#include "matview/tables.h"
#include "source/source.h"

/* The place of a member that has a row in the source. */
typedef struct SeenEntry
{
	uint64 place;
	char status;
} SeenEntry;

#define SH_PREFIX seen
#define SH_ELEMENT_TYPE SeenEntry
#define SH_KEY_TYPE uint64
#define SH_KEY place
#define SH_HASH_KEY(tb, k) (murmurhash32((uint32) (k)) ^ murmurhash32((uint32) ((k) >> 32)))
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Return the place of a row as a number. */
static uint64
place_number(ItemPointer tid)
{
	return (uint64) ItemPointerGetBlockNumber(tid) << 16 | ItemPointerGetOffsetNumber(tid);
}

/* Raise an error if an identifier is NULL: no member could be found by it. */
static void
check_ids_present(Keeper *keeper, TupleTableSlot *slot)
{
	for (int i = 0; i < keeper->nids; i++)
	{
		if (slot->tts_isnull[keeper->ids[i]])
			ereport(ERROR,
					(errcode(ERRCODE_NOT_NULL_VIOLATION),
					 errmsg("identifier \"%s\" of materialized anonymization view \"%s\" is null in a row of the source",
							keeper->aview->columns[keeper->ids[i]].name, get_rel_name(keeper->aview->view))));
	}
}

/* Note all rows of the source, and the places of the members that are stored of them. */
static void
put_source(Keeper *keeper, Maintenance *maintenance, seen_hash *seen, Snapshot snapshot)
{
	AView *aview = keeper->aview;
	List *columns = NIL;
	SourceRun *run;
	TupleTableSlot *slot;

	for (int i = 0; i < aview->nkeyed; i++)
		columns = lappend_int(columns, i);
	/* Where rows have a k of their own, it is the last column, as in keeper->row. */
	if (keeper->personal)
		columns = lappend_int(columns, aview->profile->demand);
	run = source_start(aview, source_plan(aview, source_query(aview, columns, NIL, NIL), false, NULL), NULL, snapshot);
	while (source_next(run, &slot))
	{
		ItemPointerData was;
		bool again;

		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		check_ids_present(keeper, slot);
		if (keeper->personal)
		{
			int last = aview->nkeyed;

			slot->tts_values[last] =
				Int64GetDatum(demand_of_choices(keeper, slot->tts_values[last], slot->tts_isnull[last]));
			slot->tts_isnull[last] = false;
		}
		if (!maintenance_put(maintenance, slot->tts_values, slot->tts_isnull, &was))
			continue;
		seen_insert(seen, place_number(&was), &again);
	}
	source_end(run);
}

/* Note that the rows of all other members are gone. */
static void
drop_unseen(Maintenance *maintenance, seen_hash *seen, Snapshot snapshot)
{
	TableScanDesc scan = table_beginscan(maintenance_members(maintenance), snapshot, 0, NULL);
	HeapTuple member;

	while ((member = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (seen_lookup(seen, place_number(&member->t_self)) == NULL)
			maintenance_drop(maintenance, member);
	}
	table_endscan(scan);
}

/* Bring in all changes that the groups have missed, and return how many rows were not as they should have been. */
int64
reconcile_groups(Keeper *keeper)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon comparison of groups and source",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Snapshot snapshot = RegisterSnapshot(GetActiveSnapshot());
	Maintenance *maintenance = maintenance_start(keeper);
	seen_hash *seen = seen_create(context, 1024, NULL);
	int64 changes;

	put_source(keeper, maintenance, seen, snapshot);
	drop_unseen(maintenance, seen, snapshot);
	maintenance_recall(maintenance);
	changes = maintenance_end(maintenance);
	UnregisterSnapshot(snapshot);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return changes;
}

/* Add the number of rows that were not as they should have been: work of keeper_work(). */
static void
count_reconciled(Keeper *keeper, void *arg)
{
	*(int64 *) arg += reconcile_groups(keeper);
}

/* Compare the groups of a view with its source, and bring in all that they have missed. */
int64
matview_reconcile(int32 id)
{
	int64 changes = 0;

	keeper_work(id, count_reconciled, &changes);
	return changes;
}

/* Delete the stored groups of a view, so that nothing is kept of earlier answers. */
void
matview_delete_groups(int32 id)
{
	stored_delete_all(id);
}
