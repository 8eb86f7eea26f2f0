/*
 * words.h
 *		Tables of words and the codes that they got when first seen.
 *
 * Who inserts a word keeps a copy of it, and puts that into the entry.
 */
#ifndef KANON_RELEASE_WORDS_H
#define KANON_RELEASE_WORDS_H

#include "common/hashfn.h"

typedef struct WordEntry
{
	const char *word;
	uint32 hash;
	int32 code;
	char status;
} WordEntry;

#define SH_PREFIX wordtable
#define SH_ELEMENT_TYPE WordEntry
#define SH_KEY_TYPE const char *
#define SH_KEY word
#define SH_HASH_KEY(tb, key) hash_bytes((const unsigned char *) (key), strlen(key))
#define SH_EQUAL(tb, a, b) (strcmp(a, b) == 0)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

#endif
