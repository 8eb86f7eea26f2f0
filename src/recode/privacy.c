/*
 * privacy.c
 *		The privacy predicate: k individuals, l-diversity, t-closeness.
 *
 * l-diversity asks for l different values of l different people in each sensitive column
 * (recode/ldiversity.h).  t-closeness asks that the distribution of each sensitive column in
 * a group differs by at most t from its distribution in the whole input, measured by the
 * earth mover's distance: the share of rows that would have to change their value, times
 * the distance of the values.  Distributions are those of rows, not of people: rows are
 * what is published, and NULL and values that print differently are told apart.
 */
#include "base/kanon.h"

#include "recode/privacy.h"

#include <math.h>

#include "recode/ldiversity.h"
#include "recode/histogram.h"
#include "recode/recode.h"
#include "recode/valuetree.h"

/* Return true if a group has l different values of l different people. */
static bool
is_diverse(DiversityRule *rule, Diversity *diversity)
{
	return diversity->size >= rule->l && diversity_count(rule, diversity) >= rule->l;
}

/* Return the share that each value has in a group, by code. */
static double *
group_shares(const RecodeSensitive *sensitive, const Bag *bag)
{
	double *share = palloc0(sensitive->nshares * sizeof(double));
	double rows = 0;

	/* Keys are in ascending order. */
	Assert(bag->size == 0 || bag->keys[bag->size - 1] < (uint64) sensitive->nshares);
	for (int i = 0; i < bag->size; i++)
		rows += bag->counts[i];
	for (int i = 0; i < bag->size; i++)
		share[bag->keys[i]] = bag->counts[i] / rows;
	return share;
}

/*
 * Return the distance from the whole input's distribution where any two values are 1
 * apart: half the sum of differences.
 */
static double
privacy_equal_distance(const RecodeSensitive *sensitive, const double *share)
{
	double sum = 0;

	for (int code = 0; code < sensitive->nshares; code++)
		sum += fabs(share[code] - sensitive->share[code]);
	return sum / 2;
}

/*
 * Return the distance from the whole input's distribution where values are in a line, each
 * one step from the next, and the whole line is 1 long.
 */
static double
privacy_ordered_distance(const RecodeSensitive *sensitive, const double *share)
{
	int values = 0;
	double carried = 0;
	double sum = 0;

	Assert(sensitive->order != NULL);
	for (int i = 0; i < sensitive->nshares; i++)
	{
		int32 code = sensitive->order[i];

		if (sensitive->share[code] == 0)
			continue;
		carried += share[code] - sensitive->share[code];
		sum += fabs(carried);
		values++;
	}
	return values > 1 ? sum / (values - 1) : 0;
}

/* Return true if the distribution of a bag is at most t from that of the whole input. */
static bool
is_close(const RecodeSensitive *sensitive, const Bag *bag, double t)
{
	double *share = group_shares(sensitive, bag);
	double distance = 0;

	switch (sensitive->distance)
	{
		case DISTANCE_EQUAL:
			distance = privacy_equal_distance(sensitive, share);
			break;
		case DISTANCE_HIERARCHICAL:
			distance = valuetree_distance(sensitive->tree, share, sensitive->share);
			break;
		case DISTANCE_ORDERED:
			distance = privacy_ordered_distance(sensitive, share);
			break;
	}
	pfree(share);
	/* Sums of many shares are not exact: allow a billionth more. */
	return distance <= t + 1e-9;
}

/* Return true if rows may be published together. */
bool
privacy_holds(const Recoder *recoder, const GroupCounts *counts)
{
	if (counts->individuals < counts->k)
		return false;
	Assert(recoder->nsensitive == 0 || recoder->l == 0 || counts->diverse != NULL);
	Assert(recoder->nsensitive == 0 || recoder->t == 0 || counts->sensitive != NULL);
	for (int i = 0; i < recoder->nsensitive; i++)
	{
		RecodeSensitive *sensitive = &recoder->sensitive[i];

		if (recoder->l > 0 && !is_diverse(&sensitive->diversity, &counts->diverse[i]))
			return false;
		if (recoder->t > 0 && !is_close(sensitive, &counts->sensitive[i], recoder->t))
			return false;
	}
	return true;
}
