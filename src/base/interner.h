/*
 * interner.h
 *		Codes for values: small numbers, dense from 0, in the order in which values arrive.
 *
 * An interner keeps one record of a fixed size for each different value, and all
 * records in one array, by code.  A record starts with its key, by which values are
 * told apart; the rest of it, if there is more, is the caller's, and zero at first.
 * Keys are compared by their bytes, as tuples of codes are, or by the methods given,
 * as keys that point to their values are.
 */
#ifndef KANON_INTERNER_H
#define KANON_INTERNER_H

/* How keys are compared.  Each function gets pointers to keys, and the interner's arg. */
typedef struct InternerMethods
{
	uint32 (*hash)(const void *key, void *arg);
	bool (*equal)(const void *a, const void *b, void *arg);
	/*
	 * Replace the value that a new key points to by a copy in the current memory
	 * context, which is the interner's.  NULL: the caller keeps the values.
	 */
	void (*copy)(void *key, void *arg);
} InternerMethods;

typedef struct Interner
{
	MemoryContext context;
	const InternerMethods *methods; /* NULL: keys are compared by their bytes */
	void *arg;						/* for the methods */
	int key_size;					/* in bytes */
	int record_size;				/* in bytes, not less than key_size */
	int count;						/* of codes given */
	int room;						/* records that the array has space for */
	char *records;					/* moves when it grows */
	struct internindex_hash *index;
	const char *wanted; /* the key that is being looked up */
} Interner;

/*
 * Create an empty interner in a memory context.  Without methods, key_size is a
 * multiple of sizeof(int32), and keys have no padding.
 */
extern Interner *interner_create(MemoryContext context, Size key_size, Size record_size,
								 const InternerMethods *methods, void *arg);

/* Create an empty interner of tuples of some codes. */
extern Interner *interner_create_tuples(MemoryContext context, int width);

/* Make room for a number of keys in an empty interner, which grows if there are more. */
extern void interner_reserve(Interner *interner, int count);

/* Return the code of a key.  *found is false if the key is new and has been added. */
extern int32 interner_code(Interner *interner, const void *key, bool *found);

/* Return the code of a key, or -1 if it was never added. */
extern int32 interner_find(Interner *interner, const void *key);

/* Free an interner and its records, but not the values that keys point to. */
extern void interner_free(Interner *interner);

/* Return the record of a code; it is valid until the next key is added. */
static inline void *
interner_record(const Interner *interner, int32 code)
{
	Assert(code >= 0 && code < interner->count);
	return interner->records + (Size) code * interner->record_size;
}

/* Return the key of a code as a Datum, in an interner of Datums. */
static inline Datum
interner_datum(const Interner *interner, int32 code)
{
	Assert(interner->key_size == sizeof(Datum));
	return *(const Datum *) interner_record(interner, code);
}

/* Return the key of a code as a string, in an interner of strings. */
static inline const char *
interner_text(const Interner *interner, int32 code)
{
	Assert(interner->key_size == sizeof(const char *));
	return *(const char *const *) interner_record(interner, code);
}

/* Return the key of a code in an interner of tuples. */
static inline const int32 *
interner_tuple(const Interner *interner, int32 code)
{
	Assert(interner->methods == NULL);
	return interner_record(interner, code);
}

/* Methods for keys of type const char *: strings that are copied, or that the caller keeps. */
extern const InternerMethods interner_copied_texts;
extern const InternerMethods interner_borrowed_texts;

/* Their parts, for callers that copy strings in a way of their own. */
extern uint32 interner_hash_text(const void *key, void *arg);
extern bool interner_equal_texts(const void *a, const void *b, void *arg);

#endif
