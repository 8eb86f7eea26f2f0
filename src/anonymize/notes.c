/*
 * notes.c
 *		Rows as they will be published, noted while they are counted.
 */
#include "base/kanon.h"

#include "anonymize/notes.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/tuplestore.h"

#include "anonymize/anonymizer.h"
#include "base/shuffle.h"
#include "recode/recode.h"
#include "source/layout.h"

struct Notes
{
	Anonymizer *anonymizer;
	const RowLayout *noted;
	int ncolumns; /* the class comes behind them */
	int *from;	  /* the place of each in a row that is read */
	Datum *values;
	bool *nulls;
	TupleDesc desc;
	Tuplestorestate *store; /* null: they are shuffled */
	TupleTableSlot *slot;
	Shuffle *shuffle;
	Histogram *alone; /* the classes of rows in no group */
};

/* Their columns, and a class. */
static TupleDesc
note_desc(const Notes *notes, TupleDesc desc)
{
	TupleDesc result = CreateTemplateTupleDesc(notes->ncolumns + 1);

	for (int i = 0; i < notes->ncolumns; i++)
		TupleDescCopyEntry(result, i + 1, desc, notes->from[i] + 1);
	TupleDescInitEntry(result, notes->ncolumns + 1, "class", INT4OID, -1, 0);
	return result;
}

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
		notes->from[notes->ncolumns++] = read->place[lfirst_int(cell)];
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
	/* With the classes of groups: memory is bounded for both. */
	old = MemoryContextSwitchTo(anonymizer->classes->context);
	notes->alone = histogram_create(anonymizer->recoder, false);
	MemoryContextSwitchTo(old);
	return notes;
}

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

static void
recall_codes(const Notes *notes, int class)
{
	int width = notes->anonymizer->recoder->ncolumns;

	memcpy(notes->anonymizer->row.codes, notes->alone->codes + (Size) class * width, width * sizeof(int32));
}

static bool
next_note(Notes *notes, TupleTableSlot **slot)
{
	*slot = notes->slot;
	return notes->store ? anonymizer_kept_row(notes->anonymizer, notes->store, notes->slot) : shuffle_next(notes->shuffle, slot);
}

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
	*cell = class < 0 ? NULL : anonymizer->classes->cells[class];
	anonymizer_recall(anonymizer, notes->noted, *slot);
	return true;
}

void
notes_rewind(Notes *notes)
{
	if (notes->store)
		tuplestore_rescan(notes->store);
	else
		shuffle_rewind(notes->shuffle);
}

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
