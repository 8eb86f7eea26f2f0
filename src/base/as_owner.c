/*
 * as_owner.c
 *		Running code of other roles, and kanon's own commands, with the right rights.
 */
#include "base/kanon.h"

#include "base/as_owner.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/guc.h"

#include "base/settings.h"

/* Become a role, restricted, with settings or with the search_path that kanon's own commands are written for. */
static void
become(AsOwner *scope, Oid role, PinnedSettings *settings)
{
	Assert(OidIsValid(role));
	scope->nest_level = NewGUCNestLevel();
	GetUserIdAndSecContext(&scope->user, &scope->security_context);
	SetUserIdAndSecContext(role, scope->security_context | SECURITY_RESTRICTED_OPERATION);
	if (settings)
		(void) settings_enter(settings);
	else
		(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
								 true, 0, false);
}

void
as_owner_start(AsOwner *scope, Oid owner, PinnedSettings *settings)
{
	become(scope, has_privs_of_role(GetUserId(), owner) ? owner : GetUserId(), settings);
}

void
as_kanon_start(AsOwner *scope, Oid owner)
{
	become(scope, owner, NULL);
}

void
as_reader_start(AsOwner *scope, Oid reader, PinnedSettings *settings)
{
	Assert(settings != NULL);
	become(scope, reader, settings);
}

void
as_owner_end(const AsOwner *scope)
{
	Assert(OidIsValid(scope->user));
	Assert(scope->nest_level > 0);
	AtEOXact_GUC(false, scope->nest_level);
	SetUserIdAndSecContext(scope->user, scope->security_context);
}
