/*
 * citus.c
 *		Sources that Citus reads on other servers.
 */
#include "base/kanon.h"

#include "source/citus.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/guc.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/*
 * Return true if Citus is installed here.  This is called for every plan, so it looks at
 * the catalog only if the library is loaded.
 */
bool
citus_is_here(void)
{
	return GetConfigOption("citus.shard_count", true, false) != NULL && OidIsValid(get_extension_oid("citus", true));
}

/*
 * Return true if Citus has planned a query.  Citus plans the whole of a query that names
 * one of its tables; the nodes that run on this server stand above its node.
 */
static bool
is_read_elsewhere(const Plan *plan)
{
	while (plan && !IsA(plan, CustomScan))
		plan = IsA(plan, SubqueryScan) ? ((const SubqueryScan *) plan)->subplan : plan->lefttree;
	return plan && strncmp(((const CustomScan *) plan)->methods->CustomName, "Citus", strlen("Citus")) == 0;
}

/*
 * Return the role to run a plan as.  A plan that reads with the rights of several roles
 * has none: Citus then asks as the current user, and is refused.
 */
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

/* Return true if a function belongs to neither a role nor a superuser: for check_functions_in_node(). */
static bool
is_of_third_role(Oid function, void *reader)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	return owner != *(Oid *) reader && !superuser_arg(owner);
}

/* Find code of a third role in a query, and return true to stop the walk: a function, or the checks of a domain. */
static bool
third_role_walker(Node *node, void *reader)
{
	if (node == NULL)
		return false;
	if (IsA(node, CoerceToDomain) && DomainHasConstraints(((CoerceToDomain *) node)->resulttype))
		return true;
	if (check_functions_in_node(node, is_of_third_role, reader))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, third_role_walker, reader, 0);
	return expression_tree_walker(node, third_role_walker, reader);
}

/*
 * Refuse a query that is run as another role but calls a function that may ask for
 * current_user, which in any view is the reader; or code of a third role, which would
 * get rights that its caller does not have.
 */
void
citus_check(const PlannedStmt *plan, Query *query)
{
	Oid reader = citus_reader(plan);

	if (!OidIsValid(reader))
		return;
	if (contain_mutable_functions((Node *) query))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a source that Citus reads on other servers calls a function that is not immutable"),
				 errdetail("Its rows might depend on who reads the anonymization view, but Citus is to read them as the view's owner.")));
	if (third_role_walker((Node *) query, &reader))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a source that Citus reads on other servers runs code of a third role"),
				 errdetail("Citus is to read it as the view's owner, whose rights are not for functions of other roles, nor for checks of domains."),
				 errhint("Let the view's owner own the functions.")));
}

/*
 * Keep messages from the client: with citus.log_remote_commands, or at a debug level,
 * Citus quotes conditions.
 */
void
citus_hush(void)
{
	if (citus_is_here())
		(void) set_config_option("client_min_messages", "error", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
								 false);
}
