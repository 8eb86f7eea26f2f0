/*
 * edges.c
 *		The trigger on kanon.dgh_edge: it refuses cycles, and gives each hierarchy that
 *		a statement changes a new generation.
 *
 * It runs once per statement.  The new edges of a statement, together with the path from
 * each of their ends up to the root, hold every cycle that the statement can have
 * closed, so that inserting an edge costs a few index lookups, and loading a million
 * edges costs one pass.
 *
 * The new generation is an update of the hierarchy's row in kanon.dgh.  It comes first,
 * so that writers of one hierarchy wait for each other there, and then see each other's
 * edges.  A transaction that inserts edges one by one updates the row once, as long as
 * no query has used the states in between.
 */
#include "base/kanon.h"

#include "hierarchy/catalog.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/extension.h"
#include "hierarchy/dgh.h"
#include "hierarchy/tree_build.h"

PG_FUNCTION_INFO_V1(kanon_dgh_edge_changed);

/* A hierarchy that a statement changes. */
typedef struct ChangedDgh
{
	char *name;
	TreeBuilder *added; /* the new edges; null if there are none */
} ChangedDgh;

/* Return the member of a list with a name, added to the list if it is new. */
static ChangedDgh *
edges_changed_dgh(List **all, const char *name)
{
	ListCell *cell;
	ChangedDgh *changed;

	foreach (cell, *all)
	{
		changed = lfirst(cell);
		if (strcmp(changed->name, name) == 0)
			return changed;
	}
	changed = palloc0(sizeof(ChangedDgh));
	changed->name = pstrdup(name);
	*all = lcons(changed, *all);
	return changed;
}

/* Return a column of text as a string. */
static char *
edges_slot_text(TupleTableSlot *slot, int column)
{
	bool isnull;

	return TextDatumGetCString(slot_getattr(slot, column, &isnull));
}

/* Collect the hierarchies of some rows, and their edges if these were added. */
static void
edges_collect(List **all, Tuplestorestate *rows, TupleDesc desc, bool added)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon edge", ALLOCSET_SMALL_SIZES);

	tuplestore_rescan(rows);
	while (tuplestore_gettupleslot(rows, true, false, slot))
	{
		MemoryContext old = MemoryContextSwitchTo(work);
		char *name = edges_slot_text(slot, Anum_dgh_edge_dgh);
		char *child = edges_slot_text(slot, Anum_dgh_edge_child);
		char *parent = edges_slot_text(slot, Anum_dgh_edge_parent);
		ChangedDgh *changed;

		MemoryContextSwitchTo(old);
		changed = edges_changed_dgh(all, name);
		if (added)
		{
			if (changed->added == NULL)
				changed->added = tree_builder_start();
			tree_builder_add(changed->added, child, parent);
		}
		MemoryContextReset(work);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextDelete(work);
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Return true if the generation of a hierarchy was made by this very subtransaction and
 * no query has used it: this session has not loaded it, other sessions cannot see it,
 * and parallel workers of this session do not give it to any value (catalog.c).
 */
static bool
edges_generation_is_unused(const char *name)
{
	HeapTuple row = dgh_fetch_row(name, 0, NULL);

	return row && HeapTupleHeaderGetXmin(row->t_data) == GetCurrentTransactionId() &&
		   !dgh_is_cached(dgh_row_id(row), dgh_row_generation(row));
}

/* Give a hierarchy a new generation, as every update of its row does; or all trees, if the name is NULL. */
static void
edges_new_generation(const char *name)
{
	Oid types[1] = {TEXTOID};
	Datum values[1] = {name ? CStringGetTextDatum(name) : (Datum) 0};
	char nulls[1] = {name ? ' ' : 'n'};

	if (name && edges_generation_is_unused(name))
		return;
	if (SPI_execute_with_args("UPDATE kanon.dgh"
							  " SET generation = generation"
							  " WHERE kind OPERATOR(pg_catalog.=) 'tree'"
							  " AND ($1 IS NULL OR name OPERATOR(pg_catalog.=) $1)",
							  1, types, values, nulls, false, 0) != SPI_OK_UPDATE)
		elog(ERROR, "could not change the generation of hierarchy \"%s\"", name ? name : "*");
}

/* Return the parent of a label in the table, or NULL if it has none. */
static char *
edges_fetch_parent(Relation rel, Oid index, const char *name, const char *child)
{
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple row;
	char *parent = NULL;

	ScanKeyInit(&keys[0], Anum_dgh_edge_dgh, BTEqualStrategyNumber, F_TEXTEQ, CStringGetTextDatum(name));
	ScanKeyInit(&keys[1], Anum_dgh_edge_child, BTEqualStrategyNumber, F_TEXTEQ, CStringGetTextDatum(child));
	scan = systable_beginscan(rel, index, true, NULL, 2, keys);
	row = systable_getnext(scan);
	if (row)
	{
		bool isnull;

		parent = TextDatumGetCString(heap_getattr(row, Anum_dgh_edge_parent, RelationGetDescr(rel), &isnull));
	}
	systable_endscan(scan);
	return parent;
}

/*
 * Complete a statement's edges upwards from the table and check them.  One case is left
 * to the first use of the hierarchy: a new root above a tree that already has nearly as
 * many levels as are allowed.
 */
static void
edges_check(Relation rel, const ChangedDgh *changed)
{
	Oid index = kanon_relation(DGH_EDGE_INDEX);
	const char *orphan;
	int at = 0;

	Assert(changed->added != NULL);
	while ((orphan = tree_builder_orphan(changed->added, &at)) != NULL)
	{
		char *child = pstrdup(orphan);
		char *parent = edges_fetch_parent(rel, index, changed->name, child);

		if (parent)
			tree_builder_add(changed->added, child, parent);
		CHECK_FOR_INTERRUPTS();
	}
	tree_builder_check(changed->added, changed->name);
}

/*
 * Raise an error unless a hierarchy exists and takes edges.
 *
 * pg_restore with several jobs may load edges before their hierarchies.  It turns
 * check_function_bodies off, which says that references may lead forward; the
 * hierarchy's row comes later, with a generation of its own.
 */
static void
edges_check_hierarchy(const ChangedDgh *changed)
{
	if (!check_function_bodies && dgh_fetch_row(changed->name, 0, NULL) == NULL)
		return;
	if (dgh_kind_of(changed->name) != DGH_TREE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("hierarchy \"%s\" is computed, so that no edges can be added", changed->name)));
}

/*
 * Check the edges that a statement has changed: the trigger AFTER any change of
 * kanon.dgh_edge, FOR EACH STATEMENT.
 */
Datum
kanon_dgh_edge_changed(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = kanon_trigger(fcinfo, DGH_EDGE_TABLE, false);
	List *all = NIL;
	ListCell *cell;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (trigger->tg_oldtable)
		edges_collect(&all, trigger->tg_oldtable, RelationGetDescr(trigger->tg_relation), false);
	if (trigger->tg_newtable)
		edges_collect(&all, trigger->tg_newtable, RelationGetDescr(trigger->tg_relation), true);
	if (TRIGGER_FIRED_BY_TRUNCATE(trigger->tg_event))
		edges_new_generation(NULL);

	foreach (cell, all)
	{
		ChangedDgh *changed = lfirst(cell);

		edges_new_generation(changed->name);
		if (changed->added)
		{
			edges_check_hierarchy(changed);
			edges_check(trigger->tg_relation, changed);
		}
	}
	SPI_finish();
	return PointerGetDatum(NULL);
}
