/*
 * pairs.c
 *		Pairs: the rows of a source beside the rows that are published of them.
 *
 * A logical view is anonymized as a query reads it, and each published row is paired with
 * the source's row that it was made from.  The rows of a materialized view are read with
 * their stored raw values; rows that wait for a group count as suppressed.
 */
#include "base/kanon.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "anonymize/anonymize_first.h"
#include "anonymize/anonymizer.h"
#include "anonymize/row_source.h"
#include "aview/aview.h"
#include "base/as_owner.h"
#include "base/progress.h"
#include "hierarchy/generalized.h"
#include "matview/stored.h"
#include "quality/quality.h"
#include "recode/recode.h"
#include "source/source.h"

/*
 * Return the definition of a view; raise an error unless the current role owns it, and so
 * may see the source.
 */
AView *
quality_load(Oid view)
{
	int32 id = aview_id_of_view(view);

	if (!kanon_owns_relation(view, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_VIEW, get_rel_name(view));
	return aview_load(id);
}

/* Add to a pair the source's row that the row source published last, its fate and its owner's k. */
static void
pair_add_raw(const AView *aview, const AnonymizeFirst *rows, const Anonymizer *anonymizer, Pair *pair)
{
	const Cell *cell;
	TupleTableSlot *slot = anonymize_first_current(rows, &cell);

	for (int i = 0; i < aview->ncolumns; i++)
	{
		int place = anonymizer_layout(anonymizer)->place[i];

		if (place < 0)
			continue;
		pair->values[aview->ncolumns + i] = slot->tts_values[place];
		pair->nulls[aview->ncolumns + i] = slot->tts_isnull[place];
	}
	pair->fate = cell == NULL ? FATE_OPEN : (cell->suppressed ? FATE_SUPPRESSED : FATE_GROUP);
	pair->k = anonymizer_recoder(anonymizer)->personal ? anonymizer_row(anonymizer)->k : aview->k;
}

/* The state of reading the rows of a view. */
typedef struct Reading
{
	AView *aview;
	const Bitmapset *columns; /* columns of the view to read */
	PairReceiver receive;
	void *arg;
	MemoryContext row; /* reset after each row */
	Pair pair;		   /* the present row */
	int64 done;		   /* rows handed to the receiver */
} Reading;

/* Hand the present pair to the receiver, and free its values. */
static void
pair_done(Reading *reading)
{
	Assert(reading->pair.fate == FATE_GROUP || reading->pair.fate == FATE_SUPPRESSED ||
		   reading->pair.fate == FATE_OPEN);
	reading->receive(reading->arg, &reading->pair);
	MemoryContextReset(reading->row);
	if (++reading->done % 10000 == 0)
		progress_done(reading->done);
}

/* Read the pairs of a logical view. */
static void
pairs_read_logical(Reading *reading)
{
	RowRequest request = {.aview = reading->aview, .wanted = reading->columns, .snapshot = GetActiveSnapshot()};
	AnonymizeFirst *rows = anonymize_first_start_with_source(&request);
	RowSource *source = (RowSource *) rows;

	row_source_rewind(source, NULL);
	for (;;)
	{
		MemoryContext old = MemoryContextSwitchTo(reading->row);
		bool found = row_source_next(source, reading->pair.values, reading->pair.nulls);

		MemoryContextSwitchTo(old);
		if (!found)
			break;
		pair_add_raw(reading->aview, rows, anonymize_first_anonymizer(rows), &reading->pair);
		pair_done(reading);
	}
	row_source_end(source);
}

/* Read the pairs of the rows that a materialized view publishes. */
static void
pairs_read_stored(Reading *reading)
{
	int ncolumns = reading->aview->ncolumns;
	Pair *pair = &reading->pair;
	RowRequest request = {.aview = reading->aview,
						  .wanted = reading->columns,
						  .snapshot = GetActiveSnapshot(),
						  .raw = true,
						  .keep_order = true};
	RowSource *source = stored_rows_methods.start(&request);
	StoredRows *rows = (StoredRows *) source;

	row_source_rewind(source, NULL);
	for (;;)
	{
		MemoryContext old = MemoryContextSwitchTo(reading->row);
		bool found = row_source_next(source, pair->values, pair->nulls);

		MemoryContextSwitchTo(old);
		if (!found)
			break;
		stored_rows_raw(rows, pair->values + ncolumns, pair->nulls + ncolumns);
		pair->fate = stored_rows_alone(rows) ? FATE_OPEN : FATE_GROUP;
		pair->k = stored_rows_k(rows);
		pair_done(reading);
	}
	row_source_end(source);
}

/*
 * Read the pairs of the rows of a materialized view that wait for a group: a logical view
 * would suppress them.
 */
static void
pairs_read_waiting(Reading *reading)
{
	AView *aview = reading->aview;
	Pair *pair = &reading->pair;
	StringInfoData text;
	SourceRun *run;
	TupleTableSlot *slot;

	initStringInfo(&text);
	for (int i = 0; i < aview->ncolumns; i++)
		appendStringInfo(&text, "%s m.c%d", i == 0 ? "SELECT" : ",", i + 1);
	appendStringInfo(&text,
					 " FROM kanon.members_%d AS m LEFT JOIN kanon.groups_%d AS g ON g.g_id OPERATOR(pg_catalog.=) m.m_group%s"
					 " WHERE g.g_id IS NULL",
					 aview->id, aview->id, stored_shown(aview));
	memset(pair->nulls, true, aview->ncolumns * sizeof(bool));
	for (int i = 0; i < aview->nquasi; i++)
	{
		pair->values[aview->quasi[i]] = gen_parse("*", 1);
		pair->nulls[aview->quasi[i]] = false;
	}
	pair->fate = FATE_SUPPRESSED;
	pair->k = aview->k;
	run = source_start(aview, source_plan(aview, stored_query(text.data), false, NULL), NULL, GetActiveSnapshot());
	while (source_next(run, &slot))
	{
		slot_getallattrs(slot);
		memcpy(pair->values + aview->ncolumns, slot->tts_values, aview->ncolumns * sizeof(Datum));
		memcpy(pair->nulls + aview->ncolumns, slot->tts_isnull, aview->ncolumns * sizeof(bool));
		pair_done(reading);
	}
	source_end(run);
}

/* Read the pairs of a view, with the rights of its owner, since the source runs the owner's code. */
void
pairs_read(AView *aview, const Bitmapset *columns, PairReceiver receive, void *arg)
{
	Reading reading = {
		.aview = aview,
		.columns = columns,
		.receive = receive,
		.arg = arg,
		.row = AllocSetContextCreate(CurrentMemoryContext, "kanon pair of rows", ALLOCSET_DEFAULT_SIZES),
		.pair.values = palloc0(2 * aview->ncolumns * sizeof(Datum)),
		.pair.nulls = palloc0(2 * aview->ncolumns * sizeof(bool)),
	};
	AsOwner scope;

	as_owner_start(&scope, aview->owner, aview->settings);
	if (aview->materialized)
	{
		pairs_read_stored(&reading);
		pairs_read_waiting(&reading);
	}
	else
		pairs_read_logical(&reading);
	as_owner_end(&scope);
	MemoryContextDelete(reading.row);
}
