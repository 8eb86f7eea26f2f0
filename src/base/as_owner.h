/*
 * as_owner.h
 *		Running other people's code with their own rights.
 *
 * What a relation is made of, functions of a view, of its types, of policies and
 * indexes, belongs to its owner, and must not run with the rights of whoever
 * looks after it.  An error on the way restores the user, too: PostgreSQL does so
 * when it ends the transaction or the subtransaction.
 */
#ifndef KANON_ASOWNER_H
#define KANON_ASOWNER_H

#include "base/kanon.h"

typedef struct AsOwner
{
	Oid user;
	int security_context;
	int nest_level;
} AsOwner;

extern void as_owner_start(AsOwner *scope, Oid owner);
extern void as_owner_end(const AsOwner *scope);

#endif
