/*
 * stored.h
 *		Reading the stored groups of a materialized A-view.
 *
 * The groups are anonymous already: groups joined with their members are a relation
 * of published rows.  It takes the place of the source, so that a query over it is
 * made, planned and run like one over the source.
 */
#ifndef KANON_STORED_H
#define KANON_STORED_H

#include "nodes/params.h"
#include "utils/snapshot.h"

#include "anonymize/row_source.h"
#include "aview/aview.h"

/* Return the query of a text over stored tables, which only kanon's owner may read, with that owner's rights. */
extern Query *stored_query(const char *text);
/* Return true if each row of the view has a k of its own. */
extern bool stored_is_personal(const AView *aview);
/* Return the condition, starting with AND, or "", that members m of groups g are shown, for the text of a query. */
extern const char *stored_shown(const AView *aview);

/*
 * Return the same view with its published rows as its source.  Whenever such a source is read, the rights of
 * the view's owner on the view's own source are checked.
 */
extern AView *stored_view(const AView *aview);

/*
 * Return a condition by which an index finds the groups for which a column AVLIKE a value
 * of some type holds; NULL: there is none.  The view is one of stored_view().
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
