/*
 * anonymizer.c
 *		Reading rows of the source into codes, and publishing them in their cells.
 *
 * A row of the source is read in one of two layouts: counted has the columns that
 * recoding needs, published also the columns that the caller needs.  Reading turns
 * the values into codes (recode/dictionary.h), the identifiers into a hash, and the
 * choices of the row's owner into a k and a set of columns that may be seen.
 * Publishing takes quasi-identifiers from the row's cell, and every other column from
 * the row, as its role and its owner allow.
 */
#include "base/kanon.h"

#include "anonymize/anonymizer.h"

#include "common/hashfn.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "anonymize/anonymizer_private.h"
#include "anonymize/row_source.h"
#include "aview/aview.h"
#include "aview/boxes.h"
#include "aview/sameness.h"
#include "base/extension.h"
#include "base/settings.h"
#include "base/typekind.h"
#include "base/valuecodes.h"
#include "policy/consent.h"
#include "recode/dictionary.h"
#include "recode/ldiversity.h"
#include "recode/histogram.h"
#include "recode/privacy.h"
#include "recode/recode.h"
#include "source/layout.h"

/* The hash of a missing identifier. */
#define NULL_INDIVIDUAL UINT64CONST(0x6b616e6f6e)

/* How a column is shown.  The order matters: see anonymizer_publish(). */
typedef enum Showing
{
	SHOW_AS_IT_IS,
	SHOW_IF_K_IS_ZERO,				   /* an identifier */
	SHOW_UNLESS_SUPPRESSED,			   /* a sensitive value */
	SHOW_GENERALIZED_UNLESS_SUPPRESSED /* a sensitive value that the view publishes as kanon.generalized */
} Showing;

/* A column of the view other than a quasi-identifier, and how it is shown. */
typedef struct ShownColumn
{
	int column; /* of the view, from 0 */
	int place;	/* in a row of the layout published */
	Showing showing;
	bool optional;			/* the data owner may hide it */
	Dictionary *dictionary; /* the column's, which is NULL unless it is sensitive */
} ShownColumn;

/* Individuals of a class that are told apart at first, as long as the largest k is unknown. */
#define FIRST_INDIVIDUALS 64

/*
 * Return how distributions of a sensitive column are compared: numbers by their order, values
 * of a hierarchy by their places in it, and all others as equal or different.
 */
static Distance
sensitive_distance(const AViewColumn *column)
{
	if (column->dgh)
		return DISTANCE_HIERARCHICAL;
	return typekind_is_number(typekind(column->source_type)) ? DISTANCE_ORDERED : DISTANCE_EQUAL;
}

/* Set how the values of a sensitive column are counted for l. */
static void
set_diversity(Anonymizer *anonymizer, Recoder *recoder, int index)
{
	AViewColumn *column = &anonymizer->aview->columns[anonymizer->sensitive[index]];
	DiversityRule *rule = &recoder->sensitive[index].diversity;

	rule->context = anonymizer->context;
	rule->l = recoder->l;
	rule->people = !recoder->count_rows;
	if (recoder->l == 0)
		return;
	if (values_may_cover(column))
		rule->dictionary = recoder->sensitive[index].dictionary;
	anonymizer->equal[index] = sameness_create(column);
}

/* Create the recoder for the view's steps or tree and its privacy predicate. */
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
	recoder->first_step = aview->first_step;
	recoder->last_step = aview->last_step;
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

		recoder->sensitive[i].dictionary = anonymizer->graded[column];
		if (recoder->sensitive[i].dictionary == NULL)
			recoder->sensitive[i].dictionary = anonymizer->dictionaries[column];
		recoder->sensitive[i].distance = sensitive_distance(&aview->columns[column]);
		set_diversity(anonymizer, recoder, i);
	}
	recoder_prepare(recoder);
	return recoder;
}

/* List identifiers and sensitive columns, and create the dictionaries of columns that are coded. */
static void
anonymizer_list_columns(Anonymizer *anonymizer)
{
	AView *aview = anonymizer->aview;

	Assert(aview->ncolumns <= aview->nsource);
	anonymizer->ids = palloc(Max(aview->ncolumns, 1) * sizeof(int));
	anonymizer->id_hash = palloc0(Max(aview->ncolumns, 1) * sizeof(FmgrInfo));
	anonymizer->sensitive = palloc(Max(aview->ncolumns, 1) * sizeof(int));
	anonymizer->equal = palloc0(Max(aview->ncolumns, 1) * sizeof(ValueCodes *));
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
			anonymizer->dictionaries[i] = dictionary_create(column->source_type, column->dgh, aview->settings);
		if (column->level >= 0 && column->generalized)
			anonymizer->graded[i] = dictionary_create(kanon_generalized_type(), column->dgh, aview->settings);
	}
}

/*
 * Set how the columns of the layout published are shown, but for quasi-identifiers, which the
 * cell has, and choices, which stand behind the view's columns and are not shown.
 */
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

		if (column >= aview->ncolumns || aview->columns[column].role == ROLE_QUASI)
			continue;
		shown = &anonymizer->shown[anonymizer->nshown++];
		shown->column = column;
		shown->place = foreach_current_index(cell);
		shown->optional = aview->columns[column].disclose >= 0 || aview->columns[column].retain >= 0;
		shown->dictionary = anonymizer->dictionaries[column];
		if (aview->columns[column].role == ROLE_ID)
			shown->showing = SHOW_IF_K_IS_ZERO;
		else if (aview->columns[column].role == ROLE_SENSITIVE && aview->columns[column].generalized)
			shown->showing = SHOW_GENERALIZED_UNLESS_SUPPRESSED;
		else if (aview->columns[column].role == ROLE_SENSITIVE)
			shown->showing = SHOW_UNLESS_SUPPRESSED;
	}
}

/* Add the columns of a layout to a set. */
static Bitmapset *
add_layout_columns(Bitmapset *columns, const RowLayout *layout)
{
	ListCell *cell;

	foreach (cell, layout->columns)
		columns = bms_add_member(columns, lfirst_int(cell));
	return columns;
}

/* Set the layout published to some columns, and how they are shown. */
static void
set_published(Anonymizer *anonymizer, const Bitmapset *columns)
{
	memset(&anonymizer->published, 0, sizeof(RowLayout));
	row_layout(&anonymizer->published, anonymizer->aview, columns);
	anonymizer->nshown = 0;
	list_shown(anonymizer);
}

/*
 * Prepare for rows that are kept, and read again for counting: the layout published gets all
 * columns, so that the row is coded from it alone.
 */
void
anonymizer_keep_rows(Anonymizer *anonymizer)
{
	Bitmapset *columns = add_layout_columns(add_layout_columns(NULL, &anonymizer->published), &anonymizer->counted);

	anonymizer->noting = false;
	set_published(anonymizer, consent_add_choices(anonymizer->aview, columns));
}

/*
 * Return the columns that a note needs besides its class.  Quasi-identifiers come from the
 * cell; and no identifier is shown where every row has the view's k, unless that is 0.
 */
static Bitmapset *
noted_columns(const Anonymizer *anonymizer)
{
	const AView *aview = anonymizer->aview;
	Bitmapset *noted = add_layout_columns(NULL, &anonymizer->published);

	for (int i = 0; i < aview->nquasi; i++)
		noted = bms_del_member(noted, aview->quasi[i]);
	for (int i = 0; i < anonymizer->nids && aview->profile == NULL && aview->k > 0; i++)
		noted = bms_del_member(noted, anonymizer->ids[i]);
	return noted;
}

/* Return true if a note would have nothing but a class. */
bool
anonymizer_shows_cells_only(const Anonymizer *anonymizer)
{
	return anonymizer->aview->profile == NULL && bms_is_empty(noted_columns(anonymizer));
}

/*
 * Prepare for noting: the layout published becomes that of a note, and the layout counted that
 * of the rows that notes are taken from.
 */
void
anonymizer_note_rows(Anonymizer *anonymizer)
{
	Bitmapset *read = add_layout_columns(add_layout_columns(NULL, &anonymizer->published), &anonymizer->counted);

	set_published(anonymizer, noted_columns(anonymizer));
	if (anonymizer_shows_cells_only(anonymizer))
		return;
	anonymizer->noting = true;
	memset(&anonymizer->counted, 0, sizeof(RowLayout));
	row_layout(&anonymizer->counted, anonymizer->aview, read);
}

/*
 * Create an anonymizer.  The layout counted has the quasi-identifiers, the choice of k, and as
 * far as the privacy predicate needs them, permissions, sensitive columns with the choices
 * about them, and identifiers.
 */
Anonymizer *
anonymizer_create(AView *aview, const Bitmapset *wanted, Snapshot snapshot)
{
	Anonymizer *anonymizer = palloc0(sizeof(Anonymizer));
	Bitmapset *columns = NULL;
	Bitmapset *sensitive = NULL;

	anonymizer->context = CurrentMemoryContext;
	anonymizer->aview = aview;
	anonymizer->snapshot = snapshot;
	anonymizer_list_columns(anonymizer);
	anonymizer->recoder = create_recoder(anonymizer);

	for (int i = 0; i < aview->nquasi; i++)
		columns = bms_add_member(columns, aview->quasi[i]);
	columns = consent_add_profile(aview, columns);
	wanted = consent_add_choices(aview, bms_union(wanted, columns));
	if (anonymizer->recoder->masked)
		columns = consent_add_permissions(aview, columns);
	for (int i = 0; i < anonymizer->recoder->nsensitive; i++)
		sensitive = bms_add_member(sensitive, anonymizer->sensitive[i]);
	columns = bms_add_members(columns, consent_add_choices(aview, sensitive));
	for (int i = 0; i < anonymizer->nids && !anonymizer->recoder->count_rows; i++)
		columns = bms_add_member(columns, anonymizer->ids[i]);
	row_layout(&anonymizer->counted, aview, columns);
	row_layout(&anonymizer->published, aview, wanted);

	list_shown(anonymizer);
	anonymizer->seen = palloc0(Max(aview->nquasi, 1) * sizeof(int32));
	anonymizer->row.rows = 1;
	anonymizer->row.codes = palloc0(Max(aview->nquasi, 1) * sizeof(int32));
	anonymizer->row.sensitive = palloc0(Max(anonymizer->nsensitive, 1) * sizeof(int32));
	anonymizer->row.values = palloc0(Max(anonymizer->nsensitive, 1) * sizeof(int32));
	anonymizer->row.identified = true;
	anonymizer->occurrences = palloc0(Max(anonymizer->nsensitive, 1) * sizeof(int64 *));
	anonymizer->noccurrences = palloc0(Max(anonymizer->nsensitive, 1) * sizeof(int));
	anonymizer->classes = histogram_create(anonymizer->recoder, false);
	return anonymizer;
}

/* Return a hash of an identifier by its text form under the view's settings, where its type has no hash. */
static uint64
hash_by_text(const AView *aview, Oid type, Datum value)
{
	int level = settings_ensure(aview->settings);
	Oid output;
	bool is_varlena;
	char *text;

	getTypeOutputInfo(type, &output, &is_varlena);
	text = OidOutputFunctionCall(output, value);
	settings_leave(level);
	return hash_bytes_extended((const unsigned char *) text, strlen(text), 0);
}

/*
 * Read the individual that a row is about, as a hash of its identifiers.  Two individuals
 * with one hash count as one, which errs on the side of privacy.  A row that lacks an
 * identifier may be about any individual.
 */
static void
read_individual(Anonymizer *anonymizer, const RowLayout *layout, TupleTableSlot *slot)
{
	uint64 individual = 0;
	bool identified = true;

	for (int i = 0; i < anonymizer->nids; i++)
	{
		AViewColumn *column = &anonymizer->aview->columns[anonymizer->ids[i]];
		int place = layout->place[anonymizer->ids[i]];
		uint64 hash = NULL_INDIVIDUAL;

		Assert(place >= 0);
		if (slot->tts_isnull[place])
			identified = false;
		else if (OidIsValid(anonymizer->id_hash[i].fn_oid))
			hash = DatumGetUInt64(FunctionCall2Coll(&anonymizer->id_hash[i], column->source_collation,
													slot->tts_values[place], Int64GetDatum(0)));
		else
			hash = hash_by_text(anonymizer->aview, column->source_type, slot->tts_values[place]);
		individual = hash_combine64(individual, hash);
	}
	anonymizer->row.individual = individual;
	anonymizer->row.identified = identified;
}

/*
 * Return the code of a sensitive value that is some levels up.  NULL is a leaf like any
 * other: from level 1 on it is published as the root.
 */
static int32
read_graded(Anonymizer *anonymizer, int column, int level, Datum value, bool isnull)
{
	Dictionary *dictionary = anonymizer->dictionaries[column];
	int32 code = dictionary_code(dictionary, value, isnull);

	if (anonymizer->graded[column] == NULL)
		return level > 0 ? NULL_CODE : code;
	if (code == NULL_CODE && level == 0)
		return NULL_CODE;
	code = dictionary_climb(dictionary, code, 0, level);
	return dictionary_code(anonymizer->graded[column], dictionary->levels[level].values[code], false);
}

/* Read a sensitive value as its owner lets it be published: its code for t, and its value for l. */
static void
read_sensitive(Anonymizer *anonymizer, const RowLayout *layout, TupleTableSlot *slot, int index)
{
	int column = anonymizer->sensitive[index];
	int place = layout->place[column];
	Datum raw = slot->tts_values[place];
	bool isnull = slot->tts_isnull[place];
	int level = consent_level(anonymizer->aview, layout, slot, column, anonymizer->dictionaries[column]->height);
	int32 code = NULL_CODE;
	int32 value;

	if (consent_given(anonymizer->aview, layout, slot, column))
		code = read_graded(anonymizer, column, level, raw, isnull);
	value = code == NULL_CODE ? NO_VALUE : code;
	if (value != NO_VALUE && anonymizer->equal[index])
	{
		DiversityRule *rule = &anonymizer->recoder->sensitive[index].diversity;

		if (rule->dictionary)
			sameness_learn(&anonymizer->aview->columns[column], anonymizer->equal[index], rule, code, level, raw);
		else
			value = valuecodes_code(anonymizer->equal[index], raw, false);
	}
	anonymizer->row.sensitive[index] = code;
	anonymizer->row.values[index] = value;
}

/* Return the quasi-identifiers that the row's owner lets be seen, as a bit set. */
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

/* Read the choices of a row of a known class: its k, and the columns that its owner lets be seen. */
void
anonymizer_recall(Anonymizer *anonymizer, const RowLayout *layout, TupleTableSlot *slot)
{
	anonymizer->row.k = consent_k(anonymizer->aview, layout, slot);
	if (anonymizer->recoder->masked)
		anonymizer->row.visible = read_visible(anonymizer, layout, slot);
}

/* Read a row into codes; return false if it is not shown at all. */
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

		Assert(place >= 0);
		anonymizer->row.codes[i] = dictionary_code(recoder->columns[i],
												   slot->tts_values[place], slot->tts_isnull[place]);
	}
	if (recoder->masked)
		anonymizer->row.visible = read_visible(anonymizer, layout, slot);
	if (!counting)
		return true;
	for (int i = 0; i < recoder->nsensitive; i++)
		read_sensitive(anonymizer, layout, slot, i);
	if (!recoder->count_rows)
		read_individual(anonymizer, layout, slot);
	return true;
}

/* Return the codes of the row just read as its owner lets them be seen. */
const int32 *
anonymizer_seen_codes(Anonymizer *anonymizer)
{
	if (!anonymizer->recoder->masked)
		return anonymizer->row.codes;
	recoder_mask(anonymizer->recoder, anonymizer->row.visible, anonymizer->row.codes, anonymizer->seen);
	return anonymizer->seen;
}

/* Return the recoder. */
Recoder *
anonymizer_recoder(const Anonymizer *anonymizer)
{
	return anonymizer->recoder;
}

/* Return the layout of the rows that are published. */
const RowLayout *
anonymizer_layout(const Anonymizer *anonymizer)
{
	return &anonymizer->published;
}

/* Set the columns of the view that are identifiers, and return how many they are. */
int
anonymizer_ids(const Anonymizer *anonymizer, const int **ids)
{
	*ids = anonymizer->ids;
	return anonymizer->nids;
}

/* Return the row just read. */
const RecodeRow *
anonymizer_row(const Anonymizer *anonymizer)
{
	return &anonymizer->row;
}

/* Find cells in a histogram from now on, or in none. */
void
anonymizer_set_classes(Anonymizer *anonymizer, Histogram *classes)
{
	Assert(classes == NULL || classes->recoder == anonymizer->recoder);
	anonymizer->classes = classes;
}

/* Return true if the row just read is published in a group. */
bool
anonymizer_groups(const Anonymizer *anonymizer)
{
	return anonymizer->row.k > 1;
}

/* Return the cell in which the row just read is published, or NULL if its class is unknown. */
Cell *
anonymizer_cell(const Anonymizer *anonymizer)
{
	int class = histogram_find(anonymizer->classes, anonymizer->row.codes);

	return class < 0 ? NULL : anonymizer->classes->cells[class];
}

/* Set a sensitive value as its owner lets it be generalized; return false if that is NULL. */
static bool
show_sensitive(Anonymizer *anonymizer, const ShownColumn *shown, TupleTableSlot *slot, Datum *value)
{
	int height = shown->dictionary->height;
	int level = consent_level(anonymizer->aview, &anonymizer->published, slot, shown->column, height);
	bool isnull = slot->tts_isnull[shown->place];
	int32 code;

	if (shown->showing == SHOW_UNLESS_SUPPRESSED)
		return !isnull && level == 0;
	if (isnull && level == 0)
		return false;
	code = dictionary_climb(shown->dictionary, dictionary_code(shown->dictionary, *value, isnull), 0, level);
	*value = shown->dictionary->levels[level].values[code];
	return true;
}

/*
 * Publish a row in a cell.  A row in no group, whose k is 0 or 1, shows its
 * quasi-identifiers as they are; an identifier is shown only if the k is 0.
 */
void
anonymizer_publish(Anonymizer *anonymizer, TupleTableSlot *slot, const Cell *cell, Datum *values, bool *nulls)
{
	AView *aview = anonymizer->aview;
	bool suppressed = cell && cell->suppressed;

	Assert(anonymizer->row.k >= 0);
	Assert(cell == NULL || recoder_groups(anonymizer->recoder));
	for (int i = 0; i < anonymizer->nshown; i++)
	{
		const ShownColumn *shown = &anonymizer->shown[i];
		Datum value = slot->tts_values[shown->place];
		bool isnull = shown->optional && !consent_given(aview, &anonymizer->published, slot, shown->column);

		if (shown->showing >= SHOW_UNLESS_SUPPRESSED)
			isnull = isnull || suppressed || !show_sensitive(anonymizer, shown, slot, &value);
		else
			isnull = isnull || slot->tts_isnull[shown->place] ||
					 (shown->showing == SHOW_IF_K_IS_ZERO && (cell || anonymizer->row.k > 0));
		values[shown->column] = value;
		nulls[shown->column] = isnull;
	}
	for (int i = 0; i < aview->nquasi; i++)
	{
		int column = aview->quasi[i];
		int32 code = anonymizer->row.codes[i];

		values[column] = cell ? cell->values[i] : anonymizer->recoder->columns[i]->levels[0].values[code];
		nulls[column] = (cell ? cell->nulls[i] : code == NULL_CODE) ||
						!consent_given(aview, &anonymizer->published, slot, column);
	}
}

/* Ask for groups that have a witness. */
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

/* Return true if a class has a witness. */
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

/* Mark the cells of known classes that have a witness.  No member of a suppressed cell is one. */
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
