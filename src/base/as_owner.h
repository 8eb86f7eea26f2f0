/*
 * as_owner.h
 *		Running code as the owner of the object that it belongs to.
 *
 * Functions that a view, its types, policies and indexes call belong to the owner
 * of the view, and must not run with the rights of the role that looks after it.
 * This is the only place of kanon that changes the current user.  After an error
 * PostgreSQL restores the user and the settings when it ends the transaction or
 * the subtransaction.
 */
#ifndef KANON_AS_OWNER_H
#define KANON_AS_OWNER_H

typedef struct AsOwner
{
	Oid user;			  /* the user before */
	int security_context; /* the flags in force before */
	int nest_level;		  /* of settings: as_owner_end() undoes all that are made inside */
} AsOwner;

/*
 * Switch to an owner.  The flags are PostgreSQL's, from miscadmin.h, and are added
 * to the flags in force: SECURITY_RESTRICTED_OPERATION where code of the owner may
 * run, so that it can leave neither settings nor deferred commands behind;
 * SECURITY_LOCAL_USERID_CHANGE where the session must not change its role.
 */
extern void as_owner_start(AsOwner *scope, Oid owner, int flags);

/* Switch back; scopes end in the reverse order of their starts. */
extern void as_owner_end(const AsOwner *scope);

#endif
