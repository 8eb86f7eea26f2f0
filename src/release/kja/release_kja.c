/*
 * release_kja.c
 *		kanon.kja and kanon.kja_rows: k-join-anonymous groups of the microdata and of
 *		public rows.
 */
#include "base/kanon.h"

#include "release/common/grouping.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/progress.h"
#include "cluster/groups.h"
#include "cluster/kja.h"
#include "cluster/points.h"
#include "release/common/arguments.h"
#include "release/common/input.h"
#include "release/common/unsort.h"

PG_FUNCTION_INFO_V1(kanon_kja);

/* The columns of kanon.kja_rows; kanon.kja ends with the box. */
enum
{
	RESULT_ID,
	RESULT_IN_SOURCE,
	RESULT_GRP,
	RESULT_SG,
	RESULT_BOX,
	RESULT_VALUE,
	RESULT_COLUMNS
};

/*
 * Raise an error if the method "refinement" has too few rows.
 *
 * Refinement groups the microdata alone first, so it needs k rows of it.  The method
 * "direct" needs k rows in all: microdata with fewer rows is one sensitive group.
 */
static void
check_refinement(const GroupingArgs *args, const Points *points)
{
	if (args->k > points->nown)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("k is %d, but the source has only %d rows", args->k, points->nown),
				 errhint("The method \"direct\" needs only k rows of the source and the public table together.")));
}

/* Return the rows of a group. */
static void
kja_return_group(ReturnSetInfo *result, const Grouping *grouping, const KjaResult *groups, int group)
{
	const int32 *rows = group_rows(groups->groups, group);
	int count = group_size(groups->groups, group);
	const char **ids = grouping_ids(grouping, rows, count);
	Oid type = get_element_type(TupleDescAttr(result->setDesc, RESULT_BOX)->atttypid);
	Datum values[RESULT_COLUMNS] = {0};
	bool nulls[RESULT_COLUMNS] = {false};

	values[RESULT_GRP] = Int32GetDatum(group + 1);
	values[RESULT_SG] = Int32GetDatum(groups->sg[group]);
	values[RESULT_BOX] = grouping_box(grouping, rows, count, type);
	for (int i = 0; i < count; i++)
	{
		int32 row = grouping->row_of[rows[i]];
		const ReleaseColumn *sensitive = grouping->sensitive;

		Assert(row >= 0 && row < grouping->source->nrows);
		values[RESULT_ID] = CStringGetTextDatum(ids[i]);
		values[RESULT_IN_SOURCE] = BoolGetDatum(point_is_own(grouping->points, rows[i]));
		nulls[RESULT_VALUE] = sensitive == NULL || isnan(sensitive->values[row]);
		if (!nulls[RESULT_VALUE])
			values[RESULT_VALUE] = CStringGetTextDatum(sensitive->words[(int) sensitive->values[row]]);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/* Return the rows of all groups. */
static void
kja_return_groups(FunctionCallInfo fcinfo, const Grouping *grouping, const KjaResult *groups)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon group", ALLOCSET_DEFAULT_SIZES);

	progress_phase(PHASE_WRITING, group_start(groups->groups, groups->groups->ngroups));
	for (int group = 0; group < groups->groups->ngroups; group++)
	{
		MemoryContext old = MemoryContextSwitchTo(work);

		CHECK_FOR_INTERRUPTS();
		kja_return_group((ReturnSetInfo *) fcinfo->resultinfo, grouping, groups, group);
		MemoryContextSwitchTo(old);
		MemoryContextReset(work);
		progress_done(groups->groups->ends[group]);
	}
	MemoryContextDelete(work);
}

/*
 * Make a k-join-anonymous release: kja(source, public, id, quasi_ids, k, algorithm,
 * method, seed, sensitive, l) -> (id, in_source, grp, sg, box). It is kja_rows as well,
 * which also returns the sensitive value.
 */
Datum
kanon_kja(PG_FUNCTION_ARGS)
{
	GroupingArgs args = {.ordered = true};
	KjaPlan plan = {0};
	Grouping *grouping;

	args.source = argument_text(fcinfo, 0, "source");
	args.public_source = argument_text(fcinfo, 1, "public");
	argument_grouping(fcinfo, 2, &args);
	plan.topdown = argument_choice(fcinfo, 5, "algorithm", "mondrian", "topdown");
	plan.refinement = argument_choice(fcinfo, 6, "method", "direct", "refinement");
	pg_prng_seed(&plan.random, (uint64) argument_int(fcinfo, 7, "seed"));
	argument_diversity(fcinfo, 8, &args);

	progress_start(fcinfo);
	progress_phase(PHASE_READING, 0);
	kanon_materialize(fcinfo);
	grouping = grouping_read(&args);
	if (plan.refinement)
		check_refinement(&args, grouping->points);
	plan.points = grouping->points;
	plan.k = args.k;
	plan.l = args.l;
	plan.report = progress_done;
	progress_phase(PHASE_GROUPING, grouping->points->nrows);
	kja_return_groups(fcinfo, grouping, kja_groups(&plan));
	release_unsort(fcinfo);
	progress_end();
	return (Datum) 0;
}
