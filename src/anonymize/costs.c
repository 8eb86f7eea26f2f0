/*
 * costs.c
 *		Costs of the plans of an A-view.
 *
 * Both plans end with reading and publishing the selected rows.  They differ in the
 * work before: counting and recoding the whole source, or looking for the members of
 * a few cells, by a query each.
 *
 * The number and the size of these cells are not known before the query runs.  The
 * estimate assumes rows that are mostly published in small groups; where it is wrong,
 * looking is given up (lookup.c).
 */
#include "base/kanon.h"

#include "anonymize/costs.h"

#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "aview/aview.h"
#include "source/source.h"

int kanon_plan = CHOOSE_AUTO;

/* The k that is assumed where each row has one of its own. */
#define USUAL_K 5

/*
 * The cost of the way from a class that is too small to the cell in which it is published,
 * in queries for a class.  Measured: 2 to 8, as few rows go far, to large cells.
 */
#define PROBES_PER_CELL 3

/* The cost of noting a row and reading the note, in operators, as measured. */
#define NOTE_OPERATORS 4

/* The cost of publishing a column of a row, in operators, as measured. */
#define PUBLISH_OPERATORS 3

/*
 * The share of a query's pages that come from disk.  PostgreSQL expects all of them from
 * there; but the pages that lead to neighbouring cells are mostly the same ones, and so
 * are in memory.
 */
#define UNCACHED_SHARE 0.5

/* Return the cost of coding a row. */
Cost
cost_of_coding(const AView *aview)
{
	return (aview->nquasi + 1) * 2 * cpu_operator_cost;
}

/* Return the cost of publishing a row. */
Cost
cost_of_publishing(const AView *aview)
{
	return cpu_tuple_cost + aview->ncolumns * PUBLISH_OPERATORS * cpu_operator_cost;
}

/*
 * Return the cost of finding a row's cell: a chain's cells are found by their codes, cells of
 * a tree on the way down from its root.
 */
static Cost
cost_of_recoding(const AView *aview, double rows)
{
	return aview->algorithm == ALGORITHM_DATAFLY ? 0 : 2 * cpu_operator_cost * log2(Max(rows, 2));
}

/* Return the cost of reading, coding and recoding the whole source. */
Cost
cost_of_counting(const AView *aview, const Plan *source)
{
	Cost row = cost_of_coding(aview) + cost_of_recoding(aview, source->plan_rows);

	return source->total_cost + row * source->plan_rows;
}

/* Return the cost of noting all rows and reading the notes. */
Cost
cost_of_noting(const Plan *source)
{
	return NOTE_OPERATORS * cpu_operator_cost * source->plan_rows;
}

/* Return the cost of one query for a cell.  No more of its pages can be in memory than the source has. */
Cost
cost_of_lookup(const Plan *source, const Plan *plan)
{
	return plan->total_cost - (1 - UNCACHED_SHARE) * Min(plan->total_cost, source->total_cost);
}

/*
 * Return the cost of one of several readings of parts of the source.  However often it is
 * read, a page comes from disk once: at random, but some pages are in memory already.
 */
Cost
cost_of_repeated(const Plan *source, const Plan *reading, double loops)
{
	Cost pages = source->total_cost * UNCACHED_SHARE * random_page_cost / Max(seq_page_cost, 0.01);

	if (loops <= 1)
		return reading->total_cost;
	return Min(reading->total_cost, pages / loops + 2 * cpu_tuple_cost * reading->plan_rows);
}

/*
 * Return how many cells some rows are in.  A cell is small, so that selected rows share cells
 * only if they are many.
 */
static double
expected_cells(double members, double all_rows, double rows)
{
	double cells = Max(all_rows / members, 1);

	Assert(members >= 1);
	return cells * -expm1(-rows / cells);
}

/*
 * Return the cost of looking for the cells of some rows.  Where that is more than counting the
 * source, it is given up after having cost as much, and the source is counted.
 */
Cost
cost_of_probing(const AView *aview, const Plan *source, const Plan *probe, double rows)
{
	double k = Max(aview->profile ? Max(aview->k, USUAL_K) : aview->k, 1);
	double members = Max(probe->plan_rows, k);
	Cost query = cost_of_planning() + cost_of_starting() + cost_of_lookup(source, probe);
	Cost once = query + members * cost_of_coding(aview);
	double cells = expected_cells(members, source->plan_rows, rows);
	Cost all = cost_of_counting(aview, source);
	Cost probing = (probe->plan_rows < k ? PROBES_PER_CELL : 1) * once * cells;

	if (probing > all)
		probing = 2 * all;
	/* t needs the distributions of the whole input. */
	return aview->t > 0 ? probing + all : probing;
}
