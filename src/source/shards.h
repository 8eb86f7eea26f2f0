/*
 * shards.h
 *		Sources on other servers, whose classes are counted there.
 *
 * A foreign table, or a table with foreign partitions, is asked for one GROUP BY per
 * partition, all of them in one UNION ALL: PostgreSQL sends each of these to its server
 * and runs them at the same time.  The counts are added up in the histogram.
 */
#ifndef KANON_SHARDS_H
#define KANON_SHARDS_H

#include "aview/aview.h"

#include "utils/snapshot.h"

/* Return true if a foreign table gives the same rows twice in one transaction. */
extern bool foreign_table_is_stable(Oid table);

/* Return true if the source has rows on other servers that can be grouped there. */
extern bool shards_exist(const AView *aview);

/*
 * Return a query for the groups of rows that agree in some columns of the view: it gives
 * these columns, then the number of rows.  Return NULL if shards cannot group the source.
 */
extern Query *shards_groups(const AView *aview, List *columns);

/* Return true if no row lacks an identifier, and no two are about the same individual; the shards are asked. */
extern bool shards_ids_are_unique(const AView *aview, Snapshot snapshot);

#endif
