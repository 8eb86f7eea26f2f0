/*
 * kanon.c
 *		Module start: one init call per component.
 */
#include "base/kanon.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "fmgr.h"
#include "catalog/pg_type.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "hierarchy/dgh.h"
#include "matview/matview.h"
#include "policy/policy.h"
#include "base/progress.h"
#include "scan/aviewscan.h"
#include "join/join.h"
#include "base/trigger.h"

PG_MODULE_MAGIC;

void _PG_init(void);

void
_PG_init(void)
{
	progress_init();
	dgh_cache_init();
	aview_planner_init();
	avlike_join_init();
	aview_explain_init();
	matview_init();
	policy_init();
	kanon_reserve_settings(KANON_SCHEMA);
}

Oid
kanon_relation(const char *name)
{
	Oid namespace = get_namespace_oid(KANON_SCHEMA, false);
	Oid relation = get_relname_relid(name, namespace);

	if (!OidIsValid(relation))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s.%s\" does not exist", KANON_SCHEMA, name),
				 errhint("Run CREATE EXTENSION kanon, or ALTER EXTENSION kanon UPDATE.")));
	return relation;
}

Oid
kanon_owner(void)
{
	Relation rel = table_open(kanon_relation(AVIEW_TABLE), AccessShareLock);
	Oid owner = rel->rd_rel->relowner;

	table_close(rel, AccessShareLock);
	return owner;
}

TriggerData *
kanon_trigger(FunctionCallInfo fcinfo, const char *table, bool for_each_row)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) || (TRIGGER_FIRED_FOR_ROW(trigger->tg_event) != 0) != for_each_row ||
		RelationGetNamespace(trigger->tg_relation) != get_namespace_oid(KANON_SCHEMA, false) ||
		(table && strcmp(RelationGetRelationName(trigger->tg_relation), table) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function %s.%s is for the triggers of %s's tables only", KANON_SCHEMA,
						get_func_name(fcinfo->flinfo->fn_oid), KANON_SCHEMA)));
	return trigger;
}

Oid
kanon_generalized_type(void)
{
	Oid type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum("generalized"),
							   ObjectIdGetDatum(get_namespace_oid(KANON_SCHEMA, false)));

	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("type \"%s.generalized\" does not exist", KANON_SCHEMA)));
	return type;
}
