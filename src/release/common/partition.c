/*
 * partition.c
 *		kanon.mondrian, kanon.topdown and kanon.local_recoding: releases that partition
 *		the rows of a source.
 */
#include "base/kanon.h"

#include "release/common/grouping.h"

#include "base/progress.h"
#include "cluster/groups.h"
#include "cluster/local.h"
#include "cluster/mondrian.h"
#include "cluster/rule.h"
#include "cluster/topdown.h"
#include "release/common/arguments.h"
#include "release/common/unsort.h"

PG_FUNCTION_INFO_V1(kanon_mondrian);
PG_FUNCTION_INFO_V1(kanon_topdown);
PG_FUNCTION_INFO_V1(kanon_local_recoding);

/* The state of one call. */
typedef struct Partitioning
{
	Grouping *grouping;
	GroupRule *rule; /* that groups must satisfy */
	int32 *rows;	 /* points, for the algorithm to reorder */
	int nrows;
	Groups *groups; /* the result */
} Partitioning;

/* Read the arguments and the source, and prepare to put its rows into groups. */
static void
partitioning_start(FunctionCallInfo fcinfo, Partitioning *partitioning, bool ordered)
{
	GroupingArgs args = {.ordered = ordered};

	args.source = argument_text(fcinfo, 0, "source");
	argument_grouping(fcinfo, 1, &args);
	argument_diversity(fcinfo, 4, &args);
	if (args.sensitive && args.l == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" is sensitive, but l is not given", args.sensitive),
				 errhint("Give the number of different values that a group needs, for example l => 2.")));

	progress_start(fcinfo);
	progress_phase(PHASE_READING, 0);
	kanon_materialize(fcinfo);
	partitioning->grouping = grouping_read(&args);
	partitioning->rule = rule_create(partitioning->grouping->points, args.k, args.l);
	partitioning->nrows = partitioning->grouping->points->nrows;
	partitioning->groups = groups_create(partitioning->nrows);
	partitioning->rows = palloc_extended((Size) partitioning->nrows * sizeof(int32), MCXT_ALLOC_HUGE);
	Assert(partitioning->nrows >= args.k);
	for (int i = 0; i < partitioning->nrows; i++)
		partitioning->rows[i] = i;
	progress_phase(PHASE_GROUPING, partitioning->nrows);
}

/* Return the groups. */
static void
partitioning_finish(FunctionCallInfo fcinfo, const Partitioning *partitioning)
{
	grouping_return(fcinfo, partitioning->grouping, partitioning->groups);
	release_unsort(fcinfo);
	progress_end();
}

/*
 * Partition the rows by Mondrian: mondrian(source, id, quasi_ids, k, sensitive, l, split)
 * -> (id, grp, box).
 */
Datum
kanon_mondrian(PG_FUNCTION_ARGS)
{
	bool gain = argument_choice(fcinfo, 6, "split", "median", "gain");
	Partitioning partitioning;
	CutPlan plan = {.strategy = gain ? CUT_GAIN : CUT_MEDIAN, .report = progress_done};

	partitioning_start(fcinfo, &partitioning, false);
	plan.rule = partitioning.rule;
	cuttree_groups(cuttree_build(&plan, partitioning.rows, partitioning.nrows), plan.rule, partitioning.groups);
	partitioning_finish(fcinfo, &partitioning);
	return (Datum) 0;
}

/* Partition the rows by TopDown: topdown(source, id, quasi_ids, k, sensitive, l, seed) -> (id, grp, box). */
Datum
kanon_topdown(PG_FUNCTION_ARGS)
{
	Partitioning partitioning;
	pg_prng_state random;

	pg_prng_seed(&random, (uint64) argument_int(fcinfo, 6, "seed"));
	partitioning_start(fcinfo, &partitioning, true);
	topdown_groups(partitioning.rule, &random, partitioning.rows, partitioning.nrows, partitioning.groups,
				   progress_done);
	partitioning_finish(fcinfo, &partitioning);
	return (Datum) 0;
}

/*
 * Partition the rows by local recoding: local_recoding(source, id, quasi_ids, k,
 * sensitive, l, block_size) -> (id, grp, box).
 */
Datum
kanon_local_recoding(PG_FUNCTION_ARGS)
{
	int block_size = argument_int(fcinfo, 6, "block_size");
	Partitioning partitioning;

	if (block_size < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("block_size is %d, but a block has at least one row", block_size)));
	partitioning_start(fcinfo, &partitioning, true);
	local_groups(partitioning.rule, block_size, partitioning.rows, partitioning.nrows, partitioning.groups,
				 progress_done);
	partitioning_finish(fcinfo, &partitioning);
	return (Datum) 0;
}
