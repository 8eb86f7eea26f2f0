/*
 * triggers.c
 *		The triggers of a materialized view on the tables that it follows, and the notes of these tables.
 *
 * A statement fires the statement triggers of the table that it names and of no other.
 * So each table of the source has a trigger for each kind of statement.  Two sorts of
 * changes fire none of them: those that arrive by logical replication, and those by
 * statements that name a parent outside of the source.  A row trigger tells of these: it
 * fires for replicated changes alone or, where there is such a parent, for all changes,
 * in place of the statement triggers.
 *
 * The notes in kanon.aview_follows say which tables have a view's triggers.  The names of
 * triggers do not: every role can create a trigger of such a name on a table of its own.
 */
#include "base/kanon.h"

#include "matview/triggers.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/reltrigger.h"
#include "utils/syscache.h"

#include "base/extension.h"

#define NOTES_TABLE "aview_follows"
#define NOTES_INDEX "aview_follows_pkey"

enum Anum_aview_follows
{
	Anum_aview_follows_aview = 1,
	Anum_aview_follows_relation
};

/* The kinds of triggers: their events, transition tables and levels. */
static const struct
{
	const char *name;
	const char *events;
	const char *tables;
	const char *level;
} kinds[] = {
	{"insert", "INSERT", "REFERENCING NEW TABLE AS kanon_new", "STATEMENT"},
	{"update", "UPDATE", "REFERENCING OLD TABLE AS kanon_old NEW TABLE AS kanon_new", "STATEMENT"},
	{"delete", "DELETE", "REFERENCING OLD TABLE AS kanon_old", "STATEMENT"},
	{"truncate", "TRUNCATE", "", "STATEMENT"},
	{"row", "INSERT OR UPDATE OR DELETE", "", "ROW"},
};

#define KIND_TRUNCATE 3
#define KIND_ROW 4

/* No trigger, beside the states of triggers in pg_trigger. */
#define TRIGGER_NONE '\0'

/* The triggers that a table has and that it should have: states by kind. */
typedef struct TableTriggers
{
	Oid table;
	char wanted[lengthof(kinds)];
	char present[lengthof(kinds)];
} TableTriggers;

/* Return the qualified name of a relation for a command. */
static char *
qualified_name(Oid relation)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), get_rel_name(relation));
}

/* Return the name of a view's trigger of a kind. */
static char *
trigger_name(int32 id, int kind)
{
	return psprintf("kanon_%d_%s", id, kinds[kind].name);
}

/* Return true if a trigger has the name of a row trigger of some view. */
bool
triggers_is_row_name(const char *name)
{
	int32 id;
	int length = 0;

	return sscanf(name, "kanon_%d_row%n", &id, &length) == 1 && length == (int) strlen(name);
}

/* Return the state that a trigger of a kind should have on a table. */
static char
wanted_state(int kind, Oid table, bool by_rows)
{
	if (kind == KIND_TRUNCATE)
		return TRIGGER_FIRES_ALWAYS;
	/* A partitioned table has no rows of its own, and would give its row triggers to its partitions. */
	if (kind == KIND_ROW && get_rel_relkind(table) != RELKIND_RELATION)
		return TRIGGER_NONE;
	if (kind == KIND_ROW)
		return by_rows ? TRIGGER_FIRES_ALWAYS : TRIGGER_FIRES_ON_REPLICA;
	return by_rows ? TRIGGER_NONE : TRIGGER_FIRES_ALWAYS;
}

/* Look up the triggers that a table has and should have. */
static TableTriggers *
look_up_triggers(int32 id, Oid table, bool by_rows)
{
	TableTriggers *triggers = palloc0(sizeof(TableTriggers));
	Relation rel = table_open(table, AccessShareLock);

	triggers->table = table;
	for (int kind = 0; kind < (int) lengthof(kinds); kind++)
	{
		triggers->wanted[kind] = wanted_state(kind, table, by_rows);
		for (int i = 0; rel->trigdesc && i < rel->trigdesc->numtriggers; i++)
		{
			Trigger *trigger = &rel->trigdesc->triggers[i];

			if (strcmp(trigger->tgname, trigger_name(id, kind)) == 0 &&
				kanon_is_function(trigger->tgfoid, "keep_groups"))
				triggers->present[kind] = trigger->tgenabled;
		}
	}
	table_close(rel, NoLock);
	return triggers;
}

/* Create a trigger of a kind, with the rights of the current role, which needs the TRIGGER privilege. */
static void
create_trigger(int32 id, Oid table, int kind)
{
	char *command = psprintf("CREATE TRIGGER %s AFTER %s ON %s %s FOR EACH %s EXECUTE FUNCTION kanon.keep_groups('%d')",
							 trigger_name(id, kind), kinds[kind].events, qualified_name(table), kinds[kind].tables,
							 kinds[kind].level, id);

	if (pg_class_aclcheck(table, GetUserId(), ACL_TRIGGER) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to create triggers on table \"%s\"", get_rel_name(table)),
				 errdetail("They keep the groups of a materialized anonymization view."),
				 errhint("GRANT TRIGGER ON %s TO %s;", qualified_name(table),
						 quote_identifier(GetUserNameFromId(GetUserId(), false)))));
	if (SPI_connect() != SPI_OK_CONNECT || SPI_execute(command, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "could not create a trigger on \"%s\"", get_rel_name(table));
	SPI_finish();
}

/* Drop a trigger of a kind. */
static void
drop_trigger(int32 id, Oid table, int kind)
{
	kanon_execute(psprintf("DROP TRIGGER %s ON %s", trigger_name(id, kind), qualified_name(table)), 0, NULL, NULL,
				  NULL);
}

/*
 * Create the triggers that a table lacks, and drop those that it should not have; return
 * true if there was one.  A trigger that is disabled stays so: that is its table's owner's will.
 */
static bool
complete_triggers(int32 id, TableTriggers *triggers)
{
	bool changed = false;

	for (int kind = 0; kind < (int) lengthof(kinds); kind++)
	{
		if (triggers->wanted[kind] == TRIGGER_NONE && triggers->present[kind] != TRIGGER_NONE)
			drop_trigger(id, triggers->table, kind);
		else if (triggers->wanted[kind] != TRIGGER_NONE && triggers->present[kind] == TRIGGER_NONE)
			create_trigger(id, triggers->table, kind);
		else
			continue;
		triggers->present[kind] = triggers->wanted[kind] == TRIGGER_NONE ? TRIGGER_NONE : TRIGGER_FIRES_ON_ORIGIN;
		changed = true;
	}
	return changed;
}

/* Set the triggers of a table to the states that they should have; return true if one was in another state. */
static bool
enable_triggers(int32 id, const TableTriggers *triggers)
{
	StringInfoData command;

	initStringInfo(&command);
	for (int kind = 0; kind < (int) lengthof(kinds); kind++)
	{
		if (triggers->present[kind] == triggers->wanted[kind] || triggers->present[kind] == TRIGGER_DISABLED)
			continue;
		appendStringInfo(&command, "%s ENABLE %s TRIGGER %s", command.len > 0 ? "," : "",
						 triggers->wanted[kind] == TRIGGER_FIRES_ALWAYS ? "ALWAYS" : "REPLICA", trigger_name(id, kind));
	}
	if (command.len == 0)
		return false;
	kanon_execute(psprintf("ALTER TABLE %s%s", qualified_name(triggers->table), command.data), 0, NULL, NULL, NULL);
	return true;
}

/* Return the tables that a view follows, by its notes as they are now, whatever the transaction's snapshot sees. */
static List *
noted_tables(int32 id)
{
	Relation notes = table_open(kanon_relation(NOTES_TABLE), AccessShareLock);
	List *tables = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple note;

	ScanKeyInit(&key, Anum_aview_follows_aview, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(id));
	scan = systable_beginscan(notes, kanon_relation(NOTES_INDEX), true, NULL, 1, &key);
	while (HeapTupleIsValid(note = systable_getnext(scan)))
	{
		bool isnull;

		tables = lappend_oid(tables, DatumGetObjectId(heap_getattr(note, Anum_aview_follows_relation,
																   RelationGetDescr(notes), &isnull)));
	}
	systable_endscan(scan);
	table_close(notes, AccessShareLock);
	return tables;
}

/* Note that a view follows a table. */
static void
note_table(int32 id, Oid table, bool by_rows)
{
	Oid types[3] = {INT4OID, REGCLASSOID, BOOLOID};
	Datum values[3] = {Int32GetDatum(id), ObjectIdGetDatum(table), BoolGetDatum(by_rows)};

	kanon_execute("INSERT INTO kanon.aview_follows VALUES ($1, $2, $3)"
				  " ON CONFLICT (aview, relation) DO UPDATE SET by_rows = excluded.by_rows",
				  3, types, values, NULL);
}

/* Drop a view's triggers on a table, if it is still there, and forget that the view followed it. */
static void
leave_table(int32 id, Oid table)
{
	Oid types[2] = {INT4OID, REGCLASSOID};
	Datum values[2] = {Int32GetDatum(id), ObjectIdGetDatum(table)};

	if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(table)))
	{
		TableTriggers *triggers = look_up_triggers(id, table, false);

		memset(triggers->wanted, TRIGGER_NONE, sizeof(triggers->wanted));
		(void) complete_triggers(id, triggers);
	}
	kanon_execute("DELETE FROM kanon.aview_follows WHERE aview OPERATOR(pg_catalog.=) $1"
				  " AND relation OPERATOR(pg_catalog.=) $2",
				  2, types, values, NULL);
}

/* Have a view follow some tables and no others; return true if a table or a trigger was not as it should have been. */
bool
triggers_move(int32 id, List *tables, bool by_rows)
{
	List *noted = noted_tables(id);
	List *changed = NIL;
	bool any = false;
	ListCell *cell;

	foreach (cell, list_difference_oid(noted, tables))
	{
		leave_table(id, lfirst_oid(cell));
		any = true;
	}
	foreach (cell, tables)
	{
		TableTriggers *triggers = look_up_triggers(id, lfirst_oid(cell), by_rows);
		bool completed = complete_triggers(id, triggers);

		if (completed || !list_member_oid(noted, lfirst_oid(cell)))
			note_table(id, lfirst_oid(cell), by_rows);
		any |= completed;
		changed = lappend(changed, triggers);
	}
	/* ALTER TABLE fires event triggers, which must find all triggers created. */
	foreach (cell, changed)
		any |= enable_triggers(id, lfirst(cell));
	return any;
}

/* Return true if none of a view's triggers on a table is disabled or gone. */
bool
triggers_are_there(int32 id, Oid table, bool by_rows)
{
	TableTriggers *triggers = look_up_triggers(id, table, by_rows);

	for (int kind = 0; kind < (int) lengthof(kinds); kind++)
	{
		if (triggers->wanted[kind] != TRIGGER_NONE &&
			(triggers->present[kind] == TRIGGER_NONE || triggers->present[kind] == TRIGGER_DISABLED))
			return false;
	}
	return true;
}
