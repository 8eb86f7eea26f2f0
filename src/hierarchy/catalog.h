/*
 * catalog.h
 *		Reading kanon.dgh and kanon.dgh_edge; their columns are numbered as sql/
 *		declares them.
 */
#ifndef KANON_HIERARCHY_CATALOG_H
#define KANON_HIERARCHY_CATALOG_H

#include "hierarchy/dgh.h"

#include "access/htup.h"
#include "access/tupdesc.h"
#include "utils/snapshot.h"

#define DGH_TABLE "dgh"
#define DGH_EDGE_TABLE "dgh_edge"
#define DGH_SERIAL_SEQUENCE "dgh_serial"
#define DGH_GENERATION_SEQUENCE "dgh_generation"
#define DGH_ID_INDEX "dgh_pkey"
#define DGH_NAME_INDEX "dgh_name_key"
#define DGH_EDGE_INDEX "dgh_edge_has_one_parent"

enum Anum_dgh
{
	Anum_dgh_id = 1,
	Anum_dgh_name,
	Anum_dgh_kind,
	Anum_dgh_origin,
	Anum_dgh_widths,
	Anum_dgh_units,
	Anum_dgh_length,
	Anum_dgh_mask,
	Anum_dgh_leaf_order,
	Anum_dgh_generation
};

enum Anum_dgh_edge
{
	Anum_dgh_edge_dgh = 1,
	Anum_dgh_edge_child,
	Anum_dgh_edge_parent
};

/* catalog.c */
extern HeapTuple dgh_fetch_row(const char *name, int32 id, Snapshot snapshot);
extern int32 dgh_row_id(HeapTuple row);
extern int32 dgh_row_generation(HeapTuple row);
extern char **dgh_leaf_order(HeapTuple row, int *count);
extern pg_noreturn void dgh_missing(const char *name);
extern DghKind dgh_kind_of(const char *name);
extern Dgh *dgh_load(HeapTuple row, Snapshot snapshot);

/* declare.c: read a row of kanon.dgh, and raise an error for a bad one */
extern void dgh_read_definition(HeapTuple row, TupleDesc desc, Dgh *dgh);

#endif
