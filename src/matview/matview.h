/*
 * matview.h
 *		Materialized A-views: groups that are stored, and only ever generalize.
 *
 * A view with the number N has two ordinary tables in the schema kanon.
 * groups_N has a row per group: the step of the view's chain that it has come
 * to, how many members it has, its cell.  members_N has a row per row of the
 * source: its group (null while it waits), the step that it was once published
 * at (its floor), the values of the source and, where each row has a k of its own
 * (demand.c), that.
 *
 * A group publishes the largest set of its members in which no member has a k above
 * the size of the set: the first j in the order of their k, for the largest j that is
 * at least the k of the j-th member.
 * A row with a k of 0 or 1 has a group of its own, without a key, which no row joins.
 *
 * Cells of the chain are nested: a cell at one step lies in one cell at the next.
 * So the way of a row from the root down to its own values is a string, each cell
 * on its way a prefix of it, and a group's cell is the group's key.  Groups near a
 * row are near it in the order of keys, which is that of a btree.
 *
 * Statement triggers on the base table (follow.c) note the rows that a transaction
 * changes (feed.c).  Before it commits, and after all else that it does, the
 * transaction takes the lock of each view concerned, in the order of their numbers,
 * and brings the groups up to date (maintain.c).  A transaction that holds such a
 * lock waits for nothing but the next one, so no deadlock comes from it; and it holds
 * the lock for as long as the work takes, not from the statement on.
 *
 * This header is for other folders, as is stored.h, for reading the groups.
 */
#ifndef KANON_MATVIEW_H
#define KANON_MATVIEW_H

#include "aview/aview.h"

/* Register the callbacks that keep groups up to date; when the library is loaded. */
extern void matview_init(void);

/* Create and fill the tables of a view that has just been created, and its triggers if they can keep it. */
extern void matview_create(AView *aview);
/*
 * Return the definition of a materialized view; raise an error unless the current role
 * owns it and may read its source.
 */
extern AView *matview_load_owned(Oid view);
/* Return the steps of a view as text: no row can join groups that were made with other steps. */
extern char *matview_chain(const AView *aview);

/* Take the lock of a view, without which its groups do not change, for the rest of the transaction. */
extern void matview_lock(int32 id);
/*
 * Compare the groups of a view with its source, and bring in all that they have missed;
 * return how many rows were not as they should have been.
 */
extern int64 matview_reconcile(int32 id);
/* Delete all groups and members of a view; the caller holds its lock. */
extern void matview_delete_groups(int32 id);
/* Return true if the running transaction has changed the source of a view. */
extern bool matview_has_pending(int32 id);
/*
 * Create triggers that are gone, if the current role may, and warn of each table with changes that
 * do not reach the view, since triggers are disabled or still gone.
 */
extern void matview_restore_triggers(const AView *aview);

#endif
