/*
 * kja.h
 *		k-join-anonymity (Sacharidis, Mouratidis, Papadias 2009): groups of
 *		microdata rows that public rows may fill up.
 */
#ifndef KANON_KJA_H
#define KANON_KJA_H

#include "cluster/groups.h"
#include "cluster/points.h"

/* The task of kja_groups(). */
typedef struct KjaPlan
{
	const Points *points;
	int k;
	int l;				  /* 0: l-diversity is not asked for */
	bool topdown;		  /* the conventional algorithm is TopDown; false: Mondrian */
	bool refinement;	  /* the method is Refinement; false: Direct */
	pg_prng_state random; /* for TopDown */
	Report report;		  /* may be NULL */
} KjaPlan;

typedef struct KjaResult
{
	Groups *groups; /* without the public rows that are not needed */
	int32 *sg;		/* the sensitive group of each group, numbered from 1 */
} KjaResult;

/* Return groups of all microdata rows, in the current memory context. */
extern KjaResult *kja_groups(KjaPlan *plan);

#endif
