/*
 * catalog.c
 *		Reading hierarchies from their tables.
 *
 * Reads see the latest committed state, as PostgreSQL's own catalogs do, and not the
 * snapshot of the query: a changed hierarchy takes effect at once, in every session.
 * They are not subject to privileges on the tables, either, since comparing two
 * published values must not need any.
 */
#include "base/kanon.h"

#include "hierarchy/catalog.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/extension.h"
#include "hierarchy/dgh.h"
#include "hierarchy/tree.h"
#include "hierarchy/tree_build.h"

/*
 * Return a copy of a hierarchy's row of kanon.dgh, by its name, or by its id if the name
 * is NULL; NULL if there is none.  Without a snapshot, the row is the latest.
 */
HeapTuple
dgh_fetch_row(const char *name, int32 id, Snapshot snapshot)
{
	Relation rel = table_open(kanon_relation(DGH_TABLE), AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple row;

	if (name)
		ScanKeyInit(&key, Anum_dgh_name, BTEqualStrategyNumber, F_TEXTEQ, CStringGetTextDatum(name));
	else
		ScanKeyInit(&key, Anum_dgh_id, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(id));
	scan = systable_beginscan(rel, kanon_relation(name ? DGH_NAME_INDEX : DGH_ID_INDEX), true, snapshot, 1, &key);
	row = systable_getnext(scan);
	if (row)
		row = heap_copytuple(row);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return row;
}

/* Return a column of a row of kanon.dgh. */
static Datum
catalog_column(HeapTuple row, int column, bool *isnull)
{
	Relation rel = table_open(kanon_relation(DGH_TABLE), AccessShareLock);
	Datum value = heap_getattr(row, column, RelationGetDescr(rel), isnull);

	table_close(rel, AccessShareLock);
	return value;
}

/* Return the id of a row of kanon.dgh. */
int32
dgh_row_id(HeapTuple row)
{
	bool isnull;

	return DatumGetInt32(catalog_column(row, Anum_dgh_id, &isnull));
}

/* Return the generation of a row of kanon.dgh. */
int32
dgh_row_generation(HeapTuple row)
{
	bool isnull;

	return DatumGetInt32(catalog_column(row, Anum_dgh_generation, &isnull));
}

/* Return the kind of a hierarchy, without loading its edges. */
DghKind
dgh_kind_of(const char *name)
{
	HeapTuple row = dgh_fetch_row(name, 0, NULL);
	Relation rel;
	Dgh dgh = {0};

	if (row == NULL)
		dgh_missing(name);
	rel = table_open(kanon_relation(DGH_TABLE), AccessShareLock);
	dgh_read_definition(row, RelationGetDescr(rel), &dgh);
	table_close(rel, AccessShareLock);
	return dgh.kind;
}

/* Raise the error that a hierarchy does not exist. */
void
dgh_missing(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("hierarchy \"%s\" does not exist", name),
			 errhint("The table %s.%s lists the hierarchies.", KANON_SCHEMA, DGH_TABLE)));
}

/* Read the edges of a hierarchy into a builder. */
static void
catalog_add_edges(TreeBuilder *builder, const char *name, Snapshot snapshot)
{
	Relation rel = table_open(kanon_relation(DGH_EDGE_TABLE), AccessShareLock);
	TupleDesc desc = RelationGetDescr(rel);
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon edge", ALLOCSET_SMALL_SIZES);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple row;

	ScanKeyInit(&key, Anum_dgh_edge_dgh, BTEqualStrategyNumber, F_TEXTEQ, CStringGetTextDatum(name));
	scan = systable_beginscan(rel, kanon_relation(DGH_EDGE_INDEX), true, snapshot, 1, &key);
	while ((row = systable_getnext(scan)) != NULL)
	{
		MemoryContext builder_context = MemoryContextSwitchTo(work);
		bool isnull;
		char *child = TextDatumGetCString(heap_getattr(row, Anum_dgh_edge_child, desc, &isnull));
		char *parent = TextDatumGetCString(heap_getattr(row, Anum_dgh_edge_parent, desc, &isnull));

		MemoryContextSwitchTo(builder_context);
		tree_builder_add(builder, child, parent);
		MemoryContextReset(work);
		CHECK_FOR_INTERRUPTS();
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	MemoryContextDelete(work);
}

/* Return the leaves of a hierarchy in the order of their import, or NULL if they were not imported. */
char **
dgh_leaf_order(HeapTuple row, int *count)
{
	bool isnull;
	Datum value = catalog_column(row, Anum_dgh_leaf_order, &isnull);
	Datum *leaves;
	char **order;

	*count = 0;
	if (isnull)
		return NULL;
	deconstruct_array(DatumGetArrayTypeP(value), TEXTOID, -1, false, TYPALIGN_INT, &leaves, NULL, count);
	order = palloc_extended(Max(*count, 1) * sizeof(char *), MCXT_ALLOC_HUGE);
	for (int i = 0; i < *count; i++)
		order[i] = TextDatumGetCString(leaves[i]);
	return order;
}

/* Load the edges of a hierarchy of the kind DGH_TREE. */
static void
catalog_load_tree(Dgh *dgh, HeapTuple row, Snapshot snapshot)
{
	TreeBuilder *builder = tree_builder_start();
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon leaf order",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	int count;
	char **leaf_order = dgh_leaf_order(row, &count);

	MemoryContextSwitchTo(old);
	catalog_add_edges(builder, dgh->name, snapshot);
	dgh->tree = tree_builder_finish(builder, leaf_order, count, dgh->name);
	MemoryContextDelete(work);
	Assert(dgh->tree->height >= 1 && dgh->tree->height <= DGH_MAX_HEIGHT);
	Assert(dgh->tree->diameter > dgh->tree->height);
	dgh->height = dgh->tree->height;
	dgh->diameter = dgh->tree->diameter;
	/* The leader may keep this generation for further edges, since it has not loaded it itself (edges.c). */
	if (IsParallelWorker() && TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(row->t_data)))
		dgh->generation = DGH_UNSETTLED;
}

/* Load the hierarchy of a row of kanon.dgh, in a memory context of its own. */
Dgh *
dgh_load(HeapTuple row, Snapshot snapshot)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon hierarchy",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Dgh *dgh = palloc0(sizeof(Dgh));
	Relation rel = table_open(kanon_relation(DGH_TABLE), AccessShareLock);

	dgh->context = context;
	dgh_read_definition(row, RelationGetDescr(rel), dgh);
	table_close(rel, AccessShareLock);
	if (dgh->kind == DGH_TREE)
		catalog_load_tree(dgh, row, snapshot);
	MemoryContextSwitchTo(old);
	return dgh;
}
