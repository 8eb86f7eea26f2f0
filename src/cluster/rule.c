/*
 * rule.c
 *		When a set of points may be published as one group.
 */
#include "base/kanon.h"

#include "cluster/rule.h"

#include "cluster/points.h"

/* Return a rule for points, in the current memory context. */
GroupRule *
rule_create(const Points *points, int k, int l)
{
	GroupRule *rule = palloc0(sizeof(GroupRule));

	Assert(l == 0 || points->sensitive != NULL || points->nown == 0);
	rule->points = points;
	rule->k = k;
	rule->l = l;
	if (l > 0)
		rule->seen = palloc_extended(Max(points->nsensitive, 1) * sizeof(uint32),
									 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	return rule;
}

/* Return how many of some rows are microdata. */
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

/* Return a stamp that no code carries. */
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

/*
 * Return true if the microdata among some rows has l distinct sensitive values; NULL says
 * nothing and adds no diversity.
 */
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

		Assert(code < rule->points->nsensitive);
		if (code >= 0 && rule->seen[code] != stamp)
		{
			rule->seen[code] = stamp;
			distinct++;
		}
	}
	return distinct >= rule->l;
}

/* Return true if some rows may be published as one group. */
bool
rule_holds(GroupRule *rule, const int32 *rows, int count)
{
	return count >= rule->k && rule_own(rule, rows, count) > 0 && rule_diverse(rule, rows, count);
}
