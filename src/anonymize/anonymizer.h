/*
 * anonymizer.h
 *		From rows of the source to published rows.
 *
 * An anonymizer serves one execution, or one materialized view as long as a backend
 * maintains it.  It holds the view's definition and hierarchies as they were when it
 * was created, codes rows and, once they are recoded, finds their cells.
 *
 * An anonymizer works on one row at a time: anonymizer_read() codes a row, and the
 * functions that name no row are about the row read last.  All memory is allocated in
 * the context that was current when the anonymizer was created, and goes with it; the
 * view's definition must outlive the anonymizer.
 *
 * The row sources of this folder see more of it: see anonymizer_private.h.
 */
#ifndef KANON_ANONYMIZER_H
#define KANON_ANONYMIZER_H

#include "executor/tuptable.h"
#include "nodes/bitmapset.h"
#include "utils/snapshot.h"

#include "aview/aview.h"
#include "recode/histogram.h"
#include "recode/recode.h"
#include "source/layout.h"

typedef struct Anonymizer Anonymizer;

/*
 * Create an anonymizer in the current memory context.  The columns wanted, numbered from
 * 0, are the columns of the view to publish.  The snapshot is for reading the
 * source, and may be InvalidSnapshot where the caller reads all rows itself.
 */
extern Anonymizer *anonymizer_create(AView *aview, const Bitmapset *wanted, Snapshot snapshot);

/* Return the recoder, which knows the privacy predicate and how cells are nested; it belongs to the anonymizer. */
extern Recoder *anonymizer_recoder(const Anonymizer *anonymizer);
/* Return the layout of the rows that are published: the wanted columns, quasi-identifiers and choices. */
extern const RowLayout *anonymizer_layout(const Anonymizer *anonymizer);
/* Set the columns of the view that are identifiers, in order, and return how many they are. */
extern int anonymizer_ids(const Anonymizer *anonymizer, const int **ids);

/*
 * Read a row of some layout into codes; counting: also its sensitive values and its
 * individual, for anonymizer_count(), so that the layout must have them.  Return false
 * for a row that is not shown at all, since its owner has chosen no k.
 */
extern bool anonymizer_read(Anonymizer *anonymizer, const RowLayout *layout, TupleTableSlot *slot, bool counting);
/* Return the row just read, in codes; the next call of anonymizer_read() overwrites it. */
extern const RecodeRow *anonymizer_row(const Anonymizer *anonymizer);
/* Return true if the row just read is published in a group, and not alone. */
extern bool anonymizer_groups(const Anonymizer *anonymizer);
/* Return the cell in which the row just read is published, or NULL if its class is unknown. */
extern Cell *anonymizer_cell(const Anonymizer *anonymizer);

/*
 * Recode rows that the caller reads: forget the distributions of earlier rows; count each
 * row just read into a histogram; set the distributions, once all rows have been counted;
 * and, after recode(), find cells in the histogram, which must stay until it is replaced
 * by another one or by NULL.  anonymizer_count() returns the row's class, or -1 for a row
 * in no group or without a histogram.
 */
extern void anonymizer_forget_distributions(Anonymizer *anonymizer);
extern int anonymizer_count(Anonymizer *anonymizer, Histogram *histogram);
extern void anonymizer_set_distributions(Anonymizer *anonymizer);
extern void anonymizer_set_classes(Anonymizer *anonymizer, Histogram *classes);

#endif
