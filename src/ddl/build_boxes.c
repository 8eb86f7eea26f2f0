/*
 * build_boxes.c
 *		Building, storing and showing the kd-tree of an A-view by Mondrian.
 *
 * The tree is made from the rows of the day when the view is created or its
 * sequence refreshed, by the cuts of the release kanon.mondrian, and is stored as
 * boxes.  From then on it tells for any row, and for every plan, in which cells the
 * row is; the rows at the time of a query decide which of these cells are published.
 *
 * On a line of numbers, dates or leaves the lower of two boxes ends where the
 * upper one begins, and the outermost ones end where the values do.  Words that
 * nothing orders but their bytes have nothing between them: such a box ends with
 * the words that are in it.
 */
#include "base/kanon.h"

#include "aview/aview.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "aview/boxes.h"
#include "base/extension.h"
#include "cluster/mondrian.h"
#include "cluster/points.h"
#include "cluster/rule.h"
#include "ddl/recoding.h"
#include "ddl/survey.h"
#include "hierarchy/generalized.h"
#include "recode/celltree.h"
#include "recode/dictionary.h"
#include "recode/order.h"
#include "source/source.h"

PG_FUNCTION_INFO_V1(kanon_cell_tree);

/* A stretch of a column's values, by their places in order. */
typedef struct Stretch
{
	int lo;
	int hi;
	bool open; /* without hi itself */
} Stretch;

typedef struct BuiltBox
{
	int32 parent;
	int32 column;
	Stretch stretch;
	int32 node; /* of the cuts */
} BuiltBox;

/* A column's values in order. */
typedef struct OrderedColumn
{
	int count;
	OrderedValue *values;
	int32 *place_of; /* of each code */
} OrderedColumn;

typedef struct TreeBuild
{
	const AView *aview;
	Survey *survey;
	OrderedColumn *columns;
	Points *points;
	CutTree *cuts;
	int nboxes;
	BuiltBox *boxes; /* the first is the whole space */
} TreeBuild;

typedef struct OrderedCode
{
	OrderedValue value;
	int32 code;
} OrderedCode;

static int
compare_codes(const void *left, const void *right)
{
	return order_compare(&((const OrderedCode *) left)->value, &((const OrderedCode *) right)->value);
}

/*
 * Order the values that occur.  Equal values share a place; values of a type without
 * an order all share one.
 */
static void
order_column(const Survey *survey, int index, OrderedColumn *column)
{
	const Dictionary *dictionary = survey->columns[index];
	int ncodes = dictionary->levels[0].ncodes;
	OrderedCode *codes = palloc_extended(ncodes * sizeof(OrderedCode), MCXT_ALLOC_HUGE);
	bool known = order_is_known(dictionary);
	int count = 0;

	column->values = palloc_extended(ncodes * sizeof(OrderedValue), MCXT_ALLOC_HUGE);
	column->place_of = palloc_extended(ncodes * sizeof(int32), MCXT_ALLOC_HUGE);
	for (int32 code = 0; code < ncodes; code++)
	{
		Datum value = code == NULL_CODE || !known ? (Datum) 0 : dictionary->levels[0].values[code];

		if (survey->rows[index][code] == 0)
			continue;
		codes[count].code = code;
		order_value(dictionary, value, &codes[count++].value);
	}
	qsort(codes, count, sizeof(OrderedCode), compare_codes);
	for (int i = 0; i < count; i++)
	{
		if (i == 0 || compare_codes(&codes[i - 1], &codes[i]) != 0)
			column->values[column->count++] = codes[i].value;
		column->place_of[codes[i].code] = column->count - 1;
	}
	pfree(codes);
}

/* Return the sensitive column of which a cut must leave enough values on both sides; -1 if there is none. */
static int
diverse_column(const AView *aview)
{
	for (int i = 0; i < aview->ncolumns && aview->l > 0; i++)
	{
		if (aview->columns[i].role == ROLE_SENSITIVE)
			return i;
	}
	return -1;
}

static void
read_points(TreeBuild *build)
{
	const AView *aview = build->aview;
	int sensitive = diverse_column(aview);
	List *columns = NIL;
	Points *points;

	for (int i = 0; i < aview->nquasi; i++)
		columns = lappend_int(columns, aview->quasi[i]);
	if (sensitive >= 0)
		columns = lappend_int(columns, sensitive);
	build->survey = survey_columns(aview, columns, true);

	build->columns = palloc0(Max(aview->nquasi, 1) * sizeof(OrderedColumn));
	for (int i = 0; i < aview->nquasi; i++)
		order_column(build->survey, i, &build->columns[i]);
	points = build->points = points_create(build->survey->nkept, build->survey->nkept, aview->nquasi);
	if (sensitive >= 0)
	{
		points->sensitive = palloc_extended(Max((Size) points->nrows, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
		points->nsensitive = build->survey->columns[aview->nquasi]->levels[0].ncodes;
	}
	for (int row = 0; row < points->nrows; row++)
	{
		const int32 *codes = build->survey->kept + (Size) row * build->survey->ncolumns;

		for (int i = 0; i < aview->nquasi; i++)
			points->values[(Size) row * aview->nquasi + i] = build->columns[i].place_of[codes[i]];
		if (sensitive >= 0)
			points->sensitive[row] = codes[aview->nquasi] == NULL_CODE ? -1 : codes[aview->nquasi];
	}
}

/* Cut the points into cells: k people need at least k rows. */
static void
cut_points(TreeBuild *build)
{
	const AView *aview = build->aview;
	Points *points = build->points;
	CutPlan plan = {
		.rule = rule_create(points, Max(aview->k, 2), points->sensitive ? aview->l : 0),
		.strategy = CUT_MEDIAN,
	};
	int32 *rows = palloc_extended(Max((Size) points->nrows, 1) * sizeof(int32), MCXT_ALLOC_HUGE);

	for (int i = 0; i < points->nrows; i++)
		rows[i] = i;
	build->cuts = cuttree_build(&plan, rows, aview->nquasi > 0 ? points->nrows : 0);
}

/* Return the stretch of a column's values that a box contains. */
static Stretch
stretch_of(const TreeBuild *build, int32 box, int column)
{
	for (; box > 0; box = build->boxes[box].parent)
	{
		if (build->boxes[box].column == column)
			return build->boxes[box].stretch;
	}
	return (Stretch){.lo = 0, .hi = build->columns[column].count - 1};
}

/* Return the stretch of the values that the rows of a cell have in a column. */
static Stretch
stretch_of_rows(const TreeBuild *build, const CutNode *node, int column)
{
	Stretch found = {.lo = PG_INT32_MAX, .hi = -1};

	for (int i = 0; i < node->count; i++)
	{
		int place = (int) point_values(build->points, build->cuts->rows[node->first + i])[column];

		found.lo = Min(found.lo, place);
		found.hi = Max(found.hi, place);
	}
	return found;
}

/* Return true if two values are on one line, so that other values may lie between them. */
static bool
on_one_line(const OrderedColumn *column, int a, int b)
{
	return column->values[a].sort == column->values[b].sort && SORT_IS_DENSE(column->values[a].sort);
}

static Stretch
stretch_below(const OrderedColumn *column, Stretch around, Stretch rows, int split)
{
	Stretch result = rows;

	if (on_one_line(column, rows.lo, around.lo))
		result.lo = around.lo;
	if (on_one_line(column, rows.hi, split))
	{
		result.hi = split;
		result.open = true;
	}
	return result;
}

static Stretch
stretch_above(const OrderedColumn *column, Stretch around, Stretch rows)
{
	Stretch result = rows;

	if (on_one_line(column, rows.hi, around.hi))
	{
		result.hi = around.hi;
		result.open = around.open;
	}
	return result;
}

/* Store the two halves of a box as boxes inside it. */
static void
split_box(TreeBuild *build, int32 box)
{
	const CutNode *nodes = build->cuts->nodes;
	const CutNode *node = &nodes[build->boxes[box].node];
	const OrderedColumn *column = &build->columns[node->column];
	Stretch around = stretch_of(build, box, node->column);

	for (int side = 0; side < 2; side++)
	{
		BuiltBox *half = &build->boxes[build->nboxes++];
		Stretch rows = stretch_of_rows(build, &nodes[node->left + side], node->column);

		half->parent = box;
		half->column = node->column;
		half->node = node->left + side;
		half->stretch = side == 0 ? stretch_below(column, around, rows, (int) node->split)
								  : stretch_above(column, around, rows);
	}
}

static void
make_boxes(TreeBuild *build)
{
	build->boxes = palloc_extended(build->cuts->nnodes * sizeof(BuiltBox), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	build->nboxes = 1;
	for (int32 box = 0; box < build->nboxes; box++)
	{
		CHECK_FOR_INTERRUPTS();
		if (build->cuts->nodes[build->boxes[box].node].column >= 0)
			split_box(build, box);
	}
}

/* Return the text of the value at a place; set *isnull for the place of NULL. */
static Datum
place_text(const OrderedColumn *column, int place, bool *isnull)
{
	const OrderedValue *value = &column->values[place];
	const char *text;
	int len;

	*isnull = value->sort == SORT_NULL;
	if (*isnull)
		return (Datum) 0;
	text = gen_text(&value->view, &len);
	return PointerGetDatum(cstring_to_text_with_len(text, len));
}

static Datum
make_array(Datum *values, bool *nulls, int count, Oid type)
{
	int16 len;
	bool byval;
	char align;
	int lower = 1;

	get_typlenbyvalalign(type, &len, &byval, &align);
	return PointerGetDatum(
		construct_md_array(values, nulls, count > 0 ? 1 : 0, &count, &lower, type, len, byval, align));
}

static void
store_boxes(const TreeBuild *build)
{
	Oid types[Natts_aview_tree] = {INT4OID, INT4ARRAYOID, INT2ARRAYOID, TEXTARRAYOID, TEXTARRAYOID, BOOLARRAYOID};
	static const Oid elements[Natts_aview_tree] = {InvalidOid, INT4OID, INT2OID, TEXTOID, TEXTOID, BOOLOID};
	int count = build->nboxes - 1;
	Datum *columns[Natts_aview_tree];
	bool *nulls[Natts_aview_tree];
	Datum values[Natts_aview_tree] = {Int32GetDatum(build->aview->id)};

	for (int i = 1; i < Natts_aview_tree; i++)
	{
		columns[i] = palloc_extended(Max(count, 1) * sizeof(Datum), MCXT_ALLOC_HUGE);
		nulls[i] = palloc_extended(Max(count, 1) * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	}
	for (int i = 0; i < count; i++)
	{
		const BuiltBox *box = &build->boxes[i + 1];
		const OrderedColumn *column = &build->columns[box->column];

		columns[1][i] = Int32GetDatum(box->parent);
		columns[2][i] = Int16GetDatum(build->aview->quasi[box->column] + 1);
		columns[3][i] = place_text(column, box->stretch.lo, &nulls[3][i]);
		columns[4][i] = place_text(column, box->stretch.hi, &nulls[4][i]);
		columns[5][i] = BoolGetDatum(box->stretch.open);
	}
	for (int i = 1; i < Natts_aview_tree; i++)
		values[i] = make_array(columns[i], nulls[i], count, elements[i]);
	kanon_execute("DELETE FROM kanon.aview_tree WHERE aview OPERATOR(pg_catalog.=) $1", 1, types, values, NULL);
	kanon_execute("INSERT INTO kanon.aview_tree (aview, parent, attnum, lo, hi, open) VALUES ($1, $2, $3, $4, $5, $6)",
				  Natts_aview_tree, types, values, NULL);
}

/* Build the tree and store it in place of the old one: see recoding.h. */
void
aview_store_tree(AView *aview)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon tree of an anonymization view",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	TreeBuild build = {.aview = aview};

	read_points(&build);
	cut_points(&build);
	make_boxes(&build);
	store_boxes(&build);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
}

/*
 * Return the boxes of a view: cell_tree(view).  Their bounds are raw values, so the view's owner alone may see them,
 * and only while the owner may read the source.
 */
Datum
kanon_cell_tree(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid view = PG_GETARG_OID(0);
	AView *aview = aview_load(aview_id_of_view(view));
	CellTree *tree;

	if (!kanon_owns_relation(view, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_VIEW, get_rel_name(view));
	source_check_rights(aview);
	kanon_materialize(fcinfo);
	tree = aview_load_tree(aview);
	for (int32 i = 1; i < tree->nboxes; i++)
	{
		const CellBox *box = &tree->boxes[i];
		NameData name;
		Datum values[6] = {Int32GetDatum(i), Int32GetDatum(box->parent), NameGetDatum(&name)};
		bool nulls[6] = {false, false, false, box->lo == NULL, box->hi == NULL, false};

		CHECK_FOR_INTERRUPTS();
		namestrcpy(&name, aview->columns[aview->quasi[box->column]].name);
		if (box->lo)
			values[3] = CStringGetTextDatum(box->lo);
		if (box->hi)
			values[4] = CStringGetTextDatum(box->hi);
		values[5] = BoolGetDatum(box->open);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
