/*
 * interner.c
 *		Codes for values.
 *
 * The hash table holds codes only; the keys stand in the array of records, so that a
 * tuple of codes needs neither a pointer nor a memory chunk of its own.  A key that
 * is being looked up is not in the array yet: it has the code WANTED meanwhile.
 */
#include "base/kanon.h"

#include "base/interner.h"

#include "common/hashfn.h"
#include "utils/memutils.h"

/* The code of the key that is being looked up. */
#define WANTED (-1)

/* Records that there is room for at first. */
#define FIRST_RECORDS 64

/* A code in the hash table. */
typedef struct InternEntry
{
	int32 code;
	uint32 hash;
	char status;
} InternEntry;

/* Hash a key by its bytes, word by word. */
static inline uint32
interner_hash_words(const uint32 *words, int count)
{
	uint32 hash = 0;

	for (int i = 0; i < count; i++)
		hash = hash_combine(hash, murmurhash32(words[i]));
	return hash;
}

/* Hash a key. */
static inline uint32
interner_hash_key(const Interner *interner, const void *key)
{
	if (interner->methods)
		return interner->methods->hash(key, interner->arg);
	return interner_hash_words(key, interner->key_size / sizeof(uint32));
}

/* Return true if the key of a code is the one that is being looked up. */
static inline bool
interner_is_wanted(const Interner *interner, int32 code)
{
	const char *key = interner->records + (Size) code * interner->record_size;

	Assert(code >= 0 && code < interner->count);
	if (interner->methods)
		return interner->methods->equal(key, interner->wanted, interner->arg);
	for (int i = 0; i < interner->key_size; i += sizeof(uint32))
	{
		if (*(const uint32 *) (key + i) != *(const uint32 *) (interner->wanted + i))
			return false;
	}
	return true;
}

#define INTERNER_OF(tb) ((const Interner *) (tb)->private_data)

#define SH_PREFIX internindex
#define SH_ELEMENT_TYPE InternEntry
#define SH_KEY_TYPE int32
#define SH_KEY code
#define SH_HASH_KEY(tb, key) interner_hash_key(INTERNER_OF(tb), INTERNER_OF(tb)->wanted)
#define SH_EQUAL(tb, stored, key) interner_is_wanted(INTERNER_OF(tb), stored)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, entry) (entry)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Create an empty interner. */
Interner *
interner_create(MemoryContext context, Size key_size, Size record_size, const InternerMethods *methods, void *arg)
{
	Interner *interner = MemoryContextAllocZero(context, sizeof(Interner));

	Assert(record_size >= key_size);
	Assert(methods || key_size % sizeof(uint32) == 0);
	interner->context = context;
	interner->methods = methods;
	interner->arg = arg;
	interner->key_size = key_size;
	interner->record_size = record_size;
	interner->room = FIRST_RECORDS;
	interner->records = MemoryContextAlloc(context, Max(interner->room * record_size, 1));
	interner->index = internindex_create(context, FIRST_RECORDS, interner);
	return interner;
}

/* Create an empty interner of tuples. */
Interner *
interner_create_tuples(MemoryContext context, int width)
{
	Assert(width >= 0);
	return interner_create(context, width * sizeof(int32), width * sizeof(int32), NULL, NULL);
}

/* Make room for one more record. */
static void
interner_grow(Interner *interner)
{
	if (interner->room > PG_INT32_MAX / 2)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("there are more than %d different values", interner->room)));
	interner->room *= 2;
	interner->records = repalloc_huge(interner->records, Max((Size) interner->room * interner->record_size, 1));
}

/* Make room for a number of keys in an empty interner. */
void
interner_reserve(Interner *interner, int count)
{
	Assert(interner->count == 0);
	if (count <= interner->room)
		return;
	interner->room = count;
	interner->records = repalloc_huge(interner->records, (Size) count * interner->record_size);
	internindex_destroy(interner->index);
	interner->index = internindex_create(interner->context, count, interner);
}

/* Append the record of a new key, and return its code. */
static int32
interner_add(Interner *interner, const void *key)
{
	char *record;

	if (interner->count == interner->room)
		interner_grow(interner);
	record = interner->records + (Size) interner->count * interner->record_size;
	if (interner->key_size == sizeof(Datum))
		memcpy(record, key, sizeof(Datum));
	else
		memcpy(record, key, interner->key_size);
	if (interner->record_size > interner->key_size)
		memset(record + interner->key_size, 0, interner->record_size - interner->key_size);
	if (interner->methods && interner->methods->copy)
	{
		MemoryContext old = MemoryContextSwitchTo(interner->context);

		interner->methods->copy(record, interner->arg);
		MemoryContextSwitchTo(old);
	}
	return interner->count++;
}

/* Return the code of a key, which is added if it is new. */
int32
interner_code(Interner *interner, const void *key, bool *found)
{
	InternEntry *entry;

	interner->wanted = key;
	entry = internindex_insert(interner->index, WANTED, found);
	if (!*found)
		entry->code = interner_add(interner, key);
	Assert(entry->code >= 0 && entry->code < interner->count);
	return entry->code;
}

/* Return the code of a key, or -1 if it was never added. */
int32
interner_find(Interner *interner, const void *key)
{
	InternEntry *entry;

	interner->wanted = key;
	entry = internindex_lookup(interner->index, WANTED);
	return entry ? entry->code : -1;
}

/* Free an interner and its records, but not the values that keys point to. */
void
interner_free(Interner *interner)
{
	internindex_destroy(interner->index);
	pfree(interner->records);
	pfree(interner);
}

/* Hash a string. */
uint32
interner_hash_text(const void *key, void *arg)
{
	const char *text = *(const char *const *) key;

	return hash_bytes((const unsigned char *) text, strlen(text));
}

/* Return true if two strings are equal. */
bool
interner_equal_texts(const void *a, const void *b, void *arg)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b) == 0;
}

/* Copy a new string. */
static void
interner_copy_text(void *key, void *arg)
{
	const char **text = key;

	*text = pstrdup(*text);
}

const InternerMethods interner_copied_texts = {
	.hash = interner_hash_text,
	.equal = interner_equal_texts,
	.copy = interner_copy_text,
};

const InternerMethods interner_borrowed_texts = {
	.hash = interner_hash_text,
	.equal = interner_equal_texts,
};
