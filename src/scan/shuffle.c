/*
 * shuffle.c
 *		Rows in an order that says nothing: sorted by a random number.
 */
#include "scan/shuffle.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/tuplesort.h"

struct Shuffle
{
	Tuplesortstate *sort;
	bool sorted;
	int ncolumns;
	TupleTableSlot *numbered; /* a row and its random number */
	TupleTableSlot *slot;	  /* the same, coming back */
};

static TupleDesc
number_rows(TupleDesc desc)
{
	TupleDesc numbered = CreateTemplateTupleDesc(desc->natts + 1);

	for (int i = 0; i < desc->natts; i++)
		TupleDescCopyEntry(numbered, i + 1, desc, i + 1);
	TupleDescInitEntry(numbered, desc->natts + 1, "number", INT8OID, -1, 0);
	return numbered;
}

Shuffle *
shuffle_create(TupleDesc desc)
{
	Shuffle *shuffle = palloc0(sizeof(Shuffle));
	TupleDesc numbered = number_rows(desc);
	AttrNumber column = numbered->natts;
	Oid operator = Int8LessOperator;
	Oid collation = InvalidOid;
	bool nulls_first = false;

	shuffle->ncolumns = desc->natts;
	shuffle->numbered = MakeSingleTupleTableSlot(numbered, &TTSOpsVirtual);
	shuffle->slot = MakeSingleTupleTableSlot(numbered, &TTSOpsMinimalTuple);
	shuffle->sort = tuplesort_begin_heap(numbered, 1, &column, &operator, &collation, &nulls_first, work_mem, NULL, 0);
	return shuffle;
}

void
shuffle_add(Shuffle *shuffle, TupleTableSlot *slot)
{
	TupleTableSlot *numbered = shuffle->numbered;

	slot_getallattrs(slot);
	ExecClearTuple(numbered);
	memcpy(numbered->tts_values, slot->tts_values, shuffle->ncolumns * sizeof(Datum));
	memcpy(numbered->tts_isnull, slot->tts_isnull, shuffle->ncolumns * sizeof(bool));
	numbered->tts_values[shuffle->ncolumns] = UInt64GetDatum(kanon_random_uint64());
	numbered->tts_isnull[shuffle->ncolumns] = false;
	tuplesort_puttupleslot(shuffle->sort, ExecStoreVirtualTuple(numbered));
}

bool
shuffle_next(Shuffle *shuffle, TupleTableSlot **slot)
{
	if (!shuffle->sorted)
		tuplesort_performsort(shuffle->sort);
	shuffle->sorted = true;
	*slot = shuffle->slot;
	return tuplesort_gettupleslot(shuffle->sort, true, false, shuffle->slot, NULL);
}

void
shuffle_end(Shuffle *shuffle)
{
	ExecDropSingleTupleTableSlot(shuffle->numbered);
	ExecDropSingleTupleTableSlot(shuffle->slot);
	tuplesort_end(shuffle->sort);
}
