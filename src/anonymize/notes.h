/*
 * notes.h
 *		Rows as they will be published, noted while they are counted.
 *
 * A note has what is shown of a row besides its quasi-identifiers, and the number
 * of its class, which says the rest.  So a source need be read once only, values
 * are looked up once, and what is kept is narrow; it goes to disk beyond work_mem.
 */
#ifndef KANON_SCAN_NOTES_H
#define KANON_SCAN_NOTES_H

#include "utils/snapshot.h"

#include "anonymize/anonymizer.h"
#include "recode/recode.h"
#include "source/layout.h"

typedef struct Notes Notes;

/* For rows of a layout, to be published from notes with the columns of anonymizer->published. */
extern Notes *notes_create(Anonymizer *anonymizer, const RowLayout *read, TupleDesc desc);

/* Notes the row just read; class: that of its group, or -1 for a row that is in none. */
extern void notes_add(Notes *notes, TupleTableSlot *slot, int class);

/*
 * The next note, and the cell of its row, or null.  Then anonymizer->row says what is
 * known of the row, as if it had just been read; its codes only if it is in no group.
 */
extern bool notes_next(Notes *notes, TupleTableSlot **slot, Cell **cell);
extern void notes_rewind(Notes *notes);
extern void notes_end(Notes *notes);

#endif
