/*
 * box.c
 *		Boxes: the generalized value that covers an interval on a column's line.
 */
#include "base/kanon.h"

#include "release/common/input.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"

/* Return the number that prints as a double does, independently of extra_float_digits. */
static Numeric
exact_number(double value)
{
	char text[DOUBLE_SHORTEST_DECIMAL_LEN];

	double_to_shortest_decimal_buf(value, text);
	return DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(text),
											   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

/* Return the interval of numbers from lo to hi, of whole numbers if both are. */
static Datum
number_box(double lo, double hi)
{
	if (lo == rint(lo) && hi == rint(hi) && fabs(lo) < 1e15 && fabs(hi) < 1e15)
		return gen_whole_interval(GEN_INT, GEN_POINT, (int64) lo, (int64) hi);
	return gen_numeric_interval(GEN_POINT, exact_number(lo), exact_number(hi));
}

/*
 * Return the lowest node that covers two leaves; the root if one of them is a word that
 * the tree does not know.
 */
static Datum
tree_box(const ReleaseColumn *column, int lo, int hi)
{
	DghTree *tree = column->dgh->tree;
	int node;

	if (hi >= tree->nleaves)
		return dgh_root(column->dgh);
	node = tree->leaf[lo];
	Assert(lo >= 0 && lo <= hi);
	while (tree->hi[node] <= hi)
		node = tree->parent[node];
	return tree_value(column->dgh, node);
}

/* Return the lowest value of a computed hierarchy that covers all words between two places. */
static Datum
climbed_box(const ReleaseColumn *column, int lo, int hi)
{
	Dgh *dgh = column->dgh;
	Datum result = dgh_resolve(dgh, gen_label(column->words[lo], strlen(column->words[lo]), 0));

	for (int word = lo + 1; word <= hi; word++)
	{
		Datum other = dgh_resolve(dgh, gen_label(column->words[word], strlen(column->words[word]), 0));

		result = dgh_join(dgh, result, other);
	}
	return result;
}

/* Return the smallest generalized value that covers [lo, hi] on a column's line. */
Datum
release_box(const ReleaseColumn *column, double lo, double hi)
{
	Assert(lo <= hi);
	Assert(column->kind != COLUMN_WORD || (lo >= 0 && hi < column->nwords));
	switch (column->kind)
	{
		case COLUMN_NUMBER:
			/* The next double outwards is beyond any number that was rounded to this one. */
			return column->rounded ? number_box(nextafter(lo, -INFINITY), nextafter(hi, INFINITY))
								   : number_box(lo, hi);
		case COLUMN_DATE:
			return gen_whole_interval(GEN_DATE, GEN_POINT, (int64) lo, (int64) hi);
		case COLUMN_WORD:
		case COLUMN_TEXT:
		case COLUMN_VALUE:
			break;
	}
	if (lo == hi && !(column->dgh && column->dgh->tree))
		return gen_label(column->words[(int) lo], strlen(column->words[(int) lo]), 0);
	if (column->dgh == NULL)
		return gen_any(0);
	if (lo == hi)
		return dgh_resolve(column->dgh, gen_label(column->words[(int) lo], strlen(column->words[(int) lo]), 0));
	return column->dgh->tree ? tree_box(column, lo, hi) : climbed_box(column, lo, hi);
}
