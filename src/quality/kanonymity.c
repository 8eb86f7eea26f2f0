/*
 * kanonymity.c
 *		kanon.k_anonymity and kanon.violations: the classes of any relation.
 *
 * PostgreSQL's own GROUP BY forms the classes.  Where a sensitive column is given, it
 * forms the parts of classes that have one sensitive value; the parts of a class are
 * brought together here, and measured as recode/privacy.c requires of cells.
 */
#include "base/kanon.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/as_owner.h"
#include "base/extension.h"
#include "base/interner.h"
#include "base/progress.h"
#include "base/typekind.h"
#include "base/valuecodes.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "quality/relation.h"

PG_FUNCTION_INFO_V1(kanon_k_anonymity);
PG_FUNCTION_INFO_V1(kanon_violations);

/* The result of k_anonymity. */
typedef struct ClassCounts
{
	int64 rows; /* including suppressed ones */
	int64 classes;
	int64 least;	/* rows of the smallest class */
	bool diversity; /* the members below are set */
	int64 l_distinct;
	double l_entropy;
	double t;
} ClassCounts;

/* The %s stand for the condition for suppressed rows, the relation and the columns. */
#define COUNT_QUERY \
	"SELECT pg_catalog.sum(c.n)::pg_catalog.int8, pg_catalog.count(*) FILTER (WHERE NOT c.s)," \
	" pg_catalog.min(c.n) FILTER (WHERE NOT c.s)" \
	" FROM (SELECT pg_catalog.count(*) AS n, %s AS s FROM %s AS r GROUP BY %s) AS c"

/* Return a count of the query's only row; 0 if it is NULL. */
static int64
count_result(int column)
{
	bool isnull;
	Datum value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column, &isnull);

	return isnull ? 0 : DatumGetInt64(value);
}

/* Count the classes of a relation. */
static void
count_all_classes(const ClassedRelation *relation, ClassCounts *classes)
{
	if (SPI_execute(psprintf(COUNT_QUERY, relation->suppressed, relation->name, relation->list), true, 1) !=
		SPI_OK_SELECT)
		elog(ERROR, "could not count classes: %s", SPI_result_code_string(SPI_result));
	classes->rows = count_result(1);
	classes->classes = count_result(2);
	classes->least = count_result(3);
}

/* The rows of a class that have one sensitive value. */
typedef struct Part
{
	int32 class;
	int32 value; /* 0: NULL */
	int64 rows;
} Part;

/* All parts, and the receiver of the query's rows. */
typedef struct Parts
{
	DestReceiver base;
	MemoryContext context; /* outlives the query */
	int ncolumns;		   /* with the sensitive one */
	ValueCodes **columns;  /* the sensitive one is the last */
	Interner *classes;	   /* as tuples of codes, without the sensitive column */
	int32 *codes;		   /* work space: the codes of a row */
	Part *parts;
	int64 count;
	int64 room;
	bool ordered;	/* the sensitive values are numbers */
	bool covering;	/* the sensitive values are generalized, and may cover each other */
	int32 *ranks;	/* of the sensitive values, by code; only if ordered */
	int64 all_rows; /* including suppressed ones */
	int64 *totals;	/* rows per sensitive value */
	int64 rows;		/* without suppressed ones */
} Parts;

/* The %s stand for the columns, the sensitive one, the relation and the condition for suppressed rows. */
#define PARTS_QUERY "SELECT %1$s, %2$s, pg_catalog.count(*), %4$s FROM %3$s AS r GROUP BY %1$s, %2$s"

/* Append a part. */
static void
keep_part(Parts *parts, const Part *part)
{
	if (parts->count == parts->room)
	{
		parts->room *= 2;
		parts->parts = repalloc_huge(parts->parts, parts->room * sizeof(Part));
	}
	parts->parts[parts->count++] = *part;
	parts->rows += part->rows;
}

/* Add a row of the query to the parts: the receiveSlot callback. */
static bool
receive_part(TupleTableSlot *slot, DestReceiver *self)
{
	Parts *parts = (Parts *) self;
	int sensitive = parts->ncolumns - 1;
	Part part;
	bool found;

	slot_getallattrs(slot);
	part.rows = DatumGetInt64(slot->tts_values[sensitive + 1]);
	parts->all_rows += part.rows;
	if (DatumGetBool(slot->tts_values[sensitive + 2]))
		return true;
	Assert(parts->ncolumns > 1 && slot->tts_nvalid == parts->ncolumns + 2);
	for (int i = 0; i < parts->ncolumns; i++)
		parts->codes[i] = valuecodes_code(parts->columns[i], slot->tts_values[i], slot->tts_isnull[i]);
	part.class = interner_code(parts->classes, parts->codes, &found);
	part.value = parts->codes[sensitive];
	keep_part(parts, &part);
	if (parts->count % 10000 == 0)
		progress_done(parts->count);
	return true;
}

/* Prepare for the rows of the query: the rStartup callback. */
static void
start_parts(DestReceiver *self, int operation, TupleDesc desc)
{
	Parts *parts = (Parts *) self;
	MemoryContext old = MemoryContextSwitchTo(parts->context);

	parts->columns = palloc(parts->ncolumns * sizeof(ValueCodes *));
	for (int i = 0; i < parts->ncolumns; i++)
		parts->columns[i] = valuecodes_create(TupleDescAttr(desc, i)->atttypid, TupleDescAttr(desc, i)->attcollation);
	MemoryContextSwitchTo(old);
}

/* Do nothing: the rShutdown and rDestroy callback. */
static void
end_parts(DestReceiver *self)
{
}

/* Run the query with the parts as the receiver of its rows, so that no row is copied. */
static void
read_parts(Parts *parts, const char *query)
{
	SPIPlanPtr plan = SPI_prepare_cursor(query, 0, NULL, CURSOR_OPT_PARALLEL_OK);
	SPIExecuteOptions options = {.read_only = true, .dest = &parts->base};

	parts->base.receiveSlot = receive_part;
	parts->base.rStartup = start_parts;
	parts->base.rShutdown = end_parts;
	parts->base.rDestroy = end_parts;
	parts->base.mydest = DestNone;
	parts->context = CurrentMemoryContext;
	parts->room = 1024;
	parts->parts = palloc(parts->room * sizeof(Part));
	parts->classes = interner_create_tuples(CurrentMemoryContext, parts->ncolumns - 1);
	parts->codes = palloc(parts->ncolumns * sizeof(int32));
	if (plan == NULL || SPI_execute_plan_extended(plan, &options) < 0)
		elog(ERROR, "could not count classes: %s", SPI_result_code_string(SPI_result));
}

/* Bring the parts of each class together, and sum the rows of each sensitive value. */
static void
arrange_parts(Parts *parts)
{
	int64 *starts = palloc_extended((parts->classes->count + 1) * sizeof(int64), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	Part *arranged = palloc_extended(Max(parts->count, 1) * sizeof(Part), MCXT_ALLOC_HUGE);

	parts->totals = palloc_extended(valuecodes_count(parts->columns[parts->ncolumns - 1]) * sizeof(int64),
									MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int64 i = 0; i < parts->count; i++)
	{
		parts->totals[parts->parts[i].value] += parts->parts[i].rows;
		starts[parts->parts[i].class + 1]++;
	}
	for (int i = 0; i < parts->classes->count; i++)
		starts[i + 1] += starts[i];
	for (int64 i = 0; i < parts->count; i++)
		arranged[starts[parts->parts[i].class]++] = parts->parts[i];
	parts->parts = arranged;
}

/*
 * Return the distance of a class's distribution of values from that of all rows, if all
 * values are equally far from each other.
 *
 * It is the sum of the positive differences, which is half of all differences.
 */
static double
parts_equal_distance(const Parts *parts, const Part *class, int64 count, double rows)
{
	double excess = 0;

	for (int64 i = 0; i < count; i++)
		excess += Max(0, class[i].rows / rows - (double) parts->totals[class[i].value] / parts->rows);
	return excess;
}

/*
 * Return the distance of a class's distribution of values from that of all rows, if the
 * values lie in a line of length 1, each one step from the next.  Only values that some
 * class has are on the line.
 */
static double
parts_ordered_distance(const Parts *parts, const Part *class, int64 count, double rows)
{
	int nvalues = valuecodes_count(parts->columns[parts->ncolumns - 1]);
	double *difference = palloc0((nvalues + 1) * sizeof(double));
	double carried = 0;
	double sum = 0;
	int present = 0;

	Assert(parts->ranks != NULL && parts->rows > 0);
	for (int32 value = 0; value < nvalues; value++)
	{
		difference[parts->ranks[value]] -= (double) parts->totals[value] / parts->rows;
		present += parts->totals[value] > 0;
	}
	for (int64 i = 0; i < count; i++)
		difference[parts->ranks[class[i].value]] += class[i].rows / rows;
	/* The only value without rows can be NULL; it is the last, and adds nothing, since all is carried by then. */
	for (int rank = 1; rank <= nvalues; rank++)
	{
		carried += difference[rank];
		sum += fabs(carried);
	}
	pfree(difference);
	return present > 1 ? sum / (present - 1) : 0;
}

/* Return the sensitive value of a part, which is not NULL. */
static Datum
part_value(const Parts *parts, const Part *part)
{
	Assert(part->value > 0);
	return interner_datum(parts->columns[parts->ncolumns - 1]->values, part->value - 1);
}

/* Return true if the value of a part covers that of another part of its class: it may be the same value. */
static bool
part_covers_another(const Parts *parts, const Part *part, const Part *class, int64 count)
{
	GenView view;

	gen_view(part_value(parts, part), &view);
	for (int64 i = 0; i < count && !gen_is_itself(&view); i++)
	{
		if (class[i].value != 0 && dgh_covers(NULL, part_value(parts, part), part_value(parts, &class[i])))
			return true;
	}
	return false;
}

/* Add a class to the counts, given by its parts.  NULL adds no diversity, since it tells nothing. */
static void
measure_class(const Parts *parts, const Part *class, int64 count, ClassCounts *classes)
{
	double rows = 0;
	double known = 0;
	double logs = 0;
	int64 values = 0;
	double t;

	Assert(count > 0);
	for (int64 i = 0; i < count; i++)
	{
		rows += class[i].rows;
		if (class[i].value == 0)
			continue;
		values += !parts->covering || !part_covers_another(parts, &class[i], class, count);
		known += class[i].rows;
		logs += class[i].rows * log(class[i].rows);
	}
	t = parts->ordered ? parts_ordered_distance(parts, class, count, rows)
					   : parts_equal_distance(parts, class, count, rows);
	if (classes->classes++ == 0)
		*classes = (ClassCounts){.classes = 1,
								 .diversity = true,
								 .least = PG_INT64_MAX,
								 .l_distinct = PG_INT64_MAX,
								 .l_entropy = INFINITY};
	classes->least = Min(classes->least, (int64) rows);
	classes->l_distinct = Min(classes->l_distinct, values);
	classes->l_entropy = Min(classes->l_entropy, values == 0 ? 0 : Max(1, exp(log(known) - logs / known)));
	classes->t = Max(classes->t, t);
}

/* Count the classes of a relation and measure the diversity of a sensitive column. */
static void
count_parts(const ClassedRelation *relation, const char *sensitive, Oid type, ClassCounts *classes)
{
	Parts parts = {
		.ncolumns = list_length(relation->columns) + 1,
		.ordered = typekind_is_number(typekind(type)),
		.covering = getBaseType(type) == kanon_generalized_type(),
	};

	read_parts(&parts, psprintf(PARTS_QUERY, relation->list, sensitive, relation->name, relation->suppressed));
	arrange_parts(&parts);
	if (parts.ordered)
		parts.ranks = valuecodes_ranks(parts.columns[parts.ncolumns - 1]);
	for (int64 first = 0, next; first < parts.count; first = next)
	{
		for (next = first + 1; next < parts.count && parts.parts[next].class == parts.parts[first].class;)
			next++;
		measure_class(&parts, parts.parts + first, next - first, classes);
		CHECK_FOR_INTERRUPTS();
	}
	classes->rows = parts.all_rows;
}

/* Return the counts as a row of k_anonymity. */
static Datum
classes_row(FunctionCallInfo fcinfo, const ClassCounts *classes)
{
	TupleDesc desc;
	bool none = classes->classes == 0;
	bool no_diversity = !classes->diversity;
	Datum values[6] = {Int64GetDatum(classes->rows), Int64GetDatum(classes->classes),
					   Int64GetDatum(classes->least), Int64GetDatum(classes->l_distinct),
					   Float8GetDatum(classes->l_entropy), Float8GetDatum(classes->t)};
	bool nulls[6] = {false, false, none, no_diversity, no_diversity, no_diversity};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "k_anonymity must return a row");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

/* Measure the classes of a relation: k_anonymity(rel, quasi_ids, sensitive). */
Datum
kanon_k_anonymity(PG_FUNCTION_ARGS)
{
	ClassedRelation *relation;
	char *sensitive = NULL;
	Oid type = InvalidOid;
	ClassCounts classes = {0};
	AsOwner scope;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	relation = relation_for_classes(PG_GETARG_OID(0), PG_GETARG_ARRAYTYPE_P(1));
	if (!PG_ARGISNULL(2))
		sensitive = relation_column(relation, text_to_cstring(PG_GETARG_TEXT_PP(2)), &type);
	progress_start(fcinfo);
	progress_phase(PHASE_READING, 0);
	relation_start(relation, &scope);
	if (sensitive)
		count_parts(relation, sensitive, type, &classes);
	else
		count_all_classes(relation, &classes);
	relation_end(&scope);
	progress_end();
	PG_RETURN_DATUM(classes_row(fcinfo, &classes));
}

#define VIOLATIONS_QUERY \
	"SELECT pg_catalog.count(*), %1$s FROM %2$s AS r GROUP BY %1$s" \
	" HAVING pg_catalog.count(*) OPERATOR(pg_catalog.<) %3$d AND NOT %4$s ORDER BY 1"

/* Return a class with too few rows: its values as text, and the number of its rows. */
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

/* Return the classes with fewer than k rows: violations(rel, quasi_ids, k). */
Datum
kanon_violations(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	ClassedRelation *relation = relation_for_classes(PG_GETARG_OID(0), PG_GETARG_ARRAYTYPE_P(1));
	AsOwner scope;

	kanon_materialize(fcinfo);
	progress_start(fcinfo);
	progress_phase(PHASE_CHECKING, 0);
	relation_start(relation, &scope);
	relation_visit(psprintf(VIOLATIONS_QUERY, relation->list, relation->name, PG_GETARG_INT32(2), relation->suppressed),
				   violation_row, result);
	relation_end(&scope);
	progress_end();
	return (Datum) 0;
}
