/*
 * shards.c
 *		Queries that let other servers count the classes of a source.
 */
#include "base/kanon.h"

#include "source/shards.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "foreign/foreign.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_oper.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/pg_locale.h"
#include "utils/rel.h"

#include "aview/aview.h"
#include "base/typekind.h"
#include "source/source.h"

/* The range table index of the table in a source that shards can group. */
#define TABLE_RTI 1

/*
 * Return true if a foreign table gives the same rows twice.  postgres_fdw reads in one
 * remote transaction with one snapshot for as long as the local transaction lasts; about
 * other wrappers nothing is known.
 */
bool
foreign_table_is_stable(Oid table)
{
	ForeignServer *server = GetForeignServer(GetForeignTable(table)->serverid);
	Oid handler = GetForeignDataWrapper(server->fdwid)->fdwhandler;
	char *name = OidIsValid(handler) ? get_func_name(handler) : NULL;

	return name && strcmp(name, "postgres_fdw_handler") == 0;
}

/* Return the table of a source that consists of columns and conditions of one table, or InvalidOid. */
static Oid
only_table(const Query *source)
{
	RangeTblEntry *rte;

	if (list_length(source->rtable) != 1 || source->setOperations || source->hasAggs || source->hasWindowFuncs ||
		source->hasTargetSRFs || source->hasSubLinks || source->groupClause || source->groupingSets ||
		source->havingQual || source->distinctClause || source->limitCount || source->limitOffset ||
		contain_mutable_functions((Node *) source->targetList) || contain_mutable_functions(source->jointree->quals))
		return InvalidOid;
	rte = linitial_node(RangeTblEntry, source->rtable);
	if (rte->rtekind != RTE_RELATION || rte->tablesample || rte->securityQuals)
		return InvalidOid;
	return rte->relid;
}

/* Return the tables below a table that hold rows, and lock them until the end of the transaction. */
static List *
leaves_of(Oid table)
{
	List *leaves = NIL;
	ListCell *cell;

	foreach (cell, find_all_inheritors(table, AccessShareLock, NULL))
	{
		if (get_rel_relkind(lfirst_oid(cell)) != RELKIND_PARTITIONED_TABLE)
			leaves = lappend_oid(leaves, lfirst_oid(cell));
	}
	return leaves;
}

/* Return true if one of the tables is foreign. */
static bool
any_is_foreign(List *tables)
{
	ListCell *cell;

	foreach (cell, tables)
	{
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			return true;
	}
	return false;
}

/* Return true if a table has row security, which would not apply to its partitions when they are read one by one. */
static bool
has_row_security(Oid table)
{
	Relation rel = table_open(table, AccessShareLock);
	bool result = rel->rd_rel->relrowsecurity;

	table_close(rel, NoLock);
	return result;
}

/* Return the tables of a source that shards can group, or NIL. */
static List *
shards_of(const AView *aview)
{
	Oid table = only_table(aview->source);
	char kind = OidIsValid(table) ? get_rel_relkind(table) : 0;
	List *leaves;

	/* Rows are joined with the choices of their owners on this server. */
	if (aview->profile)
		return NIL;
	if ((kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_FOREIGN_TABLE) || has_row_security(table))
		return NIL;
	leaves = leaves_of(table);
	return any_is_foreign(leaves) ? leaves : NIL;
}

/* Return true if the source has rows on other servers that can be grouped there. */
bool
shards_exist(const AView *aview)
{
	return shards_of(aview) != NIL;
}

/* Return true if values of a column that SQL calls equal have the same code, so that grouping them is safe. */
static bool
groups_like_codes(const AViewColumn *column)
{
	switch (typekind(column->source_type))
	{
		case TYPEKIND_BOOLEAN:
		case TYPEKIND_INTEGER:
		case TYPEKIND_NUMERIC:
		case TYPEKIND_DATE:
		case TYPEKIND_TIMESTAMP:
			return true;
		case TYPEKIND_TEXT:
		case TYPEKIND_PADDED:
			return get_collation_isdeterministic(column->source_collation);
		default:
			return getBaseType(column->source_type) == UUIDOID;
	}
}

/* Return count(*). */
static Aggref *
count_rows(void)
{
	Aggref *count = makeNode(Aggref);

	count->aggfnoid = F_COUNT_;
	count->aggtype = INT8OID;
	count->aggstar = true;
	count->aggkind = AGGKIND_NORMAL;
	count->aggsplit = AGGSPLIT_SIMPLE;
	count->aggno = -1;
	count->aggtransno = -1;
	count->location = -1;
	return count;
}

/*
 * Return the source with one of its partitions in place of the table.  Rights are asked
 * for the table only: every query over the source checks them there.
 */
static Query *
source_of_leaf(const AView *aview, Oid leaf)
{
	Query *query = copyObject(aview->source);
	RangeTblEntry *rte = linitial_node(RangeTblEntry, query->rtable);
	Relation parent = table_open(rte->relid, AccessShareLock);
	Relation child = table_open(leaf, AccessShareLock);

	if (rte->relid != leaf)
	{
		query->targetList = map_partition_varattnos(query->targetList, TABLE_RTI, child, parent);
		query->jointree->quals = (Node *) map_partition_varattnos((List *) query->jointree->quals, TABLE_RTI, child,
																  parent);
		rte->relid = leaf;
		rte->relkind = child->rd_rel->relkind;
		rte->inh = false;
		kanon_ask_no_rights(query, rte);
	}
	table_close(child, NoLock);
	table_close(parent, NoLock);
	query->sortClause = NIL;
	return query;
}

/* Turn a query into one that groups its rows by some columns and counts them. */
static Query *
group_and_count(Query *query, List *columns)
{
	List *entries = NIL;
	ListCell *cell;

	foreach (cell, columns)
	{
		TargetEntry *entry = list_nth_node(TargetEntry, query->targetList, lfirst_int(cell));
		SortGroupClause *clause = makeNode(SortGroupClause);

		entry->resno = list_length(entries) + 1;
		entry->ressortgroupref = clause->tleSortGroupRef = entry->resno;
		get_sort_group_operators(exprType((Node *) entry->expr), false, true, false,
								 &clause->sortop, &clause->eqop, NULL, &clause->hashable);
		query->groupClause = lappend(query->groupClause, clause);
		entries = lappend(entries, entry);
	}
	query->hasAggs = true;
	query->targetList = lappend(entries,
								makeTargetEntry((Expr *) count_rows(), list_length(entries) + 1, "rows", false));
	return query;
}

/* Return a range table entry for a query. */
static RangeTblEntry *
as_subquery(Query *query)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	List *names = NIL;
	ListCell *cell;

	foreach (cell, query->targetList)
		names = lappend(names, makeString(pstrdup(lfirst_node(TargetEntry, cell)->resname)));
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = query;
	rte->eref = makeAlias("shard", names);
	return rte;
}

/* Return the UNION ALL of a set operation and a range table entry. */
static SetOperationStmt *
union_with(Node *left, int right, List *target)
{
	SetOperationStmt *operation = makeNode(SetOperationStmt);
	RangeTblRef *ref = makeNode(RangeTblRef);
	ListCell *cell;

	ref->rtindex = right;
	operation->op = SETOP_UNION;
	operation->all = true;
	operation->larg = left;
	operation->rarg = (Node *) ref;
	foreach (cell, target)
	{
		Node *expr = (Node *) lfirst_node(TargetEntry, cell)->expr;

		operation->colTypes = lappend_oid(operation->colTypes, exprType(expr));
		operation->colTypmods = lappend_int(operation->colTypmods, exprTypmod(expr));
		operation->colCollations = lappend_oid(operation->colCollations, exprCollation(expr));
	}
	return operation;
}

/* Return the UNION ALL of queries that have the same columns. */
static Query *
union_all(List *queries)
{
	Query *query = makeNode(Query);
	RangeTblRef *first = makeNode(RangeTblRef);
	ListCell *cell;

	if (list_length(queries) == 1)
		return linitial(queries);
	query->commandType = CMD_SELECT;
	query->querySource = QSRC_ORIGINAL;
	query->canSetTag = true;
	query->jointree = makeFromExpr(NIL, NULL);
	first->rtindex = 1;
	query->setOperations = (Node *) first;
	foreach (cell, queries)
	{
		query->rtable = lappend(query->rtable, as_subquery(lfirst(cell)));
		if (foreach_current_index(cell) > 0)
			query->setOperations = (Node *) union_with(query->setOperations, foreach_current_index(cell) + 1,
													   linitial_node(Query, queries)->targetList);
	}
	foreach (cell, linitial_node(Query, queries)->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		Node *expr = (Node *) entry->expr;
		Var *var = makeVar(1, entry->resno, exprType(expr), exprTypmod(expr), exprCollation(expr), 0);

		query->targetList = lappend(query->targetList,
									makeTargetEntry((Expr *) var, entry->resno, entry->resname, false));
	}
	return query;
}

/* Return the query for the groups of rows and their sizes, or NULL. */
Query *
shards_groups(const AView *aview, List *columns)
{
	List *leaves = shards_of(aview);
	List *queries = NIL;
	ListCell *cell;

	foreach (cell, columns)
	{
		if (!groups_like_codes(&aview->columns[lfirst_int(cell)]))
			return NULL;
	}
	if (columns == NIL)
		return NULL;
	foreach (cell, leaves)
		queries = lappend(queries, group_and_count(source_of_leaf(aview, lfirst_oid(cell)), columns));
	return queries == NIL ? NULL : union_all(queries);
}

/* Return the identifiers of a view. */
static List *
shards_id_columns(const AView *aview)
{
	List *columns = NIL;

	for (int i = 0; i < aview->ncolumns; i++)
	{
		if (aview->columns[i].role == ROLE_ID)
			columns = lappend_int(columns, i);
	}
	return columns;
}

/* Return true if all rows of an individual are in one partition: the partition key is among the identifiers. */
static bool
individuals_are_in_one_shard(const AView *aview, List *ids)
{
	Relation table = table_open(only_table(aview->source), AccessShareLock);
	PartitionKey key = RelationGetPartitionKey(table);
	Bitmapset *columns = NULL;
	bool result = true;
	ListCell *cell;

	foreach (cell, ids)
	{
		Var *var = (Var *) list_nth_node(TargetEntry, aview->source->targetList, lfirst_int(cell))->expr;

		if (IsA(var, Var) && var->varattno > 0)
			columns = bms_add_member(columns, var->varattno);
	}
	for (int i = 0; key && i < get_partition_natts(key); i++)
	{
		AttrNumber attno = get_partition_col_attnum(key, i);

		result = result && attno > 0 && bms_is_member(attno, columns);
	}
	foreach (cell, find_inheritance_children(RelationGetRelid(table), AccessShareLock))
		result = result && get_rel_relkind(lfirst_oid(cell)) != RELKIND_PARTITIONED_TABLE;
	table_close(table, NoLock);
	return result;
}

/* Note that there is a row, and ask for no more: a SourceReceiver. */
static bool
note_row(void *arg, TupleTableSlot *slot)
{
	*(bool *) arg = true;
	return false;
}

/* Return the condition that an identifier of a query's groups is missing. */
static List *
missing_ids(const Query *query, int nids)
{
	List *tests = NIL;

	for (int i = 0; i < nids; i++)
	{
		NullTest *test = makeNode(NullTest);

		test->arg = copyObject(list_nth_node(TargetEntry, query->targetList, i)->expr);
		test->nulltesttype = IS_NULL;
		test->location = -1;
		tests = lappend(tests, test);
	}
	return tests;
}

/* Return the query for individuals with several rows, and for rows without an individual. */
static Query *
repeated_ids(const AView *aview, List *leaves, List *ids)
{
	List *queries = NIL;
	ListCell *cell;

	foreach (cell, leaves)
	{
		Query *query = group_and_count(source_of_leaf(aview, lfirst_oid(cell)), ids);
		Const *one = makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(1), false, FLOAT8PASSBYVAL);

		Expr *several =
			make_opclause(OpernameGetOprid(list_make2(makeString("pg_catalog"), makeString(">")), INT8OID, INT8OID),
						  BOOLOID, false, (Expr *) count_rows(), (Expr *) one, InvalidOid, InvalidOid);

		set_opfuncid((OpExpr *) several);
		query->havingQual = (Node *) make_orclause(lcons(several, missing_ids(query, list_length(ids))));
		queries = lappend(queries, query);
	}
	return union_all(queries);
}

/* Ask the shards whether each row is about an individual of its own. */
bool
shards_ids_are_unique(const AView *aview, Snapshot snapshot)
{
	List *leaves = shards_of(aview);
	List *ids = shards_id_columns(aview);
	bool repeated = false;
	SourceRun *run;
	ListCell *cell;

	if (leaves == NIL || ids == NIL || !individuals_are_in_one_shard(aview, ids))
		return false;
	foreach (cell, ids)
	{
		if (!groups_like_codes(&aview->columns[lfirst_int(cell)]))
			return false;
	}
	run = source_start(aview, source_plan(aview, repeated_ids(aview, leaves, ids), false, NULL), NULL, snapshot);
	source_pump(run, note_row, &repeated);
	source_end(run);
	return !repeated;
}
