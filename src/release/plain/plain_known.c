/*
 * plain_known.c
 *		Answers about points that are known without counting, and guesses.
 *
 * Groups lie close together, and an answer that has been counted for one group mostly holds
 * for the next.  So boxes are kept in which all points are good: a box is learned when a
 * count has shown that enough rows are within d of everything in it, and joined to a known
 * one if that is true of both together.  Bad points are kept, too, and so are the answers
 * of counts that show that no group can have a row: these are close, hence expensive, and
 * an answer for a row holds for all rows beyond it.
 *
 * A sample of the rows says quickly, and always at the same cost, which answer is likely.
 * It decides which rows are tried, and that a group is not worth a count.  That a group is
 * plain is always counted.
 */
#include "base/kanon.h"

#include "release/plain/plain_known.h"

#include <math.h>

#include "release/plain/outlier.h"
#include "release/plain/outlier_count.h"

/* The most good boxes and bad points that are kept: comparing with all of them is cheaper than a count. */
#define MOST_KNOWN 128

/* The most answers that are kept of a kind. */
#define MOST_ANSWERS 2048

/* The rows of the sample. */
#define SAMPLE 1024

/* A point is taken for bad if the sample has less than this share of the rows that the point needs. */
#define CLEARLY 0.85

/* A box for which something is known. */
typedef struct KnownBox
{
	double lower[MOST_QUASI_IDS + 1]; /* standardized; the sensitive value is the last */
	double upper[MOST_QUASI_IDS + 1];
} KnownBox;

/* A number of boxes; when there is no more room, a new box replaces the oldest. */
typedef struct KnownBoxes
{
	int most;	/* boxes that there is room for */
	int count;	/* boxes that there are */
	int next;	/* the place of the next box */
	int latest; /* the box that was of use last */
	KnownBox *boxes;
} KnownBoxes;

/* The answers to a question that changes its answer only once when its box becomes wider. */
typedef struct KnownAnswers
{
	KnownBoxes within; /* a box inside one of these has the answer of narrow boxes */
	KnownBoxes around; /* a box around one of these has the answer of wide boxes */
} KnownAnswers;

struct Known
{
	KnownBoxes good; /* boxes all points of which are good */
	KnownBoxes bad;	 /* single points */
	KnownAnswers between;
	KnownAnswers outside;
	double *sample; /* standardized, at column * SAMPLE + row; infinite where there are not enough rows */
	int enough;		/* a point with so many rows of the sample within d is likely to be good */
};

/*
 * Take the sample: rows in even steps through the index, so that every part of the space
 * has its share, or all rows where there are few.
 */
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

/* Return room for boxes, without any. */
static KnownBoxes
make_known_boxes(int most)
{
	return (KnownBoxes){.most = most, .boxes = palloc(most * sizeof(KnownBox))};
}

/* Return the state of these functions. */
Known *
known_create(const Space *space)
{
	Known *known = palloc0(sizeof(Known));

	known->good = make_known_boxes(MOST_KNOWN);
	known->bad = make_known_boxes(MOST_KNOWN);
	known->between = (KnownAnswers){make_known_boxes(MOST_ANSWERS), make_known_boxes(MOST_ANSWERS)};
	known->outside = (KnownAnswers){make_known_boxes(MOST_ANSWERS), make_known_boxes(MOST_ANSWERS)};
	take_sample(space, known);
	return known;
}

/* Return true if a box covers the box from lower to upper. */
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

/* Return true if one of the known boxes covers the box from lower to upper. */
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

/* Add a box to the known ones. */
static void
remember_box(const Space *space, KnownBoxes *known, const double *lower, const double *upper)
{
	Assert(known->next >= 0 && known->next < known->most);
	memcpy(known->boxes[known->next].lower, lower, space->ncolumns * sizeof(double));
	memcpy(known->boxes[known->next].upper, upper, space->ncolumns * sizeof(double));
	known->next = (known->next + 1) % known->most;
	known->count = Min(known->count + 1, known->most);
}

/* Return true if the box from lower to upper covers one of the known boxes. */
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

/* Return crowd_is_enough(), for GAP_BETWEEN or GAP_OUTSIDE, from a known answer if there is one. */
bool
crowd_is_known_enough(const Space *space, const Crowd *crowd)
{
	/* The wider the box, the more rows are near to some point of it, and the fewer to some point outside. */
	bool grows = crowd->quasi == GAP_BETWEEN;
	KnownAnswers *answers = grows ? &space->known->between : &space->known->outside;
	bool enough;

	Assert(crowd->quasi == GAP_BETWEEN || crowd->quasi == GAP_OUTSIDE);
	if (is_known(space, &answers->within, crowd->lower, crowd->upper))
		return !grows;
	if (is_around_known(space, &answers->around, crowd->lower, crowd->upper))
		return grows;
	enough = crowd_is_enough(space, crowd);
	remember_box(space, enough == grows ? &answers->around : &answers->within, crowd->lower, crowd->upper);
	return enough;
}

/* Set the box around a box and the box from lower to upper, and return how much wider than the first it is. */
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

/*
 * Set the squared distances between the sample's rows and the farthest point of a box, in
 * the first ncolumns columns.
 */
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

/* Return how many rows of the sample have a squared distance that is within d. */
static int
count_sample(const Space *space, const double *squares)
{
	int near = 0;

	for (int i = 0; i < SAMPLE; i++)
		near += squares[i] <= space->square ? 1 : 0;
	return near;
}

/* Return true if the sample has this share of the rows that it needs near to all points of a box. */
static bool
seems_good(const Space *space, const double *lower, const double *upper, double share)
{
	double squares[SAMPLE];

	box_squares(space, lower, upper, space->ncolumns, squares);
	return count_sample(space, squares) >= share * space->known->enough;
}

/* Return true if a count shows that all points of a box are good; the sample decides whether to count. */
static bool
is_counted_good(const Space *space, const double *lower, const double *upper)
{
	Crowd all = {GAP_FARTHEST, GAP_FARTHEST, lower, upper};

	return seems_good(space, lower, upper, CLEARLY) && crowd_is_enough(space, &all);
}

/*
 * Keep a box all points of which are good: join it to the known box that becomes least
 * wider, if all points of both together are good.
 */
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
		remember_box(space, known, lower, upper);
}

/* Return true if all points of a box are good. */
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

/* Return true if a point is good. */
static bool
point_is_good(const Space *space, const double *point)
{
	KnownBoxes *bad = &space->known->bad;

	if (is_known(space, bad, point, point))
		return false;
	if (all_are_good(space, point, point))
		return true;
	remember_box(space, bad, point, point);
	return false;
}

/* Guess whether a point is good. */
bool
point_seems_good(const Space *space, const double *point)
{
	return seems_good(space, point, point, 1);
}

/* Return the sensitive value with which the sample has the most rows near to a corner. */
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

/*
 * Return true if a corner is good with one of count sensitive values: with first, if that
 * is known, or else with the value that is the best for the sample.
 */
bool
corner_is_good(const Space *space, double *corner, double first, const int32 *values, int count)
{
	Assert(count > 0);
	corner[space->nquasi] = first;
	if (is_known(space, &space->known->good, corner, corner))
		return true;
	corner[space->nquasi] = space->values[best_value(space, corner, values, count)];
	return point_is_good(space, corner);
}
