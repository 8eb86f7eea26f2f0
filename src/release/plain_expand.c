/*
 * plain_expand.c
 *		Groups grown from one row (section 7.2).
 */
#include "release/plain_groups.h"

#include <math.h>

#include "miscadmin.h"

#include "progress.h"

/* Rows that are tried for completing a group before the cheapest is taken. */
#define MOST_OFFERS 4
/* Rows that are looked for at a time. */
#define POOL 32
/* A group that is not plain after delta steps is mended for as many more. */
#define MENDING_ROUNDS 2
/* Times delta: rows that a group passes over before it gives up. */
#define MOST_REFUSED 2

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
	double least[MOST_QUASI_IDS]; /* rows are looked for between these */
	double most[MOST_QUASI_IDS];
	int npool; /* rows near to the group, as it was when they were looked for */
	Offer pool[POOL];
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
	growth->plain->passed_over[row] = true;
}

static bool
is_plain_with(Growth *growth, int32 row)
{
	const Space *space = growth->plain->space;

	shape_copy(space, &growth->tried, &growth->shape);
	shape_add(space, &growth->tried, row);
	return shape_is_plain(space, &growth->tried, growth->plain->k, &growth->fault);
}

static void
refuse(Growth *growth, int32 row)
{
	push(&growth->refused, &growth->nrefused, &growth->refused_room, row);
	growth->plain->passed_over[row] = true;
}

/* Takes in the cheapest of some rows that makes the group plain; false: none does. */
static bool
take_completing(Growth *growth, const Offer *offers, int count)
{
	const Plain *plain = growth->plain;

	for (int i = 0; i < count && growth->shape.nvalues >= plain->k - 1; i++)
	{
		int32 row = offers[i].row;

		if (is_plain_with(growth, row))
		{
			take(growth, row);
			return true;
		}
	}
	return false;
}

/*
 * A row that would move the outermost corner out of reach is passed over, and
 * with it all rows that would move that corner as far or farther in the column
 * that does it.  Such rows would only have to be given back.
 */
static void
limit(Growth *growth, int32 row)
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
	refuse(growth, row);
}

/* Takes in the cheapest of some rows that the group can be plain with; false: there is none. */
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
			take(growth, row);
			return true;
		}
		limit(growth, row);
	}
	return false;
}

static void
measure(Growth *growth)
{
	shape_start(growth->plain->space, &growth->shape, growth->rows[0]);
	for (int i = 1; i < growth->count; i++)
		shape_add(growth->plain->space, &growth->shape, growth->rows[i]);
}

/* How much a row has to do with the fault: it carries the sensitive value, or makes the corner in so many columns. */
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

static void
give_back(Growth *growth, int at)
{
	refuse(growth, growth->rows[at]);
	memmove(growth->rows + at, growth->rows + at + 1, (growth->count - at - 1) * sizeof(int32));
	growth->count--;
	growth->npool = 0;
	measure(growth);
}

/* Gives back the row that is most to blame; the seed stays. */
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

static void
fill_pool(Growth *growth)
{
	Wanted wanted = {&growth->shape, growth->least, growth->most, false};

	growth->npool = search_cheapest(growth->plain, &wanted, growth->pool, POOL);
}

/* The loss with a row of the pool; infinite if it is not to be had any more. */
static double
pool_loss(const Growth *growth, int32 row)
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
		loss += column_loss(space, column, Min(growth->shape.lower[column], values[column]), Max(growth->shape.upper[column], values[column]));
	}
	return loss;
}

/*
 * The cheapest rows of the pool.  The group has only grown since the pool was
 * filled, so any other row costs at least as much as the last of the pool did.
 */
static int
choose_from_pool(const Growth *growth, Offer *offers)
{
	double bound = growth->npool < POOL ? INFINITY : growth->pool[POOL - 1].loss;
	int count = 0;

	for (int i = 0; i < growth->npool; i++)
	{
		double loss = pool_loss(growth, growth->pool[i].row);
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

static int
look_for_rows(Growth *growth, Offer *offers)
{
	int count = choose_from_pool(growth, offers);

	if (count > 0)
		return count;
	fill_pool(growth);
	return choose_from_pool(growth, offers);
}

/* Line 22: a row that is no outlier and beyond the group in every column makes a good node. */
static bool
take_corner(Growth *growth)
{
	Plain *plain = growth->plain;
	Wanted wanted = {&growth->shape, growth->least, growth->most, true};
	Offer offer;
	double point[MOST_QUASI_IDS + 1];
	int32 row;

	if (search_cheapest(plain, &wanted, &offer, 1) == 0)
		return false;
	row = offer.row;
	space_point(plain->space, row, point);
	if (point_is_outlier(plain->space, point))
		return false;
	take(growth, row);
	return true;
}

/*
 * A group that has enough sensitive values and is not plain: wider it would
 * hardly be, so the row to blame is given back.  False: that is the seed, and the
 * group has to be taken further.
 */
static bool
mend(Growth *growth)
{
	if (growth->shape.nvalues < growth->plain->k)
		return false;
	return (growth->steps > growth->plain->delta && take_corner(growth)) || give_back_one(growth);
}

/* Grows the seed into a plain group, or gives up. */
static bool
grow(Growth *growth)
{
	Plain *plain = growth->plain;
	Offer offers[MOST_OFFERS];

	if (shape_is_plain(plain->space, &growth->shape, plain->k, &growth->fault))
		return true;
	if (!shape_is_within_reach(plain->space, &growth->shape))
		return false;
	while (growth->steps < MENDING_ROUNDS * plain->delta && growth->nrefused <= plain->delta / 2)
	{
		int count = look_for_rows(growth, offers);

		if (take_completing(growth, offers, count))
			return true;
		if (mend(growth))
		{
			if (shape_is_plain(plain->space, &growth->shape, plain->k, &growth->fault))
				return true;
			growth->steps++;
		}
		else if (count == 0)
			return false;
		else if (take_cheapest(growth, offers, count))
			growth->steps++;
	}
	return false;
}

/* All rows that the group has looked at may be looked at again. */
static void
forget(Growth *growth)
{
	Plain *plain = growth->plain;

	for (int i = 0; i < growth->count; i++)
		plain->passed_over[growth->rows[i]] = false;
	for (int i = 0; i < growth->nrefused; i++)
		plain->passed_over[growth->refused[i]] = false;
	growth->count = 0;
	growth->nrefused = 0;
	growth->npool = 0;
	growth->steps = 0;
	growth->fault.kind = FAULT_NONE;
}

static void
start(Growth *growth, int32 seed)
{
	const Space *space = growth->plain->space;

	for (int column = 0; column < space->nquasi; column++)
	{
		growth->least[column] = -INFINITY;
		growth->most[column] = INFINITY;
	}
	shape_start(space, &growth->shape, seed);
	take(growth, seed);
}

static void
expand_seed(Growth *growth, int32 seed)
{
	Plain *plain = growth->plain;

	CHECK_FOR_INTERRUPTS();
	if (plain->group_of[seed] != ROW_FREE)
		return;
	start(growth, seed);
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
	{
		search_refresh(plain);
		expand_seed(&growth, seeds[i]);
	}
}
