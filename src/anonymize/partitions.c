/*
 * partitions.c
 *		Recoding in parts, where the classes of a source do not fit into memory.
 *
 * Rows are divided by their cells at some step S, so that each part holds whole
 * cells up to that step and decides alone which of them are published.  The groups
 * that no part could publish by step S, the rest, go on together: they are far fewer
 * than all classes, and stay in memory.  Rows of all parts are noted (notes.h) with
 * their cells, which are freed with the part, or with their classes in the rest.
 */
#include "base/kanon.h"

#include "anonymize/partitions.h"

#include "executor/tuptable.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "anonymize/anonymizer.h"
#include "anonymize/anonymizer_private.h"
#include "anonymize/notes.h"
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

/* Set the slot to the next row of a part, in the anonymizer's memory context; return false after the last. */
static bool
next_of_part(Partitions *partitions, int part)
{
	MemoryContext old = MemoryContextSwitchTo(partitions->anonymizer->context);
	bool found = tuplestore_gettupleslot(partitions->parts[part], true, false, partitions->slot);

	MemoryContextSwitchTo(old);
	CHECK_FOR_INTERRUPTS();
	return found;
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
	while (next_of_part(partitions, part))
	{
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

/* Note the row just read, which is of a class of the part at hand. */
static void
note_grouped_row(Partitions *partitions, const Histogram *part, int class)
{
	Anonymizer *anonymizer = partitions->anonymizer;
	const Cell *cell;

	Assert(class >= 0);
	cell = part->cells[class];
	if (cell == NULL)
		notes_add(anonymizer->notes, partitions->slot,
				  histogram_class(partitions->rest, class_codes(part, part->leaders[class])));
	else if (anonymizer->witness == NULL || cell->witnessed)
		notes_add_cell(anonymizer->notes, partitions->slot, cell);
}

/* Note all rows of a part, and drop its file. */
static void
note_part(Partitions *partitions, int part, Histogram *classes)
{
	Anonymizer *anonymizer = partitions->anonymizer;
	MemoryContext old = MemoryContextSwitchTo(partitions->part_context);

	anonymizer->classes = classes;
	if (anonymizer->witness)
		anonymizer_mark_witnessed(anonymizer);
	tuplestore_rescan(partitions->parts[part]);
	while (next_of_part(partitions, part))
	{
		(void) anonymizer_read(anonymizer, &anonymizer->published, partitions->slot, false);
		if (anonymizer_groups(anonymizer))
			note_grouped_row(partitions, classes, histogram_find(classes, anonymizer->row.codes));
		else
			notes_add_cell(anonymizer->notes, partitions->slot, NULL);
	}
	MemoryContextSwitchTo(old);
	tuplestore_end(partitions->parts[part]);
}

/* Recode the groups of the rest, and mark the cells of the classes in a list as having a witness. */
static void
recode_rest(Partitions *partitions, List *witnessed)
{
	Recoder *recoder = partitions->anonymizer->recoder;
	ListCell *cell;

	recoder_forget_cells(recoder, CurrentMemoryContext);
	recode(partitions->rest, partitions->step, recoder->nsteps);
	foreach (cell, witnessed)
	{
		Cell *published = partitions->rest->cells[lfirst_int(cell)];

		published->witnessed = !published->suppressed;
	}
	partitions->anonymizer->classes = partitions->rest;
}

/* Recode all rows, each part up to step S and the rest from there, and note them. */
void
partitions_recode(Partitions *partitions)
{
	Anonymizer *anonymizer = partitions->anonymizer;
	MemoryContext context = AllocSetContextCreate(anonymizer->context, "kanon rest", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	List *witnessed = NIL;

	/* All rows have been seen by now, and the largest k among them. */
	if (anonymizer->recoder->personal)
		anonymizer->recoder->most_individuals = anonymizer->recoder->most_k;
	partitions->rest = histogram_create(anonymizer->recoder, true);
	for (int part = 0; part < partitions->nparts; part++)
	{
		Histogram *classes = recode_part(partitions, part);

		witnessed = collect_rest(partitions, classes, witnessed);
		note_part(partitions, part, classes);
	}
	recode_rest(partitions, witnessed);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(partitions->part_context);
	ExecDropSingleTupleTableSlot(partitions->slot);
}
