/*
 * shuffle.c
 *		Rows in an order that says nothing: neither the source's nor that of the groups.
 *
 * Rows that fit into work_mem are handed out at random (Fisher and Yates).  More rows
 * than that are thrown into NFILES files at random, and each file is shuffled in the
 * same way, one after the other; a file that is too large is divided again.
 */
#include "base/kanon.h"

#include "base/shuffle.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

/* Files that rows beyond work_mem are divided into. */
#define NFILES 32

/* Rows that there is room for at first. */
#define FIRST_ROWS 64

/*
 * The least number of rows that stay in memory, however wide they are: fewer rows than
 * files would be divided for ever.
 */
#define LEAST_ROWS (2 * NFILES)

/* KB of each file that stay in memory; with less, each file would be written at once. */
#define FILE_MEMORY 32

struct Shuffle
{
	MemoryContext context; /* owns the shuffle itself, its files and slot */
	MemoryContext memory;  /* owns the rows in memory */
	pg_prng_state random;
	TupleDesc desc;			 /* a copy */
	TupleTableSlot *slot;	 /* holds the row last returned */
	MinimalTuple *rows;		 /* in memory: [0, next) are handed out, [next, nrows) are left */
	int64 nrows;			 /* in memory */
	int64 room;				 /* rows that there is room for */
	int64 next;				 /* rows handed out since the start */
	Size size;				 /* of the rows in memory, in bytes */
	Tuplestorestate **files; /* NFILES of them; null: all rows are in memory */
	int file;				 /* that rows are returned from */
	Shuffle *within;		 /* shuffles that file's rows; null: not opened yet */
};

/*
 * Seed a generator with numbers that cannot be foreseen.  The session's own generator is
 * not used: PostgreSQL has functions that show its state, and so its next numbers.
 */
void
shuffle_seed(pg_prng_state *random)
{
	uint64 seed;

	if (!pg_strong_random(&seed, sizeof(seed)))
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
	pg_prng_seed(random, seed);
}

/* Create an empty shuffle of rows in the current memory context. */
Shuffle *
shuffle_create(TupleDesc desc)
{
	Shuffle *shuffle = palloc0(sizeof(Shuffle));

	shuffle->context = CurrentMemoryContext;
	shuffle->memory = AllocSetContextCreate(CurrentMemoryContext, "kanon shuffled rows", ALLOCSET_DEFAULT_SIZES);
	shuffle_seed(&shuffle->random);
	shuffle->desc = CreateTupleDescCopy(desc); /* not counted: outlives the caller's */
	shuffle->slot = MakeSingleTupleTableSlot(shuffle->desc, &TTSOpsMinimalTuple);
	shuffle->room = FIRST_ROWS;
	shuffle->rows = palloc(shuffle->room * sizeof(MinimalTuple));
	return shuffle;
}

/* Return one of the files at random. */
static Tuplestorestate *
shuffle_any_file(Shuffle *shuffle)
{
	Assert(shuffle->files != NULL);
	return shuffle->files[pg_prng_uint64_range(&shuffle->random, 0, NFILES - 1)];
}

/* Move the rows from memory to files. */
static void
shuffle_spill(Shuffle *shuffle)
{
	MemoryContext old = MemoryContextSwitchTo(shuffle->context);

	Assert(shuffle->files == NULL && shuffle->next == 0);
	shuffle->files = palloc(NFILES * sizeof(Tuplestorestate *));
	for (int i = 0; i < NFILES; i++)
		shuffle->files[i] = tuplestore_begin_heap(false, false, FILE_MEMORY);
	for (int64 i = 0; i < shuffle->nrows; i++)
	{
		ExecStoreMinimalTuple(shuffle->rows[i], shuffle->slot, false);
		tuplestore_puttupleslot(shuffle_any_file(shuffle), shuffle->slot);
	}
	ExecClearTuple(shuffle->slot);
	MemoryContextReset(shuffle->memory);
	pfree(shuffle->rows);
	shuffle->rows = NULL;
	shuffle->nrows = 0;
	MemoryContextSwitchTo(old);
}

/* Keep a row that has been allocated in the memory for rows; move all rows to files if they are too large. */
static void
shuffle_keep(Shuffle *shuffle, MinimalTuple row)
{
	if (shuffle->nrows == shuffle->room)
	{
		shuffle->room *= 2;
		shuffle->rows = repalloc_huge(shuffle->rows, shuffle->room * sizeof(MinimalTuple));
	}
	Assert(shuffle->nrows < shuffle->room);
	Assert(GetMemoryChunkContext(row) == shuffle->memory);
	shuffle->rows[shuffle->nrows++] = row;
	shuffle->size += GetMemoryChunkSpace(row) + sizeof(MinimalTuple);
	if (shuffle->size > work_mem * (Size) 1024 && shuffle->nrows > LEAST_ROWS)
		shuffle_spill(shuffle);
}

/* Add a row. */
void
shuffle_add(Shuffle *shuffle, TupleTableSlot *slot)
{
	MemoryContext old;

	if (shuffle->files)
	{
		tuplestore_puttupleslot(shuffle_any_file(shuffle), slot);
		return;
	}
	old = MemoryContextSwitchTo(shuffle->memory);
	shuffle_keep(shuffle, ExecCopySlotMinimalTuple(slot));
	MemoryContextSwitchTo(old);
}

/* Add a row that is given by its values. */
void
shuffle_add_values(Shuffle *shuffle, Datum *values, bool *nulls)
{
	MemoryContext old;

	if (shuffle->files)
	{
		tuplestore_putvalues(shuffle_any_file(shuffle), shuffle->desc, values, nulls);
		return;
	}
	old = MemoryContextSwitchTo(shuffle->memory);
	shuffle_keep(shuffle, kanon_minimal_tuple(shuffle->desc, values, nulls));
	MemoryContextSwitchTo(old);
}

/* Store the next row from memory in the slot; return false after the last one. */
static bool
shuffle_next_in_memory(Shuffle *shuffle)
{
	int64 other;
	MinimalTuple row;

	if (shuffle->next == shuffle->nrows)
		return false;
	Assert(shuffle->next < shuffle->nrows);
	/* Any of the rows that are left. */
	other = (int64) pg_prng_uint64_range(&shuffle->random, shuffle->next, shuffle->nrows - 1);
	row = shuffle->rows[other];
	shuffle->rows[other] = shuffle->rows[shuffle->next];
	shuffle->rows[shuffle->next++] = row;
	ExecStoreMinimalTuple(row, shuffle->slot, false);
	return true;
}

/* Read the present file into a shuffle of its own. */
static void
shuffle_open_file(Shuffle *shuffle)
{
	MemoryContext old = MemoryContextSwitchTo(shuffle->context);
	Tuplestorestate *file = shuffle->files[shuffle->file];

	Assert(shuffle->within == NULL && shuffle->file < NFILES);
	tuplestore_rescan(file);
	shuffle->within = shuffle_create(shuffle->desc);
	while (tuplestore_gettupleslot(file, true, false, shuffle->slot))
	{
		CHECK_FOR_INTERRUPTS();
		shuffle_add(shuffle->within, shuffle->slot);
	}
	MemoryContextSwitchTo(old);
}

/* Free the shuffle of the present file's rows; the file itself stays for a rewind. */
static void
shuffle_close_file(Shuffle *shuffle)
{
	if (shuffle->within)
		shuffle_end(shuffle->within);
	shuffle->within = NULL;
}

/* Return the next row in a slot; return false after the last one. */
bool
shuffle_next(Shuffle *shuffle, TupleTableSlot **slot)
{
	*slot = shuffle->slot;
	if (shuffle->files == NULL)
		return shuffle_next_in_memory(shuffle);
	for (; shuffle->file < NFILES; shuffle->file++)
	{
		if (shuffle->within == NULL)
			shuffle_open_file(shuffle);
		if (shuffle_next(shuffle->within, slot))
			return true;
		CHECK_FOR_INTERRUPTS();
		shuffle_close_file(shuffle);
	}
	return false;
}

/* Start again, in another order. */
void
shuffle_rewind(Shuffle *shuffle)
{
	shuffle_close_file(shuffle);
	shuffle->file = 0;
	shuffle->next = 0;
}

/* Free the shuffle and its files. */
void
shuffle_end(Shuffle *shuffle)
{
	shuffle_close_file(shuffle);
	for (int i = 0; shuffle->files && i < NFILES; i++)
		tuplestore_end(shuffle->files[i]);
	if (shuffle->files)
		pfree(shuffle->files);
	if (shuffle->rows)
		pfree(shuffle->rows);
	ExecDropSingleTupleTableSlot(shuffle->slot);
	FreeTupleDesc(shuffle->desc);
	MemoryContextDelete(shuffle->memory);
	pfree(shuffle);
}
