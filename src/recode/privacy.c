/*
 * privacy.c
 *		The privacy predicate: k individuals, l-diversity, t-closeness.
 */
#include "base/kanon.h"

#include "recode/recode.h"

#include <math.h>

#include "recode/dictionary.h"

/* Distinct values; NULL says nothing and adds no diversity. */
static bool
is_diverse(const Bag *bag, int l)
{
	int values = bag->size;

	if (bag->size > 0 && bag->keys[0] == NULL_CODE)
		values--;
	return values >= l;
}

static double *
group_shares(const RecodeSensitive *sensitive, const Bag *bag)
{
	double *share = palloc0(sensitive->nshares * sizeof(double));
	double rows = 0;

	for (int i = 0; i < bag->size; i++)
		rows += bag->counts[i];
	for (int i = 0; i < bag->size; i++)
		share[bag->keys[i]] = bag->counts[i] / rows;
	return share;
}

/* Every value is as far from every other: half the sum of differences. */
static double
equal_distance(const RecodeSensitive *sensitive, const double *share)
{
	double sum = 0;

	for (int code = 0; code < sensitive->nshares; code++)
		sum += fabs(share[code] - sensitive->share[code]);
	return sum / 2;
}

/* Values in a row, each one step from the next; the whole row is 1 long. */
static double
ordered_distance(const RecodeSensitive *sensitive, const double *share)
{
	int values = 0;
	double carried = 0;
	double sum = 0;

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

static bool
is_close(const RecodeSensitive *sensitive, const Bag *bag, double t)
{
	double *share = group_shares(sensitive, bag);
	double distance = 0;

	switch (sensitive->distance)
	{
		case DISTANCE_EQUAL:
			distance = equal_distance(sensitive, share);
			break;
		case DISTANCE_HIERARCHICAL:
			distance = valuetree_distance(sensitive->tree, share, sensitive->share);
			break;
		case DISTANCE_ORDERED:
			distance = ordered_distance(sensitive, share);
			break;
	}
	pfree(share);
	/* Sums of many shares are not exact; a billionth is not a breach. */
	return distance <= t + 1e-9;
}

/* May rows be published together, of which one asks for so large a k? */
bool
privacy_holds(const Recoder *recoder, int k, int64 individuals, const Bag *sensitive)
{
	if (individuals < k)
		return false;
	for (int i = 0; i < recoder->nsensitive; i++)
	{
		if (recoder->l > 0 && !is_diverse(&sensitive[i], recoder->l))
			return false;
		if (recoder->t > 0 && !is_close(&recoder->sensitive[i], &sensitive[i], recoder->t))
			return false;
	}
	return true;
}
