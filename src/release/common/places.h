/*
 * places.h
 *		Where words stand on a column's line.
 */
#ifndef KANON_RELEASE_PLACES_H
#define KANON_RELEASE_PLACES_H

#include "base/interner.h"
#include "release/common/input.h"

/* Replaces a column's codes of first sight by places, and lists the words in their order. */
extern void release_place_words(ReleaseSource *source, ReleaseColumn *column, const Interner *words);

#endif
