/*
 * plain_known.h
 *		Answers about points, many of which need no count.
 *
 * Points are standardized, with the sensitive value as the last number.  A point is good if
 * it is no outlier.  A function that says that points are good has counted that; that it
 * does not say so may be a guess.
 */
#ifndef KANON_RELEASE_PLAIN_KNOWN_H
#define KANON_RELEASE_PLAIN_KNOWN_H

#include "release/plain/outlier.h"
#include "release/plain/outlier_count.h"

typedef struct Known Known;

/* Return the state of these functions, in the current memory context; space->known is to be set to it. */
extern Known *known_create(const Space *space);
/* Return true if all points of a box are good. */
extern bool all_are_good(const Space *space, const double *lower, const double *upper);
/*
 * Return true if a corner is good with one of count sensitive values; first, standardized,
 * is the one to try first.  The corner's last number is set.
 */
extern bool corner_is_good(const Space *space, double *corner, double first, const int32 *values, int count);
/* Return crowd_is_enough(), exactly, for GAP_BETWEEN or GAP_OUTSIDE; answers are remembered. */
extern bool crowd_is_known_enough(const Space *space, const Crowd *crowd);
/* Guess whether a point is good. */
extern bool point_seems_good(const Space *space, const double *point);

#endif
