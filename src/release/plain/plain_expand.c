/*
 * plain_expand.c
 *		Groups grown from one row (section 7.2).
 *
 * Groups that lose little come first: all seeds are tried several times, and each time a
 * group may lose more.  So rows that have near neighbours are not spent on groups that
 * reach far, and rows that have none are grouped with each other.
 *
 * A group first takes in rows that bring new sensitive values.  When it has enough of them
 * and is not plain, it gives back the row that is most to blame.
 */
#include "base/kanon.h"

#include "release/plain/plain_groups.h"

#include <math.h>

#include "miscadmin.h"

#include "base/progress.h"
#include "cluster/points.h"
#include "release/plain/outlier.h"
#include "release/plain/outlier_count.h"
#include "release/plain/plain_check.h"
#include "release/plain/plain_search.h"

/* The rows that are tried for completing a group before the cheapest is taken. */
#define MOST_OFFERS 4

/* The rows that are searched for at a time. */
#define POOL 32

/* A group takes at most delta times so many steps, each of which brings a sensitive value or mends the group. */
#define MOST_STEPS 2

/* A group takes in rows because they lie inside only until it has delta times so many rows. */
#define MOST_ROWS 4

/* By pass: the share of everything that a group may lose, and how many rows, times delta, it refuses until it fails. */
static const struct
{
	double loss;
	double refused;
} patience[] = {{1.0 / 16, 0.5}, {1.0 / 8, 0.5}, {1.0 / 4, 0.5}, {1, 0.5}, {1, 2}};

#define PASSES ((int) lengthof(patience))

/* A group that is being made; its first row is the seed. */
typedef struct Growth
{
	Plain *plain;
	Shape shape;
	Shape tried; /* the shape with one more row */
	Fault fault; /* why the group is not plain */
	int steps;	 /* taken so far */
	int count;	 /* rows */
	int room;	 /* rows that fit into the array */
	int32 *rows;
	bool *has_value;			  /* by sensitive value: a row of the group has it */
	int pass;					  /* from 1 */
	double limit;				  /* the group loses less than this */
	int most_refused;			  /* rows that may be refused */
	int8 *failed_in;			  /* by row: the pass in which a group with it last failed; 0: none */
	double least[MOST_QUASI_IDS]; /* by column: rows are searched for between these raw values */
	double most[MOST_QUASI_IDS];
	int npool;		  /* rows in the pool */
	Offer pool[POOL]; /* rows near to the group as it was when they were searched for */
	int nrefused;	  /* rows that the group has given back or passed over */
	int refused_room;
	int32 *refused;
} Growth;

/* Add a row to an array, which grows if it is full. */
static void
push_row(int32 **rows, int *count, int *room, int32 row)
{
	if (*count == *room)
	{
		*room = Max(64, 2 * *room);
		*rows = *rows ? repalloc_huge(*rows, (Size) *room * sizeof(int32))
					  : palloc_extended((Size) *room * sizeof(int32), MCXT_ALLOC_HUGE);
	}
	(*rows)[(*count)++] = row;
}

/* Note that a row is in a group, or that it never will be: its index or state. */
void
plain_settle(Plain *plain, int32 row, int32 where)
{
	Assert(where != ROW_FREE);
	if (plain->group_of[row] == ROW_FREE)
		plain->nplaced++;
	plain->group_of[row] = where;
	search_remove(plain, row);
}

/* Add a group of free rows. */
void
plain_add_group(Plain *plain, const Shape *shape, const int32 *rows, int count)
{
	PlainGroup *group;

	if (plain->ngroups == plain->room)
	{
		plain->room = Max(256, 2 * plain->room);
		plain->groups = plain->groups ? repalloc_huge(plain->groups, plain->room * sizeof(PlainGroup))
									  : palloc_extended(plain->room * sizeof(PlainGroup), MCXT_ALLOC_HUGE);
	}
	group = &plain->groups[plain->ngroups];
	memset(group, 0, sizeof(PlainGroup));
	shape_copy(plain->space, &group->shape, shape);
	group->loss = shape_loss(plain->space, shape);
	for (int i = 0; i < count; i++)
	{
		Assert(plain->group_of[rows[i]] == ROW_FREE);
		push_row(&group->rows, &group->count, &group->room, rows[i]);
		plain_settle(plain, rows[i], plain->ngroups);
	}
	plain->ngroups++;
}

/* Take a row into the group. */
static void
take_in(Growth *growth, int32 row)
{
	const Space *space = growth->plain->space;

	Assert(!growth->plain->passed_over[row]);
	push_row(&growth->rows, &growth->count, &growth->room, row);
	shape_add(space, &growth->shape, row);
	growth->has_value[space->value_of[row]] = true;
	growth->plain->passed_over[row] = true;
}

/* Return true if the group with one more row is plain. */
static bool
is_plain_with(Growth *growth, int32 row)
{
	const Space *space = growth->plain->space;

	shape_copy(space, &growth->tried, &growth->shape);
	shape_add(space, &growth->tried, row);
	return shape_is_plain(space, &growth->tried, growth->plain->k, &growth->fault);
}

/* Pass over a row as long as the group is made. */
static void
refuse_row(Growth *growth, int32 row)
{
	push_row(&growth->refused, &growth->nrefused, &growth->refused_room, row);
	growth->plain->passed_over[row] = true;
}

/* Take in the cheapest of some rows that makes the group plain; return false if none does. */
static bool
take_completing(Growth *growth, const Offer *offers, int count)
{
	const Plain *plain = growth->plain;

	for (int i = 0; i < count && growth->shape.nvalues >= plain->k - 1; i++)
	{
		int32 row = offers[i].row;

		if (is_plain_with(growth, row))
		{
			take_in(growth, row);
			return true;
		}
	}
	return false;
}

/*
 * Pass over a row that would move the outermost corner out of reach, and with it all rows
 * that would move that corner as far or farther in a column that does it: such rows would
 * only have to be given back.
 */
static void
limit_search(Growth *growth, int32 row)
{
	const Space *space = growth->plain->space;
	const double *values = point_values(space->points, row);
	bool excess[MOST_QUASI_IDS];

	shape_excess(space, &growth->shape, &growth->tried, excess);
	for (int column = 0; column < space->nquasi; column++)
	{
		if (excess[column] && values[column] > growth->shape.upper[column])
			growth->most[column] = Min(growth->most[column], values[column]);
		else if (excess[column])
			growth->least[column] = Max(growth->least[column], values[column]);
	}
	refuse_row(growth, row);
}

/* Take in the cheapest of some rows with which the group can be plain; return false if there is none. */
static bool
take_cheapest(Growth *growth, const Offer *offers, int count)
{
	const Plain *plain = growth->plain;

	for (int i = 0; i < count; i++)
	{
		int32 row = offers[i].row;

		shape_copy(plain->space, &growth->tried, &growth->shape);
		shape_add(plain->space, &growth->tried, row);
		if (shape_is_within_reach(plain->space, &growth->tried))
		{
			take_in(growth, row);
			return true;
		}
		limit_search(growth, row);
	}
	return false;
}

/* Clear has_value. */
static void
clear_values(Growth *growth)
{
	for (int i = 0; i < growth->shape.nvalues; i++)
		growth->has_value[growth->shape.values[i]] = false;
}

/* Set the shape and has_value from the rows. */
static void
measure_growth(Growth *growth)
{
	const Space *space = growth->plain->space;

	Assert(growth->count > 0);
	clear_values(growth);
	shape_start(space, &growth->shape, growth->rows[0]);
	for (int i = 1; i < growth->count; i++)
		shape_add(space, &growth->shape, growth->rows[i]);
	for (int i = 0; i < growth->shape.nvalues; i++)
		growth->has_value[growth->shape.values[i]] = true;
}

/*
 * Return how much a row has to do with the fault: 1 if it has the sensitive value, or the
 * number of columns in which it makes the corner.
 */
static int
blame(const Growth *growth, int32 row)
{
	const Space *space = growth->plain->space;
	const double *values = point_values(space->points, row);
	int ends = 0;

	if (growth->fault.kind == FAULT_HYPERCUBE)
		return space->value_of[row] == growth->fault.value ? 1 : 0;
	for (int column = 0; column < space->nquasi; column++)
	{
		double end = growth->fault.upper[column] ? growth->shape.upper[column] : growth->shape.lower[column];

		if (growth->shape.lower[column] < growth->shape.upper[column] && values[column] == end)
			ends++;
	}
	return ends;
}

/* Give back the row at a place. */
static void
give_back(Growth *growth, int at)
{
	Assert(at > 0 && at < growth->count);
	refuse_row(growth, growth->rows[at]);
	memmove(growth->rows + at, growth->rows + at + 1, (growth->count - at - 1) * sizeof(int32));
	growth->count--;
	growth->npool = 0;
	measure_growth(growth);
}

/* Give back the row that is most to blame, but for the seed; return false if no other row is to blame. */
static bool
give_back_one(Growth *growth)
{
	int most = 0;
	int most_blame = 0;

	for (int i = 1; i < growth->count; i++)
	{
		int row_blame = blame(growth, growth->rows[i]);

		if (row_blame > most_blame)
		{
			most = i;
			most_blame = row_blame;
		}
	}
	if (most > 0)
		give_back(growth, most);
	return most > 0;
}

/*
 * Return the rows that the group wants: as long as it needs more sensitive values, rows
 * that bring one, and rows that lie inside, where they widen nothing.
 */
static Wanted
what_is_wanted(const Growth *growth)
{
	const Plain *plain = growth->plain;
	Wanted wanted = {
		.shape = &growth->shape,
		.least = growth->least,
		.most = growth->most,
		.limit = growth->limit,
		.known = growth->has_value,
	};

	wanted.limit_known = growth->limit;
	if (growth->shape.nvalues < plain->k && growth->count < MOST_ROWS * plain->delta)
		wanted.limit_known = nextafter(shape_loss(plain->space, &growth->shape), INFINITY);
	else if (growth->shape.nvalues < plain->k)
		wanted.limit_known = 0;
	return wanted;
}

/* Search for the cheapest rows. */
static void
fill_pool(Growth *growth, const Wanted *wanted)
{
	growth->npool = search_cheapest(growth->plain, wanted, growth->pool, POOL);
}

/* Return the loss with a row of the pool; infinite if the row is not wanted any more. */
static double
pool_loss(const Growth *growth, const Wanted *wanted, int32 row)
{
	const Space *space = growth->plain->space;
	const double *values = point_values(space->points, row);
	double loss = 0;

	if (growth->plain->passed_over[row])
		return INFINITY;
	for (int column = 0; column < space->nquasi; column++)
	{
		if (values[column] <= growth->least[column] || values[column] >= growth->most[column])
			return INFINITY;
		loss += column_loss(space, column, Min(growth->shape.lower[column], values[column]),
							Max(growth->shape.upper[column], values[column]));
	}
	return loss < wanted->limit && wanted_value(wanted, loss, space->value_of[row]) ? loss : INFINITY;
}

/*
 * Set the cheapest rows of the pool, and return their number.
 *
 * The group has only grown since the pool was filled, so any other row costs at least as
 * much as the last row of the pool did.
 */
static int
choose_from_pool(const Growth *growth, const Wanted *wanted, Offer *offers)
{
	double bound = growth->npool < POOL ? INFINITY : growth->pool[POOL - 1].loss;
	int count = 0;

	for (int i = 0; i < growth->npool; i++)
	{
		double loss = pool_loss(growth, wanted, growth->pool[i].row);
		int at;

		if (loss == INFINITY || loss > bound || (count == MOST_OFFERS && loss >= offers[count - 1].loss))
			continue;
		at = count < MOST_OFFERS ? count++ : count - 1;
		for (; at > 0 && offers[at - 1].loss > loss; at--)
			offers[at] = offers[at - 1];
		offers[at] = (Offer){loss, growth->pool[i].row};
	}
	return count;
}

/* Set the cheapest rows to take in, and return their number. */
static int
look_for_rows(Growth *growth, Offer *offers)
{
	Wanted wanted = what_is_wanted(growth);
	int count = choose_from_pool(growth, &wanted, offers);

	if (count > 0)
		return count;
	fill_pool(growth, &wanted);
	return choose_from_pool(growth, &wanted, offers);
}

/*
 * Return true if the rows that can be taken in, each alone, have enough sensitive values;
 * also if the pool is full, since there are more rows then.
 */
static bool
has_company(Growth *growth)
{
	const int32 *value_of = growth->plain->space->value_of;
	Wanted wanted = what_is_wanted(growth);
	int nvalues = 1;

	fill_pool(growth, &wanted);
	for (int i = 0; i < growth->npool; i++)
	{
		nvalues += growth->has_value[value_of[growth->pool[i].row]] ? 0 : 1;
		growth->has_value[value_of[growth->pool[i].row]] = true;
	}
	for (int i = 0; i < growth->npool; i++)
		growth->has_value[value_of[growth->pool[i].row]] = false;
	growth->has_value[growth->shape.values[0]] = true;
	return nvalues >= growth->plain->k || growth->npool == POOL;
}

/*
 * Take in a row that is no outlier and beyond the group in every column: it makes a good
 * node (line 22).  Return false if there is none.
 */
static bool
take_corner(Growth *growth)
{
	Plain *plain = growth->plain;
	Wanted wanted = {
		.shape = &growth->shape,
		.least = growth->least,
		.most = growth->most,
		.limit = growth->limit,
		.limit_known = growth->limit,
		.known = growth->has_value,
		.beyond = true,
	};
	Offer offer;
	double point[MOST_QUASI_IDS + 1];
	int32 row;

	if (search_cheapest(plain, &wanted, &offer, 1) == 0)
		return false;
	row = offer.row;
	space_point(plain->space, row, point);
	if (point_is_outlier(plain->space, point))
		return false;
	take_in(growth, row);
	return true;
}

/*
 * Mend a group that has enough sensitive values and is not plain: wider it would hardly be
 * plain, so the row that is most to blame is given back.  Return false if the seed is to
 * blame, so that the group has to take in more rows.
 */
static bool
mend_group(Growth *growth)
{
	if (growth->shape.nvalues < growth->plain->k)
		return false;
	return (growth->steps > growth->plain->delta && take_corner(growth)) || give_back_one(growth);
}

/*
 * Take in the cheapest row.  A row that brings no new sensitive value while the group
 * needs one lies inside, and is no step.
 */
static void
step_growth(Growth *growth, const Offer *offers, int count)
{
	int nvalues = growth->shape.nvalues;

	if (take_cheapest(growth, offers, count) && (growth->shape.nvalues > nvalues || nvalues >= growth->plain->k))
		growth->steps++;
}

/* Grow the seed into a plain group; return false to give up. */
static bool
grow_group(Growth *growth)
{
	Plain *plain = growth->plain;
	Offer offers[MOST_OFFERS];

	if (shape_is_plain(plain->space, &growth->shape, plain->k, &growth->fault))
		return true;
	if (!shape_is_within_reach(plain->space, &growth->shape) || !has_company(growth))
		return false;
	while (growth->steps < MOST_STEPS * plain->delta && growth->nrefused <= growth->most_refused)
	{
		int count = look_for_rows(growth, offers);

		if (take_completing(growth, offers, count))
			return true;
		if (mend_group(growth))
		{
			if (shape_is_plain(plain->space, &growth->shape, plain->k, &growth->fault))
				return true;
			growth->steps++;
		}
		else if (count == 0)
			return false;
		else
			step_growth(growth, offers, count);
	}
	return false;
}

/* End the group, so that all rows that it has looked at may be looked at again. */
static void
clear_growth(Growth *growth)
{
	Plain *plain = growth->plain;

	for (int i = 0; i < growth->count; i++)
		plain->passed_over[growth->rows[i]] = false;
	for (int i = 0; i < growth->nrefused; i++)
		plain->passed_over[growth->refused[i]] = false;
	clear_values(growth);
	growth->count = 0;
	growth->nrefused = 0;
	growth->npool = 0;
	growth->steps = 0;
	growth->fault.kind = FAULT_NONE;
}

/* Start a group with its seed. */
static void
start_growth(Growth *growth, int32 seed)
{
	const Space *space = growth->plain->space;

	for (int column = 0; column < space->nquasi; column++)
	{
		growth->least[column] = -INFINITY;
		growth->most[column] = INFINITY;
	}
	shape_start(space, &growth->shape, seed);
	take_in(growth, seed);
}

/*
 * Mark all rows of a group that failed: groups grown from them would gather the same rows.
 * In the last pass every row is tried.
 */
static void
mark_failed(Growth *growth)
{
	for (int i = 0; i < growth->count && growth->pass < PASSES; i++)
		growth->failed_in[growth->rows[i]] = growth->pass;
}

/* Grow a group from a row that is free. */
static void
expand_seed(Growth *growth, int32 seed)
{
	Plain *plain = growth->plain;

	CHECK_FOR_INTERRUPTS();
	if (plain->group_of[seed] != ROW_FREE || growth->failed_in[seed] == growth->pass)
		return;
	start_growth(growth, seed);
	if (grow_group(growth))
		plain_add_group(plain, &growth->shape, growth->rows, growth->count);
	else
		mark_failed(growth);
	clear_growth(growth);
	progress_done(plain->nplaced);
}

/* Grow groups from rows that are free, in the order given. */
void
plain_expand(Plain *plain, const int32 *seeds, int nseeds)
{
	const Space *space = plain->space;
	Growth growth = {.plain = plain};

	growth.has_value = palloc_extended(space->nvalues * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	growth.failed_in = palloc_extended(space->nrows * sizeof(int8), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (growth.pass = 1; growth.pass <= PASSES; growth.pass++)
	{
		growth.limit = nextafter(patience[growth.pass - 1].loss * space->nquasi, INFINITY);
		growth.most_refused = (int) (patience[growth.pass - 1].refused * plain->delta);
		for (int i = 0; i < nseeds; i++)
		{
			search_refresh(plain);
			expand_seed(&growth, seeds[i]);
		}
	}
	pfree(growth.has_value);
	pfree(growth.failed_in);
}
