/*
 * histogram.c
 *		Classes of equal rows.
 *
 * Memory grows with the number of classes and with k, never with rows: a class keeps no
 * more individuals than the largest k.  It keeps the number of rows per sensitive value
 * where t is asked for; for l see ldiversity.c.
 */
#include "base/kanon.h"

#include "recode/histogram.h"

#include "lib/stringinfo.h"
#include "utils/memutils.h"

#include "hierarchy/generalized.h"
#include "recode/dictionary.h"
#include "recode/ldiversity.h"
#include "recode/recode.h"

/*
 * The codes of a class as one word, so that a lookup mostly touches nothing but the index.
 * Each column has an equal share of the bits; where a code needs more, the word is a hash,
 * its highest bit is set, and a lookup compares the codes themselves, too.
 */
typedef uint64 Packed;

#define PACKED_BITS 63
#define IS_HASH(packed) ((packed) >> PACKED_BITS != 0)

/* A class in the index of a histogram. */
typedef struct ClassEntry
{
	Packed packed; /* first: histogram_same_codes() gets its address and reads class after it */
	int32 class;
	char status;
} ClassEntry;

/* Return a hash of codes, marked as one. */
static Packed
histogram_hash_codes(const int32 *codes, int count)
{
	uint64 hash = 0;

	for (int i = 0; i < count; i++)
		hash = (hash ^ (uint32) codes[i]) * UINT64CONST(0x9E3779B97F4A7C15);
	return hash | UINT64CONST(1) << PACKED_BITS;
}

/* Return codes packed into one word, or their hash if they do not fit. */
static inline Packed
pack_codes(const int32 *codes, int count)
{
	int bits = Min(PACKED_BITS / Max(count, 1), 31);
	Packed packed = 0;
	uint32 all = 0;

	for (int i = 0; i < count; i++)
	{
		Assert(codes[i] >= 0);
		all |= (uint32) codes[i];
		packed = packed << bits | (uint32) codes[i];
	}
	return all >> bits == 0 ? packed : histogram_hash_codes(codes, count);
}

/* Return a hash of packed codes. */
static inline uint32
hash_packed(Packed packed)
{
	uint64 hash = (packed ^ packed >> 32) * UINT64CONST(0x9E3779B97F4A7C15);

	return (uint32) (hash >> 32);
}

/* Return true if a key of the index is that of histogram->wanted, which is given packed. */
static inline bool
histogram_same_codes(const Histogram *histogram, const Packed *key, Packed packed)
{
	const ClassEntry *entry = (const ClassEntry *) key;
	int width = histogram->recoder->ncolumns;

	if (entry->packed != packed)
		return false;
	return !IS_HASH(packed) ||
		   memcmp(histogram->codes + (Size) entry->class * width, histogram->wanted, width * sizeof(int32)) == 0;
}

#define HISTOGRAM(tb) ((Histogram *) (tb)->private_data)

#define SH_PREFIX classindex
#define SH_ELEMENT_TYPE ClassEntry
#define SH_KEY_TYPE Packed
#define SH_KEY packed
#define SH_HASH_KEY(tb, k) hash_packed(k)
#define SH_EQUAL(tb, a, b) histogram_same_codes(HISTOGRAM(tb), &(a), b)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* The capacity of a new histogram. */
#define FIRST_CLASSES 256

/* Return an array with room for count elements, which takes the place of the given one; that may be NULL. */
static void *
grow_array(void *array, int count, Size size)
{
	return array ? repalloc_huge(array, (Size) count * size) : palloc_extended((Size) count * size, MCXT_ALLOC_HUGE);
}

/* Make room for capacity classes in all arrays that the histogram keeps. */
static void
histogram_make_room(Histogram *histogram)
{
	Recoder *recoder = histogram->recoder;
	int capacity = histogram->capacity;

	Assert(histogram->nclasses <= capacity);
	histogram->codes = grow_array(histogram->codes, capacity, recoder->ncolumns * sizeof(int32));
	histogram->cells = grow_array(histogram->cells, capacity, sizeof(Cell *));
	if (histogram->rows)
		histogram->rows = grow_array(histogram->rows, capacity, sizeof(int64));
	if (histogram->k)
		histogram->k = grow_array(histogram->k, capacity, sizeof(int));
	if (histogram->visible)
		histogram->visible = grow_array(histogram->visible, capacity, sizeof(Bag));
	if (histogram->individuals)
		histogram->individuals = grow_array(histogram->individuals, capacity, sizeof(Bag));
	if (histogram->sensitive)
		histogram->sensitive = grow_array(histogram->sensitive, capacity, recoder->nsensitive * sizeof(Bag));
	if (histogram->diverse)
		histogram->diverse = grow_array(histogram->diverse, capacity, recoder->nsensitive * sizeof(Diversity));
}

/* Return an empty histogram in the current memory context; without counting, it only tells classes apart. */
Histogram *
histogram_create(Recoder *recoder, bool counting)
{
	Histogram *histogram = palloc0(sizeof(Histogram));

	histogram->context = CurrentMemoryContext;
	histogram->recoder = recoder;
	histogram->capacity = FIRST_CLASSES;
	histogram->index = classindex_create(CurrentMemoryContext, FIRST_CLASSES, histogram);
	if (counting)
	{
		histogram->rows = palloc(sizeof(int64));
		if (recoder->personal)
			histogram->k = palloc(sizeof(int));
		if (recoder->masked)
			histogram->visible = palloc(sizeof(Bag));
		if (!recoder->count_rows)
			histogram->individuals = palloc(sizeof(Bag));
		if (recoder->nsensitive > 0 && recoder->t > 0)
			histogram->sensitive = palloc(sizeof(Bag));
		if (recoder->nsensitive > 0 && recoder->l > 0)
			histogram->diverse = palloc(sizeof(Diversity));
	}
	histogram_make_room(histogram);
	return histogram;
}

/* Return the class that has these codes, or -1. */
int
histogram_find(Histogram *histogram, const int32 *codes)
{
	ClassEntry *entry;

	histogram->wanted = codes;
	entry = classindex_lookup(histogram->index, pack_codes(codes, histogram->recoder->ncolumns));
	return entry ? entry->class : -1;
}

/* Return the class that has these codes, after adding it if it is new. */
int
histogram_class(Histogram *histogram, const int32 *codes)
{
	int width = histogram->recoder->ncolumns;
	int nsensitive = histogram->recoder->nsensitive;
	ClassEntry *entry;
	bool found;
	int class;

	histogram->wanted = codes;
	entry = classindex_insert(histogram->index, pack_codes(codes, width), &found);
	if (found)
		return entry->class;

	if (histogram->nclasses == histogram->capacity)
	{
		histogram->capacity *= 2;
		histogram_make_room(histogram);
	}
	class = entry->class = histogram->nclasses++;
	memcpy(histogram->codes + (Size) class * width, codes, width * sizeof(int32));
	histogram->cells[class] = NULL;
	if (histogram->rows)
		histogram->rows[class] = 0;
	if (histogram->k)
		histogram->k[class] = 0;
	if (histogram->visible)
		memset(&histogram->visible[class], 0, sizeof(Bag));
	if (histogram->individuals)
		memset(&histogram->individuals[class], 0, sizeof(Bag));
	if (histogram->sensitive)
		memset(&histogram->sensitive[(Size) class * nsensitive], 0, nsensitive * sizeof(Bag));
	if (histogram->diverse)
		memset(&histogram->diverse[(Size) class * nsensitive], 0, nsensitive * sizeof(Diversity));
	return class;
}

/* Return the place of a key in a bag, or the place where it belongs. */
static int
bag_place(const Bag *bag, uint64 key)
{
	int lo = 0;
	int hi = bag->size;

	while (lo < hi)
	{
		int middle = (lo + hi) / 2;

		if (bag->keys[middle] < key)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

/*
 * Add a key to a bag with its arrays in a memory context.  A bag that has limit keys
 * (limit > 0) takes no new ones.  A count of zero says that the bag keeps no counts.
 */
static void
bag_add(MemoryContext context, Bag *bag, uint64 key, int64 count, int limit)
{
	int place;

	Assert(bag->size == 0 || (count > 0) == (bag->counts != NULL));
	if (limit > 0 && bag->size >= limit)
		return;
	place = bag_place(bag, key);
	if (place < bag->size && bag->keys[place] == key)
	{
		if (bag->counts)
			bag->counts[place] += count;
		return;
	}
	if (bag->size == bag->room)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		bag->room = bag->room ? bag->room * 2 : 2;
		bag->keys = bag->size ? repalloc(bag->keys, bag->room * sizeof(uint64)) : palloc(bag->room * sizeof(uint64));
		if (count > 0)
			bag->counts = bag->size ? repalloc(bag->counts, bag->room * sizeof(int64))
									: palloc(bag->room * sizeof(int64));
		MemoryContextSwitchTo(old);
	}
	Assert(place == bag->size || bag->keys[place] > key);
	Assert(place == 0 || bag->keys[place - 1] < key);
	memmove(bag->keys + place + 1, bag->keys + place, (bag->size - place) * sizeof(uint64));
	bag->keys[place] = key;
	if (bag->counts)
	{
		memmove(bag->counts + place + 1, bag->counts + place, (bag->size - place) * sizeof(int64));
		bag->counts[place] = count;
	}
	bag->size++;
}

/* Add the keys of another bag, with their counts, in the current memory context; see bag_add() for limit. */
void
bag_merge(Bag *bag, const Bag *other, int limit)
{
	for (int i = 0; i < other->size; i++)
		bag_add(CurrentMemoryContext, bag, other->keys[i], other->counts ? other->counts[i] : 0, limit);
}

/* Count a row, and return its class. */
int
histogram_add(Histogram *histogram, const RecodeRow *row)
{
	Recoder *recoder = histogram->recoder;
	int class = histogram_class(histogram, row->codes);

	Assert(histogram->rows != NULL);
	histogram->rows[class] += row->rows;
	if (histogram->k)
		histogram->k[class] = Max(histogram->k[class], row->k);
	if (histogram->visible)
		bag_add(histogram->context, &histogram->visible[class], row->visible, 0, 0);
	if (histogram->individuals && row->identified)
		bag_add(histogram->context, &histogram->individuals[class], row->individual, 0, recoder->most_individuals);
	for (int i = 0; i < recoder->nsensitive; i++)
	{
		Size at = (Size) class * recoder->nsensitive + i;

		if (histogram->sensitive)
			bag_add(histogram->context, &histogram->sensitive[at], row->sensitive[i], row->rows, 0);
		if (histogram->diverse && row->identified && row->values[i] != NO_VALUE)
			diversity_add(&recoder->sensitive[i].diversity, histogram->context, &histogram->diverse[at],
						  row->values[i], row->individual);
	}
	return class;
}

/* Add a class of another histogram of the same recoder, with its counts and bags. */
void
histogram_take(Histogram *histogram, const Histogram *other, int class)
{
	Recoder *recoder = histogram->recoder;
	int taken = histogram_class(histogram, other->codes + (Size) class * recoder->ncolumns);
	MemoryContext old = MemoryContextSwitchTo(histogram->context);

	Assert(other->recoder == recoder && class >= 0 && class < other->nclasses);
	histogram->rows[taken] += other->rows[class];
	if (histogram->k)
		histogram->k[taken] = Max(histogram->k[taken], other->k[class]);
	if (histogram->individuals)
		bag_merge(&histogram->individuals[taken], &other->individuals[class], recoder->most_individuals);
	for (int i = 0; i < recoder->nsensitive; i++)
	{
		Size to = (Size) taken * recoder->nsensitive + i;
		Size from = (Size) class * recoder->nsensitive + i;

		if (histogram->sensitive)
			bag_merge(&histogram->sensitive[to], &other->sensitive[from], 0);
		if (histogram->diverse)
			diversity_merge(&recoder->sensitive[i].diversity, &histogram->diverse[to], &other->diverse[from]);
	}
	MemoryContextSwitchTo(old);
}

/*
 * Call a function with the codes of a class as the rows' owners let them be seen, once for
 * each set of visible columns, until it returns true; return true if it did.
 */
bool
histogram_test(const Histogram *histogram, int class, ClassTest test, void *arg)
{
	const Recoder *recoder = histogram->recoder;
	const int32 *codes = histogram->codes + (Size) class * recoder->ncolumns;
	int32 *seen;
	bool result = false;

	Assert(class >= 0 && class < histogram->nclasses);
	if (histogram->visible == NULL)
		return test(arg, codes);
	seen = palloc(Max(recoder->ncolumns, 1) * sizeof(int32));
	for (int i = 0; i < histogram->visible[class].size && !result; i++)
	{
		recoder_mask(recoder, histogram->visible[class].keys[i], codes, seen);
		result = test(arg, seen);
	}
	pfree(seen);
	return result;
}

/* The classes that histogram_dump() prints. */
#define DUMPED_CLASSES 100

/* Append a class: its values, its counts, and the step of its cell if it is published. */
static void
dump_class(StringInfo out, const Histogram *histogram, int class)
{
	const Recoder *recoder = histogram->recoder;
	const Cell *cell = histogram->cells[class];

	appendStringInfo(out, "  class %d:", class);
	for (int column = 0; column < recoder->ncolumns; column++)
	{
		int32 code = histogram->codes[(Size) class * recoder->ncolumns + column];
		const char *text = "NULL";
		int len = 4;
		GenView view;

		if (code != NULL_CODE)
		{
			gen_view(recoder->columns[column]->levels[0].values[code], &view);
			text = gen_text(&view, &len);
		}
		appendStringInfo(out, " %d=%.*s", code, len, text);
	}
	if (histogram->rows)
		appendStringInfo(out, ", %lld rows", (long long) histogram->rows[class]);
	if (histogram->k)
		appendStringInfo(out, ", k %d", histogram->k[class]);
	if (histogram->individuals)
		appendStringInfo(out, ", %d individuals", histogram->individuals[class].size);
	if (cell)
		appendStringInfo(out, ", %s at step %d", cell->suppressed ? "suppressed" : "published", cell->step);
	appendStringInfoChar(out, '\n');
}

/*
 * Print a histogram and its first classes to the server's standard error.  Nothing calls
 * this function: it is there for a debugger ("call histogram_dump(histogram)").
 */
void
histogram_dump(const Histogram *histogram)
{
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfo(&out, "histogram: %d classes, room for %d\n", histogram->nclasses, histogram->capacity);
	for (int class = 0; class < Min(histogram->nclasses, DUMPED_CLASSES); class ++)
		dump_class(&out, histogram, class);
	fputs(out.data, stderr);
	pfree(out.data);
}
