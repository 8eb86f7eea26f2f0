/*
 * shuffle.c
 *		Rows in an order that says nothing: neither the source's nor that of the groups.
 *
 * Each row is thrown into one of NBUCKETS buckets at random.  Then the buckets are
 * handed out one after the other, and the rows of a bucket at random (Fisher and
 * Yates).  Every order of all rows is as likely as any other (Rao and Sandelius),
 * whether the buckets are in memory or, beyond work_mem, in files; and a bucket is
 * small enough for the processor's cache.  A bucket that is too large is divided
 * again.  As long as all rows are as few as a bucket should have, there is only one.
 */
#include "base/kanon.h"

#include "base/shuffle.h"

#include "access/htup_details.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/tuplestore.h"

#include "base/chance.h"

#define NBUCKETS 64

/*
 * The size of a bucket beyond which it is divided, in bytes: rows are fetched from it at random.
 * Rows of this size stay in memory even if work_mem is less, since files for all buckets would
 * take as much.
 */
#define BUCKET_SIZE (1024 * 1024)

/* The least number of rows that are divided, however wide they are. */
#define LEAST_ROWS 16

/* The sizes of chunks, in bytes; a wider row has one of its own. */
#define SMALLEST_CHUNK 1024
#define LARGEST_CHUNK 65536
/* Of a bucket whose other rows are in a file. */
#define WRITTEN_CHUNK 8192

/* How many rows ahead of the one that is handed out are fetched into the cache. */
#define FETCH_AHEAD 8

/* Rows, one behind the other, each at an address that is aligned for it. */
typedef struct Chunk
{
	struct Chunk *next; /* NULL: the bucket's last one */
	Size room;			/* for rows, in bytes */
	Size used;
} Chunk;

#define CHUNK_HEADER MAXALIGN(sizeof(Chunk))

typedef struct Bucket
{
	Chunk *first; /* NULL: there is none */
	Chunk *last;
	int64 nrows;   /* in all */
	Size size;	   /* of all rows, in bytes */
	Size written;  /* of the rows in the file */
	BufFile *file; /* has the first rows; NULL: all are in chunks */
} Bucket;

struct Shuffle
{
	MemoryContext context; /* owns the shuffle itself, its files and slot */
	MemoryContext memory;  /* owns the chunks */
	ResourceOwner owner;   /* of the files */
	TupleDesc desc;		   /* a copy */
	TupleTableSlot *slot;  /* holds the row last returned */
	Tuplestorestate *store; /* the rows in order; NULL: they are in buckets */
	Bucket *buckets;
	int nbuckets;	/* 1 or NBUCKETS */
	int64 nrows;	/* of all buckets */
	Size allocated; /* for chunks, in bytes */
	bool on_disk;	/* buckets are written to files */

	/* The bucket that is handed out; -1: none yet. */
	int at;
	MinimalTuple *rows; /* its rows at random; NULL: it is divided, or none yet */
	int64 left;			/* of them */
	Shuffle *within;	/* the bucket, divided; NULL: it is not */
};

/* Create an empty shuffle of rows in the current memory context. */
Shuffle *
shuffle_create(TupleDesc desc, bool keep_order)
{
	Shuffle *shuffle = palloc0(sizeof(Shuffle));

	shuffle->context = CurrentMemoryContext;
	shuffle->owner = CurrentResourceOwner;
	shuffle->desc = CreateTupleDescCopy(desc); /* not counted: outlives the caller's */
	shuffle->slot = MakeSingleTupleTableSlot(shuffle->desc, &TTSOpsMinimalTuple);
	shuffle->at = -1;
	if (keep_order)
	{
		shuffle->store = tuplestore_begin_heap(false, false, work_mem);
		return shuffle;
	}
	shuffle->memory = AllocSetContextCreate(CurrentMemoryContext, "kanon shuffled rows", ALLOCSET_DEFAULT_SIZES);
	shuffle->nbuckets = 1;
	shuffle->buckets = palloc0(sizeof(Bucket));
	return shuffle;
}

/* Return the descriptor of the rows. */
TupleDesc
shuffle_desc(const Shuffle *shuffle)
{
	return shuffle->desc;
}

/* Add an empty chunk with room for a row of a size to a bucket. */
static void
add_chunk(Shuffle *shuffle, Bucket *bucket, Size size)
{
	Size room = shuffle->on_disk ? WRITTEN_CHUNK : Min(Max(bucket->size, SMALLEST_CHUNK), LARGEST_CHUNK);
	Size total = Max(room, CHUNK_HEADER + size);
	Chunk *chunk = MemoryContextAllocExtended(shuffle->memory, total, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	chunk->room = total - CHUNK_HEADER;
	if (bucket->last)
		bucket->last->next = chunk;
	else
		bucket->first = chunk;
	bucket->last = chunk;
	shuffle->allocated += total;
}

/* Free all chunks of a bucket. */
static void
free_chunks(Shuffle *shuffle, Bucket *bucket)
{
	while (bucket->first)
	{
		Chunk *chunk = bucket->first;

		bucket->first = chunk->next;
		shuffle->allocated -= CHUNK_HEADER + chunk->room;
		pfree(chunk);
	}
	bucket->last = NULL;
}

/* Move the rows of a bucket's chunks to its file. */
static void
write_bucket(Shuffle *shuffle, Bucket *bucket)
{
	if (bucket->file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(shuffle->context);
		ResourceOwner owner = CurrentResourceOwner;

		CurrentResourceOwner = shuffle->owner;
		PrepareTempTablespaces();
		bucket->file = BufFileCreateTemp(false);
		CurrentResourceOwner = owner;
		MemoryContextSwitchTo(old);
	}
	for (Chunk *chunk = bucket->first; chunk; chunk = chunk->next)
		BufFileWrite(bucket->file, (char *) chunk + CHUNK_HEADER, chunk->used);
	bucket->written = bucket->size;
	free_chunks(shuffle, bucket);
}

/* Return the space, all zeros, for a row of a size in a bucket. */
static inline MinimalTuple
add_to_bucket(Shuffle *shuffle, Bucket *bucket, Size size)
{
	Chunk *chunk = bucket->last;
	MinimalTuple row;

	Assert(size == MAXALIGN(size));
	if (chunk == NULL || chunk->room - chunk->used < size)
	{
		if (shuffle->on_disk && chunk)
			write_bucket(shuffle, bucket);
		add_chunk(shuffle, bucket, size);
		chunk = bucket->last;
	}
	row = (MinimalTuple) ((char *) chunk + CHUNK_HEADER + chunk->used);
	chunk->used += size;
	bucket->size += size;
	bucket->nrows++;
	return row;
}

/* Divide the rows of the only bucket. */
static void
divide_rows(Shuffle *shuffle)
{
	Bucket all = shuffle->buckets[0];

	Assert(shuffle->nbuckets == 1 && all.file == NULL);
	pfree(shuffle->buckets);
	shuffle->buckets = MemoryContextAllocZero(shuffle->context, NBUCKETS * sizeof(Bucket));
	shuffle->nbuckets = NBUCKETS;
	for (Chunk *chunk = all.first; chunk; chunk = chunk->next)
	{
		for (Size at = 0; at < chunk->used;)
		{
			MinimalTuple row = (MinimalTuple) ((char *) chunk + CHUNK_HEADER + at);
			Size size = MAXALIGN(row->t_len);

			memcpy(add_to_bucket(shuffle, &shuffle->buckets[chance_below(NBUCKETS)], size), row, row->t_len);
			at += size;
		}
	}
	free_chunks(shuffle, &all);
}

/* Divide the rows, or move them to files, if they have become too many. */
static void
make_room(Shuffle *shuffle)
{
	if (shuffle->allocated <= BUCKET_SIZE || shuffle->nrows < LEAST_ROWS || shuffle->on_disk)
		return;
	if (shuffle->nbuckets == 1)
		divide_rows(shuffle);
	if (shuffle->allocated <= work_mem * (Size) 1024)
		return;
	shuffle->on_disk = true;
	for (int i = 0; i < NBUCKETS; i++)
		write_bucket(shuffle, &shuffle->buckets[i]);
}

/* Return the space, all zeros, for a row of a length. */
static inline MinimalTuple
add_row(Shuffle *shuffle, Size length)
{
	int bucket = 0;

	Assert(shuffle->at < 0);
	make_room(shuffle);
	if (shuffle->nbuckets > 1)
		bucket = chance_below(NBUCKETS);
	shuffle->nrows++;
	return add_to_bucket(shuffle, &shuffle->buckets[bucket], MAXALIGN(length));
}

/* Add a row that is given by its values: heap_form_minimal_tuple(), but in place. */
void
shuffle_add_values(Shuffle *shuffle, Datum *values, bool *nulls)
{
	int natts = shuffle->desc->natts;
	Size header = SizeofMinimalTupleHeader;
	bool has_null = false;
	Size size;
	MinimalTuple row;

	if (shuffle->store)
	{
		tuplestore_putvalues(shuffle->store, shuffle->desc, values, nulls);
		return;
	}
	for (int i = 0; i < natts && !has_null; i++)
		has_null = nulls[i];
	header = MAXALIGN(header + (has_null ? BITMAPLEN(natts) : 0));
	size = heap_compute_data_size(shuffle->desc, values, nulls);
	row = add_row(shuffle, header + size);
	row->t_len = header + size;
	row->t_infomask2 = natts;
	row->t_hoff = header + MINIMAL_TUPLE_OFFSET;
	heap_fill_tuple(shuffle->desc, values, nulls, (char *) row + header, size, &row->t_infomask,
					has_null ? row->t_bits : NULL);
}

/* Add a row. */
void
shuffle_add(Shuffle *shuffle, TupleTableSlot *slot)
{
	bool free;
	MinimalTuple row;

	if (shuffle->store)
		tuplestore_puttupleslot(shuffle->store, slot);
	else if (TTS_IS_VIRTUAL(slot))
		shuffle_add_values(shuffle, slot->tts_values, slot->tts_isnull);
	else
	{
		row = ExecFetchSlotMinimalTuple(slot, &free);
		memcpy(add_row(shuffle, row->t_len), row, row->t_len);
		if (free)
			pfree(row);
	}
}

/* Read a number of bytes of a bucket's file. */
static void
read_bytes(BufFile *file, void *to, Size size)
{
	if (BufFileRead(file, to, size) != size)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not read from a temporary file")));
}

/* Divide the rows of a bucket: add them to a shuffle of their own. */
static void
open_large_bucket(Shuffle *shuffle, Bucket *bucket)
{
	Shuffle *within = shuffle_create(shuffle->desc, false);
	uint32 length;

	within->owner = shuffle->owner;
	shuffle->within = within;
	if (bucket->file && BufFileSeek(bucket->file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not rewind a temporary file")));
	for (Size at = 0; at < bucket->written; at += MAXALIGN(length))
	{
		MinimalTuple row;

		CHECK_FOR_INTERRUPTS();
		read_bytes(bucket->file, &length, sizeof(length));
		row = add_row(within, length);
		row->t_len = length;
		read_bytes(bucket->file, (char *) row + sizeof(length), MAXALIGN(length) - sizeof(length));
	}
	for (Chunk *chunk = bucket->first; chunk; chunk = chunk->next)
	{
		for (Size at = 0; at < chunk->used; at += MAXALIGN(length))
		{
			MinimalTuple row = (MinimalTuple) ((char *) chunk + CHUNK_HEADER + at);

			length = row->t_len;
			memcpy(add_row(within, length), row, length);
		}
	}
}

/* List the rows of a bucket at random. */
static void
open_small_bucket(Shuffle *shuffle, Bucket *bucket)
{
	int64 count = 0;

	Assert(bucket->file == NULL && bucket->nrows <= PG_UINT32_MAX);
	shuffle->rows = palloc_extended(Max(bucket->nrows, 1) * sizeof(MinimalTuple), MCXT_ALLOC_HUGE);
	for (Chunk *chunk = bucket->first; chunk; chunk = chunk->next)
	{
		for (Size at = 0; at < chunk->used;)
		{
			MinimalTuple row = (MinimalTuple) ((char *) chunk + CHUNK_HEADER + at);
			int64 place = chance_below(count + 1);

			shuffle->rows[count++] = shuffle->rows[place];
			shuffle->rows[place] = row;
			at += MAXALIGN(row->t_len);
		}
	}
	Assert(count == bucket->nrows);
	shuffle->left = count;
}

/* Start handing out the bucket. */
static void
open_bucket(Shuffle *shuffle)
{
	MemoryContext old = MemoryContextSwitchTo(shuffle->context);
	Bucket *bucket = &shuffle->buckets[shuffle->at];

	Assert(shuffle->rows == NULL && shuffle->within == NULL && shuffle->at < shuffle->nbuckets);
	if (bucket->file || (bucket->size > BUCKET_SIZE && bucket->nrows > LEAST_ROWS && shuffle->nbuckets > 1))
		open_large_bucket(shuffle, bucket);
	else
		open_small_bucket(shuffle, bucket);
	MemoryContextSwitchTo(old);
}

/* End handing out the bucket; it stays for a rewind. */
static void
close_bucket(Shuffle *shuffle)
{
	if (shuffle->within)
		shuffle_end(shuffle->within);
	if (shuffle->rows)
		pfree(shuffle->rows);
	shuffle->within = NULL;
	shuffle->rows = NULL;
	shuffle->left = 0;
}

/* Hand out rows of the bucket that is listed. */
static inline int
take_rows(Shuffle *shuffle, MinimalTuple *rows, int most)
{
	int count = (int) Min(shuffle->left, most);

	for (int i = 0; i < count; i++)
	{
		rows[i] = shuffle->rows[--shuffle->left];
		__builtin_prefetch(shuffle->rows[Max(shuffle->left - FETCH_AHEAD, 0)]);
	}
	return count;
}

/* Set the next rows, and return how many they are; 0 after the last row. */
int
shuffle_fetch(Shuffle *shuffle, MinimalTuple *rows, int most)
{
	Assert(shuffle->store == NULL && most >= 1);
	for (;;)
	{
		int count = shuffle->within ? shuffle_fetch(shuffle->within, rows, most) : take_rows(shuffle, rows, most);

		if (count > 0)
			return count;
		CHECK_FOR_INTERRUPTS();
		close_bucket(shuffle);
		if (shuffle->at + 1 >= shuffle->nbuckets)
			return 0;
		shuffle->at++;
		open_bucket(shuffle);
	}
}

/* Return the next row in a slot; return false after the last one. */
bool
shuffle_next(Shuffle *shuffle, TupleTableSlot **slot)
{
	MinimalTuple row;

	*slot = shuffle->slot;
	if (shuffle->store)
	{
		MemoryContext old = MemoryContextSwitchTo(shuffle->context);
		bool found = tuplestore_gettupleslot(shuffle->store, true, false, shuffle->slot);

		MemoryContextSwitchTo(old);
		return found;
	}
	if (shuffle_fetch(shuffle, &row, 1) == 0)
		return false;
	ExecStoreMinimalTuple(row, shuffle->slot, false);
	return true;
}

/* Start again, in another order. */
void
shuffle_rewind(Shuffle *shuffle)
{
	if (shuffle->store)
		tuplestore_rescan(shuffle->store);
	close_bucket(shuffle);
	shuffle->at = -1;
}

/* Free the shuffle and its files. */
void
shuffle_end(Shuffle *shuffle)
{
	close_bucket(shuffle);
	for (int i = 0; i < shuffle->nbuckets; i++)
	{
		if (shuffle->buckets[i].file)
			BufFileClose(shuffle->buckets[i].file);
	}
	if (shuffle->buckets)
		pfree(shuffle->buckets);
	if (shuffle->store)
		tuplestore_end(shuffle->store);
	if (shuffle->memory)
		MemoryContextDelete(shuffle->memory);
	ExecDropSingleTupleTableSlot(shuffle->slot);
	FreeTupleDesc(shuffle->desc);
	pfree(shuffle);
}
