/*
 * notes.h
 *		Rows as they will be published, noted while they are counted or recoded.
 *
 * A note has the columns that are shown of a row besides its quasi-identifiers, and what
 * tells these.  So a source need be read once only, values are looked up once, and notes
 * are narrow; they go to disk beyond work_mem.  And they come back in random order, all
 * rows of all cells together, unless the order of the source may be seen.
 */
#ifndef KANON_NOTES_H
#define KANON_NOTES_H

#include "utils/snapshot.h"

#include "anonymize/anonymizer.h"
#include "recode/recode.h"
#include "source/layout.h"

typedef struct Notes Notes;

/*
 * Create notes of rows in the layout read, whose descriptor is desc, to be published in the
 * layout anonymizer->published.  The current memory context must outlive them.  Codes are needed
 * if rows may be in no group, and for notes_add_cell().
 */
extern Notes *notes_create(Anonymizer *anonymizer, const RowLayout *read, TupleDesc desc, bool with_codes);

/*
 * Note the row just read: with its class among anonymizer->classes as they will be when notes
 * are read, or -1 for a row in no group.
 */
extern void notes_add(Notes *notes, TupleTableSlot *slot, int class);
/* Note the row just read with its cell, which need not exist any more when notes are read; NULL: it is in no group. */
extern void notes_add_cell(Notes *notes, TupleTableSlot *slot, const Cell *cell);

/*
 * Set the next note, and the cell of its row or, for a row in no group, NULL; return false
 * after the last.  The row then counts as the one just read, but has codes only if it is in
 * no group.  A cell that was noted as such has a witness, and is valid until the next call.
 */
extern bool notes_next(Notes *notes, TupleTableSlot **slot, Cell **cell);
/* Start again with the first note. */
extern void notes_rewind(Notes *notes);
/* Drop the notes and their files. */
extern void notes_end(Notes *notes);

#endif
