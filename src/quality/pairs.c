/*
 * pairs.c
 *		Rows of an A-view's source beside what is published of them.
 *
 * The view is given its own columns a second time, as columns that have no role
 * and so are published as they are.  Whatever makes the published rows thus
 * carries the raw ones along.
 */
#include "quality/quality.h"

#include "miscadmin.h"
#include "optimizer/optimizer.h"
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

static void
double_columns(AView *pairs)
{
	AViewColumn *columns = palloc(2 * pairs->ncolumns * sizeof(AViewColumn));

	memcpy(columns, pairs->columns, pairs->ncolumns * sizeof(AViewColumn));
	memcpy(columns + pairs->ncolumns, pairs->columns, pairs->ncolumns * sizeof(AViewColumn));
	for (int i = pairs->ncolumns; i < 2 * pairs->ncolumns; i++)
	{
		columns[i].role = ROLE_OTHER;
		columns[i].dgh_name = NULL;
		columns[i].dgh = NULL;
		columns[i].generalized = false;
	}
	pairs->columns = columns;
	pairs->ncolumns *= 2;
}

/* Can a query give its columns a second time without becoming another one? */
static bool
is_plain(const Query *query)
{
	return query->setOperations == NULL && query->groupClause == NIL && query->groupingSets == NIL &&
		   query->distinctClause == NIL && query->sortClause == NIL && !query->hasAggs && !query->hasWindowFuncs &&
		   !query->hasTargetSRFs && !contain_volatile_functions((Node *) query->targetList);
}

/* Where it can, keys of the tables behind it stay known. */
static Query *
double_plain(const AView *aview)
{
	Query *query = copyObject(aview->source);
	ListCell *cell;

	foreach (cell, aview->source->targetList)
	{
		TargetEntry *entry = copyObject(lfirst_node(TargetEntry, cell));

		entry->resno = list_length(query->targetList) + 1;
		query->targetList = lappend(query->targetList, entry);
	}
	return query;
}

static Query *
double_wrapped(const AView *aview)
{
	List *columns = NIL;

	for (int i = 0; i < 2 * aview->ncolumns; i++)
		columns = lappend_int(columns, i % aview->ncolumns);
	return source_query(aview, columns, NIL, NIL);
}

AView *
pairs_view(const AView *aview)
{
	AView *pairs = palloc(sizeof(AView));

	*pairs = *aview;
	pairs->source = is_plain(aview->source) ? double_plain(aview) : double_wrapped(aview);
	double_columns(pairs);
	return pairs;
}

/* Reads the source as the view's owner: the code in it is the owner's. */
void
pairs_read(AView *pairs, const Bitmapset *columns, PairReceiver receive, void *arg)
{
	MemoryContext row = AllocSetContextCreate(CurrentMemoryContext, "kanon pair of rows", ALLOCSET_DEFAULT_SIZES);
	Pair pair = {
		.values = palloc(pairs->ncolumns * sizeof(Datum)),
		.nulls = palloc(pairs->ncolumns * sizeof(bool)),
	};
	AsOwner scope;
	AllRows *rows;
	int64 done = 0;

	as_owner_start(&scope, pairs->owner);
	rows = allrows_start(pairs, columns, GetActiveSnapshot());
	for (;;)
	{
		MemoryContext old = MemoryContextSwitchTo(row);
		bool found = allrows_next(rows, pair.values, pair.nulls);

		MemoryContextSwitchTo(old);
		if (!found)
			break;
		receive(arg, &pair);
		MemoryContextReset(row);
		if (++done % 10000 == 0)
			progress_done(done);
	}
	allrows_end(rows);
	as_owner_end(&scope);
	MemoryContextDelete(row);
}
