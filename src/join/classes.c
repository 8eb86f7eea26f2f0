/*
 * classes.c
 *		Finding the classes of inner rows that a class of outer rows joins with.
 *
 * A class is a combination of values, one for each clause, and the values are
 * numbered by matches.c.  With one clause, a class is a value, and this file only
 * passes on the matches that matches.c finds.
 *
 * With several clauses, the inner classes are ordered by their value for each clause.
 * For an outer class, the clause with the fewest matching inner classes guides the
 * search, and the other clauses are checked for each class that it finds.
 */
#include "base/kanon.h"

#include "join/classes.h"

#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/interner.h"
#include "join/matches.h"

/* Inner classes in the order of their value for one clause. */
typedef struct ByValue
{
	int *starts; /* per value, its first class in order; then the end of the last */
	int *order;	 /* numbers of classes */
} ByValue;

struct Classes
{
	int nclauses;
	bool one_is_enough; /* one match of an outer class is enough */
	Matches **matches;	/* per clause */
	int *numbers;		/* work space: the numbers of a row's values */

	/* The inner classes; only with several clauses. */
	Interner *inner;   /* classes as tuples of nclauses numbers of values */
	ByValue *by_value; /* per clause; NULL before the last inner row was added */

	/* The outer classes met so far; all of them are forgotten when they take too much memory. */
	MemoryContext cache;
	bool grew; /* true if a class came since the size was last checked */
	int nouter;
	MemoryContext own_cache; /* a child of cache, for the members below; only with several clauses */
	Interner *outer;
	int outer_room;
	MatchList *lists;			   /* the matching inner classes, per outer class */
	const MatchList **value_lists; /* work space: per clause, the matching values of an outer class */
};

/* Start without any outer class. */
static void
start_outer_classes(Classes *classes)
{
	classes->outer = interner_create_tuples(classes->own_cache, classes->nclauses);
	classes->outer_room = classes->outer->room;
	classes->lists = MemoryContextAlloc(classes->own_cache, classes->outer_room * sizeof(MatchList));
}

/* Create an empty set of classes for some clauses. */
Classes *
classes_create(const JoinClause *clauses, int nclauses, bool one_is_enough)
{
	Classes *classes = palloc0(sizeof(Classes));

	Assert(nclauses > 0);
	classes->nclauses = nclauses;
	classes->one_is_enough = one_is_enough;
	classes->cache = AllocSetContextCreate(CurrentMemoryContext, "kanon outer values", ALLOCSET_SMALL_SIZES);
	classes->own_cache = AllocSetContextCreate(classes->cache, "kanon outer classes", ALLOCSET_DEFAULT_SIZES);
	classes->matches = palloc(nclauses * sizeof(Matches *));
	for (int i = 0; i < nclauses; i++)
		classes->matches[i] = matches_create(clauses[i].clause, clauses[i].outer_is_left, classes->cache);
	if (nclauses == 1)
		return classes;
	classes->numbers = palloc(nclauses * sizeof(int));
	classes->value_lists = palloc(nclauses * sizeof(MatchList *));
	classes->inner = interner_create_tuples(CurrentMemoryContext, nclauses);
	start_outer_classes(classes);
	return classes;
}

/* Return the number of an inner row's class. */
int
classes_add_inner(Classes *classes, const Datum *values)
{
	bool found;

	Assert(classes->by_value == NULL);
	if (classes->nclauses == 1)
		return matches_add_inner(classes->matches[0], values[0]);
	for (int i = 0; i < classes->nclauses; i++)
		classes->numbers[i] = matches_add_inner(classes->matches[i], values[i]);
	return interner_code(classes->inner, classes->numbers, &found);
}

/* Return the number of inner classes. */
int
classes_count_inner(const Classes *classes)
{
	return classes->nclauses == 1 ? matches_count_inner(classes->matches[0]) : classes->inner->count;
}

/* Return the number of an inner class's value for a clause. */
static inline int
class_value(const Classes *classes, int number, int clause)
{
	Assert(clause < classes->nclauses);
	return interner_tuple(classes->inner, number)[clause];
}

/* Order the inner classes by their value for a clause. */
static void
order_classes(Classes *classes, int clause)
{
	ByValue *by = &classes->by_value[clause];
	int nvalues = matches_count_inner(classes->matches[clause]);
	int nclasses = classes->inner->count;

	by->starts = palloc_extended((Size) (nvalues + 2) * sizeof(int), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	by->order = palloc_extended((Size) Max(nclasses, 1) * sizeof(int), MCXT_ALLOC_HUGE);
	/* A counting sort, as in order_inner(). */
	for (int i = 0; i < nclasses; i++)
		by->starts[class_value(classes, i, clause) + 2]++;
	for (int value = 2; value < nvalues + 2; value++)
		by->starts[value] += by->starts[value - 1];
	for (int i = 0; i < nclasses; i++)
		by->order[by->starts[class_value(classes, i, clause) + 1]++] = i;
}

/* Prepare for searching, after the last inner row. */
void
classes_close_inner(Classes *classes)
{
	if (classes->nclauses == 1)
		return;
	classes->by_value = palloc(classes->nclauses * sizeof(ByValue));
	for (int i = 0; i < classes->nclauses; i++)
		order_classes(classes, i);
}

/* Return how many inner classes match the present outer class by one clause. */
static int64
count_classes(const Classes *classes, int clause)
{
	const MatchList *list = classes->value_lists[clause];
	const int *starts = classes->by_value[clause].starts;
	int64 count = 0;

	for (int i = 0; i < list->count; i++)
		count += starts[list->values[i] + 1] - starts[list->values[i]];
	return count;
}

/* Return the clause by which the present outer class matches the fewest inner classes. */
static int
choose_guide(const Classes *classes)
{
	int guide = 0;
	int64 fewest = PG_INT64_MAX;

	for (int i = 0; i < classes->nclauses; i++)
	{
		int64 count = count_classes(classes, i);

		if (count < fewest)
		{
			fewest = count;
			guide = i;
		}
	}
	return guide;
}

/* Return true if a list, which is in ascending order, has a number. */
static bool
has_number(const MatchList *list, int number)
{
	int lo = 0;
	int hi = list->count;

	while (lo < hi)
	{
		int middle = lo + (hi - lo) / 2;

		if (list->values[middle] < number)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo < list->count && list->values[lo] == number;
}

/* Return true if an inner class matches the present outer class by all clauses but the guide. */
static bool
matches_all(const Classes *classes, int guide, int number)
{
	for (int i = 0; i < classes->nclauses; i++)
	{
		if (i != guide && !has_number(classes->value_lists[i], class_value(classes, number, i)))
			return false;
	}
	return true;
}

/* Append an inner class to a list. */
static void
append_class(MatchList *list, int number, int *room)
{
	if (list->count == *room)
	{
		*room = *room ? *room * 2 : 4;
		list->values = list->values ? repalloc_huge(list->values, (Size) *room * sizeof(int))
									: palloc(*room * sizeof(int));
	}
	list->values[list->count++] = number;
}

/* List the inner classes that match the present outer class; its value_lists are set. */
static void
find_classes(Classes *classes, MatchList *list)
{
	int guide = choose_guide(classes);
	const MatchList *values = classes->value_lists[guide];
	const ByValue *by = &classes->by_value[guide];
	int room = 0;

	list->count = 0;
	list->values = NULL;
	for (int i = 0; i < values->count; i++)
	{
		int value = values->values[i];

		CHECK_FOR_INTERRUPTS();
		for (int at = by->starts[value]; at < by->starts[value + 1]; at++)
		{
			if (!matches_all(classes, guide, by->order[at]))
				continue;
			append_class(list, by->order[at], &room);
			if (classes->one_is_enough)
				return;
		}
	}
}

/* Forget all outer classes if they take more memory than a hash table may. */
static void
limit_outer_classes(Classes *classes)
{
	classes->grew = false;
	if (MemoryContextMemAllocated(classes->cache, true) <= get_hash_memory_limit())
		return;
	classes->nouter = 0;
	for (int i = 0; i < classes->nclauses; i++)
		matches_forget_outer(classes->matches[i]);
	if (classes->nclauses == 1)
		return;
	MemoryContextReset(classes->own_cache);
	start_outer_classes(classes);
}

/* Find the matches of an outer class that was not seen before; numbers holds its values. */
static void
match_outer_class(Classes *classes)
{
	MemoryContext old = MemoryContextSwitchTo(classes->own_cache);

	if (classes->outer_room < classes->outer->room)
	{
		classes->outer_room = classes->outer->room;
		classes->lists = repalloc_huge(classes->lists, (Size) classes->outer_room * sizeof(MatchList));
	}
	for (int i = 0; i < classes->nclauses; i++)
		classes->value_lists[i] = matches_of_outer(classes->matches[i], classes->numbers[i]);
	find_classes(classes, &classes->lists[classes->nouter]);
	MemoryContextSwitchTo(old);
}

/* Return the number of an outer row's class, which is nouter for a new class. */
static int
number_outer(Classes *classes, const Datum *values)
{
	bool found;

	if (classes->nclauses == 1)
		return matches_add_outer(classes->matches[0], values[0]);
	for (int i = 0; i < classes->nclauses; i++)
		classes->numbers[i] = matches_add_outer(classes->matches[i], values[i]);
	return interner_code(classes->outer, classes->numbers, &found);
}

/* Return the inner classes that an outer row joins with. */
const MatchList *
classes_of_outer(Classes *classes, const Datum *values)
{
	int number;

	Assert(classes->nclauses == 1 || classes->by_value != NULL);
	if (classes->grew)
		limit_outer_classes(classes);
	number = number_outer(classes, values);
	if (number == classes->nouter)
	{
		if (classes->nclauses > 1)
			match_outer_class(classes);
		classes->nouter++;
		classes->grew = true;
	}
	return classes->nclauses == 1 ? matches_of_outer(classes->matches[0], number) : &classes->lists[number];
}
