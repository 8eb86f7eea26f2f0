/*
 * follow.c
 *		The triggers by which a materialized view follows changes of its source.
 *
 * Statement triggers on the base table, and on the table of choices that have a k in
 * them, call keep_groups() (pending.c).  They are created with the current role's
 * rights, and on all partitions and children, too, since a statement fires only the
 * triggers of the table that it names.  When tables become part of the source or
 * leave it, an event trigger calls follow_tables(), which moves the triggers.
 */
#include "base/kanon.h"

#include "matview/follow.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "tcop/deparse_utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/reltrigger.h"
#include "utils/rls.h"

#include "aview/aview.h"
#include "base/as_owner.h"
#include "base/extension.h"
#include "matview/demand.h"
#include "matview/matview.h"
#include "matview/pending.h"

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

/* Return the qualified name of a relation for a command. */
static char *
qualified_name(Oid relation)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), get_rel_name(relation));
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

/* The events of the triggers, and their transition tables. */
static const struct
{
	const char *event;
	const char *tables;
} trigger_events[] = {
	{"INSERT", "REFERENCING NEW TABLE AS kanon_new"},
	{"UPDATE", "REFERENCING OLD TABLE AS kanon_old NEW TABLE AS kanon_new"},
	{"DELETE", "REFERENCING OLD TABLE AS kanon_old"},
	{"TRUNCATE", ""},
};

/* Return the name of a view's trigger for an event. */
static char *
trigger_name(int32 id, const char *event)
{
	return psprintf("kanon_%d_%s", id, asc_tolower(event, strlen(event)));
}

/*
 * Create a view's triggers on a table, with the rights of the current role, which needs the
 * TRIGGER privilege there.
 */
static void
create_triggers(int32 id, Oid table)
{
	if (pg_class_aclcheck(table, GetUserId(), ACL_TRIGGER) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to create triggers on table \"%s\"", get_rel_name(table)),
				 errdetail("They keep the groups of a materialized anonymization view."),
				 errhint("GRANT TRIGGER ON %s TO %s;", qualified_name(table),
						 quote_identifier(GetUserNameFromId(GetUserId(), false)))));
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	for (int i = 0; i < (int) lengthof(trigger_events); i++)
	{
		char *command =
			psprintf("CREATE TRIGGER %s AFTER %s ON %s %s FOR EACH STATEMENT EXECUTE FUNCTION kanon.keep_groups('%d')",
					 trigger_name(id, trigger_events[i].event), trigger_events[i].event, qualified_name(table),
					 trigger_events[i].tables, id);

		if (SPI_execute(command, false, 0) != SPI_OK_UTILITY)
			elog(ERROR, "could not create a trigger on \"%s\"", get_rel_name(table));
	}
	SPI_finish();
}

/*
 * Enable a view's triggers on a table for rows that come by replication, too.  ALTER TABLE
 * fires follow_tables(), so that all of them must have been created on all tables by now.
 */
static void
enable_triggers(int32 id, Oid table)
{
	for (int i = 0; i < (int) lengthof(trigger_events); i++)
		kanon_execute(psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s", qualified_name(table),
							   trigger_name(id, trigger_events[i].event)),
					  0, NULL, NULL, NULL);
}

/* Create a view's triggers on some tables. */
void
follow_create_triggers(int32 id, List *tables)
{
	ListCell *cell;

	foreach (cell, tables)
		create_triggers(id, lfirst_oid(cell));
	foreach (cell, tables)
		enable_triggers(id, lfirst_oid(cell));
}

/* Return true if every change reaches the groups by triggers, as the source is now. */
bool
follow_is_complete(const AView *aview)
{
	Oid base;

	return aview->by_triggers && follow_possible(aview, &base) && !follow_has_foreign(follow_tables(aview, base));
}

/* Return the tables that have a view's triggers. */
static List *
tables_with_triggers(int32 id)
{
	List *tables = NIL;
	MemoryContext context = CurrentMemoryContext;
	Oid types[1] = {NAMEOID};
	Datum values[1] = {CStringGetDatum(trigger_name(id, trigger_events[0].event))};

	if (SPI_connect() != SPI_OK_CONNECT ||
		SPI_execute_with_args("SELECT tgrelid FROM pg_catalog.pg_trigger WHERE tgname OPERATOR(pg_catalog.=) $1"
							  " AND tgfoid OPERATOR(pg_catalog.=) 'kanon.keep_groups()'::pg_catalog.regprocedure",
							  1, types, values, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read pg_trigger");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool isnull;
		Datum table = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &isnull);
		MemoryContext old = MemoryContextSwitchTo(context);

		tables = lappend_oid(tables, DatumGetObjectId(table));
		MemoryContextSwitchTo(old);
	}
	SPI_finish();
	return tables;
}

/* Drop a view's triggers on a table. */
static void
drop_triggers(int32 id, Oid table)
{
	for (int i = 0; i < (int) lengthof(trigger_events); i++)
		kanon_execute(psprintf("DROP TRIGGER IF EXISTS %s ON %s", trigger_name(id, trigger_events[i].event),
							   qualified_name(table)),
					  0, NULL, NULL, NULL);
}

/* Return how many of a view's triggers a table has in one of some states. */
static int
count_triggers(int32 id, Oid table, const char *states)
{
	Relation rel = table_open(table, AccessShareLock);
	int count = 0;

	for (int i = 0; rel->trigdesc && i < rel->trigdesc->numtriggers; i++)
	{
		Trigger *trigger = &rel->trigdesc->triggers[i];

		for (int event = 0; event < (int) lengthof(trigger_events); event++)
			count += strcmp(trigger->tgname, trigger_name(id, trigger_events[event].event)) == 0 &&
					 strchr(states, trigger->tgenabled) != NULL;
	}
	table_close(rel, NoLock);
	return count;
}

/*
 * Create triggers on the wanted tables that do not have them, and drop them from the others
 * that have them; return true if there was such a table.
 */
static bool
move_triggers(int32 id, List *wanted, List *present)
{
	const char any_state[] = {TRIGGER_FIRES_ALWAYS, TRIGGER_FIRES_ON_ORIGIN, TRIGGER_FIRES_ON_REPLICA, TRIGGER_DISABLED,
							  '\0'};
	List *created = NIL;
	List *gone = list_difference_oid(present, wanted);
	List *come = list_difference_oid(wanted, present);
	ListCell *cell;

	foreach (cell, come)
	{
		/* A foreign table has no transition tables: its rows come with refresh. */
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			continue;
		/* Some of the triggers may be there, though not the first one. */
		if (count_triggers(id, lfirst_oid(cell), any_state) > 0)
			drop_triggers(id, lfirst_oid(cell));
		create_triggers(id, lfirst_oid(cell));
		created = lappend_oid(created, lfirst_oid(cell));
	}
	foreach (cell, gone)
		drop_triggers(id, lfirst_oid(cell));
	foreach (cell, created)
		enable_triggers(id, lfirst_oid(cell));
	return come != NIL || gone != NIL;
}

/*
 * Enable triggers that do not fire for rows that come by replication, as ALTER TABLE ...
 * ENABLE TRIGGER leaves them.  Return true if there was one: changes may have been missed.
 */
static bool
enable_fully(int32 id, List *tables)
{
	const char not_always[] = {TRIGGER_FIRES_ON_ORIGIN, TRIGGER_FIRES_ON_REPLICA, '\0'};
	bool found = false;
	ListCell *cell;

	foreach (cell, tables)
	{
		if (count_triggers(id, lfirst_oid(cell), not_always) == 0)
			continue;
		enable_triggers(id, lfirst_oid(cell));
		found = true;
	}
	return found;
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
 * kanon.follow_tables(number, gone): move the triggers of a view after its source's tables
 * have changed; gone: tables are gone, and their rows with them.
 */
Datum
kanon_follow_tables(PG_FUNCTION_ARGS)
{
	int32 id = PG_GETARG_INT32(0);
	bool changed = PG_GETARG_BOOL(1);
	AView *aview = aview_load(id);
	Oid base = InvalidOid;
	List *wanted;

	if (!aview->by_triggers || !follow_possible(aview, &base))
		PG_RETURN_VOID();
	wanted = follow_tables(aview, base);
	follow_check_persistence(aview, wanted);
	changed |= move_triggers(id, wanted, tables_with_triggers(id));
	changed |= enable_fully(id, wanted);
	if (changed)
		reconcile_as_caller(id);
	PG_RETURN_VOID();
}

/* Return true if a part of ALTER TABLE may change the tables of a source or the triggers on them. */
static bool
part_changes_sources(const AlterTableCmd *part)
{
	switch (part->subtype)
	{
		case AT_AttachPartition:
		case AT_DetachPartition:
		case AT_DetachPartitionFinalize:
		case AT_AddInherit:
		case AT_DropInherit:
		case AT_SetUnLogged:
		case AT_EnableTrig:
		case AT_EnableReplicaTrig:
		case AT_EnableTrigAll:
		case AT_EnableTrigUser:
			return true;
		default:
			return false;
	}
}

/*
 * kanon.changes_sources(pg_ddl_command): return true if a command may change the tables of a
 * source or the triggers on them.
 */
Datum
kanon_changes_sources(PG_FUNCTION_ARGS)
{
	CollectedCommand *command = (CollectedCommand *) PG_GETARG_POINTER(0);
	ListCell *cell;

	if (command->type == SCT_Simple &&
		(IsA(command->parsetree, CreateStmt) || IsA(command->parsetree, CreateForeignTableStmt)))
		PG_RETURN_BOOL(((CreateStmt *) command->parsetree)->inhRelations != NIL);
	if (command->type != SCT_AlterTable)
		PG_RETURN_BOOL(false);
	foreach (cell, command->d.alterTable.subcmds)
	{
		CollectedATSubcmd *part = lfirst(cell);

		if (IsA(part->parsetree, AlterTableCmd) && part_changes_sources((AlterTableCmd *) part->parsetree))
			PG_RETURN_BOOL(true);
	}
	PG_RETURN_BOOL(false);
}

/* Warn of each table with triggers that are disabled or gone: its changes do not reach the groups. */
void
matview_warn_of_triggers(const AView *aview)
{
	Oid base = InvalidOid;
	ListCell *cell;

	if (!aview->by_triggers || !follow_possible(aview, &base))
		return;
	foreach (cell, follow_tables(aview, base))
	{
		const char enabled[] = {TRIGGER_FIRES_ALWAYS, TRIGGER_FIRES_ON_ORIGIN, TRIGGER_FIRES_ON_REPLICA, '\0'};

		if (count_triggers(aview->id, lfirst_oid(cell), enabled) < (int) lengthof(trigger_events))
			ereport(WARNING,
					(errmsg("changes of \"%s\" do not reach materialized anonymization view \"%s\"",
							get_rel_name(lfirst_oid(cell)), get_rel_name(aview->view)),
					 errdetail("Some of its triggers named kanon_%d_... are disabled or gone.", aview->id),
					 errhint(
						 "Enable them with ALTER TABLE ... ENABLE ALWAYS TRIGGER, and refresh the view; if they are gone, create it anew.")));
	}
}
