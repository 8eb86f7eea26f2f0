/*
 * counting.c
 *		Counting the rows of the source: classes, individuals, distributions.
 */
#include "base/kanon.h"

#include "anonymize/anonymizer.h"

#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "anonymize/notes.h"
#include "hierarchy/generalized.h"
#include "recode/dictionary.h"
#include "recode/recode.h"
#include "source/layout.h"
#include "source/shards.h"
#include "source/source.h"

/* Counts a sensitive value of the whole input. */
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
	anonymizer->occurrences[index][code] += anonymizer->row.rows;
}

/* Counts the row just read: those in no group count as part of the whole input, too. */
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

typedef struct NumberedCode
{
	Datum number;
	int32 code;
} NumberedCode;

static int
compare_numbers(const void *left, const void *right)
{
	GenView a;
	GenView b;

	gen_view(((const NumberedCode *) left)->number, &a);
	gen_view(((const NumberedCode *) right)->number, &b);
	return gen_identity_cmp(&a, &b, InvalidOid);
}

/* The codes of a column of numbers in their order, NULL last. */
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
	qsort(codes, count - 1, sizeof(NumberedCode), compare_numbers);
	for (int i = 0; i < count - 1; i++)
		order[i] = codes[i].code;
	order[count - 1] = NULL_CODE;
	return order;
}

/* From counts to shares, once all of the input has been seen. */
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

typedef struct Counting
{
	Anonymizer *anonymizer;
	const RowLayout *layout;
	Histogram *histogram; /* null: not wanted, or grown too large */
	bool bounded; /* by work_mem */
	bool overflow;
	int64 overflow_rows;
	Tuplestorestate *keep;
	TupleDesc desc; /* of the rows */
	Query *groups; /* of rows, each with their number after its columns; null: single rows */
	MemoryContext work;
	int64 received;
	int64 rows;
} Counting;

static void
drop_notes(Anonymizer *anonymizer)
{
	if (anonymizer->notes)
		notes_end(anonymizer->notes);
	anonymizer->notes = NULL;
}

/*
 * Recoding needs about as much again as counting.  Returns whether there is any
 * use in reading on.
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
	drop_notes(counting->anonymizer);
	return counting->keep || (counting->anonymizer->recoder->t > 0 && !counting->anonymizer->distributions_known);
}

static bool
count_row(void *arg, TupleTableSlot *slot)
{
	Counting *counting = arg;
	Anonymizer *anonymizer = counting->anonymizer;
	MemoryContext old = MemoryContextSwitchTo(counting->work);

	if (counting->groups)
	{
		slot_getallattrs(slot);
		anonymizer->row.rows = DatumGetInt64(slot->tts_values[list_length(counting->layout->columns)]);
	}
	if (anonymizer_read(anonymizer, counting->layout, slot, true))
	{
		int class = anonymizer_count(anonymizer, counting->histogram);

		if (counting->keep)
			tuplestore_puttupleslot(counting->keep, slot);
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

/* Outlives a histogram that has to be started anew. */
static TupleDesc
copy_desc(const Anonymizer *anonymizer, TupleDesc desc)
{
	MemoryContext old = MemoryContextSwitchTo(anonymizer->context);
	TupleDesc copy = CreateTupleDescCopy(desc);

	MemoryContextSwitchTo(old);
	return copy;
}

/* The source is about to be read, from the start: so are notes. */
static void
start_notes(Counting *counting)
{
	Anonymizer *anonymizer = counting->anonymizer;
	MemoryContext old = MemoryContextSwitchTo(anonymizer->context);

	drop_notes(anonymizer);
	anonymizer->notes = notes_create(anonymizer, counting->layout, counting->desc);
	MemoryContextSwitchTo(old);
}

static void
count_source(Counting *counting)
{
	Anonymizer *anonymizer = counting->anonymizer;
	Query *query = counting->groups ? counting->groups : source_query(anonymizer->aview, counting->layout->columns, NIL, NIL);
	SourceRun *run = source_start(source_plan(query, true, NULL), NULL, anonymizer->snapshot);

	counting->work = AllocSetContextCreate(CurrentMemoryContext, "kanon source row", ALLOCSET_DEFAULT_SIZES);
	counting->desc = copy_desc(anonymizer, source_desc(run));
	anonymizer->tells_order = !anonymizer->keeps_order && source_tells_order(run);
	if (anonymizer->noting)
		start_notes(counting);
	if (counting->keep && anonymizer->tells_order)
		source_hide_order(run);
	source_pump(run, count_row, counting);
	source_end(run);
	MemoryContextDelete(counting->work);
	anonymizer->row.rows = 1;
}

/* What the servers of a distributed source are asked for; null where they cannot count for us. */
static Query *
ask_for_groups(Anonymizer *anonymizer, RowLayout *layout)
{
	Recoder *recoder = anonymizer->recoder;
	Bitmapset *columns = NULL;

	/* Choices are found row by row. */
	if (anonymizer->aview->profile || !shards_exist(anonymizer->aview))
		return NULL;
	recoder->count_rows = recoder->count_rows || shards_ids_are_unique(anonymizer->aview, anonymizer->snapshot);
	if (!recoder->count_rows)
		return NULL;
	for (int i = 0; i < recoder->ncolumns; i++)
		columns = bms_add_member(columns, anonymizer->aview->quasi[i]);
	for (int i = 0; i < recoder->nsensitive; i++)
		columns = bms_add_member(columns, anonymizer->sensitive[i]);
	row_layout(layout, anonymizer->aview, columns);
	return shards_groups(anonymizer->aview, layout->columns);
}

/* The same from the rows that were kept. */
static void
count_kept(Counting *counting, Tuplestorestate *kept)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(counting->desc, &TTSOpsMinimalTuple);

	counting->work = AllocSetContextCreate(CurrentMemoryContext, "kanon kept row", ALLOCSET_DEFAULT_SIZES);
	tuplestore_rescan(kept);
	while (anonymizer_kept_row(counting->anonymizer, kept, slot) && count_row(counting, slot))
		;
	tuplestore_rescan(kept);
	ExecDropSingleTupleTableSlot(slot);
	MemoryContextDelete(counting->work);
}

/* Somebody asks for more individuals than were told apart: all of it once more, now that we know. */
static void
count_again(Counting *counting, Tuplestorestate *kept)
{
	Recoder *recoder = counting->anonymizer->recoder;

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

static bool
told_too_few_apart(const Recoder *recoder)
{
	return recoder->personal && !recoder->count_rows && recoder->most_individuals > 0 && recoder->most_k > recoder->most_individuals;
}

/*
 * Recodes the whole source.  If the rows are to be kept, they go to a tuplestore
 * in the layout anonymizer->published, which then has all that counting needs.
 *
 * Returns the number of rows read when the classes outgrew memory, or 0 when all
 * went well.  Then only the rows to be kept, and distributions, are complete.
 */
int64
anonymizer_recode(Anonymizer *anonymizer, Tuplestorestate *keep, bool bounded)
{
	MemoryContext work = AllocSetContextCreate(anonymizer->context, "kanon histogram", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	RowLayout grouped = {NIL};
	Query *groups = keep ? NULL : ask_for_groups(anonymizer, &grouped);
	Counting counting = {
		.anonymizer = anonymizer,
		.layout = groups ? &grouped : keep ? &anonymizer->published : &anonymizer->counted,
		.histogram = histogram_create(anonymizer->recoder, true),
		.keep = keep,
		.groups = groups,
		.bounded = bounded,
	};

	anonymizer->classes = counting.histogram;
	count_source(&counting);
	if (!anonymizer->distributions_known && (!counting.overflow || anonymizer->recoder->t > 0))
		anonymizer_set_distributions(anonymizer);
	if (!counting.overflow && told_too_few_apart(anonymizer->recoder))
		count_again(&counting, keep);
	if (!counting.overflow)
		recode(anonymizer->classes, 0, anonymizer->recoder->nsteps);
	MemoryContextSwitchTo(old);
	return counting.overflow ? counting.overflow_rows : 0;
}

/* Only the distributions of the whole input, for t. */
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

bool
anonymizer_kept_row(Anonymizer *anonymizer, Tuplestorestate *kept, TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(anonymizer->context);
	bool found = tuplestore_gettupleslot(kept, true, false, slot);

	MemoryContextSwitchTo(old);
	return found;
}
