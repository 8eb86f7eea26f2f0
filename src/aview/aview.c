/*
 * aview.c
 *		Questions about the definition of an A-view.
 */
#include "base/kanon.h"

#include "aview/aview.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "base/extension.h"

/* Raise an error for a materialized view: its stored groups were made for the policy and the steps that it has. */
void
aview_check_not_materialized(const AView *aview)
{
	if (aview->materialized)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the definition of materialized anonymization view \"%s\" cannot be changed",
						get_rel_name(aview->view)),
				 errdetail("Its stored groups were formed by this definition."),
				 errhint("If earlier answers may be compared with new ones, drop the view and create it again.")));
}

/*
 * Raise an error for a materialized view, where the caller computes from the rows of
 * the source: the view has published its stored groups, not results of its source.
 */
void
aview_check_logical(const AView *aview)
{
	if (aview->materialized)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this is not supported for materialized anonymization view \"%s\"",
						get_rel_name(aview->view)),
				 errhint("kanon.groups shows its stored groups, and kanon.k_anonymity measures what it publishes.")));
}

/* Return the type in which a column is published. */
Oid
aview_column_type(const AView *aview, int column)
{
	Assert(column >= 0 && column < aview->ncolumns);
	return aview->columns[column].generalized ? kanon_generalized_type() : aview->columns[column].source_type;
}

/* Raise an error unless a column is published in a type: a call of kanon.scan says itself which columns it expects. */
void
aview_check_type(const AView *aview, int column, Oid type)
{
	if (column >= aview->ncolumns || type != aview_column_type(aview, column))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column %d of anonymization view \"%s\" is not of type %s", column + 1,
						get_rel_name(aview->view), format_type_be(type)),
				 errhint("Query the view itself.")));
}

/*
 * Return the column of a single plain table that a column of the view, or of its profile's key, is, and set the
 * table; 0 if it is none.
 */
AttrNumber
aview_base_column(const AView *aview, int index, Oid *table)
{
	Query *source = aview->rows;
	TargetEntry *entry = list_nth_node(TargetEntry, source->targetList, index);
	Var *var = (Var *) entry->expr;
	RangeTblEntry *rte;

	Assert(index >= 0 && index < aview->nkeyed);
	if (source->setOperations || source->groupClause || source->hasAggs || source->hasTargetSRFs ||
		list_length(source->jointree->fromlist) != 1 || !IsA(linitial(source->jointree->fromlist), RangeTblRef) ||
		!IsA(var, Var) || var->varlevelsup != 0)
		return 0;
	rte = rt_fetch(var->varno, source->rtable);
	if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_RELATION)
		return 0;
	*table = rte->relid;
	return var->varattno;
}

/* Return true if a column of a table is declared NOT NULL. */
static bool
column_not_null(Oid table, AttrNumber attnum)
{
	HeapTuple tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(table), Int16GetDatum(attnum));
	bool result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = ((Form_pg_attribute) GETSTRUCT(tuple))->attnotnull;
	ReleaseSysCache(tuple);
	return result;
}

/* Return true if an index rules out two rows with equal values in some columns of its table. */
bool
aview_index_is_key(Oid index, const Bitmapset *columns)
{
	HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	Form_pg_index form;
	bool result;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_index) GETSTRUCT(tuple);
	result = form->indisunique && form->indisvalid && form->indimmediate &&
			 heap_attisnull(tuple, Anum_pg_index_indpred, NULL);
	for (int i = 0; result && i < form->indnkeyatts; i++)
		result = form->indkey.values[i] > 0 && bms_is_member(form->indkey.values[i], columns);
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Return true if every row is an individual of its own: if there are no identifiers,
 * or if they contain a key of the one table that the rows come from.
 */
bool
aview_counts_rows(const AView *aview)
{
	Bitmapset *columns = NULL;
	Oid table = InvalidOid;
	bool any = false;
	bool result = false;
	Relation rel;
	ListCell *cell;

	for (int i = 0; i < aview->ncolumns; i++)
	{
		AttrNumber attnum;

		if (aview->columns[i].role != ROLE_ID)
			continue;
		any = true;
		attnum = aview_base_column(aview, i, &table);
		if (attnum > 0 && column_not_null(table, attnum))
			columns = bms_add_member(columns, attnum);
	}
	if (!any)
		return true;
	if (columns == NULL || has_subclass(table))
		return false;
	rel = relation_open(table, AccessShareLock);
	foreach (cell, RelationGetIndexList(rel))
		result = result || aview_index_is_key(lfirst_oid(cell), columns);
	relation_close(rel, NoLock);
	return result;
}

/* Return true if there may be rows that are published in groups. */
bool
aview_groups(const AView *aview)
{
	return aview->k > 1 || (aview->profile && aview->profile->k >= 0);
}

void
aview_check_select(Oid view)
{
	Oid schema = get_rel_namespace(view);
	AclResult result = kanon_schema_aclcheck(schema, GetUserId(), ACL_USAGE);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_SCHEMA, get_namespace_name(schema));
	result = pg_class_aclcheck(view, GetUserId(), ACL_SELECT);
	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_VIEW, get_rel_name(view));
}

/* Return true if the current user may read all rows and columns of a table. */
bool
relation_is_readable(Oid relation)
{
	return pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK &&
		   check_enable_rls(relation, InvalidOid, true) != RLS_ENABLED;
}

/*
 * Find a relation that the current user may not read.  A view in the source may be an
 * A-view, or have one below, so the relations that views read have to be readable, too.
 * The context is the OID of the view at hand, which its own query names.
 */
static bool
unreadable_walker(Node *node, void *view)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;
		Relation rel;
		bool result;

		if (rte->rtekind != RTE_RELATION || rte->relid == *(Oid *) view)
			return false;
		if (!relation_is_readable(rte->relid))
			return true;
		if (rte->relkind != RELKIND_VIEW)
			return false;
		check_stack_depth();
		rel = relation_open(rte->relid, AccessShareLock);
		result = unreadable_walker((Node *) get_view_query(rel), &rte->relid);
		relation_close(rel, AccessShareLock);
		return result;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, unreadable_walker, view, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, unreadable_walker, view);
}

/* Return true if the current user may read all of the source without the view. */
bool
aview_source_readable(const AView *aview)
{
	Oid view = aview->view;

	return !unreadable_walker((Node *) aview->source, &view);
}
