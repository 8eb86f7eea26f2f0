/*
 * outlier_count.h
 *		Counting rows within d, as far as a decision needs it.
 */
#ifndef KANON_RELEASE_OUTLIER_COUNT_H
#define KANON_RELEASE_OUTLIER_COUNT_H

#include "release/plain/outlier.h"

/* The way in which a row's distance to an interval counts, so that a row within d is near to ... */
typedef enum Gap
{
	GAP_FARTHEST, /* distance to the farther end: ... every point of the interval */
	GAP_NEAREST,  /* distance to the nearer end: ... one of the ends */
	GAP_BETWEEN,  /* distance to the interval: ... some point of the interval */
	GAP_OUTSIDE	  /* distance to the rest of the line: ... an end of some wider interval */
} Gap;

/* A set of points, given by an interval in each column, that rows are to be near to. */
typedef struct Crowd
{
	Gap quasi;			 /* in the columns of quasi-identifiers */
	Gap sensitive;		 /* in the sensitive column */
	const double *lower; /* ncolumns of them, standardized */
	const double *upper;
} Crowd;

/* Return true if enough rows are within d, so that the points are no outliers. */
extern bool crowd_is_enough(const Space *space, const Crowd *crowd);
/* Return true if a point is a (p,d)-outlier. */
extern bool point_is_outlier(const Space *space, const double *point);
/* Return, by distinct sensitive value, whether rows that have it are sensitive-attribute outliers (Definition 3.2). */
extern bool *space_global_values(const Space *space);

#endif
