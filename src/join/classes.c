/*
 * classes.c
 *		Which classes of rows join with which.
 *
 * A class is a combination of numbers of values, one for each clause.  With one
 * clause, classes are values and their matches all there is to know.
 */
#include "base/kanon.h"

#include "join/classes.h"

#include "common/hashfn.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/matches.h"

typedef struct ClassEntry
{
	int *values;
	uint32 hash;
	int32 number;
	char status;
} ClassEntry;

#define NVALUES(tb) (*(const int *) (tb)->private_data)

static inline uint32
hash_values(const int *values, int count)
{
	uint32 hash = 0;

	for (int i = 0; i < count; i++)
		hash = hash_combine(hash, murmurhash32(values[i]));
	return hash;
}

#define SH_PREFIX class
#define SH_ELEMENT_TYPE ClassEntry
#define SH_KEY_TYPE int *
#define SH_KEY values
#define SH_HASH_KEY(tb, k) hash_values(k, NVALUES(tb))
#define SH_EQUAL(tb, a, b) (memcmp(a, b, NVALUES(tb) * sizeof(int)) == 0)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Inner classes by their value for one clause. */
typedef struct ByValue
{
	int *starts; /* where those with each value start in order, and where the last end */
	int *order;
} ByValue;

struct Classes
{
	int nclauses;
	bool one_is_enough;
	Matches **matches; /* of each clause */
	int *numbers;	   /* room for a row's values */

	/* With more than one clause. */
	struct class_hash *inner_seen;
	int ninner;
	int room;
	int *inner; /* each class's values */
	ByValue *by_value;

	/* What is known of outer classes; started anew when it is too large. */
	MemoryContext cache;
	bool grew; /* since its size was last looked at */
	int nouter;
	MemoryContext own_cache;
	struct class_hash *outer_seen;
	int outer_room;
	MatchList *lists;			   /* by the number of an outer class */
	const MatchList **value_lists; /* of the outer class at hand, for each clause */
};

#define FIRST_CLASSES 64

static void
start_outer(Classes *classes)
{
	MemoryContext old = MemoryContextSwitchTo(classes->own_cache);

	classes->outer_seen = class_create(classes->own_cache, FIRST_CLASSES, &classes->nclauses);
	classes->outer_room = FIRST_CLASSES;
	classes->lists = palloc(classes->outer_room * sizeof(MatchList));
	MemoryContextSwitchTo(old);
}

Classes *
classes_create(const JoinClause *clauses, int nclauses, bool one_is_enough)
{
	Classes *classes = palloc0(sizeof(Classes));

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
	classes->inner_seen = class_create(CurrentMemoryContext, FIRST_CLASSES, &classes->nclauses);
	classes->room = FIRST_CLASSES;
	classes->inner = palloc(classes->room * nclauses * sizeof(int));
	start_outer(classes);
	return classes;
}

/* The number of a class among those seen, as many as count. */
static int
number_of(struct class_hash *seen, int *values, int count)
{
	bool found;
	ClassEntry *entry = class_insert(seen, values, &found);

	if (!found)
	{
		entry->values = MemoryContextAlloc(seen->ctx, NVALUES(seen) * sizeof(int));
		memcpy(entry->values, values, NVALUES(seen) * sizeof(int));
		entry->number = count;
	}
	return entry->number;
}

int
classes_add_inner(Classes *classes, const Datum *values)
{
	int number;

	if (classes->nclauses == 1)
		return matches_add_inner(classes->matches[0], values[0]);
	for (int i = 0; i < classes->nclauses; i++)
		classes->numbers[i] = matches_add_inner(classes->matches[i], values[i]);
	number = number_of(classes->inner_seen, classes->numbers, classes->ninner);
	if (number < classes->ninner)
		return number;
	if (classes->ninner == classes->room)
	{
		classes->room *= 2;
		classes->inner = repalloc_huge(classes->inner, (Size) classes->room * classes->nclauses * sizeof(int));
	}
	memcpy(classes->inner + (Size) number * classes->nclauses, classes->numbers, classes->nclauses * sizeof(int));
	classes->ninner++;
	return number;
}

int
classes_count_inner(const Classes *classes)
{
	return classes->nclauses == 1 ? matches_count_inner(classes->matches[0]) : classes->ninner;
}

static inline int
value_of(const Classes *classes, int number, int clause)
{
	return classes->inner[(Size) number * classes->nclauses + clause];
}

static void
order_classes(Classes *classes, int clause)
{
	ByValue *by = &classes->by_value[clause];
	int nvalues = matches_count_inner(classes->matches[clause]);

	by->starts = palloc_extended((Size) (nvalues + 2) * sizeof(int), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	by->order = palloc_extended((Size) Max(classes->ninner, 1) * sizeof(int), MCXT_ALLOC_HUGE);
	/* Counted two places on and moved one place back as they are filled, the starts end up where they belong. */
	for (int i = 0; i < classes->ninner; i++)
		by->starts[value_of(classes, i, clause) + 2]++;
	for (int value = 2; value < nvalues + 2; value++)
		by->starts[value] += by->starts[value - 1];
	for (int i = 0; i < classes->ninner; i++)
		by->order[by->starts[value_of(classes, i, clause) + 1]++] = i;
}

void
classes_close_inner(Classes *classes)
{
	if (classes->nclauses == 1)
		return;
	classes->by_value = palloc(classes->nclauses * sizeof(ByValue));
	for (int i = 0; i < classes->nclauses; i++)
		order_classes(classes, i);
}

/* How many inner classes have a value that the outer class matches in one clause. */
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

/* The clause by which the outer class at hand matches the fewest. */
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

/* Does an inner class match by the other clauses, too? */
static bool
matches_all(const Classes *classes, int guide, int number)
{
	for (int i = 0; i < classes->nclauses; i++)
	{
		if (i != guide && !has_number(classes->value_lists[i], value_of(classes, number, i)))
			return false;
	}
	return true;
}

static void
append_class(MatchList *list, int number, int *room)
{
	if (list->count == *room)
	{
		*room = *room ? *room * 2 : 4;
		list->values = list->values ? repalloc_huge(list->values, (Size) *room * sizeof(int)) : palloc(*room * sizeof(int));
	}
	list->values[list->count++] = number;
}

/* Lists the inner classes that match the outer one at hand. */
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

/* Forgets what is known of outer classes if it takes more memory than is allowed. */
static void
keep_small(Classes *classes)
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
	start_outer(classes);
}

/* A class that was not seen before; its values are numbered. */
static void
describe_outer(Classes *classes)
{
	MemoryContext old = MemoryContextSwitchTo(classes->own_cache);

	if (classes->nouter == classes->outer_room)
	{
		classes->outer_room *= 2;
		classes->lists = repalloc_huge(classes->lists, (Size) classes->outer_room * sizeof(MatchList));
	}
	for (int i = 0; i < classes->nclauses; i++)
		classes->value_lists[i] = matches_of_outer(classes->matches[i], classes->numbers[i]);
	find_classes(classes, &classes->lists[classes->nouter]);
	MemoryContextSwitchTo(old);
}

static int
number_outer(Classes *classes, const Datum *values)
{
	if (classes->nclauses == 1)
		return matches_add_outer(classes->matches[0], values[0]);
	for (int i = 0; i < classes->nclauses; i++)
		classes->numbers[i] = matches_add_outer(classes->matches[i], values[i]);
	return number_of(classes->outer_seen, classes->numbers, classes->nouter);
}

const MatchList *
classes_of_outer(Classes *classes, const Datum *values)
{
	int number;

	if (classes->grew)
		keep_small(classes);
	number = number_outer(classes, values);
	if (number == classes->nouter)
	{
		if (classes->nclauses > 1)
			describe_outer(classes);
		classes->nouter++;
		classes->grew = true;
	}
	return classes->nclauses == 1 ? matches_of_outer(classes->matches[0], number) : &classes->lists[number];
}
