/*
 * arrive.c
 *		Rows that come to a materialized view find their groups.
 *
 * Rows that come together, in one transaction, may be enough to form groups of
 * their own: they are recoded as the rows of a logical view are.  A row takes part
 * in such a group only if it is narrower than the stored group that covers the
 * row already.  All other rows go, one by one, to the closest group.  A row waits
 * while there is no group at all, or as long as no group near it has as many members
 * as the row asks for.  Rows that wait may form a group later, with others that wait.
 */
#include "base/kanon.h"

#include "matview/arrive.h"

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
#include "matview/closest.h"
#include "matview/keeper.h"
#include "matview/tables.h"
#include "recode/histogram.h"
#include "recode/recode.h"

/* A cell of arriving rows. */
typedef struct CellEntry
{
	Cell *cell;
	int64 staying; /* rows that may form a group */
	int64 leaving; /* rows for a narrower group that is stored already */
	bool formed;   /* the group is stored */
	int64 group;   /* its number */
} CellEntry;

/* The rows that arrive, and the row at hand. */
typedef struct Arrival
{
	Stored *stored;
	Keeper *keeper;
	Tuplestorestate *rows;	/* the caller's, or rows that are left of them */
	TupleTableSlot *slot;	/* a floor and a row */
	TupleTableSlot *source; /* the row */
	int floor;
	bool shown; /* the row may be published: its owner has chosen a k, or the view has one */
	uint8 *key; /* of the row, as far as it has been asked for */
	MemoryContext context;
	MemoryContext work; /* reset after each row */
	bool any;			/* there are groups that rows may join */
	int64 waiting;		/* rows that have found no group */

	/* Forming groups. */
	int max_floor; /* of rows that take part */
	HTAB *cells;   /* CellEntry by Cell */
	bool *leaves;  /* by row, in order: a narrower group is stored already */
} Arrival;

/* Read the row in the slot: its floor, its values and its codes. */
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

/* Read the next row; return false after the last. */
static bool
next_arrival(Arrival *arrival)
{
	MemoryContext old;
	bool found;

	MemoryContextReset(arrival->work);
	CHECK_FOR_INTERRUPTS();
	/* A row that comes from disk is owned by the slot, and must outlive the reset of work. */
	old = MemoryContextSwitchTo(arrival->context);
	found = tuplestore_gettupleslot(arrival->rows, true, false, arrival->slot);
	MemoryContextSwitchTo(old);
	if (found)
		read_arrival(arrival);
	return found;
}

/* Return the codes of the row at hand. */
static const int32 *
arrival_codes(const Arrival *arrival)
{
	return anonymizer_row(arrival->keeper->anonymizer)->codes;
}

/* Store the row at hand as a member of a group, or as waiting (group 0). */
static void
insert_arrival(Arrival *arrival, int64 group)
{
	stored_insert_member(arrival->stored, group, arrival->floor, arrival->source->tts_values,
						 arrival->source->tts_isnull);
}

/*
 * Return true if the row at hand is published alone: its owner asks for a k below 2.  A row
 * that was published in a group once stays in one.
 */
static bool
stays_alone(const Arrival *arrival)
{
	return arrival->shown && arrival->floor == 0 && !anonymizer_groups(arrival->keeper->anonymizer) &&
		   arrival->keeper->chain_holds;
}

/* Let the row at hand join the closest group, and return that group; NULL: there is none. */
static StoredGroup *
join_closest_group(Arrival *arrival)
{
	Stored *stored = arrival->stored;
	int k = arrival->keeper->personal ? anonymizer_row(arrival->keeper->anonymizer)->k : 0;
	Place place = {0};

	keeper_key(arrival->keeper, arrival_codes(arrival), arrival->key);
	if (arrival->any)
		place = closest_group(stored, arrival_codes(arrival), arrival->key, arrival->floor, k);
	if (place.group)
	{
		Assert(place.step >= place.group->step && place.group->key != NULL);
		if (place.step > place.group->step)
			stored_raise_group(stored, place.group, arrival_codes(arrival), place.step, arrival->key);
		stored_resize_group(stored, place.group, place.group->members + 1, false);
	}
	return place.group;
}

/* Store the row at hand in a group, or let it wait. */
static void
place_arrival(Arrival *arrival)
{
	StoredGroup *group = NULL;

	if (stays_alone(arrival))
		group = stored_new_group(arrival->stored, arrival_codes(arrival), 0, NULL, 1);
	else if (arrival->shown)
		group = join_closest_group(arrival);
	insert_arrival(arrival, group ? group->id : 0);
	arrival->waiting += group == NULL;
}

/* Recode the rows up to the greatest floor that takes part, among themselves. */
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

/* Return the entry of the row's cell; NULL: the row takes no part, or its cell is suppressed. */
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

/* Return true if a stored group that covers the row at hand is narrower than a new group of a cell would be. */
static bool
has_better(Arrival *arrival, const Cell *cell)
{
	StoredGroup *covering;
	int nsteps = arrival->keeper->recoder->nsteps;

	if (!arrival->any)
		return false;
	keeper_key(arrival->keeper, arrival_codes(arrival), arrival->key);
	covering = covering_group(arrival->stored, arrival_codes(arrival), arrival->key, nsteps - arrival->floor);
	return covering && covering->step < cell->step;
}

/* Count the rows of each cell that may form a group, and the rows that have a narrower one already. */
static void
count_arriving_cells(Arrival *arrival)
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

/*
 * Return true if the rows of a cell that are left satisfy the privacy predicate as far as can
 * be told from their number: always if all are left.
 */
static bool
can_form(const Arrival *arrival, const CellEntry *entry)
{
	const Recoder *recoder = arrival->keeper->recoder;

	return entry->leaving == 0 || (!recoder->personal && recoder->nsensitive == 0 && entry->staying >= recoder->k);
}

/* Return the number of the group of a cell: the stored group of just this cell, or else a new one. */
static int64
group_of_cell(Arrival *arrival, CellEntry *entry)
{
	int step = entry->cell->step;
	StoredGroup *group = NULL;

	if (entry->formed)
		return entry->group;
	keeper_key(arrival->keeper, arrival_codes(arrival), arrival->key);
	if (arrival->any)
		group = covering_group(arrival->stored, arrival_codes(arrival), arrival->key,
							   arrival->keeper->recoder->nsteps - step);
	if (group && group->step == step)
		stored_resize_group(arrival->stored, group, group->members + entry->staying, false);
	else
		group = stored_new_group(arrival->stored, arrival_codes(arrival), step, arrival->key, entry->staying);
	entry->formed = true;
	entry->group = group->id;
	return group->id;
}

/* Form groups of the rows alone; return the rows that are left, in a new tuplestore. */
static Tuplestorestate *
form_groups(Arrival *arrival)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon arriving groups",
												  ALLOCSET_DEFAULT_SIZES);
	Tuplestorestate *left = tuplestore_begin_heap(false, false, work_mem);
	MemoryContext old = MemoryContextSwitchTo(context);
	bool formed = false;
	int64 row = 0;

	Assert(arrival->keeper->chain_holds);
	recode_rows(arrival);
	count_arriving_cells(arrival);
	MemoryContextSwitchTo(arrival->work);
	tuplestore_rescan(arrival->rows);
	for (; next_arrival(arrival); row++)
	{
		bool found;
		CellEntry *entry = entry_of(arrival, &found);

		if (entry && !arrival->leaves[row] && can_form(arrival, entry))
		{
			insert_arrival(arrival, group_of_cell(arrival, entry));
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

/* The rows that wait. */
typedef struct Waiting
{
	Arrival *arrival;
	List *found; /* copies of members */
} Waiting;

/* Add a copy of a row that waits: a MemberVisitor. */
static bool
collect_waiting(void *arg, HeapTuple member)
{
	Waiting *waiting = arg;

	waiting->found = lappend(waiting->found, heap_copytuple(member));
	return true;
}

/* Let all rows that wait arrive once more. */
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
		stored_delete_row(arrival->stored->members, &member->t_self);
	}
	if (waiting.found)
		CommandCounterIncrement();
}

/* Set the greatest floor of the rows, and the number of rows without one. */
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

/*
 * Form groups of new rows; and, where there is no group at all, of all rows, also rows that
 * were published once.
 */
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

/* Warn that no row can join the groups, since they were made with other steps. */
static void
warn_of_chain(const AView *aview)
{
	ereport(WARNING,
			(errmsg("the hierarchies of materialized anonymization view \"%s\" have changed since its groups were made",
					get_rel_name(aview->view)),
			 errdetail("New rows wait unpublished."),
			 errhint("Form new groups with %s.refresh(view, earlier_answers_may_be_compared => true).", KANON_SCHEMA)));
}

/*
 * Let the rows form groups if they can, and join others if they cannot; in the end the
 * caller's rows are back in place.
 */
static void
settle_arrivals(Arrival *arrival, bool forming)
{
	Tuplestorestate *rows = arrival->rows;

	if (forming && tuplestore_tuple_count(rows) >= Max(arrival->keeper->least, 2))
		form_while_possible(arrival);
	tuplestore_rescan(arrival->rows);
	MemoryContextSwitchTo(arrival->work);
	while (next_arrival(arrival))
		place_arrival(arrival);
	MemoryContextSwitchTo(arrival->context);
	CommandCounterIncrement();
	if (arrival->rows != rows)
		tuplestore_end(arrival->rows);
	arrival->rows = rows;
}

/* Count a row that waits: a MemberVisitor. */
static bool
count_waiting(void *arg, HeapTuple member)
{
	(*(int64 *) arg)++;
	return true;
}

/*
 * Return true if the rows that wait should try again to form groups.  Rows that wait since
 * they ask for a large k may together be enough for it.  They try again each time their
 * number has reached another power of two, so that few of these tries are in vain.
 */
static bool
should_retry(Arrival *arrival)
{
	int64 waiting = 0;

	if (!arrival->keeper->personal || arrival->waiting == 0)
		return false;
	stored_visit_members(arrival->stored, 0, count_waiting, &waiting);
	Assert(waiting >= arrival->waiting);
	return waiting == arrival->waiting ||
		   pg_leftmost_one_pos64(waiting) > pg_leftmost_one_pos64(waiting - arrival->waiting);
}

/* Find groups for rows, and store the rows in them, or let them wait. */
void
arrive(Stored *stored, Tuplestorestate *rows, bool forming)
{
	Keeper *keeper = stored->keeper;
	Arrival arrival = {.stored = stored, .keeper = keeper, .rows = rows, .context = CurrentMemoryContext};
	bool recalled = false;

	Assert(keeper->least >= 1);
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
	/* While there is no group, the rows that wait arrive again together with the new ones. */
	recalled = forming && !arrival.any;
	if (recalled)
		recall_waiting(&arrival);
	settle_arrivals(&arrival, forming);
	if (forming && !recalled && should_retry(&arrival))
	{
		tuplestore_clear(rows);
		recall_waiting(&arrival);
		settle_arrivals(&arrival, true);
	}
	ExecDropSingleTupleTableSlot(arrival.slot);
	ExecDropSingleTupleTableSlot(arrival.source);
	MemoryContextDelete(arrival.work);
}
