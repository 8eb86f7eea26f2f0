/*
 * partitions.c
 *		Recoding in parts.
 *
 * Rows are divided by their cells at some step S, so that each part holds whole
 * cells up to that step and decides alone what is published there.  What no part
 * could publish by step S goes on together: it is far less than all classes, and
 * stays in memory.  Then the parts are gone through again, one at a time, to hand
 * out their rows.  Those of a cell that is larger than parts would come part by part,
 * which tells them apart: they wait for all parts, and come last, in no order.
 */
#include "base/kanon.h"

#include "anonymize/partitions.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "anonymize/anonymizer.h"
#include "base/shuffle.h"
#include "recode/recode.h"

#define MIN_PARTS 4
#define MAX_PARTS 256

/* A step is coarse enough if it leaves this many cells for each part. */
#define CELLS_PER_PART 8

struct Partitions
{
	Anonymizer *anonymizer;
	TupleTableSlot *slot;
	int nparts;
	Tuplestorestate **parts;
	int step; /* S */
	MemoryContext part_context; /* classes and cells of the part at hand */
	Histogram *rest;			/* what goes on together */
	int at;						/* the part at hand; -1 before the first */
	MemoryContext wait_context;
	TupleTableSlot *waiting; /* a row that waits, and its class in the rest */
	Shuffle *shuffle;		 /* all of them; null: none so far */
};

static int
compare_hashes(const void *left, const void *right)
{
	uint32 a = *(const uint32 *) left;
	uint32 b = *(const uint32 *) right;

	return a < b ? -1 : a > b;
}

static int
count_cells(const Histogram *classes, int step)
{
	uint32 *hashes = palloc_extended(Max(classes->nclasses, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
	int count = 0;

	for (int class = 0; class < classes->nclasses; class ++)
		hashes[class] = histogram_hash(classes->recoder, classes->codes + (Size) class * classes->recoder->ncolumns, step);
	qsort(hashes, classes->nclasses, sizeof(uint32), compare_hashes);
	for (int class = 0; class < classes->nclasses; class ++)
		count += class == 0 || hashes[class] != hashes[class - 1];
	pfree(hashes);
	return count;
}

/* The coarsest step that still divides the classes well. */
static int
choose_step(const Histogram *classes, int nparts)
{
	int step = classes->recoder->nsteps;

	while (step > 0 && count_cells(classes, step) < CELLS_PER_PART * nparts)
		step--;
	return step;
}

/* Rows and their class. */
static TupleDesc
waiting_desc(TupleDesc desc)
{
	TupleDesc result = CreateTemplateTupleDesc(desc->natts + 1);

	for (int i = 1; i <= desc->natts; i++)
		TupleDescCopyEntry(result, i, desc, i);
	TupleDescInitEntry(result, result->natts, "class", INT4OID, -1, 0);
	return result;
}

Partitions *
partitions_create(Anonymizer *anonymizer, int64 rows_counted, double rows_expected, TupleDesc desc)
{
	Partitions *partitions = palloc0(sizeof(Partitions));
	double needed = 2 * Max(rows_expected / Max(rows_counted, 1), 1);

	partitions->anonymizer = anonymizer;
	partitions->nparts = pg_nextpower2_32((uint32) Min(Max(needed, MIN_PARTS), MAX_PARTS));
	partitions->step = choose_step(anonymizer->classes, partitions->nparts);
	partitions->parts = palloc(partitions->nparts * sizeof(Tuplestorestate *));
	for (int i = 0; i < partitions->nparts; i++)
		partitions->parts[i] = tuplestore_begin_heap(false, false, Max(work_mem / partitions->nparts, 64));
	partitions->part_context = AllocSetContextCreate(anonymizer->context, "kanon part", ALLOCSET_DEFAULT_SIZES);
	partitions->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	partitions->wait_context = AllocSetContextCreate(anonymizer->context, "kanon waiting rows", ALLOCSET_DEFAULT_SIZES);
	partitions->waiting = MakeSingleTupleTableSlot(waiting_desc(desc), &TTSOpsVirtual);
	/* The classes that overflowed have served. */
	MemoryContextDelete(anonymizer->classes->context);
	anonymizer->classes = NULL;
	return partitions;
}

/* A row whose layout is anonymizer->published. */
void
partitions_add(Partitions *partitions, TupleTableSlot *slot)
{
	Anonymizer *anonymizer = partitions->anonymizer;
	uint32 hash;

	if (!anonymizer_read(anonymizer, &anonymizer->published, slot, false))
		return;
	hash = histogram_hash(anonymizer->recoder, anonymizer->row.codes, partitions->step);
	tuplestore_puttupleslot(partitions->parts[hash % partitions->nparts], slot);
}

/* Counts a part and recodes it up to step S. */
static Histogram *
recode_part(Partitions *partitions, int part)
{
	Anonymizer *anonymizer = partitions->anonymizer;
	MemoryContext old;
	Histogram *histogram;

	MemoryContextReset(partitions->part_context);
	old = MemoryContextSwitchTo(partitions->part_context);
	recoder_forget_cells(anonymizer->recoder, partitions->part_context);
	histogram = histogram_create(anonymizer->recoder, true);
	tuplestore_rescan(partitions->parts[part]);
	while (anonymizer_kept_row(anonymizer, partitions->parts[part], partitions->slot))
	{
		CHECK_FOR_INTERRUPTS();
		(void) anonymizer_read(anonymizer, &anonymizer->published, partitions->slot, true);
		anonymizer_count(anonymizer, histogram);
	}
	recode(histogram, 0, partitions->step);
	MemoryContextSwitchTo(old);
	return histogram;
}

/* Takes the groups over that a part could not publish; returns those with a witness. */
static List *
collect_rest(Partitions *partitions, const Histogram *part, List *witnessed)
{
	Histogram *rest = partitions->rest;
	int width = rest->recoder->ncolumns;

	for (int class = 0; class < part->nclasses; class ++)
	{
		if (part->cells[class])
			continue;
		if (part->leaders[class] == class)
			histogram_take(rest, part, class);
		if (partitions->anonymizer->witness && histogram_test(part, class, anonymizer_test_witness, partitions->anonymizer))
			witnessed = list_append_unique_int(witnessed, histogram_class(rest, part->codes + (Size) part->leaders[class] * width));
	}
	return witnessed;
}

void
partitions_recode(Partitions *partitions)
{
	Anonymizer *anonymizer = partitions->anonymizer;
	MemoryContext context = AllocSetContextCreate(anonymizer->context, "kanon rest", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	List *witnessed = NIL;
	ListCell *cell;

	/* All rows have been seen by now, and the largest k among them. */
	if (anonymizer->recoder->personal)
		anonymizer->recoder->most_individuals = anonymizer->recoder->most_k;
	partitions->rest = histogram_create(anonymizer->recoder, true);
	for (int part = 0; part < partitions->nparts; part++)
		witnessed = collect_rest(partitions, recode_part(partitions, part), witnessed);
	recoder_forget_cells(anonymizer->recoder, context);
	recode(partitions->rest, partitions->step, anonymizer->recoder->nsteps);
	foreach (cell, witnessed)
		partitions->rest->cells[lfirst_int(cell)]->witnessed = !partitions->rest->cells[lfirst_int(cell)]->suppressed;
	MemoryContextSwitchTo(old);
	partitions_rewind(partitions);
}

/* Makes a part's classes, with the cells that it has published, those of the anonymizer. */
static void
open_part(Partitions *partitions, int part)
{
	Anonymizer *anonymizer = partitions->anonymizer;

	anonymizer->classes = recode_part(partitions, part);
	if (anonymizer->witness)
		anonymizer_mark_witnessed(anonymizer);
	tuplestore_rescan(partitions->parts[part]);
}

/* The row at hand, of a class of the part that goes on in the rest. */
static void
let_wait(Partitions *partitions, int class)
{
	const Histogram *part = partitions->anonymizer->classes;
	const int32 *codes = part->codes + (Size) part->leaders[class] * part->recoder->ncolumns;
	TupleTableSlot *waiting = partitions->waiting;
	int natts = waiting->tts_tupleDescriptor->natts - 1;
	MemoryContext old = MemoryContextSwitchTo(partitions->wait_context);

	if (partitions->shuffle == NULL)
		partitions->shuffle = shuffle_create(waiting->tts_tupleDescriptor);
	ExecClearTuple(waiting);
	memcpy(waiting->tts_values, partitions->slot->tts_values, natts * sizeof(Datum));
	memcpy(waiting->tts_isnull, partitions->slot->tts_isnull, natts * sizeof(bool));
	waiting->tts_values[natts] = Int32GetDatum(histogram_class(partitions->rest, codes));
	waiting->tts_isnull[natts] = false;
	shuffle_add(partitions->shuffle, ExecStoreVirtualTuple(waiting));
	MemoryContextSwitchTo(old);
}

/* The next row of the part at hand that it publishes; null cell: it is in no group. */
static bool
next_of_part(Partitions *partitions, Cell **cell)
{
	Anonymizer *anonymizer = partitions->anonymizer;

	while (anonymizer_kept_row(anonymizer, partitions->parts[partitions->at], partitions->slot))
	{
		int class;

		CHECK_FOR_INTERRUPTS();
		(void) anonymizer_read(anonymizer, &anonymizer->published, partitions->slot, false);
		*cell = NULL;
		if (!anonymizer_groups(anonymizer))
			return true;
		class = histogram_find(anonymizer->classes, anonymizer->row.codes);
		*cell = anonymizer->classes->cells[class];
		if (*cell)
			return true;
		let_wait(partitions, class);
	}
	return false;
}

static bool
next_waiting(Partitions *partitions, TupleTableSlot **slot, Cell **cell)
{
	Anonymizer *anonymizer = partitions->anonymizer;
	MemoryContext old = MemoryContextSwitchTo(partitions->wait_context);
	bool found = partitions->shuffle && shuffle_next(partitions->shuffle, slot);

	MemoryContextSwitchTo(old);
	if (!found)
		return false;
	(void) anonymizer_read(anonymizer, &anonymizer->published, *slot, false);
	*cell = partitions->rest->cells[DatumGetInt32((*slot)->tts_values[partitions->waiting->tts_tupleDescriptor->natts - 1])];
	return true;
}

bool
partitions_next(Partitions *partitions, TupleTableSlot **slot, Cell **cell)
{
	*slot = partitions->slot;
	while (partitions->at < partitions->nparts)
	{
		if (partitions->at >= 0 && next_of_part(partitions, cell))
			return true;
		if (++partitions->at < partitions->nparts)
			open_part(partitions, partitions->at);
	}
	return next_waiting(partitions, slot, cell);
}

static void
end_waiting(Partitions *partitions)
{
	if (partitions->shuffle)
		shuffle_end(partitions->shuffle);
	partitions->shuffle = NULL;
	MemoryContextReset(partitions->wait_context);
}

void
partitions_rewind(Partitions *partitions)
{
	end_waiting(partitions);
	partitions->at = -1;
}

void
partitions_end(Partitions *partitions)
{
	end_waiting(partitions);
	ExecDropSingleTupleTableSlot(partitions->waiting);
	for (int i = 0; i < partitions->nparts; i++)
		tuplestore_end(partitions->parts[i]);
	ExecDropSingleTupleTableSlot(partitions->slot);
}
