/*
 * relation.c
 *		The checks before a relation is read by classes, and the parts of the queries
 *		that read it.
 */
#include "base/kanon.h"

#include "quality/relation.h"

#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteHandler.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/rls.h"

#include "aview/aview.h"
#include "base/extension.h"
#include "base/progress.h"
#include "policy/access.h"

#define FETCH_ROWS 10000

static void check_purpose_of(Oid view);

/*
 * Raise an error unless a relation has rows and the caller may see all of them: hidden
 * rows must not be counted for the caller.
 */
static void
check_all_visible(Relation rel)
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
	if (check_enable_rls(RelationGetRelid(rel), InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("row-level security hides rows of \"%s\" from you", RelationGetRelationName(rel)),
				 errhint("Only a role that sees all of its rows can count its classes.")));
}

/*
 * Check the purpose of each anonymization view below a query or range table entry: a tree
 * walker.
 *
 * A view with a profile is read for a purpose that must be granted to the caller, and not
 * only to the owner with whose rights the relation is read; also if it is below another
 * view.
 */
static bool
check_purpose(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, check_purpose, context, QTW_EXAMINE_RTES_BEFORE);
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		if (rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_VIEW && rte->relid != *(Oid *) context)
			check_purpose_of(rte->relid);
		return false;
	}
	return expression_tree_walker(node, check_purpose, context);
}

/* Check the purposes of a view and of the views below it. */
static void
check_purpose_of(Oid view)
{
	int32 id = aview_id_of(view);
	Relation rel;

	check_stack_depth();
	if (id != 0)
	{
		AView *aview = aview_load(id);

		if (aview->profile)
			access_check(view, aview->profile->purpose, aview->profile->recipient);
	}
	rel = relation_open(view, AccessShareLock);
	check_purpose((Node *) get_view_query(rel), &view);
	relation_close(rel, NoLock);
}

/* Return a column of a relation as SQL, and set its type; raise an error if the caller may not read it. */
char *
relation_column(const ClassedRelation *relation, const char *name, Oid *type)
{
	Oid relid = relation->relid;
	AttrNumber attnum = get_attnum(relid, name);

	if (attnum <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("relation \"%s\" has no column \"%s\"", get_rel_name(relid), name)));
	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck(relid, attnum, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error_col(ACLCHECK_NO_PRIV, OBJECT_COLUMN, get_rel_name(relid), name);
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

/*
 * Check that the caller may read some columns of a relation, and return the parts of
 * queries by their classes.
 */
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
	check_all_visible(rel);
	relation->relid = relid;
	relation->owner = rel->rd_rel->relowner;
	relation->name = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
												RelationGetRelationName(rel));
	if (rel->rd_rel->relkind == RELKIND_VIEW)
		check_purpose_of(relid);
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
