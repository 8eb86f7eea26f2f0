/*
 * recode.c
 *		Climbing the steps of a recoding.
 *
 * Groups start as classes.  Each step moves the groups that are not published
 * to larger cells; groups that meet become one and are checked again.  The work
 * of a step is that of hashing the groups still there.
 */
#include "base/kanon.h"

#include "recode/recode.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "hierarchy/generalized.h"

/* Classes that are together so far, in the cell of a place. */
struct Group
{
	int32 *place;
	int64 rows;
	int k; /* the largest that a row asks for */
	Bag *individuals; /* null where rows are counted */
	Bag *sensitive;
	int first_class; /* the others by Climb.next_class */
	int last_class;
	bool changed; /* since it was last checked */
};

typedef struct Climb
{
	Histogram *histogram;
	Recoder *recoder;
	int step;
	int ngroups;
	Group **groups;
	int *next_class;
} Climb;

typedef struct GroupEntry
{
	Group *group;
	uint32 hash;
	char status;
} GroupEntry;

static inline uint32
hash_place(const int32 *place, int count)
{
	return hash_bytes((const unsigned char *) place, count * sizeof(int32));
}

#define CLIMB(tb) ((Climb *) (tb)->private_data)
#define WIDTH(tb) (CLIMB(tb)->recoder->width)

#define SH_PREFIX groupindex
#define SH_ELEMENT_TYPE GroupEntry
#define SH_KEY_TYPE Group *
#define SH_KEY group
#define SH_HASH_KEY(tb, k) hash_place((k)->place, WIDTH(tb))
#define SH_EQUAL(tb, a, b) (memcmp((a)->place, (b)->place, WIDTH(tb) * sizeof(int32)) == 0)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Published cells, so that one cell is one object however often it is found. */
typedef struct CellEntry
{
	Cell *cell;
	uint32 hash;
	char status;
} CellEntry;

static inline uint32
hash_cell(const Cell *cell, int width)
{
	return hash_combine(hash_place(cell->place, width), murmurhash32(cell->step * 2 + cell->suppressed));
}

static inline bool
same_cell(const Cell *a, const Cell *b, int width)
{
	return a->step == b->step && a->suppressed == b->suppressed &&
		   memcmp(a->place, b->place, width * sizeof(int32)) == 0;
}

#define RECODER(tb) ((Recoder *) (tb)->private_data)

#define SH_PREFIX cellindex
#define SH_ELEMENT_TYPE CellEntry
#define SH_KEY_TYPE Cell *
#define SH_KEY cell
#define SH_HASH_KEY(tb, k) hash_cell(k, RECODER(tb)->width)
#define SH_EQUAL(tb, a, b) same_cell(a, b, RECODER(tb)->width)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Fills in what follows from the columns, steps or tree, and context of a recoder. */
void
recoder_prepare(Recoder *recoder)
{
	if (recoder->tree)
		tree_prepare(recoder);
	else
		chain_prepare(recoder);
	recoder_forget_cells(recoder, recoder->context);
}

/* Are two classes, by their codes at level 0, in one cell of a step? */
bool
recoder_together(const Recoder *recoder, int step, const int32 *codes, const int32 *others)
{
	int32 place[MAX_PLACE];
	int32 other[MAX_PLACE];

	recoder->nesting->locate(recoder, step, codes, place);
	recoder->nesting->locate(recoder, step, others, other);
	return memcmp(place, other, recoder->width * sizeof(int32)) == 0;
}

/* Starts a new set of cells, which will live in the given context. */
void
recoder_forget_cells(Recoder *recoder, MemoryContext context)
{
	recoder->context = context;
	recoder->cells = cellindex_create(context, 256, recoder);
}

/* k = 0 and k = 1 form no groups. */
bool
recoder_groups(const Recoder *recoder)
{
	return recoder->personal || recoder->k >= 2;
}

static Cell *
make_cell(Recoder *recoder, int step, const int32 *place, bool suppressed)
{
	int ncolumns = recoder->ncolumns;
	Size values = offsetof(Cell, values) + ncolumns * sizeof(Datum);
	Cell *cell = palloc0(values + recoder->width * sizeof(int32) + ncolumns * sizeof(bool));

	cell->step = step;
	cell->suppressed = suppressed;
	cell->place = (int32 *) ((char *) cell + values);
	cell->nulls = (bool *) (cell->place + recoder->width);
	memcpy(cell->place, place, recoder->width * sizeof(int32));
	return cell;
}

/* The cell of a place at a step. */
Cell *
recoder_cell(Recoder *recoder, int step, const int32 *place, bool suppressed)
{
	MemoryContext old = MemoryContextSwitchTo(recoder->context);
	Cell *cell = make_cell(recoder, step, place, suppressed);
	CellEntry *entry;
	bool found;

	entry = cellindex_insert(recoder->cells, cell, &found);
	if (found)
		pfree(cell);
	for (int i = 0; i < recoder->ncolumns && !found; i++)
	{
		CellValue value = {.value = gen_any(0)};

		if (!suppressed)
			value = recoder->nesting->value(recoder, step, place, i);
		cell->nulls[i] = value.isnull;
		cell->values[i] = value.value;
	}
	MemoryContextSwitchTo(old);
	return entry->cell;
}

static int
sensitive_limit(const Recoder *recoder)
{
	return recoder->t > 0 ? 0 : recoder->l + 1;
}

static void
start_groups(Climb *climb)
{
	Histogram *histogram = climb->histogram;
	Recoder *recoder = climb->recoder;
	Group *groups = palloc_extended(Max(histogram->nclasses, 1) * sizeof(Group), MCXT_ALLOC_HUGE);
	int32 *places = palloc_extended(Max((Size) histogram->nclasses * recoder->width, 1) * sizeof(int32), MCXT_ALLOC_HUGE);

	climb->groups = palloc_extended(Max(histogram->nclasses, 1) * sizeof(Group *), MCXT_ALLOC_HUGE);
	climb->next_class = palloc_extended(Max(histogram->nclasses, 1) * sizeof(int), MCXT_ALLOC_HUGE);
	for (int class = 0; class < histogram->nclasses; class ++)
	{
		Group *group = &groups[class];

		group->place = places + (Size) class * recoder->width;
		recoder->nesting->locate(recoder, climb->step, histogram->codes + (Size) class * recoder->ncolumns, group->place);
		group->rows = histogram->rows[class];
		group->k = histogram->k ? histogram->k[class] : recoder->k;
		group->individuals = histogram->individuals ? &histogram->individuals[class] : NULL;
		group->sensitive = histogram->sensitive ? &histogram->sensitive[(Size) class * recoder->nsensitive] : NULL;
		group->first_class = group->last_class = class;
		group->changed = true;
		climb->next_class[class] = -1;
		climb->groups[class] = group;
	}
	climb->ngroups = histogram->nclasses;
}

static void
publish(Climb *climb, const Group *group, bool suppressed)
{
	Cell *cell = recoder_cell(climb->recoder, climb->step, group->place, suppressed);

	for (int class = group->first_class; class >= 0; class = climb->next_class[class])
		climb->histogram->cells[class] = cell;
}

/* Publishes the groups that have become safe; the others stay. */
static void
check_groups(Climb *climb)
{
	int left = 0;

	for (int i = 0; i < climb->ngroups; i++)
	{
		Group *group = climb->groups[i];
		bool due = climb->recoder->nesting->due(climb->recoder, group->place) <= climb->step;

		if (due && group->changed &&
			privacy_holds(climb->recoder, group->k, group->individuals ? group->individuals->size : group->rows, group->sensitive))
			publish(climb, group, false);
		else
			climb->groups[left++] = group;
		group->changed = group->changed && !due;
	}
	climb->ngroups = left;
}

/* Makes two groups one. */
static void
merge(Climb *climb, Group *group, Group *other)
{
	Recoder *recoder = climb->recoder;
	MemoryContext old = MemoryContextSwitchTo(climb->histogram->context);

	group->rows += other->rows;
	group->k = Max(group->k, other->k);
	if (group->individuals)
		bag_merge(group->individuals, other->individuals, recoder->most_individuals);
	for (int i = 0; i < recoder->nsensitive; i++)
		bag_merge(&group->sensitive[i], &other->sensitive[i], sensitive_limit(recoder));
	climb->next_class[group->last_class] = other->first_class;
	group->last_class = other->last_class;
	group->changed = true;
	MemoryContextSwitchTo(old);
}

/* Makes groups that have the same place one. */
static void
join_groups(Climb *climb)
{
	groupindex_hash *index = groupindex_create(CurrentMemoryContext, climb->ngroups, climb);
	int left = 0;

	for (int i = 0; i < climb->ngroups; i++)
	{
		Group *group = climb->groups[i];
		bool found;
		GroupEntry *entry = groupindex_insert(index, group, &found);

		if (found)
			merge(climb, entry->group, group);
		else
			climb->groups[left++] = group;
		if (i % 10000 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	climb->ngroups = left;
	groupindex_destroy(index);
}

static void
take_step(Climb *climb)
{
	const Nesting *nesting = climb->recoder->nesting;

	climb->step++;
	for (int i = 0; i < climb->ngroups; i++)
		nesting->climb(climb->recoder, climb->step, climb->groups[i]->place);
	join_groups(climb);
}

/* Leaves what is known of unpublished groups with their first classes. */
static void
note_leaders(Climb *climb)
{
	Histogram *histogram = climb->histogram;

	histogram->leaders = palloc_extended(Max(histogram->nclasses, 1) * sizeof(int), MCXT_ALLOC_HUGE);
	for (int i = 0; i < climb->ngroups; i++)
	{
		Group *group = climb->groups[i];

		histogram->rows[group->first_class] = group->rows;
		if (histogram->k)
			histogram->k[group->first_class] = group->k;
		for (int class = group->first_class; class >= 0; class = climb->next_class[class])
			histogram->leaders[class] = group->first_class;
	}
}

/*
 * Recodes the classes of a histogram from one step to another.  After the last
 * step of all, what is left is suppressed; before it, such classes keep no cell.
 * Classes that are known to be unpublished before the first step start there.
 *
 * The histogram's bags are used up; those of classes that are left tell of their
 * groups.
 */
void
recode(Histogram *histogram, int first_step, int last_step)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon recode", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	Climb climb = {.histogram = histogram, .recoder = histogram->recoder, .step = first_step};

	start_groups(&climb);
	if (first_step > 0 || !climb.recoder->nesting->classes_apart)
		join_groups(&climb);
	check_groups(&climb);
	while (climb.step < last_step && climb.ngroups > 0)
	{
		take_step(&climb);
		check_groups(&climb);
	}
	MemoryContextSwitchTo(histogram->context);
	if (last_step < climb.recoder->nsteps)
		note_leaders(&climb);
	for (int i = 0; i < climb.ngroups && last_step == climb.recoder->nsteps; i++)
		publish(&climb, climb.groups[i], true);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
}
