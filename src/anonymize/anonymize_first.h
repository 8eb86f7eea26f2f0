/*
 * anonymize_first.h
 *		Anonymize first (the paper's Anonymize-then-Select): a source of all rows, as they are published.
 *
 * If the request has conditions, only the rows that satisfy them are given; but where
 * reading the rows twice would cost more or is impossible, others are given, too.
 */
#ifndef KANON_ANONYMIZE_FIRST_H
#define KANON_ANONYMIZE_FIRST_H

#include "executor/tuptable.h"

#include "anonymize/anonymizer.h"
#include "anonymize/row_source.h"
#include "recode/recode.h"

extern const RowSourceMethods anonymize_first_methods;

typedef struct AnonymizeFirst AnonymizeFirst; /* a RowSource */

/*
 * Start a source that also shows the row of the source behind each published row: for the
 * view's owner, who may see the order of the source, too.  The request must have neither
 * conditions nor a witness test.
 */
extern AnonymizeFirst *anonymize_first_start_with_source(const RowRequest *request);
/* Return the anonymizer of the rows, which has read the row behind the last published row. */
extern Anonymizer *anonymize_first_anonymizer(AnonymizeFirst *rows);
/*
 * Return the row of the source behind the last published row, in the layout of the
 * anonymizer, valid until the next row; set its cell, or NULL for a row in no group.
 */
extern TupleTableSlot *anonymize_first_current(const AnonymizeFirst *rows, const Cell **cell);

#endif
