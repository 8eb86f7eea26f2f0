/*
 * anonymizer.h
 *		From rows of the source to published rows.
 *
 * One anonymizer serves one execution: it knows the view's definition and
 * hierarchies as they were when it started, and the snapshot.
 */
#ifndef KANON_ANONYMIZER_H
#define KANON_ANONYMIZER_H

#include "utils/snapshot.h"
#include "utils/tuplestore.h"

#include "anonymize/row_source.h"
#include "aview/aview.h"
#include "recode/dictionary.h"
#include "recode/recode.h"
#include "source/layout.h"

typedef struct Anonymizer
{
	MemoryContext context;
	AView *aview;
	Snapshot snapshot;
	Recoder *recoder;
	Dictionary **dictionaries; /* per column of the view that is generalized or counted */

	RowLayout counted;	 /* what recoding needs */
	RowLayout published; /* what recoding and the caller need */

	int nids;
	int *ids; /* columns */
	FmgrInfo *id_hash;

	int nsensitive;
	int *sensitive;		/* columns that l or t concern */
	int64 **occurrences; /* per sensitive column, of each code in the whole input; for t */
	int *noccurrences;
	bool distributions_known;

	/* Of sensitive columns that their owners have generalized: codes of what is published. */
	Dictionary **graded;

	/* How each column of published is shown. */
	int nshown;
	struct ShownColumn *shown;
	int32 *seen; /* work space */

	/* The test of witnesses, or NULL, and its arguments: a place per column of the view. */
	RowWitness witness;
	void *witness_arg;
	Datum *witness_values;
	bool *witness_nulls;

	bool keeps_order; /* that of the source may be seen */
	bool tells_order; /* and the rows that were counted came in one that should not be */

	/* What is counted is noted, too, to be published from there. */
	bool noting;
	struct Notes *notes; /* null where classes outgrew memory */

	RecodeRow row; /* work space */
	Histogram *classes; /* known classes and their cells */
} Anonymizer;

extern Anonymizer *anonymizer_create(AView *aview, const Bitmapset *wanted, Snapshot snapshot);

/* Ask for groups that have a witness; before the first row is read. */
extern void anonymizer_ask_witness(Anonymizer *anonymizer, RowWitness witness, void *arg);
/* Return true if a class, given by its codes at level 0, has a witness: a ClassTest of the anonymizer. */
extern bool anonymizer_test_witness(void *anonymizer, const int32 *codes);
/* Mark the cells of known classes that have a witness. */
extern void anonymizer_mark_witnessed(Anonymizer *anonymizer);

/* Rows that are kept are counted from what is published of them. */
extern void anonymizer_keep_rows(Anonymizer *anonymizer);
/*
 * Rows are noted while they are counted (anonymize/notes.h) and published from notes;
 * unless there is nothing to note, since they differ in nothing but their cells.
 */
extern void anonymizer_note_rows(Anonymizer *anonymizer);
extern bool anonymizer_shows_cells_only(const Anonymizer *anonymizer);

/* Reads a row of the source into codes; false if it is not to be shown at all. */
extern bool anonymizer_read(Anonymizer *anonymizer, const RowLayout *layout, TupleTableSlot *slot, bool counting);
/* What its choices say of a row that was read before. */
extern void anonymizer_recall(Anonymizer *anonymizer, const RowLayout *layout, TupleTableSlot *slot);

/* counting.c */

/* Recodes the whole source; afterwards anonymizer->classes knows every class. */
extern int64 anonymizer_recode(Anonymizer *anonymizer, Tuplestorestate *keep, bool bounded);
/* Counts the row just read; returns its class, or -1. */
extern int anonymizer_count(Anonymizer *anonymizer, Histogram *histogram);
extern void anonymizer_set_distributions(Anonymizer *anonymizer);
extern void anonymizer_learn_distributions(Anonymizer *anonymizer);

/* The next kept row.  The slot owns it, beyond any context that the caller may reset. */
extern bool anonymizer_kept_row(Anonymizer *anonymizer, Tuplestorestate *kept, TupleTableSlot *slot);

/* How many rows the planner expects of the whole source. */
extern double source_rows(const Anonymizer *anonymizer);

/* The codes of the row just read as its owner lets them be seen. */
extern const int32 *anonymizer_seen_codes(Anonymizer *anonymizer);

/* Is the row just read published in a group? */
extern bool anonymizer_groups(const Anonymizer *anonymizer);

/* The cell of the row just read; null if its class is not known. */
extern Cell *anonymizer_cell(Anonymizer *anonymizer);

/* A source row as it is published in a cell. */
extern void anonymizer_publish(Anonymizer *anonymizer, TupleTableSlot *slot, const Cell *cell, Datum *values, bool *nulls);

#endif
