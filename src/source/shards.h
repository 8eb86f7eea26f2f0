/*
 * shards.h
 *		A source on other servers, which count its classes where its rows are.
 *
 * A foreign table, or a partitioned one with foreign partitions, is asked for
 * one GROUP BY per partition, all in one UNION ALL: that is what PostgreSQL sends
 * to the servers, and runs on all of them at a time.  The histogram adds up.
 */
#ifndef KANON_SHARDS_H
#define KANON_SHARDS_H

#include "aview/aview.h"

#include "utils/snapshot.h"

/* Whether a foreign table gives the same rows twice in one transaction. */
extern bool foreign_table_is_stable(Oid table);

/* Does the source have rows on other servers? */
extern bool shards_exist(const AView *aview);

/*
 * The groups of rows that agree in some columns of the view: those columns, then
 * the number of rows.  Null where the source is of no shape that shards can group.
 */
extern Query *shards_groups(const AView *aview, List *columns);

/* Is each row known to be about someone else?  The shards look. */
extern bool shards_ids_are_unique(const AView *aview, Snapshot snapshot);

#endif
