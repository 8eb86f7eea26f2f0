/*
 * materialize.c
 *		Creating the tables of a materialized A-view.
 *
 * The tables belong to kanon's owner: no other role may read raw values there or
 * write groups.  They are no members of the extension, so that pg_dump dumps them
 * with their rows.
 */
#include "base/kanon.h"

#include "matview/matview.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

#include "aview/aview.h"
#include "aview/choices.h"
#include "base/extension.h"
#include "matview/demand.h"
#include "matview/follow.h"
#include "matview/keeper.h"
#include "matview/pending.h"
#include "matview/policies.h"

/* Return the column of the base table that an identifier is; 0 if it is no plain column, or may be NULL. */
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

/* Return true if the identifiers hold a key of the base table, partitions included. */
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
	/* A key of a table does not hold for tables that inherit from it. */
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE || list_length(find_all_inheritors(base, NoLock, NULL)) == 1)
	{
		foreach (cell, RelationGetIndexList(rel))
			result = result || aview_index_is_key(lfirst_oid(cell), columns);
	}
	table_close(rel, NoLock);
	return result;
}

/* Raise an error unless all identifiers can be compared, as rows are found by them. */
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
					 errmsg("identifier \"%s\" is of type %s, which has no order", column->name,
							format_type_be(column->source_type)),
					 errdetail("The rows of a materialized anonymization view are found by their identifiers.")));
	}
}

/* Raise an error unless the identifiers are unique in the base table. */
static void
check_key(const AView *aview, Oid base)
{
	if (!ids_are_key(aview, base))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the identifiers of materialized anonymization view \"%s\" are not unique in \"%s\"",
						get_rel_name(aview->view), get_rel_name(base)),
				 errdetail("A change of a row has to be a change of one member of one group."),
				 errhint("Use columns that hold a primary key, or a unique key that is never null, of the table.")));
}

/* Append the type of a column, with its collation. */
static void
append_type(StringInfo command, const AViewColumn *column)
{
	appendStringInfoString(command, format_type_extended(column->source_type, column->source_typmod,
														 FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
	if (OidIsValid(column->source_collation) && column->source_collation != get_typcollation(column->source_type))
		appendStringInfo(command, " COLLATE %s", generate_collation_name(column->source_collation));
}

/* Create the table of groups and its indexes. */
static void
create_groups(const AView *aview)
{
	StringInfoData command;

	initStringInfo(&command);
	appendStringInfo(&command,
					 "CREATE TABLE kanon.groups_%d (g_id pg_catalog.int8 NOT NULL, g_step pg_catalog.int4 NOT NULL,"
					 " g_size pg_catalog.int8 NOT NULL, g_members pg_catalog.int8 NOT NULL, g_key pg_catalog.bytea",
					 aview->id);
	for (int i = 0; i < aview->nquasi; i++)
		appendStringInfo(&command, ", c%d kanon.generalized COLLATE pg_catalog.\"C\"", aview->quasi[i] + 1);
	appendStringInfoString(&command, ") USING heap WITH (fillfactor = 80)");
	kanon_execute(command.data, 0, NULL, NULL, NULL);
	kanon_execute(psprintf("CREATE UNIQUE INDEX groups_%d_id ON kanon.groups_%d (g_id)", aview->id, aview->id), 0, NULL,
				  NULL, NULL);
	kanon_execute(psprintf("CREATE INDEX groups_%d_key ON kanon.groups_%d (g_key)", aview->id, aview->id), 0, NULL,
				  NULL, NULL);
	for (int i = 0; i < aview->nquasi; i++)
		kanon_execute(psprintf("CREATE INDEX groups_%d_c%d ON kanon.groups_%d (c%d)", aview->id, aview->quasi[i] + 1,
							   aview->id, aview->quasi[i] + 1),
					  0, NULL, NULL, NULL);
}

/* Create the index that finds the rows to which choices belong. */
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
	kanon_execute(psprintf("CREATE INDEX members_%d_owner ON kanon.members_%d (%s)", aview->id, aview->id,
						   columns.data),
				  0, NULL, NULL, NULL);
}

/* Create the table of members and its indexes. */
static void
create_members(const AView *aview)
{
	bool personal = OidIsValid(demand_table(aview));
	StringInfoData command;
	StringInfoData ids;

	initStringInfo(&command);
	initStringInfo(&ids);
	appendStringInfo(&command,
					 "CREATE TABLE kanon.members_%d (m_group pg_catalog.int8, m_floor pg_catalog.int4 NOT NULL",
					 aview->id);
	for (int i = 0; i < aview->nkeyed; i++)
	{
		appendStringInfo(&command, ", c%d ", i + 1);
		append_type(&command, &aview->columns[i]);
		if (aview->columns[i].role == ROLE_ID)
			appendStringInfo(&ids, "%sc%d", ids.len > 0 ? ", " : "", i + 1);
	}
	appendStringInfo(&command, "%s) USING heap", personal ? ", m_k pg_catalog.int8 NOT NULL" : "");
	kanon_execute(command.data, 0, NULL, NULL, NULL);
	kanon_execute(psprintf("CREATE UNIQUE INDEX members_%d_id ON kanon.members_%d (%s)", aview->id, aview->id,
						   ids.data),
				  0, NULL, NULL, NULL);
	kanon_execute(psprintf("CREATE INDEX members_%d_group ON kanon.members_%d (m_group%s)", aview->id, aview->id,
						   personal ? ", m_k" : ""),
				  0, NULL, NULL, NULL);
	if (personal)
		index_owners(aview);
	/* Raw values must not leave the server by a publication: see tables.c. */
	kanon_execute(psprintf("ALTER TABLE kanon.groups_%d REPLICA IDENTITY NOTHING", aview->id), 0, NULL, NULL, NULL);
	kanon_execute(psprintf("ALTER TABLE kanon.members_%d REPLICA IDENTITY NOTHING", aview->id), 0, NULL, NULL, NULL);
	/* Default privileges must not open the tables. */
	kanon_execute(psprintf("REVOKE ALL ON kanon.groups_%d, kanon.members_%d FROM PUBLIC", aview->id, aview->id), 0,
				  NULL, NULL, NULL);
	kanon_execute(psprintf("COMMENT ON TABLE kanon.groups_%d IS 'groups of a materialized anonymization view'",
						   aview->id),
				  0, NULL, NULL, NULL);
	kanon_execute(psprintf("COMMENT ON TABLE kanon.members_%d IS 'members of these groups, and raw values: for kanon alone'",
						   aview->id),
				  0, NULL, NULL, NULL);
}

/* Store how the view is kept up to date, and the steps that its groups are made with. */
static void
store_maintenance(const AView *aview, bool triggers)
{
	Oid types[3] = {INT4OID, TEXTOID, TEXTOID};
	Datum values[3] = {Int32GetDatum(aview->id), CStringGetTextDatum(triggers ? "triggers" : "refresh"),
					   CStringGetTextDatum(matview_chain(aview))};

	kanon_execute("UPDATE kanon.aview SET maintained = $2, chain = $3 WHERE id OPERATOR(pg_catalog.=) $1", 3, types,
				  values, NULL);
}

/* Create and fill the tables of a view, and its triggers if they can keep it. */
void
matview_create(AView *aview)
{
	Oid base = InvalidOid;
	bool triggers = follow_possible(aview, &base) && !follow_has_foreign(follow_tables(aview, base));
	List *tables = triggers ? follow_tables(aview, base) : NIL;

	check_ids(aview);
	follow_check_persistence(aview, tables);
	if (triggers)
		check_key(aview, base);
	create_groups(aview);
	create_members(aview);
	store_maintenance(aview, triggers);
	/* The locks of CREATE TRIGGER keep other transactions from changing the tables until this one commits. */
	if (triggers)
		follow_start(aview, base);
	CommandCounterIncrement();
	(void) matview_reconcile(aview->id);
	policies_store(aview);
	if (!triggers)
		ereport(NOTICE,
				(errmsg("materialized anonymization view \"%s\" does not follow changes by itself",
						get_rel_name(aview->view)),
				 errdetail(
					 "Triggers can keep groups of rows that each come from one row of one table, by a fixed rule."),
				 errhint("Bring it up to date with %s.refresh.", KANON_SCHEMA)));
}

/* Register the callbacks that keep groups up to date. */
void
matview_init(void)
{
	keeper_init();
	pending_init();
}
