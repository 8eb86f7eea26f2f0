/*
 * plain_known.c
 *		Boxes in which all points are known to be good.
 *
 * Groups lie close together, and what has been counted for one mostly holds for
 * the next.  A box is learned when a count has shown that enough rows are within
 * d of everything in it, and widened to take in a known one where that is true
 * of both together.
 */
#include "release/plain_groups.h"

#include <math.h>

#define MOST_KNOWN 48

typedef struct KnownBox
{
	double lower[MOST_QUASI_IDS + 1]; /* standardized; the sensitive value is the last */
	double upper[MOST_QUASI_IDS + 1];
} KnownBox;

/* Corners of which it is known whether rows are within reach of them, whatever the sensitive value. */
typedef struct KnownCorners
{
	int count;
	int next;
	double corners[MOST_KNOWN][MOST_QUASI_IDS];
} KnownCorners;

struct KnownGood
{
	int count;
	int next; /* to be replaced */
	KnownBox boxes[MOST_KNOWN];
	KnownCorners reached;
	KnownCorners missed;
};

KnownGood *
known_create(void)
{
	return palloc0(sizeof(KnownGood));
}

static bool
covers(const KnownBox *box, int ncolumns, const double *lower, const double *upper)
{
	for (int column = 0; column < ncolumns; column++)
	{
		if (lower[column] < box->lower[column] || upper[column] > box->upper[column])
			return false;
	}
	return true;
}

static bool
is_known(const Space *space, const double *lower, const double *upper)
{
	for (int i = 0; i < space->known->count; i++)
	{
		if (covers(&space->known->boxes[i], space->ncolumns, lower, upper))
			return true;
	}
	return false;
}

static double
hull(const Space *space, const KnownBox *box, const double *lower, const double *upper, KnownBox *result)
{
	double width = 0;

	for (int column = 0; column < space->ncolumns; column++)
	{
		result->lower[column] = Min(box->lower[column], lower[column]);
		result->upper[column] = Max(box->upper[column], upper[column]);
		width += result->upper[column] - result->lower[column];
	}
	return width;
}

static void
learn(const Space *space, const double *lower, const double *upper)
{
	KnownGood *known = space->known;
	KnownBox joint;
	double least = INFINITY;
	int best = -1;

	for (int i = 0; i < known->count; i++)
	{
		double width = hull(space, &known->boxes[i], lower, upper, &joint);

		if (width < least)
		{
			least = width;
			best = i;
		}
	}
	if (best >= 0)
	{
		Crowd all = {GAP_FARTHEST, GAP_FARTHEST, joint.lower, joint.upper};

		(void) hull(space, &known->boxes[best], lower, upper, &joint);
		if (crowd_is_enough(space, &all))
		{
			known->boxes[best] = joint;
			return;
		}
	}
	memcpy(known->boxes[known->next].lower, lower, space->ncolumns * sizeof(double));
	memcpy(known->boxes[known->next].upper, upper, space->ncolumns * sizeof(double));
	known->next = (known->next + 1) % MOST_KNOWN;
	known->count = Min(known->count + 1, MOST_KNOWN);
}

bool
all_are_good(const Space *space, const double *lower, const double *upper)
{
	Crowd all = {GAP_FARTHEST, GAP_FARTHEST, lower, upper};

	if (is_known(space, lower, upper))
		return true;
	if (!crowd_is_enough(space, &all))
		return false;
	learn(space, lower, upper);
	return true;
}

/* Is a corner at least as far from the centre as another, in each column and on the same side? */
static bool
is_outwards(const Space *space, const double *corner, const double *other)
{
	for (int column = 0; column < space->nquasi; column++)
	{
		double centre = space->centre[column];

		if (other[column] > centre ? corner[column] < other[column] : corner[column] > other[column])
			return false;
	}
	return true;
}

static void
remember_corner(const Space *space, KnownCorners *known, const double *corner)
{
	memcpy(known->corners[known->next], corner, space->nquasi * sizeof(double));
	known->next = (known->next + 1) % MOST_KNOWN;
	known->count = Min(known->count + 1, MOST_KNOWN);
}

/*
 * Are enough rows within d of a corner, whatever their sensitive values?  Only a
 * guess where a corner farther out was, or one farther in was not: this chooses
 * which rows a group tries, not whether it is plain.
 */
bool
corner_is_within_reach(const Space *space, const double *corner)
{
	KnownGood *known = space->known;
	double lower[MOST_QUASI_IDS + 1];
	double upper[MOST_QUASI_IDS + 1];
	Crowd some = {GAP_NEAREST, GAP_BETWEEN, lower, upper};
	bool reached;

	for (int i = 0; i < known->reached.count; i++)
	{
		if (is_outwards(space, known->reached.corners[i], corner))
			return true;
	}
	for (int i = 0; i < known->missed.count; i++)
	{
		if (is_outwards(space, corner, known->missed.corners[i]))
			return false;
	}
	memcpy(lower, corner, space->nquasi * sizeof(double));
	memcpy(upper, corner, space->nquasi * sizeof(double));
	lower[space->nquasi] = -INFINITY;
	upper[space->nquasi] = INFINITY;
	reached = crowd_is_enough(space, &some);
	remember_corner(space, reached ? &known->reached : &known->missed, corner);
	return reached;
}
