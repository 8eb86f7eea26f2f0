/*
 * follow.c
 *		The triggers by which a materialized view follows changes of its source.
 *
 * Triggers on the base table, on the table of choices that have a k in them, and on all
 * partitions and children of the two, call keep_groups() (feed.c).  When tables become
 * part of the source or leave it, an event trigger calls follow_tables(), which moves
 * the triggers (triggers.c).
 */
#include "base/kanon.h"

#include "matview/follow.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "tcop/deparse_utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"

#include "aview/aview.h"
#include "base/as_owner.h"
#include "base/extension.h"
#include "matview/demand.h"
#include "matview/matview.h"
#include "matview/pending.h"
#include "matview/triggers.h"

PG_FUNCTION_INFO_V1(kanon_follow_tables);
PG_FUNCTION_INFO_V1(kanon_changes_sources);

/* Return true if an expression needs a system column, a whole row or a column that is computed when read. */
static bool
odd_column_walker(Node *node, void *table)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == 0)
		return ((Var *) node)->varattno <= 0 || kanon_is_virtual(*(Oid *) table, ((Var *) node)->varattno);
	return expression_tree_walker(node, odd_column_walker, table);
}

/* Return true if an expression on a table needs a column that the table's transition tables do not have. */
bool
follow_has_odd_column(Node *expression, Oid table)
{
	return odd_column_walker(expression, &table);
}

/* Return a table and all tables below it. */
static List *
tables_below(Oid table)
{
	return find_all_inheritors(table, NoLock, NULL);
}

/* Return the tables that need the triggers. */
List *
follow_tables(const AView *aview, Oid base)
{
	Oid choices = demand_table(aview);
	List *tables = tables_below(base);

	return OidIsValid(choices) ? list_concat_unique_oid(tables, tables_below(choices)) : tables;
}

/*
 * Return true, and set the base table, if triggers on one table can tell of every change of
 * the source's rows: if each row comes from one row of that table by a fixed rule.
 */
bool
follow_possible(const AView *aview, Oid *base)
{
	Query *source = aview->rows;
	RangeTblEntry *rte;

	if (source->setOperations || source->groupClause || source->groupingSets || source->havingQual ||
		source->distinctClause || source->limitCount || source->limitOffset || source->hasAggs ||
		source->hasWindowFuncs || source->hasTargetSRFs || source->hasSubLinks || source->cteList ||
		list_length(source->jointree->fromlist) != 1 || !IsA(linitial(source->jointree->fromlist), RangeTblRef))
		return false;
	rte = rt_fetch(linitial_node(RangeTblRef, source->jointree->fromlist)->rtindex, source->rtable);
	if (rte->rtekind != RTE_RELATION || rte->tablesample ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_PARTITIONED_TABLE))
		return false;
	if (follow_has_odd_column((Node *) source->targetList, rte->relid) ||
		follow_has_odd_column(source->jointree->quals, rte->relid) ||
		contain_mutable_functions((Node *) source->targetList) || contain_mutable_functions(source->jointree->quals) ||
		check_enable_rls(rte->relid, aview->owner, true) == RLS_ENABLED)
		return false;
	/* ONLY leaves out the children; the triggers would see them. */
	if (!rte->inh && list_length(tables_below(rte->relid)) > 1)
		return false;
	if (!demand_has_triggers(aview))
		return false;
	Assert(OidIsValid(rte->relid));
	*base = rte->relid;
	return true;
}

/* Return true if one of some tables is a foreign one. */
bool
follow_has_foreign(List *tables)
{
	ListCell *cell;

	foreach (cell, tables)
	{
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			return true;
	}
	return false;
}

/*
 * Raise an error unless the view and the tables are permanent: the groups must live exactly as
 * long as the rows that they are made from.
 */
void
follow_check_persistence(const AView *aview, List *tables)
{
	ListCell *cell;

	if (get_rel_persistence(aview->view) != RELPERSISTENCE_PERMANENT)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("a materialized anonymization view cannot be temporary"),
				 errhint("Use a permanent table, or a view that is not materialized.")));
	foreach (cell, tables)
	{
		if (get_rel_persistence(lfirst_oid(cell)) != RELPERSISTENCE_PERMANENT)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("table \"%s\" is unlogged, and a crash would empty it but not the groups made from it",
							get_rel_name(lfirst_oid(cell))),
					 errhint("Use a logged table, or a view that is not materialized.")));
	}
}

/* Return true if a table of a tree has a parent outside of it. */
static bool
has_outer_parent(List *tree)
{
	Relation inherits = table_open(InheritsRelationId, AccessShareLock);
	bool found = false;
	ListCell *cell;

	foreach (cell, tree)
	{
		ScanKeyData key;
		SysScanDesc scan;
		HeapTuple tuple;

		ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(lfirst_oid(cell)));
		scan = systable_beginscan(inherits, InheritsRelidSeqnoIndexId, true, NULL, 1, &key);
		while (HeapTupleIsValid(tuple = systable_getnext(scan)))
			found |= !list_member_oid(tree, ((Form_pg_inherits) GETSTRUCT(tuple))->inhparent);
		systable_endscan(scan);
	}
	table_close(inherits, AccessShareLock);
	return found;
}

/* Return true if a statement can change rows of the source that names none of its tables, but a parent of one. */
static bool
follows_by_rows(const AView *aview, Oid base)
{
	Oid choices = demand_table(aview);

	return has_outer_parent(tables_below(base)) || (OidIsValid(choices) && has_outer_parent(tables_below(choices)));
}

/* Create a view's triggers on the tables of its source. */
void
follow_start(const AView *aview, Oid base)
{
	(void) triggers_move(aview->id, follow_tables(aview, base), follows_by_rows(aview, base));
}

/* Return true if every change reaches the groups by triggers, as the source is now. */
bool
follow_is_complete(const AView *aview)
{
	Oid base;

	return aview->by_triggers && follow_possible(aview, &base) && !follow_has_foreign(follow_tables(aview, base));
}

/* Return the tables without the foreign ones, which have no transition tables: their rows come with refresh. */
static List *
without_foreign(List *tables)
{
	List *result = NIL;
	ListCell *cell;

	foreach (cell, tables)
	{
		if (get_rel_relkind(lfirst_oid(cell)) != RELKIND_FOREIGN_TABLE)
			result = lappend_oid(result, lfirst_oid(cell));
	}
	return result;
}

/* Note that the groups of a view have missed changes. */
void
follow_mark_stale(int32 id)
{
	Oid types[1] = {INT4OID};
	Datum values[1] = {Int32GetDatum(id)};

	kanon_execute("UPDATE kanon.aview SET stale = true WHERE id OPERATOR(pg_catalog.=) $1 AND NOT stale", 1, types,
				  values, NULL);
}

/*
 * Have the groups of a view compared with its source.  The event triggers call us with
 * the rights of kanon's owner; the code in the view, which the planner evaluates, gets no
 * more than the role has whose command it is.
 */
static void
reconcile_as_caller(int32 id)
{
	AsOwner scope;

	as_owner_start(&scope, GetOuterUserId(), NULL);
	pending_reconcile(id);
	as_owner_end(&scope);
}

/*
 * kanon.follow_tables(number, changed): move the triggers of a view after its source's tables
 * have changed; changed: rows have changed, too, or are gone with their table.
 */
Datum
kanon_follow_tables(PG_FUNCTION_ARGS)
{
	int32 id = PG_GETARG_INT32(0);
	bool changed = PG_GETARG_BOOL(1);
	AView *aview = aview_load(id);
	Oid base = InvalidOid;
	List *wanted;

	if (!aview->by_triggers)
		PG_RETURN_VOID();
	if (!follow_possible(aview, &base))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("anonymization view \"%s\" does not follow its tables any more", get_rel_name(aview->view))));
	wanted = follow_tables(aview, base);
	follow_check_persistence(aview, wanted);
	if (triggers_move(id, without_foreign(wanted), follows_by_rows(aview, base)) || changed)
		reconcile_as_caller(id);
	PG_RETURN_VOID();
}

/* What a command may change of a source. */
typedef enum SourceChange
{
	CHANGES_NOTHING,
	CHANGES_TABLES, /* which tables there are, or the triggers on them */
	CHANGES_ROWS	/* rows, without firing a trigger */
} SourceChange;

/* Return what a part of ALTER TABLE may change of a source. */
static SourceChange
change_of_part(const AlterTableCmd *part)
{
	switch (part->subtype)
	{
		case AT_AttachPartition:
		case AT_DetachPartition:
		case AT_DetachPartitionFinalize:
		case AT_AddInherit:
		case AT_DropInherit:
		case AT_SetLogged:
		case AT_SetUnLogged:
		case AT_EnableTrig:
		case AT_EnableTrigAll:
		case AT_EnableTrigUser:
			return CHANGES_TABLES;
		case AT_EnableReplicaTrig:
			/* A restore enables our row triggers so before the others are there. */
			return triggers_is_row_name(part->name) ? CHANGES_NOTHING : CHANGES_TABLES;
		default:
			return kanon_sets_expression(part->subtype) ? CHANGES_ROWS : CHANGES_NOTHING;
	}
}

/* Return what a command may change of a source. */
static SourceChange
change_of_command(const CollectedCommand *command)
{
	SourceChange change = CHANGES_NOTHING;
	ListCell *cell;

	if (command->type == SCT_Simple &&
		(IsA(command->parsetree, CreateStmt) || IsA(command->parsetree, CreateForeignTableStmt)))
		return ((CreateStmt *) command->parsetree)->inhRelations != NIL ? CHANGES_TABLES : CHANGES_NOTHING;
	if (command->type != SCT_AlterTable)
		return CHANGES_NOTHING;
	foreach (cell, command->d.alterTable.subcmds)
	{
		CollectedATSubcmd *part = lfirst(cell);

		if (IsA(part->parsetree, AlterTableCmd))
			change = Max(change, change_of_part((AlterTableCmd *) part->parsetree));
	}
	return change;
}

/* kanon.changes_sources(pg_ddl_command): return what a command may change of a source, NULL if nothing. */
Datum
kanon_changes_sources(PG_FUNCTION_ARGS)
{
	SourceChange change = change_of_command((CollectedCommand *) PG_GETARG_POINTER(0));

	if (change == CHANGES_NOTHING)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(change == CHANGES_ROWS ? "rows" : "tables"));
}

/* Return true if the current role may create triggers on some tables. */
static bool
may_create_triggers(List *tables)
{
	ListCell *cell;

	foreach (cell, tables)
	{
		if (pg_class_aclcheck(lfirst_oid(cell), GetUserId(), ACL_TRIGGER) != ACLCHECK_OK)
			return false;
	}
	return true;
}

/*
 * Create triggers that are gone, if the current role may, and warn of each table with triggers
 * that are disabled or gone: its changes do not reach the groups.
 */
void
matview_restore_triggers(const AView *aview)
{
	Oid base = InvalidOid;
	bool by_rows;
	List *tables;
	ListCell *cell;

	if (!aview->by_triggers || !follow_possible(aview, &base))
		return;
	by_rows = follows_by_rows(aview, base);
	tables = follow_tables(aview, base);
	if (may_create_triggers(tables))
		(void) triggers_move(aview->id, without_foreign(tables), by_rows);
	foreach (cell, tables)
	{
		if (!triggers_are_there(aview->id, lfirst_oid(cell), by_rows))
			ereport(WARNING,
					(errmsg("changes of \"%s\" do not reach materialized anonymization view \"%s\"",
							get_rel_name(lfirst_oid(cell)), get_rel_name(aview->view)),
					 errdetail("Some of its triggers named kanon_%d_... are disabled or gone.", aview->id),
					 errhint(
						 "Enable them with ALTER TABLE ... ENABLE TRIGGER ALL; if they are gone, refresh the view as a role that may create triggers.")));
	}
}
