/*
 * pending.c
 *		The changes that a transaction has made to the tables of materialized views.
 *
 * Triggers add them (feed.c).  They go to the groups (apply.c) when the transaction
 * commits or is prepared; a subtransaction that is rolled back takes its changes with
 * it.  Rows beyond work_mem go to disk.
 */
#include "base/kanon.h"

#include "matview/pending.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "replication/logicalworker.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timeout.h"

#include "aview/aview.h"
#include "matview/apply.h"
#include "matview/attempt.h"
#include "matview/keeper.h"
#include "matview/matview.h"

static List *pending = NIL;	  /* the changes of the running transaction, in the order of time */
static bool applying = false; /* groups are being brought up to date */
static int64 serial = 0;	  /* the last number of a change in the transaction */
static bool limited = false;  /* statement_timeout limits the work before the commit */

/* The rows of a subtransaction are added to its parent's rows if they are no more than this. */
#define FEW_ROWS 1000

/* Return the descriptor of pending rows. */
static TupleDesc
describe_pending(const Keeper *keeper)
{
	int ncolumns = keeper->aview->nkeyed;
	TupleDesc desc = CreateTemplateTupleDesc(ncolumns + Anum_pending_first - 1);

	TupleDescInitEntry(desc, Anum_pending_present, "present", BOOLOID, -1, 0);
	TupleDescInitEntry(desc, Anum_pending_serial, "serial", INT8OID, -1, 0);
	for (int i = 0; i < ncolumns; i++)
		TupleDescCopyEntry(desc, Anum_pending_first + i, keeper->row, i + 1);
	return desc;
}

Pending *
pending_for(Keeper *keeper)
{
	SubTransactionId subid = GetCurrentSubTransactionId();
	Pending *entry = NULL;
	ListCell *cell;
	MemoryContext old;

	foreach (cell, pending)
	{
		Pending *candidate = lfirst(cell);

		if (candidate->view == keeper->id)
			entry = candidate;
	}
	if (entry && entry->subid == subid)
		return entry;
	old = MemoryContextSwitchTo(TopTransactionContext);
	entry = palloc0(sizeof(Pending));
	entry->view = keeper->id;
	entry->subid = subid;
	entry->desc = describe_pending(keeper);
	entry->rows = tuplestore_begin_heap(false, false, work_mem);
	pending = lappend(pending, entry);
	MemoryContextSwitchTo(old);
	return entry;
}

/* Drop the files of an entry. */
static void
end_entry(Pending *entry)
{
	tuplestore_end(entry->rows);
	if (entry->owners)
		tuplestore_end(entry->owners);
}

void
pending_refuse_nesting(void)
{
	if (applying)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("tables of a materialized anonymization view cannot be changed while its groups are brought up to date"),
				 errhint("Functions and operators in the view and its profile must not change anything.")));
}

Pending *
pending_compare(int32 id)
{
	ResourceOwner owner = CurrentResourceOwner;
	Pending *entry;

	CurrentResourceOwner = TopTransactionResourceOwner;
	entry = pending_for(keeper_get(id));
	entry->truncated = true;
	CurrentResourceOwner = owner;
	return entry;
}

int64
pending_next_serial(void)
{
	return ++serial;
}

void
pending_reconcile(int32 id)
{
	pending_refuse_nesting();
	(void) pending_compare(id);
}

/* Return true if the running transaction has changed the source of a view. */
bool
matview_has_pending(int32 id)
{
	ListCell *cell;

	foreach (cell, pending)
	{
		if (((Pending *) lfirst(cell))->view == id)
			return true;
	}
	return false;
}

/*
 * Apply all pending changes of a view, unless it has been dropped.  An error fails a transaction
 * that has written rows: its changes would be lost.  It does not fail one that has changed
 * tables, for a view that may be another role's, nor a worker of logical replication.
 */
static void
apply_view(int32 id)
{
	PendingChanges changes = {.view = id};
	ListCell *cell;

	if (!aview_exists(id))
		return;
	foreach (cell, pending)
	{
		Pending *entry = lfirst(cell);

		if (entry->view != id)
			continue;
		changes.entries = lappend(changes.entries, entry);
		changes.removals |= entry->removals || entry->owners;
		changes.truncated |= entry->truncated;
		changes.written |= entry->written;
	}
	if (changes.written && !IsLogicalWorker())
		apply_pending(&changes);
	else
		attempt(id, apply_pending, &changes);
}

/* Compare numbers of views for list_sort(). */
static int
compare_view_ids(const ListCell *a, const ListCell *b)
{
	return lfirst_int(a) < lfirst_int(b) ? -1 : lfirst_int(a) > lfirst_int(b);
}

/* Apply all pending changes, one view after the other, in the same order in all transactions. */
static void
apply_all(void)
{
	MemoryContext context = AllocSetContextCreate(TopTransactionContext, "kanon changes", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	List *views = NIL;
	ListCell *cell;

	/* The changes of the last command must be visible. */
	CommandCounterIncrement();
	foreach (cell, pending)
		views = list_append_unique_int(views, ((Pending *) lfirst(cell))->view);
	list_sort(views, compare_view_ids);
	foreach (cell, views)
		apply_view(lfirst_int(cell));
	/* The files of the entries belong to the transaction, which closes files before it frees memory. */
	foreach (cell, pending)
		end_entry(lfirst(cell));
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/*
 * Limit the work before the commit by statement_timeout.  PostgreSQL ends that with the last
 * statement; so the work gets the same time once more.  (lock_timeout starts with each wait.)
 */
static void
start_limit(void)
{
	limited = StatementTimeout > 0 && !IsLogicalWorker() && !get_timeout_active(STATEMENT_TIMEOUT);
	if (limited)
		enable_timeout_after(STATEMENT_TIMEOUT, StatementTimeout);
}

/* End the limit. */
static void
end_limit(void)
{
	if (limited)
		disable_timeout(STATEMENT_TIMEOUT, false);
	limited = false;
}

/*
 * Apply the pending changes before a transaction commits or is prepared; forget them at its
 * end: an XactCallback.
 */
static void
at_transaction_end(XactEvent event, void *arg)
{
	if (pending == NIL)
		return;
	applying = event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE;
	if (applying)
	{
		start_limit();
		apply_all();
		/* A timeout that is reported later would be reported of a transaction that has committed. */
		CHECK_FOR_INTERRUPTS();
	}
	end_limit();
	applying = false;
	/* The memory and files of the entries go with the transaction. */
	pending = NIL;
	serial = 0;
}

/* Add a subtransaction's changes to its parent's changes. */
static void
hand_over(Pending *entry, Pending *parent)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(entry->desc, &TTSOpsMinimalTuple);

	Assert(entry->view == parent->view && entry->owners == NULL);
	tuplestore_rescan(entry->rows);
	while (tuplestore_gettupleslot(entry->rows, true, false, slot))
		tuplestore_puttupleslot(parent->rows, slot);
	ExecDropSingleTupleTableSlot(slot);
	parent->removals |= entry->removals;
	parent->truncated |= entry->truncated;
	parent->written |= entry->written;
}

/* Give the changes of a subtransaction to its parent; few ones join an entry of the parent. */
static void
at_subtransaction_commit(SubTransactionId subid, SubTransactionId parent)
{
	Pending *before = NULL;
	ListCell *cell;

	foreach (cell, pending)
	{
		Pending *entry = lfirst(cell);

		if (entry->subid != subid)
			continue;
		entry->subid = parent;
		before = NULL;
		for (int i = 0; i < foreach_current_index(cell); i++)
		{
			Pending *candidate = list_nth(pending, i);

			if (candidate->view == entry->view)
				before = candidate;
		}
		if (before && before->subid == parent && entry->owners == NULL &&
			tuplestore_tuple_count(entry->rows) <= FEW_ROWS)
		{
			hand_over(entry, before);
			end_entry(entry);
			pending = foreach_delete_current(pending, cell);
		}
	}
}

/* Drop the changes of a subtransaction. */
static void
at_subtransaction_abort(SubTransactionId subid)
{
	ListCell *cell;

	foreach (cell, pending)
	{
		Pending *entry = lfirst(cell);

		if (entry->subid == subid)
		{
			end_entry(entry);
			pending = foreach_delete_current(pending, cell);
		}
	}
}

/* Keep the changes of a subtransaction that commits, and drop the others: a SubXactCallback. */
static void
at_subtransaction_end(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	MemoryContext old;
	ResourceOwner owner = CurrentResourceOwner;

	if (pending == NIL)
		return;
	old = MemoryContextSwitchTo(TopTransactionContext);
	CurrentResourceOwner = TopTransactionResourceOwner;
	if (event == SUBXACT_EVENT_COMMIT_SUB)
		at_subtransaction_commit(subid, parent);
	else if (event == SUBXACT_EVENT_ABORT_SUB)
		at_subtransaction_abort(subid);
	CurrentResourceOwner = owner;
	MemoryContextSwitchTo(old);
}

/* Register for the ends of transactions. */
void
pending_init(void)
{
	RegisterXactCallback(at_transaction_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
}
