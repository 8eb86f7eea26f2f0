/*
 * kanonymity.c
 *		kanon.k_anonymity and kanon.violations: the classes of any relation.
 *
 * The classes are PostgreSQL's own GROUP BY.  Where a sensitive column is given,
 * each class comes in parts, one per value; what is measured of them is what
 * recode/privacy.c asks for.
 */
#include "quality/relation.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "asowner.h"
#include "progress.h"

PG_FUNCTION_INFO_V1(kanon_k_anonymity);
PG_FUNCTION_INFO_V1(kanon_violations);

typedef struct Classes
{
	int64 rows;
	int64 classes;
	int64 least;
	bool diversity; /* the others are known */
	int64 l_distinct;
	double l_entropy;
	double t;
} Classes;

/* Names, columns and the condition for suppressed rows go in by %s. */
#define COUNT_QUERY                                                                            \
	"SELECT pg_catalog.sum(c.n)::pg_catalog.int8, pg_catalog.count(*) FILTER (WHERE NOT c.s)," \
	" pg_catalog.min(c.n) FILTER (WHERE NOT c.s)"                                              \
	" FROM (SELECT pg_catalog.count(*) AS n, %s AS s FROM %s AS r GROUP BY %s) AS c"

/* One row per class and sensitive value, classes one after the other; NULL is the last value of all. */
#define PARTS_QUERY                                                                                                     \
	"SELECT pg_catalog.dense_rank() OVER (ORDER BY %1$s), pg_catalog.dense_rank() OVER (ORDER BY r.kanon_value),"       \
	" r.kanon_value IS NULL, r.kanon_rows, %2$s"                                                                        \
	" FROM (SELECT %1$s, %3$s AS kanon_value, pg_catalog.count(*) AS kanon_rows FROM %4$s AS r GROUP BY %1$s, %3$s) AS r" \
	" ORDER BY 1"

static int64
count_of(int column)
{
	bool isnull;
	Datum value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column, &isnull);

	return isnull ? 0 : DatumGetInt64(value);
}

static void
count_classes(const ClassedRelation *relation, Classes *classes)
{
	if (SPI_execute(psprintf(COUNT_QUERY, relation->suppressed, relation->name, relation->list), true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not count classes: %s", SPI_result_code_string(SPI_result));
	classes->rows = count_of(1);
	classes->classes = count_of(2);
	classes->least = count_of(3);
}

/* The rows of a class that have one sensitive value. */
typedef struct Part
{
	int32 class;
	int32 value; /* from 1, in their order */
	int64 rows;
} Part;

typedef struct Parts
{
	MemoryContext context;
	Part *parts;
	int64 count;
	int64 room;
	int32 nvalues;
	int32 null_value; /* 0: there is none */
	bool ordered;	  /* the values are numbers */
	int64 all_rows;
	int64 *totals; /* per value */
	int64 rows;
} Parts;

static void
keep_part(Parts *parts, HeapTuple row, TupleDesc desc)
{
	bool isnull;
	int64 rows = DatumGetInt64(SPI_getbinval(row, desc, 4, &isnull));
	Part *part;

	parts->all_rows += rows;
	if (DatumGetBool(SPI_getbinval(row, desc, 5, &isnull)) && !isnull)
		return;
	if (parts->count == parts->room)
	{
		parts->room *= 2;
		parts->parts = repalloc_huge(parts->parts, parts->room * sizeof(Part));
	}
	part = &parts->parts[parts->count++];
	part->class = (int32) DatumGetInt64(SPI_getbinval(row, desc, 1, &isnull));
	part->value = (int32) DatumGetInt64(SPI_getbinval(row, desc, 2, &isnull));
	part->rows = rows;
	if (DatumGetBool(SPI_getbinval(row, desc, 3, &isnull)))
		parts->null_value = part->value;
	parts->nvalues = Max(parts->nvalues, part->value);
	parts->rows += rows;
}

static void
part_row(void *arg, HeapTuple row, TupleDesc desc)
{
	keep_part(arg, row, desc);
}

static void
total_values(Parts *parts)
{
	parts->totals = palloc_extended((parts->nvalues + 1) * sizeof(int64), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int64 i = 0; i < parts->count; i++)
		parts->totals[parts->parts[i].value] += parts->parts[i].rows;
}

/* Every value is as far from every other: what the class has too little of is half of all differences. */
static double
equal_distance(const Parts *parts, const Part *class, int64 count, double rows)
{
	double excess = 0;

	for (int64 i = 0; i < count; i++)
		excess += Max(0, class[i].rows / rows - (double) parts->totals[class[i].value] / parts->rows);
	return excess;
}

static int
compare_values(const void *left, const void *right)
{
	return ((const Part *) left)->value - ((const Part *) right)->value;
}

/* Values in a row, each one step from the next; the whole row is 1 long. */
static double
ordered_distance(const Parts *parts, Part *class, int64 count, double rows)
{
	double carried = 0;
	double sum = 0;
	int32 present = 0;
	int64 at = 0;

	qsort(class, count, sizeof(Part), compare_values);
	for (int32 value = 1; value <= parts->nvalues; value++)
	{
		if (parts->totals[value] == 0)
			continue;
		carried -= (double) parts->totals[value] / parts->rows;
		if (at < count && class[at].value == value)
			carried += class[at++].rows / rows;
		sum += fabs(carried);
		present++;
	}
	return present > 1 ? sum / (present - 1) : 0;
}

/* NULL says nothing: it adds no diversity. */
static void
measure_class(const Parts *parts, Part *class, int64 count, Classes *classes)
{
	double rows = 0;
	double known = 0;
	double logs = 0;
	int64 values = 0;
	double t;

	for (int64 i = 0; i < count; i++)
	{
		rows += class[i].rows;
		if (class[i].value == parts->null_value)
			continue;
		values++;
		known += class[i].rows;
		logs += class[i].rows * log(class[i].rows);
	}
	t = parts->ordered ? ordered_distance(parts, class, count, rows) : equal_distance(parts, class, count, rows);
	if (classes->classes++ == 0)
		*classes = (Classes){.classes = 1, .diversity = true, .least = PG_INT64_MAX, .l_distinct = PG_INT64_MAX, .l_entropy = INFINITY};
	classes->least = Min(classes->least, (int64) rows);
	classes->l_distinct = Min(classes->l_distinct, values);
	classes->l_entropy = Min(classes->l_entropy, values == 0 ? 0 : Max(1, exp(log(known) - logs / known)));
	classes->t = Max(classes->t, t);
}

static bool
is_number(Oid type)
{
	switch (getBaseType(type))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case FLOAT4OID:
		case FLOAT8OID:
			return true;
		default:
			return false;
	}
}

static void
count_parts(const ClassedRelation *relation, const char *sensitive, Oid type, Classes *classes)
{
	Parts parts = {.ordered = is_number(type), .room = 1024};

	parts.parts = palloc(parts.room * sizeof(Part));
	for_each_row(psprintf(PARTS_QUERY, relation->list, relation->suppressed, sensitive, relation->name), part_row, &parts);
	total_values(&parts);
	for (int64 first = 0, next; first < parts.count; first = next)
	{
		for (next = first + 1; next < parts.count && parts.parts[next].class == parts.parts[first].class;)
			next++;
		measure_class(&parts, parts.parts + first, next - first, classes);
		CHECK_FOR_INTERRUPTS();
	}
	classes->rows = parts.all_rows;
}

static Datum
classes_row(FunctionCallInfo fcinfo, const Classes *classes)
{
	TupleDesc desc;
	bool none = classes->classes == 0;
	bool no_diversity = !classes->diversity;
	Datum values[6] = {Int64GetDatum(classes->rows), Int64GetDatum(classes->classes), Int64GetDatum(classes->least),
					   Int64GetDatum(classes->l_distinct), Float8GetDatum(classes->l_entropy), Float8GetDatum(classes->t)};
	bool nulls[6] = {false, false, none, no_diversity, no_diversity, no_diversity};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "k_anonymity must return a row");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

/* k_anonymity(rel, quasi_ids, sensitive) */
Datum
kanon_k_anonymity(PG_FUNCTION_ARGS)
{
	ClassedRelation *relation;
	char *sensitive = NULL;
	Oid type = InvalidOid;
	Classes classes = {0};
	AsOwner scope;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	relation = relation_for_classes(PG_GETARG_OID(0), PG_GETARG_ARRAYTYPE_P(1));
	if (!PG_ARGISNULL(2))
		sensitive = relation_column(relation, text_to_cstring(PG_GETARG_TEXT_PP(2)), &type);
	progress_start(fcinfo);
	progress_phase(PHASE_READING, 0);
	as_owner_start(&scope, relation->owner);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (sensitive)
		count_parts(relation, sensitive, type, &classes);
	else
		count_classes(relation, &classes);
	SPI_finish();
	as_owner_end(&scope);
	progress_end();
	PG_RETURN_DATUM(classes_row(fcinfo, &classes));
}

#define VIOLATIONS_QUERY                                                             \
	"SELECT pg_catalog.count(*), %1$s FROM %2$s AS r GROUP BY %1$s"                  \
	" HAVING pg_catalog.count(*) OPERATOR(pg_catalog.<) %3$d AND NOT %4$s ORDER BY 1"

/* A class: its values as text, and its rows. */
static void
violation_row(void *arg, HeapTuple row, TupleDesc desc)
{
	ReturnSetInfo *result = arg;
	int count = desc->natts - 1;
	Datum *words = palloc0(count * sizeof(Datum));
	bool *missing = palloc(count * sizeof(bool));
	int dims[1] = {count};
	int lower[1] = {1};
	Datum values[2];
	bool nulls[2] = {false};

	for (int i = 0; i < count; i++)
	{
		char *text = SPI_getvalue(row, desc, i + 2);

		missing[i] = text == NULL;
		if (text)
			words[i] = CStringGetTextDatum(text);
	}
	values[0] = PointerGetDatum(construct_md_array(words, missing, 1, dims, lower, TEXTOID, -1, false, TYPALIGN_INT));
	values[1] = SPI_getbinval(row, desc, 1, &nulls[1]);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* violations(rel, quasi_ids, k) */
Datum
kanon_violations(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	ClassedRelation *relation = relation_for_classes(PG_GETARG_OID(0), PG_GETARG_ARRAYTYPE_P(1));
	AsOwner scope;

	kanon_materialize(fcinfo);
	progress_start(fcinfo);
	progress_phase(PHASE_CHECKING, 0);
	as_owner_start(&scope, relation->owner);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	for_each_row(psprintf(VIOLATIONS_QUERY, relation->list, relation->name, PG_GETARG_INT32(2), relation->suppressed),
				 violation_row, result);
	SPI_finish();
	as_owner_end(&scope);
	progress_end();
	return (Datum) 0;
}
