/*
 * vocabulary.c
 *		The values that a column may have, as an attacker knows them.
 */
#include "base/kanon.h"

#include "quality/vocabulary.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "base/typekind.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"
#include "recode/celltree.h"
#include "recode/dictionary.h"
#include "recode/order.h"
#include "recode/recode.h"

/* The most values that are listed for a column; beyond that, intervals stand for them. */
#define LONGEST_LIST 100000

/* Add a value, which is in the dictionary's work space, to the dictionary, and return its code; free the work space. */
static int32
vocabulary_add(Dictionary *dictionary, Datum value)
{
	int32 code = dictionary_add(dictionary, value);

	MemoryContextReset(dictionary->work);
	return code;
}

/* Add the leaves of a column's tree. */
static void
list_leaves(Dictionary *dictionary)
{
	Dgh *dgh = dictionary->dgh;

	for (int i = 0; i < dgh->tree->nleaves; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(dictionary->work);
		Datum leaf = tree_value(dgh, dgh->tree->leaf[i]);

		MemoryContextSwitchTo(old);
		(void) vocabulary_add(dictionary, leaf);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Add all whole numbers or days from lo to before hi; return false, before that is done, if they are too many. */
static bool
list_whole(Dictionary *dictionary, GenKind kind, double lo, double hi, int *room)
{
	if (!(hi - lo <= *room))
		return false;
	for (int64 number = (int64) ceil(lo); number < hi; number++)
	{
		MemoryContext old = MemoryContextSwitchTo(dictionary->work);
		Datum point = gen_whole_interval(kind, GEN_POINT, number, number);

		MemoryContextSwitchTo(old);
		(void) vocabulary_add(dictionary, point);
		(*room)--;
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/* Return the single value at a bound of an interval, in the current memory context. */
static Datum
point_at(const GenView *view, bool upper)
{
	int64 whole = upper ? view->ihi : view->ilo;

	if (view->kind != GEN_NUMERIC)
		return gen_whole_interval(view->kind, GEN_POINT, whole, whole);
	return gen_numeric_interval(GEN_POINT, gen_numeric_bound(view, upper), gen_numeric_bound(view, upper));
}

/*
 * Add a value of each interval of a level that is inside an interval of a higher one; return
 * false if they are too many.
 */
static bool
list_intervals(Dictionary *dictionary, int unit, const GenView *around, int *room)
{
	double end = gen_double_bound(around, true);
	GenView at = *around;
	bool upper = false;

	while (gen_double_bound(&at, upper) < end)
	{
		MemoryContext old = MemoryContextSwitchTo(dictionary->work);
		Datum point = point_at(&at, upper);
		int32 code;

		MemoryContextSwitchTo(old);
		code = dictionary_climb(dictionary, vocabulary_add(dictionary, point), 0, unit);
		gen_view(dictionary->levels[unit].values[code], &at);
		upper = true;
		CHECK_FOR_INTERRUPTS();
		if (!GEN_IS_INTERVAL(&at) || (at.flags & GEN_UPPER_INF) || --(*room) < 0)
			return false;
	}
	return true;
}

/* Return true if the column's numbers are whole; days are. */
static bool
vocabulary_is_whole(const Dictionary *dictionary, const GenView *view)
{
	return view->kind == GEN_DATE || typekind_of_base(dictionary->type) == TYPEKIND_INTEGER;
}

/*
 * Add the values of a level inside the highest intervals that occur, or of level 0 if the
 * column's values can be listed; return false if that cannot be done.
 */
static bool
list_below_tops(Dictionary *dictionary, int unit)
{
	const DictionaryLevel *top = &dictionary->levels[dictionary->height - 1];
	int ntops = top->ncodes;
	int room = LONGEST_LIST;

	for (int code = 0; code < ntops; code++)
	{
		GenView view;

		gen_view(top->values[code], &view);
		if (!GEN_IS_INTERVAL(&view))
			continue;
		if (view.flags & (GEN_LOWER_INF | GEN_UPPER_INF))
			return false;
		if (unit > 0 && !list_intervals(dictionary, unit, &view, &room))
			return false;
		if (unit == 0 && (!vocabulary_is_whole(dictionary, &view) ||
						  !list_whole(dictionary, view.kind == GEN_DATE ? GEN_DATE : GEN_INT,
									  gen_double_bound(&view, false), gen_double_bound(&view, true), &room)))
			return false;
	}
	return true;
}

/* Add the values of a column of a chain that need not occur, and return the level of the vocabulary. */
static int
list_chain_values(Dictionary *dictionary)
{
	TypeKind kind = typekind_of_base(dictionary->type);
	const Dgh *dgh = dictionary->dgh;
	int unit = 0;

	if (dgh == NULL)
		return kind == TYPEKIND_NUMERIC || kind == TYPEKIND_FLOAT ? dictionary->height : 0;
	if (dgh->kind == DGH_TREE)
		list_leaves(dictionary);
	if (dgh->kind != DGH_INTERVAL && dgh->kind != DGH_DATE)
		return 0;
	while (unit < dictionary->height && !list_below_tops(dictionary, unit))
		unit++;
	return unit;
}

/* Add the values of a column of boxes that need not occur; return false if the column has others, too. */
static bool
list_box_values(Dictionary *dictionary)
{
	TypeKind kind = typekind_of_base(dictionary->type);
	double least = INFINITY;
	double greatest = -INFINITY;
	GenKind whole = kind == TYPEKIND_INTEGER ? GEN_INT : GEN_DATE;
	int room = LONGEST_LIST;

	if (dictionary->dgh && dictionary->dgh->kind == DGH_TREE)
		list_leaves(dictionary);
	if (kind == TYPEKIND_NUMERIC || kind == TYPEKIND_FLOAT)
		return false;
	if (kind != TYPEKIND_INTEGER && kind != TYPEKIND_DATE && kind != TYPEKIND_TIMESTAMP)
		return true;
	for (int32 code = 1; code < dictionary->levels[0].ncodes; code++)
	{
		GenView view;

		gen_view(dictionary->levels[0].values[code], &view);
		if (view.kind != whole)
			continue;
		least = Min(least, (double) view.ilo);
		greatest = Max(greatest, (double) view.ihi);
	}
	return greatest < least || list_whole(dictionary, whole, least, greatest + 1, &room);
}

/* Compare two codes of the vocabulary's level by their ways up from it, the highest level first; for qsort_arg(). */
static int
compare_ways(const void *left, const void *right, void *arg)
{
	const Vocabulary *vocabulary = arg;
	const Dictionary *dictionary = vocabulary->dictionary;

	for (int level = dictionary->height; level >= vocabulary->unit; level--)
	{
		int32 a = dictionary_climb(dictionary, *(const int32 *) left, vocabulary->unit, level);
		int32 b = dictionary_climb(dictionary, *(const int32 *) right, vocabulary->unit, level);

		if (a != b)
			return a < b ? -1 : 1;
	}
	return 0;
}

/* Compare two ordered values, for qsort(). */
static int
compare_values(const void *left, const void *right)
{
	return order_compare(left, right);
}

/* List the codes that the values have on the vocabulary's level, each once, in no order. */
static void
collect_codes(Vocabulary *vocabulary, bool with_null)
{
	const Dictionary *dictionary = vocabulary->dictionary;
	const DictionaryLevel *level = &dictionary->levels[vocabulary->unit];
	bool *present = palloc_extended(level->ncodes * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	vocabulary->codes = palloc_extended(level->ncodes * sizeof(int32), MCXT_ALLOC_HUGE);
	for (int32 value = with_null ? NULL_CODE : NULL_CODE + 1; value < dictionary->levels[0].ncodes; value++)
	{
		int32 code = dictionary_climb(dictionary, value, 0, vocabulary->unit);

		if (!present[code])
			vocabulary->codes[vocabulary->count++] = code;
		present[code] = true;
	}
	pfree(present);
}

/* Put the values of a column of a chain in the order of their ways up, and note the range of each code. */
static void
order_ways(Vocabulary *vocabulary)
{
	const Dictionary *dictionary = vocabulary->dictionary;

	qsort_arg(vocabulary->codes, vocabulary->count, sizeof(int32), compare_ways, vocabulary);
	vocabulary->ranges = palloc0((dictionary->height + 1) * sizeof(ValueRange *));
	for (int level = vocabulary->unit; level <= dictionary->height; level++)
	{
		ValueRange *ranges = palloc_extended(dictionary->levels[level].ncodes * sizeof(ValueRange),
											 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

		for (int i = 0; i < vocabulary->count; i++)
		{
			ValueRange *range = &ranges[dictionary_climb(dictionary, vocabulary->codes[i], vocabulary->unit, level)];

			Assert(range->hi == 0 || range->hi == i);
			if (range->hi == 0)
				range->lo = i;
			range->hi = i + 1;
		}
		vocabulary->ranges[level] = ranges;
	}
}

/* Put the values of a column of boxes in the order in which boxes have them. */
static void
order_values(Vocabulary *vocabulary)
{
	const Dictionary *dictionary = vocabulary->dictionary;

	vocabulary->values = palloc_extended(Max(vocabulary->count, 1) * sizeof(OrderedValue), MCXT_ALLOC_HUGE);
	for (int i = 0; i < vocabulary->count; i++)
	{
		int32 code = vocabulary->codes[i];

		order_value(dictionary, code == NULL_CODE ? (Datum) 0 : dictionary->levels[0].values[code],
					&vocabulary->values[i]);
	}
	qsort(vocabulary->values, vocabulary->count, sizeof(OrderedValue), compare_values);
}

/* Return the vocabulary of a recoder's column: see vocabulary.h. */
Vocabulary *
vocabulary_create(const Recoder *recoder, int column, bool with_null)
{
	Vocabulary *vocabulary = palloc0(sizeof(Vocabulary));

	vocabulary->dictionary = recoder->columns[column];
	if (recoder->tree)
		vocabulary->exact = list_box_values(vocabulary->dictionary);
	else
	{
		vocabulary->unit = list_chain_values(vocabulary->dictionary);
		vocabulary->exact = vocabulary->unit == 0;
	}
	collect_codes(vocabulary, with_null);
	if (recoder->tree)
		order_values(vocabulary);
	else
		order_ways(vocabulary);
	return vocabulary;
}

/* Return how many values are less than a bound, given by its text form, or with equal also equal to it. */
static int
values_below(const Vocabulary *vocabulary, const char *text, bool equal)
{
	OrderedValue bound;
	int lo = 0;
	int hi = vocabulary->count;

	order_value(vocabulary->dictionary, text ? dictionary_read(vocabulary->dictionary, text) : (Datum) 0, &bound);
	while (lo < hi)
	{
		int middle = (lo + hi) / 2;
		int order = order_compare(&vocabulary->values[middle], &bound);

		if (order < 0 || (equal && order == 0))
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

/* Return the values of a column inside a box: the innermost box that is smaller in the column sets them. */
static ValueRange
range_of_box(const Vocabulary *vocabulary, const CellTree *tree, int32 number, int column)
{
	const CellBox *box = &tree->boxes[number];

	while (box != tree->boxes && box->column != column)
		box = &tree->boxes[box->parent];
	if (box == tree->boxes)
		return (ValueRange){.lo = 0, .hi = vocabulary->count};
	return (ValueRange){.lo = values_below(vocabulary, box->lo, false),
						.hi = values_below(vocabulary, box->hi, !box->open)};
}

/* Return the values of a column that a cell holds: see vocabulary.h. */
ValueRange
vocabulary_range(const Vocabulary *vocabulary, const Recoder *recoder, int step, const int32 *place, int column)
{
	int level;

	Assert(column >= 0 && column < recoder->ncolumns && step >= 0 && step <= recoder->nsteps);
	if (recoder->tree)
		return range_of_box(vocabulary, recoder->tree, *place, column);
	level = recoder->levels[step * recoder->ncolumns + column];
	if (level < vocabulary->unit)
		return (ValueRange){0};
	return vocabulary->ranges[level][place[column]];
}

/* Return a value as a generalized one; 0 for NULL. */
Datum
vocabulary_value(const Vocabulary *vocabulary, int index)
{
	int32 code;

	Assert(index >= 0 && index < vocabulary->count);
	if (vocabulary->values)
		return vocabulary->values[index].value;
	code = vocabulary->codes[index];
	if (vocabulary->unit == 0 && code == NULL_CODE)
		return (Datum) 0;
	return vocabulary->dictionary->levels[vocabulary->unit].values[code];
}
