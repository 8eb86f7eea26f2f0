/*
 * plain_release.c
 *		kanon.plain_k: plain k-anonymous groups.
 */
#include "base/kanon.h"

#include <sys/resource.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/progress.h"
#include "release/common/arguments.h"
#include "release/common/grouping.h"
#include "release/common/unsort.h"
#include "release/plain/outlier.h"
#include "release/plain/outlier_count.h"
#include "release/plain/plain_groups.h"
#include "release/plain/plain_known.h"
#include "release/plain/plain_search.h"

PG_FUNCTION_INFO_V1(kanon_plain_k);

/* How local outliers are treated (section 8.1). */
typedef enum Method
{
	METHOD_EXPC, /* as all other rows: they are not looked for */
	METHOD_GNOF, /* they are added to groups that were grown from other rows */
	METHOD_GOF	 /* groups are grown from them first */
} Method;

static const char *const method_names[] = {
	[METHOD_EXPC] = "expc",
	[METHOD_GNOF] = "gnof",
	[METHOD_GOF] = "gof",
};

/* The steps for which times are reported (Figure 9). */
typedef enum Step
{
	STEP_GLOBAL,
	STEP_LOCAL,
	STEP_EXPAND,
	STEP_RESIDUE,
	STEPS
} Step;

/* The processor time of each step, in milliseconds. */
typedef struct Clock
{
	double started;
	double ms[STEPS];
} Clock;

enum
{
	RESULT_ID,
	RESULT_GRP,
	RESULT_BOX,
	RESULT_SENSITIVE,
	RESULT_REMOVED,
	RESULT_COLUMNS
};

/* Return the processor time of this process, in milliseconds. */
static double
processor_ms(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return 1000.0 * (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		   (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000.0;
}

/* Add the time since the last call to a step. */
static void
clock_stop(Clock *clock, Step step)
{
	double now = processor_ms();

	clock->ms[step] += now - clock->started;
	clock->started = now;
}

/* Return the method that an argument names. */
static Method
argument_method(FunctionCallInfo fcinfo, int which)
{
	char *given = argument_text(fcinfo, which, "method");

	for (int i = 0; i < (int) lengthof(method_names); i++)
	{
		if (strcmp(given, method_names[i]) == 0)
			return (Method) i;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("method \"%s\" is not known", given),
			 errhint("It is \"expc\", \"gnof\" or \"gof\".")));
}

/* Return the number of steps after which a group that is not plain is mended in other ways: k if it is not given. */
static int
argument_delta(FunctionCallInfo fcinfo, int which, int k)
{
	int delta = PG_ARGISNULL(which) ? k : PG_GETARG_INT32(which);

	if (delta < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta is %d, but a group takes at least one step", delta)));
	return Min(delta, PG_INT32_MAX / 4);
}

/* Remove the sensitive-attribute outliers: step 1 of the algorithm. */
static void
remove_global(Plain *plain)
{
	const bool *global = space_global_values(plain->space);

	plain->group_of = palloc_extended(plain->space->nrows * sizeof(int32), MCXT_ALLOC_HUGE);
	for (int row = 0; row < plain->space->nrows; row++)
	{
		plain->group_of[row] = global[plain->space->value_of[row]] ? ROW_GLOBAL : ROW_FREE;
		plain->nplaced += plain->group_of[row] == ROW_GLOBAL ? 1 : 0;
	}
}

/* Return, by row, whether it is a local outlier, for the methods that treat these in their own way. */
static bool *
find_local(const Plain *plain, Method method)
{
	const Space *space = plain->space;
	bool *local = palloc_extended(space->nrows * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	double point[MOST_QUASI_IDS + 1];

	for (int row = 0; row < space->nrows && method != METHOD_EXPC; row++)
	{
		if (plain->group_of[row] != ROW_FREE)
			continue;
		space_point(space, row, point);
		local[row] = point_is_outlier(space, point);
		if (row % 1000 == 0)
			progress_done(row);
	}
	return local;
}

/* List the rows that have the mark, or that do not have it, in the order of the index; return their number. */
static int
list_seeds(const Plain *plain, const bool *marks, bool mark, int32 *seeds)
{
	int count = 0;

	for (int position = 0; position < plain->space->nrows; position++)
	{
		int32 row = plain->tree.row[position];

		if (marks[row] == mark)
			seeds[count++] = row;
	}
	return count;
}

/* Make the groups by a method, and take the time of each step. */
static void
make_plain_groups(Plain *plain, Method method, Clock *clock)
{
	const Space *space = plain->space;
	bool *local;
	bool *left_out = palloc_extended(space->nrows * sizeof(bool), MCXT_ALLOC_HUGE);
	int32 *seeds = palloc_extended(space->nrows * sizeof(int32), MCXT_ALLOC_HUGE);
	int nlocal;
	int nseeds;

	clock->started = processor_ms();
	remove_global(plain);
	clock_stop(clock, STEP_GLOBAL);

	progress_phase(PHASE_CHECKING, space->nrows);
	local = find_local(plain, method);
	clock_stop(clock, STEP_LOCAL);

	progress_phase(PHASE_GROUPING, space->nrows);
	for (int row = 0; row < space->nrows; row++)
		left_out[row] = local[row] || plain->group_of[row] != ROW_FREE;
	search_start(plain, left_out);
	nlocal = method == METHOD_GOF ? list_seeds(plain, local, true, seeds) : 0;
	nseeds = list_seeds(plain, local, false, seeds + nlocal);
	plain_expand(plain, seeds, nlocal);
	plain_expand(plain, seeds + nlocal, nseeds);
	clock_stop(clock, STEP_EXPAND);

	plain_residue(plain);
	clock_stop(clock, STEP_RESIDUE);
}

/* Add a row to the result; the columns of its group are set. */
static void
plain_put_row(ReturnSetInfo *result, const Space *space, int32 row, Datum *values, bool *nulls)
{
	values[RESULT_ID] = CStringGetTextDatum(space_id(space, row));
	values[RESULT_SENSITIVE] = CStringGetTextDatum(space_sensitive(space, row));
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Return the rows of a group. */
static void
plain_return_group(ReturnSetInfo *result, const Plain *plain, const PlainGroup *group, int number)
{
	Oid type = get_element_type(TupleDescAttr(result->setDesc, RESULT_BOX)->atttypid);
	Datum values[RESULT_COLUMNS] = {0};
	bool nulls[RESULT_COLUMNS] = {[RESULT_REMOVED] = true};

	values[RESULT_GRP] = Int32GetDatum(number);
	values[RESULT_BOX] = grouping_box(plain->space->grouping, group->rows, group->count, type);
	for (int i = 0; i < group->count; i++)
		plain_put_row(result, plain->space, group->rows[i], values, nulls);
}

/* Return a row that was removed. */
static void
return_removed(ReturnSetInfo *result, const Plain *plain, int32 row)
{
	Datum values[RESULT_COLUMNS] = {0};
	bool nulls[RESULT_COLUMNS] = {[RESULT_GRP] = true, [RESULT_BOX] = true};

	values[RESULT_REMOVED] = CStringGetTextDatum(plain->group_of[row] == ROW_GLOBAL ? "global" : "unplaceable");
	plain_put_row(result, plain->space, row, values, nulls);
}

/* Return the rows group by group, then the removed ones; return the number of groups. */
static int
return_rows(ReturnSetInfo *result, const Plain *plain)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon group", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	int ngroups = 0;

	progress_phase(PHASE_WRITING, plain->space->nrows);
	for (int i = 0; i < plain->ngroups; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (plain->groups[i].count > 0)
			plain_return_group(result, plain, &plain->groups[i], ++ngroups);
		MemoryContextReset(work);
	}
	for (int32 row = 0; row < plain->space->nrows; row++)
	{
		if (plain->group_of[row] < 0)
			return_removed(result, plain, row);
		MemoryContextReset(work);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
	return ngroups;
}

/*
 * Return (id, grp, box, sensitive, removed) for each row:
 * plain_k(source, id, quasi_ids, sensitive, k, p, d, delta, method).
 */
Datum
kanon_plain_k(PG_FUNCTION_ARGS)
{
	Plain plain = {.k = argument_int(fcinfo, 4, "k")};
	Method method = argument_method(fcinfo, 8);
	Clock clock = {0};
	Space *space;
	int ngroups;

	plain.delta = argument_delta(fcinfo, 7, Max(plain.k, 1));
	progress_start(fcinfo);
	kanon_materialize(fcinfo);
	space = space_read(fcinfo, 5, 6);
	space_check_k(space, plain.k);
	space->known = known_create(space);
	plain.space = space;
	make_plain_groups(&plain, method, &clock);
	ngroups = return_rows((ReturnSetInfo *) fcinfo->resultinfo, &plain);
	ereport(DEBUG1,
			(errmsg_internal("plain_k %s: %d groups; global outliers %.1f ms, local outliers %.1f ms, "
							 "expansion %.1f ms, residue %.1f ms",
							 method_names[method], ngroups, clock.ms[STEP_GLOBAL], clock.ms[STEP_LOCAL],
							 clock.ms[STEP_EXPAND], clock.ms[STEP_RESIDUE])));
	release_unsort(fcinfo);
	progress_end();
	return (Datum) 0;
}
