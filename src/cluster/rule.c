/*
 * rule.c
 *		When a set of points may be published as one group.
 */
#include "base/kanon.h"

#include "cluster/rule.h"

#include "cluster/points.h"

GroupRule *
rule_create(const Points *points, int k, int l)
{
	GroupRule *rule = palloc0(sizeof(GroupRule));

	rule->points = points;
	rule->k = k;
	rule->l = l;
	if (l > 0)
		rule->seen = palloc_extended(Max(points->nsensitive, 1) * sizeof(uint32),
									 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	return rule;
}

/* How many of the rows are microdata. */
int
rule_own(const GroupRule *rule, const int32 *rows, int count)
{
	int own = 0;

	if (rule->points->nown == rule->points->nrows)
		return count;
	for (int i = 0; i < count; i++)
		own += point_is_own(rule->points, rows[i]) ? 1 : 0;
	return own;
}

/* A stamp that no code carries. */
static uint32
next_stamp(GroupRule *rule)
{
	if (++rule->stamp == 0)
	{
		memset(rule->seen, 0, rule->points->nsensitive * sizeof(uint32));
		rule->stamp = 1;
	}
	return rule->stamp;
}

/* Null says nothing and adds no diversity. */
bool
rule_diverse(GroupRule *rule, const int32 *rows, int count)
{
	const int32 *codes = rule->points->sensitive;
	int distinct = 0;
	uint32 stamp;

	if (rule->l == 0)
		return true;
	stamp = next_stamp(rule);
	for (int i = 0; i < count && distinct < rule->l; i++)
	{
		int32 code = point_is_own(rule->points, rows[i]) ? codes[rows[i]] : -1;

		if (code >= 0 && rule->seen[code] != stamp)
		{
			rule->seen[code] = stamp;
			distinct++;
		}
	}
	return distinct >= rule->l;
}

bool
rule_holds(GroupRule *rule, const int32 *rows, int count)
{
	return count >= rule->k && rule_own(rule, rows, count) > 0 && rule_diverse(rule, rows, count);
}
