/*
 * follow.h
 *		The triggers by which a materialized view follows changes of its source.
 */
#ifndef KANON_FOLLOW_H
#define KANON_FOLLOW_H

#include "aview/aview.h"

/*
 * Return true, and set the base table, if each row of the source comes from one row of that
 * table by a fixed rule, so that triggers there and on the choices can tell of every change.
 */
extern bool follow_possible(const AView *aview, Oid *base);
/* Return the tables that need the triggers: the base table, that of choices, and all below them. */
extern List *follow_tables(const AView *aview, Oid base);
/* Return true if one of some tables is a foreign one, which has no transition tables. */
extern bool follow_has_foreign(List *tables);
/* Return true if every change reaches the groups by triggers, as the source and its tables are now. */
extern bool follow_is_complete(const AView *aview);
/* Return true if an expression on a table needs a column that the table's transition tables do not have. */
extern bool follow_has_odd_column(Node *expression, Oid table);

/* Raise an error unless the view and some tables of its source are permanent, as the groups are. */
extern void follow_check_persistence(const AView *aview, List *tables);
/* Create the view's triggers on the tables of its source, with the rights of the current role. */
extern void follow_start(const AView *aview, Oid base);
/* Note that the groups of a view have missed changes: it says so when it is read, until it is refreshed. */
extern void follow_mark_stale(int32 id);

#endif
