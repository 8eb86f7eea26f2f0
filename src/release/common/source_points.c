/*
 * source_points.c
 *		The source of a release as points.
 */
#include "base/kanon.h"

#include "release/common/grouping.h"

#include <math.h>

#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/memutils.h"

#include "cluster/points.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"
#include "release/common/equal_words.h"
#include "release/common/input.h"

/* A row to sort by its identifier. */
typedef struct IdKey
{
	uint64 prefix; /* the identifier's first bytes, big-endian: they decide most comparisons */
	const char *id;
	int32 row;
} IdKey;

#define ST_SORT sort_ids
#define ST_ELEMENT_TYPE IdKey
#define ST_COMPARE(a, b) ((a)->prefix != (b)->prefix ? ((a)->prefix < (b)->prefix ? -1 : 1) : strcmp((a)->id, (b)->id))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Order the rows from first on by identifiers, byte by byte. */
static void
order_rows(const ReleaseSource *source, int first, int count, int32 *rows)
{
	IdKey *keys = palloc_extended(Max((Size) count, 1) * sizeof(IdKey), MCXT_ALLOC_HUGE);

	for (int i = 0; i < count; i++)
	{
		char prefix[sizeof(uint64)];

		keys[i].id = source->ids[first + i];
		keys[i].row = first + i;
		strncpy(prefix, keys[i].id, sizeof(prefix));
		memcpy(&keys[i].prefix, prefix, sizeof(prefix));
		keys[i].prefix = pg_ntoh64(keys[i].prefix);
	}
	sort_ids(keys, count);
	for (int i = 0; i < count; i++)
		rows[i] = keys[i].row;
	pfree(keys);
}

/*
 * Return the rows of a source in the order in which they become points: as read, or by
 * identifiers, rows of the source itself first.
 */
static int32 *
choose_rows(const ReleaseSource *source, bool ordered)
{
	int32 *rows = palloc_extended(Max((Size) source->nrows, 1) * sizeof(int32), MCXT_ALLOC_HUGE);

	for (int i = 0; i < source->nrows && !ordered; i++)
		rows[i] = i;
	if (ordered)
	{
		order_rows(source, 0, source->nown, rows);
		order_rows(source, source->nown, source->nrows - source->nown, rows + source->nown);
	}
	return rows;
}

/* Nodes over words, made from a computed hierarchy level by level. */
typedef struct WordNodes
{
	int count;
	int32 *parent; /* -1 before it is known, and for the root */
	int32 *lo;	   /* the words from lo to before hi are below the node */
	int32 *hi;
	Datum *values; /* of the hierarchy */
} WordNodes;

/* Add a node, and return its number. */
static int32
add_word_node(WordNodes *nodes, int32 lo, int32 hi, Datum value)
{
	nodes->parent[nodes->count] = -1;
	nodes->lo[nodes->count] = lo;
	nodes->hi[nodes->count] = hi;
	nodes->values[nodes->count] = value;
	return nodes->count++;
}

/*
 * Put parents over the nodes of one level; nodes directly below the root of the hierarchy
 * go below the given root.
 */
static void
add_level(Dgh *dgh, WordNodes *nodes, int32 first, int32 end, int32 root)
{
	int32 parent = -1;

	for (int32 node = first; node < end; node++)
	{
		bool at_root;
		Datum value = dgh_climb(dgh, nodes->values[node], 1, &at_root);

		CHECK_FOR_INTERRUPTS();
		if (at_root)
			parent = -1;
		else if (parent >= 0 && nodes->hi[parent] == nodes->lo[node] && gen_identical(nodes->values[parent], value))
			nodes->hi[parent] = nodes->hi[node];
		else
			parent = add_word_node(nodes, nodes->lo[node], nodes->hi[node], value);
		nodes->parent[node] = at_root ? root : parent;
	}
}

/*
 * Make the tree of a line from a computed hierarchy.
 *
 * The words that the hierarchy climbs from stand in the order of bytes, so that most of
 * its nodes are stretches of them.  A node that is not becomes several nodes, which costs
 * quality, and nothing else: boxes are made by climbing.
 */
static void
climb_words(const ReleaseColumn *column, Line *line)
{
	Size room = (Size) (column->nwords + 1) * (column->dgh->height + 2);
	WordNodes nodes = {
		.parent = palloc_extended(room * sizeof(int32), MCXT_ALLOC_HUGE),
		.lo = palloc_extended(room * sizeof(int32), MCXT_ALLOC_HUGE),
		.hi = palloc_extended(room * sizeof(int32), MCXT_ALLOC_HUGE),
		.values = palloc_extended(room * sizeof(Datum), MCXT_ALLOC_HUGE),
	};
	int32 *leaves = palloc_extended(Max((Size) column->nwords, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
	int32 root = add_word_node(&nodes, 0, column->nwords, (Datum) 0);
	int32 first = nodes.count;

	for (int i = 0; i < column->nwords; i++)
		leaves[i] = add_word_node(&nodes, i, i + 1,
								  dgh_resolve(column->dgh, gen_label(column->words[i], strlen(column->words[i]), 0)));
	while (first < nodes.count)
	{
		int32 end = nodes.count;

		add_level(column->dgh, &nodes, first, end, root);
		first = end;
	}
	Assert((Size) nodes.count <= room);
	line->nleaves = column->nwords;
	line->parent = nodes.parent;
	line->lo = nodes.lo;
	line->hi = nodes.hi;
	line->leaf = leaves;
}

/* Set the scale of a line of numbers: half its extent is 1. */
static void
measure_numbers(const ReleaseColumn *column, int nrows, Line *line)
{
	double least = INFINITY;
	double greatest = -INFINITY;

	for (int i = 0; i < nrows; i++)
	{
		if (column->values[i] < least)
			least = column->values[i];
		if (column->values[i] > greatest)
			greatest = column->values[i];
	}
	/* If all values are equal, or nearly so, nothing has an extent. */
	line->scale = greatest > least ? 1 / (greatest / 2 - least / 2) : 0;
	if (isinf(line->scale))
		line->scale = 0;
}

/* Make the line of a column. */
static void
make_line(const ReleaseSource *source, const ReleaseColumn *column, Line *line)
{
	line->words = column->kind == COLUMN_WORD;
	if (!line->words)
		measure_numbers(column, source->nrows, line);
	else if (column->dgh && column->dgh->tree)
	{
		line->nleaves = column->dgh->tree->nleaves;
		line->parent = column->dgh->tree->parent;
		line->lo = column->dgh->tree->lo;
		line->hi = column->dgh->tree->hi;
		line->leaf = column->dgh->tree->leaf;
	}
	else if (column->dgh)
		climb_words(column, line);
	line_prepare(line);
}

/* Set the values of the points: NULL becomes infinity, and negative zero becomes zero. */
static void
fill_points(const ReleaseSource *source, const int32 *row_of, Points *points)
{
	Assert(points->nrows == source->nrows && points->ncolumns == source->nquasi);
	for (int column = 0; column < points->ncolumns; column++)
	{
		const double *values = source->columns[column].values;

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < points->nrows; i++)
		{
			double value = values[row_of[i]];

			points->values[(Size) i * points->ncolumns + column] = isnan(value) ? INFINITY : value + 0.0;
		}
	}
}

/* Return how many different values the points have. */
static int
count_sensitive(const Points *points)
{
	bool *seen = palloc0(Max(points->nsensitive, 1) * sizeof(bool));
	int count = 0;

	for (int i = 0; i < points->nown; i++)
	{
		if (points->sensitive[i] < 0 || seen[points->sensitive[i]])
			continue;
		seen[points->sensitive[i]] = true;
		count++;
	}
	pfree(seen);
	return count;
}

/*
 * Set the sensitive values of the points; raise an error if there are fewer than l.  A value
 * that covers another one of the column is no value, as NULL: its row may have the other.
 */
static void
fill_sensitive(const Grouping *grouping, const ReleaseColumn *values, int l)
{
	Points *points = grouping->points;
	const ReleaseColumn *column = grouping->sensitive;
	int32 *number = release_equal_words(grouping->source, column, values, &points->nsensitive);
	int count;

	points->sensitive = palloc_extended(Max((Size) points->nown, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
	for (int i = 0; i < points->nown; i++)
	{
		int32 row = grouping->row_of[i];
		double word = column->values[row];

		Assert(isnan(word) || (word >= 0 && word < column->nwords));
		if (isnan(word) || (values->covering && values->covering[(int32) values->values[row]]))
			points->sensitive[i] = -1;
		else
			points->sensitive[i] = number[(int32) word];
	}
	count = count_sensitive(points);
	if (count < l)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("l is %d, but column \"%s\" has only %d distinct values", l, column->name, count),
				 errdetail("Null does not count%s.",
						   values->covering ? ", nor does a value that covers another one" : "")));
}

/* Raise an error if there is no quasi-identifier, or if one is sensitive. */
void
grouping_check_columns(const GroupingArgs *args, const ReleaseSource *source)
{
	if (source->nquasi == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("quasi_ids names no column")));
	for (int i = 0; i < source->nquasi; i++)
	{
		if (args->sensitive && strcmp(source->columns[i].name, args->sensitive) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("column \"%s\" cannot be both a quasi-identifier and sensitive", args->sensitive)));
	}
}

/* Raise an error if there are too few rows. */
static void
grouping_check_rows(const GroupingArgs *args, const ReleaseSource *source)
{
	if (args->public_source && source->nown == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the source has no rows to publish")));
	if (args->k > source->nrows)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("k is %d, but the source%s only %d rows", args->k,
						args->public_source ? " and the public table have together" : " has", source->nrows)));
}

/* Make points of a source that has been read. */
Grouping *
grouping_of(ReleaseSource *source, bool ordered)
{
	Grouping *grouping = palloc0(sizeof(Grouping));
	MemoryContext old;

	grouping->source = source;
	grouping->points = points_create(source->nrows, source->nown, source->nquasi);
	grouping->row_of = choose_rows(source, ordered);
	old = MemoryContextSwitchTo(grouping->points->context);
	for (int i = 0; i < source->nquasi; i++)
		make_line(source, &source->columns[i], &grouping->points->lines[i]);
	fill_points(source, grouping->row_of, grouping->points);
	MemoryContextSwitchTo(old);
	return grouping;
}

/* Read a source, and the public one below it, and make points of them. */
Grouping *
grouping_read(const GroupingArgs *args)
{
	ReleaseSource *source = release_open(args->quasi_ids);
	Grouping *grouping;
	MemoryContext old;

	grouping_check_columns(args, source);
	if (args->sensitive)
	{
		release_add_column(source, args->sensitive, NULL, false)->as_words = true;
		release_add_column(source, args->sensitive, NULL, false)->as_values = true;
	}
	release_read_joined(source, args->source, args->public_source, args->id);
	grouping_check_rows(args, source);

	grouping = grouping_of(source, args->ordered);
	if (args->sensitive)
	{
		grouping->sensitive = &source->columns[source->nquasi];
		old = MemoryContextSwitchTo(grouping->points->context);
		fill_sensitive(grouping, &source->columns[source->nquasi + 1], args->l);
		MemoryContextSwitchTo(old);
	}
	return grouping;
}
