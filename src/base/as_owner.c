/*
 * as_owner.c
 *		Switching to the owner of a relation and back.
 */
#include "base/as_owner.h"

#include "miscadmin.h"
#include "utils/guc.h"

/* From now on nothing can change who is the user, or leave settings behind. */
void
as_owner_start(AsOwner *scope, Oid owner)
{
	scope->nest_level = NewGUCNestLevel();
	GetUserIdAndSecContext(&scope->user, &scope->security_context);
	SetUserIdAndSecContext(owner, scope->security_context | SECURITY_RESTRICTED_OPERATION);
}

void
as_owner_end(const AsOwner *scope)
{
	AtEOXact_GUC(false, scope->nest_level);
	SetUserIdAndSecContext(scope->user, scope->security_context);
}
