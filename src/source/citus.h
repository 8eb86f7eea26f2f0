/*
 * citus.h
 *		Sources that Citus reads on other servers.
 *
 * Citus asks the other servers as the current user.  The reader of an A-view has no
 * rights on its source, so the source is run as the role whose rights it is read with.
 */
#ifndef KANON_CITUS_H
#define KANON_CITUS_H

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

/* Return true if Citus is installed in this database. */
extern bool citus_is_here(void);
/*
 * Return the role to run a plan as, if Citus reads it on other servers and the current
 * user may not; otherwise InvalidOid.
 */
extern Oid citus_reader(const PlannedStmt *plan);
/* Raise an error if a query that is run as another role might depend on the role. */
extern void citus_check(const PlannedStmt *plan, Query *query);
/* Keep the commands that Citus sends from the client, until the present GUC nest level ends. */
extern void citus_hush(void);

#endif
