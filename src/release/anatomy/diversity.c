/*
 * diversity.c
 *		kanon.diversity_error: the number of different sensitive values that each group
 *		of a grouping keeps when the values are generalized.
 */
#include "base/kanon.h"

#include "release/anatomy/anatomy.h"

#include <math.h>

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "hierarchy/dgh.h"
#include "release/anatomy/taxonomy.h"
#include "release/common/arguments.h"
#include "release/common/input.h"

PG_FUNCTION_INFO_V1(kanon_diversity_error);

/* A row of a group. */
typedef struct Member
{
	int32 group;
	int32 value; /* a node of the taxonomy */
} Member;

/* Order members by group, then by value. */
static inline int
compare_members(const Member *a, const Member *b)
{
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

#define ST_SORT sort_members
#define ST_ELEMENT_TYPE Member
#define ST_COMPARE(a, b) compare_members(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Raise the error that an identifier is in only one of source and grouping. */
static void
report_unmatched(const char *id, bool in_source)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 in_source ? errmsg("the row with identifier \"%s\" is in no group of the grouping", id)
					   : errmsg("the grouping has identifier \"%s\", which the source does not have", id)));
}

/* Return the group of a row of the grouping; raise an error if it is not an integer. */
static int32
group_number(const ReleaseSource *grouping, int32 row)
{
	double number = grouping->columns[0].values[row];

	if (!(number >= PG_INT32_MIN && number <= PG_INT32_MAX && number == rint(number)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the group of identifier \"%s\" is not an integer", grouping->ids[row])));
	return (int32) number;
}

/*
 * Raise the error for an identifier that is in only one of source and grouping, whose
 * lists of identifiers first differ at a place.
 */
static void
report_difference(const Microdata *data, const ReleaseSource *grouping, const int32 *order, int at)
{
	bool source_ended = at >= data->nrows;
	bool grouping_ended = at >= grouping->nrows;
	const char *in_source = source_ended ? NULL : data->ids[data->order[at]];
	const char *in_grouping = grouping_ended ? NULL : grouping->ids[order[at]];

	for (int i = at; in_source && i < grouping->nrows; i++)
	{
		/* The grouping has this identifier further on, so its identifier here is not in the source. */
		if (strcmp(grouping->ids[order[i]], in_source) == 0)
			report_unmatched(in_grouping, false);
	}
	report_unmatched(in_source ? in_source : in_grouping, in_source != NULL);
}

/*
 * Return the rows with their groups.  Both lists are in an order that depends on
 * identifiers alone, so equal lists agree place by place.
 */
static Member *
match_groups(const Microdata *data, const ReleaseSource *grouping)
{
	int32 *order = microdata_order(grouping);
	Member *members = palloc_extended(Max(data->nrows, 1) * sizeof(Member), MCXT_ALLOC_HUGE);

	for (int32 i = 0; i < Max(data->nrows, grouping->nrows); i++)
	{
		if (i >= data->nrows || i >= grouping->nrows ||
			strcmp(data->ids[data->order[i]], grouping->ids[order[i]]) != 0)
			report_difference(data, grouping, order, i);
		members[i].group = group_number(grouping, order[i]);
	}
	return members;
}

/* Read the grouping: a source with the column grp. */
static ReleaseSource *
read_diversity_grouping(const char *query)
{
	ReleaseSource *grouping = release_open(NULL);

	(void) release_add_column(grouping, "grp", NULL, false);
	/* The alias appears in messages of the parser. */
	release_read(grouping,
				 psprintf("SELECT \"grouping\".id, \"grouping\".grp FROM %s AS \"grouping\"", release_from_item(query)),
				 "id");
	if (grouping->columns[0].kind != COLUMN_NUMBER)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"grp\" of the grouping is not a number")));
	return grouping;
}

/* Return the number of different values of a group with sorted members. */
static int
count_distinct_values(const Member *members, int32 start, int32 end)
{
	int distinct = 0;

	for (int32 i = start; i < end; i++)
	{
		if (i == start || members[i].value != members[i - 1].value)
			distinct++;
	}
	return distinct;
}

/* Return a row per group; both lists are sorted, so that their groups are at the same places. */
static void
return_errors(FunctionCallInfo fcinfo, const Member *raw, const Member *general, int32 nrows)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum values[4];
	bool nulls[4] = {false};
	int32 end;

	for (int32 start = 0; start < nrows; start = end)
	{
		int div0;
		int divn;

		CHECK_FOR_INTERRUPTS();
		for (end = start + 1; end < nrows && raw[end].group == raw[start].group;)
			end++;
		div0 = count_distinct_values(raw, start, end);
		Assert(general[start].group == raw[start].group && general[end - 1].group == raw[start].group);
		divn = count_distinct_values(general, start, end);
		values[0] = Int32GetDatum(raw[start].group);
		values[1] = Int32GetDatum(div0);
		values[2] = Int32GetDatum(divn);
		values[3] = Float8GetDatum((float8) abs(div0 - divn) / div0);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/* Set the raw values and the n times generalized values of the rows, and sort both lists. */
static void
fill_values(Member *raw, Member *general, const Microdata *data, const Taxonomy *taxonomy, int n)
{
	int depth = n == 0 ? taxonomy->deepest : taxonomy->initial - n;

	for (int32 i = 0; i < data->nrows; i++)
	{
		int32 node = taxonomy->node_of_word[data->word[data->order[i]]];

		raw[i].value = node;
		general[i].group = raw[i].group;
		general[i].value = taxonomy_cut(taxonomy, node, Max(depth, 0));
	}
	sort_members(raw, data->nrows);
	sort_members(general, data->nrows);
}

/*
 * Compare the diversity of groups before and after generalization: diversity_error(source,
 * id, sensitive, dgh, grouping, n).
 */
Datum
kanon_diversity_error(PG_FUNCTION_ARGS)
{
	char *query = argument_text(fcinfo, 0, "source");
	char *id = argument_text(fcinfo, 1, "id");
	char *sensitive = argument_text(fcinfo, 2, "sensitive");
	char *dgh_name = argument_text(fcinfo, 3, "dgh");
	char *grouping = argument_text(fcinfo, 4, "grouping");
	int n = anatomy_int_arg(fcinfo, 5, "n", 0);
	MemoryContext context;
	MemoryContext old;
	Microdata *data;
	Taxonomy *taxonomy;
	Member *raw;
	Member *general;

	kanon_materialize(fcinfo);
	context = AllocSetContextCreate(CurrentMemoryContext, "kanon diversity", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	(void) dgh_get(dgh_name);
	data = microdata_read(query, id, sensitive);
	raw = match_groups(data, read_diversity_grouping(grouping));
	taxonomy = taxonomy_build(dgh_get(dgh_name), data->words, data->counts, data->nwords);
	general = palloc_extended(Max(data->nrows, 1) * sizeof(Member), MCXT_ALLOC_HUGE);
	fill_values(raw, general, data, taxonomy, n);
	return_errors(fcinfo, raw, general, data->nrows);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return (Datum) 0;
}
