/*
 * pairs.c
 *		Rows of an A-view's source beside what is published of them.
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

/* The definition of a view, for who may look behind it: its owner. */
AView *
quality_load(Oid view)
{
	int32 id = aview_id_of_view(view);

	if (!kanon_owns_relation(view, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_VIEW, get_rel_name(view));
	return aview_load(id);
}

/* Adds the row that was published last, as it is. */
static void
add_raw(const AView *aview, const AnonymizeFirst *rows, const Anonymizer *anonymizer, Pair *pair)
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
	pair->fate = cell == NULL ? FATE_OPEN : cell->suppressed ? FATE_SUPPRESSED : FATE_GROUP;
	pair->k = anonymizer_recoder(anonymizer)->personal ? anonymizer_row(anonymizer)->k : aview->k;
}

/* What goes with reading rows, wherever they come from. */
typedef struct Reading
{
	AView *aview;
	const Bitmapset *columns;
	PairReceiver receive;
	void *arg;
	MemoryContext row; /* reset after each */
	Pair pair;
	int64 done;
} Reading;

static void
hand_on(Reading *reading)
{
	reading->receive(reading->arg, &reading->pair);
	MemoryContextReset(reading->row);
	if (++reading->done % 10000 == 0)
		progress_done(reading->done);
}

static void
read_logical(Reading *reading)
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
		add_raw(reading->aview, rows, anonymize_first_anonymizer(rows), &reading->pair);
		hand_on(reading);
	}
	row_source_end(source);
}

static void
read_stored(Reading *reading)
{
	int ncolumns = reading->aview->ncolumns;
	Pair *pair = &reading->pair;
	RowRequest request = {.aview = reading->aview, .wanted = reading->columns, .snapshot = GetActiveSnapshot(),
						  .raw = true, .keep_order = true};
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
		hand_on(reading);
	}
	row_source_end(source);
}

/* Rows that wait are what a logical view suppresses. */
static void
read_waiting(Reading *reading)
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
	run = source_start(source_plan(stored_query(text.data), false, NULL), NULL, GetActiveSnapshot());
	while (source_next(run, &slot))
	{
		slot_getallattrs(slot);
		memcpy(pair->values + aview->ncolumns, slot->tts_values, aview->ncolumns * sizeof(Datum));
		memcpy(pair->nulls + aview->ncolumns, slot->tts_isnull, aview->ncolumns * sizeof(bool));
		hand_on(reading);
	}
	source_end(run);
}

/* Reads the source as the view's owner: the code in it is the owner's. */
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

	as_owner_start(&scope, aview->owner, SECURITY_RESTRICTED_OPERATION);
	if (aview->materialized)
	{
		read_stored(&reading);
		read_waiting(&reading);
	}
	else
		read_logical(&reading);
	as_owner_end(&scope);
	MemoryContextDelete(reading.row);
}
