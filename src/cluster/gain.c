/*
 * gain.c
 *		The cut of a cell that lowers the loss of its rows most.
 *
 * Every column and every place between two different values is considered.  The loss on
 * either side is that of the smallest box around its rows.  Where the column has a tree,
 * the box is made of nodes, so that cuts fall between nodes by themselves.
 */
#include "base/kanon.h"

#include "cluster/gain.h"

#include "miscadmin.h"

#include "cluster/mondrian.h"
#include "cluster/points.h"
#include "cluster/rule.h"

/* A row, with its value in the column that is searched. */
typedef struct Ranked
{
	double value;
	int32 row;
} Ranked;

#define ST_SORT sort_ranked
#define ST_ELEMENT_TYPE Ranked
#define ST_COMPARE(a, b) ((a)->value < (b)->value ? -1 : (a)->value > (b)->value)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* The state of gain_cut(). */
typedef struct GainSearch
{
	const Points *points;
	GroupRule *rule;
	int count;		/* rows of the cell */
	int least;		/* rows that each side needs */
	Ranked *ranked; /* the rows by their value in the column at hand */
	int32 *rows;	/* the same, rows only */
	double *after;	/* per place where the rows can be cut: the loss of the rows from there on */
	Bounds box;		/* scratch */
} GainSearch;

/*
 * Return the fewest_rows rows, from the front or from the back, that satisfy k, least and l.
 * More rows never break the rule, so bisection finds the number.
 */
static int
fewest_rows(GainSearch *search, bool back)
{
	int lo = Max(search->rule->k, search->least);
	int hi = search->count;

	if (search->rule->l == 0)
		return lo;
	while (lo < hi)
	{
		int middle = lo + (hi - lo) / 2;

		if (rule_diverse(search->rule, search->rows + (back ? search->count - middle : 0), middle))
			hi = middle;
		else
			lo = middle + 1;
	}
	return lo;
}

/* Sort the rows by their values in a column. */
static void
rank_rows(GainSearch *search, const int32 *rows, int column)
{
	for (int i = 0; i < search->count; i++)
	{
		search->ranked[i].value = point_values(search->points, rows[i])[column];
		search->ranked[i].row = rows[i];
	}
	sort_ranked(search->ranked, search->count);
	for (int i = 0; i < search->count; i++)
		search->rows[i] = search->ranked[i].row;
}

/* Return true if the rows can be cut before a place: the values differ there. */
static bool
is_border(const GainSearch *search, int place)
{
	return search->ranked[place].value != search->ranked[place - 1].value;
}

/*
 * Set the split of the ranked rows that has the least loss, if that is below *least_loss;
 * return false if there is none.
 */
static bool
gain_best_cut(GainSearch *search, double *least_loss, double *split)
{
	int from = fewest_rows(search, false);
	int to = search->count - fewest_rows(search, true);
	bool found = false;

	if (from > to)
		return false;
	bounds_set(search->points, search->box, search->rows[search->count - 1]);
	for (int i = search->count - 1; i >= from; i--)
	{
		bounds_add(search->points, search->box, search->rows[i]);
		if (i <= to && is_border(search, i))
			search->after[i] = bounds_loss(search->points, search->box) * (search->count - i);
	}
	bounds_set(search->points, search->box, search->rows[0]);
	for (int i = 1; i <= to; i++)
	{
		if (i >= from && is_border(search, i))
		{
			double loss = bounds_loss(search->points, search->box) * i + search->after[i];

			if (loss < *least_loss)
			{
				*least_loss = loss;
				*split = search->ranked[i].value;
				found = true;
			}
		}
		bounds_add(search->points, search->box, search->rows[i]);
	}
	return found;
}

/* Set the cut of a cell's rows that lowers their loss most; return false if there is none. */
bool
gain_cut(const CutPlan *plan, int least, int32 *rows, int count, Cut *cut)
{
	GainSearch search = {
		.points = plan->rule->points,
		.rule = plan->rule,
		.count = count,
		.least = least,
		.ranked = palloc_extended((Size) count * sizeof(Ranked), MCXT_ALLOC_HUGE),
		.rows = palloc_extended((Size) count * sizeof(int32), MCXT_ALLOC_HUGE),
		.after = palloc_extended((Size) count * sizeof(double), MCXT_ALLOC_HUGE),
		.box = bounds_create(plan->rule->points, 1),
	};
	double least_loss = INFINITY;
	bool found = false;

	Assert(count > 0);
	for (int column = 0; column < search.points->ncolumns; column++)
	{
		CHECK_FOR_INTERRUPTS();
		rank_rows(&search, rows, column);
		if (gain_best_cut(&search, &least_loss, &cut->split))
		{
			cut->column = column;
			found = true;
		}
	}
	pfree(search.ranked);
	pfree(search.rows);
	pfree(search.after);
	pfree(search.box);
	return found;
}
