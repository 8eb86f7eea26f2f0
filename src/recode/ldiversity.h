/*
 * ldiversity.h
 *		Counting sensitive values for l-diversity: different values of different people.
 *
 * A group has l-diversity if l of its people have l values among them, one each, that are
 * different for certain.  Example: one person has flu and hiv, another one hiv; that is two
 * values of two people.  One person with flu, hiv and a cold is one value of one person.
 *
 * Three kinds of rows add nothing: rows without a person (an identifier is missing), rows
 * without a value (NULL, or hidden by the data owner), and rows with a value that covers
 * another value of the group.  In a group with `hiv` and `*`, `*` may be hiv.
 */
#ifndef KANON_LDIVERSITY_H
#define KANON_LDIVERSITY_H

#include "recode/dictionary.h"

/* The number of a value that adds nothing. */
#define NO_VALUE (-1)

/* How the values of a column are counted. */
typedef struct DiversityRule
{
	MemoryContext context;	/* owns the rule's memory */
	int l;					/* pairs that are asked for; 0: as many as there are */
	bool people;			/* a person may have several rows; otherwise each row is a person */
	Dictionary *dictionary; /* values are its codes, and may cover each other; NULL: values are any numbers */
	int nknown;				/* codes with a flag in inner */
	bool *inner;			/* by code: the value may cover others */
	int32 *same;			/* by code: a number that all equal values have; NULL: no two codes are equal */
	int nsame;				/* codes with a number in same */
} DiversityRule;

/* A value of a person. */
typedef struct ValuePerson
{
	int32 value;
	uint64 person; /* 0 where each row is a person */
} ValuePerson;

/*
 * The pairs of a group, as many as the rule needs, in ascending order of value and person; in
 * any order, and some of them several times, where the rule asks for no number.
 */
typedef struct Diversity
{
	int size;
	int room;
	int exact; /* different values that cover no other; only counted where each row is a person */
	ValuePerson *pairs;
} Diversity;

/* Note that a code of the rule's dictionary is equal to all codes with the same number. */
extern void diversity_equate(DiversityRule *rule, int32 code, int32 number);
/* Add a value of a person; the array of pairs lives in a memory context. */
extern void diversity_add(DiversityRule *rule, MemoryContext context, Diversity *diversity, int32 value,
						  uint64 person);
/* Add all pairs of another group; the array of pairs lives in the current memory context. */
extern void diversity_merge(DiversityRule *rule, Diversity *diversity, const Diversity *other);
/*
 * Return the largest number of pairs with different values, none of which covers another value
 * of the group, and different people; with rule->l, at most that.
 */
extern int diversity_count(DiversityRule *rule, Diversity *diversity);

#endif
