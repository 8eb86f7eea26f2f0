/*
 * privacy.h
 *		The privacy predicate: k individuals, l-diversity, t-closeness.
 */
#ifndef KANON_PRIVACY_H
#define KANON_PRIVACY_H

#include "recode/dictionary.h"
#include "recode/valuetree.h"

struct Bag;
struct Recoder;

/* How far apart two values of a sensitive column are, where t-closeness compares distributions. */
typedef enum Distance
{
	DISTANCE_EQUAL,		   /* any two values are 1 apart */
	DISTANCE_HIERARCHICAL, /* by the level of their lowest common ancestor */
	DISTANCE_ORDERED	   /* by the number of values between them */
} Distance;

/* A sensitive column that l-diversity or t-closeness is about. */
typedef struct RecodeSensitive
{
	Dictionary *dictionary;
	Distance distance;

	/* For t-closeness: the distribution over the whole input. */
	double *share;	 /* by code */
	int nshares;	 /* codes that have a share */
	int32 *order;	 /* DISTANCE_ORDERED: the codes in the order of their values, nshares of them */
	ValueTree *tree; /* DISTANCE_HIERARCHICAL */
} RecodeSensitive;

/*
 * Return true if rows may be published together: k is the largest k that a row of them
 * asks for, individuals the number of individuals among them, and sensitive has a bag of
 * codes for each of the recoder's sensitive columns.
 */
extern bool privacy_holds(const struct Recoder *recoder, int k, int64 individuals, const struct Bag *sensitive);

#endif
