/*
 * places.h
 *		Where words stand on a column's line.
 */
#ifndef KANON_RELEASE_PLACES_H
#define KANON_RELEASE_PLACES_H

#include "release/common/input.h"

/* Replaces a column's codes of first sight by places, and lists the words in their order. */
struct wordtable_hash; /* release/common/words.h */
extern void release_place_words(ReleaseSource *source, ReleaseColumn *column, struct wordtable_hash *table);

#endif
