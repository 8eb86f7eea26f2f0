/*
 * celltree.c
 *		Cells as boxes of a tree.
 *
 * A place is the number of a box.  The deepest boxes are complete at step 0, those
 * around them at step 1, and so on to the whole space at the last step.  What is
 * not published in a box goes on to the box around it.
 *
 * Bounds are compared once: a column's bounds are put in order, and a value is
 * from then on its rank among them.
 */
#include "base/kanon.h"

#include "recode/celltree.h"

#include "lib/qunique.h"
#include "utils/memutils.h"

#include "base/interner.h"
#include "recode/dictionary.h"
#include "recode/order.h"
#include "recode/recode.h"

/* The bounds of a column in order.  A value's rank is odd where it is one of them: 2 * place + 1. */
typedef struct BoundList
{
	int count;
	OrderedValue *values;
	int32 *ranks; /* of the dictionary's codes; -1: not known yet */
	int nranks;
} BoundList;

/* A bound by its text: many boxes share one. */
typedef struct BoundEntry
{
	const char *text;
	OrderedValue value;
} BoundEntry;

/* NULL is behind all others, and has no text. */
#define NULL_RANK PG_INT32_MAX

/* Among the bounds: how many are smaller, twice, and one more if it is one of them. */
static int32
find_rank(const BoundList *list, const OrderedValue *value)
{
	int lo = 0;
	int hi = list->count;

	if (value->sort == SORT_NULL)
		return NULL_RANK;
	while (lo < hi)
	{
		int middle = (lo + hi) / 2;
		int order = order_compare(&list->values[middle], value);

		if (order == 0)
			return 2 * middle + 1;
		if (order < 0)
			lo = middle + 1;
		else
			hi = middle;
	}
	return 2 * lo;
}

static void
learn_ranks(CellTree *tree, BoundList *list, const Dictionary *dictionary)
{
	const DictionaryLevel *level = &dictionary->levels[0];
	MemoryContext old = MemoryContextSwitchTo(tree->context);

	list->ranks = list->ranks ? repalloc_huge(list->ranks, level->capacity * sizeof(int32))
							  : palloc_extended(level->capacity * sizeof(int32), MCXT_ALLOC_HUGE);
	MemoryContextSwitchTo(tree->work);
	for (; list->nranks < level->ncodes; list->nranks++)
	{
		OrderedValue value;

		order_value(dictionary, list->nranks == NULL_CODE ? (Datum) 0 : level->values[list->nranks], &value);
		list->ranks[list->nranks] = find_rank(list, &value);
		MemoryContextReset(tree->work);
	}
	MemoryContextSwitchTo(old);
}

static inline int32
rank_of(CellTree *tree, const Dictionary *dictionary, int column, int32 code)
{
	BoundList *list = &tree->bounds[column];

	if (code >= list->nranks)
		learn_ranks(tree, list, dictionary);
	return list->ranks[code];
}

/* The box inside a box that holds a class; 0 if none does. */
static int32
box_inside(const Recoder *recoder, int32 box, const int32 *codes)
{
	CellTree *tree = recoder->tree;

	for (int32 child = tree->boxes[box].child; child != 0; child = tree->boxes[child].next)
	{
		int column = tree->boxes[child].column;
		int32 rank = rank_of(tree, recoder->columns[column], column, codes[column]);

		if (rank >= tree->boxes[child].lo_rank && rank <= tree->boxes[child].hi_rank)
			return child;
	}
	return 0;
}

static void
tree_locate(const Recoder *recoder, int step, const int32 *codes, int32 *place)
{
	int32 inside = 0;

	for (int depth = 0; depth < recoder->nsteps - step; depth++)
	{
		int32 next = box_inside(recoder, inside, codes);

		if (next == 0)
			break;
		inside = next;
	}
	*place = inside;
}

static void
tree_climb(const Recoder *recoder, int step, int32 *place)
{
	const CellBox *box = &recoder->tree->boxes[*place];

	if (box->depth > recoder->nsteps - step)
		*place = box->parent;
}

static int
tree_due(const Recoder *recoder, const int32 *place)
{
	return recoder->nsteps - recoder->tree->boxes[*place].depth;
}

static OrderedValue
read_bound(Dictionary *dictionary, const char *text)
{
	OrderedValue value;

	order_value(dictionary, text ? dictionary_read(dictionary, text) : (Datum) 0, &value);
	return value;
}

static CellValue
make_value(Dictionary *dictionary, const CellBox *box)
{
	OrderedValue lo = read_bound(dictionary, box->lo);
	OrderedValue hi = read_bound(dictionary, box->hi);

	return (CellValue){
		.isnull = lo.sort == SORT_NULL,
		.value = lo.sort == SORT_NULL ? (Datum) 0 : order_cover(dictionary, &lo, &hi, box->open),
	};
}

/* The innermost box around it, or itself, that is smaller in the column says it. */
static CellValue
celltree_value(const Recoder *recoder, int step, const int32 *place, int column)
{
	CellTree *tree = recoder->tree;
	CellBox *box = &tree->boxes[*place];

	while (box != tree->boxes && box->column != column)
		box = &tree->boxes[box->parent];
	if (box == tree->boxes)
		return tree->roots[column];
	if (!box->value_known)
	{
		MemoryContext old = MemoryContextSwitchTo(tree->context);

		box->value = make_value(recoder->columns[column], box);
		box->value_known = true;
		MemoryContextSwitchTo(old);
	}
	return box->value;
}

const Nesting tree_nesting = {
	.locate = tree_locate,
	.climb = tree_climb,
	.due = tree_due,
	.value = celltree_value,
};

static void
collect_bound(Interner *table, Dictionary *dictionary, const char *text)
{
	bool found;
	int32 code;

	if (text == NULL)
		return;
	code = interner_code(table, &text, &found);
	if (!found)
		((BoundEntry *) interner_record(table, code))->value = read_bound(dictionary, text);
}

static int
compare_bounds(const void *left, const void *right)
{
	return order_compare(left, right);
}

/* A column's bounds, in order; the same one may be there in several spellings. */
static void
list_bounds(const Recoder *recoder, int column, Interner *table)
{
	CellTree *tree = recoder->tree;
	BoundList *list = &tree->bounds[column];

	for (int32 box = 1; box < tree->nboxes; box++)
	{
		if (tree->boxes[box].column != column)
			continue;
		collect_bound(table, recoder->columns[column], tree->boxes[box].lo);
		collect_bound(table, recoder->columns[column], tree->boxes[box].hi);
	}
	list->values = palloc_extended(Max(table->count, 1) * sizeof(OrderedValue), MCXT_ALLOC_HUGE);
	for (list->count = 0; list->count < table->count; list->count++)
		list->values[list->count] = ((BoundEntry *) interner_record(table, list->count))->value;
	qsort(list->values, list->count, sizeof(OrderedValue), compare_bounds);
	list->count = qunique(list->values, list->count, sizeof(OrderedValue), compare_bounds);
}

static int32
bound_rank(const BoundList *list, Interner *table, const char *text)
{
	BoundEntry *entry;

	if (text == NULL)
		return NULL_RANK;
	entry = interner_record(table, interner_find(table, &text));
	return find_rank(list, &entry->value);
}

static void
rank_boxes(const Recoder *recoder, int column)
{
	CellTree *tree = recoder->tree;
	Interner *table = interner_create(CurrentMemoryContext, sizeof(char *), sizeof(BoundEntry), &interner_borrowed_texts,
									  NULL);

	list_bounds(recoder, column, table);
	for (int32 i = 1; i < tree->nboxes; i++)
	{
		CellBox *box = &tree->boxes[i];

		if (box->column != column)
			continue;
		box->lo_rank = bound_rank(&tree->bounds[column], table, box->lo);
		box->hi_rank = bound_rank(&tree->bounds[column], table, box->hi) - (box->open ? 1 : 0);
	}
	interner_free(table);
}

/* Puts the boxes into each other, in the order of their numbers. */
static int
link_boxes(CellTree *tree)
{
	int depth = 0;

	for (int32 i = tree->nboxes - 1; i > 0; i--)
	{
		CellBox *around = &tree->boxes[tree->boxes[i].parent];

		tree->boxes[i].next = around->child;
		around->child = i;
	}
	for (int32 i = 1; i < tree->nboxes; i++)
	{
		tree->boxes[i].depth = tree->boxes[tree->boxes[i].parent].depth + 1;
		depth = Max(depth, tree->boxes[i].depth);
	}
	return depth;
}

void
tree_prepare(Recoder *recoder)
{
	CellTree *tree = recoder->tree;

	recoder->nesting = &tree_nesting;
	recoder->width = 1;
	recoder->nsteps = link_boxes(tree);
	tree->context = CurrentMemoryContext;
	tree->work = AllocSetContextCreate(CurrentMemoryContext, "kanon bound", ALLOCSET_SMALL_SIZES);
	tree->bounds = palloc0(Max(recoder->ncolumns, 1) * sizeof(BoundList));
	tree->roots = palloc0(Max(recoder->ncolumns, 1) * sizeof(CellValue));
	for (int column = 0; column < recoder->ncolumns; column++)
	{
		tree->roots[column].value = dictionary_root(recoder->columns[column]);
		rank_boxes(recoder, column);
	}
}
