/*
 * linkage.c
 *		kanon.linkage: the published rows that may be about each person of an identified
 *		table.
 *
 * A person is a candidate for a published group if the group covers the person's known
 * values in every column.  For each column and known value, the groups that cover the
 * value are a set of bits, so that a person costs as many intersections as there are
 * columns.
 */
#include "base/kanon.h"

#include "quality/relation.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/as_owner.h"
#include "base/extension.h"
#include "base/progress.h"
#include "hierarchy/generalized.h"
#include "recode/dictionary.h"

PG_FUNCTION_INFO_V1(kanon_linkage);
PG_FUNCTION_INFO_V1(kanon_linked_groups);

/* The classes of one of the two relations. */
typedef struct Side
{
	int ncolumns;
	Dictionary **columns;
	int count; /* of classes */
	int room;
	int32 *codes; /* ncolumns per class */
	int64 *rows;  /* per class */
} Side;

/* Add a class of a relation, a row of CLASSES_QUERY: a RowFunction. */
static void
add_class(void *arg, HeapTuple row, TupleDesc desc)
{
	Side *side = arg;
	bool isnull;

	if (side->count == side->room)
	{
		side->room *= 2;
		side->codes = repalloc_huge(side->codes, (Size) side->room * side->ncolumns * sizeof(int32));
		side->rows = repalloc_huge(side->rows, (Size) side->room * sizeof(int64));
	}
	for (int i = 0; i < side->ncolumns; i++)
	{
		Datum value = SPI_getbinval(row, desc, i + 2, &isnull);

		side->codes[(Size) side->count * side->ncolumns + i] = dictionary_code(side->columns[i], value, isnull);
	}
	side->rows[side->count++] = DatumGetInt64(SPI_getbinval(row, desc, 1, &isnull));
}

#define CLASSES_QUERY "SELECT pg_catalog.count(*), %1$s FROM %2$s AS r GROUP BY %1$s HAVING NOT %3$s"

/* Read the classes of a relation. */
static Side *
read_side(const ClassedRelation *relation)
{
	Side *side = palloc0(sizeof(Side));
	AsOwner scope;
	ListCell *cell;

	side->ncolumns = list_length(relation->columns);
	side->columns = palloc(side->ncolumns * sizeof(Dictionary *));
	side->room = 1024;
	side->codes = palloc((Size) side->room * side->ncolumns * sizeof(int32));
	side->rows = palloc(side->room * sizeof(int64));
	foreach (cell, relation->types)
		side->columns[foreach_current_index(cell)] = dictionary_create(lfirst_oid(cell), NULL, NULL);
	relation_start(relation, &scope);
	relation_visit(psprintf(CLASSES_QUERY, relation->list, relation->name, relation->suppressed), add_class, side);
	relation_end(&scope);
	return side;
}

/* Return the values that a column publishes, without NULL, as an array in the order of their codes. */
static Datum
shown_values(const Side *shown, int column)
{
	const DictionaryLevel *level = &shown->columns[column]->levels[0];

	return PointerGetDatum(construct_array(level->values + 1, level->ncodes - 1, kanon_generalized_type(), -1, false,
										   TYPALIGN_INT));
}

/*
 * Return the known values of a column, without NULL, as an array of text in the order of
 * their codes.  They are text because the view may have the column in another type.
 */
static Datum
known_values(const Side *known, int column)
{
	const DictionaryLevel *level = &known->columns[column]->levels[0];
	Datum *words = palloc_extended(level->ncodes * sizeof(Datum), MCXT_ALLOC_HUGE);

	for (int32 code = 1; code < level->ncodes; code++)
	{
		GenView view;
		int len;
		const char *text;

		gen_view(level->values[code], &view);
		text = gen_text(&view, &len);
		words[code - 1] = PointerGetDatum(cstring_to_text_with_len(text, len));
	}
	return PointerGetDatum(construct_array(words, level->ncodes - 1, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Matches published values with known ones, as = does on an anonymization view. */
#define MATCH_QUERY \
	"SELECT s.n, k.n FROM ROWS FROM (pg_catalog.unnest($1)) WITH ORDINALITY AS s (v, n)" \
	" JOIN ROWS FROM (pg_catalog.unnest($2)) WITH ORDINALITY AS k (v, n) ON s.v OPERATOR(pg_catalog.=) k.v"

typedef struct Linkage
{
	Side *shown;	   /* the view: its classes are the published groups */
	Side *known;	   /* the identified table: its classes are people with equal values */
	int nwords;		   /* of 64 bits, in a set of groups */
	uint64 **covers;   /* per column: a set of groups per known code */
	int64 *population; /* per group: the people that it may be about */
} Linkage;

/* Return the set of groups that cover a known value, given by its code. */
static inline uint64 *
cover_of(const Linkage *linkage, int column, int32 code)
{
	Assert(column < linkage->known->ncolumns && code < linkage->known->columns[column]->levels[0].ncodes);
	return linkage->covers[column] + (Size) code * linkage->nwords;
}

/* Return the list of groups that show each value of a column, by code. */
static List **
groups_by_value(const Side *shown, int column)
{
	List **groups = palloc0(shown->columns[column]->levels[0].ncodes * sizeof(List *));

	for (int group = 0; group < shown->count; group++)
	{
		int32 code = shown->codes[(Size) group * shown->ncolumns + column];

		groups[code] = lappend_int(groups[code], group);
	}
	return groups;
}

/* Add groups to a set. */
static void
add_groups(uint64 *cover, const List *groups)
{
	ListCell *cell;

	foreach (cell, groups)
		cover[lfirst_int(cell) / 64] |= UINT64CONST(1) << (lfirst_int(cell) % 64);
}

/*
 * Find the groups that cover each known value of a column.
 *
 * A person without a known value may be in any group; a group that shows NULL covers no
 * value.
 */
static void
match_column(Linkage *linkage, int column)
{
	List **groups = groups_by_value(linkage->shown, column);
	int nknown = linkage->known->columns[column]->levels[0].ncodes;
	Oid types[2] = {get_array_type(kanon_generalized_type()), TEXTARRAYOID};
	Datum values[2] = {shown_values(linkage->shown, column), known_values(linkage->known, column)};
	AsOwner scope;

	linkage->covers[column] = palloc_extended((Size) nknown * linkage->nwords * sizeof(uint64),
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	memset(cover_of(linkage, column, NULL_CODE), 0xff, linkage->nwords * sizeof(uint64));
	as_owner_start(&scope, GetUserId(), NULL);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args(MATCH_QUERY, 2, types, values, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not match values: %s", SPI_result_code_string(SPI_result));
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool isnull;
		HeapTuple row = SPI_tuptable->vals[i];
		int32 shown = (int32) DatumGetInt64(SPI_getbinval(row, SPI_tuptable->tupdesc, 1, &isnull));
		int32 known = (int32) DatumGetInt64(SPI_getbinval(row, SPI_tuptable->tupdesc, 2, &isnull));

		Assert(shown > 0 && known > 0);
		add_groups(cover_of(linkage, column, known), groups[shown]);
	}
	SPI_finish();
	as_owner_end(&scope);
}

/*
 * Return the number of published rows that may be about a person of a class, and add the
 * people of the class to the population of these rows' groups.  work has room for a set of
 * groups.
 */
static int64
count_candidates(const Linkage *linkage, int class, uint64 *work)
{
	const int32 *codes = linkage->known->codes + (Size) class * linkage->known->ncolumns;
	int64 candidates = 0;

	Assert(linkage->known->ncolumns == linkage->shown->ncolumns);
	memcpy(work, cover_of(linkage, 0, codes[0]), linkage->nwords * sizeof(uint64));
	for (int column = 1; column < linkage->known->ncolumns; column++)
	{
		const uint64 *cover = cover_of(linkage, column, codes[column]);

		for (int word = 0; word < linkage->nwords; word++)
			work[word] &= cover[word];
	}
	for (int word = 0; word < linkage->nwords; word++)
	{
		for (uint64 bits = work[word]; bits; bits &= bits - 1)
		{
			int group = word * 64 + pg_rightmost_one_pos64(bits);

			if (group >= linkage->shown->count)
				continue;
			candidates += linkage->shown->rows[group];
			linkage->population[group] += linkage->known->rows[class];
		}
	}
	return candidates;
}

/* The people of a known class, and the published rows that may be about each of them. */
typedef struct Found
{
	int64 candidates; /* rows */
	int64 people;
} Found;

/* Order by the number of candidates: a qsort comparator. */
static int
compare_found(const void *left, const void *right)
{
	int64 a = ((const Found *) left)->candidates;
	int64 b = ((const Found *) right)->candidates;

	return (a > b) - (a < b);
}

/* Return one row per number of candidates. */
static void
return_distribution(ReturnSetInfo *result, Found *found, int count)
{
	int64 all = 0;
	bool nulls[3] = {false};

	qsort(found, count, sizeof(Found), compare_found);
	for (int i = 0; i < count; i++)
		all += found[i].people;
	for (int first = 0, next; first < count; first = next)
	{
		int64 people = 0;
		Datum values[3];

		for (next = first; next < count && found[next].candidates == found[first].candidates; next++)
			people += found[next].people;
		values[0] = Int64GetDatum(found[first].candidates);
		values[1] = Int64GetDatum(people);
		values[2] = Float8GetDatum((double) people / all);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/* Return the candidates and the people of each class that is known. */
static Found *
link_people(Linkage *linkage)
{
	Found *found = palloc_extended(Max((Size) linkage->known->count, 1) * sizeof(Found), MCXT_ALLOC_HUGE);
	uint64 *work = palloc(Max(linkage->nwords, 1) * sizeof(uint64));

	progress_phase(PHASE_CHECKING, linkage->known->count);
	linkage->population = palloc_extended(Max((Size) linkage->shown->count, 1) * sizeof(int64),
										  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int class = 0; class < linkage->known->count; class ++)
	{
		found[class].candidates = count_candidates(linkage, class, work);
		found[class].people = linkage->known->rows[class];
		if (class % 1024 == 0)
		{
			progress_done(class);
			CHECK_FOR_INTERRUPTS();
		}
	}
	return found;
}

/*
 * Link the relations that the arguments name, and return the candidates and the people of
 * each known class.
 */
static Found *
link_relations(FunctionCallInfo fcinfo, Linkage *linkage)
{
	ClassedRelation *view = relation_for_classes(PG_GETARG_OID(0), PG_GETARG_ARRAYTYPE_P(2));
	ClassedRelation *external = relation_for_classes(PG_GETARG_OID(1), PG_GETARG_ARRAYTYPE_P(2));
	Found *found;

	kanon_materialize(fcinfo);
	progress_start(fcinfo);
	progress_phase(PHASE_READING, 0);
	linkage->shown = read_side(view);
	linkage->known = read_side(external);
	linkage->nwords = (linkage->shown->count + 63) / 64;
	linkage->covers = palloc(linkage->known->ncolumns * sizeof(uint64 *));
	progress_phase(PHASE_BUILDING, linkage->known->ncolumns);
	for (int column = 0; column < linkage->known->ncolumns; column++)
	{
		match_column(linkage, column);
		progress_done(column + 1);
	}
	found = link_people(linkage);
	progress_end();
	return found;
}

/* Return how many people have how many candidates: linkage(view, external, columns). */
Datum
kanon_linkage(PG_FUNCTION_ARGS)
{
	Linkage linkage = {0};
	Found *found = link_relations(fcinfo, &linkage);

	return_distribution((ReturnSetInfo *) fcinfo->resultinfo, found, linkage.known->count);
	return (Datum) 0;
}

/* Return the rows and the population of each published group: linked_groups(view, external, columns). */
Datum
kanon_linked_groups(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Linkage linkage = {0};

	link_relations(fcinfo, &linkage);
	for (int group = 0; group < linkage.shown->count; group++)
	{
		Datum values[2] = {Int64GetDatum(linkage.shown->rows[group]), Int64GetDatum(linkage.population[group])};
		bool nulls[2] = {false};

		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
