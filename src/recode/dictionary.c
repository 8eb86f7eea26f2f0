/*
 * dictionary.c
 *		Codes for the values of a column.
 *
 * A raw value is looked up by its bytes; that is all that most rows need.  At its first
 * sight it becomes a generalized value, which gets the next code of level 0 unless an
 * equal one has a code already, and so on at each level up to the root.
 */
#include "base/kanon.h"

#include "recode/dictionary.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "common/shortest_dec.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "base/extension.h"
#include "base/interner.h"
#include "base/settings.h"
#include "base/typekind.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"

/*
 * A raw value: the datum if the type is passed by value, else its bytes.  Up to 16 bytes
 * are determined by their first and last words and their number, so that most comparisons
 * touch nothing but the key.
 */
typedef struct RawKey
{
	uint64 first;
	uint64 last;	   /* combined with a hash of all bytes where they are more than 16 */
	const char *bytes; /* compared where they are more than 16; NULL if passed by value */
	uint32 size;
} RawKey;

/* A raw value that has been seen, with its code at level 0. */
typedef struct RawEntry
{
	RawKey key;
	int32 code;
	char status;
} RawEntry;

/* Return true if two keys are of the same raw value. */
static inline bool
same_raw(const RawKey *a, const RawKey *b)
{
	if (a->first != b->first || a->last != b->last || a->size != b->size)
		return false;
	return a->size <= 16 || memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* Return a hash of a raw value. */
static inline uint32
hash_raw(const RawKey *key)
{
	uint64 hash = (key->first ^ key->size) * UINT64CONST(0x9E3779B97F4A7C15);

	hash = (hash ^ (hash >> 32) ^ key->last) * UINT64CONST(0xBF58476D1CE4E5B9);
	return (uint32) (hash >> 32);
}

#define SH_PREFIX rawindex
#define SH_ELEMENT_TYPE RawEntry
#define SH_KEY_TYPE RawKey
#define SH_KEY key
#define SH_HASH_KEY(tb, k) hash_raw(&(k))
#define SH_EQUAL(tb, a, b) same_raw(&(a), &(b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* The capacity of a new index of raw values. */
#define FIRST_CODES 64

/* Return the code of a generalized value on a level, or of NULL on level 0; *found is false if the code is new. */
static int32
intern_value(Dictionary *dictionary, int level_number, Datum value, bool *found)
{
	DictionaryLevel *level = &dictionary->levels[level_number];
	int32 code = interner_code(level->index, &value, found);

	Assert(level_number >= 0 && level_number <= dictionary->height);
	if (!*found)
	{
		if (level->index->room > level->capacity)
			level->parent = repalloc_huge(level->parent, level->index->room * sizeof(int32));
		level->ncodes = level->index->count;
		level->capacity = level->index->room;
		level->values = (Datum *) level->index->records;
	}
	return code;
}

/* Return the value that covers all values of the column. */
Datum
dictionary_root(const Dictionary *dictionary)
{
	return dictionary->dgh ? dgh_root(dictionary->dgh) : gen_any(0);
}

/* Link a new code of level 0 to the codes of its generalizations, up to the root. */
static void
add_ancestors(Dictionary *dictionary, int32 code, Datum value)
{
	bool at_root = false;
	bool found = false;

	Assert(code >= 0 && code < dictionary->levels[0].ncodes);
	for (int height = 1; height <= dictionary->height && !found; height++)
	{
		Datum above;
		int32 above_code;

		if (at_root || DatumGetPointer(value) == NULL || dictionary->dgh == NULL)
			above = dictionary_root(dictionary);
		else
			above = dgh_climb(dictionary->dgh, value, height, &at_root);
		above_code = intern_value(dictionary, height, above, &found);
		dictionary->levels[height - 1].parent[code] = above_code;
		code = above_code;
	}
}

/*
 * Return true if the generalized value of a raw one depends on settings: the day of a
 * timestamp with time zone, a text that a hierarchy reads as a date, and the text form of
 * all types that have no form of their own here.
 */
static bool
depends_on_settings(const Dictionary *dictionary)
{
	switch (typekind_of_base(dictionary->type))
	{
		case TYPEKIND_TIMESTAMP:
			return dictionary->type == TIMESTAMPTZOID;
		case TYPEKIND_TEXT:
		case TYPEKIND_PADDED:
		case TYPEKIND_NAME:
			return dictionary->dgh && dictionary->dgh->kind == DGH_DATE;
		case TYPEKIND_OTHER:
			return true;
		default:
			return false;
	}
}

/* Return a dictionary for a column of a type, in the current memory context; dgh is the column's hierarchy, or NULL. */
Dictionary *
dictionary_create(Oid type, Dgh *dgh, PinnedSettings *settings)
{
	Dictionary *dictionary = palloc0(sizeof(Dictionary));
	Oid output;
	bool is_varlena;
	bool found;

	dictionary->context = CurrentMemoryContext;
	dictionary->work = AllocSetContextCreate(CurrentMemoryContext, "kanon dictionary work", ALLOCSET_SMALL_SIZES);
	dictionary->type = getBaseType(type);
	get_typlenbyval(type, &dictionary->typlen, &dictionary->typbyval);
	getTypeOutputInfo(type, &output, &is_varlena);
	fmgr_info(output, &dictionary->output);
	dictionary->dgh = dgh;
	dictionary->settings = depends_on_settings(dictionary) ? settings : NULL;
	dictionary->height = dgh ? dgh->height : 1;
	dictionary->levels = palloc0((dictionary->height + 1) * sizeof(DictionaryLevel));
	dictionary->raw = rawindex_create(CurrentMemoryContext, FIRST_CODES, NULL);
	for (int i = 0; i <= dictionary->height; i++)
	{
		DictionaryLevel *level = &dictionary->levels[i];

		level->index = interner_create(CurrentMemoryContext, sizeof(Datum), sizeof(Datum), &gen_interner_methods, NULL);
		level->capacity = level->index->room;
		level->values = (Datum *) level->index->records;
		level->parent = palloc(level->capacity * sizeof(int32));
	}
	/* NULL is a leaf directly below the root. */
	add_ancestors(dictionary, intern_value(dictionary, 0, (Datum) 0, &found), (Datum) 0);
	return dictionary;
}

/* Return a day, or the label of an infinite date. */
static Datum
day_value(DateADT day)
{
	if (DATE_NOT_FINITE(day))
		return DATE_IS_NOBEGIN(day) ? gen_label("-infinity", 9, 0) : gen_label("infinity", 8, 0);
	return gen_whole_interval(GEN_DATE, GEN_POINT, day, day);
}

/* Return the label of a value's text form. */
static Datum
text_value(Dictionary *dictionary, Datum value, uint8 flags)
{
	char *text = OutputFunctionCall(&dictionary->output, value);

	return gen_label(text, strlen(text), flags);
}

/*
 * Return a floating-point number from the shortest digits that tell it from all others,
 * so that the setting extra_float_digits does not matter.
 */
static Datum
float_value(const char *decimal)
{
	Numeric number;

	if (gen_parse_number(decimal, strlen(decimal), &number))
		return gen_numeric_interval(GEN_POINT, number, number);
	return gen_label(decimal, strlen(decimal), 0);
}

/* Return the label of a char(n) without the blanks at its end: they mean nothing, and no hierarchy's label has them. */
static Datum
padded_value(BpChar *value)
{
	char *text = VARDATA_ANY(value);

	return gen_label(text, bpchartruelen(text, VARSIZE_ANY_EXHDR(value)), GEN_FROM_TEXT);
}

/* Return a raw value as a generalized one that covers just this value. */
static Datum
level_zero_value(Dictionary *dictionary, Datum value)
{
	char decimal[DOUBLE_SHORTEST_DECIMAL_LEN];
	int64 whole;

	/* Published by another anonymization view. */
	if (dictionary->type == kanon_generalized_type())
		return PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	switch (typekind_of_base(dictionary->type))
	{
		case TYPEKIND_INTEGER:
			whole = typekind_integer(dictionary->type, value);
			return gen_whole_interval(GEN_INT, GEN_POINT, whole, whole);
		case TYPEKIND_NUMERIC:
			if (numeric_is_nan(DatumGetNumeric(value)) || numeric_is_inf(DatumGetNumeric(value)))
				return text_value(dictionary, value, 0);
			return gen_numeric_interval(GEN_POINT, DatumGetNumeric(value), DatumGetNumeric(value));
		case TYPEKIND_FLOAT:
			if (dictionary->type == FLOAT4OID)
				float_to_shortest_decimal_buf(DatumGetFloat4(value), decimal);
			else
				double_to_shortest_decimal_buf(DatumGetFloat8(value), decimal);
			return float_value(decimal);
		case TYPEKIND_DATE:
		case TYPEKIND_TIMESTAMP:
			return day_value(typekind_day(dictionary->type, value));
		case TYPEKIND_PADDED:
			return padded_value(DatumGetBpCharPP(value));
		case TYPEKIND_TEXT:
		case TYPEKIND_NAME:
			return text_value(dictionary, value, GEN_FROM_TEXT);
		default:
			return text_value(dictionary, value, 0);
	}
}

/* Return a raw value as a generalized one, in the hierarchy's own form. */
Datum
dictionary_value(Dictionary *dictionary, Datum value)
{
	int level = settings_ensure(dictionary->settings);
	Datum raw = level_zero_value(dictionary, value);
	Datum resolved = dictionary->dgh ? dgh_resolve(dictionary->dgh, raw) : raw;

	settings_leave(level);
	return resolved;
}

/*
 * Return the same from the text form of a raw value, without the type's input function:
 * any role may have written that.
 */
Datum
dictionary_read(Dictionary *dictionary, const char *text)
{
	int len = strlen(text);
	int level = settings_ensure(dictionary->settings);
	Numeric number;
	int64 day;
	Datum raw;

	switch (typekind_of_base(dictionary->type))
	{
		case TYPEKIND_INTEGER:
		case TYPEKIND_NUMERIC:
		case TYPEKIND_FLOAT:
			raw = gen_parse_number(text, len, &number) ? gen_numeric_interval(GEN_POINT, number, number)
													   : gen_label(text, len, 0);
			break;
		case TYPEKIND_DATE:
		case TYPEKIND_TIMESTAMP:
			raw = gen_parse_date(text, len, &day) ? gen_whole_interval(GEN_DATE, GEN_POINT, day, day)
												  : gen_label(text, len, 0);
			break;
		case TYPEKIND_PADDED:
		case TYPEKIND_TEXT:
		case TYPEKIND_NAME:
			raw = gen_label(text, len, GEN_FROM_TEXT);
			break;
		default:
			raw = dictionary->type == kanon_generalized_type() ? gen_parse(text, len) : gen_label(text, len, 0);
	}
	if (dictionary->dgh)
		raw = dgh_resolve(dictionary->dgh, raw);
	settings_leave(level);
	return raw;
}

/* Set the first and last words of some bytes, which overlap where the bytes are few. */
static inline void
read_words(const char *bytes, uint32 size, RawKey *key)
{
	uint32 halves[2];

	key->first = key->last = 0;
	if (size >= 8)
	{
		memcpy(&key->first, bytes, 8);
		memcpy(&key->last, bytes + size - 8, 8);
	}
	else if (size >= 4)
	{
		memcpy(&halves[0], bytes, 4);
		memcpy(&halves[1], bytes + size - 4, 4);
		key->first = halves[0] | (uint64) halves[1] << 32;
	}
	else if (size > 0)
		key->first = (uint8) bytes[0] | (uint64) (uint8) bytes[size / 2] << 8 | (uint64) (uint8) bytes[size - 1] << 16;
}

/* Set the key of a raw value; it refers to the value's bytes. */
static inline void
read_key(const Dictionary *dictionary, Datum value, RawKey *key)
{
	if (dictionary->typbyval)
	{
		key->first = (uint64) value;
		key->last = 0;
		key->bytes = NULL;
		key->size = 0;
		return;
	}
	if (dictionary->typlen == -1)
	{
		struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);

		key->bytes = VARDATA_ANY(packed);
		key->size = VARSIZE_ANY_EXHDR(packed);
	}
	else
	{
		key->bytes = DatumGetPointer(value);
		key->size = datumGetSize(value, false, dictionary->typlen);
	}
	read_words(key->bytes, key->size, key);
	if (key->size > 16)
		key->last ^= hash_bytes((const unsigned char *) key->bytes, key->size);
}

/*
 * Return a code for a raw value that is seen for the first time.  Different raw values may
 * be one value even at level 0.
 */
static int32
dictionary_learn(Dictionary *dictionary, RawKey *key, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(dictionary->work);
	Datum generalized = dictionary_value(dictionary, value);
	RawEntry *entry;
	bool found;
	int32 code = intern_value(dictionary, 0, generalized, &found);

	if (!found)
		add_ancestors(dictionary, code, generalized);
	MemoryContextReset(dictionary->work);
	MemoryContextSwitchTo(dictionary->context);
	if (key->bytes)
	{
		char *copy = palloc(Max(key->size, 1));

		memcpy(copy, key->bytes, key->size);
		key->bytes = copy;
	}
	entry = rawindex_insert(dictionary->raw, *key, &found);
	entry->code = code;
	MemoryContextSwitchTo(old);
	return code;
}

/* Return the code of a raw value at level 0. */
int32
dictionary_code(Dictionary *dictionary, Datum value, bool isnull)
{
	RawKey key;
	RawEntry *entry;

	if (isnull)
		return NULL_CODE;
	read_key(dictionary, value, &key);
	entry = rawindex_lookup(dictionary->raw, key);
	return entry ? entry->code : dictionary_learn(dictionary, &key, value);
}
