/*
 * rule.h
 *		When a set of points may be published as one group.
 *
 * A group needs k rows, public ones included, at least one of them microdata,
 * and l distinct sensitive values among the microdata.  Adding rows to a group
 * never breaks the rule.
 */
#ifndef KANON_RULE_H
#define KANON_RULE_H

#include "cluster/points.h"

typedef struct GroupRule
{
	const Points *points;
	int k;
	int l;		   /* 0: l-diversity is not asked for */
	bool any_rows; /* microdata is not needed: for trees that only serve to find rows */

	/* Of rule_diverse(). */
	uint32 *seen; /* per sensitive code: the stamp of the set in which it was last seen; NULL if l is 0 */
	uint32 stamp; /* of the latest set */
} GroupRule;

/* Return a rule in the current memory context. */
extern GroupRule *rule_create(const Points *points, int k, int l);
/* Return how many of some rows are microdata. */
extern int rule_own(const GroupRule *rule, const int32 *rows, int count);
/* Return true if the microdata among some rows has l distinct sensitive values. */
extern bool rule_diverse(GroupRule *rule, const int32 *rows, int count);
/* Return true if some rows may be published as one group. */
extern bool rule_holds(GroupRule *rule, const int32 *rows, int count);

#endif
