/*
 * plain_expand.c
 *		Groups grown from one row (section 7.2).
 *
 * Groups that lose little come first: all seeds are gone through several times,
 * and each time a group may lose more.  So rows that have near neighbours are not
 * spent on groups that reach far, and rows that have none are grouped with each
 * other.
 */
#include "base/kanon.h"

#include "release/plain/plain_groups.h"

#include <math.h>

#include "miscadmin.h"

#include "base/progress.h"
#include "cluster/points.h"
#include "release/plain/outlier.h"

/* Rows that are tried for completing a group before the cheapest is taken. */
#define MOST_OFFERS 4
/* Rows that are looked for at a time. */
#define POOL 32
/* Times delta: steps that bring a sensitive value or mend a group, */
#define MOST_STEPS 2
/* and rows that are taken in because they lie inside. */
#define MOST_ROWS 4

/* By pass: the share of everything that a group may lose, and, times delta, the rows that it passes over before it gives up. */
static const struct
{
	double loss;
	double refused;
} patience[] = {{1.0 / 16, 0.5}, {1.0 / 8, 0.5}, {1.0 / 4, 0.5}, {1, 0.5}, {1, 2}};

#define PASSES ((int) lengthof(patience))

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
	bool *has_value; /* by sensitive value: does one of the rows have it? */
	int pass;
	double limit; /* it loses less than this */
	int most_refused;
	int8 *failed_in;			  /* by row: the pass in which a group with it last failed */
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
	const Space *space = growth->plain->space;

	push(&growth->rows, &growth->count, &growth->room, row);
	shape_add(space, &growth->shape, row);
	growth->has_value[space->value_of[row]] = true;
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
forget_values(Growth *growth)
{
	for (int i = 0; i < growth->shape.nvalues; i++)
		growth->has_value[growth->shape.values[i]] = false;
}

static void
measure(Growth *growth)
{
	const Space *space = growth->plain->space;

	forget_values(growth);
	shape_start(space, &growth->shape, growth->rows[0]);
	for (int i = 1; i < growth->count; i++)
		shape_add(space, &growth->shape, growth->rows[i]);
	for (int i = 0; i < growth->shape.nvalues; i++)
		growth->has_value[growth->shape.values[i]] = true;
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

/*
 * While a group wants more sensitive values, it takes rows that bring one, and
 * those that lie inside, where they widen nothing.
 */
static Wanted
what_is_wanted(const Growth *growth)
{
	const Plain *plain = growth->plain;
	Wanted wanted = {.shape = &growth->shape, .least = growth->least, .most = growth->most, .limit = growth->limit, .known = growth->has_value};

	wanted.limit_known = growth->limit;
	if (growth->shape.nvalues < plain->k)
		wanted.limit_known = growth->count < MOST_ROWS * plain->delta ? nextafter(shape_loss(plain->space, &growth->shape), INFINITY) : 0;
	return wanted;
}

static void
fill_pool(Growth *growth, const Wanted *wanted)
{
	growth->npool = search_cheapest(growth->plain, wanted, growth->pool, POOL);
}

/* The loss with a row of the pool; infinite if it is not to be had any more. */
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
		loss += column_loss(space, column, Min(growth->shape.lower[column], values[column]), Max(growth->shape.upper[column], values[column]));
	}
	return loss < wanted->limit && wanted_value(wanted, loss, space->value_of[row]) ? loss : INFINITY;
}

/*
 * The cheapest rows of the pool.  The group has only grown since the pool was
 * filled, so any other row costs at least as much as the last of the pool did.
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

/* Do the rows that can be taken in, each alone, have enough sensitive values?  A full pool does not tell: there are more. */
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

/* Line 22: a row that is no outlier and beyond the group in every column makes a good node. */
static bool
take_corner(Growth *growth)
{
	Plain *plain = growth->plain;
	Wanted wanted = {&growth->shape, growth->least, growth->most, growth->limit, growth->limit, growth->has_value, true};
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

/* While sensitive values are wanted, a row that brings none lies inside, and is no step. */
static void
step(Growth *growth, const Offer *offers, int count)
{
	int nvalues = growth->shape.nvalues;

	if (take_cheapest(growth, offers, count) && (growth->shape.nvalues > nvalues || nvalues >= growth->plain->k))
		growth->steps++;
}

/* Grows the seed into a plain group, or gives up. */
static bool
grow(Growth *growth)
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
		if (mend(growth))
		{
			if (shape_is_plain(plain->space, &growth->shape, plain->k, &growth->fault))
				return true;
			growth->steps++;
		}
		else if (count == 0)
			return false;
		else
			step(growth, offers, count);
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
	forget_values(growth);
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

/*
 * A group that would lose too much speaks for all its rows: they would gather
 * the same ones.  In the last pass every row has its own try.
 */
static void
mark_failed(Growth *growth)
{
	for (int i = 0; i < growth->count && growth->pass < PASSES; i++)
		growth->failed_in[growth->rows[i]] = growth->pass;
}

static void
expand_seed(Growth *growth, int32 seed)
{
	Plain *plain = growth->plain;

	CHECK_FOR_INTERRUPTS();
	if (plain->group_of[seed] != ROW_FREE || growth->failed_in[seed] == growth->pass)
		return;
	start(growth, seed);
	if (grow(growth))
		plain_add_group(plain, &growth->shape, growth->rows, growth->count);
	else
		mark_failed(growth);
	forget(growth);
	progress_done(plain->nplaced);
}

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
