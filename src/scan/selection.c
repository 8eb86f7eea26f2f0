/*
 * selection.c
 *		Select-then-Anonymize.
 *
 * First the source is asked for the rows that satisfy the conditions.  Then, for
 * the class of each, the members of a cell around it are read, in which the row
 * is published or not; if not, those of a larger cell.  All classes of that cell
 * are settled at once.  Before that costs more than a share of counting the whole
 * source, the whole source is recoded instead: the plan turns into
 * Anonymize-then-Select by itself, with the same answer.
 */
#include "scan/selection.h"

#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "scan/aviewscan.h"
#include "scan/costs.h"
#include "scan/region.h"

/* Whoever asks for this plan gets it, on small tables as well. */
#define ALWAYS_WORTHWHILE 1000

struct Selection
{
	Anonymizer *anonymizer;
	List *conditions;
	SourcePlan *selected; /* rows by the conditions */
	SourceRun *run;
	int32 *codes;  /* of the row at hand */
	Cost budget;   /* what looking for cells may still cost */
	bool budgeted; /* that is known */
	bool complete; /* every class is known */

	/* Whole groups of witnesses. */
	Witness witness;
	void *witness_arg;
	List *cells; /* groups still to be handed out */
	Cell *cell;	 /* the one at hand; null: all that have a witness, together */
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

/* The rows of conditions, as they are published or counted. */
static Query *
make_query(const Selection *selection, const RowLayout *layout, List *conditions)
{
	return source_query(selection->anonymizer->aview, layout->columns, conditions, NIL);
}

static void
end_run(Selection *selection)
{
	if (selection->run)
		source_end(selection->run);
	selection->run = NULL;
}

static void
forget_witnesses(Selection *selection)
{
	Histogram *classes = selection->anonymizer->classes;

	for (int class = 0; selection->witness && class < classes->nclasses; class ++)
	{
		if (classes->cells[class])
			classes->cells[class]->witnessed = false;
	}
	selection->cells = NIL;
	selection->cell = NULL;
	selection->witnessed = false;
}

void
selection_rewind(Selection *selection, ParamListInfo params)
{
	Anonymizer *anonymizer = selection->anonymizer;
	MemoryContext old = MemoryContextSwitchTo(anonymizer->context);

	end_run(selection);
	forget_witnesses(selection);
	if (selection->selected == NULL)
		selection->selected = source_prepare(make_query(selection, &anonymizer->published, selection->conditions));
	selection->run = source_execute(selection->selected, params, anonymizer->snapshot);
	source_hide_order(selection->run);
	MemoryContextSwitchTo(old);
}

/* May this much still be spent on cells?  Then it is spent. */
static bool
spend(Selection *selection, Cost cost)
{
	if (!selection->budgeted)
	{
		Anonymizer *anonymizer = selection->anonymizer;
		PlannedStmt *source = source_plan(make_query(selection, &anonymizer->counted, NIL), false, NULL);

		selection->budget = cost_of_counting(anonymizer->aview, source->planTree) * PATIENCE;
		if (kanon_plan == CHOOSE_SELECT_FIRST)
			selection->budget = Max(selection->budget, ALWAYS_WORTHWHILE);
		selection->budgeted = true;
	}
	if (cost > selection->budget)
		return false;
	selection->budget -= cost;
	return true;
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

/* Starts a query for the members of a cell; null if it costs too much. */
static SourceRun *
run_cell(Selection *selection, const RowLayout *layout, List *conditions)
{
	PlannedStmt *plan;

	if (conditions == NIL || !spend(selection, cost_of_query()))
		return NULL;
	plan = source_plan(make_query(selection, layout, conditions), false, NULL);
	if (!spend(selection, cost_of_lookup(plan->planTree)))
		return NULL;
	return source_start(plan, NULL, selection->anonymizer->snapshot);
}

/* Counts the members of a cell; false if they are too many. */
static bool
count_cell(Selection *selection, List *conditions, int step, Histogram *histogram)
{
	Anonymizer *anonymizer = selection->anonymizer;
	SourceRun *run = run_cell(selection, &anonymizer->counted, conditions);
	Cost coding = cost_of_coding(anonymizer->aview);
	bool affordable = run != NULL;
	TupleTableSlot *slot;

	while (affordable && source_next(run, &slot))
	{
		CHECK_FOR_INTERRUPTS();
		affordable = spend(selection, coding);
		if (anonymizer_read(anonymizer, &anonymizer->counted, slot, true) && anonymizer_groups(anonymizer) &&
			recoder_together(anonymizer->recoder, step, anonymizer->row.codes, selection->codes))
			histogram_add(histogram, &anonymizer->row);
	}
	if (run)
		source_end(run);
	return affordable;
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
	bool counted = count_cell(selection, conditions, step, histogram);

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
		if (!cell->suppressed && !cell->witnessed)
			selection->cells = lappend(selection->cells, cell);
		cell->witnessed = !cell->suppressed;
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

/* Starts reading the next group of a witness, or, where a query for each costs too much, all that are left at once. */
static void
read_members(Selection *selection)
{
	Anonymizer *anonymizer = selection->anonymizer;
	Cell *cell;

	end_run(selection);
	if (selection->cells == NIL)
		return;
	cell = linitial(selection->cells);
	selection->cells = list_delete_first(selection->cells);
	if (!selection->complete)
		selection->run = run_cell(selection, &anonymizer->published, cell_conditions(selection, cell));
	if (selection->run)
	{
		source_hide_order(selection->run);
		selection->cell = cell;
		cell->witnessed = false; /* it has been read */
		return;
	}
	selection->cell = NULL;
	selection->cells = NIL;
	selection->run = source_start(source_plan(make_query(selection, &anonymizer->published, NIL), false, NULL), NULL, anonymizer->snapshot);
	source_hide_order(selection->run);
}

/* The next member of a witness's group. */
static bool
next_member(Selection *selection, TupleTableSlot **slot, Cell **cell)
{
	Anonymizer *anonymizer = selection->anonymizer;
	MemoryContext old;

	for (;;)
	{
		while (next_selected(selection, slot))
		{
			*cell = anonymizer_groups(anonymizer) ? known_cell(selection) : NULL;
			if (*cell && (selection->cell ? *cell == selection->cell : (*cell)->witnessed))
				return true;
		}
		old = MemoryContextSwitchTo(anonymizer->context);
		read_members(selection);
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
		if (!next_member(selection, &slot, &cell))
			return false;
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
