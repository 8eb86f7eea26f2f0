/*
 * celltree.c
 *		A tree of boxes as a nesting of cells.
 *
 * A place is the number of a box.  The deepest boxes are complete at step 0, the boxes
 * around them at step 1, and so on to the whole space at the last step.  Classes that are
 * not published in a box go on to the box around it.
 *
 * Values are compared with bounds only once: a column's bounds are sorted, and from then
 * on a value is its rank among them.
 */
#include "base/kanon.h"

#include "recode/celltree.h"

#include "lib/qunique.h"
#include "utils/memutils.h"

#include "base/interner.h"
#include "recode/dictionary.h"
#include "recode/order.h"
#include "recode/recode.h"

/*
 * The bounds of a column, in ascending order.  The rank of a value is twice the number of
 * bounds below it, plus one if the value is itself a bound.
 */
typedef struct BoundList
{
	int count;
	OrderedValue *values;
	int32 *ranks; /* per code of the dictionary, for the first nranks codes */
	int nranks;
} BoundList;

/* A bound, found by its text: many boxes share one. */
typedef struct BoundEntry
{
	const char *text;
	OrderedValue value;
} BoundEntry;

/* The rank of NULL, which is behind all other values and has no text. */
#define NULL_RANK PG_INT32_MAX

/* Return the rank of a value among the bounds of its column. */
static int32
celltree_find_rank(const BoundList *list, const OrderedValue *value)
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

/* Find the ranks of all values that the dictionary has learned since the last call. */
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

		Assert(list->nranks < level->capacity);
		order_value(dictionary, list->nranks == NULL_CODE ? (Datum) 0 : level->values[list->nranks], &value);
		list->ranks[list->nranks] = celltree_find_rank(list, &value);
		MemoryContextReset(tree->work);
	}
	MemoryContextSwitchTo(old);
}

/* Return the rank of the value that has a code in a column. */
static inline int32
rank_of(CellTree *tree, const Dictionary *dictionary, int column, int32 code)
{
	BoundList *list = &tree->bounds[column];

	if (code >= list->nranks)
		learn_ranks(tree, list, dictionary);
	Assert(code >= 0 && code < list->nranks);
	return list->ranks[code];
}

/* Return the first box inside a box that holds a class, or 0 if none does. */
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

/* Set the place of a class at a step: the deepest box of the step that holds it. */
static void
celltree_locate(const Recoder *recoder, int step, const int32 *codes, int32 *place)
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

/* Move a place of the step before to a step: a box that is too deep becomes the box around it. */
static void
celltree_climb(const Recoder *recoder, int step, int32 *place)
{
	const CellBox *box = &recoder->tree->boxes[*place];

	Assert(*place >= 0 && *place < recoder->tree->nboxes);
	Assert(box->depth <= recoder->nsteps - step + 1);
	if (box->depth > recoder->nsteps - step)
		*place = box->parent;
}

/* Return the step at which a box is complete: the classes of the boxes inside have come up by then. */
static int
celltree_due(const Recoder *recoder, const int32 *place)
{
	return recoder->nsteps - recoder->tree->boxes[*place].depth;
}

/* Return a bound from its text; a missing text is the bound NULL. */
static OrderedValue
read_bound(Dictionary *dictionary, const char *text)
{
	OrderedValue value;

	order_value(dictionary, text ? dictionary_read(dictionary, text) : (Datum) 0, &value);
	return value;
}

/* Return the smallest value that covers a box in the box's column. */
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

/*
 * Return the value of a column in a box.  It is set by the innermost box, from this one
 * outwards, that is smaller in the column.
 */
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

static const Nesting celltree_nesting = {
	.locate = celltree_locate,
	.climb = celltree_climb,
	.due = celltree_due,
	.value = celltree_value,
};

/* Add a bound to a table, unless its text is there already. */
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

/* Compare two bounds, for qsort() and qunique(). */
static int
compare_bounds(const void *left, const void *right)
{
	return order_compare(left, right);
}

/* Sort the bounds of a column, each once; a bound may be there in several spellings. */
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

/* Return the rank of a bound that is in the table. */
static int32
bound_rank(const BoundList *list, Interner *table, const char *text)
{
	BoundEntry *entry;

	if (text == NULL)
		return NULL_RANK;
	entry = interner_record(table, interner_find(table, &text));
	return celltree_find_rank(list, &entry->value);
}

/* Set the ranks between which the boxes that are smaller in a column lie. */
static void
rank_boxes(const Recoder *recoder, int column)
{
	CellTree *tree = recoder->tree;
	Interner *table = interner_create(CurrentMemoryContext, sizeof(char *), sizeof(BoundEntry),
									  &interner_borrowed_texts, NULL);

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

/* Link the boxes to the boxes around them, in the order of their numbers, and return the depth of the deepest. */
static int
link_boxes(CellTree *tree)
{
	int depth = 0;

	for (int32 i = tree->nboxes - 1; i > 0; i--)
	{
		CellBox *around = &tree->boxes[tree->boxes[i].parent];

		Assert(tree->boxes[i].parent >= 0 && tree->boxes[i].parent < i);
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

/* Set up a recoder's nesting, width and steps, and the tree's links and ranks. */
void
celltree_prepare(Recoder *recoder)
{
	CellTree *tree = recoder->tree;

	recoder->nesting = &celltree_nesting;
	recoder->width = 1;
	recoder->nsteps = recoder->last_step = link_boxes(tree);
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
