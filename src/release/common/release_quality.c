/*
 * release_quality.c
 *		kanon.release_quality: the measures of a release, by the sizes of its groups and
 *		the extents of its boxes.
 *
 * Extents are taken from the published values, not from the algorithm that made them, so
 * that any release can be measured.  A single value has extent 0, a node the number of
 * leaves below it, and everything the width of the column.
 */
#include "base/kanon.h"

#include "release/common/grouping.h"

#include <math.h>

#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "base/interner.h"
#include "base/progress.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"
#include "release/common/arguments.h"
#include "release/common/input.h"

PG_FUNCTION_INFO_V1(kanon_release_quality);

#define FETCH_ROWS 10000

/* A sum of extents. */
typedef struct Loss
{
	double raw;		   /* in the columns' own units */
	double normalized; /* with every column's width as 1 */
} Loss;

/* A group of the release. */
typedef struct GroupCount
{
	const char *name; /* grp as text */
	int64 rows;
	int64 own; /* rows that are in the source */
} GroupCount;

/* The state of measuring a release. */
typedef struct ReleaseQuality
{
	ReleaseSource *source;
	double *widths;	  /* per quasi-identifier */
	Interner *ids;	  /* of the source; the code of an identifier is its row */
	bool *met;		  /* per row of the source: it is in the release */
	Interner *groups; /* its records are GroupCounts */
	int64 tuples;	  /* rows of the source in the release */
	Loss loss;		  /* of all rows so far */

	FmgrInfo outputs[2]; /* output functions of id and grp */

	/* The box of the last row and its loss; the rows of a group follow each other. */
	ArrayType *last;
	Loss last_loss;
} ReleaseQuality;

/* Return the number of the column's words that a masked code stands for; 0 if it is not masked at all. */
static double
masked_extent(const ReleaseColumn *column, const GenView *view)
{
	int count = 0;

	if (view->lo == view->len)
		return 0;
	for (int i = 0; i < column->nwords; i++)
	{
		if ((int) strlen(column->words[i]) == view->len && strncmp(column->words[i], view->label, view->lo) == 0)
			count++;
	}
	return count;
}

/* Return the number of leaves below a node of the hierarchy as it is now; 0 for a leaf. */
static double
node_extent(const ReleaseColumn *column, Datum value, double width)
{
	GenView view;

	if (column->dgh)
		value = dgh_resolve(column->dgh, value);
	gen_view(value, &view);
	if (view.kind == GEN_ANY || (view.flags & GEN_IS_ROOT))
		return width;
	return view.hi - view.lo > 1 ? view.hi - view.lo : 0;
}

/* Return the extent of a published value, of a column of some width. */
static double
value_extent(const ReleaseColumn *column, double width, Datum value)
{
	GenView view;

	gen_view(value, &view);
	switch ((GenKind) view.kind)
	{
		case GEN_ANY:
			return width;
		case GEN_LABEL:
			return 0;
		case GEN_NODE:
			return node_extent(column, value, width);
		case GEN_PREFIX:
			return masked_extent(column, &view);
		case GEN_INT:
		case GEN_NUMERIC:
		case GEN_DATE:
			break;
	}
	if (view.flags & (GEN_LOWER_INF | GEN_UPPER_INF))
		return width;
	return gen_is_point(&view) ? 0 : gen_double_bound(&view, true) - gen_double_bound(&view, false);
}

/* Add an extent to a loss. */
static void
add_extent(Loss *loss, double extent, double width)
{
	loss->raw += extent;
	if (extent > 0)
		loss->normalized += width > 0 ? Min(extent / width, 1) : 1;
}

/* Return the loss of a box.  NULL is a single value like any other. */
static Loss
box_loss(const ReleaseQuality *quality, ArrayType *box)
{
	Loss loss = {0};
	Datum *values;
	bool *nulls;
	int count = box_values(box, &values, &nulls);

	if (count != quality->source->nquasi)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a box of the release has %d values, but there are %d quasi-identifiers",
						count, quality->source->nquasi)));
	for (int i = 0; i < count; i++)
	{
		if (!nulls[i])
			add_extent(&loss, value_extent(&quality->source->columns[i], quality->widths[i], values[i]),
					   quality->widths[i]);
	}
	return loss;
}

/* Make a box the present one, and compute its loss, unless it is equal to the last one. */
static void
quality_set_box(ReleaseQuality *quality, Datum datum, MemoryContext context)
{
	ArrayType *box = DatumGetArrayTypeP(datum);
	MemoryContext old;

	if (quality->last && VARSIZE(box) == VARSIZE(quality->last) &&
		memcmp(box, quality->last, VARSIZE(box)) == 0)
		return;
	quality->last_loss = box_loss(quality, box);
	old = MemoryContextSwitchTo(context);
	if (quality->last)
		pfree(quality->last);
	quality->last = palloc(VARSIZE(box));
	memcpy(quality->last, box, VARSIZE(box));
	MemoryContextSwitchTo(old);
}

/*
 * Return the width of a column: the number of leaves or words, or the difference of the
 * greatest and the least number.
 */
static double
column_width(const ReleaseSource *source, const ReleaseColumn *column)
{
	double least = INFINITY;
	double greatest = -INFINITY;

	if (column->kind == COLUMN_WORD)
		return column->dgh && column->dgh->tree ? column->dgh->tree->nleaves : column->nwords;
	for (int i = 0; i < source->nrows; i++)
	{
		if (column->values[i] < least)
			least = column->values[i];
		if (column->values[i] > greatest)
			greatest = column->values[i];
	}
	return greatest > least ? greatest - least : 0;
}

/* Prepare to measure releases of a source. */
static void
quality_start(ReleaseQuality *quality, ReleaseSource *source)
{
	memset(quality, 0, sizeof(ReleaseQuality));
	quality->source = source;
	quality->widths = palloc(Max(source->nquasi, 1) * sizeof(double));
	for (int i = 0; i < source->nquasi; i++)
		quality->widths[i] = column_width(source, &source->columns[i]);
	quality->ids = interner_create(CurrentMemoryContext, sizeof(char *), sizeof(char *), &interner_borrowed_texts,
								   NULL);
	interner_reserve(quality->ids, source->nrows);
	for (int i = 0; i < source->nrows; i++)
	{
		bool found;
		int32 code PG_USED_FOR_ASSERTS_ONLY = interner_code(quality->ids, &source->ids[i], &found);

		Assert(!found && code == i);
	}
	quality->met = palloc_extended(Max((Size) source->nrows, 1) * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	quality->groups = interner_create(CurrentMemoryContext, sizeof(char *), sizeof(GroupCount), &interner_copied_texts,
									  NULL);
}

/* Look up the output functions of id and grp. */
static void
quality_find_outputs(ReleaseQuality *quality, TupleDesc desc)
{
	for (int i = 0; i < (int) lengthof(quality->outputs); i++)
	{
		Oid output;
		bool is_varlena;

		getTypeOutputInfo(TupleDescAttr(desc, i)->atttypid, &output, &is_varlena);
		fmgr_info(output, &quality->outputs[i]);
	}
}

/* Return the text of id, column 0, or grp, column 1; NULL if it is NULL. */
static char *
quality_text(ReleaseQuality *quality, HeapTuple row, TupleDesc desc, int column)
{
	bool isnull;
	Datum value = heap_getattr(row, column + 1, desc, &isnull);

	return isnull ? NULL : OutputFunctionCall(&quality->outputs[column], value);
}

/* Count a row of the release, (id, grp, box). */
static void
quality_count_row(ReleaseQuality *quality, HeapTuple row, TupleDesc desc, MemoryContext context)
{
	char *id = quality_text(quality, row, desc, 0);
	char *group_id = quality_text(quality, row, desc, 1);
	bool isnull;
	Datum box = heap_getattr(row, 3, desc, &isnull);
	int32 source_row = id ? interner_find(quality->ids, &id) : -1;
	GroupCount *group;
	bool known;

	if (group_id == NULL || isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("grp or box is null in a row of the release")));
	group = interner_record(quality->groups, interner_code(quality->groups, &group_id, &known));
	group->rows++;
	if (source_row < 0)
		return;
	if (quality->met[source_row])
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg("the identifier \"%s\" occurs more than once in the release", id)));
	quality->met[source_row] = true;
	group->own++;
	quality->tuples++;
	quality_set_box(quality, box, context);
	quality->loss.raw += quality->last_loss.raw;
	quality->loss.normalized += quality->last_loss.normalized;
}

/* Raise an error unless box is an array of generalized values. */
static void
check_box_type(TupleDesc desc)
{
	Oid type = get_element_type(TupleDescAttr(desc, 2)->atttypid);

	if (!OidIsValid(type) || strcmp(format_type_be_qualified(type), "kanon.generalized") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("box is of type %s in the release, but must be of type kanon.generalized[]",
						format_type_be(TupleDescAttr(desc, 2)->atttypid))));
}

/* Read and count the rows of the release. */
static void
read_release(ReleaseQuality *quality, const char *release, MemoryContext context)
{
	char *query = psprintf("SELECT release.id, release.grp, release.box FROM %s AS release",
						   release_from_item(release));
	SPIPlanPtr plan = SPI_prepare(query, 0, NULL);
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon release row", ALLOCSET_DEFAULT_SIZES);
	Portal portal;

	if (plan == NULL)
		elog(ERROR, "could not prepare the release: %s", SPI_result_code_string(SPI_result));
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	check_box_type(portal->tupDesc);
	quality_find_outputs(quality, portal->tupDesc);
	do
	{
		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		for (uint64 i = 0; i < SPI_processed; i++)
		{
			MemoryContext old = MemoryContextSwitchTo(work);

			quality_count_row(quality, SPI_tuptable->vals[i], SPI_tuptable->tupdesc, context);
			MemoryContextSwitchTo(old);
			MemoryContextReset(work);
		}
		SPI_freetuptable(SPI_tuptable);
		progress_done(quality->tuples);
		CHECK_FOR_INTERRUPTS();
	} while (SPI_processed > 0);
	SPI_cursor_close(portal);
}

/* Charge rows of the source that are not in the release as if everything had been published for them. */
static void
charge_missing(ReleaseQuality *quality, double *dm)
{
	for (int row = 0; row < quality->source->nrows; row++)
	{
		if (quality->met[row])
			continue;
		for (int i = 0; i < quality->source->nquasi; i++)
			add_extent(&quality->loss, quality->widths[i], quality->widths[i]);
		*dm += quality->source->nrows;
	}
}

/* Return the measures as a row of kanon.release_quality. */
static Datum
release_quality_row(FunctionCallInfo fcinfo, ReleaseQuality *quality)
{
	TupleDesc desc;
	int ngroups = quality->groups->count;
	int64 rows = 0;
	int64 least = PG_INT64_MAX;
	double dm = 0;
	double cells = (double) quality->source->nrows * quality->source->nquasi;
	Datum values[7];
	bool nulls[7] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "release_quality must return a row");
	for (int i = 0; i < ngroups; i++)
	{
		const GroupCount *group = interner_record(quality->groups, i);

		rows += group->rows;
		least = Min(least, group->rows);
		dm += (double) group->own * group->own;
	}
	charge_missing(quality, &dm);
	values[0] = Int64GetDatum(quality->tuples);
	values[1] = Int64GetDatum(ngroups);
	values[2] = Int64GetDatum(least);
	values[3] = Float8GetDatum(ngroups > 0 ? (double) rows / ngroups : 0);
	values[4] = Float8GetDatum(quality->loss.raw);
	values[5] = Float8GetDatum(cells > 0 ? quality->loss.normalized / cells : 0);
	values[6] = Float8GetDatum(dm);
	nulls[2] = nulls[3] = ngroups == 0;
	nulls[5] = cells == 0;
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

/*
 * Measure a release: release_quality(source, id, quasi_ids, release) -> (tuples, groups,
 * min_group, avg_group, ncp, ncp_normalized, dm).
 */
Datum
kanon_release_quality(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	ReleaseSource *source = release_open(PG_GETARG_JSONB_P(2));
	ReleaseQuality quality;

	if (source->nquasi == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("quasi_ids names no column")));
	progress_start(fcinfo);
	progress_phase(PHASE_READING, 0);
	release_read(source, argument_text(fcinfo, 0, "source"), argument_text(fcinfo, 1, "id"));
	quality_start(&quality, source);
	progress_phase(PHASE_CHECKING, source->nrows);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	read_release(&quality, argument_text(fcinfo, 3, "release"), context);
	SPI_finish();
	progress_end();
	PG_RETURN_DATUM(release_quality_row(fcinfo, &quality));
}
