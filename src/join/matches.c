/*
 * matches.c
 *		Finding the values of one column that match a value of another by AVLIKE.
 *
 * Whole numbers, days, and nodes of one hierarchy by the positions of their leaves
 * stand on lines.  Two values on the same line can only match where they overlap, so
 * the inner values of each line are ordered by where they begin, and searched as an
 * interval tree: a stretch of the order is a tree with its middle as the root, and the
 * root knows how far the values of the stretch reach.  Values on different lines, or
 * on none, are compared one by one.
 */
#include "base/kanon.h"

#include "join/matches.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/extension.h"
#include "base/interner.h"
#include "base/typekind.h"
#include "hierarchy/generalized.h"

/* The type of a column's values. */
typedef struct ValueType
{
	Oid type;
	int16 typlen;
	bool typbyval;
} ValueType;

/*
 * Hash a value by its bytes; equal bytes mean the same value.  Values of variable
 * length have been detoasted by detoast_value(), which datum_image_hash() would check
 * again each time.
 */
static uint32
hash_image(const void *key, void *arg)
{
	const ValueType *type = arg;
	Datum value = *(const Datum *) key;

	if (type->typlen == -1)
		return hash_bytes((unsigned char *) VARDATA_ANY(DatumGetPointer(value)),
						  VARSIZE_ANY_EXHDR(DatumGetPointer(value)));
	return datum_image_hash(value, type->typbyval, type->typlen);
}

/* Return true if two values have the same bytes. */
static bool
same_image(const void *left, const void *right, void *arg)
{
	const ValueType *type = arg;
	Datum a = *(const Datum *) left;
	Datum b = *(const Datum *) right;

	if (type->typlen == -1)
		return VARSIZE_ANY_EXHDR(DatumGetPointer(a)) == VARSIZE_ANY_EXHDR(DatumGetPointer(b)) &&
			   memcmp(VARDATA_ANY(DatumGetPointer(a)), VARDATA_ANY(DatumGetPointer(b)),
					  VARSIZE_ANY_EXHDR(DatumGetPointer(a))) == 0;
	return datum_image_eq(a, b, type->typbyval, type->typlen);
}

/* Copy a new value. */
static void
copy_image(void *key, void *arg)
{
	const ValueType *type = arg;
	Datum *value = key;

	*value = datumCopy(*value, type->typbyval, type->typlen);
}

static const InternerMethods image_methods = {
	.hash = hash_image,
	.equal = same_image,
	.copy = copy_image,
};

/* Return a value that is neither compressed nor stored out of line. */
static inline Datum
detoast_value(const ValueType *type, Datum value)
{
	return type->typlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_PACKED(value)) : value;
}

/* The place of a value on a line: it covers [lo, hi] there. */
typedef struct LinePlace
{
	int kind; /* a GenKind; GEN_ANY if the value is on no line */
	int32 dgh;
	int32 generation;
	int64 lo;
	int64 hi;
	int number;	 /* of the value */
	int64 reach; /* once ordered: the largest hi of the stretch with this place in its middle */
} LinePlace;

struct Matches
{
	MemoryContext context;
	MemoryContext work; /* reset after each comparison */
	bool outer_is_left;
	FmgrInfo function;
	Oid collation;
	Oid generalized;

	ValueType inner_type;
	Interner *inner;
	int room;
	LinePlace *places; /* per value; from the first search on, line by line, and on a line in the order of lo */
	int nlines;		   /* 0 before the first search */
	int *ends;		   /* of each line, among places */

	ValueType outer_type;
	MemoryContext cache; /* holds the matches of outer values, which may be forgotten */
	Interner *outer;	 /* its records are OuterValues */
};

/* An outer value, and the inner values that match it. */
typedef struct OuterValue
{
	Datum value;
	MatchList list;
} OuterValue;

/* Read the type of an operator's argument. */
static void
read_argument_type(Node *argument, ValueType *type)
{
	type->type = getBaseType(exprType(argument));
	get_typlenbyval(type->type, &type->typlen, &type->typbyval);
}

#define FIRST_VALUES 64

/* Forget all outer values, so that they are numbered from 0 again. */
void
matches_forget_outer(Matches *matches)
{
	MemoryContextReset(matches->cache);
	matches->outer = interner_create(matches->cache, sizeof(Datum), sizeof(OuterValue), &image_methods,
									 &matches->outer_type);
}

/* Create an empty set of values for a clause. */
Matches *
matches_create(OpExpr *clause, bool outer_is_left, MemoryContext cache)
{
	Matches *matches = palloc0(sizeof(Matches));

	matches->context = CurrentMemoryContext;
	matches->work = AllocSetContextCreate(CurrentMemoryContext, "kanon comparison", ALLOCSET_SMALL_SIZES);
	matches->outer_is_left = outer_is_left;
	matches->collation = clause->inputcollid;
	matches->generalized = kanon_generalized_type();
	set_opfuncid(clause);
	fmgr_info(clause->opfuncid, &matches->function);
	fmgr_info_set_expr((Node *) clause, &matches->function);
	read_argument_type(outer_is_left ? lsecond(clause->args) : linitial(clause->args), &matches->inner_type);
	read_argument_type(outer_is_left ? linitial(clause->args) : lsecond(clause->args), &matches->outer_type);
	matches->inner = interner_create(CurrentMemoryContext, sizeof(Datum), sizeof(Datum), &image_methods,
									 &matches->inner_type);
	matches->room = matches->inner->room;
	matches->places = palloc(matches->room * sizeof(LinePlace));
	matches->cache = AllocSetContextCreate(cache, "kanon matches", ALLOCSET_DEFAULT_SIZES);
	matches_forget_outer(matches);
	return matches;
}

/* Set the line and the stretch that a value covers. */
static void
stand_on(LinePlace *place, int kind, int64 lo, int64 hi)
{
	place->kind = kind;
	place->lo = lo;
	place->hi = hi;
}

/* Find the place of a value on a line, if it has one. */
static void
find_place(const Matches *matches, const ValueType *type, Datum value, LinePlace *place)
{
	GenView view;

	memset(place, 0, sizeof(LinePlace));
	if (typekind_of_base(type->type) == TYPEKIND_INTEGER)
	{
		int64 whole = typekind_integer(type->type, value);

		stand_on(place, GEN_INT, whole, whole);
		return;
	}
	if (type->type != matches->generalized)
		return;
	gen_view(value, &view);
	if (view.kind == GEN_NODE && view.generation != 0 && !(view.flags & (GEN_IS_ROOT | GEN_UNKNOWN)))
	{
		stand_on(place, GEN_NODE, view.lo, (int64) view.hi - 1);
		place->dgh = view.dgh;
		place->generation = view.generation;
	}
	else if (view.kind == GEN_INT || view.kind == GEN_DATE)
		stand_on(place, view.kind, view.flags & GEN_LOWER_INF ? PG_INT64_MIN : view.ilo,
				 view.flags & GEN_UPPER_INF ? PG_INT64_MAX : view.ihi);
	gen_view_free(&view);
}

/* Return the number of an inner value. */
int
matches_add_inner(Matches *matches, Datum value)
{
	Interner *inner = matches->inner;
	bool found;
	int number;

	Assert(matches->nlines == 0);
	value = detoast_value(&matches->inner_type, value);
	number = interner_code(inner, &value, &found);
	if (found)
		return number;
	if (matches->room < inner->room)
	{
		matches->room = inner->room;
		matches->places = repalloc_huge(matches->places, matches->room * sizeof(LinePlace));
	}
	find_place(matches, &matches->inner_type, interner_datum(inner, number), &matches->places[number]);
	matches->places[number].number = number;
	return number;
}

/* Return the number of inner values. */
int
matches_count_inner(const Matches *matches)
{
	return matches->inner->count;
}

/* Order lines. */
static int
compare_lines(const LinePlace *a, const LinePlace *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->dgh != b->dgh)
		return a->dgh < b->dgh ? -1 : 1;
	return a->generation < b->generation ? -1 : a->generation > b->generation;
}

/* Order places by their line and by where they begin: a qsort comparator. */
static int
compare_line_places(const void *left, const void *right)
{
	const LinePlace *a = left;
	const LinePlace *b = right;
	int order = compare_lines(a, b);

	if (order != 0)
		return order;
	return a->lo < b->lo ? -1 : a->lo > b->lo;
}

/* Set the reach of all places of a stretch, and return the largest hi of it. */
static int64
set_reach(LinePlace *places, int from, int to)
{
	int middle = from + (to - from) / 2;
	int64 before;
	int64 after;

	if (from >= to)
		return PG_INT64_MIN;
	before = set_reach(places, from, middle);
	after = set_reach(places, middle + 1, to);
	places[middle].reach = Max(places[middle].hi, Max(before, after));
	return places[middle].reach;
}

/* Order the inner values for searching. */
static void
order_line_places(Matches *matches)
{
	LinePlace *places = matches->places;
	int ninner = matches->inner->count;

	qsort(places, ninner, sizeof(LinePlace), compare_line_places);
	matches->ends = palloc_extended(Max(ninner, 1) * sizeof(int), MCXT_ALLOC_HUGE);
	for (int from = 0, to = 1; to <= ninner; to++)
	{
		if (to < ninner && compare_lines(&places[from], &places[to]) == 0)
			continue;
		(void) set_reach(places, from, to);
		matches->ends[matches->nlines++] = to;
		from = to;
	}
}

/* Compare an outer value with the inner value at a place, and append the inner value to the list if it matches. */
static void
compare_at(Matches *matches, Datum value, int at, MatchList *list, int *room)
{
	int number = matches->places[at].number;
	Datum inner = interner_datum(matches->inner, number);
	MemoryContext old = MemoryContextSwitchTo(matches->work);
	bool matched = DatumGetBool(FunctionCall2Coll(&matches->function, matches->collation,
												  matches->outer_is_left ? value : inner,
												  matches->outer_is_left ? inner : value));

	MemoryContextReset(matches->work);
	MemoryContextSwitchTo(old);
	if (!matched)
		return;
	if (list->count == *room)
	{
		*room *= 2;
		list->values = repalloc_huge(list->values, *room * sizeof(int));
	}
	list->values[list->count++] = number;
}

/* The search for the matches of an outer value on its own line. */
typedef struct LineSearch
{
	Matches *matches;
	Datum value;
	const LinePlace *place;
	MatchList *list;
	int room;
} LineSearch;

/* Compare the outer value with the values of a stretch of its line that overlap it. */
static void
search_line(LineSearch *search, int from, int to)
{
	int middle = from + (to - from) / 2;
	const LinePlace *places = search->matches->places;

	if (from >= to || places[middle].reach < search->place->lo)
		return;
	search_line(search, from, middle);
	if (places[middle].lo > search->place->hi)
		return;
	if (places[middle].hi >= search->place->lo)
		compare_at(search->matches, search->value, middle, search->list, &search->room);
	search_line(search, middle + 1, to);
}

/* Order integers: a qsort comparator. */
static int
compare_value_numbers(const void *left, const void *right)
{
	int a = *(const int *) left;
	int b = *(const int *) right;

	return a < b ? -1 : a > b;
}

/* List the inner values that match an outer value, in the order of their numbers. */
static void
match_outer_value(Matches *matches, Datum value, MatchList *list)
{
	LinePlace place;
	LineSearch search = {matches, value, &place, list, FIRST_VALUES};

	list->count = 0;
	list->values = palloc(search.room * sizeof(int));
	find_place(matches, &matches->outer_type, value, &place);
	for (int line = 0, from = 0; line < matches->nlines; from = matches->ends[line++])
	{
		int to = matches->ends[line];

		CHECK_FOR_INTERRUPTS();
		if (place.kind != GEN_ANY && compare_lines(&place, &matches->places[from]) == 0)
			search_line(&search, from, to);
		else
		{
			for (int at = from; at < to; at++)
				compare_at(matches, value, at, list, &search.room);
		}
	}
	qsort(list->values, list->count, sizeof(int), compare_value_numbers);
}

/* Return the number of an outer value, and find its matches if it is new. */
int
matches_add_outer(Matches *matches, Datum value)
{
	MemoryContext old;
	OuterValue *outer;
	bool found;
	int number;

	value = detoast_value(&matches->outer_type, value);
	number = interner_code(matches->outer, &value, &found);
	if (found)
		return number;
	if (matches->nlines == 0)
	{
		old = MemoryContextSwitchTo(matches->context);
		order_line_places(matches);
		MemoryContextSwitchTo(old);
	}
	old = MemoryContextSwitchTo(matches->cache);
	outer = interner_record(matches->outer, number);
	match_outer_value(matches, outer->value, &outer->list);
	MemoryContextSwitchTo(old);
	return number;
}

/* Return the matches of a numbered outer value. */
const MatchList *
matches_of_outer(const Matches *matches, int number)
{
	return &((OuterValue *) interner_record(matches->outer, number))->list;
}
