/*
 * ldiversity.c
 *		Counting sensitive values for l-diversity: different values of different people.
 *
 * A group keeps pairs of a value and a person, and no more of them than can matter:
 *
 * - Of l people with one value, l - 1 may be needed for other values; so l people per
 *   value are enough.  In the same way, l values per person are enough, as long as
 *   values do not cover each other.
 * - With at most l pairs per value and per person, more than l * (l - 1) pairs are
 *   enough: fewer than l values and people, together, cannot be in all of them, so
 *   that l pairs of different values and people exist (König's theorem).
 * - Where each row is a person, l values that cover no other are enough.
 *
 * Which pairs are kept depends on the order in which they arrive; the answer does not.
 */
#include "base/kanon.h"

#include "recode/ldiversity.h"

#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/memutils.h"

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "recode/dictionary.h"

/* Order pairs by value, then by person. */
static inline int
compare_pairs(const ValuePerson *a, const ValuePerson *b)
{
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->person < b->person ? -1 : a->person > b->person;
}

#define ST_SORT sort_pairs
#define ST_ELEMENT_TYPE ValuePerson
#define ST_COMPARE(a, b) compare_pairs(a, b)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

#define ST_SORT sort_people
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* Learn which codes of the dictionary are values that may cover others. */
static void
learn_inner(DiversityRule *rule)
{
	const DictionaryLevel *level = &rule->dictionary->levels[0];

	if (rule->inner == NULL)
		rule->inner = MemoryContextAlloc(rule->context, level->capacity * sizeof(bool));
	else
		rule->inner = repalloc_huge(rule->inner, level->capacity * sizeof(bool));
	for (int code = rule->nknown; code < level->ncodes; code++)
	{
		GenView view;

		rule->inner[code] = false;
		if (code == NULL_CODE)
			continue;
		gen_view(level->values[code], &view);
		rule->inner[code] = !gen_is_itself(&view);
	}
	rule->nknown = level->ncodes;
}

/* Return true if a value may cover others. */
static inline bool
is_inner(DiversityRule *rule, int32 value)
{
	if (rule->dictionary == NULL)
		return false;
	if (unlikely(value >= rule->nknown))
		learn_inner(rule);
	Assert(value >= 0 && value < rule->nknown);
	return rule->inner[value];
}

/* Note that a code is equal to all codes with the same number. */
void
diversity_equate(DiversityRule *rule, int32 code, int32 number)
{
	Assert(rule->dictionary != NULL && code >= 0 && number >= 0);
	if (code >= rule->nsame)
	{
		int size = Max(64, 2 * code + 2);

		if (rule->same == NULL)
			rule->same = MemoryContextAlloc(rule->context, size * sizeof(int32));
		else
			rule->same = repalloc_huge(rule->same, size * sizeof(int32));
		/* A code without a number is equal to itself alone. */
		for (int i = rule->nsame; i < size; i++)
			rule->same[i] = -1 - i;
		rule->nsame = size;
	}
	rule->same[code] = number;
}

/* Return the number that a value shares with all values equal to it. */
static inline int32
number_of(const DiversityRule *rule, int32 value)
{
	if (rule->same == NULL)
		return value;
	return value < rule->nsame ? rule->same[value] : -1 - value;
}

/* Return true if no further pair can matter. */
static inline bool
is_full(const DiversityRule *rule, const Diversity *diversity)
{
	if (rule->l == 0 || rule->same)
		return false;
	if (!rule->people)
		return diversity->exact >= rule->l;
	return rule->dictionary == NULL && diversity->size > (int64) rule->l * (rule->l - 1);
}

/* Return the place of a pair, or the place where it belongs. */
static int
pair_place(const Diversity *diversity, const ValuePerson *pair)
{
	int lo = 0;
	int hi = diversity->size;

	while (lo < hi)
	{
		int middle = (lo + hi) / 2;

		if (compare_pairs(&diversity->pairs[middle], pair) < 0)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

/* Return true if a value has l people already, or a person l values, so that one more cannot matter. */
static bool
has_enough(const DiversityRule *rule, const Diversity *diversity, const ValuePerson *pair, int place)
{
	const ValuePerson *pairs = diversity->pairs;
	int count = 0;

	if (!rule->people || rule->l == 0)
		return false;
	for (int i = place - 1; i >= 0 && pairs[i].value == pair->value; i--)
		count++;
	for (int i = place; i < diversity->size && pairs[i].value == pair->value; i++)
		count++;
	if (count >= rule->l)
		return true;
	if (rule->dictionary)
		return false;
	count = 0;
	for (int i = 0; i < diversity->size && count < rule->l; i++)
		count += pairs[i].person == pair->person;
	return count >= rule->l;
}

/* Make room for one more pair. */
static void
make_pair_room(MemoryContext context, Diversity *diversity)
{
	if (diversity->size < diversity->room)
		return;
	diversity->room = diversity->room ? diversity->room * 2 : 2;
	diversity->pairs = diversity->pairs ? repalloc_huge(diversity->pairs, diversity->room * sizeof(ValuePerson))
										: MemoryContextAlloc(context, diversity->room * sizeof(ValuePerson));
}

/* Insert a pair at its place. */
static void
insert_pair(MemoryContext context, Diversity *diversity, const ValuePerson *pair, int place)
{
	make_pair_room(context, diversity);
	Assert(place == diversity->size || compare_pairs(&diversity->pairs[place], pair) > 0);
	Assert(place == 0 || compare_pairs(&diversity->pairs[place - 1], pair) < 0);
	memmove(diversity->pairs + place + 1, diversity->pairs + place,
			(diversity->size - place) * sizeof(ValuePerson));
	diversity->pairs[place] = *pair;
	diversity->size++;
}

/* Sort some pairs, and return how many are left with each pair once. */
static int
sort_once(ValuePerson *pairs, int count)
{
	int left = 0;

	sort_pairs(pairs, count);
	for (int i = 0; i < count; i++)
	{
		if (left == 0 || compare_pairs(&pairs[left - 1], &pairs[i]) != 0)
			pairs[left++] = pairs[i];
	}
	return left;
}

/* Append a pair to others in any order; repeated ones are removed before the array grows. */
static void
append_pair(MemoryContext context, Diversity *diversity, const ValuePerson *pair)
{
	if (diversity->size == diversity->room && diversity->size > 0)
	{
		int size = sort_once(diversity->pairs, diversity->size);

		/* Where most are new, room for as many again keeps the next time far away. */
		if (size > diversity->room / 2)
			make_pair_room(context, diversity);
		diversity->size = size;
	}
	make_pair_room(context, diversity);
	diversity->pairs[diversity->size++] = *pair;
}

/* Add a value of a person. */
void
diversity_add(DiversityRule *rule, MemoryContext context, Diversity *diversity, int32 value, uint64 person)
{
	ValuePerson pair = {value, rule->people ? person : 0};
	int place;

	Assert(value != NO_VALUE);
	if (rule->l == 0)
	{
		append_pair(context, diversity, &pair);
		return;
	}
	if (is_full(rule, diversity))
		return;
	place = pair_place(diversity, &pair);
	if (place < diversity->size && compare_pairs(&diversity->pairs[place], &pair) == 0)
		return;
	if (has_enough(rule, diversity, &pair, place))
		return;
	insert_pair(context, diversity, &pair, place);
	diversity->exact += !rule->people && !is_inner(rule, value);
}

/* Add all pairs of another group. */
void
diversity_merge(DiversityRule *rule, Diversity *diversity, const Diversity *other)
{
	for (int i = 0; i < other->size; i++)
		diversity_add(rule, CurrentMemoryContext, diversity, other->pairs[i].value, other->pairs[i].person);
}

/* Return the place behind the pairs with the value at a place. */
static int
end_of_value(const ValuePerson *pairs, int count, int first)
{
	int end = first + 1;

	while (end < count && pairs[end].value == pairs[first].value)
		end++;
	return end;
}

/* Return true if a value of the group covers another one that is not equal to it. */
static bool
covers_another(const DiversityRule *rule, const Diversity *diversity, int32 value)
{
	const Datum *values = rule->dictionary->levels[0].values;

	for (int i = 0; i < diversity->size; i = end_of_value(diversity->pairs, diversity->size, i))
	{
		int32 other = diversity->pairs[i].value;

		if (number_of(rule, other) != number_of(rule, value) &&
			dgh_covers(rule->dictionary->dgh, values[value], values[other]))
			return true;
	}
	return false;
}

/* Remove the pairs whose values have a number in a list. */
static int
remove_numbers(ValuePerson *pairs, int count, const List *numbers)
{
	int left = 0;

	for (int i = 0; i < count; i++)
	{
		if (!list_member_int(numbers, pairs[i].value))
			pairs[left++] = pairs[i];
	}
	return left;
}

/*
 * Return the pairs whose values cover no other value of the group, with one number for all
 * equal values, in ascending order; set their count.
 */
static ValuePerson *
pairs_that_count(DiversityRule *rule, const Diversity *diversity, int *count)
{
	ValuePerson *pairs = palloc_extended(Max(diversity->size, 1) * sizeof(ValuePerson), MCXT_ALLOC_HUGE);
	List *covering = NIL;

	for (int i = 0; i < diversity->size; i = end_of_value(diversity->pairs, diversity->size, i))
	{
		int32 value = diversity->pairs[i].value;

		CHECK_FOR_INTERRUPTS();
		if (is_inner(rule, value) && covers_another(rule, diversity, value))
			covering = lappend_int(covering, number_of(rule, value));
	}
	for (int i = 0; i < diversity->size; i++)
	{
		pairs[i] = diversity->pairs[i];
		pairs[i].value = number_of(rule, pairs[i].value);
	}
	*count = covering ? remove_numbers(pairs, diversity->size, covering) : diversity->size;
	if (rule->same)
		*count = sort_once(pairs, *count);
	return pairs;
}

/* A matching of values and people in the making. */
typedef struct Matching
{
	const ValuePerson *pairs;
	int count;
	uint64 *people; /* in ascending order */
	int npeople;
	int *first;	  /* by person: the place of the value that is matched with the person, or -1 */
	int *visited; /* by person: the last search that came by */
	int search;	  /* the number of the search under way */
} Matching;

/* Return the number of a person. */
static int
person_number(const Matching *matching, uint64 person)
{
	int lo = 0;
	int hi = matching->npeople - 1;

	while (lo < hi)
	{
		int middle = (lo + hi) / 2;

		if (matching->people[middle] < person)
			lo = middle + 1;
		else
			hi = middle;
	}
	Assert(matching->people[lo] == person);
	return lo;
}

/* Start a matching of the values and people in some pairs. */
static void
start_matching(Matching *matching, const ValuePerson *pairs, int count)
{
	uint64 *people = palloc_extended(Max(count, 1) * sizeof(uint64), MCXT_ALLOC_HUGE);

	for (int i = 0; i < count; i++)
		people[i] = pairs[i].person;
	sort_people(people, count);
	matching->npeople = 0;
	for (int i = 0; i < count; i++)
	{
		if (i == 0 || people[i] != people[i - 1])
			people[matching->npeople++] = people[i];
	}
	matching->pairs = pairs;
	matching->count = count;
	matching->people = people;
	matching->first = palloc_extended(Max(count, 1) * sizeof(int), MCXT_ALLOC_HUGE);
	matching->visited = palloc_extended(Max(count, 1) * sizeof(int), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	matching->search = 0;
	for (int i = 0; i < matching->npeople; i++)
		matching->first[i] = -1;
}

/*
 * Match the value whose pairs start at a place with a person, moving others if need be; return
 * false if no person is left.
 */
static bool
match_value(Matching *matching, int first)
{
	int end = end_of_value(matching->pairs, matching->count, first);

	check_stack_depth();
	for (int i = first; i < end; i++)
	{
		int person = person_number(matching, matching->pairs[i].person);

		if (matching->visited[person] == matching->search)
			continue;
		matching->visited[person] = matching->search;
		if (matching->first[person] < 0 || match_value(matching, matching->first[person]))
		{
			matching->first[person] = first;
			return true;
		}
	}
	return false;
}

/* Return the number of values that can be matched with different people, at most a limit. */
static int
count_matched(const ValuePerson *pairs, int count, int limit)
{
	Matching matching;
	int matched = 0;

	start_matching(&matching, pairs, count);
	for (int i = 0; i < count && matched < limit; i = end_of_value(pairs, count, i))
	{
		CHECK_FOR_INTERRUPTS();
		matching.search++;
		matched += match_value(&matching, i);
	}
	return matched;
}

/* Return the number of different values. */
static int
diversity_values(const ValuePerson *pairs, int count, int limit)
{
	int values = 0;

	for (int i = 0; i < count && values < limit; i = end_of_value(pairs, count, i))
		values++;
	return values;
}

/* Return the largest number of pairs that count, with different values and different people. */
int
diversity_count(DiversityRule *rule, Diversity *diversity)
{
	int limit = rule->l > 0 ? rule->l : PG_INT32_MAX;
	MemoryContext work;
	MemoryContext old;
	ValuePerson *pairs;
	int count;

	if (rule->l == 0)
		diversity->size = sort_once(diversity->pairs, diversity->size);
	if (is_full(rule, diversity))
		return rule->l;
	if (rule->dictionary == NULL && !rule->people)
		return Min(diversity->size, limit);
	work = AllocSetContextCreate(CurrentMemoryContext, "kanon diversity", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(work);
	pairs = pairs_that_count(rule, diversity, &count);
	count = rule->people ? count_matched(pairs, count, limit) : diversity_values(pairs, count, limit);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
	return count;
}
