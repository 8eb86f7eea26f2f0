/*
 * selection.c
 *		Select-then-Anonymize.
 *
 * First the source is asked for the rows that satisfy the conditions.  Then, for
 * the class of each, the members of a cell around it are read, in which the row
 * is published or not; if not, those of a larger cell.  All classes of that cell
 * are settled at once.  When that has read about as much as the whole source
 * holds, the whole source is recoded instead: the plan turns into
 * Anonymize-then-Select by itself, with the same answer.
 */
#include "scan/selection.h"

#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "scan/region.h"

#define ALWAYS_WORTHWHILE 1000

struct Selection
{
	Anonymizer *anonymizer;
	List *conditions;
	ParamListInfo params;
	SourceRun *run;
	int32 *codes; /* of the row at hand */
	int64 budget; /* rows that cells may still read */
	bool complete; /* every class is known */

	/* Whole groups of witnesses. */
	Witness witness;
	void *witness_arg;
	List *cells; /* groups still to be handed out */
	Cell *cell;	 /* the one at hand */
	bool witnessed;
};

Selection *
selection_start(AView *aview, const Bitmapset *wanted, List *conditions, Snapshot snapshot)
{
	Selection *selection = palloc0(sizeof(Selection));
	Anonymizer *anonymizer = anonymizer_create(aview, wanted, snapshot);

	/* Cells are small enough to tell all of their individuals apart. */
	if (anonymizer->recoder->personal)
		anonymizer->recoder->most_individuals = 0;
	selection->anonymizer = anonymizer;
	selection->conditions = conditions;
	selection->codes = palloc0(Max(aview->nquasi, 1) * sizeof(int32));
	selection->budget = -1;
	return selection;
}

void
selection_ask_witness(Selection *selection, Witness witness, void *arg)
{
	selection->witness = witness;
	selection->witness_arg = arg;
}

Anonymizer *
selection_anonymizer(Selection *selection)
{
	return selection->anonymizer;
}

static SourceRun *
run_query(Selection *selection, const RowLayout *layout, List *conditions, ParamListInfo params)
{
	Query *query = source_query(selection->anonymizer->aview, layout->columns, conditions, NIL);

	return source_start(source_plan(query, false, params), params, selection->anonymizer->snapshot);
}

static void
end_run(Selection *selection)
{
	if (selection->run)
		source_end(selection->run);
	selection->run = NULL;
}

void
selection_rewind(Selection *selection, ParamListInfo params)
{
	MemoryContext old = MemoryContextSwitchTo(selection->anonymizer->context);

	end_run(selection);
	selection->params = params;
	selection->run = run_query(selection, &selection->anonymizer->published, selection->conditions, params);
	selection->cells = NIL;
	selection->cell = NULL;
	selection->witnessed = false;
	MemoryContextSwitchTo(old);
}

static void
recode_all(Selection *selection)
{
	Recoder *recoder = selection->anonymizer->recoder;

	if (recoder->personal)
		recoder->most_individuals = Max(recoder->most_k, 2);
	(void) anonymizer_recode(selection->anonymizer, NULL, false);
	selection->complete = true;
}

/* Counts the members of a cell; false if they are too many. */
static bool
count_cell(Selection *selection, List *conditions, int step, Histogram *histogram)
{
	Anonymizer *anonymizer = selection->anonymizer;
	SourceRun *run = run_query(selection, &anonymizer->counted, conditions, NULL);
	TupleTableSlot *slot;

	while (selection->budget > 0 && source_next(run, &slot))
	{
		CHECK_FOR_INTERRUPTS();
		selection->budget--;
		if (anonymizer_read(anonymizer, &anonymizer->counted, slot, true) && anonymizer_groups(anonymizer) &&
			recoder_together(anonymizer->recoder, step, anonymizer->row.codes, selection->codes))
			histogram_add(histogram, &anonymizer->row);
	}
	source_end(run);
	return selection->budget > 0;
}

/* Keeps what a cell's recoding has settled. */
static void
keep_cells(Anonymizer *anonymizer, const Histogram *histogram)
{
	for (int class = 0; class < histogram->nclasses; class ++)
	{
		if (histogram->cells[class])
		{
			int known = histogram_class(anonymizer->classes, histogram->codes + (Size) class * anonymizer->recoder->ncolumns);

			anonymizer->classes->cells[known] = histogram->cells[class];
		}
	}
}

/* Recodes the cell of a step around the row at hand; false if that is not worth it. */
static bool
probe(Selection *selection, int step)
{
	Anonymizer *anonymizer = selection->anonymizer;
	MemoryContext work = AllocSetContextCreate(anonymizer->context, "kanon probe", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	List *conditions = region_of_codes(anonymizer->aview, anonymizer->recoder, step, selection->codes);
	Histogram *histogram = histogram_create(anonymizer->recoder, true);
	bool counted = conditions != NIL && count_cell(selection, conditions, step, histogram);

	if (counted)
		recode(histogram, 0, step);
	MemoryContextSwitchTo(anonymizer->context);
	if (counted)
		keep_cells(anonymizer, histogram);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
	return counted;
}

static Cell *
known_cell(Selection *selection)
{
	Histogram *classes = selection->anonymizer->classes;
	int class = histogram_find(classes, selection->codes);

	return class < 0 ? NULL : classes->cells[class];
}

/* The first step at which the row at hand may be published. */
static int
first_step(const Selection *selection)
{
	const Recoder *recoder = selection->anonymizer->recoder;
	int32 place[MAX_PLACE];

	recoder->nesting->locate(recoder, 0, selection->codes, place);
	return recoder->nesting->due(recoder, place);
}

/* The cell in which the row at hand is published. */
static Cell *
settle(Selection *selection)
{
	Recoder *recoder = selection->anonymizer->recoder;
	Cell *cell = known_cell(selection);
	int stride = 1;

	if (selection->budget < 0)
		selection->budget = Max(ALWAYS_WORTHWHILE, (int64) (source_rows(selection->anonymizer) * WORTHWHILE_SHARE));
	if (cell == NULL)
		anonymizer_learn_distributions(selection->anonymizer);
	/* Larger and larger cells: every step would often be a step for nothing. */
	for (int step = first_step(selection); cell == NULL && !selection->complete; step += stride++)
	{
		if (step >= recoder->nsteps || !probe(selection, step))
			recode_all(selection);
		cell = known_cell(selection);
	}
	if (cell == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("the source of an anonymization view changed while it was read")));
	return cell;
}

static bool
next_selected(Selection *selection, TupleTableSlot **slot)
{
	Anonymizer *anonymizer = selection->anonymizer;

	do
	{
		if (selection->run == NULL || !source_next(selection->run, slot))
			return false;
		CHECK_FOR_INTERRUPTS();
	} while (!anonymizer_read(anonymizer, &anonymizer->published, *slot, false));
	memcpy(selection->codes, anonymizer->row.codes, anonymizer->recoder->ncolumns * sizeof(int32));
	return true;
}

/*
 * Finds the groups of all witnesses.  One that is in no group is handed out on the
 * way, alone: true, and to be called again.
 */
static bool
find_witnesses(Selection *selection, TupleTableSlot **slot)
{
	Anonymizer *anonymizer = selection->anonymizer;

	while (next_selected(selection, slot))
	{
		MemoryContext old;
		Cell *cell;

		if (!selection->witness(selection->witness_arg, anonymizer_seen_codes(anonymizer)))
			continue;
		if (!anonymizer_groups(anonymizer))
			return true;
		old = MemoryContextSwitchTo(anonymizer->context);
		cell = settle(selection);
		if (!cell->suppressed && !list_member_ptr(selection->cells, cell))
			selection->cells = lappend(selection->cells, cell);
		MemoryContextSwitchTo(old);
	}
	selection->witnessed = true;
	return false;
}

/* The region of a published cell. */
static List *
cell_conditions(Selection *selection, const Cell *cell)
{
	Anonymizer *anonymizer = selection->anonymizer;
	Histogram *classes = anonymizer->classes;

	for (int class = 0; class < classes->nclasses; class ++)
	{
		if (classes->cells[class] == cell)
			return region_of_codes(anonymizer->aview, anonymizer->recoder, cell->step,
								   classes->codes + (Size) class * anonymizer->recoder->ncolumns);
	}
	return NIL;
}

/* The next member of a witness's group. */
static bool
next_member(Selection *selection, TupleTableSlot **slot)
{
	Anonymizer *anonymizer = selection->anonymizer;
	MemoryContext old;

	for (;;)
	{
		while (next_selected(selection, slot))
		{
			if (anonymizer_groups(anonymizer) && selection->cell && known_cell(selection) == selection->cell)
				return true;
		}
		old = MemoryContextSwitchTo(anonymizer->context);
		end_run(selection);
		if (selection->cells != NIL)
		{
			selection->cell = linitial(selection->cells);
			selection->cells = list_delete_first(selection->cells);
			selection->run = run_query(selection, &anonymizer->published, cell_conditions(selection, selection->cell), NULL);
		}
		MemoryContextSwitchTo(old);
		if (selection->run == NULL)
			return false;
	}
}

bool
selection_next(Selection *selection, Datum *values, bool *nulls)
{
	Anonymizer *anonymizer = selection->anonymizer;
	TupleTableSlot *slot;
	Cell *cell = NULL;

	if (selection->witness && (selection->witnessed || !find_witnesses(selection, &slot)))
	{
		if (!next_member(selection, &slot))
			return false;
		cell = selection->cell;
	}
	else if (!selection->witness)
	{
		if (!next_selected(selection, &slot))
			return false;
		if (anonymizer_groups(anonymizer))
			cell = settle(selection);
	}
	anonymizer_publish(anonymizer, slot, cell, values, nulls);
	return true;
}

void
selection_end(Selection *selection)
{
	end_run(selection);
}
