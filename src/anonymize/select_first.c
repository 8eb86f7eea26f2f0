/*
 * select_first.c
 *		Select first: the plan that the paper calls Select-then-Anonymize.
 *
 * First the source is asked for the rows that satisfy the conditions.  Then, for
 * the class of each, the members of a cell around it are read and recoded.  If the
 * class is not published in that cell, a larger cell follows.  Each cell settles all
 * of its classes that are published in it.  Where the lookups would cost more than
 * counting the whole source (lookup.c), the whole source is recoded instead: the plan
 * turns into anonymize first by itself, with the same answer.
 *
 * Where a request asks for the groups of witnesses, the witnesses are selected, the
 * cells of all of them are found, and then the members of each cell are read.  If data
 * owners may hide quasi-identifiers, all members are noted before the first is
 * published: in its group, a row would show what its owner hides.
 */
#include "base/kanon.h"

#include "anonymize/select_first.h"

#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "anonymize/anonymizer.h"
#include "anonymize/anonymizer_private.h"
#include "anonymize/lookup.h"
#include "anonymize/notes.h"
#include "anonymize/region.h"
#include "anonymize/row_source.h"
#include "aview/aview.h"
#include "recode/histogram.h"
#include "recode/recode.h"
#include "source/layout.h"
#include "source/source.h"

/*
 * The rows whose cells are looked up together at first, so that a query with a small LIMIT
 * does not wait for many; then twice as many, up to as many as are fetched at a time.
 */
#define FIRST_BATCH 32

/* The cost of a cell of the next round, in cells of this one. */
#define LARGER_CELL 3

/* All in the anonymizer's memory context. */
typedef struct SelectFirst
{
	RowSource source;
	Anonymizer *anonymizer; /* has a class for each cell that has been found */
	List *conditions;		/* of the request */
	SourcePlan *selected;	/* the query for the rows that satisfy the conditions; NULL: not prepared yet */
	SourceRun *run;			/* of that query or, once witnesses are found, for members; NULL: none */
	int batch;				/* rows whose cells are looked up together */
	int settled;			/* rows that come next whose cells are known */
	double rows_left;		/* rows that are expected after these */
	Lookup *lookup;
	int32 *codes;  /* of the class at hand */
	bool complete; /* the whole source has been recoded: every class is known */

	/* Whole groups of witnesses. */
	List *cells;	/* of groups still to be handed out */
	Cell *cell;		/* of the group at hand; NULL: of all groups that have a witness, together */
	bool witnessed; /* all witnesses have been found */
	Notes *notes;	/* of all rows, in random order; NULL: there are none, or not yet */
} SelectFirst;

/* Start a source of selected rows. */
static RowSource *
select_first_start(const RowRequest *request)
{
	SelectFirst *selection = palloc0(sizeof(SelectFirst));
	Anonymizer *anonymizer = anonymizer_create(request->aview, request->wanted, request->snapshot);

	selection->source.methods = &select_first_methods;
	/* Cells are small enough to tell all of their individuals apart. */
	if (anonymizer->recoder->personal)
		anonymizer->recoder->most_individuals = 0;
	selection->anonymizer = anonymizer;
	selection->conditions = request->conditions;
	selection->lookup = lookup_create(anonymizer);
	selection->codes = palloc0(Max(request->aview->nquasi, 1) * sizeof(int32));
	if (request->witness && request->probe)
		anonymizer_ask_witness(anonymizer, request->witness, request->witness_arg);
	return &selection->source;
}

/* Return the query for the rows that satisfy conditions, as they are published or counted. */
static Query *
make_query(const SelectFirst *selection, const RowLayout *layout, List *conditions)
{
	return source_query(selection->anonymizer->aview, layout->columns, conditions, NIL);
}

/* End the run at hand, if there is one. */
static void
end_run(SelectFirst *selection)
{
	if (selection->run)
		source_end(selection->run);
	selection->run = NULL;
}

/* Drop the notes, if there are any. */
static void
drop_selected_notes(SelectFirst *selection)
{
	if (selection->notes)
		notes_end(selection->notes);
	selection->notes = NULL;
}

/* Forget which cells have a witness, and which groups are to be handed out. */
static void
forget_witnesses(SelectFirst *selection)
{
	Histogram *classes = selection->anonymizer->classes;

	for (int class = 0; selection->anonymizer->witness && class < classes->nclasses; class ++)
	{
		if (classes->cells[class])
			classes->cells[class]->witnessed = false;
	}
	selection->cells = NIL;
	selection->cell = NULL;
	selection->witnessed = false;
}

/* Select rows with these values of the parameters.  Cells that are known stay known. */
static void
select_first_rewind(RowSource *source, ParamListInfo params)
{
	SelectFirst *selection = (SelectFirst *) source;
	Anonymizer *anonymizer = selection->anonymizer;
	MemoryContext old = MemoryContextSwitchTo(anonymizer->context);
	PlannedStmt *plan;
	bool planned;

	end_run(selection);
	drop_selected_notes(selection);
	forget_witnesses(selection);
	if (selection->selected == NULL)
		selection->selected = source_prepare(anonymizer->aview,
											 make_query(selection, &anonymizer->published, selection->conditions));
	plan = source_choose(selection->selected, params, &planned);
	selection->batch = FIRST_BATCH;
	selection->settled = 0;
	selection->rows_left = plan->planTree->plan_rows;
	selection->run = source_start(anonymizer->aview, plan, params, anonymizer->snapshot);
	source_hide_order(selection->run);
	MemoryContextSwitchTo(old);
}

/* Recode the whole source, as looking up cells is not worth it any more. */
static void
recode_all(SelectFirst *selection)
{
	Recoder *recoder = selection->anonymizer->recoder;

	if (recoder->personal)
		recoder->most_individuals = Max(recoder->most_k, 2);
	(void) anonymizer_recode(selection->anonymizer, NULL, false);
	selection->complete = true;
}

/* The members of the cell of a step around the class at hand, as they are counted. */
typedef struct Members
{
	SelectFirst *selection;
	int step;
	Histogram *histogram;
	MemoryContext row; /* reset after each row */
	bool affordable;   /* the lookup goes on */
} Members;

/* Count a row if it is a member of the cell, which conditions alone do not ensure: a SourceReceiver. */
static bool
count_cell_member(void *arg, TupleTableSlot *slot)
{
	Members *members = arg;
	Anonymizer *anonymizer = members->selection->anonymizer;
	MemoryContext old = MemoryContextSwitchTo(members->row);

	CHECK_FOR_INTERRUPTS();
	members->affordable = lookup_goes_on(members->selection->lookup);
	if (anonymizer_read(anonymizer, &anonymizer->counted, slot, true) && anonymizer_groups(anonymizer) &&
		recoder_together(anonymizer->recoder, members->step, anonymizer->row.codes, members->selection->codes))
		histogram_add(members->histogram, &anonymizer->row);
	MemoryContextSwitchTo(old);
	MemoryContextReset(members->row);
	return members->affordable;
}

/* Count the members of a cell, which satisfy some conditions; return false if that is not worth it. */
static bool
count_cell(Members *members, List *conditions)
{
	SelectFirst *selection = members->selection;
	SourceRun *run = lookup_start(selection->lookup, &selection->anonymizer->counted, members->step, conditions);

	if (run == NULL)
		return false;
	members->affordable = true;
	source_pump(run, count_cell_member, members);
	source_end(run);
	return members->affordable;
}

/* Return the set of suppressed rows, to which a class belongs. */
static Cell *
suppressed_cell(Recoder *recoder, const int32 *codes)
{
	int32 place[MAX_PLACE];

	recoder->nesting->locate(recoder, recoder->nsteps, codes, place);
	return recoder_cell(recoder, recoder->nsteps, place, true);
}

/*
 * Keep the cells of the classes that recoding the cell of a step has published.  From the last
 * step on in whose cells rows are published, the other classes are suppressed.
 */
static void
keep_cells(Anonymizer *anonymizer, const Histogram *histogram, int step)
{
	Recoder *recoder = anonymizer->recoder;

	for (int class = 0; class < histogram->nclasses; class ++)
	{
		const int32 *codes = class_codes(histogram, class);
		Cell *cell = histogram->cells[class];
		int known;

		if (cell == NULL && step >= recoder->last_step)
			cell = suppressed_cell(recoder, codes);
		if (cell == NULL)
			continue;
		known = histogram_class(anonymizer->classes, codes);
		anonymizer->classes->cells[known] = cell;
	}
}

/*
 * Recode the cell of a step around the class at hand, and keep the cells inside that are
 * published; return false if that is not worth it.
 */
static bool
probe(SelectFirst *selection, int step)
{
	Anonymizer *anonymizer = selection->anonymizer;
	MemoryContext work = AllocSetContextCreate(anonymizer->context, "kanon probe", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	List *conditions = region_of_codes(anonymizer->aview, anonymizer->recoder, step, selection->codes);
	Members members = {.selection = selection, .step = step, .histogram = histogram_create(anonymizer->recoder, true)};
	bool counted;

	members.row = AllocSetContextCreate(work, "kanon member", ALLOCSET_SMALL_SIZES);
	counted = count_cell(&members, conditions);
	if (counted)
		recode(members.histogram, 0, step);
	MemoryContextSwitchTo(anonymizer->context);
	if (counted)
		keep_cells(anonymizer, members.histogram, step);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
	return counted;
}

/* Return the cell of the class at hand, or NULL if it is not known yet. */
static Cell *
known_cell(SelectFirst *selection)
{
	Histogram *classes = selection->anonymizer->classes;
	int class = histogram_find(classes, selection->codes);

	return class < 0 ? NULL : classes->cells[class];
}

/* Return the first step at which the class at hand may be published. */
static int
first_step(const SelectFirst *selection)
{
	const Recoder *recoder = selection->anonymizer->recoder;
	int32 place[MAX_PLACE];

	recoder->nesting->locate(recoder, 0, selection->codes, place);
	return recoder->nesting->due(recoder, place);
}

/* Make a class the one at hand; return true if its cell is still to be found. */
static bool
take_unknown(SelectFirst *selection, const int32 *codes)
{
	memcpy(selection->codes, codes, selection->anonymizer->recoder->ncolumns * sizeof(int32));
	return known_cell(selection) == NULL;
}

/*
 * Return the classes, among the next rows, whose cells are still to be found.  With a witness
 * test, only the cells of witnesses are needed.
 */
static Histogram *
find_unknown(SelectFirst *selection, int rows)
{
	Anonymizer *anonymizer = selection->anonymizer;
	Histogram *unknown = histogram_create(anonymizer->recoder, false);

	for (int i = 0; i < rows; i++)
	{
		if (anonymizer_read(anonymizer, &anonymizer->published, source_fetched(selection->run, i), false) &&
			anonymizer_groups(anonymizer) &&
			(!anonymizer->witness || anonymizer_test_witness(anonymizer, anonymizer_seen_codes(anonymizer))) &&
			take_unknown(selection, anonymizer->row.codes))
			(void) histogram_class(unknown, selection->codes);
	}
	return unknown;
}

/*
 * Look up a cell around each class that is not settled, larger than in the round before.
 * Return how many classes are not settled now; none if the whole source has been recoded.
 */
static int
probe_all(SelectFirst *selection, Histogram *unknown, int round)
{
	const Recoder *recoder = selection->anonymizer->recoder;
	int unsettled = 0;

	for (int class = 0; class < unknown->nclasses; class ++)
	{
		int step;

		if (!take_unknown(selection, class_codes(unknown, class)))
			continue;
		/* Step by step, many cells would be hardly larger than the one before. */
		step = first_step(selection) + round * (round + 1) / 2;
		if (step >= recoder->nsteps)
			lookup_refuse(selection->lookup, "a selected row may need the largest cell, which is the whole source");
		if (step >= recoder->nsteps || !probe(selection, step))
		{
			recode_all(selection);
			return 0;
		}
		if (known_cell(selection) == NULL)
			unsettled++;
	}
	return unsettled;
}

/*
 * Return how many cells, of the size of this round's, are still needed, where left classes
 * of some rows are not settled yet, of all that were not settled at first; all is 0 in the
 * first round.  Rows still to come will need as many cells per row.  And of the classes
 * that are left, the same share will be left again, for larger cells, each of which costs
 * LARGER_CELL of these.
 */
static double
expect_cells(const SelectFirst *selection, int rows, int left, int all)
{
	double share = all > 0 ? (double) left / all : 0;

	Assert(rows > 0 && left > 0 && share <= 1);
	return left * (1 + share * LARGER_CELL) * (rows + selection->rows_left) / rows;
}

/*
 * Find the cells of some rows that come next, and return how many rows these are; 0 after
 * the last row.  The small cells of all of these rows are looked up first, so that the
 * number of large cells is known before any of them is.
 */
static int
settle_fetched(SelectFirst *selection)
{
	Anonymizer *anonymizer = selection->anonymizer;
	int fetched = source_fetch(selection->run);
	int rows = Min(fetched, selection->batch); /* whose cells are found now */
	MemoryContext work = AllocSetContextCreate(anonymizer->context, "kanon unknown classes", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	Histogram *unknown = find_unknown(selection, rows);
	int left = unknown->nclasses;

	if (rows < fetched)
		selection->batch *= 2;
	selection->rows_left = Max(selection->rows_left - rows, fetched - rows);
	if (left > 0)
		anonymizer_learn_distributions(anonymizer);
	for (int round = 0; left > 0; round++)
	{
		lookup_expect_cells(selection->lookup, expect_cells(selection, rows, left, round > 0 ? unknown->nclasses : 0));
		left = probe_all(selection, unknown, round);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
	return rows;
}

/* Return the cell in which the row at hand is published, which must be known by now. */
static Cell *
settled_cell(SelectFirst *selection)
{
	Cell *cell = known_cell(selection);

	if (cell == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("the source of an anonymization view changed while it was read")));
	return cell;
}

/* Read the next selected row, and find its cell if it needs one; return false after the last. */
static bool
next_selected(SelectFirst *selection, TupleTableSlot **slot)
{
	Anonymizer *anonymizer = selection->anonymizer;

	do
	{
		CHECK_FOR_INTERRUPTS();
		if (selection->run == NULL)
			return false;
		if (!selection->witnessed && !selection->complete && selection->settled-- == 0)
			selection->settled = settle_fetched(selection) - 1;
		if (!source_next(selection->run, slot))
			return false;
	} while (!anonymizer_read(anonymizer, &anonymizer->published, *slot, false));
	memcpy(selection->codes, anonymizer->row.codes, anonymizer->recoder->ncolumns * sizeof(int32));
	return true;
}

/*
 * Find the groups of all witnesses.  A witness in no group is handed out on the way: set
 * the slot to it and return true, and go on in the next call.  Return false when all
 * witnesses have been found.
 */
static bool
find_witness_groups(SelectFirst *selection, TupleTableSlot **slot)
{
	Anonymizer *anonymizer = selection->anonymizer;

	while (next_selected(selection, slot))
	{
		MemoryContext old;
		Cell *cell;

		if (!anonymizer_test_witness(anonymizer, anonymizer_seen_codes(anonymizer)))
			continue;
		if (!anonymizer_groups(anonymizer))
			return true;
		old = MemoryContextSwitchTo(anonymizer->context);
		cell = settled_cell(selection);
		if (!cell->suppressed && !cell->witnessed)
			selection->cells = lappend(selection->cells, cell);
		cell->witnessed = !cell->suppressed;
		MemoryContextSwitchTo(old);
	}
	selection->witnessed = true;
	lookup_expect_cells(selection->lookup, list_length(selection->cells));
	return false;
}

/* Return conditions that hold for all members of a published cell. */
static List *
cell_conditions(SelectFirst *selection, const Cell *cell)
{
	Anonymizer *anonymizer = selection->anonymizer;
	Histogram *classes = anonymizer->classes;

	for (int class = 0; class < classes->nclasses; class ++)
	{
		if (classes->cells[class] == cell)
			return region_of_codes(anonymizer->aview, anonymizer->recoder, cell->step, class_codes(classes, class));
	}
	return NIL;
}

/*
 * Start reading the members of the next group of a witness or, where a query for each
 * group costs too much, the whole source for all groups that are left.
 */
static void
read_members(SelectFirst *selection)
{
	Anonymizer *anonymizer = selection->anonymizer;
	Query *all;
	Cell *cell;

	end_run(selection);
	if (selection->cells == NIL)
		return;
	Assert(selection->witnessed);
	cell = linitial(selection->cells);
	selection->cells = list_delete_first(selection->cells);
	if (!selection->complete)
		selection->run = lookup_start(selection->lookup, &anonymizer->published, cell->step,
									  cell_conditions(selection, cell));
	if (selection->run)
	{
		source_hide_order(selection->run);
		selection->cell = cell;
		cell->witnessed = false; /* it has been read */
		return;
	}
	selection->cell = NULL;
	selection->cells = NIL;
	all = make_query(selection, &anonymizer->published, NIL);
	selection->run = source_start(anonymizer->aview, source_plan(anonymizer->aview, all, false, NULL), NULL,
								  anonymizer->snapshot);
	source_hide_order(selection->run);
}

/* Read the next member of a group of a witness, and set its cell; return false after the last. */
static bool
next_member(SelectFirst *selection, TupleTableSlot **slot, Cell **cell)
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

/* Read the next member of a witness's group, or witness in no group, and set its cell; return false after the last. */
static bool
next_of_witnesses(SelectFirst *selection, TupleTableSlot **slot, Cell **cell)
{
	*cell = NULL;
	return (!selection->witnessed && find_witness_groups(selection, slot)) || next_member(selection, slot, cell);
}

/* Note all rows that next_of_witnesses() reads. */
static void
note_witnesses(SelectFirst *selection)
{
	Anonymizer *anonymizer = selection->anonymizer;
	MemoryContext work = AllocSetContextCreate(anonymizer->context, "kanon witness", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(anonymizer->context);
	TupleTableSlot *slot;
	Cell *cell;

	anonymizer->hides_order = !anonymizer->aview->keeps_order;
	selection->notes = notes_create(anonymizer, &anonymizer->published, source_desc(selection->run), true);
	MemoryContextSwitchTo(work);
	while (next_of_witnesses(selection, &slot, &cell))
	{
		notes_add(selection->notes, slot, cell ? histogram_find(anonymizer->classes, selection->codes) : -1);
		MemoryContextReset(work);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
}

/*
 * Publish the next row: a selected row or, with a witness test, a member of a witness's group
 * or a witness in no group.
 */
static bool
select_first_next(RowSource *source, Datum *values, bool *nulls)
{
	SelectFirst *selection = (SelectFirst *) source;
	Anonymizer *anonymizer = selection->anonymizer;
	TupleTableSlot *slot;
	Cell *cell = NULL;

	if (anonymizer->witness && anonymizer->recoder->masked)
	{
		if (selection->notes == NULL)
			note_witnesses(selection);
		if (!notes_next(selection->notes, &slot, &cell))
			return false;
	}
	else if (anonymizer->witness)
	{
		if (!next_of_witnesses(selection, &slot, &cell))
			return false;
	}
	else
	{
		if (!next_selected(selection, &slot))
			return false;
		if (anonymizer_groups(anonymizer))
			cell = settled_cell(selection);
	}
	anonymizer_publish(anonymizer, slot, cell, values, nulls);
	return true;
}

/* End the run. */
static void
select_first_end(RowSource *source)
{
	SelectFirst *selection = (SelectFirst *) source;

	end_run(selection);
	drop_selected_notes(selection);
}

/* Show the query for the selected rows. */
static void
select_first_explain(const RowRequest *request, ParamListInfo params, RowSourceShow show, void *arg)
{
	const AView *aview = request->aview;

	Assert(!aview->materialized);
	show(arg, "Source", source_query(aview, source_least(aview), request->conditions, NIL));
}

const RowSourceMethods select_first_methods = {
	.name = "Select First",
	.start = select_first_start,
	.rewind = select_first_rewind,
	.next = select_first_next,
	.end = select_first_end,
	.explain = select_first_explain,
};
