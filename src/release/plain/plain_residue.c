/*
 * plain_residue.c
 *		Rows that no new group has taken (section 7.3).
 *
 * Such a row is put into one of the groups in which it costs least, if the group stays
 * plain.  Otherwise groups are joined until they are plain with the row; a row for which
 * that is not possible is removed.
 */
#include "base/kanon.h"

#include "release/plain/plain_groups.h"

#include <math.h>

#include "miscadmin.h"

#include "base/progress.h"
#include "cluster/points.h"
#include "release/plain/outlier.h"
#include "release/plain/plain_check.h"

/* The groups that are tried on their own before any are joined. */
#define MOST_TRIES 4

/* A group, and by how much it raises the loss of all rows if it takes in a row. */
typedef struct Try
{
	double cost;
	int32 group;
} Try;

/* Groups that are being joined to take in a row. */
typedef struct Union
{
	Shape shape;   /* of their rows and the row */
	int count;	   /* groups */
	int32 *groups; /* room for all */
	bool *joined;  /* by group */
} Union;

/* Return the loss of a shape that takes in a box; if that is not below limit, any number not below limit. */
static double
residue_loss_with(const Space *space, const Shape *shape, const double *lower, const double *upper, double limit)
{
	double loss = 0;

	for (int column = 0; column < space->nquasi && loss < limit; column++)
		loss += column_loss(space, column, Min(shape->lower[column], lower[column]),
							Max(shape->upper[column], upper[column]));
	return loss;
}

/* Set the groups in which a row costs the least, the cheapest first, and return their number. */
static int
cheapest_groups(const Plain *plain, int32 row, Try *tries)
{
	const double *values = point_values(plain->space->points, row);
	int count = 0;

	for (int i = 0; i < plain->ngroups; i++)
	{
		const PlainGroup *group = &plain->groups[i];
		double most = count < MOST_TRIES ? INFINITY : tries[count - 1].cost;
		double base = group->count * group->loss;
		double limit = (most + base) / (group->count + 1);
		double cost;
		int at;

		if (group->count == 0)
			continue;
		cost = (group->count + 1) * residue_loss_with(plain->space, &group->shape, values, values, limit) - base;
		if (cost >= most)
			continue;
		at = count < MOST_TRIES ? count++ : count - 1;
		for (; at > 0 && tries[at - 1].cost > cost; at--)
			tries[at] = tries[at - 1];
		tries[at] = (Try){cost, i};
	}
	return count;
}

/* Add a row to a group's array. */
static void
group_push(PlainGroup *group, int32 row)
{
	if (group->count == group->room)
	{
		group->room = 2 * group->room;
		group->rows = repalloc_huge(group->rows, (Size) group->room * sizeof(int32));
	}
	group->rows[group->count++] = row;
}

/* Put a free row into a group, which gets a new shape. */
static void
residue_put_row(Plain *plain, int32 row, int32 index, const Shape *shape)
{
	PlainGroup *group = &plain->groups[index];

	shape_copy(plain->space, &group->shape, shape);
	group->loss = shape_loss(plain->space, shape);
	group_push(group, row);
	plain_settle(plain, row, index);
}

/* Return the group that joins at the least loss, or -1 if all have joined. */
static int32
residue_next_group(const Plain *plain, const Union *joint)
{
	int32 best = -1;
	double least = INFINITY;

	for (int i = 0; i < plain->ngroups; i++)
	{
		const Shape *shape = &plain->groups[i].shape;
		double loss;

		if (plain->groups[i].count == 0 || joint->joined[i])
			continue;
		loss = residue_loss_with(plain->space, &joint->shape, shape->lower, shape->upper, least);
		if (loss < least)
		{
			least = loss;
			best = i;
		}
	}
	return best;
}

/* Join a group. */
static void
residue_join_group(const Plain *plain, Union *joint, int32 group)
{
	Assert(!joint->joined[group]);
	shape_join(plain->space, &joint->shape, &plain->groups[group].shape);
	joint->joined[group] = true;
	joint->groups[joint->count++] = group;
}

/* Make one group of all groups that have joined, and of the row. */
static void
commit_union(Plain *plain, const Union *joint, int32 row)
{
	int32 into = joint->groups[0];

	Assert(joint->count > 0);
	for (int i = 1; i < joint->count; i++)
	{
		PlainGroup *from = &plain->groups[joint->groups[i]];

		for (int j = 0; j < from->count; j++)
		{
			group_push(&plain->groups[into], from->rows[j]);
			plain->group_of[from->rows[j]] = into;
		}
		pfree(from->rows);
		pfree(from->shape.values);
		from->count = 0;
	}
	residue_put_row(plain, row, into, &joint->shape);
}

/* Join one group after another until the row is in a plain group, or surely never will be; return whether it is. */
static bool
join_until_plain(Plain *plain, Union *joint, int32 row, int32 first)
{
	const Space *space = plain->space;
	bool plain_now = false;
	Fault fault = {FAULT_NONE};

	joint->count = 0;
	shape_start(space, &joint->shape, row);
	for (int32 group = first; group >= 0 && !plain_now; group = plain_now ? -1 : residue_next_group(plain, joint))
	{
		CHECK_FOR_INTERRUPTS();
		residue_join_group(plain, joint, group);
		plain_now = shape_is_plain(space, &joint->shape, plain->k, &fault);
		if (!plain_now && fault_is_final(space, &joint->shape, &fault))
			break;
	}
	for (int i = 0; i < joint->count; i++)
		joint->joined[joint->groups[i]] = false;
	if (plain_now)
		commit_union(plain, joint, row);
	return plain_now;
}

/* Put a row into a group or a union of groups; return false if no plain one was found. */
static bool
residue_place_row(Plain *plain, Union *joint, int32 row)
{
	Try tries[MOST_TRIES];
	int count = cheapest_groups(plain, row, tries);

	for (int i = 0; i < count; i++)
	{
		Fault fault = {FAULT_NONE};

		shape_copy(plain->space, &joint->shape, &plain->groups[tries[i].group].shape);
		shape_add(plain->space, &joint->shape, row);
		if (shape_is_plain(plain->space, &joint->shape, plain->k, &fault))
		{
			residue_put_row(plain, row, tries[i].group, &joint->shape);
			return true;
		}
	}
	return count > 0 && join_until_plain(plain, joint, row, tries[0].group);
}

/* Put the rows that are still free into groups, or remove them. */
void
plain_residue(Plain *plain)
{
	Union joint = {0};

	joint.groups = palloc_extended(Max(plain->ngroups, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
	joint.joined = palloc_extended(Max(plain->ngroups, 1) * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int32 row = 0; row < plain->space->nrows; row++)
	{
		if (plain->group_of[row] != ROW_FREE)
			continue;
		if (row_is_hopeless(plain->space, row) || !residue_place_row(plain, &joint, row))
			plain_settle(plain, row, ROW_UNPLACEABLE);
		progress_done(plain->nplaced);
	}
}
