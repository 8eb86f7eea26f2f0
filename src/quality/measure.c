/*
 * measure_view.c
 *		kanon.quality and kanon.tally: the measures of an anonymization view.
 *
 * Both read pairs of published and raw rows once, put them into classes (tally.c), and
 * derive all measures from the classes.
 */
#include "base/kanon.h"

#include "quality/quality.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "aview/aview.h"
#include "base/as_owner.h"
#include "base/extension.h"
#include "base/progress.h"
#include "hierarchy/generalized.h"
#include "quality/answers.h"
#include "recode/dictionary.h"

PG_FUNCTION_INFO_V1(kanon_quality);
PG_FUNCTION_INFO_V1(kanon_tally);

/* The two receivers of each pair. */
typedef struct Measuring
{
	Tally *tally;
	Answers *answers; /* NULL if no condition was given */
} Measuring;

/* Hand a pair to the tally and to the condition: a PairReceiver. */
static void
measure_pair(void *arg, const Pair *pair)
{
	Measuring *measuring = arg;

	tally_add(measuring->tally, pair);
	if (measuring->answers)
		answers_add(measuring->answers, pair);
}

/* Return the columns that the tally reads: all that have a role. */
static Bitmapset *
tallied_columns(const AView *aview)
{
	Bitmapset *columns = NULL;

	for (int i = 0; i < aview->ncolumns; i++)
	{
		ColumnRole role = aview->columns[i].role;

		if (role != ROLE_OTHER)
			columns = bms_add_member(columns, i);
	}
	return columns;
}

/* Read the pairs of a view into a tally and, if there is a condition, into its answers; return the tally. */
static Tally *
measure_view(FunctionCallInfo fcinfo, AView *aview, Answers *answers)
{
	Measuring measuring = {.tally = tally_create(aview), .answers = answers};
	Bitmapset *columns = tallied_columns(aview);

	progress_start(fcinfo);
	progress_phase(PHASE_READING, 0);
	if (answers)
		columns = bms_union(columns, answers->columns);
	pairs_read(aview, columns, measure_pair, &measuring);
	tally_finish(measuring.tally);
	progress_end();
	return measuring.tally;
}

/* Return the average loss over all rows and quasi-identifiers. */
static double
mean_loss(const Tally *tally)
{
	const AView *aview = tally->aview;
	double sum = 0;

	Assert(tally->nrows > 0 && aview->nquasi > 0);
	for (int i = 0; i < aview->nquasi; i++)
	{
		double *loss = loss_of_values(tally, aview->quasi[i]);

		for (int class = 0; class < tally->shown_index->count; class ++)
			sum += tally->shown_classes[class].rows * loss[tally_shown_codes(tally, class)[i]];
	}
	return sum / tally->nrows / aview->nquasi;
}

enum QualityColumn
{
	QUALITY_ROWS,
	QUALITY_PUBLISHED,
	QUALITY_SUPPRESSED,
	QUALITY_GROUPS,
	QUALITY_MIN_GROUP,
	QUALITY_AVG_GROUP,
	QUALITY_NCP,
	QUALITY_DM,
	QUALITY_K_DEVIATION,
	QUALITY_PRECISION,
	QUALITY_RECALL,
	QUALITY_COLUMNS
};

/* Measures of the sizes of groups. */
typedef struct Sizes
{
	int64 published; /* rows */
	int64 groups;
	int64 people;		/* the sum over groups: a person in two groups counts twice */
	int64 least;		/* people in the smallest group */
	double dm;			/* discernibility: the sum over rows of the rows they look like */
	double k_deviation; /* the sum over published rows of the people in their group beyond k */
} Sizes;

/* Measure the sizes of the groups. */
static void
sum_sizes(const Tally *tally, Sizes *sizes)
{
	memset(sizes, 0, sizeof(Sizes));
	sizes->least = PG_INT64_MAX;
	for (int i = 0; i < tally->shown_index->count; i++)
	{
		const ShownClass *class = &tally->shown_classes[i];
		Fate fate = tally_fate(tally, i);

		/* A suppressed row may be any row of the source. */
		sizes->dm += (double) class->rows * (fate == FATE_SUPPRESSED ? tally->nrows : class->rows);
		if (fate == FATE_SUPPRESSED)
			continue;
		sizes->published += class->rows;
		/* A row with a k below 2, chosen by its owner, is in no group. */
		if (fate == FATE_OPEN && tally->aview->profile)
			continue;
		sizes->groups++;
		sizes->people += class->people;
		sizes->least = Min(sizes->least, class->people);
		sizes->k_deviation += (double) class->rows * class->people - class->k;
	}
}

/* Return the measures as a row of kanon.quality. */
static Datum
quality_row(FunctionCallInfo fcinfo, const Tally *tally, const Answers *answers)
{
	TupleDesc desc;
	Sizes sizes;
	Datum values[QUALITY_COLUMNS] = {0};
	bool nulls[QUALITY_COLUMNS] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "quality must return a row");
	sum_sizes(tally, &sizes);
	values[QUALITY_ROWS] = Int64GetDatum(tally->nrows);
	values[QUALITY_PUBLISHED] = Int64GetDatum(sizes.published);
	values[QUALITY_SUPPRESSED] = Int64GetDatum(tally->nrows - sizes.published);
	values[QUALITY_GROUPS] = Int64GetDatum(sizes.groups);
	values[QUALITY_MIN_GROUP] = Int64GetDatum(sizes.least);
	values[QUALITY_AVG_GROUP] = Float8GetDatum((double) sizes.people / Max(sizes.groups, 1));
	nulls[QUALITY_MIN_GROUP] = nulls[QUALITY_AVG_GROUP] = sizes.groups == 0;
	nulls[QUALITY_NCP] = tally->nrows == 0 || tally->aview->nquasi == 0;
	values[QUALITY_NCP] = Float8GetDatum(nulls[QUALITY_NCP] ? 0 : mean_loss(tally));
	values[QUALITY_DM] = Float8GetDatum(sizes.dm);
	values[QUALITY_K_DEVIATION] = Float8GetDatum(sizes.k_deviation);
	nulls[QUALITY_PRECISION] = answers == NULL || answers->answered == 0;
	nulls[QUALITY_RECALL] = answers == NULL || answers->wanted == 0;
	if (!nulls[QUALITY_PRECISION])
		values[QUALITY_PRECISION] = Float8GetDatum((double) answers->right / answers->answered);
	if (!nulls[QUALITY_RECALL])
		values[QUALITY_RECALL] = Float8GetDatum((double) answers->right / answers->wanted);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

/* Measure a view and, if a predicate is given, the answers to it: quality(view, predicate). */
Datum
kanon_quality(PG_FUNCTION_ARGS)
{
	AView *aview;
	Answers *answers = NULL;
	AsOwner scope;
	Tally *tally;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	aview = quality_load(PG_GETARG_OID(0));
	/* The predicate calls operators of the owner's types. */
	as_owner_start(&scope, aview->owner, aview->settings);
	if (!PG_ARGISNULL(1))
		answers = answers_create(aview, text_to_cstring(PG_GETARG_TEXT_PP(1)));
	tally = measure_view(fcinfo, aview, answers);
	if (answers)
		answers_finish(answers);
	as_owner_end(&scope);
	PG_RETURN_DATUM(quality_row(fcinfo, tally, answers));
}

enum TallyColumn
{
	TALLY_COLUMN,
	TALLY_VALUE,
	TALLY_UNKNOWN,
	TALLY_ROWS,
	TALLY_PEOPLE,
	TALLY_FATE,
	TALLY_RAW_CLASSES,
	TALLY_RAW_ALONE,
	TALLY_BOX,
	TALLY_LOSS,
	TALLY_DIVERSE,
	TALLY_COLUMNS
};

/* Return the published quasi-identifiers of a class as an array. values and nulls are work space. */
static Datum
class_box(const Tally *tally, int class, Datum *values, bool *nulls)
{
	const AView *aview = tally->aview;
	const int32 *codes = tally_shown_codes(tally, class);
	int dims[1] = {aview->nquasi};
	int lower[1] = {1};

	for (int i = 0; i < aview->nquasi; i++)
	{
		values[i] = tally->shown[aview->quasi[i]]->levels[0].values[codes[i]];
		nulls[i] = codes[i] == NULL_CODE;
	}
	return PointerGetDatum(construct_md_array(values, nulls, 1, dims, lower, kanon_generalized_type(), -1, false,
											  TYPALIGN_INT));
}

/* Return how many different values of different people a class has, per sensitive column, as an array. */
static Datum
class_diversities(const Tally *tally, int class)
{
	Datum *counts = palloc(Max(tally->nsensitive, 1) * sizeof(Datum));
	Datum result;

	for (int i = 0; i < tally->nsensitive; i++)
		counts[i] = Int64GetDatum(tally_diversity(tally, class, i));
	result = PointerGetDatum(construct_array(counts, tally->nsensitive, INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
											 TYPALIGN_DOUBLE));
	pfree(counts);
	return result;
}

/* Return a row of kanon.tally for each class of published rows. */
static void
return_classes(ReturnSetInfo *result, const Tally *tally)
{
	static const char *const fates[] = {
		[FATE_GROUP] = "group", [FATE_SUPPRESSED] = "suppressed", [FATE_OPEN] = "open"};
	const AView *aview = tally->aview;
	double **loss = palloc(Max(aview->nquasi, 1) * sizeof(double *));
	Datum *work = palloc(Max(aview->nquasi, 1) * sizeof(Datum));
	bool *work_nulls = palloc(Max(aview->nquasi, 1) * sizeof(bool));
	Datum values[TALLY_COLUMNS] = {0};
	bool nulls[TALLY_COLUMNS] = {[TALLY_COLUMN] = true, [TALLY_VALUE] = true, [TALLY_UNKNOWN] = true};

	for (int i = 0; i < aview->nquasi; i++)
		loss[i] = loss_of_values(tally, aview->quasi[i]);
	for (int class = 0; class < tally->shown_index->count; class ++)
	{
		const ShownClass *shown = &tally->shown_classes[class];

		values[TALLY_ROWS] = Int64GetDatum(shown->rows);
		values[TALLY_PEOPLE] = Int64GetDatum(shown->people);
		values[TALLY_FATE] = CStringGetTextDatum(fates[tally_fate(tally, class)]);
		values[TALLY_RAW_CLASSES] = Int64GetDatum(shown->raw_classes);
		values[TALLY_RAW_ALONE] = Int64GetDatum(shown->raw_alone);
		values[TALLY_BOX] = class_box(tally, class, work, work_nulls);
		for (int i = 0; i < aview->nquasi; i++)
			work[i] = Float8GetDatum(loss[i][tally_shown_codes(tally, class)[i]]);
		values[TALLY_LOSS] = PointerGetDatum(construct_array(work, aview->nquasi, FLOAT8OID, sizeof(float8),
															 FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
		values[TALLY_DIVERSE] = class_diversities(tally, class);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		pfree(DatumGetPointer(values[TALLY_FATE]));
		pfree(DatumGetPointer(values[TALLY_BOX]));
		pfree(DatumGetPointer(values[TALLY_LOSS]));
		pfree(DatumGetPointer(values[TALLY_DIVERSE]));
		CHECK_FOR_INTERRUPTS();
	}
}

/* Return a row of kanon.tally for each raw value of a column. */
static void
return_values(ReturnSetInfo *result, const Tally *tally, int column)
{
	const Dictionary *raw = tally->raw[column];
	NameData name;
	Datum values[TALLY_COLUMNS] = {0};
	bool nulls[TALLY_COLUMNS];

	memset(nulls, true, sizeof(nulls));
	nulls[TALLY_COLUMN] = nulls[TALLY_UNKNOWN] = nulls[TALLY_ROWS] = false;
	namestrcpy(&name, tally->aview->columns[column].name);
	values[TALLY_COLUMN] = NameGetDatum(&name);
	for (int32 code = 0; code < Min(raw->levels[0].ncodes, tally->raw_room[column]); code++)
	{
		bool unknown = code == NULL_CODE;

		if (tally->raw_rows[column][code] == 0)
			continue;
		if (code != NULL_CODE)
		{
			GenView view;
			int len;
			const char *text;

			gen_view(raw->levels[0].values[code], &view);
			text = gen_text(&view, &len);
			values[TALLY_VALUE] = PointerGetDatum(cstring_to_text_with_len(text, len));
			unknown = (view.flags & GEN_UNKNOWN) != 0 && (view.kind == GEN_LABEL || view.kind == GEN_NODE);
		}
		nulls[TALLY_VALUE] = code == NULL_CODE;
		values[TALLY_UNKNOWN] = BoolGetDatum(raw->dgh && unknown);
		values[TALLY_ROWS] = Int64GetDatum(tally->raw_rows[column][code]);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Return the classes of published rows, then the values of quasi-identifiers and sensitive
 * columns: tally(view).
 */
Datum
kanon_tally(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	AView *aview = quality_load(PG_GETARG_OID(0));
	Tally *tally;

	kanon_materialize(fcinfo);
	tally = measure_view(fcinfo, aview, NULL);
	return_classes(result, tally);
	for (int i = 0; i < aview->ncolumns; i++)
	{
		if (tally->raw[i])
			return_values(result, tally, i);
	}
	return (Datum) 0;
}
