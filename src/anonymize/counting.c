/*
 * counting.c
 *		Counting the rows of the source: classes, individuals, distributions.
 *
 * Rows come from the source, from other servers that have counted equal rows
 * themselves, or from those that were kept.  Where memory is bounded, counting stops as soon
 * as the classes have outgrown it, unless the remaining rows are needed for
 * something else.
 */
#include "base/kanon.h"

#include "anonymize/anonymizer.h"

#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "anonymize/anonymizer_private.h"
#include "anonymize/notes.h"
#include "aview/refusal.h"
#include "base/shuffle.h"
#include "hierarchy/generalized.h"
#include "recode/dictionary.h"
#include "recode/histogram.h"
#include "recode/privacy.h"
#include "recode/recode.h"
#include "recode/valuetree.h"
#include "source/layout.h"
#include "source/shards.h"
#include "source/source.h"

/* Count the row just read for the distribution of a sensitive column. */
static void
count_occurrence(Anonymizer *anonymizer, int index, int32 code)
{
	int known = anonymizer->noccurrences[index];

	if (code >= known)
	{
		int size = Max(64, Max(2 * known, code + 1));

		if (known == 0)
			anonymizer->occurrences[index] = MemoryContextAllocZero(anonymizer->context, size * sizeof(int64));
		else
		{
			anonymizer->occurrences[index] = repalloc_huge(anonymizer->occurrences[index], size * sizeof(int64));
			memset(anonymizer->occurrences[index] + known, 0, (size - known) * sizeof(int64));
		}
		anonymizer->noccurrences[index] = size;
	}
	Assert(code >= 0 && code < anonymizer->noccurrences[index]);
	anonymizer->occurrences[index][code] += anonymizer->row.rows;
}

/*
 * Count the row just read, and return its class.  A row in no group counts for the
 * distributions, which are of the whole input, but has no class here.
 */
int
anonymizer_count(Anonymizer *anonymizer, Histogram *histogram)
{
	int class = -1;

	if (histogram && anonymizer_groups(anonymizer))
		class = histogram_add(histogram, &anonymizer->row);
	if (anonymizer->recoder->t > 0 && !anonymizer->distributions_known)
	{
		for (int i = 0; i < anonymizer->recoder->nsensitive; i++)
			count_occurrence(anonymizer, i, anonymizer->row.sensitive[i]);
	}
	return class;
}

/* A number, as kanon.generalized, and its code. */
typedef struct NumberedCode
{
	Datum number;
	int32 code;
} NumberedCode;

/* Compare numbers for qsort(). */
static int
compare_numbered_codes(const void *left, const void *right)
{
	GenView a;
	GenView b;

	gen_view(((const NumberedCode *) left)->number, &a);
	gen_view(((const NumberedCode *) right)->number, &b);
	return gen_identity_cmp(&a, &b, InvalidOid);
}

/* Return the codes of a column of numbers in the order of the numbers, NULL last. */
static int32 *
order_codes(Dictionary *dictionary, int count)
{
	NumberedCode *codes = palloc(count * sizeof(NumberedCode));
	int32 *order = palloc(count * sizeof(int32));

	for (int code = 1; code < count; code++)
	{
		codes[code - 1].code = code;
		codes[code - 1].number = dictionary->levels[0].values[code];
	}
	Assert(count >= 1);
	qsort(codes, count - 1, sizeof(NumberedCode), compare_numbered_codes);
	for (int i = 0; i < count - 1; i++)
		order[i] = codes[i].code;
	order[count - 1] = NULL_CODE;
	return order;
}

/* Set the distributions of sensitive columns from their counts, once all rows have been counted. */
void
anonymizer_set_distributions(Anonymizer *anonymizer)
{
	MemoryContext old = MemoryContextSwitchTo(anonymizer->context);

	for (int i = 0; i < anonymizer->recoder->nsensitive && anonymizer->recoder->t > 0; i++)
	{
		RecodeSensitive *sensitive = &anonymizer->recoder->sensitive[i];
		int count = sensitive->dictionary->levels[0].ncodes;
		double rows = 0;

		sensitive->nshares = count;
		sensitive->share = palloc0(count * sizeof(double));
		for (int code = 0; code < Min(count, anonymizer->noccurrences[i]); code++)
			rows += anonymizer->occurrences[i][code];
		for (int code = 0; code < Min(count, anonymizer->noccurrences[i]); code++)
			sensitive->share[code] = anonymizer->occurrences[i][code] / rows;
		if (sensitive->distance == DISTANCE_ORDERED)
			sensitive->order = order_codes(sensitive->dictionary, count);
		else if (sensitive->distance == DISTANCE_HIERARCHICAL)
			sensitive->tree = valuetree_create(sensitive->dictionary, count);
	}
	anonymizer->distributions_known = true;
	MemoryContextSwitchTo(old);
}

/* Forget the distributions and their counts; their memory stays in use. */
void
anonymizer_forget_distributions(Anonymizer *anonymizer)
{
	anonymizer->distributions_known = false;
	memset(anonymizer->noccurrences, 0, anonymizer->nsensitive * sizeof(int));
}

/* One pass over the rows. */
typedef struct Counting
{
	Anonymizer *anonymizer;
	const RowLayout *layout;
	Histogram *histogram; /* NULL: not wanted, or grown too large */
	bool bounded;		  /* the histogram may take half of the hash memory */
	bool overflow;		  /* it has taken more */
	int64 overflow_rows;  /* rows read until then */
	Shuffle **keep;		  /* takes all rows, and is created before the first; NULL: none does */
	TupleDesc desc;		  /* of the rows; in the anonymizer's context */
	Query *groups;		  /* of equal rows, with their number after the columns of layout; NULL: single rows */
	MemoryContext work;	  /* reset every now and then */
	int64 received;		  /* rows, or groups of them */
	int64 rows;
} Counting;

/* Drop the notes, if there are any. */
void
anonymizer_drop_notes(Anonymizer *anonymizer)
{
	if (anonymizer->notes)
		notes_end(anonymizer->notes);
	anonymizer->notes = NULL;
}

/*
 * Give the histogram up if it has outgrown its memory: half of it, since recoding needs about
 * as much again as counting.  Return true if there is any use in reading on.
 */
static bool
check_memory(Counting *counting)
{
	MemoryContext context;

	if (counting->histogram == NULL || !counting->bounded)
		return true;
	context = counting->histogram->context;
	if (MemoryContextMemAllocated(context, true) < get_hash_memory_limit() / 2)
		return true;
	counting->overflow = true;
	counting->overflow_rows = counting->rows;
	counting->histogram = NULL;
	anonymizer_drop_notes(counting->anonymizer);
	aview_refuse(counting->anonymizer->aview, "recoding in memory", "classes have outgrown half of the hash memory");
	return counting->keep || (counting->anonymizer->recoder->t > 0 && !counting->anonymizer->distributions_known);
}

/* Count a row of the source or, with groups, as many rows as it stands for: a SourceReceiver. */
static bool
count_source_row(void *arg, TupleTableSlot *slot)
{
	Counting *counting = arg;
	Anonymizer *anonymizer = counting->anonymizer;
	MemoryContext old = MemoryContextSwitchTo(counting->work);

	if (counting->groups)
	{
		slot_getallattrs(slot);
		Assert(slot->tts_tupleDescriptor->natts == list_length(counting->layout->columns) + 1);
		anonymizer->row.rows = DatumGetInt64(slot->tts_values[list_length(counting->layout->columns)]);
	}
	Assert(anonymizer->row.rows > 0);
	if (anonymizer_read(anonymizer, counting->layout, slot, true))
	{
		int class = anonymizer_count(anonymizer, counting->histogram);

		if (counting->keep)
			shuffle_add(*counting->keep, slot);
		if (anonymizer->notes)
			notes_add(anonymizer->notes, slot, class);
	}
	MemoryContextSwitchTo(old);
	counting->rows += anonymizer->row.rows;
	if (++counting->received % 1024 != 0)
		return true;
	MemoryContextReset(counting->work);
	CHECK_FOR_INTERRUPTS();
	return check_memory(counting);
}

/* Copy a descriptor into the anonymizer's context: it outlives a histogram that has to be started anew. */
static TupleDesc
copy_desc(const Anonymizer *anonymizer, TupleDesc desc)
{
	MemoryContext old = MemoryContextSwitchTo(anonymizer->context);
	TupleDesc copy = CreateTupleDescCopy(desc);

	MemoryContextSwitchTo(old);
	return copy;
}

/* Start notes anew, as the source is about to be read from its start. */
static void
start_notes(Counting *counting)
{
	Anonymizer *anonymizer = counting->anonymizer;
	MemoryContext old = MemoryContextSwitchTo(anonymizer->context);

	anonymizer_drop_notes(anonymizer);
	anonymizer->notes = notes_create(anonymizer, counting->layout, counting->desc, anonymizer->aview->profile != NULL);
	MemoryContextSwitchTo(old);
}

/* Create the shuffle that keeps all rows. */
static void
start_keeping(Counting *counting)
{
	MemoryContext old = MemoryContextSwitchTo(counting->anonymizer->context);

	*counting->keep = shuffle_create(counting->desc, !counting->anonymizer->hides_order);
	MemoryContextSwitchTo(old);
}

/* Count all rows of the source, or as many as fit. */
static void
count_source(Counting *counting)
{
	Anonymizer *anonymizer = counting->anonymizer;
	Query *query = counting->groups;
	SourceRun *run;

	if (query == NULL)
		query = source_query(anonymizer->aview, counting->layout->columns, NIL, NIL);
	run = source_start(anonymizer->aview, source_plan(anonymizer->aview, query, true, NULL), NULL,
					   anonymizer->snapshot);
	counting->work = AllocSetContextCreate(CurrentMemoryContext, "kanon source row", ALLOCSET_DEFAULT_SIZES);
	counting->desc = copy_desc(anonymizer, source_desc(run));
	anonymizer->hides_order = !anonymizer->with_source && source_hides_order(run);
	if (anonymizer->noting)
		start_notes(counting);
	if (counting->keep)
		start_keeping(counting);
	source_pump(run, count_source_row, counting);
	source_end(run);
	MemoryContextDelete(counting->work);
	anonymizer->row.rows = 1;
}

/*
 * Return the query that has the servers of a distributed source count equal rows, and set
 * up the layout of its rows.  Return NULL where they cannot: choices are found row by row,
 * and individuals with several rows are told apart here.
 */
static Query *
ask_for_groups(Anonymizer *anonymizer, RowLayout *layout)
{
	Recoder *recoder = anonymizer->recoder;
	Bitmapset *columns = NULL;

	if (anonymizer->aview->profile || !shards_exist(anonymizer->aview))
		return NULL;
	if (!recoder->count_rows && !shards_ids_are_unique(anonymizer->aview, anonymizer->snapshot))
	{
		aview_refuse(anonymizer->aview, "counting on other servers",
					 "an individual may have several rows, or a row none");
		return NULL;
	}
	recoder_count_rows(recoder);
	for (int i = 0; i < recoder->ncolumns; i++)
		columns = bms_add_member(columns, anonymizer->aview->quasi[i]);
	for (int i = 0; i < recoder->nsensitive; i++)
		columns = bms_add_member(columns, anonymizer->sensitive[i]);
	row_layout(layout, anonymizer->aview, columns);
	return shards_groups(anonymizer->aview, layout->columns);
}

/* Count the rows that were kept. */
static void
count_kept(Counting *counting, Shuffle *kept)
{
	TupleTableSlot *slot;

	counting->work = AllocSetContextCreate(CurrentMemoryContext, "kanon kept row", ALLOCSET_DEFAULT_SIZES);
	shuffle_rewind(kept);
	while (shuffle_next(kept, &slot) && count_source_row(counting, slot))
		;
	shuffle_rewind(kept);
	MemoryContextDelete(counting->work);
}

/*
 * Count all rows a second time, telling as many individuals of a class apart as the
 * largest k asks for: k was not known in the first pass.
 */
static void
count_again(Counting *counting, Shuffle *kept)
{
	Recoder *recoder = counting->anonymizer->recoder;

	Assert(CurrentMemoryContext == counting->histogram->context);
	recoder->most_individuals = recoder->most_k;
	MemoryContextReset(CurrentMemoryContext);
	counting->anonymizer->classes = counting->histogram = histogram_create(recoder, true);
	counting->keep = NULL;
	counting->rows = 0;
	if (kept)
		count_kept(counting, kept);
	else
		count_source(counting);
}

/* Return true if some row asks for more individuals than were told apart. */
static bool
must_count_again(const Recoder *recoder)
{
	return recoder->personal && !recoder->count_rows && recoder->most_individuals > 0 &&
		   recoder->most_k > recoder->most_individuals;
}

/* Recode the whole source, and return 0, or the number of rows read when the classes outgrew memory. */
int64
anonymizer_recode(Anonymizer *anonymizer, Shuffle **keep, bool bounded)
{
	MemoryContext work = AllocSetContextCreate(anonymizer->context, "kanon histogram", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	RowLayout grouped = {NIL};
	Query *groups = keep ? NULL : ask_for_groups(anonymizer, &grouped);
	Counting counting = {
		.anonymizer = anonymizer,
		.layout = groups ? &grouped : (keep ? &anonymizer->published : &anonymizer->counted),
		.histogram = histogram_create(anonymizer->recoder, true),
		.keep = keep,
		.groups = groups,
		.bounded = bounded,
	};

	anonymizer->classes = counting.histogram;
	count_source(&counting);
	if (!anonymizer->distributions_known && (!counting.overflow || anonymizer->recoder->t > 0))
		anonymizer_set_distributions(anonymizer);
	if (!counting.overflow && must_count_again(anonymizer->recoder))
		count_again(&counting, keep ? *keep : NULL);
	if (!counting.overflow)
		recode(anonymizer->classes, 0, anonymizer->recoder->nsteps);
	MemoryContextSwitchTo(old);
	return counting.overflow ? counting.overflow_rows : 0;
}

/* Count the whole source for its distributions alone, if they are needed. */
void
anonymizer_learn_distributions(Anonymizer *anonymizer)
{
	Counting counting = {.anonymizer = anonymizer, .layout = &anonymizer->counted};

	if (anonymizer->recoder->t > 0 && !anonymizer->distributions_known)
	{
		count_source(&counting);
		anonymizer_set_distributions(anonymizer);
	}
}

/* Return how many rows the planner expects of the whole source. */
double
anonymizer_expected_rows(const Anonymizer *anonymizer)
{
	Query *query = source_query(anonymizer->aview, anonymizer->counted.columns, NIL, NIL);

	return source_plan(anonymizer->aview, query, false, NULL)->planTree->plan_rows;
}
