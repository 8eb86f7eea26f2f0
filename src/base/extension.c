/*
 * extension.c
 *		The extension's own objects, found by name in the schema kanon.
 *
 * OIDs are cached until a change of the schema, of one of the relations or of types is
 * announced, so that they survive neither a DROP EXTENSION nor an ALTER ... SET SCHEMA,
 * in this session or in another one.
 */
#include "base/kanon.h"

#include "base/extension.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "base/as_owner.h"

/* A table that every version of the extension has. */
#define OWNED_TABLE "aview"

/* Relations beyond this number are looked up each time: most are tables of materialized views. */
#define MAX_FOUND 64

/* A relation of the schema kanon that was found by its name. */
typedef struct FoundRelation
{
	NameData name; /* hash key */
	Oid relation;
} FoundRelation;

/* The OIDs found so far; NULL or InvalidOid if an object has to be looked up. */
static HTAB *found_relations = NULL;
static Oid found_namespace = InvalidOid;
static Oid found_owner = InvalidOid; /* valid only while found_relations has OWNED_TABLE */
static Oid found_generalized = InvalidOid;

/* Counts calls of forget_found(): an OID that was being looked up during one may be out of date. */
static uint64 times_forgotten = 0;

/* Forget all OIDs. */
static void
forget_found(void)
{
	if (found_relations)
		hash_destroy(found_relations);
	found_relations = NULL;
	found_namespace = found_owner = found_generalized = InvalidOid;
	times_forgotten++;
}

/* Return true if the OID of a relation is cached. */
static bool
is_found(Oid relation)
{
	HASH_SEQ_STATUS status;
	FoundRelation *entry;

	if (found_relations == NULL)
		return false;
	hash_seq_init(&status, found_relations);
	while ((entry = hash_seq_search(&status)) != NULL)
	{
		if (entry->relation == relation)
		{
			hash_seq_term(&status);
			return true;
		}
	}
	return false;
}

/* Forget all OIDs if one of the relations, or any relation, may have changed: a relcache callback. */
static void
forget_relation(Datum arg, Oid relation)
{
	if (!OidIsValid(relation) || is_found(relation))
		forget_found();
}

/* Forget all OIDs, as a schema or a type may have changed: a syscache callback. */
static void
forget_object(Datum arg, int cache, uint32 hash)
{
	forget_found();
}

/* Ask for the announcements of changes; called once when the library is loaded. */
void
extension_init(void)
{
	CacheRegisterRelcacheCallback(forget_relation, (Datum) 0);
	CacheRegisterSyscacheCallback(NAMESPACEOID, forget_object, (Datum) 0);
	CacheRegisterSyscacheCallback(TYPEOID, forget_object, (Datum) 0);
}

/* Return the OID of the schema kanon; InvalidOid if there is none and missing_ok is true. */
Oid
kanon_namespace(bool missing_ok)
{
	uint64 before = times_forgotten;
	Oid namespace;

	if (OidIsValid(found_namespace))
		return found_namespace;
	namespace = get_namespace_oid(KANON_SCHEMA, missing_ok);
	if (before == times_forgotten)
		found_namespace = namespace;
	return namespace;
}

/* Keep the OID of a relation. */
static void
keep_relation(const char *name, Oid relation)
{
	HASHCTL control = {.keysize = NAMEDATALEN, .entrysize = sizeof(FoundRelation)};
	FoundRelation *entry;

	if (found_relations == NULL)
		found_relations = hash_create("kanon relations", 32, &control, HASH_ELEM | HASH_STRINGS);
	entry = hash_search(found_relations, name, HASH_ENTER, NULL);
	entry->relation = relation;
}

/* Return the OID of a table or index of the extension; raise an error if it does not exist. */
Oid
kanon_relation(const char *name)
{
	FoundRelation *entry = found_relations ? hash_search(found_relations, name, HASH_FIND, NULL) : NULL;
	uint64 before = times_forgotten;
	Oid relation;

	Assert(strlen(name) < NAMEDATALEN);
	if (entry)
		return entry->relation;
	relation = get_relname_relid(name, kanon_namespace(false));
	if (!OidIsValid(relation))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s.%s\" does not exist", KANON_SCHEMA, name),
				 errhint("Run CREATE EXTENSION kanon, or ALTER EXTENSION kanon UPDATE.")));
	if (before == times_forgotten && (found_relations == NULL || hash_get_num_entries(found_relations) < MAX_FOUND))
		keep_relation(name, relation);
	return relation;
}

/* Return the owner of the extension's tables. */
Oid
kanon_owner(void)
{
	uint64 before = times_forgotten;
	Relation rel;
	Oid owner;

	if (OidIsValid(found_owner))
		return found_owner;
	rel = table_open(kanon_relation(OWNED_TABLE), AccessShareLock);
	owner = rel->rd_rel->relowner;
	if (before == times_forgotten)
	{
		keep_relation(OWNED_TABLE, RelationGetRelid(rel));
		found_owner = owner;
		Assert(is_found(RelationGetRelid(rel)));
	}
	table_close(rel, AccessShareLock);
	return owner;
}

/* Return the OID of the type kanon.generalized; raise an error if it does not exist. */
Oid
kanon_generalized_type(void)
{
	uint64 before = times_forgotten;
	Oid type;

	if (OidIsValid(found_generalized))
		return found_generalized;
	type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum("generalized"),
						   ObjectIdGetDatum(kanon_namespace(false)));
	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("type \"%s.generalized\" does not exist", KANON_SCHEMA)));
	if (before == times_forgotten)
		found_generalized = type;
	return type;
}

/* Return true if a function is in the schema kanon, and has the given name unless that is NULL. */
bool
kanon_is_function(Oid function, const char *name)
{
	HeapTuple tuple;
	Form_pg_proc form;
	bool result;

	/*
	 * PostgreSQL's own functions belong to no extension; extensions created in single-user
	 * mode have OIDs above these, too.
	 */
	if (function < FirstGenbkiObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	result = form->pronamespace == kanon_namespace(true) && (name == NULL || strcmp(NameStr(form->proname), name) == 0);
	ReleaseSysCache(tuple);
	return result;
}

/* Return the trigger that a function was called for; raise an error if the call is not by such a trigger. */
TriggerData *
kanon_trigger(FunctionCallInfo fcinfo, const char *table, bool for_each_row)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) || (TRIGGER_FIRED_FOR_ROW(trigger->tg_event) != 0) != for_each_row ||
		RelationGetNamespace(trigger->tg_relation) != kanon_namespace(false) ||
		(table && strcmp(RelationGetRelationName(trigger->tg_relation), table) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function %s.%s is for the triggers of %s's tables only", KANON_SCHEMA,
						get_func_name(fcinfo->flinfo->fn_oid), KANON_SCHEMA)));
	return trigger;
}

/* Run a command with the rights of the extension's owner. */
void
kanon_execute(const char *command, int nargs, Oid *types, Datum *values, const char *nulls)
{
	AsOwner scope;

	Assert(nargs == 0 || (types != NULL && values != NULL));
	as_kanon_start(&scope, kanon_owner());
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args(command, nargs, types, values, nulls, false, 0) < 0)
		elog(ERROR, "could not run \"%s\"", command);
	SPI_finish();
	as_owner_end(&scope);
}

/* Run a query with the rights of the extension's owner, and append its rows to a tuplestore. */
void
kanon_select(const char *query, Tuplestorestate *rows)
{
	AsOwner scope;

	as_kanon_start(&scope, kanon_owner());
	if (SPI_connect() != SPI_OK_CONNECT || SPI_execute(query, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read the tables of extension \"%s\"", KANON_SCHEMA);
	for (uint64 i = 0; i < SPI_processed; i++)
		tuplestore_puttuple(rows, SPI_tuptable->vals[i]);
	SPI_finish();
	as_owner_end(&scope);
}
