/*
 * stored.h
 *		Reading the stored groups of a materialized A-view.
 *
 * What is stored is anonymous already: groups joined with their members are a
 * relation of published rows.  It takes the place of the source, so that a query
 * over it is made, planned and run like one over the source.
 */
#ifndef KANON_SCAN_STORED_H
#define KANON_SCAN_STORED_H

#include "nodes/params.h"
#include "utils/snapshot.h"

#include "anonymize/row_source.h"
#include "aview/aview.h"

/* A query of stored tables, which nobody but their owner may read, to be run on anybody's behalf. */
extern Query *stored_query(const char *text);
/* Does each row have a k of its own? */
extern bool stored_is_personal(const AView *aview);
/* In a query of members m and their groups g: which of them are shown, as a further condition. */
extern const char *stored_shown(const AView *aview);

/* The same view with its published rows as its source. */
extern void stored_check_rights(const AView *aview);
extern AView *stored_view(const AView *aview);

/*
 * A condition that the groups of a column satisfy that AVLIKE holds for with a
 * value of some type, and an index can find; null if there is none.
 */
extern Node *stored_probe(const AView *stored, int column, Oid type, Datum value);

extern const RowSourceMethods stored_rows_methods;

typedef struct StoredRows StoredRows; /* a RowSource */

/* Set the columns of the last row as they are; the request must have asked for them. */
extern void stored_rows_raw(const StoredRows *rows, Datum *values, bool *nulls);
/* Return true if the last row is in no group. */
extern bool stored_rows_alone(const StoredRows *rows);
/* Return the k that the last row asks for, of all purposes. */
extern int stored_rows_k(const StoredRows *rows);

#endif
