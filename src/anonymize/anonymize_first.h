/*
 * anonymize_first.h
 *		Anonymize-then-Select: every row of the source, as it is published.
 *
 * With conditions, only the rows that satisfy them are given; where reading the
 * source twice would cost more or is impossible, others are given, too.
 */
#ifndef KANON_ANONYMIZE_FIRST_H
#define KANON_ANONYMIZE_FIRST_H

#include "executor/tuptable.h"

#include "anonymize/anonymizer.h"
#include "anonymize/row_source.h"
#include "recode/recode.h"

extern const RowSourceMethods anonymize_first_methods;

typedef struct AnonymizeFirst AnonymizeFirst; /* a RowSource */

/* Start a source of rows beside what they are made from, for the owner of the view, who may see their order, too. */
extern AnonymizeFirst *anonymize_first_start_with_source(const RowRequest *request);
extern Anonymizer *anonymize_first_anonymizer(AnonymizeFirst *rows);
/* Return the source's row behind the last published row, and set its cell, or NULL for a row in no group. */
extern TupleTableSlot *anonymize_first_current(const AnonymizeFirst *rows, const Cell **cell);

#endif
