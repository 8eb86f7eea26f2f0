/*
 * codetable.c
 *		A hash table of tuples of codes.
 *
 * An entry is a number; the codes themselves stand in one array, where the tuple
 * that is looked for has the number WANTED.
 */
#include "base/kanon.h"

#include "quality/codetable.h"

#include "common/hashfn.h"
#include "utils/memutils.h"

#define WANTED (-1)

typedef struct CodeEntry
{
	int32 number;
	uint32 hash;
	char status;
} CodeEntry;

static inline const int32 *
entry_codes(const CodeTable *table, int32 number)
{
	return number == WANTED ? table->wanted : codetable_codes(table, number);
}

static inline uint32
hash_codes(const CodeTable *table, int32 number)
{
	const int32 *codes = entry_codes(table, number);
	uint32 hash = 0;

	for (int i = 0; i < table->width; i++)
		hash = hash_combine(hash, murmurhash32((uint32) codes[i]));
	return hash;
}

static inline bool
same_codes(const CodeTable *table, int32 a, int32 b)
{
	return memcmp(entry_codes(table, a), entry_codes(table, b), table->width * sizeof(int32)) == 0;
}

#define SH_PREFIX codeindex
#define SH_ELEMENT_TYPE CodeEntry
#define SH_KEY_TYPE int32
#define SH_KEY number
#define SH_HASH_KEY(tb, k) hash_codes((tb)->private_data, k)
#define SH_EQUAL(tb, a, b) same_codes((tb)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

#define FIRST_TUPLES 1024

CodeTable *
codetable_create(int width)
{
	CodeTable *table = palloc0(sizeof(CodeTable));

	table->context = CurrentMemoryContext;
	table->width = width;
	table->room = FIRST_TUPLES;
	table->codes = palloc(Max((Size) table->room * width, 1) * sizeof(int32));
	table->index = codeindex_create(CurrentMemoryContext, FIRST_TUPLES, table);
	return table;
}

/* The number of a tuple, a new one if it was not known. */
int32
codetable_number(CodeTable *table, const int32 *codes, bool *found)
{
	CodeEntry *entry;

	table->wanted = codes;
	entry = codeindex_insert(table->index, WANTED, found);
	if (*found)
		return entry->number;
	if (table->count == table->room)
	{
		if (table->room > PG_INT32_MAX / 2)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("there are more than %d different rows", table->room)));
		table->room *= 2;
		table->codes = repalloc_huge(table->codes, Max((Size) table->room * table->width, 1) * sizeof(int32));
	}
	memcpy(table->codes + (Size) table->count * table->width, codes, table->width * sizeof(int32));
	entry->number = table->count++;
	return entry->number;
}
