/*
 * recode.c
 *		Climbing the steps of a recoding.
 *
 * Groups start as classes.  Each step moves the groups that are not published to larger
 * cells; groups that meet in a cell are merged and checked again.  The work of a step is
 * that of hashing the groups that are still unpublished.
 */
#include "base/kanon.h"

#include "recode/recode.h"

#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "hierarchy/generalized.h"
#include "recode/celltree.h"
#include "recode/chain.h"
#include "recode/dictionary.h"
#include "recode/ldiversity.h"
#include "recode/histogram.h"
#include "recode/privacy.h"

/* The unpublished classes that are in one cell at the current step. */
typedef struct Group
{
	int32 *place; /* of the cell */
	int64 rows;
	GroupCounts counts; /* but for the number of individuals */
	Bag *individuals;	/* NULL: each row is an individual of its own */
	int first_class;	/* the head of a list that Climb.next_class links */
	int last_class;		/* its end */
	bool changed;		/* the group has grown since the predicate was last tested */
} Group;

/* The state of recode(); its memory is freed in the end, but for the histogram's. */
typedef struct Climb
{
	Histogram *histogram;
	Recoder *recoder;
	int step;
	int ngroups; /* unpublished groups */
	Group **groups;
	int *next_class; /* per class: the next one of its group, -1 for the last */
} Climb;

/* Groups by their places. */

typedef struct GroupEntry
{
	Group *group;
	uint32 hash;
	char status;
} GroupEntry;

/* Return a hash of a place of count numbers. */
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

/* Cells by step and place, so that a cell is one object however often it is found. */
typedef struct CellEntry
{
	Cell *cell;
	uint32 hash;
	char status;
} CellEntry;

/* Return a hash of a cell; its place has width numbers. */
static inline uint32
hash_cell(const Cell *cell, int width)
{
	return hash_combine(hash_place(cell->place, width), murmurhash32(cell->step * 2 + cell->suppressed));
}

/* Return true if two cells are the same. */
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

/* Set up a recoder's nesting and its set of cells; its columns, steps or tree, predicate and context are set. */
void
recoder_prepare(Recoder *recoder)
{
	if (recoder->tree)
		celltree_prepare(recoder);
	else
		chain_prepare(recoder);
	Assert(recoder->width <= MAX_PLACE);
	recoder_forget_cells(recoder, recoder->context);
}

/* Return true if two classes, given by their codes at level 0, are in the same cell of a step. */
bool
recoder_together(const Recoder *recoder, int step, const int32 *codes, const int32 *others)
{
	int32 place[MAX_PLACE];
	int32 other[MAX_PLACE];

	Assert(step >= 0 && step <= recoder->nsteps);
	recoder->nesting->locate(recoder, step, codes, place);
	recoder->nesting->locate(recoder, step, others, other);
	return memcmp(place, other, recoder->width * sizeof(int32)) == 0;
}

/* Start a new, empty set of cells, which lives in a memory context. */
void
recoder_forget_cells(Recoder *recoder, MemoryContext context)
{
	recoder->context = context;
	recoder->cells = cellindex_create(context, 256, recoder);
}

/* Count each row as an individual of its own from now on. */
void
recoder_count_rows(Recoder *recoder)
{
	recoder->count_rows = true;
	for (int i = 0; i < recoder->nsensitive; i++)
		recoder->sensitive[i].diversity.people = false;
}

/* Return true if rows are published in groups: k = 0 and k = 1 form none. */
bool
recoder_groups(const Recoder *recoder)
{
	return recoder->personal || recoder->k >= 2;
}

/* Return a hash of the cell that a class belongs to at a step. */
uint32
recoder_cell_hash(const Recoder *recoder, const int32 *codes, int step)
{
	int32 place[MAX_PLACE];
	uint32 hash = 0;

	Assert(step >= 0 && step <= recoder->nsteps);
	recoder->nesting->locate(recoder, step, codes, place);
	for (int i = 0; i < recoder->width; i++)
		hash = hash_combine(hash, murmurhash32(place[i]));
	return hash;
}

/* Set codes as a row's owner lets them be seen: the codes of hidden columns become NULL_CODE. */
void
recoder_mask(const Recoder *recoder, uint64 visible, const int32 *codes, int32 *seen)
{
	for (int i = 0; i < recoder->ncolumns; i++)
		seen[i] = visible & (UINT64CONST(1) << i) ? codes[i] : NULL_CODE;
}

/* Return a new cell without values, in the current memory context. */
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

/* Return the cell of a place at a step; make it, with its values, if it is new. */
Cell *
recoder_cell(Recoder *recoder, int step, const int32 *place, bool suppressed)
{
	MemoryContext old = MemoryContextSwitchTo(recoder->context);
	Cell *cell = make_cell(recoder, step, place, suppressed);
	CellEntry *entry;
	bool found;

	Assert(step >= 0 && step <= recoder->nsteps);
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

/* The members of a class in an array of a histogram that has one for each sensitive column, or may be NULL. */
#define first_of_class(histogram, array, class) \
	((histogram)->array ? &(histogram)->array[(Size) (class) * (histogram)->recoder->nsensitive] : NULL)

/* Make each class of the histogram a group, in its cell at the first step. */
static void
start_groups(Climb *climb)
{
	Histogram *histogram = climb->histogram;
	Recoder *recoder = climb->recoder;
	Group *groups = palloc_extended(Max(histogram->nclasses, 1) * sizeof(Group), MCXT_ALLOC_HUGE);
	int32 *places = palloc_extended(Max((Size) histogram->nclasses * recoder->width, 1) * sizeof(int32),
									MCXT_ALLOC_HUGE);

	Assert(histogram->rows != NULL);
	climb->groups = palloc_extended(Max(histogram->nclasses, 1) * sizeof(Group *), MCXT_ALLOC_HUGE);
	climb->next_class = palloc_extended(Max(histogram->nclasses, 1) * sizeof(int), MCXT_ALLOC_HUGE);
	for (int class = 0; class < histogram->nclasses; class ++)
	{
		Group *group = &groups[class];
		const int32 *codes = histogram->codes + (Size) class * recoder->ncolumns;

		group->place = places + (Size) class * recoder->width;
		recoder->nesting->locate(recoder, climb->step, codes, group->place);
		group->rows = histogram->rows[class];
		group->individuals = histogram->individuals ? &histogram->individuals[class] : NULL;
		group->counts.k = histogram->k ? histogram->k[class] : recoder->k;
		group->counts.sensitive = first_of_class(histogram, sensitive, class);
		group->counts.diverse = first_of_class(histogram, diverse, class);
		group->first_class = group->last_class = class;
		group->changed = true;
		climb->next_class[class] = -1;
		climb->groups[class] = group;
	}
	climb->ngroups = histogram->nclasses;
}

/* Publish the classes of a group in its cell, or as suppressed rows. */
static void
publish_group(Climb *climb, const Group *group, bool suppressed)
{
	Cell *cell = recoder_cell(climb->recoder, climb->step, group->place, suppressed);

	Assert(climb->histogram->cells[group->first_class] == NULL);
	for (int class = group->first_class; class >= 0; class = climb->next_class[class])
		climb->histogram->cells[class] = cell;
}

/* Publish the groups in complete cells that satisfy the predicate, and keep the others. */
static void
check_groups(Climb *climb)
{
	int left = 0;

	for (int i = 0; i < climb->ngroups; i++)
	{
		Group *group = climb->groups[i];
		bool due = climb->recoder->nesting->due(climb->recoder, group->place) <= climb->step;

		group->counts.individuals = group->individuals ? group->individuals->size : group->rows;
		if (due && group->changed && privacy_holds(climb->recoder, &group->counts))
			publish_group(climb, group, false);
		else
			climb->groups[left++] = group;
		group->changed = group->changed && !due;
	}
	climb->ngroups = left;
}

/* Merge another group, which has the same place, into a group. */
static void
merge_group(Climb *climb, Group *group, Group *other)
{
	Recoder *recoder = climb->recoder;
	MemoryContext old = MemoryContextSwitchTo(climb->histogram->context);

	Assert(memcmp(group->place, other->place, recoder->width * sizeof(int32)) == 0);
	Assert((group->individuals == NULL) == (other->individuals == NULL));
	Assert(climb->next_class[group->last_class] == -1);
	group->rows += other->rows;
	group->counts.k = Max(group->counts.k, other->counts.k);
	if (group->individuals)
		bag_merge(group->individuals, other->individuals, recoder->most_individuals);
	for (int i = 0; i < recoder->nsensitive; i++)
	{
		if (group->counts.sensitive)
			bag_merge(&group->counts.sensitive[i], &other->counts.sensitive[i], 0);
		if (group->counts.diverse)
			diversity_merge(&recoder->sensitive[i].diversity, &group->counts.diverse[i], &other->counts.diverse[i]);
	}
	climb->next_class[group->last_class] = other->first_class;
	group->last_class = other->last_class;
	group->changed = true;
	MemoryContextSwitchTo(old);
}

/* Merge all groups that have the same place. */
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
			merge_group(climb, entry->group, group);
		else
			climb->groups[left++] = group;
		if (i % 10000 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	climb->ngroups = left;
	groupindex_destroy(index);
}

/* Move all groups to the cells of the next step, and merge the groups that meet. */
static void
take_step(Climb *climb)
{
	const Nesting *nesting = climb->recoder->nesting;

	Assert(climb->step < climb->recoder->nsteps);
	climb->step++;
	for (int i = 0; i < climb->ngroups; i++)
		nesting->climb(climb->recoder, climb->step, climb->groups[i]->place);
	join_groups(climb);
}

/* Leave the counts of each unpublished group with its first class, and make that class the leader of the others. */
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
			histogram->k[group->first_class] = group->counts.k;
		for (int class = group->first_class; class >= 0; class = climb->next_class[class])
			histogram->leaders[class] = group->first_class;
	}
}

/* Publish the classes of a histogram in cells of the steps from first_step to last_step; see recode.h. */
void
recode(Histogram *histogram, int first_step, int last_step)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon recode", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	Climb climb = {.histogram = histogram, .recoder = histogram->recoder, .step = first_step};

	Assert(first_step >= 0 && first_step <= last_step && last_step <= histogram->recoder->nsteps);
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
	/* The last step has one cell. */
	Assert(last_step < climb.recoder->nsteps || climb.ngroups <= 1);
	for (int i = 0; i < climb.ngroups && last_step == climb.recoder->nsteps; i++)
		publish_group(&climb, climb.groups[i], true);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
}

/* Append a column of a recoder and the number of its values at each level. */
static void
recoder_dump_column(StringInfo out, const Recoder *recoder, int column)
{
	const Dictionary *dictionary = recoder->columns[column];

	appendStringInfo(out, "  column %d: type %u, hierarchy %s, codes per level", column, dictionary->type,
					 dictionary->dgh ? dictionary->dgh->name : "none");
	for (int level = 0; level <= dictionary->height; level++)
		appendStringInfo(out, " %d", dictionary->levels[level].ncodes);
	appendStringInfoChar(out, '\n');
}

/*
 * Print a recoder to the server's standard error.  Nothing calls this function: it is
 * there for a debugger ("call recoder_dump(recoder)").
 */
void
recoder_dump(const Recoder *recoder)
{
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfo(&out, "recoder: %s, %d steps, %d columns, k %d%s, l %d, t %g, %d sensitive columns, %u cells\n",
					 recoder->tree ? "tree of boxes" : "chain", recoder->nsteps, recoder->ncolumns, recoder->k,
					 recoder->personal ? " (personal)" : "", recoder->l, recoder->t, recoder->nsensitive,
					 recoder->cells ? recoder->cells->members : 0);
	for (int column = 0; column < recoder->ncolumns; column++)
		recoder_dump_column(&out, recoder, column);
	for (int step = 1; recoder->steps && step <= recoder->nsteps; step++)
		appendStringInfo(&out, "  step %d: column %d to level %d\n", step, recoder->steps[step - 1].column,
						 recoder->steps[step - 1].level);
	fputs(out.data, stderr);
	pfree(out.data);
}
