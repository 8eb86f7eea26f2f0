/*
 * outlier_check.c
 *		kanon.is_plain and kanon.distinguishability: Theorem 5.1, and the attack that it
 *		defends against, for any grouping.
 *
 * This is written straight from the paper, one node after another, and shares no code with
 * the algorithms, since the algorithms are checked with it.  A node is a corner of a
 * group's box with one of the group's sensitive values; it is bad if it would be a
 * (p,d)-outlier.  A column that is not generalized has one end, not two, so that no corner
 * is looked at twice.
 */
#include "base/kanon.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/progress.h"
#include "cluster/points.h"
#include "hierarchy/generalized.h"
#include "release/common/arguments.h"
#include "release/common/input.h"
#include "release/plain/outlier.h"
#include "release/plain/outlier_count.h"
#include "release/plain/outlier_grouping.h"

PG_FUNCTION_INFO_V1(kanon_is_plain);
PG_FUNCTION_INFO_V1(kanon_distinguishability);

/* A group's QI-hypercubes (Definition 3.9). */
typedef struct Hypercubes
{
	const Space *space;
	double *lower; /* the published box, raw */
	double *upper;
	int ngeneralized; /* columns with two ends */
	int *generalized; /* the columns */
	int nvalues;	  /* distinct sensitive values, one hypercube each */
	int32 *values;
	int32 *carriers; /* for each value a row that has it */
} Hypercubes;

/* Compare two rows by their sensitive values. */
static int
outlier_compare_values(const void *a, const void *b, void *arg)
{
	const Space *space = arg;

	return space->value_of[*(const int32 *) a] - space->value_of[*(const int32 *) b];
}

/* Return the hypercubes of a group. */
static Hypercubes *
make_hypercubes(const Space *space, const int32 *rows, int count)
{
	Hypercubes *cubes = palloc0(sizeof(Hypercubes));
	int32 *sorted = palloc_extended(count * sizeof(int32), MCXT_ALLOC_HUGE);

	Assert(count > 0);
	cubes->space = space;
	cubes->lower = palloc(space->nquasi * sizeof(double));
	cubes->upper = palloc(space->nquasi * sizeof(double));
	space_box(space, rows, count, cubes->lower, cubes->upper);
	cubes->generalized = palloc(space->nquasi * sizeof(int));
	for (int column = 0; column < space->nquasi; column++)
	{
		if (cubes->lower[column] != cubes->upper[column])
			cubes->generalized[cubes->ngeneralized++] = column;
	}
	memcpy(sorted, rows, count * sizeof(int32));
	qsort_arg(sorted, count, sizeof(int32), outlier_compare_values, (void *) space);
	cubes->values = palloc_extended(count * sizeof(int32), MCXT_ALLOC_HUGE);
	cubes->carriers = sorted;
	for (int i = 0; i < count; i++)
	{
		int32 value = space->value_of[sorted[i]];

		if (cubes->nvalues > 0 && cubes->values[cubes->nvalues - 1] == value)
			continue;
		cubes->carriers[cubes->nvalues] = sorted[i];
		cubes->values[cubes->nvalues++] = value;
	}
	return cubes;
}

/* Return the number of corners of the box. */
static int
corner_count(const Hypercubes *cubes)
{
	return 1 << cubes->ngeneralized;
}

/* Set the quasi-identifiers, raw, of a corner; a bit for each generalized column says which end it has. */
static void
corner_values(const Hypercubes *cubes, int corner, double *values)
{
	memcpy(values, cubes->lower, cubes->space->nquasi * sizeof(double));
	for (int i = 0; i < cubes->ngeneralized; i++)
	{
		int column = cubes->generalized[i];

		if (corner & (1 << i))
			values[column] = cubes->upper[column];
	}
}

/* Return true if a corner with a sensitive value is bad (Definition 4.2). */
static bool
node_is_bad(const Hypercubes *cubes, int corner, int32 value)
{
	const Space *space = cubes->space;
	double node[MOST_QUASI_IDS + 1];

	corner_values(cubes, corner, node);
	for (int column = 0; column < space->nquasi; column++)
		node[column] = space_standard(space, column, node[column]);
	node[space->nquasi] = space->values[value];
	return point_is_outlier(space, node);
}

/* Return true if all nodes of the hypercube of a sensitive value are bad. */
static bool
hypercube_is_bad(const Hypercubes *cubes, int32 value)
{
	for (int corner = 0; corner < corner_count(cubes); corner++)
	{
		if (!node_is_bad(cubes, corner, value))
			return false;
	}
	return true;
}

/*
 * Return true if all inter-hypercube edges at a corner are bad.
 *
 * An edge is bad if both its nodes are, so all edges are bad if all nodes of the corner
 * are.  Where there is one hypercube and no edge, its node stands for the edges.
 */
static bool
corner_is_bad(const Hypercubes *cubes, int corner)
{
	for (int i = 0; i < cubes->nvalues; i++)
	{
		if (!node_is_bad(cubes, corner, cubes->values[i]))
			return false;
	}
	return true;
}

/* Return the text of a corner, for a reason. */
static char *
describe_corner(const Hypercubes *cubes, int corner)
{
	StringInfoData text;
	double values[MOST_QUASI_IDS];

	initStringInfo(&text);
	corner_values(cubes, corner, values);
	for (int column = 0; column < cubes->space->nquasi; column++)
	{
		GenView view;
		int length;
		const char *label;

		gen_view(release_box(&cubes->space->grouping->source->columns[column], values[column], values[column]), &view);
		label = gen_text(&view, &length);
		appendStringInfo(&text, "%s%.*s", column > 0 ? ", " : "", length, label);
	}
	return text.data;
}

/* Return the reason why a group is not plain and k-anonymous by Theorem 5.1, or NULL if it is. */
static char *
find_fault(const Hypercubes *cubes, int k)
{
	if (cubes->nvalues < k)
		return psprintf("(1) it has %d distinct sensitive values, k is %d", cubes->nvalues, k);
	for (int i = 0; i < cubes->nvalues; i++)
	{
		if (hypercube_is_bad(cubes, cubes->values[i]))
			return psprintf("(2) with the sensitive value %s every corner of its box would be an outlier",
							space_sensitive(cubes->space, cubes->carriers[i]));
	}
	for (int corner = 0; corner < corner_count(cubes); corner++)
	{
		if (corner_is_bad(cubes, corner))
			return psprintf("(3) the corner (%s) of its box would be an outlier with every sensitive value",
							describe_corner(cubes, corner));
	}
	return NULL;
}

/*
 * Return (grp, plain, reason) for each group:
 * is_plain(source, id, quasi_ids, sensitive, grouping, k, p, d).
 */
Datum
kanon_is_plain(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int k = argument_int(fcinfo, 5, "k");
	char *query = argument_text(fcinfo, 4, "grouping");
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon group", ALLOCSET_DEFAULT_SIZES);
	Space *space;
	GivenGroups *groups;

	progress_start(fcinfo);
	kanon_materialize(fcinfo);
	space = space_read(fcinfo, 6, 7);
	space_check_k(space, k);
	groups = given_groups_read(space, query);
	progress_phase(PHASE_CHECKING, groups->ngroups);
	for (int group = 0; group < groups->ngroups; group++)
	{
		MemoryContext old = MemoryContextSwitchTo(work);
		int first = groups->starts[group];
		char *fault = find_fault(make_hypercubes(space, groups->rows + first, groups->starts[group + 1] - first), k);
		Datum values[3] = {Int32GetDatum(groups->labels[group]), BoolGetDatum(fault == NULL), (Datum) 0};
		bool nulls[3] = {false, false, fault == NULL};

		if (fault)
			values[2] = CStringGetTextDatum(fault);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		MemoryContextSwitchTo(old);
		MemoryContextReset(work);
		progress_done(group + 1);
	}
	progress_end();
	return (Datum) 0;
}

/* The attack: the adversary knows the outliers among the rows. */
typedef struct Attack
{
	const Space *space;
	int noutliers;
	int32 *outliers; /* rows */
	int32 *matches;	 /* the outliers that match the group at hand (Definition 3.6) */
	int nmatches;
} Attack;

/* Collect the outliers. */
static void
learn_outliers(Attack *attack)
{
	const Space *space = attack->space;
	double point[MOST_QUASI_IDS + 1];

	attack->outliers = palloc_extended(Max(space->nrows, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
	attack->matches = palloc_extended(Max(space->nrows, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
	for (int row = 0; row < space->nrows; row++)
	{
		space_point(space, row, point);
		if (point_is_outlier(space, point))
			attack->outliers[attack->noutliers++] = row;
	}
}

/* Collect the outliers that match a group. */
static void
match_outliers(Attack *attack, const Hypercubes *cubes)
{
	attack->nmatches = 0;
	for (int i = 0; i < attack->noutliers; i++)
	{
		const double *values = point_values(attack->space->points, attack->outliers[i]);
		bool matches = true;

		for (int column = 0; column < attack->space->nquasi && matches; column++)
			matches = values[column] >= cubes->lower[column] && values[column] <= cubes->upper[column];
		if (matches)
			attack->matches[attack->nmatches++] = attack->outliers[i];
	}
}

/*
 * Return the corner of a group's box that an outlier lies on, or -1.
 *
 * Both theorems ask that in each column some corner's end is no farther than the outlier
 * from every row of the source.  One of these rows is the outlier's own, at distance 0: so
 * its value must be an end.  Then that end is, from every row, just as far as the outlier.
 */
static int
outlier_corner(const Hypercubes *cubes, int32 row)
{
	const double *values = point_values(cubes->space->points, row);
	int corner = 0;

	for (int i = 0; i < cubes->ngeneralized; i++)
	{
		int column = cubes->generalized[i];

		if (values[column] == cubes->upper[column])
			corner |= 1 << i;
		else if (values[column] != cubes->lower[column])
			return -1;
	}
	return corner;
}

/* Return true if one of the group's hypercubes is bad. */
static bool
some_hypercube_is_bad(const Hypercubes *cubes)
{
	for (int i = 0; i < cubes->nvalues; i++)
	{
		if (hypercube_is_bad(cubes, cubes->values[i]))
			return true;
	}
	return false;
}

/* Return how many of the group's sensitive values make an outlier of a row with these quasi-identifiers. */
static int
guilty_values(const Hypercubes *cubes, int32 row)
{
	double point[MOST_QUASI_IDS + 1];
	int count = 0;

	space_point(cubes->space, row, point);
	for (int i = 0; i < cubes->nvalues; i++)
	{
		point[cubes->space->nquasi] = cubes->space->values[cubes->values[i]];
		count += point_is_outlier(cubes->space, point) ? 1 : 0;
	}
	return count;
}

/*
 * Return (id, grp, presence, association), by Definition 4.1, for the outliers
 * that Theorem 4.1 or 4.2 gives away as present in a group.
 */
static void
attack_group(ReturnSetInfo *result, Attack *attack, const Hypercubes *cubes, int32 label)
{
	bool looked = false;
	bool bad_hypercube = false;

	match_outliers(attack, cubes);
	for (int i = 0; i < attack->nmatches; i++)
	{
		int32 row = attack->matches[i];
		int corner = outlier_corner(cubes, row);
		int guilty;

		if (corner < 0)
			continue;
		if (!looked)
			bad_hypercube = some_hypercube_is_bad(cubes);
		looked = true;
		if (bad_hypercube || corner_is_bad(cubes, corner))
		{
			Datum values[4] = {CStringGetTextDatum(space_id(cubes->space, row)), Int32GetDatum(label)};
			bool nulls[4] = {false};

			guilty = guilty_values(cubes, row);
			values[2] = Float8GetDatum(1.0 / attack->nmatches);
			values[3] = Float8GetDatum(guilty > 0 ? 1.0 / guilty : 0);
			tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		}
	}
}

/*
 * Return (id, grp, presence, association) for each outlier that is given away:
 * distinguishability(source, id, quasi_ids, sensitive, grouping, p, d).
 */
Datum
kanon_distinguishability(PG_FUNCTION_ARGS)
{
	char *query = argument_text(fcinfo, 4, "grouping");
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon group", ALLOCSET_DEFAULT_SIZES);
	GivenGroups *groups;
	Attack attack = {0};

	progress_start(fcinfo);
	kanon_materialize(fcinfo);
	attack.space = space_read(fcinfo, 5, 6);
	groups = given_groups_read(attack.space, query);
	progress_phase(PHASE_CHECKING, groups->ngroups);
	learn_outliers(&attack);
	for (int group = 0; group < groups->ngroups; group++)
	{
		MemoryContext old = MemoryContextSwitchTo(work);
		int first = groups->starts[group];
		Hypercubes *cubes = make_hypercubes(attack.space, groups->rows + first, groups->starts[group + 1] - first);

		CHECK_FOR_INTERRUPTS();
		attack_group((ReturnSetInfo *) fcinfo->resultinfo, &attack, cubes, groups->labels[group]);
		MemoryContextSwitchTo(old);
		MemoryContextReset(work);
		progress_done(group + 1);
	}
	progress_end();
	return (Datum) 0;
}
