/*
 * relation.c
 *		Reading any relation by the classes of some columns.
 */
#include "base/kanon.h"

#include "quality/relation.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/as_owner.h"
#include "base/extension.h"
#include "base/progress.h"

#define FETCH_ROWS 10000

/* Raise an error unless a relation has rows. */
static void
check_has_rows(Relation rel)
{
	switch (rel->rd_rel->relkind)
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_MATVIEW:
		case RELKIND_VIEW:
		case RELKIND_FOREIGN_TABLE:
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" has no rows to look at", RelationGetRelationName(rel)),
					 errhint("Give a table, a view, a materialized view or a foreign table.")));
	}
}

/* Return a column of a relation as SQL, and set its type; PostgreSQL checks the rights when the query runs. */
char *
relation_column(const ClassedRelation *relation, const char *name, Oid *type)
{
	Oid relid = relation->relid;
	AttrNumber attnum = get_attnum(relid, name);

	if (attnum <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("relation \"%s\" has no column \"%s\"", get_rel_name(relid), name)));
	*type = get_atttype(relid, attnum);
	return psprintf("r.%s", quote_identifier(name));
}

/*
 * Add a column to the classes, and to the condition for suppressed rows: a row is
 * suppressed if each column covers everything.  A column that cannot do so rules
 * suppressed rows out.
 */
static void
relation_add_column(ClassedRelation *relation, const char *name, StringInfo suppressed)
{
	Oid type;
	char *column = relation_column(relation, name, &type);

	if (type != kanon_generalized_type())
		relation->suppressed = "false";
	appendStringInfo(suppressed, "%s%s.generalized_text(%s) OPERATOR(pg_catalog.=) '*'",
					 relation->columns ? " AND " : "", KANON_SCHEMA, column);
	relation->columns = lappend(relation->columns, column);
	relation->types = lappend_oid(relation->types, type);
	relation->list = relation->list ? psprintf("%s, %s", relation->list, column) : column;
}

/* Lock a relation, and return the parts of queries by the classes of some columns. */
ClassedRelation *
relation_for_classes(Oid relid, ArrayType *names)
{
	ClassedRelation *relation = palloc0(sizeof(ClassedRelation));
	StringInfoData suppressed;
	Relation rel;
	Datum *values;
	bool *nulls;
	int count;

	rel = try_relation_open(relid, AccessShareLock);
	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	check_has_rows(rel);
	relation->relid = relid;
	relation->owner = rel->rd_rel->relowner;
	relation->name = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
												RelationGetRelationName(rel));
	relation_close(rel, NoLock);
	initStringInfo(&suppressed);
	deconstruct_array(names, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("a name in quasi_ids is null")));
		relation_add_column(relation, TextDatumGetCString(values[i]), &suppressed);
	}
	if (count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("quasi_ids names no column")));
	if (relation->suppressed == NULL)
		relation->suppressed = psprintf("coalesce(%s, false)", suppressed.data);
	return relation;
}

/* Start to query a relation: see relation.h. */
void
relation_start(const ClassedRelation *relation, AsOwner *scope)
{
	as_owner_start(scope, relation->owner, NULL);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

/* End the queries of a relation. */
void
relation_end(const AsOwner *scope)
{
	SPI_finish();
	as_owner_end(scope);
}

/*
 * Call a function for each row of a query.  It runs in a memory context that is reset
 * after each batch of rows.
 */
void
relation_visit(const char *query, RowFunction function, void *arg)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon classes", ALLOCSET_DEFAULT_SIZES);
	SPIPlanPtr plan = SPI_prepare_cursor(query, 0, NULL, CURSOR_OPT_PARALLEL_OK);
	Portal portal;
	int64 done = 0;

	if (plan == NULL)
		elog(ERROR, "could not prepare a query: %s", SPI_result_code_string(SPI_result));
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	do
	{
		MemoryContext old;

		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		old = MemoryContextSwitchTo(work);
		for (uint64 i = 0; i < SPI_processed; i++)
			function(arg, SPI_tuptable->vals[i], SPI_tuptable->tupdesc);
		MemoryContextSwitchTo(old);
		MemoryContextReset(work);
		SPI_freetuptable(SPI_tuptable);
		progress_done(done += SPI_processed);
		CHECK_FOR_INTERRUPTS();
	} while (SPI_processed > 0);
	SPI_cursor_close(portal);
	MemoryContextDelete(work);
}
