/*
 * attempt.c
 *		Work for a materialized view that must not fail a command which does not need it.
 *
 * Views belong to roles that need not be trusted, and so does the code in them.  An error
 * of a view must fail neither another role's CREATE TABLE nor a worker that applies
 * replicated changes, which would meet the same error again and again.
 */
#include "base/kanon.h"

#include "matview/attempt.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "matview/follow.h"

/* Return the error that was raised, after undoing the subtransaction. */
static ErrorData *
undo(MemoryContext context, ResourceOwner owner)
{
	ErrorData *error;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	FlushErrorState();
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}

/* Do some work for a view in a subtransaction; after an error the view is stale. */
void
attempt(int32 id, AttemptedWork work, void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		work(arg);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		error = undo(context, owner);
	}
	PG_END_TRY();
	if (error == NULL)
		return;
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	/* The message may quote values that the client must not see. */
	ereport(LOG_SERVER_ONLY,
			(errcode(error->sqlerrcode),
			 errmsg("groups of materialized anonymization view number %d: %s", id, error->message)));
	/* Before a commit there is no snapshot. */
	PushActiveSnapshot(GetTransactionSnapshot());
	follow_mark_stale(id);
	PopActiveSnapshot();
	ereport(WARNING,
			(errcode(error->sqlerrcode),
			 errmsg("the groups of a materialized anonymization view could not be brought up to date"),
			 errdetail("The view has the number %d; the server's log has the error.", id),
			 errhint("Its owner has to refresh it.")));
}
