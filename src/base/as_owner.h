/*
 * as_owner.h
 *		Running code of other roles, and kanon's own commands, with the right rights.
 *
 * This is the only place of kanon that changes the current user.  Code of other roles
 * is run by the functions of views, types, row policies and indexes.  Two rules hold:
 *
 * - Code of other roles gets neither more rights than the caller has, nor more than the
 *   owner of the object that it belongs to has.  So it runs as the owner if the
 *   caller has the owner's rights, and as the caller otherwise, as PostgreSQL runs the
 *   functions of a view.  The tables that a view reads are checked for the owner of
 *   the view in both cases; the planner and the executor see to that.
 * - Rights that the caller does not have are for commands that kanon itself has
 *   written: as_kanon_start().
 *
 * In either case the code runs in a security-restricted operation.  It can neither
 * change the role nor leave settings, temporary objects or deferred commands behind.
 * The caller's search_path is not in force.  After an error PostgreSQL
 * restores the user and the settings when it ends the transaction or subtransaction.
 */
#ifndef KANON_AS_OWNER_H
#define KANON_AS_OWNER_H

#include "base/settings.h"

typedef struct AsOwner
{
	Oid user;			  /* the user before */
	int security_context; /* the flags in force before */
	int nest_level;		  /* of settings: as_owner_end() undoes all that are made inside */
} AsOwner;

/*
 * Become the owner of an object, if the current user has the owner's rights.  The settings
 * are those of the view that the code belongs to; with NULL, names are found in pg_catalog.
 */
extern void as_owner_start(AsOwner *scope, Oid owner, PinnedSettings *settings);

/* Become the owner of kanon's tables, for commands that kanon has written. */
extern void as_kanon_start(AsOwner *scope, Oid owner);

/*
 * Become the role that a view's tables are read as, with more rights than the caller, for
 * an executor that asks the current user on other servers: only for plans that
 * citus_check() has found to run no code of third roles.
 */
extern void as_reader_start(AsOwner *scope, Oid reader, PinnedSettings *settings);

/* Switch back; scopes end in the reverse order of their starts. */
extern void as_owner_end(const AsOwner *scope);

#endif
