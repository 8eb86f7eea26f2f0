/*
 * groups.c
 *		A list of groups of rows.
 */
#include "base/kanon.h"

#include "cluster/groups.h"

#include "utils/memutils.h"

/* Return an empty list with room for nrows rows. */
Groups *
groups_create(int nrows)
{
	Groups *groups = palloc(sizeof(Groups));

	groups->rows = palloc_extended(Max((Size) nrows, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
	groups->ngroups = 0;
	groups->capacity = 64;
	groups->ends = palloc(groups->capacity * sizeof(int32));
	return groups;
}

/* Append a group; its rows may be where they belong already. */
void
groups_add(Groups *groups, const int32 *rows, int count)
{
	int32 start = group_start(groups, groups->ngroups);

	Assert(count >= 0);
	if (groups->ngroups == groups->capacity)
	{
		groups->capacity *= 2;
		groups->ends = repalloc_huge(groups->ends, (Size) groups->capacity * sizeof(int32));
	}
	memmove(groups->rows + start, rows, count * sizeof(int32));
	groups->ends[groups->ngroups++] = start + count;
}
