/*
 * notes.c
 *		Rows as they will be published, noted while they are counted or recoded.
 *
 * A note is a row of the shown columns and a number that tells its cell: the class of
 * the row among anonymizer->classes, the step of the cell, or that it is in no group.
 * For a step and for a row in no group, the codes of the row follow: a cell is its step
 * and the codes of any of its rows.
 *
 * Notes are shuffled, unless the order of the rows may be seen.  Rows of one cell must
 * not come together, either: if a row's owner hides a quasi-identifier, the rows around
 * it would show its value.
 */
#include "base/kanon.h"

#include "anonymize/notes.h"

#include "catalog/pg_type.h"
#include "executor/nodeHash.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "anonymize/anonymizer.h"
#include "anonymize/anonymizer_private.h"
#include "aview/aview.h"
#include "base/shuffle.h"
#include "recode/histogram.h"
#include "recode/recode.h"
#include "source/layout.h"

/* Notes that are fetched together. */
#define NOTES_AHEAD 32

/* The number of a row in no group; that of a cell is below it, and that of a class is 0 or more. */
#define IN_NO_GROUP (-1)

struct Notes
{
	MemoryContext context; /* owns the notes, but for cells */
	Anonymizer *anonymizer;
	const RowLayout *noted; /* anonymizer->published */
	int ncolumns;			/* of a note, without the number and the codes, which come behind them */
	int ncodes;				/* 0: no note needs codes */
	int *from;				/* by column: its place in a row that is read; -1: it is not shown, and noted as NULL */
	Datum *values;			/* work space: a note */
	bool *nulls;
	TupleDesc desc; /* of a note */
	Shuffle *shuffle;
	TupleTableSlot *slot; /* holds the note last returned */
	MinimalTuple ahead[NOTES_AHEAD];
	int nahead;			 /* notes that were fetched */
	int next;			 /* of these */
	MemoryContext cells; /* of cells that were made anew; NULL: none were */
};

/* Return the descriptor of notes: their columns as in the rows that are read, the number and the codes. */
static TupleDesc
note_desc(const Notes *notes, const RowLayout *read, TupleDesc desc)
{
	TupleDesc result = CreateTemplateTupleDesc(notes->ncolumns + 1 + notes->ncodes);
	ListCell *cell;

	foreach (cell, notes->noted->columns)
		TupleDescCopyEntry(result, foreach_current_index(cell) + 1, desc, read->place[lfirst_int(cell)] + 1);
	for (int i = notes->ncolumns + 1; i <= result->natts; i++)
		TupleDescInitEntry(result, i, "number", INT4OID, -1, 0);
	return result;
}

/* Return true if a column of the view is published from the notes; with the source, all are wanted as they are. */
static bool
is_shown_from_notes(const Anonymizer *anonymizer, int column)
{
	const AView *aview = anonymizer->aview;

	if (anonymizer->with_source || column >= aview->ncolumns)
		return true;
	if (aview->columns[column].role == ROLE_ID)
		return aview->profile || aview->k == 0;
	return aview->columns[column].role != ROLE_QUASI;
}

/* Create notes. */
Notes *
notes_create(Anonymizer *anonymizer, const RowLayout *read, TupleDesc desc, bool with_codes)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon notes", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Notes *notes = palloc0(sizeof(Notes));
	ListCell *cell;
	int width;

	notes->context = context;
	notes->anonymizer = anonymizer;
	notes->noted = &anonymizer->published;
	notes->from = palloc((list_length(notes->noted->columns) + 1) * sizeof(int));
	foreach (cell, notes->noted->columns)
	{
		int column = lfirst_int(cell);

		Assert(read->place[column] >= 0);
		notes->from[notes->ncolumns++] = is_shown_from_notes(anonymizer, column) ? read->place[column] : -1;
	}
	if (with_codes)
		notes->ncodes = anonymizer->recoder->ncolumns;
	width = notes->ncolumns + 1 + notes->ncodes;
	notes->values = palloc0(width * sizeof(Datum));
	notes->nulls = palloc0(width * sizeof(bool));
	notes->desc = note_desc(notes, read, desc);
	notes->shuffle = shuffle_create(notes->desc, !anonymizer->hides_order);
	notes->slot = MakeSingleTupleTableSlot(notes->desc, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(old);
	return notes;
}

/* Note the row just read, with a number and perhaps its codes. */
static void
add_note(Notes *notes, TupleTableSlot *slot, int number, bool with_codes)
{
	int at = notes->ncolumns;

	Assert(notes->ncodes > 0 || !with_codes || notes->anonymizer->recoder->ncolumns == 0);
	for (int i = 0; i < notes->ncolumns; i++)
	{
		int from = notes->from[i];

		notes->nulls[i] = from < 0 || slot->tts_isnull[from];
		notes->values[i] = from < 0 ? (Datum) 0 : slot->tts_values[from];
	}
	notes->values[at++] = Int32GetDatum(number);
	for (int i = 0; i < notes->ncodes; i++, at++)
	{
		notes->nulls[at] = !with_codes;
		notes->values[at] = Int32GetDatum(notes->anonymizer->row.codes[i]);
	}
	shuffle_add_values(notes->shuffle, notes->values, notes->nulls);
}

/* Note the row just read, of a class or, with -1, of a row in no group. */
void
notes_add(Notes *notes, TupleTableSlot *slot, int class)
{
	Assert(class >= IN_NO_GROUP);
	add_note(notes, slot, class, class == IN_NO_GROUP);
}

/* Note the row just read, of a cell or, with NULL, in no group.  Suppressed rows come after the last step. */
void
notes_add_cell(Notes *notes, TupleTableSlot *slot, const Cell *cell)
{
	int number = IN_NO_GROUP;

	if (cell)
		number = IN_NO_GROUP - 1 - (cell->suppressed ? notes->anonymizer->recoder->nsteps + 1 : cell->step);
	add_note(notes, slot, number, true);
}

/*
 * Return the cell of a step that the codes of the row just read lead to.  Cells that were
 * made before are forgotten when they take too much memory.
 */
static Cell *
make_cell_again(Notes *notes, int step)
{
	Recoder *recoder = notes->anonymizer->recoder;
	bool suppressed = step > recoder->nsteps;
	int32 place[MAX_PLACE];
	Cell *cell;

	if (notes->cells == NULL)
	{
		notes->cells =
			AllocSetContextCreate(notes->anonymizer->context, "kanon cells of notes", ALLOCSET_DEFAULT_SIZES);
		recoder_forget_cells(recoder, notes->cells);
	}
	else if (MemoryContextMemAllocated(notes->cells, true) > get_hash_memory_limit() / 2)
	{
		MemoryContextReset(notes->cells);
		recoder_forget_cells(recoder, notes->cells);
	}
	step = Min(step, recoder->nsteps);
	recoder->nesting->locate(recoder, step, notes->anonymizer->row.codes, place);
	cell = recoder_cell(recoder, step, place, suppressed);
	cell->witnessed = true;
	return cell;
}

/* Set the codes of the row just read from a note. */
static void
recall_codes(const Notes *notes, TupleTableSlot *slot)
{
	for (int i = 0; i < notes->ncodes; i++)
		notes->anonymizer->row.codes[i] = DatumGetInt32(slot->tts_values[notes->ncolumns + 1 + i]);
}

/* Return the likely number of a note: without codes, it is the last value. */
static inline int32
likely_number(MinimalTuple note)
{
	int32 number;

	memcpy(&number, (char *) note + note->t_len - sizeof(number), sizeof(number));
	return number;
}

/*
 * Fetch some notes, and their cells into the cache: in random order each cell would be waited
 * for.
 */
static bool
fetch_notes(Notes *notes)
{
	const Histogram *classes = notes->anonymizer->classes;

	ExecClearTuple(notes->slot);
	notes->nahead = shuffle_fetch(notes->shuffle, notes->ahead, NOTES_AHEAD);
	notes->next = 0;
	for (int i = 0; i < notes->nahead && notes->nahead > 1; i++)
	{
		int32 number = likely_number(notes->ahead[i]);

		if (number >= 0 && number < classes->nclasses)
			kanon_prefetch(&classes->cells[number]);
	}
	for (int i = 0; i < notes->nahead && notes->nahead > 1; i++)
	{
		int32 number = likely_number(notes->ahead[i]);

		if (number >= 0 && number < classes->nclasses)
		{
			kanon_prefetch(classes->cells[number]);
			kanon_prefetch((char *) classes->cells[number] + KANON_CACHE_LINE);
		}
	}
	return notes->nahead > 0;
}

/* Set the next note and the cell of its row; return false after the last. */
bool
notes_next(Notes *notes, TupleTableSlot **slot, Cell **cell)
{
	Anonymizer *anonymizer = notes->anonymizer;
	int number;

	if (notes->next == notes->nahead && !fetch_notes(notes))
		return false;
	*slot = ExecStoreMinimalTuple(notes->ahead[notes->next++], notes->slot, false);
	slot_getallattrs(*slot);
	number = DatumGetInt32((*slot)->tts_values[notes->ncolumns]);
	if (number < 0)
		recall_codes(notes, *slot);
	if (number < IN_NO_GROUP)
		*cell = make_cell_again(notes, IN_NO_GROUP - 1 - number);
	else
	{
		Assert(number < 0 || number < anonymizer->classes->nclasses);
		*cell = number < 0 ? NULL : anonymizer->classes->cells[number];
	}
	Assert(number == IN_NO_GROUP || *cell != NULL);
	anonymizer_recall(anonymizer, notes->noted, *slot);
	return true;
}

/* Start again with the first note. */
void
notes_rewind(Notes *notes)
{
	shuffle_rewind(notes->shuffle);
	notes->nahead = notes->next = 0;
}

/* Drop the notes and their files. */
void
notes_end(Notes *notes)
{
	ExecDropSingleTupleTableSlot(notes->slot);
	shuffle_end(notes->shuffle);
	if (notes->cells)
		MemoryContextDelete(notes->cells);
	MemoryContextDelete(notes->context);
}
