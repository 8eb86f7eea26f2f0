/*
 * downcoding.c
 *		kanon.downcoding: what an attacker who knows the algorithm learns beyond the
 *		published values, for the view's owner.
 *
 * A row is published in the lowest cell on its way whose unpublished rows satisfy the
 * privacy predicate, together with all other rows that are still unpublished there.  So
 * no row of a larger cell is in a smaller cell, inside it, in which other rows are
 * published: it would have been published with them (A. Cohen, "Attacks on
 * Deidentification's Defenses", USENIX Security 2022).  A row's candidates are the
 * values inside its cell but outside of all published cells inside it.  Of these only the
 * largest count, and they are disjoint, since cells are nested.
 *
 * Where k counts rows and nothing else is asked for, an unpublished cell has fewer than k
 * of them.  If a cell has as many rows as that allows in the cells it is made of, the
 * attacker knows how many rows are in each of these.
 *
 * The attacker sees what is published, and knows hierarchies, steps, k, and at which step
 * a group was published.  Of a view by Mondrian, he knows the boxes, too.
 */
#include "base/kanon.h"

#include "quality/quality.h"

#include "catalog/pg_collation.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "anonymize/anonymize_first.h"
#include "anonymize/anonymizer.h"
#include "anonymize/row_source.h"
#include "aview/aview.h"
#include "base/as_owner.h"
#include "base/interner.h"
#include "base/progress.h"
#include "hierarchy/generalized.h"
#include "quality/vocabulary.h"
#include "recode/dictionary.h"
#include "recode/recode.h"

PG_FUNCTION_INFO_V1(kanon_downcoding);

/* Whole numbers up to this are exact as a double. */
#define EXACT_VOLUME 9007199254740992.0

/* The most candidates that an example names. */
#define EXAMPLE_VALUES 5

/* A published cell, or the set of suppressed rows. */
typedef struct SeenCell
{
	int step;
	bool suppressed;
	int64 rows;
	int inside; /* the first of the largest published cells inside it; -1: none */
	int next;	/* the next one inside the same cell; -1: none */
} SeenCell;

/* The attacker's gain about some rows in a column, or in any column. */
typedef struct Learned
{
	int64 rows;
	int64 narrowed; /* rows with fewer candidates than the published value has */
	int64 certain;	/* rows of which the value, or all values of the group, are known */
	double left;	/* the sum over rows of the share of candidates that is left */
	int32 fewest;	/* candidates in the example */
	int32 of;		/* values that the example's published value stands for */
	char *example;	/* NULL: none */
} Learned;

/* Rows in a group, and suppressed ones. */
#define FATES 2

/* The attack on a view.  All memory is in the context of the call. */
typedef struct Attack
{
	const AView *aview;
	Recoder *recoder;
	Interner *index; /* of cells: step and place, of boxes only the place */
	SeenCell *cells; /* by number in the index */
	bool *with_null; /* per column: NULL occurs */
	Vocabulary **columns;
	Learned *learned[FATES]; /* per column, and in the end of any column */

	/* Work space: by value of a column, the changes of coverage from the value before it. */
	int32 *whole; /* cells that cover the value, whatever the other columns */
	double *part; /* combinations with the value that cells cover */
} Attack;

/* The attacker's knowledge of a column of the rows of a cell. */
typedef struct Narrowing
{
	ValueRange range;
	int32 left;	  /* candidates */
	bool counted; /* how many rows have each candidate is known */
} Narrowing;

/* Return the number of the cell of a place at a step, or -1 if none is published there. */
static int
find_seen(Attack *attack, int step, const int32 *place, bool add)
{
	int32 key[MAX_PLACE + 1];
	int width = attack->recoder->width;
	int room = attack->index->room;
	bool found;
	int number;

	key[0] = attack->recoder->tree ? 0 : step;
	memcpy(key + 1, place, width * sizeof(int32));
	if (!add)
		return interner_find(attack->index, key);
	number = interner_code(attack->index, key, &found);
	if (room != attack->index->room)
		attack->cells = repalloc_huge(attack->cells, attack->index->room * sizeof(SeenCell));
	if (!found)
		attack->cells[number] = (SeenCell){.step = step, .inside = -1, .next = -1};
	return number;
}

/* Return the place of a cell. */
static const int32 *
seen_place(const Attack *attack, int cell)
{
	return interner_tuple(attack->index, cell) + 1;
}

/* Note the row just read and the cell that it is published in. */
static void
see_row(Attack *attack, const Cell *cell, const int32 *codes)
{
	int number = find_seen(attack, cell->step, cell->place, true);

	attack->cells[number].rows++;
	attack->cells[number].suppressed = cell->suppressed;
	for (int i = 0; i < attack->recoder->ncolumns; i++)
		attack->with_null[i] |= codes[i] == NULL_CODE;
}

/* Start reading all rows of the view, with the rows behind them. */
static AnonymizeFirst *
start_rows(AView *aview)
{
	Bitmapset *columns = NULL;
	RowRequest request = {.aview = aview, .snapshot = GetActiveSnapshot()};
	AnonymizeFirst *rows;

	for (int i = 0; i < aview->nquasi; i++)
		columns = bms_add_member(columns, aview->quasi[i]);
	request.wanted = columns;
	rows = anonymize_first_start_with_source(&request);
	row_source_rewind((RowSource *) rows, NULL);
	return rows;
}

/* Read the view's rows, and note the cells that they are published in. */
static void
see_rows(Attack *attack, AView *aview)
{
	AnonymizeFirst *rows = start_rows(aview);
	Anonymizer *anonymizer = anonymize_first_anonymizer(rows);
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon downcoding", ALLOCSET_DEFAULT_SIZES);
	Datum *values = palloc0(Max(aview->ncolumns, 1) * sizeof(Datum));
	bool *nulls = palloc0(Max(aview->ncolumns, 1) * sizeof(bool));
	int64 done = 0;

	attack->recoder = anonymizer_recoder(anonymizer);
	attack->index = interner_create_tuples(CurrentMemoryContext, attack->recoder->width + 1);
	attack->cells = palloc(attack->index->room * sizeof(SeenCell));
	for (;;)
	{
		MemoryContext old = MemoryContextSwitchTo(work);
		bool found = row_source_next((RowSource *) rows, values, nulls);
		const Cell *cell;

		MemoryContextSwitchTo(old);
		if (!found)
			break;
		(void) anonymize_first_current(rows, &cell);
		if (cell)
			see_row(attack, cell, anonymizer_row(anonymizer)->codes);
		MemoryContextReset(work);
		if (++done % 10000 == 0)
			progress_done(done);
	}
	row_source_end((RowSource *) rows);
}

/* Return the smallest published cell around another one, or -1. */
static int
cell_around(Attack *attack, int cell)
{
	int32 place[MAX_PLACE];

	memcpy(place, seen_place(attack, cell), attack->recoder->width * sizeof(int32));
	for (int step = attack->cells[cell].step + 1; step <= attack->recoder->nsteps; step++)
	{
		int around;

		attack->recoder->nesting->climb(attack->recoder, step, place);
		around = find_seen(attack, step, place, false);
		/* A box stays where it is until the boxes inside its parent are complete. */
		if (around >= 0 && around != cell)
			return around;
	}
	return -1;
}

/* Link each cell to the largest published cells inside it. */
static void
link_cells(Attack *attack)
{
	for (int i = 0; i < attack->index->count; i++)
	{
		int around = cell_around(attack, i);

		if (around < 0)
			continue;
		attack->cells[i].next = attack->cells[around].inside;
		attack->cells[around].inside = i;
	}
}

/* Return the values of a column inside a cell. */
static ValueRange
cell_range(const Attack *attack, int cell, int column)
{
	return vocabulary_range(attack->columns[column], attack->recoder, attack->cells[cell].step,
							seen_place(attack, cell), column);
}

/* Return how many values a range has. */
static int32
range_size(ValueRange range)
{
	Assert(range.hi >= range.lo);
	return range.hi - range.lo;
}

/*
 * Return how many values of a column, of those inside a cell, a cell inside it has.  Where the
 * vocabulary does not tell the values of the outer cell apart, they count as one, and so do
 * those of the inner one if it is not smaller.
 */
static double
inner_size(const Attack *attack, int outer, int inner, int column)
{
	const Recoder *recoder = attack->recoder;
	ValueRange range = cell_range(attack, inner, column);

	if (range_size(cell_range(attack, outer, column)) > 0 || recoder->tree)
		return range_size(range);
	return recoder->levels[attack->cells[outer].step * recoder->ncolumns + column] ==
		   recoder->levels[attack->cells[inner].step * recoder->ncolumns + column];
}

/* Return the combinations of values of all columns but one (-1: of all) inside a cell that a cell inside it has. */
static double
inner_volume(const Attack *attack, int outer, int inner, int but)
{
	double volume = 1;

	for (int i = 0; i < attack->recoder->ncolumns; i++)
	{
		if (i != but)
			volume *= inner_size(attack, outer, inner, i);
	}
	return volume;
}

/* Return true if a cell has all values of the cell around it, in all columns but one. */
static bool
covers_others(const Attack *attack, int outer, int inner, int but)
{
	for (int i = 0; i < attack->recoder->ncolumns; i++)
	{
		double size = inner_size(attack, outer, inner, i);

		if (i != but && (size == 0 || size != inner_size(attack, outer, outer, i)))
			return false;
	}
	return true;
}

/* Count, for the values of a column of a cell, the combinations that the published cells inside it cover. */
static void
cover_values(Attack *attack, int cell, int column)
{
	for (int inner = attack->cells[cell].inside; inner >= 0; inner = attack->cells[inner].next)
	{
		ValueRange range = cell_range(attack, inner, column);
		double volume = inner_volume(attack, cell, inner, column);
		bool whole = covers_others(attack, cell, inner, column);

		if (range_size(range) == 0)
			continue;
		attack->whole[range.lo] += whole;
		attack->whole[range.hi] -= whole;
		attack->part[range.lo] += volume;
		attack->part[range.hi] -= volume;
	}
}

/*
 * Set which values of a column of a cell are candidates: those that occur in some combination
 * outside of the published cells inside it.  Return how many they are.
 */
static int32
find_candidates(Attack *attack, int cell, int column, ValueRange range, bool *candidates)
{
	double volume = inner_volume(attack, cell, cell, column);
	int32 whole = 0;
	double part = 0;
	int32 left = 0;

	cover_values(attack, cell, column);
	for (int32 i = range.lo; i < range.hi; i++)
	{
		whole += attack->whole[i];
		part += attack->part[i];
		candidates[i - range.lo] = whole == 0 && !(volume < EXACT_VOLUME && part >= volume);
		left += candidates[i - range.lo];
	}
	memset(attack->whole + range.lo, 0, (range_size(range) + 1) * sizeof(int32));
	memset(attack->part + range.lo, 0, (range_size(range) + 1) * sizeof(double));
	return left;
}

/* Return true if each cell of a step has fewer than k rows that are not published by then. */
static bool
limits_rows(const Attack *attack, int step)
{
	const Recoder *recoder = attack->recoder;

	return recoder->tree == NULL && recoder->count_rows && !recoder->personal && recoder->l == 0 && recoder->t == 0 &&
		   step >= recoder->first_step && step <= recoder->last_step;
}

/*
 * Return true if the attacker knows how many rows of a cell have each candidate: the column is
 * the one that the cell's step has raised, from single values, and the cell has as many rows
 * as fit.
 */
static bool
counts_are_known(const Attack *attack, int number, int column, int32 left)
{
	const Recoder *recoder = attack->recoder;
	const SeenCell *cell = &attack->cells[number];

	if (!limits_rows(attack, cell->step - 1))
		return false;
	return recoder->steps[cell->step - 1].column == column && recoder->steps[cell->step - 1].level == 1 &&
		   attack->columns[column]->exact && cell->rows == (int64) left * (recoder->k - 1);
}

/* Compare candidates as ORDER BY does, for qsort(). */
static int
downcoding_compare(const void *left, const void *right)
{
	Datum a = *(const Datum *) left;
	Datum b = *(const Datum *) right;
	GenView view_a;
	GenView view_b;

	if (DatumGetPointer(a) == NULL || DatumGetPointer(b) == NULL)
		return (DatumGetPointer(a) == NULL) - (DatumGetPointer(b) == NULL);
	gen_view(a, &view_a);
	gen_view(b, &view_b);
	return gen_identity_cmp(&view_a, &view_b, C_COLLATION_OID);
}

/* Append a value of a column to a text. */
static void
append_value(StringInfo text, Datum value)
{
	GenView view;
	int len;
	const char *label = "NULL";

	if (DatumGetPointer(value) == NULL)
	{
		appendStringInfoString(text, label);
		return;
	}
	gen_view(value, &view);
	label = gen_text(&view, &len);
	appendBinaryStringInfo(text, label, len);
}

/* Return the published value of a cell in a column and its candidates, as text. */
static char *
example_text(const Attack *attack, int number, int column, const Narrowing *narrowing, const bool *candidates)
{
	const SeenCell *cell = &attack->cells[number];
	const Vocabulary *vocabulary = attack->columns[column];
	CellValue published = {.value = dictionary_root(vocabulary->dictionary)};
	Datum *values = palloc_extended(Max(narrowing->left, 1) * sizeof(Datum), MCXT_ALLOC_HUGE);
	StringInfoData text;
	int count = 0;

	if (!cell->suppressed)
		published = attack->recoder->nesting->value(attack->recoder, cell->step, seen_place(attack, number), column);
	initStringInfo(&text);
	append_value(&text, published.isnull ? (Datum) 0 : published.value);
	appendStringInfoString(&text, ": ");
	for (int32 i = 0; i < range_size(narrowing->range); i++)
	{
		if (candidates[i])
			values[count++] = vocabulary_value(vocabulary, narrowing->range.lo + i);
	}
	Assert(count == narrowing->left);
	qsort(values, count, sizeof(Datum), downcoding_compare);
	for (int i = 0; i < Min(count, EXAMPLE_VALUES); i++)
	{
		appendStringInfoString(&text, i > 0 ? ", " : "");
		append_value(&text, values[i]);
	}
	if (count > EXAMPLE_VALUES)
		appendStringInfo(&text, ", ... (%d of %d)", count, range_size(narrowing->range));
	pfree(values);
	return text.data;
}

/* Keep the narrowing of a cell as the example of a column if it tells more than the one before. */
static void
keep_example(Attack *attack, Learned *learned, int cell, int column, const Narrowing *narrowing,
			 const bool *candidates)
{
	int32 of = range_size(narrowing->range);
	char *text;

	if (learned->example && (narrowing->left > learned->fewest ||
							 (narrowing->left == learned->fewest && of < learned->of)))
		return;
	text = example_text(attack, cell, column, narrowing, candidates);
	if (learned->example && narrowing->left == learned->fewest && of == learned->of &&
		strcmp(text, learned->example) >= 0)
		return;
	learned->example = text;
	learned->fewest = narrowing->left;
	learned->of = of;
}

/*
 * Attack a column of the rows of a cell, and add the result.  Return true if values are ruled
 * out; set *certain if one value is left.
 */
static bool
attack_column(Attack *attack, int number, int column, bool *certain)
{
	const SeenCell *cell = &attack->cells[number];
	Learned *learned = &attack->learned[cell->suppressed ? 1 : 0][column];
	Narrowing narrowing = {.range = cell_range(attack, number, column)};
	int32 size = range_size(narrowing.range);
	bool *candidates = palloc_extended(Max(size, 1) * sizeof(bool), MCXT_ALLOC_HUGE);
	bool narrowed;

	narrowing.left = find_candidates(attack, number, column, narrowing.range, candidates);
	Assert(size == 0 || narrowing.left > 0);
	narrowing.counted = size > 1 && counts_are_known(attack, number, column, narrowing.left);
	narrowed = narrowing.left < size || narrowing.counted;
	*certain = size > 1 && (narrowing.counted || (narrowing.left == 1 && attack->columns[column]->exact));
	learned->rows += cell->rows;
	learned->narrowed += narrowed ? cell->rows : 0;
	learned->certain += *certain ? cell->rows : 0;
	learned->left += cell->rows * (size > 0 ? (double) narrowing.left / size : 1);
	if (narrowed)
		keep_example(attack, learned, number, column, &narrowing, candidates);
	pfree(candidates);
	return narrowed;
}

/* Attack the rows of a cell. */
static void
attack_cell(Attack *attack, int number)
{
	const SeenCell *cell = &attack->cells[number];
	Learned *any = &attack->learned[cell->suppressed ? 1 : 0][attack->recoder->ncolumns];
	double volume = inner_volume(attack, number, number, -1);
	double left = 1;
	bool narrowed = false;
	bool certain = false;

	for (int column = 0; column < attack->recoder->ncolumns; column++)
	{
		bool known;

		narrowed |= attack_column(attack, number, column, &known);
		certain |= known;
	}
	for (int inner = cell->inside; inner >= 0; inner = attack->cells[inner].next)
		left -= inner_volume(attack, number, inner, -1) / volume;
	any->rows += cell->rows;
	any->narrowed += narrowed ? cell->rows : 0;
	any->certain += certain ? cell->rows : 0;
	any->left += cell->rows * Max(left, 0);
}

/* Attack all rows, after they have been read. */
static void
attack_cells(Attack *attack)
{
	int ncolumns = attack->recoder->ncolumns;
	int32 longest = 0;

	link_cells(attack);
	attack->columns = palloc(Max(ncolumns, 1) * sizeof(Vocabulary *));
	for (int i = 0; i < ncolumns; i++)
	{
		attack->columns[i] = vocabulary_create(attack->recoder, i, attack->with_null[i]);
		longest = Max(longest, attack->columns[i]->count);
	}
	attack->whole = palloc0((longest + 1) * sizeof(int32));
	attack->part = palloc0((longest + 1) * sizeof(double));
	for (int fate = 0; fate < FATES; fate++)
		attack->learned[fate] = palloc0((ncolumns + 1) * sizeof(Learned));
	for (int i = 0; i < attack->index->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		attack_cell(attack, i);
	}
}

/* Return what was learned, in a column or with -1 in any column, as a row of kanon.downcoding. */
static void
return_learned(ReturnSetInfo *result, const Attack *attack, int fate, int column)
{
	int place = column < 0 ? attack->recoder->ncolumns : column;
	const Learned *learned = &attack->learned[fate][place];
	double rows = learned->rows;
	NameData name;
	Datum values[8] = {CStringGetTextDatum(fate == 0 ? "group" : "suppressed"), NameGetDatum(&name)};
	bool nulls[8] = {false, column < 0, false, false, false, false, false, learned->example == NULL};

	if (learned->rows == 0)
		return;
	if (column >= 0)
		namestrcpy(&name, attack->aview->columns[attack->aview->quasi[column]].name);
	values[2] = Int64GetDatum(learned->rows);
	values[3] = Int64GetDatum(learned->narrowed);
	values[4] = Int64GetDatum(learned->certain);
	values[5] = Float8GetDatum(learned->narrowed / rows);
	values[6] = Float8GetDatum(learned->left / rows);
	if (learned->example)
		values[7] = CStringGetTextDatum(learned->example);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Raise an error for a view that the attack is not known for. */
static void
check_attackable(const AView *aview)
{
	aview_check_logical(aview);
	if (aview->block_size > 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("kanon.downcoding does not support block_size"),
				 errdetail("Rows of other blocks may be in the same cells, so what is published of one block rules out nothing for another.")));
}

/*
 * Return what an attacker who knows the algorithm learns: downcoding(view) -> (fate, column,
 * rows, narrowed, certain, share, candidates, example).
 */
Datum
kanon_downcoding(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	AView *aview = quality_load(PG_GETARG_OID(0));
	Attack attack = {.aview = aview, .with_null = palloc0(Max(aview->nquasi, 1) * sizeof(bool))};
	AsOwner scope;

	check_attackable(aview);
	kanon_materialize(fcinfo);
	progress_start(fcinfo);
	progress_phase(PHASE_READING, 0);
	as_owner_start(&scope, aview->owner, aview->settings);
	see_rows(&attack, aview);
	as_owner_end(&scope);
	attack_cells(&attack);
	progress_end();
	for (int fate = 0; fate < FATES; fate++)
	{
		for (int column = -1; column < aview->nquasi; column++)
			return_learned(result, &attack, fate, column);
	}
	return (Datum) 0;
}
