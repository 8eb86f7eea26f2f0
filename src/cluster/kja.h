/*
 * kja.h
 *		k-join-anonymity (Sacharidis, Mouratidis, Papadias 2009): groups of
 *		microdata rows that public rows may fill up.
 */
#ifndef KANON_KJA_H
#define KANON_KJA_H

#include "cluster/groups.h"
#include "cluster/points.h"

typedef struct KjaPlan
{
	const Points *points;
	int k;
	int l;			 /* 0: not asked for */
	bool topdown;	 /* or Mondrian */
	bool refinement; /* or direct */
	pg_prng_state random;
	Report report;
} KjaPlan;

typedef struct KjaResult
{
	Groups *groups; /* without the public rows that are not needed */
	int32 *sg;		/* the sensitive group of each group, from 1 */
} KjaResult;

extern KjaResult *kja_groups(KjaPlan *plan);

/* trim.c: leaves in front the rows that a group of k needs, and returns their number. */
extern int trim_group(const Points *points, int k, int32 *rows, int count);

#endif
