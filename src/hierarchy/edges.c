/*
 * edges.c
 *		The trigger behind kanon.dgh_edge: no cycles, and a new generation for
 *		every hierarchy that was touched.
 *
 * It runs once per statement.  A statement's edges, together with the path from
 * each of their ends up to the root, hold every cycle that the statement can
 * have closed, so that inserting an edge costs a few index lookups and loading
 * a million of them one pass.
 *
 * The new generation is an update of the hierarchy's row in kanon.dgh.  It comes
 * first, so that writers of one hierarchy wait for each other there and then
 * see each other's edges.  A transaction that inserts edges one by one updates
 * the row once, as long as nobody has seen the states in between.
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

/* The edges that a statement has put into one hierarchy. */
typedef struct Touched
{
	char *name;
	TreeBuilder *added; /* null if it only took edges away */
} Touched;

static Touched *
touch(List **all, const char *name)
{
	ListCell *cell;
	Touched *touched;

	foreach (cell, *all)
	{
		touched = lfirst(cell);
		if (strcmp(touched->name, name) == 0)
			return touched;
	}
	touched = palloc0(sizeof(Touched));
	touched->name = pstrdup(name);
	*all = lcons(touched, *all);
	return touched;
}

static char *
slot_text(TupleTableSlot *slot, int column)
{
	bool isnull;

	return TextDatumGetCString(slot_getattr(slot, column, &isnull));
}

static void
collect(List **all, Tuplestorestate *rows, TupleDesc desc, bool added)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon edge", ALLOCSET_SMALL_SIZES);

	tuplestore_rescan(rows);
	while (tuplestore_gettupleslot(rows, true, false, slot))
	{
		MemoryContext old = MemoryContextSwitchTo(work);
		char *name = slot_text(slot, Anum_dgh_edge_dgh);
		char *child = slot_text(slot, Anum_dgh_edge_child);
		char *parent = slot_text(slot, Anum_dgh_edge_parent);
		Touched *touched;

		MemoryContextSwitchTo(old);
		touched = touch(all, name);
		if (added)
		{
			if (touched->added == NULL)
				touched->added = tree_builder_start();
			tree_builder_add(touched->added, child, parent);
		}
		MemoryContextReset(work);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextDelete(work);
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Was its generation made by this very subtransaction, and has nobody used it?
 * Other sessions cannot have, and parallel workers of this one do not
 * (catalog.c).
 */
static bool
is_unused(const char *name)
{
	HeapTuple row = dgh_fetch_row(name, 0, NULL);

	return row && HeapTupleHeaderGetXmin(row->t_data) == GetCurrentTransactionId() &&
		   !dgh_is_cached(dgh_row_id(row), dgh_row_generation(row));
}

/* Gives a hierarchy a new generation, as every update does; all trees, if the name is null. */
static void
renew(const char *name)
{
	Oid types[1] = {TEXTOID};
	Datum values[1] = {name ? CStringGetTextDatum(name) : (Datum) 0};
	char nulls[1] = {name ? ' ' : 'n'};

	if (name && is_unused(name))
		return;
	if (SPI_execute_with_args("UPDATE kanon.dgh"
							  " SET generation = generation"
							  " WHERE kind OPERATOR(pg_catalog.=) 'tree'"
							  " AND ($1 IS NULL OR name OPERATOR(pg_catalog.=) $1)",
							  1, types, values, nulls, false, 0) != SPI_OK_UPDATE)
		elog(ERROR, "could not renew hierarchy \"%s\"", name);
}

/* The parent of a label in the table; null if it has none. */
static char *
fetch_parent(Relation rel, Oid index, const char *name, const char *child)
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
 * Completes the statement's edges upwards from the table and checks them.  Only a
 * new root above a tree that is high already may make one that is too high and
 * shows when it is used.
 */
static void
check_edges(Relation rel, const Touched *touched)
{
	Oid index = kanon_relation(DGH_EDGE_INDEX);
	const char *orphan;
	int at = 0;

	while ((orphan = tree_builder_orphan(touched->added, &at)) != NULL)
	{
		char *child = pstrdup(orphan);
		char *parent = fetch_parent(rel, index, touched->name, child);

		if (parent)
			tree_builder_add(touched->added, child, parent);
		CHECK_FOR_INTERRUPTS();
	}
	tree_builder_check(touched->added, touched->name);
}

/*
 * pg_restore with several jobs may load edges before their hierarchies.  It
 * turns this setting off, which says that references may lead forward; the
 * hierarchy's row, when it comes, brings a generation of its own.
 */
static void
check_hierarchy(const Touched *touched)
{
	if (!check_function_bodies && dgh_fetch_row(touched->name, 0, NULL) == NULL)
		return;
	if (dgh_kind_of(touched->name) != DGH_TREE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("hierarchy \"%s\" is computed and takes no edges", touched->name)));
}

Datum
kanon_dgh_edge_changed(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = kanon_trigger(fcinfo, DGH_EDGE_TABLE, false);
	List *all = NIL;
	ListCell *cell;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (trigger->tg_oldtable)
		collect(&all, trigger->tg_oldtable, RelationGetDescr(trigger->tg_relation), false);
	if (trigger->tg_newtable)
		collect(&all, trigger->tg_newtable, RelationGetDescr(trigger->tg_relation), true);
	if (TRIGGER_FIRED_BY_TRUNCATE(trigger->tg_event))
		renew(NULL);

	foreach (cell, all)
	{
		Touched *touched = lfirst(cell);

		renew(touched->name);
		if (touched->added)
		{
			check_hierarchy(touched);
			check_edges(trigger->tg_relation, touched);
		}
	}
	SPI_finish();
	return PointerGetDatum(NULL);
}
