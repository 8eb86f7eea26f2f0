/*
 * materialize.c
 *		Making what a materialized A-view is stored in, and the triggers that keep it.
 *
 * The tables belong to kanon's owner: nobody else may read raw values there or
 * write groups.  They are no members of the extension, so that pg_dump dumps them
 * with their rows.  The triggers are put on the base table, and on that of choices
 * which have a k in them, with the caller's rights, and on all partitions and
 * children, since a statement fires only those of the table that it names.
 */
#include "base/kanon.h"

#include "matview/matview.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "tcop/deparse_utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
#include "utils/reltrigger.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/rls.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "aview/aview.h"
#include "aview/choices.h"
#include "base/extension.h"

PG_FUNCTION_INFO_V1(kanon_follow_tables);
PG_FUNCTION_INFO_V1(kanon_changes_sources);

static bool
odd_column_walker(Node *node, void *table)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == 0)
		return ((Var *) node)->varattno <= 0 || kanon_is_virtual(*(Oid *) table, ((Var *) node)->varattno);
	return expression_tree_walker(node, odd_column_walker, table);
}

/* Does an expression on a table need what its transition tables do not have? */
bool
has_odd_column(Node *expression, Oid table)
{
	return odd_column_walker(expression, &table);
}

/* A table and all below it; foreign ones have no transition tables. */
static List *
tables_below(Oid table)
{
	return find_all_inheritors(table, NoLock, NULL);
}

/* All whose changes concern a view: that of the rows, that of the choices. */
List *
matview_tables(const AView *aview, Oid base)
{
	Oid choices = demand_table(aview);
	List *tables = tables_below(base);

	return OidIsValid(choices) ? list_concat_unique_oid(tables, tables_below(choices)) : tables;
}

/*
 * Can the rows of the source be told from rows of one table, each from one, at any
 * time?  Then triggers on that table do.
 */
bool
source_has_triggers(const AView *aview, Oid *base)
{
	Query *source = aview->rows;
	RangeTblEntry *rte;

	if (source->setOperations || source->groupClause || source->groupingSets || source->havingQual || source->distinctClause ||
		source->limitCount || source->limitOffset || source->hasAggs || source->hasWindowFuncs || source->hasTargetSRFs ||
		source->hasSubLinks || source->cteList || list_length(source->jointree->fromlist) != 1 ||
		!IsA(linitial(source->jointree->fromlist), RangeTblRef))
		return false;
	rte = rt_fetch(linitial_node(RangeTblRef, source->jointree->fromlist)->rtindex, source->rtable);
	if (rte->rtekind != RTE_RELATION || rte->tablesample ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_PARTITIONED_TABLE))
		return false;
	if (has_odd_column((Node *) source->targetList, rte->relid) || has_odd_column(source->jointree->quals, rte->relid) ||
		contain_mutable_functions((Node *) source->targetList) || contain_mutable_functions(source->jointree->quals) ||
		check_enable_rls(rte->relid, aview->owner, true) == RLS_ENABLED)
		return false;
	/* ONLY leaves out the children; the triggers would see them. */
	if (!rte->inh && list_length(tables_below(rte->relid)) > 1)
		return false;
	if (!demand_has_triggers(aview))
		return false;
	*base = rte->relid;
	return true;
}

static bool
has_foreign(List *tables)
{
	ListCell *cell;

	foreach (cell, tables)
	{
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			return true;
	}
	return false;
}

static char *
qualified_name(Oid relation)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), get_rel_name(relation));
}

/* A base table's column that an identifier is; 0 if it is none that is never null. */
static AttrNumber
id_column(const AView *aview, int index, Oid base)
{
	TargetEntry *entry = list_nth_node(TargetEntry, aview->rows->targetList, index);
	Var *var = (Var *) entry->expr;
	HeapTuple tuple;
	bool not_null;

	if (!IsA(var, Var))
		return 0;
	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(base), Int16GetDatum(var->varattno));
	if (!HeapTupleIsValid(tuple))
		return 0;
	not_null = ((Form_pg_attribute) GETSTRUCT(tuple))->attnotnull;
	ReleaseSysCache(tuple);
	return not_null ? var->varattno : 0;
}

/* Do the identifiers hold a key of the base table, partitions included? */
static bool
ids_are_key(const AView *aview, Oid base)
{
	Bitmapset *columns = NULL;
	Relation rel = table_open(base, AccessShareLock);
	bool result = false;
	ListCell *cell;

	for (int i = 0; i < aview->ncolumns; i++)
	{
		AttrNumber column = aview->columns[i].role == ROLE_ID ? id_column(aview, i, base) : 0;

		if (column > 0)
			columns = bms_add_member(columns, column);
	}
	/* A key of a table says nothing about tables that inherit from it. */
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE || list_length(tables_below(base)) == 1)
	{
		foreach (cell, RelationGetIndexList(rel))
			result = result || aview_index_is_key(lfirst_oid(cell), columns);
	}
	table_close(rel, NoLock);
	return result;
}

static void
check_ids(const AView *aview)
{
	for (int i = 0; i < aview->ncolumns; i++)
	{
		const AViewColumn *column = &aview->columns[i];
		TypeCacheEntry *type;

		if (column->role != ROLE_ID)
			continue;
		type = lookup_type_cache(column->source_type, TYPECACHE_LT_OPR | TYPECACHE_EQ_OPR);
		if (!OidIsValid(type->lt_opr) || !OidIsValid(type->eq_opr))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("identifier \"%s\" is of type %s, which has no order", column->name, format_type_be(column->source_type)),
					 errdetail("The rows of a materialized anonymization view are found by their identifiers.")));
	}
}

/* What is stored must not outlive what it is made from, nor the other way round. */
static void
check_persistence(const AView *aview, List *tables)
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

static void
check_key(const AView *aview, Oid base)
{
	if (!ids_are_key(aview, base))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the identifiers of materialized anonymization view \"%s\" are not unique in \"%s\"", get_rel_name(aview->view),
						get_rel_name(base)),
				 errdetail("A change of a row has to be a change of one member of one group."),
				 errhint("Use columns that hold a primary key, or a unique key that is never null, of the table.")));
}

static void
append_type(StringInfo command, const AViewColumn *column)
{
	appendStringInfoString(command, format_type_extended(column->source_type, column->source_typmod,
														 FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
	if (OidIsValid(column->source_collation) && column->source_collation != get_typcollation(column->source_type))
		appendStringInfo(command, " COLLATE %s", generate_collation_name(column->source_collation));
}

static void
create_groups(const AView *aview)
{
	StringInfoData command;

	initStringInfo(&command);
	appendStringInfo(&command, "CREATE TABLE kanon.groups_%d (g_id pg_catalog.int8 NOT NULL, g_step pg_catalog.int4 NOT NULL,"
							   " g_size pg_catalog.int8 NOT NULL, g_members pg_catalog.int8 NOT NULL, g_key pg_catalog.bytea", aview->id);
	for (int i = 0; i < aview->nquasi; i++)
		appendStringInfo(&command, ", c%d kanon.generalized COLLATE pg_catalog.\"C\"", aview->quasi[i] + 1);
	appendStringInfoString(&command, ") USING heap WITH (fillfactor = 80)");
	kanon_execute(command.data, 0, NULL, NULL, NULL);
	kanon_execute(psprintf("CREATE UNIQUE INDEX groups_%d_id ON kanon.groups_%d (g_id)", aview->id, aview->id), 0, NULL, NULL, NULL);
	kanon_execute(psprintf("CREATE INDEX groups_%d_key ON kanon.groups_%d (g_key)", aview->id, aview->id), 0, NULL, NULL, NULL);
	for (int i = 0; i < aview->nquasi; i++)
		kanon_execute(psprintf("CREATE INDEX groups_%d_c%d ON kanon.groups_%d (c%d)", aview->id, aview->quasi[i] + 1,
										aview->id, aview->quasi[i] + 1),
							   0, NULL, NULL, NULL);
}

/* To find the rows of whoever has made other choices. */
static void
index_owners(const AView *aview)
{
	ProfileKey key;
	StringInfoData columns;
	ListCell *cell;

	profile_key(aview, &key);
	initStringInfo(&columns);
	foreach (cell, key.view_columns)
		appendStringInfo(&columns, "%sc%d", columns.len > 0 ? ", " : "", lfirst_int(cell) + 1);
	kanon_execute(psprintf("CREATE INDEX members_%d_owner ON kanon.members_%d (%s)", aview->id, aview->id, columns.data), 0, NULL, NULL, NULL);
}

static void
create_members(const AView *aview)
{
	bool personal = OidIsValid(demand_table(aview));
	StringInfoData command;
	StringInfoData ids;

	initStringInfo(&command);
	initStringInfo(&ids);
	appendStringInfo(&command, "CREATE TABLE kanon.members_%d (m_group pg_catalog.int8, m_floor pg_catalog.int4 NOT NULL", aview->id);
	for (int i = 0; i < aview->ncolumns; i++)
	{
		appendStringInfo(&command, ", c%d ", i + 1);
		append_type(&command, &aview->columns[i]);
		if (aview->columns[i].role == ROLE_ID)
			appendStringInfo(&ids, "%sc%d", ids.len > 0 ? ", " : "", i + 1);
	}
	appendStringInfo(&command, "%s) USING heap", personal ? ", m_k pg_catalog.int8 NOT NULL" : "");
	kanon_execute(command.data, 0, NULL, NULL, NULL);
	kanon_execute(psprintf("CREATE UNIQUE INDEX members_%d_id ON kanon.members_%d (%s)", aview->id, aview->id, ids.data), 0, NULL, NULL, NULL);
	kanon_execute(psprintf("CREATE INDEX members_%d_group ON kanon.members_%d (m_group%s)", aview->id, aview->id, personal ? ", m_k" : ""), 0, NULL, NULL, NULL);
	if (personal)
		index_owners(aview);
	/* Whatever default privileges say. */
	kanon_execute(psprintf("REVOKE ALL ON kanon.groups_%d, kanon.members_%d FROM PUBLIC", aview->id, aview->id), 0, NULL, NULL, NULL);
	kanon_execute(psprintf("COMMENT ON TABLE kanon.groups_%d IS 'groups of a materialized anonymization view'", aview->id), 0, NULL, NULL, NULL);
	kanon_execute(psprintf("COMMENT ON TABLE kanon.members_%d IS 'members of these groups, and raw values: for kanon alone'", aview->id), 0, NULL, NULL, NULL);
}

/* An event of a trigger, and the transition tables that it has. */
static const struct
{
	const char *event;
	const char *tables;
} events[] = {
	{"INSERT", "REFERENCING NEW TABLE AS kanon_new"},
	{"UPDATE", "REFERENCING OLD TABLE AS kanon_old NEW TABLE AS kanon_new"},
	{"DELETE", "REFERENCING OLD TABLE AS kanon_old"},
	{"TRUNCATE", ""},
};

static char *
trigger_name(int32 id, const char *event)
{
	return psprintf("kanon_%d_%s", id, asc_tolower(event, strlen(event)));
}

/* In the caller's name, who needs the right to create triggers there. */
static void
create_triggers(int32 id, Oid table)
{
	if (pg_class_aclcheck(table, GetUserId(), ACL_TRIGGER) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to create triggers on table \"%s\"", get_rel_name(table)),
				 errdetail("They keep the groups of a materialized anonymization view."),
				 errhint("GRANT TRIGGER ON %s TO %s;", qualified_name(table), quote_identifier(GetUserNameFromId(GetUserId(), false)))));
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	for (int i = 0; i < (int) lengthof(events); i++)
	{
		char *command = psprintf("CREATE TRIGGER %s AFTER %s ON %s %s FOR EACH STATEMENT EXECUTE FUNCTION kanon.keep_groups('%d')",
								 trigger_name(id, events[i].event), events[i].event, qualified_name(table), events[i].tables, id);

		if (SPI_execute(command, false, 0) != SPI_OK_UTILITY)
			elog(ERROR, "could not create a trigger on \"%s\"", get_rel_name(table));
	}
	SPI_finish();
}

/*
 * Rows that replication brings are rows, too.  This fires follow_tables, for which no trigger must be missing by
 * now.
 */
static void
enable_triggers(int32 id, Oid table)
{
	for (int i = 0; i < (int) lengthof(events); i++)
		kanon_execute(psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s", qualified_name(table), trigger_name(id, events[i].event)), 0, NULL, NULL, NULL);
}

static void
store_maintenance(const AView *aview, bool triggers)
{
	Oid types[3] = {INT4OID, TEXTOID, TEXTOID};
	Datum values[3] = {Int32GetDatum(aview->id), CStringGetTextDatum(triggers ? "triggers" : "refresh"),
					   CStringGetTextDatum(matview_chain(aview))};

	kanon_execute("UPDATE kanon.aview SET maintained = $2, chain = $3 WHERE id OPERATOR(pg_catalog.=) $1", 3, types, values, NULL);
}

static void
reconcile(Keeper *keeper, void *arg)
{
	(void) matview_reconcile(keeper);
}

void
matview_create(AView *aview)
{
	Oid base = InvalidOid;
	bool triggers = source_has_triggers(aview, &base) && !has_foreign(matview_tables(aview, base));
	List *tables = triggers ? matview_tables(aview, base) : NIL;
	ListCell *cell;

	check_ids(aview);
	check_persistence(aview, tables);
	if (triggers)
		check_key(aview, base);
	create_groups(aview);
	create_members(aview);
	store_maintenance(aview, triggers);
	/* From here on nobody changes the base table before we commit. */
	foreach (cell, tables)
		create_triggers(aview->id, lfirst_oid(cell));
	foreach (cell, tables)
		enable_triggers(aview->id, lfirst_oid(cell));
	CommandCounterIncrement();
	keeper_work(aview->id, reconcile, NULL);
	if (!triggers)
		ereport(NOTICE,
				(errmsg("materialized anonymization view \"%s\" does not follow changes by itself", get_rel_name(aview->view)),
				 errdetail("Triggers can keep groups of rows that each come from one row of one table, by a fixed rule."),
				 errhint("Bring it up to date with %s.refresh.", KANON_SCHEMA)));
}

/* As it is now, not as it was when it was made. */
bool
matview_is_followed(const AView *aview)
{
	Oid base;

	return aview->by_triggers && source_has_triggers(aview, &base) && !has_foreign(matview_tables(aview, base));
}

void
matview_init(void)
{
	keeper_init();
	pending_init();
}

/* The tables that have a view's triggers. */
static List *
tables_with_triggers(int32 id)
{
	List *tables = NIL;
	MemoryContext context = CurrentMemoryContext;
	Oid types[1] = {NAMEOID};
	Datum values[1] = {CStringGetDatum(trigger_name(id, events[0].event))};

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

static void
drop_triggers(int32 id, Oid table)
{
	for (int i = 0; i < (int) lengthof(events); i++)
		kanon_execute(psprintf("DROP TRIGGER IF EXISTS %s ON %s", trigger_name(id, events[i].event), qualified_name(table)), 0, NULL, NULL, NULL);
}

/* How many of a view's triggers a table has, in one of some states. */
static int
count_triggers(int32 id, Oid table, const char *states)
{
	Relation rel = table_open(table, AccessShareLock);
	int count = 0;

	for (int i = 0; rel->trigdesc && i < rel->trigdesc->numtriggers; i++)
	{
		Trigger *trigger = &rel->trigdesc->triggers[i];

		for (int event = 0; event < (int) lengthof(events); event++)
			count += strcmp(trigger->tgname, trigger_name(id, events[event].event)) == 0 && strchr(states, trigger->tgenabled) != NULL;
	}
	table_close(rel, NoLock);
	return count;
}

/* Tables that have become part of the source get triggers, tables that are no longer lose them.  Was there one? */
static bool
move_triggers(int32 id, List *wanted, List *present)
{
	const char any_state[] = {TRIGGER_FIRES_ALWAYS, TRIGGER_FIRES_ON_ORIGIN, TRIGGER_FIRES_ON_REPLICA, TRIGGER_DISABLED, '\0'};
	List *created = NIL;
	List *gone = list_difference_oid(present, wanted);
	List *come = list_difference_oid(wanted, present);
	ListCell *cell;

	foreach (cell, come)
	{
		/* A foreign one has no transition tables: its rows come with refresh. */
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			continue;
		/* Some of them may be there. */
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

/* ENABLE TRIGGER makes one that replication passes by; and what happened while it was off is missing. */
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

/* follow_tables(number, gone): tables of the source have changed; or are gone, and their rows with them */
Datum
kanon_follow_tables(PG_FUNCTION_ARGS)
{
	int32 id = PG_GETARG_INT32(0);
	bool changed = PG_GETARG_BOOL(1);
	AView *aview = aview_load(id);
	Oid base = InvalidOid;
	List *wanted;

	if (!aview->by_triggers || !source_has_triggers(aview, &base))
		PG_RETURN_VOID();
	wanted = matview_tables(aview, base);
	check_persistence(aview, wanted);
	changed |= move_triggers(id, wanted, tables_with_triggers(id));
	changed |= enable_fully(id, wanted);
	if (changed)
		pending_reconcile(id);
	PG_RETURN_VOID();
}

/* Does a part of ALTER TABLE? */
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

/* changes_sources(pg_ddl_command): does it concern the tables that rows come from, or the triggers on them? */
Datum
kanon_changes_sources(PG_FUNCTION_ARGS)
{
	CollectedCommand *command = (CollectedCommand *) PG_GETARG_POINTER(0);
	ListCell *cell;

	if (command->type == SCT_Simple && (IsA(command->parsetree, CreateStmt) || IsA(command->parsetree, CreateForeignTableStmt)))
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

/* Changes made while triggers were off, or gone, are missing. */
void
matview_warn_of_triggers(const AView *aview)
{
	Oid base = InvalidOid;
	ListCell *cell;

	if (!aview->by_triggers || !source_has_triggers(aview, &base))
		return;
	foreach (cell, matview_tables(aview, base))
	{
		const char enabled[] = {TRIGGER_FIRES_ALWAYS, TRIGGER_FIRES_ON_ORIGIN, TRIGGER_FIRES_ON_REPLICA, '\0'};

		if (count_triggers(aview->id, lfirst_oid(cell), enabled) < (int) lengthof(events))
			ereport(WARNING,
					(errmsg("changes of \"%s\" do not reach materialized anonymization view \"%s\"", get_rel_name(lfirst_oid(cell)),
							get_rel_name(aview->view)),
					 errdetail("Some of its triggers named kanon_%d_... are disabled or gone.", aview->id),
					 errhint("Enable them with ALTER TABLE ... ENABLE ALWAYS TRIGGER, and refresh the view; if they are gone, create it anew.")));
	}
}
