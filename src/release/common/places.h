/*
 * places.h
 *		The places of words on a column's line.
 */
#ifndef KANON_RELEASE_PLACES_H
#define KANON_RELEASE_PLACES_H

#include "base/interner.h"
#include "release/common/input.h"

/* Replace a column's codes of words, in the order of arrival, by places, and list the words by place. */
extern void release_place_words(ReleaseSource *source, ReleaseColumn *column, const Interner *words);

#endif
