/*
 * as_owner.c
 *		Switching to the owner of an object and back.
 */
#include "base/kanon.h"

#include "base/as_owner.h"

#include "miscadmin.h"
#include "utils/guc.h"

/* Switch to a role; as_owner.h says which flags to add. */
void
as_owner_start(AsOwner *scope, Oid owner, int flags)
{
	Assert(OidIsValid(owner));
	Assert(flags != 0);
	Assert((flags & ~(SECURITY_RESTRICTED_OPERATION | SECURITY_LOCAL_USERID_CHANGE)) == 0);
	scope->nest_level = NewGUCNestLevel();
	GetUserIdAndSecContext(&scope->user, &scope->security_context);
	SetUserIdAndSecContext(owner, scope->security_context | flags);
}

/* Restore the user and the settings that were in force at the start. */
void
as_owner_end(const AsOwner *scope)
{
	Assert(OidIsValid(scope->user));
	Assert(scope->nest_level > 0);
	AtEOXact_GUC(false, scope->nest_level);
	SetUserIdAndSecContext(scope->user, scope->security_context);
}
