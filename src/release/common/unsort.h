/*
 * unsort.h
 *		The order of a release's rows.
 */
#ifndef KANON_RELEASE_UNSORT_H
#define KANON_RELEASE_UNSORT_H

#include "fmgr.h"

/* Bring the rows that a function returns in a tuplestore into random order. */
extern void release_unsort(FunctionCallInfo fcinfo);

#endif
