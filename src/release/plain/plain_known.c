/*
 * plain_known.c
 *		What is known about points without counting, and what can be guessed.
 *
 * Groups lie close together, and what has been counted for one mostly holds for
 * the next.  So boxes are kept in which all points are good: one is learned when a
 * count has shown that enough rows are within d of everything in it, and joined to
 * a known one where that is true of both together.  Points that were bad are kept,
 * too, and so are the answers of counts that show that no group can have a row:
 * those are close, hence dear, and what holds for a row holds for all beyond it.
 *
 * A sample of the rows says quickly, and always at the same cost, what is likely.
 * It decides which rows are tried, and that a group is not worth a count.  That a
 * group is plain is always counted.
 */
#include "base/kanon.h"

#include <math.h>

#include "release/plain/outlier.h"
#include "release/plain/plain_groups.h"

/* Boxes that are kept of a kind: where looking at them is cheaper than a count. */
#define MOST_KNOWN 128
#define MOST_ANSWERS 2048
/* Rows that stand for all where a guess will do. */
#define SAMPLE 1024
/* With less than this share of the rows that it needs, a point is taken for bad. */
#define CLEARLY 0.85

typedef struct KnownBox
{
	double lower[MOST_QUASI_IDS + 1]; /* standardized; the sensitive value is the last */
	double upper[MOST_QUASI_IDS + 1];
} KnownBox;

typedef struct KnownBoxes
{
	int most;
	int count;
	int next;	/* to be replaced */
	int latest; /* the one that was of use last */
	KnownBox *boxes;
} KnownBoxes;

/* A question whose answer changes once only when its box becomes wider. */
typedef struct KnownAnswers
{
	KnownBoxes within; /* everything in one of these has the answer of narrow boxes */
	KnownBoxes around; /* everything around one of these has that of wide ones */
} KnownAnswers;

struct Known
{
	KnownBoxes good;
	KnownBoxes bad; /* single points */
	KnownAnswers between;
	KnownAnswers outside;
	double *sample; /* column * SAMPLE + row */
	int enough;		/* of the sample's rows */
};

/* Rows in even steps through the index, so that every part of the space has its share; all where there are few. */
static void
take_sample(const Space *space, Known *known)
{
	int count = Min(space->nrows, SAMPLE);

	known->sample = palloc(space->ncolumns * SAMPLE * sizeof(double));
	for (int column = 0; column < space->ncolumns; column++)
	{
		const double *values = space->tree.values + (Size) column * space->nrows;

		for (int i = 0; i < SAMPLE; i++)
			known->sample[column * SAMPLE + i] = i < count ? values[(int64) i * space->nrows / count] : INFINITY;
	}
	known->enough = (int) ceil((double) space->enough * count / Max(space->nrows, 1));
}

static KnownBoxes
make_boxes(int most)
{
	return (KnownBoxes){.most = most, .boxes = palloc(most * sizeof(KnownBox))};
}

Known *
known_create(const Space *space)
{
	Known *known = palloc0(sizeof(Known));

	known->good = make_boxes(MOST_KNOWN);
	known->bad = make_boxes(MOST_KNOWN);
	known->between = (KnownAnswers){make_boxes(MOST_ANSWERS), make_boxes(MOST_ANSWERS)};
	known->outside = (KnownAnswers){make_boxes(MOST_ANSWERS), make_boxes(MOST_ANSWERS)};
	take_sample(space, known);
	return known;
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
is_known(const Space *space, KnownBoxes *known, const double *lower, const double *upper)
{
	if (known->count > 0 && covers(&known->boxes[known->latest], space->ncolumns, lower, upper))
		return true;
	for (int i = 0; i < known->count; i++)
	{
		if (covers(&known->boxes[i], space->ncolumns, lower, upper))
		{
			known->latest = i;
			return true;
		}
	}
	return false;
}

static void
remember(const Space *space, KnownBoxes *known, const double *lower, const double *upper)
{
	memcpy(known->boxes[known->next].lower, lower, space->ncolumns * sizeof(double));
	memcpy(known->boxes[known->next].upper, upper, space->ncolumns * sizeof(double));
	known->next = (known->next + 1) % known->most;
	known->count = Min(known->count + 1, known->most);
}

static bool
is_around_known(const Space *space, const KnownBoxes *known, const double *lower, const double *upper)
{
	KnownBox given;

	memcpy(given.lower, lower, space->ncolumns * sizeof(double));
	memcpy(given.upper, upper, space->ncolumns * sizeof(double));
	for (int i = 0; i < known->count; i++)
	{
		if (covers(&given, space->ncolumns, known->boxes[i].lower, known->boxes[i].upper))
			return true;
	}
	return false;
}

bool
crowd_is_known_enough(const Space *space, const Crowd *crowd)
{
	bool grows = crowd->quasi == GAP_BETWEEN; /* the wider the box, the more is near to some point of it; the less to what is outside */
	KnownAnswers *answers = grows ? &space->known->between : &space->known->outside;
	bool enough;

	if (is_known(space, &answers->within, crowd->lower, crowd->upper))
		return !grows;
	if (is_around_known(space, &answers->around, crowd->lower, crowd->upper))
		return grows;
	enough = crowd_is_enough(space, crowd);
	remember(space, enough == grows ? &answers->around : &answers->within, crowd->lower, crowd->upper);
	return enough;
}

/* The box around two; returns how much wider than the first it is. */
static double
hull(const Space *space, const KnownBox *box, const double *lower, const double *upper, KnownBox *result)
{
	double growth = 0;

	for (int column = 0; column < space->ncolumns; column++)
	{
		result->lower[column] = Min(box->lower[column], lower[column]);
		result->upper[column] = Max(box->upper[column], upper[column]);
		growth += box->lower[column] - result->lower[column] + result->upper[column] - box->upper[column];
	}
	return growth;
}

/* The squares of the distances between the sample's rows and the farthest point of a box, in some columns. */
static void
box_squares(const Space *space, const double *lower, const double *upper, int ncolumns, double *squares)
{
	memset(squares, 0, SAMPLE * sizeof(double));
	for (int column = 0; column < ncolumns; column++)
	{
		const double *values = space->known->sample + column * SAMPLE;
		double lo = lower[column];
		double hi = upper[column];

		for (int i = 0; i < SAMPLE; i++)
		{
			double gap = Max(values[i] - lo, hi - values[i]);

			squares[i] += gap * gap;
		}
	}
}

static int
count_sample(const Space *space, const double *squares)
{
	int near = 0;

	for (int i = 0; i < SAMPLE; i++)
		near += squares[i] <= space->square ? 1 : 0;
	return near;
}

/* Does the sample have so much of what it needs near to all points of a box? */
static bool
seems_good(const Space *space, const double *lower, const double *upper, double share)
{
	double squares[SAMPLE];

	box_squares(space, lower, upper, space->ncolumns, squares);
	return count_sample(space, squares) >= share * space->known->enough;
}

static bool
is_counted_good(const Space *space, const double *lower, const double *upper)
{
	Crowd all = {GAP_FARTHEST, GAP_FARTHEST, lower, upper};

	return seems_good(space, lower, upper, CLEARLY) && crowd_is_enough(space, &all);
}

static void
learn_good(const Space *space, const double *lower, const double *upper)
{
	KnownBoxes *known = &space->known->good;
	KnownBox joint;
	double least = INFINITY;
	int best = -1;

	for (int i = 0; i < known->count; i++)
	{
		double growth = hull(space, &known->boxes[i], lower, upper, &joint);

		if (growth < least)
		{
			least = growth;
			best = i;
		}
	}
	if (best >= 0)
		(void) hull(space, &known->boxes[best], lower, upper, &joint);
	if (best >= 0 && is_counted_good(space, joint.lower, joint.upper))
		known->boxes[best] = joint;
	else
		remember(space, known, lower, upper);
}

bool
all_are_good(const Space *space, const double *lower, const double *upper)
{
	if (is_known(space, &space->known->good, lower, upper))
		return true;
	if (!is_counted_good(space, lower, upper))
		return false;
	learn_good(space, lower, upper);
	return true;
}

static bool
point_is_good(const Space *space, const double *point)
{
	KnownBoxes *bad = &space->known->bad;

	if (is_known(space, bad, point, point))
		return false;
	if (all_are_good(space, point, point))
		return true;
	remember(space, bad, point, point);
	return false;
}

bool
point_seems_good(const Space *space, const double *point)
{
	return seems_good(space, point, point, 1);
}

/* The sensitive value with which the sample has the most rows near to a corner. */
static int32
best_value(const Space *space, const double *corner, const int32 *values, int count)
{
	const double *sensitive = space->known->sample + space->nquasi * SAMPLE;
	double at_corner[SAMPLE];
	double squares[SAMPLE];
	int32 best = values[0];
	int most = -1;

	box_squares(space, corner, corner, space->nquasi, at_corner);
	for (int i = 0; i < count; i++)
	{
		double value = space->values[values[i]];
		int near;

		for (int j = 0; j < SAMPLE; j++)
			squares[j] = at_corner[j] + (sensitive[j] - value) * (sensitive[j] - value);
		near = count_sample(space, squares);
		if (near > most)
		{
			most = near;
			best = values[i];
		}
	}
	return best;
}

bool
corner_is_good(const Space *space, double *corner, double first, const int32 *values, int count)
{
	corner[space->nquasi] = first;
	if (is_known(space, &space->known->good, corner, corner))
		return true;
	corner[space->nquasi] = space->values[best_value(space, corner, values, count)];
	return point_is_good(space, corner);
}
