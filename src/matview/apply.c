/*
 * apply.c
 *		Bringing the groups of a view up to date with the changes of a transaction.
 */
#include "base/kanon.h"

#include "matview/apply.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include "matview/demand.h"
#include "matview/keeper.h"
#include "matview/maintain.h"
#include "matview/pending.h"
#include "matview/reconcile.h"

/* Start to sort pending rows by their identifiers and, for equal ones, by time. */
static Tuplesortstate *
start_sort(Keeper *keeper, TupleDesc desc)
{
	int nkeys = keeper->nids + 1;
	AttrNumber *columns = palloc(nkeys * sizeof(AttrNumber));
	Oid *operators = palloc(nkeys * sizeof(Oid));
	Oid *collations = palloc0(nkeys * sizeof(Oid));
	bool *nulls_first = palloc0(nkeys * sizeof(bool));

	for (int i = 0; i < nkeys; i++)
	{
		columns[i] = i < keeper->nids ? Anum_pending_first + keeper->ids[i] : Anum_pending_serial;
		operators[i] = lookup_type_cache(TupleDescAttr(desc, columns[i] - 1)->atttypid, TYPECACHE_LT_OPR)->lt_opr;
		collations[i] = TupleDescAttr(desc, columns[i] - 1)->attcollation;
	}
	return tuplesort_begin_heap(desc, nkeys, columns, operators, collations, nulls_first, work_mem, NULL, false);
}

/* Note a row of the source, with its k if each row has its own. */
static void
put_pending_row(Maintenance *maintenance, Keeper *keeper, const Datum *values, const bool *nulls)
{
	int ncolumns = keeper->row->natts;
	Datum *row = palloc(ncolumns * sizeof(Datum));
	bool *row_nulls = palloc0(ncolumns * sizeof(bool));
	ItemPointerData was;

	memcpy(row, values, keeper->aview->nkeyed * sizeof(Datum));
	memcpy(row_nulls, nulls, keeper->aview->nkeyed * sizeof(bool));
	if (keeper->personal)
		row[ncolumns - 1] = Int64GetDatum(demand_of_row(keeper, values, nulls));
	(void) maintenance_put(maintenance, row, row_nulls, &was);
	pfree(row);
	pfree(row_nulls);
}

/* Note a pending row. */
static void
apply_row(Maintenance *maintenance, Keeper *keeper, TupleTableSlot *slot)
{
	const Datum *values;
	const bool *nulls;

	slot_getallattrs(slot);
	values = slot->tts_values + Anum_pending_first - 1;
	nulls = slot->tts_isnull + Anum_pending_first - 1;
	if (DatumGetBool(slot->tts_values[Anum_pending_present - 1]))
		put_pending_row(maintenance, keeper, values, nulls);
	else
		maintenance_remove(maintenance, values, nulls);
}

/* Return true if two pending rows have the same identifiers. */
static bool
same_ids(Keeper *keeper, TupleTableSlot *a, TupleTableSlot *b)
{
	slot_getallattrs(a);
	slot_getallattrs(b);
	for (int i = 0; i < keeper->nids; i++)
	{
		int at = Anum_pending_first - 1 + keeper->ids[i];
		ScanKey key = &keeper->id_keys[i];

		if (a->tts_isnull[at] || b->tts_isnull[at] ||
			!DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation, a->tts_values[at], b->tts_values[at])))
			return false;
	}
	return true;
}

/* Note sorted pending rows: of all changes of a row, the last one counts. */
static void
apply_sorted(Maintenance *maintenance, Keeper *keeper, Tuplesortstate *sort, TupleDesc desc)
{
	TupleTableSlot *last = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	TupleTableSlot *next = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);

	tuplesort_performsort(sort);
	while (tuplesort_gettupleslot(sort, true, true, next, NULL))
	{
		TupleTableSlot *swap = last;

		CHECK_FOR_INTERRUPTS();
		if (!TTS_EMPTY(last) && !same_ids(keeper, last, next))
			apply_row(maintenance, keeper, last);
		last = next;
		next = swap;
	}
	if (!TTS_EMPTY(last))
		apply_row(maintenance, keeper, last);
	tuplesort_end(sort);
	ExecDropSingleTupleTableSlot(last);
	ExecDropSingleTupleTableSlot(next);
}

/* Stored rows with choices that have changed. */
typedef struct Reconsidered
{
	Tuplesortstate *sort;
	TupleTableSlot *slot; /* for a pending row */
	int ncolumns;
} Reconsidered;

/* Add a stored row to the pending rows, with a serial before all of its other changes: a RowVisitor. */
static void
reconsider_row(void *arg, const Datum *values, const bool *nulls)
{
	Reconsidered *reconsidered = arg;
	TupleTableSlot *slot = reconsidered->slot;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, false, (Anum_pending_first - 1) * sizeof(bool));
	slot->tts_values[Anum_pending_present - 1] = BoolGetDatum(true);
	slot->tts_values[Anum_pending_serial - 1] = Int64GetDatum(0);
	memcpy(slot->tts_values + Anum_pending_first - 1, values, reconsidered->ncolumns * sizeof(Datum));
	memcpy(slot->tts_isnull + Anum_pending_first - 1, nulls, reconsidered->ncolumns * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(reconsidered->sort, slot);
}

/* Add the stored rows to which changed choices belong to the pending rows. */
static void
reconsider_owners(Keeper *keeper, List *entries, Tuplesortstate *sort, TupleDesc desc)
{
	Reconsidered reconsidered = {sort, MakeSingleTupleTableSlot(desc, &TTSOpsVirtual), keeper->aview->nkeyed};
	ListCell *cell;

	foreach (cell, entries)
	{
		Tuplestorestate *owners = ((Pending *) lfirst(cell))->owners;
		TupleTableSlot *owner;

		if (owners == NULL)
			continue;
		owner = MakeSingleTupleTableSlot(keeper->owner, &TTSOpsMinimalTuple);
		tuplestore_rescan(owners);
		while (tuplestore_gettupleslot(owners, true, false, owner))
		{
			CHECK_FOR_INTERRUPTS();
			demand_visit_owned(keeper, owner, reconsider_row, &reconsidered);
		}
		ExecDropSingleTupleTableSlot(owner);
	}
	ExecDropSingleTupleTableSlot(reconsidered.slot);
}

/* Apply pending rows: sorted if some are removals, or else in the order in which they came. */
static void
apply_rows(Keeper *keeper, List *entries, bool removals)
{
	Maintenance *maintenance = maintenance_start(keeper);
	TupleDesc desc = ((Pending *) linitial(entries))->desc;
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	Tuplesortstate *sort = removals ? start_sort(keeper, desc) : NULL;
	ListCell *cell;

	if (sort)
		reconsider_owners(keeper, entries, sort, desc);
	foreach (cell, entries)
	{
		Tuplestorestate *rows = ((Pending *) lfirst(cell))->rows;

		tuplestore_rescan(rows);
		while (tuplestore_gettupleslot(rows, true, false, slot))
		{
			CHECK_FOR_INTERRUPTS();
			if (sort)
				tuplesort_puttupleslot(sort, slot);
			else
				apply_row(maintenance, keeper, slot);
		}
	}
	ExecDropSingleTupleTableSlot(slot);
	if (sort)
		apply_sorted(maintenance, keeper, sort, desc);
	(void) maintenance_end(maintenance);
}

/* Apply the changes of a view: work of keeper_work(). */
static void
apply_changes(Keeper *keeper, void *arg)
{
	PendingChanges *changes = arg;

	if (changes->truncated)
		(void) reconcile_groups(keeper);
	else
		apply_rows(keeper, changes->entries, changes->removals);
}

void
apply_pending(void *arg)
{
	keeper_work(((PendingChanges *) arg)->view, apply_changes, arg);
}
