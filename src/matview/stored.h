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

typedef struct StoredRows StoredRows;

/* raw: the columns as they are can be asked for, too; conditions: on the columns of stored_view(aview) */
extern StoredRows *storedrows_start(const AView *aview, const Bitmapset *wanted, bool raw, Snapshot snapshot);
/* For the view's owner: the same order each time, which may tell of raw values. */
extern void storedrows_keep_order(StoredRows *rows);
/* Does a row, as it is and as far as its owner lets it be seen, satisfy the conditions asked of a witness? */
typedef bool (*StoredWitness)(void *arg, const Datum *values, const bool *nulls);
/* Only groups with a witness count; needs raw. */
extern void storedrows_ask_witness(StoredRows *rows, StoredWitness witness, void *arg);
/* Starts (again) with these conditions, those of them that groups are found by apart, and values of their parameters. */
extern void storedrows_rewind(StoredRows *rows, List *conditions, List *probes, ParamListInfo params);
extern bool storedrows_next(StoredRows *rows, Datum *values, bool *nulls);
/* The last row as it is; is it in no group; the k that it asks for, of all purposes. */
extern void storedrows_raw(const StoredRows *rows, Datum *values, bool *nulls);
extern bool storedrows_alone(const StoredRows *rows);
extern int storedrows_k(const StoredRows *rows);
extern void storedrows_end(StoredRows *rows);

#endif
