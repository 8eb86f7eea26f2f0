/*
 * arrive.c
 *		Rows that come to a materialized view find their groups.
 *
 * Rows that come together, in one transaction, may be enough to form groups of
 * their own: they are recoded as the rows of a logical view are.  A row takes part
 * in such a group only if it is narrower than the stored group that covers the
 * row already.  All other rows go, one by one, to the closest group.  While there
 * is no group at all, rows wait; so do those that ask for more company than any
 * group near them has, until others wait with them.
 */
#include "base/kanon.h"

#include "matview/matview.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "anonymize/anonymizer.h"
#include "aview/aview.h"
#include "recode/histogram.h"
#include "recode/recode.h"

/* A cell that arriving rows agree in. */
typedef struct CellEntry
{
	Cell *cell;
	int64 staying;
	int64 leaving; /* to a narrower group that is there already */
	bool formed;
	int64 group;
} CellEntry;

typedef struct Arrival
{
	Stored *stored;
	Keeper *keeper;
	Tuplestorestate *rows;
	TupleTableSlot *slot;	/* a floor and a row */
	TupleTableSlot *source; /* the row */
	int floor;
	bool shown; /* may the row be published at all? */
	uint8 *key;
	MemoryContext context;
	MemoryContext work; /* reset after each row */
	bool any;			/* there are groups */
	int64 waiting;		/* rows that found none */

	/* Forming groups. */
	int max_floor; /* of rows that take part */
	HTAB *cells;
	bool *leaves; /* per row that takes part */
} Arrival;

/* Takes a stored row apart: its floor, its values, its codes, its key. */
static void
read_arrival(Arrival *arrival)
{
	Keeper *keeper = arrival->keeper;
	int ncolumns = keeper->row->natts;

	slot_getallattrs(arrival->slot);
	arrival->floor = DatumGetInt32(arrival->slot->tts_values[0]);
	ExecClearTuple(arrival->source);
	memcpy(arrival->source->tts_values, arrival->slot->tts_values + 1, ncolumns * sizeof(Datum));
	memcpy(arrival->source->tts_isnull, arrival->slot->tts_isnull + 1, ncolumns * sizeof(bool));
	ExecStoreVirtualTuple(arrival->source);
	arrival->shown = anonymizer_read(keeper->anonymizer, keeper->layout, arrival->source, true);
}

static bool
next_arrival(Arrival *arrival)
{
	MemoryContext old;
	bool found;

	MemoryContextReset(arrival->work);
	CHECK_FOR_INTERRUPTS();
	/* A row that was on disk belongs to the slot. */
	old = MemoryContextSwitchTo(arrival->context);
	found = tuplestore_gettupleslot(arrival->rows, true, false, arrival->slot);
	MemoryContextSwitchTo(old);
	if (found)
		read_arrival(arrival);
	return found;
}

static const int32 *
codes_of(const Arrival *arrival)
{
	return anonymizer_row(arrival->keeper->anonymizer)->codes;
}

static void
insert_member(Arrival *arrival, int64 group)
{
	stored_insert_member(arrival->stored, group, arrival->floor, arrival->source->tts_values, arrival->source->tts_isnull);
}

/* Does its owner ask for no company?  What was published in a group stays in one. */
static bool
stays_alone(const Arrival *arrival)
{
	return arrival->shown && arrival->floor == 0 && !anonymizer_groups(arrival->keeper->anonymizer) && arrival->keeper->chain_holds;
}

/* The closest group takes the row; null if there is none. */
static StoredGroup *
join_group(Arrival *arrival)
{
	Stored *stored = arrival->stored;
	int k = arrival->keeper->personal ? anonymizer_row(arrival->keeper->anonymizer)->k : 0;
	Place place = {0};

	keeper_key(arrival->keeper, codes_of(arrival), arrival->key);
	if (arrival->any)
		place = closest_group(stored, codes_of(arrival), arrival->key, arrival->floor, k);
	if (place.group)
	{
		if (place.step > place.group->step)
			stored_raise_group(stored, place.group, codes_of(arrival), place.step, arrival->key);
		stored_resize_group(stored, place.group, place.group->members + 1, false);
	}
	return place.group;
}

/* The row goes to a group, or waits. */
static void
place_row(Arrival *arrival)
{
	StoredGroup *group = NULL;

	if (stays_alone(arrival))
		group = stored_new_group(arrival->stored, codes_of(arrival), 0, NULL, 1);
	else if (arrival->shown)
		group = join_group(arrival);
	insert_member(arrival, group ? group->id : 0);
	arrival->waiting += group == NULL;
}

/* Recodes the rows up to the greatest floor that takes part, among themselves. */
static void
recode_rows(Arrival *arrival)
{
	Anonymizer *anonymizer = arrival->keeper->anonymizer;
	Recoder *recoder = arrival->keeper->recoder;
	Histogram *histogram = histogram_create(recoder, true);
	MemoryContext old = MemoryContextSwitchTo(arrival->work);

	recoder_forget_cells(recoder, histogram->context);
	anonymizer_forget_distributions(anonymizer);
	tuplestore_rescan(arrival->rows);
	while (next_arrival(arrival))
	{
		if (arrival->shown && arrival->floor <= arrival->max_floor)
			anonymizer_count(anonymizer, histogram);
	}
	MemoryContextSwitchTo(old);
	if (recoder->t > 0)
		anonymizer_set_distributions(anonymizer);
	recode(histogram, arrival->max_floor, recoder->nsteps);
	anonymizer_set_classes(anonymizer, histogram);
}

static CellEntry *
entry_of(Arrival *arrival, bool *found)
{
	Anonymizer *anonymizer = arrival->keeper->anonymizer;
	bool forms = arrival->shown && arrival->floor <= arrival->max_floor && anonymizer_groups(anonymizer);
	Cell *cell = forms ? anonymizer_cell(anonymizer) : NULL;
	CellEntry *entry;

	if (cell == NULL || cell->suppressed)
		return NULL;
	entry = hash_search(arrival->cells, &cell, HASH_ENTER, found);
	if (!*found)
		memset((char *) entry + sizeof(Cell *), 0, sizeof(CellEntry) - sizeof(Cell *));
	return entry;
}

/* Is the row covered by a stored group that is as narrow as the new one would be? */
static bool
has_better(Arrival *arrival, const Cell *cell)
{
	StoredGroup *covering;
	int nsteps = arrival->keeper->recoder->nsteps;

	if (!arrival->any)
		return false;
	keeper_key(arrival->keeper, codes_of(arrival), arrival->key);
	covering = covering_group(arrival->stored, codes_of(arrival), arrival->key, nsteps - arrival->floor);
	return covering && covering->step < cell->step;
}

static void
count_cells(Arrival *arrival)
{
	HASHCTL control = {.keysize = sizeof(Cell *), .entrysize = sizeof(CellEntry), .hcxt = CurrentMemoryContext};
	int64 row = 0;
	MemoryContext old;

	arrival->cells = hash_create("kanon arriving cells", 256, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	arrival->leaves = palloc_extended(tuplestore_tuple_count(arrival->rows), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	old = MemoryContextSwitchTo(arrival->work);
	tuplestore_rescan(arrival->rows);
	for (; next_arrival(arrival); row++)
	{
		bool found;
		CellEntry *entry = entry_of(arrival, &found);

		if (entry && has_better(arrival, entry->cell))
			arrival->leaves[row] = true;
		if (entry && arrival->leaves[row])
			entry->leaving++;
		else if (entry)
			entry->staying++;
	}
	MemoryContextSwitchTo(old);
}

/* Are there enough rows left for a group of their own? */
static bool
can_form(const Arrival *arrival, const CellEntry *entry)
{
	const Recoder *recoder = arrival->keeper->recoder;

	return entry->leaving == 0 || (!recoder->personal && recoder->nsensitive == 0 && entry->staying >= recoder->k);
}

/* The group of a cell: the stored one, if there is one, or a new one. */
static int64
group_of_cell(Arrival *arrival, CellEntry *entry)
{
	int step = entry->cell->step;
	StoredGroup *group = NULL;

	if (entry->formed)
		return entry->group;
	keeper_key(arrival->keeper, codes_of(arrival), arrival->key);
	if (arrival->any)
		group = covering_group(arrival->stored, codes_of(arrival), arrival->key, arrival->keeper->recoder->nsteps - step);
	if (group && group->step == step)
		stored_resize_group(arrival->stored, group, group->members + entry->staying, false);
	else
		group = stored_new_group(arrival->stored, codes_of(arrival), step, arrival->key, entry->staying);
	entry->formed = true;
	entry->group = group->id;
	return group->id;
}

/* Groups from the rows alone; returns the rows that are left. */
static Tuplestorestate *
form_groups(Arrival *arrival)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon arriving groups", ALLOCSET_DEFAULT_SIZES);
	Tuplestorestate *left = tuplestore_begin_heap(false, false, work_mem);
	MemoryContext old = MemoryContextSwitchTo(context);
	bool formed = false;
	int64 row = 0;

	recode_rows(arrival);
	count_cells(arrival);
	MemoryContextSwitchTo(arrival->work);
	tuplestore_rescan(arrival->rows);
	for (; next_arrival(arrival); row++)
	{
		bool found;
		CellEntry *entry = entry_of(arrival, &found);

		if (entry && !arrival->leaves[row] && can_form(arrival, entry))
		{
			insert_member(arrival, group_of_cell(arrival, entry));
			formed = true;
		}
		else
			tuplestore_puttupleslot(left, arrival->slot);
	}
	arrival->any |= formed;
	MemoryContextSwitchTo(old);
	recoder_forget_cells(arrival->keeper->recoder, arrival->keeper->context);
	anonymizer_set_classes(arrival->keeper->anonymizer, NULL);
	MemoryContextDelete(context);
	return left;
}

typedef struct Waiting
{
	Arrival *arrival;
	List *found; /* copies of members */
} Waiting;

static bool
collect_waiting(void *arg, HeapTuple member)
{
	Waiting *waiting = arg;

	waiting->found = lappend(waiting->found, heap_copytuple(member));
	return true;
}

/* All that wait come again. */
static void
recall_waiting(Arrival *arrival)
{
	TupleDesc desc = RelationGetDescr(arrival->stored->members);
	Waiting waiting = {arrival, NIL};
	Datum *values = palloc(desc->natts * sizeof(Datum));
	bool *nulls = palloc(desc->natts * sizeof(bool));
	ListCell *cell;

	stored_visit_members(arrival->stored, 0, collect_waiting, &waiting);
	foreach (cell, waiting.found)
	{
		HeapTuple member = lfirst(cell);

		heap_deform_tuple(member, desc, values, nulls);
		tuplestore_putvalues(arrival->rows, arrival->keeper->arrival, values + 1, nulls + 1);
		CatalogTupleDelete(arrival->stored->members, &member->t_self);
	}
	if (waiting.found)
		CommandCounterIncrement();
}

/* The greatest floor among rows, and how many have none. */
static void
survey_floors(Arrival *arrival, int *greatest, int64 *free)
{
	*greatest = 0;
	*free = 0;
	tuplestore_rescan(arrival->rows);
	while (next_arrival(arrival))
	{
		*greatest = Max(*greatest, arrival->floor);
		*free += arrival->floor == 0;
	}
}

/* Groups of new rows; and, where there is none at all, of rows that were published once. */
static void
form_while_possible(Arrival *arrival)
{
	int k = Max(arrival->keeper->least, 2);
	Tuplestorestate *arrived = arrival->rows;
	int greatest;
	int64 free;

	survey_floors(arrival, &greatest, &free);
	if (free >= k)
	{
		arrival->max_floor = 0;
		arrival->rows = form_groups(arrival);
	}
	if (!arrival->any && greatest > 0 && tuplestore_tuple_count(arrival->rows) >= k)
	{
		Tuplestorestate *before = arrival->rows;

		arrival->max_floor = greatest;
		arrival->rows = form_groups(arrival);
		if (before != arrived)
			tuplestore_end(before);
	}
}

static void
warn_of_chain(const AView *aview)
{
	ereport(WARNING,
			(errmsg("the hierarchies of materialized anonymization view \"%s\" have changed since its groups were made",
					get_rel_name(aview->view)),
			 errdetail("New rows wait unpublished."),
			 errhint("Form new groups with %s.refresh(view, earlier_answers_may_be_compared => true).", KANON_SCHEMA)));
}

/* Rows form groups if they can, and join others if they cannot. */
static void
settle(Arrival *arrival, bool forming)
{
	Tuplestorestate *rows = arrival->rows;

	if (forming && tuplestore_tuple_count(rows) >= Max(arrival->keeper->least, 2))
		form_while_possible(arrival);
	tuplestore_rescan(arrival->rows);
	MemoryContextSwitchTo(arrival->work);
	while (next_arrival(arrival))
		place_row(arrival);
	MemoryContextSwitchTo(arrival->context);
	CommandCounterIncrement();
	if (arrival->rows != rows)
		tuplestore_end(arrival->rows);
	arrival->rows = rows;
}

static bool
count_member(void *arg, HeapTuple member)
{
	(*(int64 *) arg)++;
	return true;
}

/*
 * Those that wait because they ask for much may do for each other.  They try again
 * whenever they have become twice as many, so that nobody tries too often.
 */
static bool
should_retry(Arrival *arrival)
{
	int64 waiting = 0;

	if (!arrival->keeper->personal || arrival->waiting == 0)
		return false;
	stored_visit_members(arrival->stored, 0, count_member, &waiting);
	return waiting == arrival->waiting || pg_leftmost_one_pos64(waiting) > pg_leftmost_one_pos64(waiting - arrival->waiting);
}

void
arrive(Stored *stored, Tuplestorestate *rows, bool forming)
{
	Keeper *keeper = stored->keeper;
	Arrival arrival = {.stored = stored, .keeper = keeper, .rows = rows, .context = CurrentMemoryContext};
	bool recalled = false;

	if (tuplestore_tuple_count(rows) == 0)
		return;
	arrival.slot = MakeSingleTupleTableSlot(keeper->arrival, &TTSOpsMinimalTuple);
	arrival.source = MakeSingleTupleTableSlot(keeper->row, &TTSOpsVirtual);
	arrival.key = palloc(keeper->recoder->nsteps * KEY_BYTES + 1);
	arrival.work = AllocSetContextCreate(CurrentMemoryContext, "kanon arriving row", ALLOCSET_DEFAULT_SIZES);
	arrival.any = keeper->chain_holds && stored_any_group(stored);
	forming = forming && keeper->chain_holds;
	if (!keeper->chain_holds)
		warn_of_chain(keeper->aview);
	/* While there is no group, all that wait come again with whoever comes. */
	recalled = forming && !arrival.any;
	if (recalled)
		recall_waiting(&arrival);
	settle(&arrival, forming);
	if (forming && !recalled && should_retry(&arrival))
	{
		tuplestore_clear(rows);
		recall_waiting(&arrival);
		settle(&arrival, true);
	}
	ExecDropSingleTupleTableSlot(arrival.slot);
	ExecDropSingleTupleTableSlot(arrival.source);
	MemoryContextDelete(arrival.work);
}
