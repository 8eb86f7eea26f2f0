/*
 * privacy.h
 *		The privacy predicate: k individuals, l-diversity, t-closeness.
 */
#ifndef KANON_PRIVACY_H
#define KANON_PRIVACY_H

#include "recode/dictionary.h"
#include "recode/ldiversity.h"
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
	DiversityRule diversity; /* for l-diversity */

	/* For t-closeness: the distribution over the rows of the whole input. */
	Distance distance;
	double *share;	 /* by code */
	int nshares;	 /* codes that have a share */
	int32 *order;	 /* DISTANCE_ORDERED: the codes in the order of their values, nshares of them */
	ValueTree *tree; /* DISTANCE_HIERARCHICAL */
} RecodeSensitive;

/* The input of the privacy predicate, about rows that are to be published together. */
typedef struct GroupCounts
{
	int k;					   /* the largest k that a row asks for */
	int64 individuals;		   /* people; rows without an identifier add none */
	struct Bag *sensitive;	   /* for t: the codes of rows, a bag for each of the recoder's sensitive columns */
	struct Diversity *diverse; /* for l: values of people, for each of the recoder's sensitive columns */
} GroupCounts;

/* Return true if rows may be published together. */
extern bool privacy_holds(const struct Recoder *recoder, const GroupCounts *counts);

#endif
