/*
 * trim.h
 *		Dropping the public rows that only make a group's box larger.
 */
#ifndef KANON_TRIM_H
#define KANON_TRIM_H

#include "cluster/points.h"

/* Move the rows that a group of k needs to the front of its rows, in their order, and return their number. */
extern int trim_group(const Points *points, int k, int32 *rows, int count);

#endif
