/*
 * plain_expand.c
 *		Groups grown from one row (section 7.2).
 */
#include "release/plain.h"

#include "miscadmin.h"

#include "progress.h"

/* Rows that are tried for completing a group before the cheapest is taken. */
#define MOST_OFFERS 8
/* A group that is not plain after delta steps is mended for as many more. */
#define MENDING_ROUNDS 2

/* A group being made; its first row is the seed. */
typedef struct Growth
{
	Plain *plain;
	Shape shape;
	Shape tried; /* the same with one more row */
	Fault fault; /* why it is not plain */
	int steps;
	int count;
	int room;
	int32 *rows;
	int nrefused; /* rows that it has given back */
	int refused_room;
	int32 *refused;
} Growth;

static void
push(int32 **rows, int *count, int *room, int32 row)
{
	if (*count == *room)
	{
		*room = Max(64, 2 * *room);
		*rows = *rows ? repalloc_huge(*rows, (Size) *room * sizeof(int32))
					  : palloc_extended((Size) *room * sizeof(int32), MCXT_ALLOC_HUGE);
	}
	(*rows)[(*count)++] = row;
}

/* The row has a group, or never will. */
void
plain_settle(Plain *plain, int32 row, int32 where)
{
	if (plain->group_of[row] == ROW_FREE)
		plain->nplaced++;
	plain->group_of[row] = where;
	search_remove(plain, row);
}

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
		push(&group->rows, &group->count, &group->room, rows[i]);
		plain_settle(plain, rows[i], plain->ngroups);
	}
	plain->ngroups++;
}

static void
take(Growth *growth, int32 row)
{
	push(&growth->rows, &growth->count, &growth->room, row);
	shape_add(growth->plain->space, &growth->shape, row);
	growth->plain->passed_over[growth->plain->position_of[row]] = true;
}

static bool
is_plain_with(Growth *growth, int32 row, Fault *fault)
{
	const Space *space = growth->plain->space;

	shape_copy(space, &growth->tried, &growth->shape);
	shape_add(space, &growth->tried, row);
	return shape_is_plain(space, &growth->tried, growth->plain->k, fault);
}

/*
 * Takes in the cheapest row that completes the group, or else the cheapest one;
 * false: there is none.
 */
static bool
take_next(Growth *growth, bool *complete)
{
	Plain *plain = growth->plain;
	Offer offers[MOST_OFFERS];
	int wanted = growth->shape.nvalues >= plain->k - 1 ? MOST_OFFERS : 1;
	int count = search_cheapest(plain, &growth->shape, false, offers, wanted);
	int chosen = 0;

	*complete = false;
	for (int i = 0; i < count && wanted > 1 && !*complete; i++)
	{
		Fault fault;

		*complete = is_plain_with(growth, plain->tree.row[offers[i].position], &fault);
		if (*complete)
			chosen = i;
		else if (i == 0)
			growth->fault = fault;
	}
	if (count > 0)
		take(growth, plain->tree.row[offers[chosen].position]);
	return count > 0;
}

static void
measure(Growth *growth)
{
	shape_start(growth->plain->space, &growth->shape, growth->rows[0]);
	for (int i = 1; i < growth->count; i++)
		shape_add(growth->plain->space, &growth->shape, growth->rows[i]);
}

/* In how many columns a row has the least or the greatest value of the group. */
static int
ends_of(const Growth *growth, int32 row)
{
	const double *values = point_values(growth->plain->space->points, row);
	int ends = 0;

	for (int column = 0; column < growth->plain->space->nquasi; column++)
		ends += values[column] == growth->shape.lower[column] || values[column] == growth->shape.upper[column] ? 1 : 0;
	return ends;
}

static void
give_back(Growth *growth, int at)
{
	push(&growth->refused, &growth->nrefused, &growth->refused_room, growth->rows[at]);
	memmove(growth->rows + at, growth->rows + at + 1, (growth->count - at - 1) * sizeof(int32));
	growth->count--;
	measure(growth);
}

/* Gives back the row that makes most of the corners; the seed stays. */
static bool
give_back_one(Growth *growth)
{
	int most = 0;

	for (int i = 1; i < growth->count; i++)
	{
		if (most == 0 || ends_of(growth, growth->rows[i]) > ends_of(growth, growth->rows[most]))
			most = i;
	}
	if (most > 0)
		give_back(growth, most);
	return most > 0;
}

/* Rows that can be in no group must not spoil others; false: the seed is one. */
static bool
give_back_hopeless(Growth *growth)
{
	Plain *plain = growth->plain;

	if (row_is_hopeless(plain->space, growth->rows[0]))
	{
		plain_settle(plain, growth->rows[0], ROW_UNPLACEABLE);
		return false;
	}
	for (int i = growth->count - 1; i > 0; i--)
	{
		if (row_is_hopeless(plain->space, growth->rows[i]))
		{
			plain_settle(plain, growth->rows[i], ROW_UNPLACEABLE);
			give_back(growth, i);
		}
	}
	return true;
}

/* Line 22: a row that is no outlier and beyond the group in every column makes a good node. */
static bool
take_corner(Growth *growth)
{
	Plain *plain = growth->plain;
	Offer offer;
	double point[MOST_QUASI_IDS + 1];
	int32 row;

	if (search_cheapest(plain, &growth->shape, true, &offer, 1) == 0)
		return false;
	row = plain->tree.row[offer.position];
	space_point(plain->space, row, point);
	if (point_is_outlier(plain->space, point))
		return false;
	take(growth, row);
	return true;
}

/* Grows the seed into a plain group, or gives up. */
static bool
grow(Growth *growth)
{
	Plain *plain = growth->plain;
	bool complete = shape_is_plain(plain->space, &growth->shape, plain->k, &growth->fault);

	while (!complete)
	{
		if (growth->steps++ >= MENDING_ROUNDS * plain->delta)
			return false;
		if (fault_is_final(plain->space, &growth->shape, &growth->fault))
		{
			int before = growth->count;

			if (!give_back_hopeless(growth) || (growth->count == before && !give_back_one(growth)))
				return false;
		}
		else if (growth->steps > plain->delta && !take_corner(growth) && !give_back_one(growth))
			return false;
		else if (growth->steps <= plain->delta)
		{
			if (!take_next(growth, &complete))
				return false;
			continue;
		}
		complete = shape_is_plain(plain->space, &growth->shape, plain->k, &growth->fault);
	}
	return true;
}

/* All rows that the group has looked at may be looked at again. */
static void
forget(Growth *growth)
{
	Plain *plain = growth->plain;

	for (int i = 0; i < growth->count; i++)
		plain->passed_over[plain->position_of[growth->rows[i]]] = false;
	for (int i = 0; i < growth->nrefused; i++)
		plain->passed_over[plain->position_of[growth->refused[i]]] = false;
	growth->count = 0;
	growth->nrefused = 0;
	growth->steps = 0;
}

static void
expand_seed(Growth *growth, int32 seed)
{
	Plain *plain = growth->plain;

	CHECK_FOR_INTERRUPTS();
	if (plain->group_of[seed] != ROW_FREE)
		return;
	shape_start(plain->space, &growth->shape, seed);
	take(growth, seed);
	if (grow(growth))
		plain_add_group(plain, &growth->shape, growth->rows, growth->count);
	forget(growth);
	progress_done(plain->nplaced);
}

void
plain_expand(Plain *plain, const int32 *seeds, int nseeds)
{
	Growth growth = {.plain = plain};

	for (int i = 0; i < nseeds; i++)
		expand_seed(&growth, seeds[i]);
}
