/*
 * citus.c
 *		Sources that Citus reads on other servers.
 */
#include "base/kanon.h"

#include "source/citus.h"

#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "optimizer/optimizer.h"
#include "utils/guc.h"

/* Asked for every plan: where its library is not loaded, as mostly, no catalog is looked at. */
bool
citus_is_here(void)
{
	return GetConfigOption("citus.shard_count", true, false) != NULL && OidIsValid(get_extension_oid("citus", true));
}

/* Citus plans all of a query that names a table of its own; what it leaves to do here stands above its node. */
static bool
is_read_elsewhere(const Plan *plan)
{
	while (plan && !IsA(plan, CustomScan))
		plan = IsA(plan, SubqueryScan) ? ((const SubqueryScan *) plan)->subplan : plan->lefttree;
	return plan && strncmp(((const CustomScan *) plan)->methods->CustomName, "Citus", strlen("Citus")) == 0;
}

/* With the rights of several there is none: Citus then asks as the current user, and is refused. */
Oid
citus_reader(const PlannedStmt *plan)
{
	Oid reader = InvalidOid;
	ListCell *cell;

	if (!citus_is_here() || !is_read_elsewhere(plan->planTree))
		return InvalidOid;
	foreach (cell, kanon_plan_permissions(plan))
	{
		const KanonPermission *permission = lfirst(cell);

		if (permission->requiredPerms == 0)
			continue;
		if (!OidIsValid(permission->checkAsUser) || (OidIsValid(reader) && permission->checkAsUser != reader))
			return InvalidOid;
		reader = permission->checkAsUser;
	}
	return reader == GetUserId() ? InvalidOid : reader;
}

/* current_user, and what may ask for it, is the reader of the view, as in any view. */
void
citus_check(const PlannedStmt *plan, Query *query)
{
	if (OidIsValid(citus_reader(plan)) && contain_mutable_functions((Node *) query))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a source that Citus reads on other servers calls a function that is not immutable"),
				 errdetail("Its rows might depend on who reads the anonymization view, but Citus is to read them as the view's owner.")));
}

/* With citus.log_remote_commands, or where debugging messages are shown, Citus quotes conditions. */
void
citus_hush(void)
{
	if (citus_is_here())
		(void) set_config_option("client_min_messages", "error", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}
