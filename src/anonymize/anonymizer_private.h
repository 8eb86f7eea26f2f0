/*
 * anonymizer_private.h
 *		The anonymizer as the row sources of this folder see it.
 */
#ifndef KANON_ANONYMIZER_PRIVATE_H
#define KANON_ANONYMIZER_PRIVATE_H

#include "anonymize/anonymizer.h"
#include "anonymize/row_source.h"
#include "aview/aview.h"
#include "base/shuffle.h"
#include "base/valuecodes.h"
#include "recode/dictionary.h"
#include "recode/histogram.h"
#include "recode/recode.h"
#include "source/layout.h"

struct Anonymizer
{
	MemoryContext context; /* of the anonymizer and all that outlives a row */
	AView *aview;		   /* the caller's */
	Snapshot snapshot;	   /* for reading the source */
	Recoder *recoder;
	Dictionary **dictionaries; /* by column of the view; NULL unless a quasi-identifier or sensitive */

	RowLayout counted;	 /* the columns that recoding needs */
	RowLayout published; /* the columns that recoding and the caller need */

	int nids;
	int *ids;		   /* the columns that are identifiers */
	FmgrInfo *id_hash; /* by identifier; fn_oid 0: the type has no hash function */

	int nsensitive;
	int *sensitive;		 /* the columns that l or t concern */
	ValueCodes **equal;	 /* by sensitive column: of raw values, where codes do not tell which are equal; else NULL */
	int64 **occurrences; /* by sensitive column: the rows of the whole input with each code; for t */
	int *noccurrences;	 /* by sensitive column: the length of its array */
	bool distributions_known;

	/* By column: codes of the values that data owners have generalized, or NULL. */
	Dictionary **graded;

	/* How each column of published other than quasi-identifiers is shown. */
	int nshown;
	struct ShownColumn *shown;
	int32 *seen; /* work space: codes as the data owner lets them be seen */

	/* The test of witnesses, or NULL, and its arguments, with a place per column of the view. */
	RowWitness witness;
	void *witness_arg;
	Datum *witness_values;
	bool *witness_nulls;

	bool with_source; /* the caller reads the source's rows, too, and so may see their order */
	bool hides_order; /* the rows were counted in an order that must not be seen */

	/* Rows are noted while they are counted, to be published from their notes. */
	bool noting;
	struct Notes *notes; /* NULL before the first row, and once classes have outgrown memory */

	RecodeRow row;		/* the row just read */
	Histogram *classes; /* known classes and their cells; NULL: none */
};

/* Return the code of class number class of a histogram in each column, at level 0. */
static inline const int32 *
class_codes(const Histogram *classes, int class)
{
	Assert(class >= 0 && class < classes->nclasses);
	return classes->codes + (Size) class * classes->recoder->ncolumns;
}

/* anonymizer.c */

/* Prepare for rows that are kept, and counted from the layout published. */
extern void anonymizer_keep_rows(Anonymizer *anonymizer);
/*
 * Prepare for rows that are noted while they are counted (anonymize/notes.h) and published
 * from their notes; or for counting alone, where rows differ in nothing but their cells.
 */
extern void anonymizer_note_rows(Anonymizer *anonymizer);
/* Return true if published rows differ in nothing but their cells. */
extern bool anonymizer_shows_cells_only(const Anonymizer *anonymizer);

/* Read the choices of a row that was read before, without its codes. */
extern void anonymizer_recall(Anonymizer *anonymizer, const RowLayout *layout, TupleTableSlot *slot);
/* Return the codes of the row just read as its owner lets them be seen; valid until the next call. */
extern const int32 *anonymizer_seen_codes(Anonymizer *anonymizer);
/*
 * Publish a row of the layout published in a cell: fill in the wanted columns of the view.
 * The row must be the one just read.  A cell of NULL stands for a row in no group.
 */
extern void anonymizer_publish(Anonymizer *anonymizer, TupleTableSlot *slot, const Cell *cell,
							   Datum *values, bool *nulls);

/* Ask for groups that have a witness; to be called once, before the first row is read. */
extern void anonymizer_ask_witness(Anonymizer *anonymizer, RowWitness witness, void *arg);
/* Return true if a class, given by its codes at level 0, has a witness: a ClassTest of the anonymizer. */
extern bool anonymizer_test_witness(void *anonymizer, const int32 *codes);
/* Mark the cells of known classes that have a witness. */
extern void anonymizer_mark_witnessed(Anonymizer *anonymizer);

/* counting.c */

/*
 * Recode the whole source; afterwards anonymizer->classes has every class.  With keep, create
 * a shuffle there and put the rows into it in the layout published, which then has all columns
 * that counting needs.  Return 0 or, if memory is bounded and the classes have outgrown it,
 * the number of rows read until then: only the kept rows and the distributions are complete.
 */
extern int64 anonymizer_recode(Anonymizer *anonymizer, Shuffle **keep, bool bounded);
/* Drop the notes, if there are any. */
extern void anonymizer_drop_notes(Anonymizer *anonymizer);
/* Read the whole source for its distributions, if t asks for them and they are not known. */
extern void anonymizer_learn_distributions(Anonymizer *anonymizer);
/* Return how many rows the planner expects of the whole source. */
extern double anonymizer_expected_rows(const Anonymizer *anonymizer);

#endif
