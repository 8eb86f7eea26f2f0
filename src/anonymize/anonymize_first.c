/*
 * anonymize_first.c
 *		Anonymize first: the plan that the paper calls Anonymize-then-Select.
 *
 * Rows are counted and noted in one reading, and published from their notes.  Where
 * rows differ in nothing but their cells, the number of rows in each cell is enough.
 * Where conditions select few rows, and where other servers count their rows
 * themselves, rows are not noted but read a second time.  A source that might not
 * give the same rows twice, should its classes outgrow memory, is kept as it is.  With
 * a block size, blocks of rows in the order of their identifiers are kept and recoded
 * one after the other.
 *
 * Wherever rows are published from, they come in random order, unless the view keeps
 * the order of its source.  So all blocks, and all parts of a source that is recoded in
 * parts, are noted before the first row is published.
 */
#include "base/kanon.h"

#include "anonymize/anonymize_first.h"

#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "anonymize/anonymizer.h"
#include "anonymize/anonymizer_private.h"
#include "anonymize/notes.h"
#include "anonymize/partitions.h"
#include "anonymize/row_source.h"
#include "aview/aview.h"
#include "base/chance.h"
#include "base/shuffle.h"
#include "recode/histogram.h"
#include "recode/recode.h"
#include "source/shards.h"
#include "source/source.h"

/* How the source is read, and from where its rows are published. */
typedef enum Reading
{
	READ_AND_NOTE, /* once; from notes */
	READ_CELLS,	   /* once; from the number of rows in each cell */
	READ_TWICE,	   /* counted, then published from a second reading; or only that, where no row is in a group */
	READ_AND_KEEP, /* once; from the rows, which are kept */
	READ_BLOCKS	   /* once; from one block after the other */
} Reading;

/* All in the anonymizer's memory context but for blocks. */
struct AnonymizeFirst
{
	RowSource source;
	Anonymizer *anonymizer;
	Reading reading;
	bool started;			 /* the source has been counted, unless it is read in blocks */
	TupleTableSlot *current; /* of the last published row */
	Cell *current_cell;		 /* of that row, or NULL */

	/* The second reading. */
	List *conditions;	  /* that select its rows; NIL: none */
	ParamListInfo params; /* of the conditions */
	SourcePlan *selected; /* NULL: not prepared yet */
	SourceRun *run;		  /* also that of blocks; NULL: none */
	Shuffle *kept;		  /* READ_AND_KEEP */
	TupleTableSlot *slot; /* for the first row of a block */

	/* READ_CELLS: cells in the order in which their first rows were read, or in random order. */
	Cell **cells;
	int ncells;
	int at_cell;
	int64 handed_out; /* rows of the cell at hand */

	/* A source on other servers, whose second reading is checked against the first. */
	bool elsewhere;
	int64 *left;	/* by class: rows still to come; NULL: not checked */
	int64 all_left; /* rows of all classes still to come */

	/*
	 * READ_BLOCKS: where blocks are not noted, each is shuffled, since the order of identifiers
	 * would tell to which individual a row belongs.
	 */
	MemoryContext block; /* of the block at hand */
	Shuffle *shuffle;	 /* its rows */
	MinimalTuple ahead;	 /* the first row of the next block; NULL: there is none */
	uint64 last_individual;
};

/*
 * Choose how to read a source that is anonymized as a whole, and prepare the anonymizer for
 * notes if they are chosen.  Joining rows with their choices twice would cost more than
 * keeping them.
 */
static Reading
choose_reading(Anonymizer *anonymizer, Stability stability, bool with_source)
{
	if (stability == SOURCE_UNSTABLE)
		return READ_AND_KEEP;
	if (with_source)
		return anonymizer->aview->profile ? READ_AND_KEEP : READ_TWICE;
	if (stability == SOURCE_STABLE_ELSEWHERE && !anonymizer_shows_cells_only(anonymizer))
		return anonymizer->aview->profile ? READ_AND_KEEP : READ_TWICE;
	anonymizer_note_rows(anonymizer);
	return anonymizer->noting ? READ_AND_NOTE : READ_CELLS;
}

/* Start a source of all rows; with_source: for anonymize_first_current(). */
static AnonymizeFirst *
start_reading(const RowRequest *request, bool with_source)
{
	AnonymizeFirst *rows = palloc0(sizeof(AnonymizeFirst));
	AView *aview = request->aview;
	const Bitmapset *wanted = request->wanted;

	rows->source.methods = &anonymize_first_methods;
	rows->conditions = request->conditions;
	rows->reading = aview->block_size > 0 ? READ_BLOCKS : READ_TWICE;
	if (rows->reading == READ_BLOCKS)
	{
		for (int i = 0; i < aview->ncolumns; i++)
		{
			if (aview->columns[i].role == ROLE_ID)
				wanted = bms_add_member(bms_copy(wanted), i);
		}
	}
	rows->anonymizer = anonymizer_create(aview, wanted, request->snapshot);
	rows->anonymizer->with_source = with_source;
	if (!recoder_groups(rows->anonymizer->recoder))
		rows->reading = READ_TWICE; /* and in fact once */
	else if (rows->reading != READ_BLOCKS)
	{
		Stability stability = source_stability(aview, NULL);

		rows->elsewhere = stability == SOURCE_STABLE_ELSEWHERE;
		if (stability != SOURCE_STABLE || aview->profile)
			rows->conditions = NIL;
		rows->reading = rows->conditions ? READ_TWICE : choose_reading(rows->anonymizer, stability, with_source);
	}
	/* A block is small enough to tell all of its individuals apart. */
	if (rows->reading == READ_BLOCKS && rows->anonymizer->recoder->personal)
		rows->anonymizer->recoder->most_individuals = 0;
	if (rows->reading == READ_AND_KEEP || rows->reading == READ_BLOCKS)
		anonymizer_keep_rows(rows->anonymizer);
	if (request->witness)
		anonymizer_ask_witness(rows->anonymizer, request->witness, request->witness_arg);
	return rows;
}

/* Start a source of all rows. */
static RowSource *
anonymize_first_start(const RowRequest *request)
{
	return &start_reading(request, false)->source;
}

/* Start a source that also shows the rows of the source. */
AnonymizeFirst *
anonymize_first_start_with_source(const RowRequest *request)
{
	Assert(request->conditions == NIL && request->witness == NULL);
	return start_reading(request, true);
}

/* Return the anonymizer of the rows. */
Anonymizer *
anonymize_first_anonymizer(AnonymizeFirst *rows)
{
	return rows->anonymizer;
}

/* Read all rows of the source in the layout published, in the order of some columns, or in any order. */
static SourceRun *
run_source(AnonymizeFirst *rows, List *order_by)
{
	Anonymizer *anonymizer = rows->anonymizer;
	Query *query = source_query(anonymizer->aview, anonymizer->published.columns, NIL, order_by);

	return source_start(anonymizer->aview, source_plan(anonymizer->aview, query, false, NULL), NULL,
						anonymizer->snapshot);
}

/* Start the second reading: the rows that the conditions select. */
static SourceRun *
run_selected(AnonymizeFirst *rows)
{
	Anonymizer *anonymizer = rows->anonymizer;
	bool planned;

	Assert(rows->reading == READ_TWICE && rows->run == NULL);
	if (rows->selected == NULL)
		rows->selected =
			source_prepare(anonymizer->aview,
						   source_query(anonymizer->aview, anonymizer->published.columns, rows->conditions, NIL));
	return source_start(anonymizer->aview, source_choose(rows->selected, rows->params, &planned), rows->params,
						anonymizer->snapshot);
}

/* Return the identifiers as a list of columns. */
static List *
id_columns(const Anonymizer *anonymizer)
{
	List *columns = NIL;

	for (int i = 0; i < anonymizer->nids; i++)
		columns = lappend_int(columns, anonymizer->ids[i]);
	return columns;
}

/* Divide the source, or its kept rows, into parts that fit into memory, recode them, and note all rows. */
static void
divide_source(AnonymizeFirst *rows, int64 rows_counted)
{
	Anonymizer *anonymizer = rows->anonymizer;
	Partitions *parts;
	TupleTableSlot *slot;
	SourceRun *run = NULL;
	TupleDesc desc;

	Assert(rows->reading != READ_BLOCKS);
	if (rows->kept == NULL)
	{
		anonymizer_keep_rows(anonymizer);
		run = run_source(rows, NIL);
	}
	desc = CreateTupleDescCopy(run ? source_desc(run) : shuffle_desc(rows->kept));
	parts = partitions_create(anonymizer, rows_counted, anonymizer_expected_rows(anonymizer), desc);
	while (run ? source_next(run, &slot) : shuffle_next(rows->kept, &slot))
	{
		CHECK_FOR_INTERRUPTS();
		partitions_add(parts, slot);
	}
	if (run)
		source_end(run);
	else
		shuffle_end(rows->kept);
	rows->kept = NULL;
	rows->reading = READ_AND_NOTE;
	anonymizer->notes = notes_create(anonymizer, &anonymizer->published, desc, true);
	partitions_recode(parts);
}

/* Shuffle the cells: the order in which their first rows were read may tell of hidden values. */
static void
shuffle_cells(AnonymizeFirst *rows)
{
	for (int i = rows->ncells - 1; i > 0; i--)
	{
		int other = (int) chance_below(i + 1);
		Cell *swap = rows->cells[i];

		rows->cells[i] = rows->cells[other];
		rows->cells[other] = swap;
	}
}

/* Count the rows of each cell, and list the cells. */
static void
count_rows_of_cells(AnonymizeFirst *rows)
{
	const Histogram *classes = rows->anonymizer->classes;

	rows->cells = palloc_extended(Max(classes->nclasses, 1) * sizeof(Cell *), MCXT_ALLOC_HUGE);
	for (int class = 0; class < classes->nclasses; class ++)
	{
		Cell *cell = classes->cells[class];

		if (cell->rows == 0)
			rows->cells[rows->ncells++] = cell;
		cell->rows += classes->rows[class];
	}
	if (rows->anonymizer->hides_order)
		shuffle_cells(rows);
}

/* Recode the whole source. */
static void
recode_source(AnonymizeFirst *rows)
{
	Anonymizer *anonymizer = rows->anonymizer;
	int64 overflow;

	overflow = anonymizer_recode(anonymizer, rows->reading == READ_AND_KEEP ? &rows->kept : NULL, true);
	if (overflow > 0)
	{
		divide_source(rows, overflow);
		return;
	}
	if (rows->reading == READ_CELLS)
		count_rows_of_cells(rows);
	if (anonymizer->witness)
		anonymizer_mark_witnessed(anonymizer);
}

/* Expect as many rows of each class as were counted. */
static void
expect_counted_rows(AnonymizeFirst *rows)
{
	const Histogram *classes = rows->anonymizer->classes;

	if (rows->left == NULL)
		rows->left = palloc_extended(Max(classes->nclasses, 1) * sizeof(int64), MCXT_ALLOC_HUGE);
	memcpy(rows->left, classes->rows, classes->nclasses * sizeof(int64));
	rows->all_left = 0;
	for (int class = 0; class < classes->nclasses; class ++)
		rows->all_left += rows->left[class];
}

/* Raise the error for a source that gives other rows in its second reading. */
static pg_noreturn void
refuse_changed_source(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("the source of an anonymization view changed while it was read")));
}

/*
 * Return the class of the row just read, or -1 if it is in no group.  Raise an error if it was
 * not counted, and count it off where rows are checked.
 */
static int
counted_class(AnonymizeFirst *rows)
{
	Anonymizer *anonymizer = rows->anonymizer;
	int class;

	if (!anonymizer_groups(anonymizer))
		return -1;
	class = histogram_find(anonymizer->classes, anonymizer->row.codes);
	if (class < 0 || (rows->left && rows->left[class]-- == 0))
		refuse_changed_source();
	rows->all_left--;
	return class;
}

/*
 * Read the next row of a block that has size rows.  Return false after the last row; or if
 * the block is full and the row is of another individual, and keep the row for the next block.
 */
static bool
next_for_block(AnonymizeFirst *rows, int64 size, TupleTableSlot **slot)
{
	Anonymizer *anonymizer = rows->anonymizer;
	uint64 before = rows->last_individual;
	MemoryContext old;

	do
	{
		if (!source_next(rows->run, slot))
			return false;
	} while (!anonymizer_read(anonymizer, &anonymizer->published, *slot, true));
	rows->last_individual = anonymizer->row.individual;
	if (size < anonymizer->aview->block_size || (!anonymizer->recoder->count_rows && before == rows->last_individual))
		return true;
	old = MemoryContextSwitchTo(anonymizer->context);
	rows->ahead = ExecCopySlotMinimalTuple(*slot);
	MemoryContextSwitchTo(old);
	return false;
}

/* Free the block at hand. */
static void
end_block(AnonymizeFirst *rows)
{
	if (rows->shuffle)
		shuffle_end(rows->shuffle);
	rows->shuffle = NULL;
	if (rows->block)
		MemoryContextReset(rows->block);
}

/* Read and recode a block; return false after the last one. */
static bool
next_block(AnonymizeFirst *rows)
{
	Anonymizer *anonymizer = rows->anonymizer;
	MemoryContext old = MemoryContextSwitchTo(anonymizer->context);
	Histogram *histogram;
	TupleTableSlot *slot;
	int64 size = 0;

	end_block(rows);
	if (rows->slot == NULL)
		rows->slot = MakeSingleTupleTableSlot(CreateTupleDescCopy(source_desc(rows->run)), &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(rows->block);
	rows->shuffle = shuffle_create(source_desc(rows->run), anonymizer->hides_order);
	recoder_forget_cells(anonymizer->recoder, rows->block);
	histogram = histogram_create(anonymizer->recoder, true);
	if (rows->ahead)
	{
		slot = ExecStoreMinimalTuple(rows->ahead, rows->slot, true);
		rows->ahead = NULL;
		(void) anonymizer_read(anonymizer, &anonymizer->published, slot, true);
		anonymizer_count(anonymizer, histogram);
		shuffle_add(rows->shuffle, slot);
		size++;
	}
	while (next_for_block(rows, size, &slot))
	{
		anonymizer_count(anonymizer, histogram);
		shuffle_add(rows->shuffle, slot);
		size++;
	}
	Assert(rows->ahead == NULL || size >= anonymizer->aview->block_size);
	recode(histogram, 0, anonymizer->recoder->nsteps);
	anonymizer->classes = histogram;
	if (anonymizer->witness)
		anonymizer_mark_witnessed(anonymizer);
	MemoryContextSwitchTo(old);
	return size > 0;
}

/* Set the slot to the next row of the block at hand, or of the next one; return false after the last. */
static bool
next_of_block(AnonymizeFirst *rows, TupleTableSlot **slot)
{
	MemoryContext old = MemoryContextSwitchTo(rows->block);
	bool found = rows->shuffle && shuffle_next(rows->shuffle, slot);

	while (!found && next_block(rows))
		found = shuffle_next(rows->shuffle, slot);
	MemoryContextSwitchTo(old);
	return found;
}

/*
 * Set the cell of the next row; return false after the last.  All rows of a cell come
 * together: an order among them would tell of its classes.
 */
static bool
next_of_cell(AnonymizeFirst *rows, Cell **cell)
{
	while (rows->at_cell < rows->ncells)
	{
		*cell = rows->cells[rows->at_cell];
		if (rows->handed_out++ < (*cell)->rows)
			return true;
		rows->at_cell++;
		rows->handed_out = 0;
	}
	return false;
}

/* Set the slot to the next row of the source, read again or kept; return false after the last. */
static bool
next_source_row(AnonymizeFirst *rows, TupleTableSlot **slot)
{
	switch (rows->reading)
	{
		case READ_AND_NOTE:
		case READ_CELLS:
			break;
		case READ_TWICE:
			return source_next(rows->run, slot);
		case READ_AND_KEEP:
			return shuffle_next(rows->kept, slot);
		case READ_BLOCKS:
			return next_of_block(rows, slot);
	}
	return false;
}

/*
 * Return true if the row just read may be given: if no witness is asked for, or its cell
 * has one.  A row in no group is its own witness.
 */
static bool
has_witness(AnonymizeFirst *rows, const Cell *cell)
{
	if (rows->anonymizer->witness == NULL)
		return true;
	return cell ? cell->witnessed : anonymizer_test_witness(rows->anonymizer, anonymizer_seen_codes(rows->anonymizer));
}

/*
 * Read the next row of the source that is shown, and set its cell or, for a row in no group,
 * NULL; return false after the last.
 */
static bool
next_shown_row(AnonymizeFirst *rows, TupleTableSlot **slot, Cell **cell)
{
	Anonymizer *anonymizer = rows->anonymizer;
	int class;

	do
	{
		CHECK_FOR_INTERRUPTS();
		if (!next_source_row(rows, slot))
			return false;
	} while (!anonymizer_read(anonymizer, &anonymizer->published, *slot, false));
	class = counted_class(rows);
	*cell = class < 0 ? NULL : anonymizer->classes->cells[class];
	Assert(class < 0 || *cell != NULL);
	return true;
}

/* Note all rows of the second reading; their cells are found faster in the order in which they are stored. */
static void
note_selected(AnonymizeFirst *rows)
{
	Anonymizer *anonymizer = rows->anonymizer;
	MemoryContext work = AllocSetContextCreate(anonymizer->context, "kanon selected row", ALLOCSET_DEFAULT_SIZES);
	bool with_codes = anonymizer->aview->profile || !recoder_groups(anonymizer->recoder);
	TupleTableSlot *slot;

	anonymizer->hides_order = true;
	anonymizer->notes = notes_create(anonymizer, &anonymizer->published, source_desc(rows->run), with_codes);
	MemoryContextSwitchTo(work);
	while (source_next(rows->run, &slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (anonymizer_read(anonymizer, &anonymizer->published, slot, false))
			notes_add(anonymizer->notes, slot, counted_class(rows));
		MemoryContextReset(work);
	}
	MemoryContextSwitchTo(anonymizer->context);
	MemoryContextDelete(work);
	source_end(rows->run);
	rows->run = NULL;
}

/* Start the second reading, and note its rows if their order must not be seen. */
static void
start_selected(AnonymizeFirst *rows)
{
	Anonymizer *anonymizer = rows->anonymizer;

	if (rows->elsewhere && recoder_groups(anonymizer->recoder))
		expect_counted_rows(rows);
	rows->run = run_selected(rows);
	if (!anonymizer->with_source && source_hides_order(rows->run))
		note_selected(rows);
}

/* Recode all blocks, and note their rows. */
static void
note_blocks(AnonymizeFirst *rows)
{
	Anonymizer *anonymizer = rows->anonymizer;
	MemoryContext work = AllocSetContextCreate(anonymizer->context, "kanon row of a block", ALLOCSET_DEFAULT_SIZES);
	TupleTableSlot *slot;
	Cell *cell;

	anonymizer->notes = notes_create(anonymizer, &anonymizer->published, source_desc(rows->run), true);
	MemoryContextSwitchTo(work);
	while (next_shown_row(rows, &slot, &cell))
	{
		if (cell == NULL || anonymizer->witness == NULL || cell->witnessed)
			notes_add_cell(anonymizer->notes, slot, cell);
		MemoryContextReset(work);
	}
	MemoryContextSwitchTo(anonymizer->context);
	MemoryContextDelete(work);
	end_block(rows);
	source_end(rows->run);
	rows->run = NULL;
	rows->reading = READ_AND_NOTE;
}

/* Recode the whole source, or start the first block, as the first row is asked for. */
static void
count_before_first_row(AnonymizeFirst *rows)
{
	Anonymizer *anonymizer = rows->anonymizer;
	MemoryContext old = MemoryContextSwitchTo(anonymizer->context);

	rows->started = true;
	if (rows->reading == READ_BLOCKS)
	{
		anonymizer_learn_distributions(anonymizer);
		rows->run = run_source(rows, id_columns(anonymizer));
		rows->block = AllocSetContextCreate(anonymizer->context, "kanon block", ALLOCSET_DEFAULT_SIZES);
		anonymizer->hides_order = !anonymizer->with_source && !anonymizer->aview->keeps_order;
		if (anonymizer->hides_order)
			note_blocks(rows);
	}
	else if (recoder_groups(anonymizer->recoder))
		recode_source(rows);
	if (rows->reading == READ_TWICE)
		start_selected(rows);
	MemoryContextSwitchTo(old);
}

/*
 * Set the next row and its cell, from wherever rows are published; return false after the
 * last.  Rows of READ_CELLS have no slot.
 */
static bool
next_anonymized_row(AnonymizeFirst *rows, TupleTableSlot **slot, Cell **cell)
{
	if (rows->anonymizer->notes)
		return notes_next(rows->anonymizer->notes, slot, cell);
	if (rows->reading == READ_CELLS)
		return next_of_cell(rows, cell);
	return next_shown_row(rows, slot, cell);
}

/* Publish the next row. */
static bool
anonymize_first_next(RowSource *source, Datum *values, bool *nulls)
{
	AnonymizeFirst *rows = (AnonymizeFirst *) source;
	Anonymizer *anonymizer = rows->anonymizer;
	TupleTableSlot *slot = NULL;
	Cell *cell;

	if (!rows->started)
		count_before_first_row(rows);
	while (next_anonymized_row(rows, &slot, &cell))
	{
		CHECK_FOR_INTERRUPTS();
		if (!has_witness(rows, cell))
			continue;
		anonymizer_publish(anonymizer, slot, cell, values, nulls);
		rows->current = slot;
		rows->current_cell = cell;
		return true;
	}
	if (rows->left && rows->all_left > 0)
		refuse_changed_source();
	return false;
}

/* Return the source's row behind the last published row. */
TupleTableSlot *
anonymize_first_current(const AnonymizeFirst *rows, const Cell **cell)
{
	*cell = rows->current_cell;
	return rows->current;
}

/* Start again with the first row.  The source is not counted again. */
static void
anonymize_first_rewind(RowSource *source, ParamListInfo params)
{
	AnonymizeFirst *rows = (AnonymizeFirst *) source;
	Anonymizer *anonymizer = rows->anonymizer;
	MemoryContext old = MemoryContextSwitchTo(anonymizer->context);

	rows->params = params;
	if (rows->run)
		source_end(rows->run);
	rows->run = NULL;
	if (rows->kept)
		shuffle_rewind(rows->kept);
	if (rows->started && rows->reading == READ_TWICE)
	{
		anonymizer_drop_notes(anonymizer);
		start_selected(rows);
	}
	else if (rows->started && rows->reading == READ_BLOCKS)
	{
		rows->run = run_source(rows, id_columns(anonymizer));
		rows->ahead = NULL;
	}
	else if (anonymizer->notes)
		notes_rewind(anonymizer->notes);
	rows->at_cell = 0;
	rows->handed_out = 0;
	end_block(rows);
	MemoryContextSwitchTo(old);
}

/* End all that is being read, and drop its files. */
static void
anonymize_first_end(RowSource *source)
{
	AnonymizeFirst *rows = (AnonymizeFirst *) source;

	if (rows->run)
		source_end(rows->run);
	end_block(rows);
	if (rows->slot)
		ExecDropSingleTupleTableSlot(rows->slot);
	if (rows->kept)
		shuffle_end(rows->kept);
	anonymizer_drop_notes(rows->anonymizer);
	rows->run = NULL;
	rows->kept = NULL;
	rows->slot = NULL;
}

/*
 * Show the query that counts the source, where other servers count it, and the queries that
 * read the whole source and its selected rows.
 */
static void
anonymize_first_explain(const RowRequest *request, ParamListInfo params, RowSourceShow show, void *arg)
{
	const AView *aview = request->aview;
	List *columns = NIL;
	Query *groups;

	for (int i = 0; i < aview->nquasi; i++)
		columns = lappend_int(columns, aview->quasi[i]);
	groups = aview->block_size == 0 ? shards_groups(aview, columns) : NULL;
	if (groups)
		show(arg, "Histogram", groups);
	show(arg, "Source", source_query(aview, source_least(aview), NIL, NIL));
	if (request->conditions)
		show(arg, "Selected", source_query(aview, source_least(aview), request->conditions, NIL));
}

const RowSourceMethods anonymize_first_methods = {
	.name = "Anonymize First",
	.start = anonymize_first_start,
	.rewind = anonymize_first_rewind,
	.next = anonymize_first_next,
	.end = anonymize_first_end,
	.explain = anonymize_first_explain,
};
