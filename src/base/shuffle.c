/*
 * shuffle.c
 *		Rows in an order that says nothing: neither the source's nor that of the groups.
 *
 * Rows that fit into work_mem are handed out at random (Fisher and Yates).  More rows
 * than that are thrown into NBUCKETS files at random; then the files are handed out one
 * after the other, and the rows of a file at random.  Every order of all rows is as
 * likely as any other (Rao and Sandelius), unlike if rows were shuffled in windows.  A
 * file that is too large is divided again; and so are rows in memory that are very many.
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
 * The size of a bucket in memory beyond which it is divided, in bytes.  Measured: as long as the
 * list of its rows fits into the processor's cache, dividing costs more than fetching rows at
 * random; far beyond that, less.
 */
#define BUCKET_SIZE (128 * 1024 * 1024)

/* Rows of this size stay in memory even if work_mem is less: files for all buckets would take as much. */
#define LEAST_SIZE (1024 * 1024)

/* The least number of rows that are divided, however wide they are. */
#define LEAST_ROWS 16

/* Rows that there is room for at first in the list of a bucket. */
#define FIRST_ROWS 16

/* The sizes of chunks, in bytes; a wider row has one of its own. */
#define SMALLEST_CHUNK 1024
#define LARGEST_CHUNK 65536
/* Of a bucket whose other rows are in a file. */
#define WRITTEN_CHUNK 8192

/* How many rows ahead of the one that is handed out are fetched into the cache, and how many bytes of each at most. */
#define FETCH_AHEAD 8
#define FETCH_BYTES 512

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
	MinimalTuple *rows; /* in the chunks; NULL: they are being written to a file */
	int64 room;			/* rows that there is room for */
	int64 nrows;		/* in all */
	Size size;			/* of all rows, in bytes */
	Size written;		/* of the rows in the file */
	BufFile *file;		/* has the first rows; NULL: all are in chunks */
} Bucket;

struct Shuffle
{
	MemoryContext context;	/* owns the shuffle itself, its files and slot */
	MemoryContext memory;	/* owns the chunks */
	ResourceOwner owner;	/* of the files */
	TupleDesc desc;			/* a copy */
	TupleTableSlot *slot;	/* holds the row last returned */
	Tuplestorestate *store; /* the rows in order; NULL: they are in buckets */
	Bucket *buckets;
	int nbuckets;	/* 1 or NBUCKETS */
	int64 nrows;	/* of all buckets */
	Size allocated; /* for chunks and lists of rows, in bytes */
	bool on_disk;	/* buckets are written to files */

	/* The bucket that is handed out; -1: none yet. */
	int at;
	int64 left;		 /* of its rows in memory */
	int width;		 /* bytes of a row to be fetched into the cache */
	Shuffle *within; /* its rows, read from its file; NULL: they are in memory */
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
	Chunk *chunk = MemoryContextAllocHuge(shuffle->memory, total);

	chunk->next = NULL;
	chunk->room = total - CHUNK_HEADER;
	chunk->used = 0;
	if (bucket->last)
		bucket->last->next = chunk;
	else
		bucket->first = chunk;
	bucket->last = chunk;
	shuffle->allocated += total;
}

/* Free the list of a bucket's rows. */
static void
free_list(Shuffle *shuffle, Bucket *bucket)
{
	if (bucket->rows)
		pfree(bucket->rows);
	shuffle->allocated -= bucket->room * sizeof(MinimalTuple);
	bucket->rows = NULL;
	bucket->room = 0;
}

/* Free the first chunk of a bucket. */
static void
free_chunk(Shuffle *shuffle, Bucket *bucket)
{
	Chunk *chunk = bucket->first;

	bucket->first = chunk->next;
	if (bucket->first == NULL)
		bucket->last = NULL;
	shuffle->allocated -= CHUNK_HEADER + chunk->room;
	pfree(chunk);
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
	while (bucket->first)
	{
		BufFileWrite(bucket->file, (char *) bucket->first + CHUNK_HEADER, bucket->first->used);
		free_chunk(shuffle, bucket);
	}
	bucket->written = bucket->size;
	free_list(shuffle, bucket);
}

/* List a row of a bucket. */
static inline void
list_row(Shuffle *shuffle, Bucket *bucket, MinimalTuple row)
{
	if (bucket->nrows == bucket->room)
	{
		int64 room = Max(bucket->room * 2, FIRST_ROWS);

		bucket->rows = bucket->rows ? repalloc_huge(bucket->rows, room * sizeof(MinimalTuple))
									: MemoryContextAllocHuge(shuffle->memory, room * sizeof(MinimalTuple));
		shuffle->allocated += (room - bucket->room) * sizeof(MinimalTuple);
		bucket->room = room;
	}
	bucket->rows[bucket->nrows] = row;
}

/* Return the space for a row of a size in a bucket. */
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
	if (!shuffle->on_disk)
		list_row(shuffle, bucket, row);
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
	free_list(shuffle, &all);
	for (; all.first; free_chunk(shuffle, &all))
	{
		for (Size at = 0; at < all.first->used;)
		{
			MinimalTuple row = (MinimalTuple) ((char *) all.first + CHUNK_HEADER + at);
			Size size = MAXALIGN(row->t_len);

			memcpy(add_to_bucket(shuffle, &shuffle->buckets[chance_below(NBUCKETS)], size), row, size);
			at += size;
		}
	}
}

/* Divide the rows, or move them to files, if they have become too many. */
static void
make_room(Shuffle *shuffle)
{
	Size most = Max(work_mem * (Size) 1024, LEAST_SIZE);

	if (shuffle->allocated <= Min(most, BUCKET_SIZE) || shuffle->nrows < LEAST_ROWS || shuffle->on_disk)
		return;
	shuffle->on_disk = shuffle->allocated > most;
	if (shuffle->nbuckets == 1)
		divide_rows(shuffle);
	for (int i = 0; i < NBUCKETS && shuffle->on_disk; i++)
		write_bucket(shuffle, &shuffle->buckets[i]);
}

/* Return the space for a row of a length, with zeros behind it, since it may be written to a file. */
static inline MinimalTuple
add_row(Shuffle *shuffle, Size length)
{
	Size size = MAXALIGN(length);
	int bucket = 0;
	MinimalTuple row;

	Assert(shuffle->at < 0);
	make_room(shuffle);
	if (shuffle->nbuckets > 1)
		bucket = chance_below(NBUCKETS);
	shuffle->nrows++;
	row = add_to_bucket(shuffle, &shuffle->buckets[bucket], size);
	memset((char *) row + size - MAXIMUM_ALIGNOF, 0, MAXIMUM_ALIGNOF);
	return row;
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
	memset(row, 0, header + size);
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

/* Read the rows of a bucket from its file into a shuffle of their own, which divides them again if necessary. */
static void
read_bucket(Shuffle *shuffle, Bucket *bucket)
{
	MemoryContext old = MemoryContextSwitchTo(shuffle->context);
	Shuffle *within = shuffle_create(shuffle->desc, false);
	uint32 length;

	MemoryContextSwitchTo(old);
	within->owner = shuffle->owner;
	shuffle->within = within;
	if (BufFileSeek(bucket->file, 0, 0, SEEK_SET) != 0)
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

/* Bring the list of a bucket's rows into random order. */
static void
mix_rows(Bucket *bucket)
{
	MinimalTuple *rows = bucket->rows;

	Assert(bucket->nrows <= PG_UINT32_MAX);
	for (int64 i = bucket->nrows - 1; i > 0; i--)
	{
		uint32 other = chance_below((uint32) i + 1);
		MinimalTuple row = rows[i];

		rows[i] = rows[other];
		rows[other] = row;
	}
}

/* Start handing out a bucket. */
static void
open_bucket(Shuffle *shuffle, Bucket *bucket)
{
	Assert(shuffle->within == NULL && shuffle->left == 0);
	if (bucket->file)
	{
		read_bucket(shuffle, bucket);
		return;
	}
	Assert(bucket->rows || bucket->nrows == 0);
	mix_rows(bucket);
	shuffle->left = bucket->nrows;
	shuffle->width = (int) Min(bucket->size / Max(bucket->nrows, 1), FETCH_BYTES);
}

/* End handing out a bucket; it stays for a rewind. */
static void
close_bucket(Shuffle *shuffle)
{
	if (shuffle->within)
		shuffle_end(shuffle->within);
	shuffle->within = NULL;
	shuffle->left = 0;
}

/* Hand out rows of a bucket in memory. */
static inline int
take_rows(Shuffle *shuffle, MinimalTuple *rows, int most)
{
	MinimalTuple *listed = shuffle->at < 0 ? NULL : shuffle->buckets[shuffle->at].rows;
	int count = (int) Min(shuffle->left, most);

	for (int i = 0; i < count; i++)
	{
		const char *ahead = (const char *) listed[Max(shuffle->left - FETCH_AHEAD, 0)];

		rows[i] = listed[--shuffle->left];
		for (int at = 0; at <= shuffle->width; at += KANON_CACHE_LINE)
			kanon_prefetch(ahead + at);
	}
	return count;
}

/* Set the next row of the store, and return 1; return 0 after the last. */
static int
fetch_in_order(Shuffle *shuffle, MinimalTuple *row)
{
	MemoryContext old = MemoryContextSwitchTo(shuffle->context);
	bool found = tuplestore_gettupleslot(shuffle->store, true, false, shuffle->slot);
	bool free;

	MemoryContextSwitchTo(old);
	if (found)
		*row = ExecFetchSlotMinimalTuple(shuffle->slot, &free);
	Assert(!found || !free);
	return found ? 1 : 0;
}

/* Set the next rows, and return how many they are; 0 after the last row. */
int
shuffle_fetch(Shuffle *shuffle, MinimalTuple *rows, int most)
{
	Assert(most >= 1);
	if (shuffle->store)
		return fetch_in_order(shuffle, rows);
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
		open_bucket(shuffle, &shuffle->buckets[shuffle->at]);
	}
}

/* Return the next row in a slot; return false after the last one. */
bool
shuffle_next(Shuffle *shuffle, TupleTableSlot **slot)
{
	MinimalTuple row;

	*slot = shuffle->slot;
	if (shuffle_fetch(shuffle, &row, 1) == 0)
		return false;
	if (shuffle->store == NULL)
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
