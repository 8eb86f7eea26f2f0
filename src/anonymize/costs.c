/*
 * costs.c
 *		What the plans of an A-view cost.
 *
 * Both plans end with reading and publishing the selected rows.  What differs is
 * what comes before: counting and recoding the whole source, or looking for the
 * members of a few cells, by a query each.
 *
 * How many cells that are, and how large, nobody knows before.  The estimate is
 * that of rows which are mostly published in small groups; where it is wrong,
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

/* What k is taken for where each row has one of its own. */
#define USUAL_K 5

/*
 * What the way from a class that is too small to the cell that it is published in
 * costs, in queries for a class.  As measured, 2 to 8: few rows go far, to large cells.
 */
#define PROBES_PER_CELL 3

/* As measured, for a row. */
#define NOTE_OPERATORS 4

/* PostgreSQL expects pages from disk; those that lead to neighbouring cells are mostly the same ones, and so in memory. */
#define UNCACHED_SHARE 0.5

Cost
cost_of_coding(const AView *aview)
{
	return (aview->nquasi + 1) * 2 * cpu_operator_cost;
}

/* As measured, three operators a column. */
Cost
cost_of_publishing(const AView *aview)
{
	return cpu_tuple_cost + aview->ncolumns * 3 * cpu_operator_cost;
}

/* For a row: a chain's cells are found by their codes, those of a tree on the way down from its root. */
static Cost
cost_of_recoding(const AView *aview, double rows)
{
	return aview->algorithm == ALGORITHM_DATAFLY ? 0 : 2 * cpu_operator_cost * log2(Max(rows, 2));
}

Cost
cost_of_counting(const AView *aview, const Plan *source)
{
	return source->total_cost + (cost_of_coding(aview) + cost_of_recoding(aview, source->plan_rows)) * source->plan_rows;
}

Cost
cost_of_noting(const Plan *source)
{
	return NOTE_OPERATORS * cpu_operator_cost * source->plan_rows;
}

/* No more can be in memory than what the source has. */
Cost
cost_of_lookup(const Plan *source, const Plan *plan)
{
	return plan->total_cost - (1 - UNCACHED_SHARE) * Min(plan->total_cost, source->total_cost);
}

/* However often, pages come from disk once; at random, but some of them are there already. */
Cost
cost_of_repeated(const Plan *source, const Plan *reading, double loops)
{
	Cost pages = source->total_cost * UNCACHED_SHARE * random_page_cost / Max(seq_page_cost, 0.01);

	if (loops <= 1)
		return reading->total_cost;
	return Min(reading->total_cost, pages / loops + 2 * cpu_tuple_cost * reading->plan_rows);
}

/* The cells around some rows: of a few rows each, so that the selected share them only if they are many. */
static double
expected_cells(double members, double all_rows, double rows)
{
	double cells = Max(all_rows / members, 1);

	return cells * -expm1(-rows / cells);
}

Cost
cost_of_probing(const AView *aview, const Plan *source, const Plan *probe, double rows)
{
	double k = Max(aview->profile ? Max(aview->k, USUAL_K) : aview->k, 1);
	double members = Max(probe->plan_rows, k);
	Cost once = cost_of_planning() + cost_of_starting() + cost_of_lookup(source, probe) + members * cost_of_coding(aview);
	Cost all = cost_of_counting(aview, source);
	Cost probing = (probe->plan_rows < k ? PROBES_PER_CELL : 1) * once * expected_cells(members, source->plan_rows, rows);

	if (probing > all)
		probing = 2 * all;
	/* Distributions are those of the whole input. */
	return aview->t > 0 ? probing + all : probing;
}
