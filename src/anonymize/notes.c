/*
 * notes.c
 *		Rows as they will be published, noted while they are counted.
 *
 * A note is a row of the shown columns and a number: the class of the row among
 * anonymizer->classes or, for a row in no group, -1 minus its class among the classes
 * of such rows.  Notes are kept in the order of the rows, or shuffled where that order
 * may tell of hidden values.
 */
#include "base/kanon.h"

#include "anonymize/notes.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/tuplestore.h"

#include "anonymize/anonymizer.h"
#include "anonymize/anonymizer_private.h"
#include "base/shuffle.h"
#include "recode/histogram.h"
#include "recode/recode.h"
#include "source/layout.h"

struct Notes
{
	Anonymizer *anonymizer;
	const RowLayout *noted; /* anonymizer->published */
	int ncolumns;			/* of a note, without the class, which comes behind them */
	int *from;				/* by column: its place in a row that is read */
	Datum *values;			/* work space: a note */
	bool *nulls;
	TupleDesc desc;			/* of a note */
	Tuplestorestate *store; /* the notes in order; NULL: they are shuffled */
	TupleTableSlot *slot;	/* for notes of the store */
	Shuffle *shuffle;		/* the notes in no order; NULL: they are in the store */
	Histogram *alone;		/* the classes of rows in no group */
};

/* Return the descriptor of notes: their columns as in the rows that are read, and the class. */
static TupleDesc
note_desc(const Notes *notes, TupleDesc desc)
{
	TupleDesc result = CreateTemplateTupleDesc(notes->ncolumns + 1);

	for (int i = 0; i < notes->ncolumns; i++)
		TupleDescCopyEntry(result, i + 1, desc, notes->from[i] + 1);
	TupleDescInitEntry(result, notes->ncolumns + 1, "class", INT4OID, -1, 0);
	return result;
}

/* Create notes. */
Notes *
notes_create(Anonymizer *anonymizer, const RowLayout *read, TupleDesc desc)
{
	const RowLayout *noted = &anonymizer->published;
	Notes *notes = palloc0(sizeof(Notes));
	MemoryContext old;
	ListCell *cell;

	notes->anonymizer = anonymizer;
	notes->noted = noted;
	notes->from = palloc((list_length(noted->columns) + 1) * sizeof(int));
	foreach (cell, noted->columns)
	{
		Assert(read->place[lfirst_int(cell)] >= 0);
		notes->from[notes->ncolumns++] = read->place[lfirst_int(cell)];
	}
	notes->values = palloc((notes->ncolumns + 1) * sizeof(Datum));
	notes->nulls = palloc0((notes->ncolumns + 1) * sizeof(bool));
	notes->desc = note_desc(notes, desc);
	if (anonymizer->tells_order)
		notes->shuffle = shuffle_create(notes->desc);
	else
	{
		notes->store = tuplestore_begin_heap(false, false, work_mem);
		notes->slot = MakeSingleTupleTableSlot(notes->desc, &TTSOpsMinimalTuple);
	}
	/* The memory of these classes counts with that of the others, which is bounded. */
	old = MemoryContextSwitchTo(anonymizer->classes->context);
	notes->alone = histogram_create(anonymizer->recoder, false);
	MemoryContextSwitchTo(old);
	return notes;
}

/* Note the row just read, of a class or, with -1, of a row in no group. */
void
notes_add(Notes *notes, TupleTableSlot *slot, int class)
{
	for (int i = 0; i < notes->ncolumns; i++)
	{
		notes->values[i] = slot->tts_values[notes->from[i]];
		notes->nulls[i] = slot->tts_isnull[notes->from[i]];
	}
	if (class < 0)
		class = -1 - histogram_class(notes->alone, notes->anonymizer->row.codes);
	notes->values[notes->ncolumns] = Int32GetDatum(class);
	if (notes->store)
		tuplestore_putvalues(notes->store, notes->desc, notes->values, notes->nulls);
	else
		shuffle_add_values(notes->shuffle, notes->values, notes->nulls);
}

/* Set the codes of a row in no group from its class. */
static void
recall_codes(const Notes *notes, int class)
{
	int width = notes->alone->recoder->ncolumns;

	memcpy(notes->anonymizer->row.codes, class_codes(notes->alone, class), width * sizeof(int32));
}

/* Set the slot to the next note; return false after the last. */
static bool
next_note(Notes *notes, TupleTableSlot **slot)
{
	*slot = notes->slot;
	return notes->store ? anonymizer_kept_row(notes->anonymizer, notes->store, notes->slot)
						: shuffle_next(notes->shuffle, slot);
}

/* Set the next note and the cell of its row; return false after the last. */
bool
notes_next(Notes *notes, TupleTableSlot **slot, Cell **cell)
{
	Anonymizer *anonymizer = notes->anonymizer;
	int class;

	if (!next_note(notes, slot))
		return false;
	slot_getallattrs(*slot);
	class = DatumGetInt32((*slot)->tts_values[notes->ncolumns]);
	if (class < 0)
		recall_codes(notes, -1 - class);
	Assert(class < anonymizer->classes->nclasses);
	*cell = class < 0 ? NULL : anonymizer->classes->cells[class];
	Assert(class < 0 || *cell != NULL);
	anonymizer_recall(anonymizer, notes->noted, *slot);
	return true;
}

/* Start again with the first note. */
void
notes_rewind(Notes *notes)
{
	if (notes->store)
		tuplestore_rescan(notes->store);
	else
		shuffle_rewind(notes->shuffle);
}

/* Drop the files and the slot. */
void
notes_end(Notes *notes)
{
	if (notes->shuffle)
		shuffle_end(notes->shuffle);
	else
	{
		tuplestore_end(notes->store);
		ExecDropSingleTupleTableSlot(notes->slot);
	}
}
