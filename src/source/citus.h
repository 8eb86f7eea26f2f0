/*
 * citus.h
 *		Sources that Citus reads on other servers.
 *
 * It asks them as the current user.  Whoever reads an A-view has no rights there,
 * so the source is run as the one whose rights it is read with.
 */
#ifndef KANON_SCAN_CITUS_H
#define KANON_SCAN_CITUS_H

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

/* Is there Citus in this database? */
extern bool citus_is_here(void);
/* The role to run a plan as, where Citus is to ask others for its rows and the current user may not; otherwise none. */
extern Oid citus_reader(const PlannedStmt *plan);
/* An error if a query that is run as another role might notice. */
extern void citus_check(const PlannedStmt *plan, Query *query);
/* Until the end of the level of settings at hand, the client is not told what the others are asked. */
extern void citus_hush(void);

#endif
