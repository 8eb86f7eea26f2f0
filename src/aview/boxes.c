/*
 * boxes.c
 *		Reading the stored boxes of an A-view by Mondrian.
 */
#include "base/kanon.h"

#include "aview/boxes.h"

#include "access/genam.h"
#include "access/table.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "aview/aview.h"
#include "base/extension.h"
#include "recode/celltree.h"

/* Read a column of type array into its elements, and return how many there are. */
static int
read_array(HeapTuple row, TupleDesc desc, int column, Datum **values, bool **nulls)
{
	bool isnull;
	ArrayType *array = DatumGetArrayTypePCopy(heap_getattr(row, column, desc, &isnull));
	Oid type = ARR_ELEMTYPE(array);
	int16 len;
	bool byval;
	char align;
	int count;

	get_typlenbyvalalign(type, &len, &byval, &align);
	deconstruct_array(array, type, len, byval, align, values, nulls, &count);
	return count;
}

/* Return the index among the quasi-identifiers of a column of the view, counted from 1; -1 if it is none of them. */
static int
quasi_number(const AView *aview, int attnum)
{
	Assert(aview->nquasi == 0 || aview->quasi != NULL);
	for (int i = 0; i < aview->nquasi; i++)
	{
		if (aview->quasi[i] == attnum - 1)
			return i;
	}
	return -1;
}

/* Read the boxes of a row of kanon.aview_tree behind the first box, which is the whole space. */
static void
read_boxes(const AView *aview, CellTree *tree, HeapTuple row, TupleDesc desc)
{
	Datum *values[Natts_aview_tree + 1];
	bool *nulls[Natts_aview_tree + 1];
	int count = 0;

	for (int i = Anum_aview_tree_parent; i <= Natts_aview_tree; i++)
	{
		int elements = read_array(row, desc, i, &values[i], &nulls[i]);

		count = i == Anum_aview_tree_parent ? elements : Min(count, elements);
	}
	tree->boxes = palloc_extended((count + 1) * sizeof(CellBox), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	tree->nboxes = count + 1;
	for (int i = 0; i < count; i++)
	{
		CellBox *box = &tree->boxes[i + 1];

		box->parent = DatumGetInt32(values[Anum_aview_tree_parent][i]);
		box->column = quasi_number(aview, DatumGetInt16(values[Anum_aview_tree_attnum][i]));
		box->lo = nulls[Anum_aview_tree_lo][i] ? NULL : TextDatumGetCString(values[Anum_aview_tree_lo][i]);
		box->hi = nulls[Anum_aview_tree_hi][i] ? NULL : TextDatumGetCString(values[Anum_aview_tree_hi][i]);
		box->open = DatumGetBool(values[Anum_aview_tree_open][i]);
		if (box->column < 0 || box->parent < 0 || box->parent > i)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("the tree of anonymization view \"%s\" does not fit the view", get_rel_name(aview->view))));
	}
}

/*
 * Return the tree of a view's boxes.  A view without a stored tree has one cell, and
 * publishes nothing but the roots.
 */
CellTree *
aview_load_tree(const AView *aview)
{
	CellTree *tree = palloc0(sizeof(CellTree));
	Relation rel = table_open(kanon_relation("aview_tree"), AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple row;

	tree->nboxes = 1;
	tree->boxes = palloc0(sizeof(CellBox));
	ScanKeyInit(&key, Anum_aview_tree_aview, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(aview->id));
	scan = systable_beginscan(rel, kanon_relation("aview_tree_pkey"), true, NULL, 1, &key);
	if ((row = systable_getnext(scan)) != NULL)
		read_boxes(aview, tree, row, RelationGetDescr(rel));
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return tree;
}
