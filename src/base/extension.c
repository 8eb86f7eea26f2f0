/*
 * extension.c
 *		The extension's own objects, found by name in the schema kanon.
 */
#include "base/kanon.h"

#include "base/extension.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "base/as_owner.h"

/* A table that every version of the extension has. */
#define OWNED_TABLE "aview"

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
	Relation rel = table_open(kanon_relation(OWNED_TABLE), AccessShareLock);
	Oid owner = rel->rd_rel->relowner;

	table_close(rel, AccessShareLock);
	return owner;
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

void
kanon_execute(const char *command, int nargs, Oid *types, Datum *values, const char *nulls)
{
	AsOwner scope;

	as_owner_start(&scope, kanon_owner(), SECURITY_LOCAL_USERID_CHANGE);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args(command, nargs, types, values, nulls, false, 0) < 0)
		elog(ERROR, "could not run \"%s\"", command);
	SPI_finish();
	as_owner_end(&scope);
}

void
kanon_select(const char *query, Tuplestorestate *rows)
{
	AsOwner scope;

	as_owner_start(&scope, kanon_owner(), SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	if (SPI_connect() != SPI_OK_CONNECT || SPI_execute(query, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read the tables of extension \"%s\"", KANON_SCHEMA);
	for (uint64 i = 0; i < SPI_processed; i++)
		tuplestore_puttuple(rows, SPI_tuptable->vals[i]);
	SPI_finish();
	as_owner_end(&scope);
}
