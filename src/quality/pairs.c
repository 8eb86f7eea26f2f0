/*
 * pairs.c
 *		Rows of an A-view's source beside what is published of them.
 */
#include "quality/quality.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "asowner.h"
#include "progress.h"
#include "scan/allrows.h"

/* The definition of a view, for who may look behind it: its owner. */
AView *
quality_load(Oid view)
{
	int32 id = aview_id_of_view(view);

	if (!pg_class_ownercheck(view, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_VIEW, get_rel_name(view));
	return aview_load(id);
}

/* Adds the row that was published last, as it is. */
static void
add_raw(const AView *aview, const AllRows *rows, const Anonymizer *anonymizer, Pair *pair)
{
	const Cell *cell;
	TupleTableSlot *slot = allrows_current(rows, &cell);

	for (int i = 0; i < aview->ncolumns; i++)
	{
		int place = anonymizer->published.place[i];

		if (place < 0)
			continue;
		pair->values[aview->ncolumns + i] = slot->tts_values[place];
		pair->nulls[aview->ncolumns + i] = slot->tts_isnull[place];
	}
	pair->fate = cell == NULL ? FATE_OPEN : cell->suppressed ? FATE_SUPPRESSED : FATE_GROUP;
	pair->k = anonymizer->recoder->personal ? anonymizer->row.k : aview->k;
}

/* Reads the source as the view's owner: the code in it is the owner's. */
void
pairs_read(AView *aview, const Bitmapset *columns, PairReceiver receive, void *arg)
{
	MemoryContext row = AllocSetContextCreate(CurrentMemoryContext, "kanon pair of rows", ALLOCSET_DEFAULT_SIZES);
	Pair pair = {
		.values = palloc0(2 * aview->ncolumns * sizeof(Datum)),
		.nulls = palloc0(2 * aview->ncolumns * sizeof(bool)),
	};
	AsOwner scope;
	AllRows *rows;
	int64 done = 0;

	aview_check_logical(aview);
	as_owner_start(&scope, aview->owner);
	rows = allrows_start(aview, columns, GetActiveSnapshot());
	for (;;)
	{
		MemoryContext old = MemoryContextSwitchTo(row);
		bool found = allrows_next(rows, pair.values, pair.nulls);

		MemoryContextSwitchTo(old);
		if (!found)
			break;
		add_raw(aview, rows, allrows_anonymizer(rows), &pair);
		receive(arg, &pair);
		MemoryContextReset(row);
		if (++done % 10000 == 0)
			progress_done(done);
	}
	allrows_end(rows);
	as_owner_end(&scope);
	MemoryContextDelete(row);
}
