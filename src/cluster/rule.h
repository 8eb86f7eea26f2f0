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
	int l;		   /* 0: not asked for */
	bool any_rows; /* microdata is not needed: for trees that only serve to find rows */

	/* By sensitive code: the stamp of the set in which it was last seen. */
	uint32 *seen;
	uint32 stamp;
} GroupRule;

extern GroupRule *rule_create(const Points *points, int k, int l);
extern int rule_own(const GroupRule *rule, const int32 *rows, int count);
extern bool rule_diverse(GroupRule *rule, const int32 *rows, int count);
extern bool rule_holds(GroupRule *rule, const int32 *rows, int count);

#endif
