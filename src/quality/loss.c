/*
 * loss.c
 *		The loss of a published value: the normalized certainty penalty.
 *
 * A single value loses nothing; the value that covers everything loses all.  In between,
 * an interval counts with its share of the column's range, a node with its share of the
 * hierarchy's leaves, and a masked code with the share of the column's values that it may
 * stand for; as in kanon.release_quality.
 */
#include "base/kanon.h"

#include "quality/quality.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/numeric.h"

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"
#include "recode/dictionary.h"

/*
 * Return the difference of the greatest and the least number or date of a column; 0 if it
 * has fewer than two.
 */
static double
column_range(const Dictionary *raw)
{
	double least = INFINITY;
	double greatest = -INFINITY;

	for (int32 code = 1; code < raw->levels[0].ncodes; code++)
	{
		GenView view;

		gen_view(raw->levels[0].values[code], &view);
		if (GEN_IS_INTERVAL(&view) && !(view.flags & (GEN_LOWER_INF | GEN_UPPER_INF)))
		{
			least = Min(least, gen_double_bound(&view, false));
			greatest = Max(greatest, gen_double_bound(&view, true));
		}
		gen_view_free(&view);
	}
	return greatest > least ? greatest - least : 0;
}

/* Return the share of the range that an interval covers. */
static double
share_of_range(const GenView *view, double range)
{
	if (gen_is_point(view))
		return 0;
	if ((view->flags & (GEN_LOWER_INF | GEN_UPPER_INF)) || range == 0 || isinf(range))
		return 1;
	return Min(1, (gen_double_bound(view, true) - gen_double_bound(view, false)) / range);
}

/* Return the share of a hierarchy's leaves that a node covers; 0 if it is a leaf or unknown. */
static double
share_of_leaves(const GenView *view, const Dgh *dgh)
{
	if (view->flags & GEN_IS_ROOT)
		return 1;
	if (dgh == NULL || dgh->tree == NULL || (view->flags & GEN_UNKNOWN) || view->hi - view->lo <= 1)
		return 0;
	return (double) (view->hi - view->lo) / dgh->tree->nleaves;
}

/*
 * Return the share of the column's values that a masked code may stand for: values of its
 * length that begin with its visible part.
 */
static double
share_of_codes(const GenView *view, const Dictionary *raw)
{
	int count = 0;

	if (view->lo == view->len)
		return 0;
	for (int32 code = 1; code < raw->levels[0].ncodes; code++)
	{
		GenView value;
		int len;
		const char *text;

		gen_view(raw->levels[0].values[code], &value);
		text = gen_text(&value, &len);
		count += len == view->len && memcmp(text, view->label, view->lo) == 0;
	}
	return (double) count / Max(raw->levels[0].ncodes - 1, 1);
}

/* Return the loss of each published value of a quasi-identifier, by code. */
double *
loss_of_values(const Tally *tally, int column)
{
	const Dictionary *raw = tally->raw[column];
	const DictionaryLevel *shown = &tally->shown[column]->levels[0];
	double *loss = palloc0(shown->ncodes * sizeof(double));
	double range = column_range(raw);

	for (int32 code = 1; code < shown->ncodes; code++)
	{
		GenView view;

		gen_view(shown->values[code], &view);
		if (view.kind == GEN_ANY)
			loss[code] = 1;
		else if (view.kind == GEN_NODE)
			loss[code] = share_of_leaves(&view, raw->dgh);
		else if (view.kind == GEN_PREFIX)
			loss[code] = share_of_codes(&view, raw);
		else if (GEN_IS_INTERVAL(&view))
			loss[code] = share_of_range(&view, range);
	}
	return loss;
}
