/*
 * shuffle.c
 *		Rows in an order that says nothing.
 *
 * In memory, they are handed out at random.  Where they are too many for that, each
 * is thrown into one of many files at random, and these are shuffled one by one.
 */
#include "base/kanon.h"

#include "base/shuffle.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#define NFILES 32
#define FIRST_ROWS 64

/* Rows that stay in memory, however wide: fewer than there are files would be divided for ever. */
#define LEAST_ROWS (2 * NFILES)

/* KB of each file that stay in memory; fewer would all be written at once. */
#define FILE_MEMORY 32

struct Shuffle
{
	MemoryContext context;
	MemoryContext memory; /* of the rows */
	pg_prng_state random;
	TupleDesc desc;
	TupleTableSlot *slot;
	MinimalTuple *rows;
	int64 nrows;
	int64 room;
	int64 next;
	Size size;				 /* of the rows, in bytes */
	Tuplestorestate **files; /* null: all rows are in memory */
	int file;				 /* the one at hand */
	Shuffle *within;		 /* its rows; null: none at hand */
};

/* Not the session's generator: PostgreSQL has functions that show what it draws, and so what it would draw next. */
void
shuffle_seed(pg_prng_state *random)
{
	uint64 seed;

	if (!pg_strong_random(&seed, sizeof(seed)))
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
	pg_prng_seed(random, seed);
}

Shuffle *
shuffle_create(TupleDesc desc)
{
	Shuffle *shuffle = palloc0(sizeof(Shuffle));

	shuffle->context = CurrentMemoryContext;
	shuffle->memory = AllocSetContextCreate(CurrentMemoryContext, "kanon shuffled rows", ALLOCSET_DEFAULT_SIZES);
	shuffle_seed(&shuffle->random);
	shuffle->desc = CreateTupleDescCopy(desc); /* which belongs to nobody else */
	shuffle->slot = MakeSingleTupleTableSlot(shuffle->desc, &TTSOpsMinimalTuple);
	shuffle->room = FIRST_ROWS;
	shuffle->rows = palloc(shuffle->room * sizeof(MinimalTuple));
	return shuffle;
}

static Tuplestorestate *
any_file(Shuffle *shuffle)
{
	return shuffle->files[pg_prng_uint64_range(&shuffle->random, 0, NFILES - 1)];
}

/* From memory to files. */
static void
spill(Shuffle *shuffle)
{
	MemoryContext old = MemoryContextSwitchTo(shuffle->context);

	shuffle->files = palloc(NFILES * sizeof(Tuplestorestate *));
	for (int i = 0; i < NFILES; i++)
		shuffle->files[i] = tuplestore_begin_heap(false, false, FILE_MEMORY);
	for (int64 i = 0; i < shuffle->nrows; i++)
		tuplestore_puttupleslot(any_file(shuffle), ExecStoreMinimalTuple(shuffle->rows[i], shuffle->slot, false));
	ExecClearTuple(shuffle->slot);
	MemoryContextReset(shuffle->memory);
	pfree(shuffle->rows);
	shuffle->rows = NULL;
	shuffle->nrows = 0;
	MemoryContextSwitchTo(old);
}

/* A row that is in the memory for rows. */
static void
keep_row(Shuffle *shuffle, MinimalTuple row)
{
	if (shuffle->nrows == shuffle->room)
	{
		shuffle->room *= 2;
		shuffle->rows = repalloc_huge(shuffle->rows, shuffle->room * sizeof(MinimalTuple));
	}
	shuffle->rows[shuffle->nrows++] = row;
	shuffle->size += GetMemoryChunkSpace(row) + sizeof(MinimalTuple);
	if (shuffle->size > work_mem * (Size) 1024 && shuffle->nrows > LEAST_ROWS)
		spill(shuffle);
}

void
shuffle_add(Shuffle *shuffle, TupleTableSlot *slot)
{
	MemoryContext old;

	if (shuffle->files)
	{
		tuplestore_puttupleslot(any_file(shuffle), slot);
		return;
	}
	old = MemoryContextSwitchTo(shuffle->memory);
	keep_row(shuffle, ExecCopySlotMinimalTuple(slot));
	MemoryContextSwitchTo(old);
}

void
shuffle_add_values(Shuffle *shuffle, Datum *values, bool *nulls)
{
	MemoryContext old;

	if (shuffle->files)
	{
		tuplestore_putvalues(any_file(shuffle), shuffle->desc, values, nulls);
		return;
	}
	old = MemoryContextSwitchTo(shuffle->memory);
	keep_row(shuffle, kanon_minimal_tuple(shuffle->desc, values, nulls));
	MemoryContextSwitchTo(old);
}

static bool
next_in_memory(Shuffle *shuffle)
{
	int64 other;
	MinimalTuple row;

	if (shuffle->next == shuffle->nrows)
		return false;
	/* Any of those that are left. */
	other = (int64) pg_prng_uint64_range(&shuffle->random, shuffle->next, shuffle->nrows - 1);
	row = shuffle->rows[other];
	shuffle->rows[other] = shuffle->rows[shuffle->next];
	shuffle->rows[shuffle->next++] = row;
	ExecStoreMinimalTuple(row, shuffle->slot, false);
	return true;
}

static void
open_file(Shuffle *shuffle)
{
	MemoryContext old = MemoryContextSwitchTo(shuffle->context);
	Tuplestorestate *file = shuffle->files[shuffle->file];

	tuplestore_rescan(file);
	shuffle->within = shuffle_create(shuffle->desc);
	while (tuplestore_gettupleslot(file, true, false, shuffle->slot))
	{
		CHECK_FOR_INTERRUPTS();
		shuffle_add(shuffle->within, shuffle->slot);
	}
	MemoryContextSwitchTo(old);
}

static void
close_file(Shuffle *shuffle)
{
	if (shuffle->within)
		shuffle_end(shuffle->within);
	shuffle->within = NULL;
}

bool
shuffle_next(Shuffle *shuffle, TupleTableSlot **slot)
{
	*slot = shuffle->slot;
	if (shuffle->files == NULL)
		return next_in_memory(shuffle);
	for (; shuffle->file < NFILES; shuffle->file++)
	{
		if (shuffle->within == NULL)
			open_file(shuffle);
		if (shuffle_next(shuffle->within, slot))
			return true;
		CHECK_FOR_INTERRUPTS();
		close_file(shuffle);
	}
	return false;
}

void
shuffle_rewind(Shuffle *shuffle)
{
	close_file(shuffle);
	shuffle->file = 0;
	shuffle->next = 0;
}

void
shuffle_end(Shuffle *shuffle)
{
	close_file(shuffle);
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
