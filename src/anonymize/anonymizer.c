/*
 * anonymizer.c
 *		Reading, recoding and publishing rows.
 */
#include "base/kanon.h"

#include "anonymize/anonymizer.h"

#include "common/hashfn.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/builtins.h"
#include "utils/typcache.h"

#include "anonymize/row_source.h"
#include "aview/aview.h"
#include "aview/boxes.h"
#include "base/extension.h"
#include "base/typekind.h"
#include "policy/consent.h"
#include "recode/dictionary.h"
#include "recode/recode.h"
#include "source/layout.h"
#include "source/source.h"

/* What a missing identifier counts as: all of them are one unknown individual. */
#define NULL_INDIVIDUAL UINT64CONST(0x6b616e6f6e)

typedef enum Showing
{
	SHOW_AS_IT_IS,
	SHOW_IF_K_IS_ZERO,
	SHOW_UNLESS_SUPPRESSED,
	SHOW_GENERALIZED_UNLESS_SUPPRESSED
} Showing;

/* A column of a source row, other than quasi-identifiers. */
typedef struct ShownColumn
{
	int column;
	int place;
	Showing showing;
	bool optional; /* its owner may hide it */
	Dictionary *dictionary; /* SHOW_GENERALIZED_UNLESS_SUPPRESSED */
} ShownColumn;

/* Individuals of a class that are told apart at first, where nobody knows the largest k yet. */
#define FIRST_INDIVIDUALS 64

/* Numbers are ordered, words of a hierarchy stand in it, others are just different. */
static Distance
distance_of(const AViewColumn *column)
{
	if (column->dgh)
		return DISTANCE_HIERARCHICAL;
	return typekind_is_number(typekind(column->source_type)) ? DISTANCE_ORDERED : DISTANCE_EQUAL;
}

static Recoder *
create_recoder(Anonymizer *anonymizer)
{
	AView *aview = anonymizer->aview;
	Recoder *recoder = palloc0(sizeof(Recoder));

	recoder->context = anonymizer->context;
	recoder->k = aview->k;
	recoder->personal = aview->profile && aview->profile->k >= 0;
	recoder->most_individuals = recoder->personal ? Max(aview->k, FIRST_INDIVIDUALS) : aview->k;
	recoder->l = aview->l;
	recoder->t = aview->t;
	recoder->ncolumns = aview->nquasi;
	recoder->columns = palloc(Max(aview->nquasi, 1) * sizeof(Dictionary *));
	for (int i = 0; i < aview->nquasi; i++)
		recoder->columns[i] = anonymizer->dictionaries[aview->quasi[i]];
	if (aview->algorithm == ALGORITHM_MONDRIAN)
		recoder->tree = aview_load_tree(aview);
	recoder->nsteps = aview->nsteps;
	recoder->steps = aview->steps;
	recoder->count_rows = aview_counts_rows(aview);
	for (int i = 0; i < aview->nquasi; i++)
	{
		const AViewColumn *column = &aview->columns[aview->quasi[i]];

		recoder->masked |= aview->match == MATCH_WITNESS && (column->disclose >= 0 || column->retain >= 0);
	}
	if (recoder->l > 0 || recoder->t > 0)
		recoder->nsensitive = anonymizer->nsensitive;
	recoder->sensitive = palloc0(Max(recoder->nsensitive, 1) * sizeof(RecodeSensitive));
	for (int i = 0; i < recoder->nsensitive; i++)
	{
		int column = anonymizer->sensitive[i];

		recoder->sensitive[i].dictionary = anonymizer->graded[column] ? anonymizer->graded[column] : anonymizer->dictionaries[column];
		recoder->sensitive[i].distance = distance_of(&aview->columns[anonymizer->sensitive[i]]);
	}
	recoder_prepare(recoder);
	return recoder;
}

static void
list_columns(Anonymizer *anonymizer)
{
	AView *aview = anonymizer->aview;

	anonymizer->ids = palloc(Max(aview->ncolumns, 1) * sizeof(int));
	anonymizer->id_hash = palloc0(Max(aview->ncolumns, 1) * sizeof(FmgrInfo));
	anonymizer->sensitive = palloc(Max(aview->ncolumns, 1) * sizeof(int));
	anonymizer->dictionaries = palloc0(Max(aview->ncolumns, 1) * sizeof(Dictionary *));
	anonymizer->graded = palloc0(Max(aview->ncolumns, 1) * sizeof(Dictionary *));
	for (int i = 0; i < aview->ncolumns; i++)
	{
		AViewColumn *column = &aview->columns[i];

		if (column->role == ROLE_ID)
		{
			TypeCacheEntry *type = lookup_type_cache(column->source_type, TYPECACHE_HASH_EXTENDED_PROC_FINFO);

			anonymizer->ids[anonymizer->nids] = i;
			if (OidIsValid(type->hash_extended_proc))
				anonymizer->id_hash[anonymizer->nids] = type->hash_extended_proc_finfo;
			anonymizer->nids++;
		}
		if (column->role == ROLE_SENSITIVE)
			anonymizer->sensitive[anonymizer->nsensitive++] = i;
		if (column->role == ROLE_QUASI || column->role == ROLE_SENSITIVE)
			anonymizer->dictionaries[i] = dictionary_create(column->source_type, column->dgh);
		if (column->level >= 0 && column->generalized)
			anonymizer->graded[i] = dictionary_create(kanon_generalized_type(), column->dgh);
	}
}

static void
list_shown(Anonymizer *anonymizer)
{
	AView *aview = anonymizer->aview;
	ListCell *cell;

	anonymizer->shown = palloc0(Max(aview->ncolumns, 1) * sizeof(ShownColumn));
	foreach (cell, anonymizer->published.columns)
	{
		int column = lfirst_int(cell);
		ShownColumn *shown;

		/* Quasi-identifiers are their group's; people's choices, behind the view's columns, are for us. */
		if (column >= aview->ncolumns || aview->columns[column].role == ROLE_QUASI)
			continue;
		shown = &anonymizer->shown[anonymizer->nshown++];
		shown->column = column;
		shown->place = foreach_current_index(cell);
		shown->optional = aview->columns[column].disclose >= 0 || aview->columns[column].retain >= 0;
		shown->dictionary = anonymizer->dictionaries[column];
		if (aview->columns[column].role == ROLE_ID)
			shown->showing = SHOW_IF_K_IS_ZERO;
		else if (aview->columns[column].role == ROLE_SENSITIVE)
			shown->showing = aview->columns[column].generalized ? SHOW_GENERALIZED_UNLESS_SUPPRESSED : SHOW_UNLESS_SUPPRESSED;
	}
}

static Bitmapset *
add_columns(Bitmapset *columns, const RowLayout *layout)
{
	ListCell *cell;

	foreach (cell, layout->columns)
		columns = bms_add_member(columns, lfirst_int(cell));
	return columns;
}

static void
set_published(Anonymizer *anonymizer, const Bitmapset *columns)
{
	memset(&anonymizer->published, 0, sizeof(RowLayout));
	row_layout(&anonymizer->published, anonymizer->aview, columns);
	anonymizer->nshown = 0;
	list_shown(anonymizer);
}

/* From now on rows are kept, and read again for counting.  What is only counted is looked at like what is shown. */
void
anonymizer_keep_rows(Anonymizer *anonymizer)
{
	Bitmapset *columns = add_columns(add_columns(NULL, &anonymizer->published), &anonymizer->counted);

	anonymizer->noting = false;
	set_published(anonymizer, consent_add_choices(anonymizer->aview, columns));
}

/* What has to be known of a row, besides its class, to publish it. */
static Bitmapset *
noted_columns(const Anonymizer *anonymizer)
{
	const AView *aview = anonymizer->aview;
	Bitmapset *noted = add_columns(NULL, &anonymizer->published);

	for (int i = 0; i < aview->nquasi; i++)
		noted = bms_del_member(noted, aview->quasi[i]);
	/* Nobody's identifiers are shown where everybody's k is the view's. */
	for (int i = 0; i < anonymizer->nids && aview->profile == NULL && aview->k > 0; i++)
		noted = bms_del_member(noted, anonymizer->ids[i]);
	return noted;
}

bool
anonymizer_shows_cells_only(const Anonymizer *anonymizer)
{
	return anonymizer->aview->profile == NULL && bms_is_empty(noted_columns(anonymizer));
}

void
anonymizer_note_rows(Anonymizer *anonymizer)
{
	Bitmapset *read = add_columns(add_columns(NULL, &anonymizer->published), &anonymizer->counted);

	set_published(anonymizer, noted_columns(anonymizer));
	if (anonymizer_shows_cells_only(anonymizer))
		return;
	anonymizer->noting = true;
	memset(&anonymizer->counted, 0, sizeof(RowLayout));
	row_layout(&anonymizer->counted, anonymizer->aview, read);
}

Anonymizer *
anonymizer_create(AView *aview, const Bitmapset *wanted, Snapshot snapshot)
{
	Anonymizer *anonymizer = palloc0(sizeof(Anonymizer));
	Bitmapset *columns = NULL;

	anonymizer->context = CurrentMemoryContext;
	anonymizer->aview = aview;
	anonymizer->snapshot = snapshot;
	list_columns(anonymizer);
	anonymizer->recoder = create_recoder(anonymizer);

	for (int i = 0; i < aview->nquasi; i++)
		columns = bms_add_member(columns, aview->quasi[i]);
	columns = consent_add_profile(aview, columns);
	wanted = consent_add_choices(aview, bms_union(wanted, columns));
	if (anonymizer->recoder->masked)
		columns = consent_add_permissions(aview, columns);
	for (int i = 0; i < anonymizer->recoder->nsensitive; i++)
	{
		columns = bms_add_member(columns, anonymizer->sensitive[i]);
		if (aview->columns[anonymizer->sensitive[i]].level >= 0)
			columns = bms_add_member(columns, aview->columns[anonymizer->sensitive[i]].level);
	}
	for (int i = 0; i < anonymizer->nids && !anonymizer->recoder->count_rows; i++)
		columns = bms_add_member(columns, anonymizer->ids[i]);
	row_layout(&anonymizer->counted, aview, columns);
	row_layout(&anonymizer->published, aview, wanted);

	list_shown(anonymizer);
	anonymizer->seen = palloc0(Max(aview->nquasi, 1) * sizeof(int32));
	anonymizer->row.rows = 1;
	anonymizer->row.codes = palloc0(Max(aview->nquasi, 1) * sizeof(int32));
	anonymizer->row.sensitive = palloc0(Max(anonymizer->nsensitive, 1) * sizeof(int32));
	anonymizer->occurrences = palloc0(Max(anonymizer->nsensitive, 1) * sizeof(int64 *));
	anonymizer->noccurrences = palloc0(Max(anonymizer->nsensitive, 1) * sizeof(int));
	anonymizer->classes = histogram_create(anonymizer->recoder, false);
	return anonymizer;
}

/* Who a row is about, as a hash.  Two people with one hash would count as one. */
static uint64
read_individual(Anonymizer *anonymizer, const RowLayout *layout, TupleTableSlot *slot)
{
	uint64 individual = 0;

	for (int i = 0; i < anonymizer->nids; i++)
	{
		AViewColumn *column = &anonymizer->aview->columns[anonymizer->ids[i]];
		int place = layout->place[anonymizer->ids[i]];
		uint64 hash = NULL_INDIVIDUAL;

		if (slot->tts_isnull[place])
			;
		else if (OidIsValid(anonymizer->id_hash[i].fn_oid))
			hash = DatumGetUInt64(FunctionCall2Coll(&anonymizer->id_hash[i], column->source_collation,
													slot->tts_values[place], Int64GetDatum(0)));
		else
		{
			Oid output;
			bool is_varlena;
			char *text;

			getTypeOutputInfo(column->source_type, &output, &is_varlena);
			text = OidOutputFunctionCall(output, slot->tts_values[place]);
			hash = hash_bytes_extended((const unsigned char *) text, strlen(text), 0);
		}
		individual = hash_combine64(individual, hash);
	}
	return individual;
}

/* The code of a sensitive value as its owner lets it be published. */
static int32
read_sensitive(Anonymizer *anonymizer, const RowLayout *layout, TupleTableSlot *slot, int column)
{
	Dictionary *dictionary = anonymizer->dictionaries[column];
	int place = layout->place[column];
	int32 code = dictionary_code(dictionary, slot->tts_values[place], slot->tts_isnull[place]);
	int level = consent_level(anonymizer->aview, layout, slot, column, dictionary->height);

	if (code == NULL_CODE || (level > 0 && anonymizer->graded[column] == NULL))
		return NULL_CODE;
	if (anonymizer->graded[column] == NULL)
		return code;
	code = dictionary_climb(dictionary, code, 0, level);
	return dictionary_code(anonymizer->graded[column], dictionary->levels[level].values[code], false);
}

/* The quasi-identifiers that the row's owner lets be seen, a bit each. */
static uint64
read_visible(const Anonymizer *anonymizer, const RowLayout *layout, TupleTableSlot *slot)
{
	const AView *aview = anonymizer->aview;
	uint64 visible = 0;

	for (int i = 0; i < aview->nquasi; i++)
	{
		if (consent_given(aview, layout, slot, aview->quasi[i]))
			visible |= UINT64CONST(1) << i;
	}
	return visible;
}

void
anonymizer_recall(Anonymizer *anonymizer, const RowLayout *layout, TupleTableSlot *slot)
{
	anonymizer->row.k = consent_k(anonymizer->aview, layout, slot);
	if (anonymizer->recoder->masked)
		anonymizer->row.visible = read_visible(anonymizer, layout, slot);
}

bool
anonymizer_read(Anonymizer *anonymizer, const RowLayout *layout, TupleTableSlot *slot, bool counting)
{
	Recoder *recoder = anonymizer->recoder;
	AView *aview = anonymizer->aview;

	slot_getallattrs(slot);
	anonymizer->row.k = consent_k(aview, layout, slot);
	if (anonymizer->row.k < 0)
		return false;
	recoder->most_k = Max(recoder->most_k, anonymizer->row.k);
	for (int i = 0; i < recoder->ncolumns; i++)
	{
		int place = layout->place[aview->quasi[i]];

		anonymizer->row.codes[i] = dictionary_code(recoder->columns[i], slot->tts_values[place], slot->tts_isnull[place]);
	}
	if (recoder->masked)
		anonymizer->row.visible = read_visible(anonymizer, layout, slot);
	if (!counting)
		return true;
	for (int i = 0; i < recoder->nsensitive; i++)
		anonymizer->row.sensitive[i] = read_sensitive(anonymizer, layout, slot, anonymizer->sensitive[i]);
	if (!recoder->count_rows)
		anonymizer->row.individual = read_individual(anonymizer, layout, slot);
	return true;
}

const int32 *
anonymizer_seen_codes(Anonymizer *anonymizer)
{
	if (!anonymizer->recoder->masked)
		return anonymizer->row.codes;
	recoder_mask(anonymizer->recoder, anonymizer->row.visible, anonymizer->row.codes, anonymizer->seen);
	return anonymizer->seen;
}

bool
anonymizer_groups(const Anonymizer *anonymizer)
{
	return anonymizer->row.k > 1;
}

double
source_rows(const Anonymizer *anonymizer)
{
	Query *query = source_query(anonymizer->aview, anonymizer->counted.columns, NIL, NIL);

	return source_plan(query, false, NULL)->planTree->plan_rows;
}

/* Null for a row that belongs to no known class, too: such a row is not published. */
Cell *
anonymizer_cell(Anonymizer *anonymizer)
{
	int class = histogram_find(anonymizer->classes, anonymizer->row.codes);

	return class < 0 ? NULL : anonymizer->classes->cells[class];
}

/* A sensitive value as its owner lets it be published; false: not at all. */
static bool
publish_sensitive(Anonymizer *anonymizer, const ShownColumn *shown, TupleTableSlot *slot, Datum *value)
{
	int level = consent_level(anonymizer->aview, &anonymizer->published, slot, shown->column, shown->dictionary->height);
	int32 code;

	if (shown->showing == SHOW_UNLESS_SUPPRESSED)
		return level == 0;
	code = dictionary_climb(shown->dictionary, dictionary_code(shown->dictionary, *value, false), 0, level);
	*value = shown->dictionary->levels[level].values[code];
	return true;
}

/*
 * The cell is null where the row is in no group (its k is 0 or 1): then
 * quasi-identifiers are shown as they are.
 */
void
anonymizer_publish(Anonymizer *anonymizer, TupleTableSlot *slot, const Cell *cell, Datum *values, bool *nulls)
{
	AView *aview = anonymizer->aview;
	bool suppressed = cell && cell->suppressed;

	for (int i = 0; i < anonymizer->nshown; i++)
	{
		const ShownColumn *shown = &anonymizer->shown[i];
		Datum value = slot->tts_values[shown->place];
		bool isnull = slot->tts_isnull[shown->place] ||
					  (shown->optional && !consent_given(aview, &anonymizer->published, slot, shown->column));

		if (shown->showing == SHOW_IF_K_IS_ZERO)
			isnull = isnull || cell || anonymizer->row.k > 0;
		else if (shown->showing >= SHOW_UNLESS_SUPPRESSED)
			isnull = isnull || suppressed || !publish_sensitive(anonymizer, shown, slot, &value);
		values[shown->column] = value;
		nulls[shown->column] = isnull;
	}
	for (int i = 0; i < aview->nquasi; i++)
	{
		int column = aview->quasi[i];

		values[column] = cell ? cell->values[i] : anonymizer->recoder->columns[i]->levels[0].values[anonymizer->row.codes[i]];
		nulls[column] = (cell ? cell->nulls[i] : anonymizer->row.codes[i] == NULL_CODE) ||
						!consent_given(aview, &anonymizer->published, slot, column);
	}
}

void
anonymizer_ask_witness(Anonymizer *anonymizer, RowWitness witness, void *arg)
{
	int ncolumns = anonymizer->aview->ncolumns;

	Assert(anonymizer->witness == NULL);
	anonymizer->witness = witness;
	anonymizer->witness_arg = arg;
	anonymizer->witness_values = palloc0(ncolumns * sizeof(Datum));
	anonymizer->witness_nulls = palloc(ncolumns * sizeof(bool));
	memset(anonymizer->witness_nulls, true, ncolumns * sizeof(bool));
}

bool
anonymizer_test_witness(void *arg, const int32 *codes)
{
	Anonymizer *anonymizer = arg;
	const AView *aview = anonymizer->aview;

	Assert(anonymizer->witness != NULL);
	for (int i = 0; i < aview->nquasi; i++)
	{
		anonymizer->witness_values[aview->quasi[i]] = anonymizer->recoder->columns[i]->levels[0].values[codes[i]];
		anonymizer->witness_nulls[aview->quasi[i]] = codes[i] == NULL_CODE;
	}
	return anonymizer->witness(anonymizer->witness_arg, anonymizer->witness_values, anonymizer->witness_nulls);
}

void
anonymizer_mark_witnessed(Anonymizer *anonymizer)
{
	Histogram *classes = anonymizer->classes;

	for (int class = 0; class < classes->nclasses; class ++)
	{
		Cell *cell = classes->cells[class];

		if (cell == NULL || cell->suppressed || cell->witnessed)
			continue;
		cell->witnessed = histogram_test(classes, class, anonymizer_test_witness, anonymizer);
		if (class % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
}
