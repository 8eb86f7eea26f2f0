/*
 * rows.c
 *		The rows of a result: groups with their identifiers and boxes.
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
#include "cluster/points.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "release/common/input.h"

/* Return the value that covers a whole column: the root of its hierarchy, if it has one. */
static Datum
everything(const ReleaseColumn *column)
{
	return column->dgh ? dgh_root(column->dgh) : gen_any(0);
}

/* Take a box apart, and return the number of its values. */
int
box_values(ArrayType *box, Datum **values, bool **nulls)
{
	int16 length;
	bool by_value;
	char alignment;
	int count;

	get_typlenbyvalalign(ARR_ELEMTYPE(box), &length, &by_value, &alignment);
	deconstruct_array(box, ARR_ELEMTYPE(box), length, by_value, alignment, values, nulls, &count);
	return count;
}

/*
 * Return the box around some rows as an array of generalized values.
 *
 * NULL is a value of its own: where it is the value of all rows the box has NULL, where it
 * is the value of some rows the box has everything.
 */
Datum
grouping_box(const Grouping *grouping, const int32 *rows, int count, Oid type)
{
	const Points *points = grouping->points;
	int ncolumns = points->ncolumns;
	Bounds box = bounds_create(points, 1);
	Datum *values = palloc0(ncolumns * sizeof(Datum));
	bool *nulls = palloc0(ncolumns * sizeof(bool));
	int lower_bound = 1;
	int16 length;
	bool by_value;
	char alignment;

	Assert(count > 0 && ncolumns <= grouping->source->ncolumns);
	bounds_of(points, box, rows, count);
	for (int i = 0; i < ncolumns; i++)
	{
		const ReleaseColumn *column = &grouping->source->columns[i];

		nulls[i] = isinf(box[i]);
		if (!nulls[i])
			values[i] = isinf(box[ncolumns + i]) ? everything(column) : release_box(column, box[i], box[ncolumns + i]);
	}
	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	return PointerGetDatum(
		construct_md_array(values, nulls, 1, &ncolumns, &lower_bound, type, length, by_value, alignment));
}

/*
 * Return the identifiers of some rows.  The identifiers are spread over memory: if they
 * are fetched together, the processor waits for many of them at once.
 */
const char **
grouping_ids(const Grouping *grouping, const int32 *rows, int count)
{
	const char **ids = palloc_extended(count * sizeof(char *), MCXT_ALLOC_HUGE);

	for (int i = 0; i < count; i++)
		ids[i] = grouping->source->ids[grouping->row_of[rows[i]]];
	return ids;
}

/* Return the rows of a group. */
static void
grouping_return_group(ReturnSetInfo *result, const Grouping *grouping, const Groups *groups, int group)
{
	const int32 *rows = group_rows(groups, group);
	int count = group_size(groups, group);
	const char **ids = grouping_ids(grouping, rows, count);
	Oid type = get_element_type(TupleDescAttr(result->setDesc, 2)->atttypid);
	Datum values[3];
	bool nulls[3] = {false};

	values[1] = Int32GetDatum(group + 1);
	values[2] = grouping_box(grouping, rows, count, type);
	for (int i = 0; i < count; i++)
	{
		values[0] = CStringGetTextDatum(ids[i]);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/* Return (id, grp, box) for every row, group by group. */
void
grouping_return(FunctionCallInfo fcinfo, const Grouping *grouping, const Groups *groups)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon group", ALLOCSET_DEFAULT_SIZES);

	progress_phase(PHASE_WRITING, group_start(groups, groups->ngroups));
	for (int group = 0; group < groups->ngroups; group++)
	{
		MemoryContext old = MemoryContextSwitchTo(work);

		CHECK_FOR_INTERRUPTS();
		grouping_return_group((ReturnSetInfo *) fcinfo->resultinfo, grouping, groups, group);
		MemoryContextSwitchTo(old);
		MemoryContextReset(work);
		progress_done(groups->ends[group]);
	}
	MemoryContextDelete(work);
}
