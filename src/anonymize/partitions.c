/*
 * partitions.c
 *		Recoding in parts, where the classes of a source do not fit into memory.
 *
 * Rows are divided by their cells at some step S, so that each part holds whole
 * cells up to that step and decides alone which of them are published.  The groups
 * that no part could publish by step S, the rest, go on together: they are far fewer
 * than all classes, and stay in memory.  Then the parts are gone through again, one
 * at a time, to hand out their rows.  The rows of a cell of the rest would come part
 * by part, which tells them apart: they wait for all parts, and come last, in no
 * order.
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
#include "anonymize/anonymizer_private.h"
#include "base/shuffle.h"
#include "recode/histogram.h"
#include "recode/recode.h"

#define MIN_PARTS 4
#define MAX_PARTS 256

/* A step is coarse enough if it leaves this many cells for each part. */
#define CELLS_PER_PART 8

struct Partitions
{
	Anonymizer *anonymizer;
	TupleTableSlot *slot; /* for rows of the parts */
	int nparts;			  /* a power of two */
	Tuplestorestate **parts;
	int step;					/* S */
	MemoryContext part_context; /* classes and cells of the part at hand */
	Histogram *rest;			/* groups that no part could publish; NULL before partitions_recode() */
	int at;						/* the part at hand; -1 before the first, nparts after the last */
	MemoryContext wait_context; /* of the shuffle */
	TupleTableSlot *waiting;	/* a row that waits, and its class in the rest */
	Shuffle *shuffle;			/* all rows that wait; NULL: none so far */
};

/* Compare hashes for qsort(). */
static int
compare_hashes(const void *left, const void *right)
{
	uint32 a = *(const uint32 *) left;
	uint32 b = *(const uint32 *) right;

	return a < b ? -1 : a > b;
}

/* Return how many cells of a step the classes are in. */
static int
count_cells_of_step(const Histogram *classes, int step)
{
	uint32 *hashes = palloc_extended(Max(classes->nclasses, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
	int count = 0;

	for (int class = 0; class < classes->nclasses; class ++)
		hashes[class] = recoder_cell_hash(classes->recoder, class_codes(classes, class), step);
	qsort(hashes, classes->nclasses, sizeof(uint32), compare_hashes);
	for (int class = 0; class < classes->nclasses; class ++)
		count += class == 0 || hashes[class] != hashes[class - 1];
	pfree(hashes);
	return count;
}

/* Return the coarsest step with cells that divide the classes well into parts. */
static int
choose_step(const Histogram *classes, int nparts)
{
	int step = classes->recoder->nsteps;

	while (step > 0 && count_cells_of_step(classes, step) < CELLS_PER_PART * nparts)
		step--;
	return step;
}

/* Return the descriptor of rows that wait: the columns of a row, and its class in the rest. */
static TupleDesc
waiting_desc(TupleDesc desc)
{
	TupleDesc result = CreateTemplateTupleDesc(desc->natts + 1);

	for (int i = 1; i <= desc->natts; i++)
		TupleDescCopyEntry(result, i, desc, i);
	TupleDescInitEntry(result, result->natts, "class", INT4OID, -1, 0);
	return result;
}

/* Create partitions, and free the classes that have outgrown memory. */
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
	MemoryContextDelete(anonymizer->classes->context);
	anonymizer->classes = NULL;
	return partitions;
}

/* Add a row of the layout anonymizer->published to the part of its cell, if it is shown at all. */
void
partitions_add(Partitions *partitions, TupleTableSlot *slot)
{
	Anonymizer *anonymizer = partitions->anonymizer;
	uint32 hash;

	Assert(partitions->rest == NULL);
	if (!anonymizer_read(anonymizer, &anonymizer->published, slot, false))
		return;
	hash = recoder_cell_hash(anonymizer->recoder, anonymizer->row.codes, partitions->step);
	tuplestore_puttupleslot(partitions->parts[hash % partitions->nparts], slot);
}

/* Count a part and recode it up to step S; return its classes, which are freed with the next part. */
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

/*
 * Move the groups that a part could not publish to the rest.  Return the list of the rest's
 * classes that have a witness, with the classes of this part added.
 */
static List *
collect_rest(Partitions *partitions, const Histogram *part, List *witnessed)
{
	Anonymizer *anonymizer = partitions->anonymizer;
	Histogram *rest = partitions->rest;

	for (int class = 0; class < part->nclasses; class ++)
	{
		int leader;

		if (part->cells[class])
			continue;
		leader = part->leaders[class];
		if (leader == class)
			histogram_take(rest, part, class);
		if (anonymizer->witness && histogram_test(part, class, anonymizer_test_witness, anonymizer))
			witnessed = list_append_unique_int(witnessed, histogram_class(rest, class_codes(part, leader)));
	}
	return witnessed;
}

/* Recode all rows: each part up to step S, and the rest from there. */
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
	{
		Cell *published = partitions->rest->cells[lfirst_int(cell)];

		published->witnessed = !published->suppressed;
	}
	MemoryContextSwitchTo(old);
	partitions_rewind(partitions);
}

/* Start handing out the rows of a part: its classes, with the cells that it has published, become the anonymizer's. */
static void
open_part(Partitions *partitions, int part)
{
	Anonymizer *anonymizer = partitions->anonymizer;

	anonymizer->classes = recode_part(partitions, part);
	if (anonymizer->witness)
		anonymizer_mark_witnessed(anonymizer);
	tuplestore_rescan(partitions->parts[part]);
}

/* Let the row just read, which is of a class of the rest, wait for all parts. */
static void
let_wait(Partitions *partitions, int class)
{
	const Histogram *part = partitions->anonymizer->classes;
	const int32 *codes = class_codes(part, part->leaders[class]);
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

/*
 * Read the next row of the part at hand that is published by it, and set its cell or, for
 * a row in no group, NULL; return false after the last.
 */
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
		Assert(class >= 0);
		*cell = anonymizer->classes->cells[class];
		if (*cell)
			return true;
		let_wait(partitions, class);
	}
	return false;
}

/* Read the next row that waits, and set its cell; return false after the last. */
static bool
next_waiting(Partitions *partitions, TupleTableSlot **slot, Cell **cell)
{
	Anonymizer *anonymizer = partitions->anonymizer;
	MemoryContext old = MemoryContextSwitchTo(partitions->wait_context);
	bool found = partitions->shuffle && shuffle_next(partitions->shuffle, slot);
	int last = partitions->waiting->tts_tupleDescriptor->natts - 1;
	int class;

	MemoryContextSwitchTo(old);
	if (!found)
		return false;
	(void) anonymizer_read(anonymizer, &anonymizer->published, *slot, false);
	class = DatumGetInt32((*slot)->tts_values[last]);
	Assert(class >= 0 && class < partitions->rest->nclasses);
	*cell = partitions->rest->cells[class];
	return true;
}

/* Set the next row and its cell; return false after the last. */
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

/* Drop all rows that wait. */
static void
end_waiting(Partitions *partitions)
{
	if (partitions->shuffle)
		shuffle_end(partitions->shuffle);
	partitions->shuffle = NULL;
	MemoryContextReset(partitions->wait_context);
}

/* Start again with the first part. */
void
partitions_rewind(Partitions *partitions)
{
	end_waiting(partitions);
	partitions->at = -1;
}

/* Drop the files and slots. */
void
partitions_end(Partitions *partitions)
{
	end_waiting(partitions);
	ExecDropSingleTupleTableSlot(partitions->waiting);
	for (int i = 0; i < partitions->nparts; i++)
		tuplestore_end(partitions->parts[i]);
	ExecDropSingleTupleTableSlot(partitions->slot);
}
