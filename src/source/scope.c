/*
 * scope.c
 *		The state of the session while code of a view's source runs.
 */
#include "base/kanon.h"

#include "source/scope.h"

#include "tcop/tcopprot.h"
#include "utils/memutils.h"

#include "aview/aview.h"
#include "base/settings.h"

/* True in a quiet scope. */
static bool in_quiet = false;

void
source_scope_enter(SourceScope *scope, const AView *aview, bool quiet)
{
	scope->settings = settings_enter(aview->settings);
	scope->declared = settings_declare(aview->settings);
	scope->outer = in_quiet;
	scope->quiet = quiet || in_quiet;
	scope->destination = whereToSendOutput;
	if (!scope->quiet)
		return;
	in_quiet = true;
	whereToSendOutput = DestNone;
	scope->buffers = pgBufferUsage;
	scope->wal = pgWalUsage;
}

/* Let messages go to the client again, and forget the blocks that were used. */
static void
end_scope(const SourceScope *scope)
{
	(void) settings_declare(scope->declared);
	if (!scope->quiet)
		return;
	in_quiet = scope->outer;
	whereToSendOutput = scope->destination;
	pgBufferUsage = scope->buffers;
	pgWalUsage = scope->wal;
}

void
source_scope_leave(SourceScope *scope)
{
	end_scope(scope);
	settings_leave(scope->settings);
}

/*
 * Return true for errors whose message says nothing about rows: those that PostgreSQL
 * raises about rights, resources, concurrency and cancellation.  The SQLSTATE does not
 * tell: a function of the source may raise any, and to_regclass(), say, quotes its
 * argument in an error about a feature that is not supported.
 */
static bool
error_is_discreet(const ErrorData *error)
{
	static const char *const files[] = {"aclchk.c", "aset.c", "buffile.c", "deadlock.c", "fd.c", "generation.c",
										"heapam.c", "heapam_handler.c", "lock.c", "mcxt.c", "postgres.c", "predicate.c",
										"proc.c", "slab.c"};

	for (int i = 0; i < (int) lengthof(files); i++)
	{
		if (error->filename && strcmp(error->filename, files[i]) == 0)
			return true;
	}
	return false;
}

/* Remove from an error what was added to it on its way through functions of the source: they may quote values. */
static void
forget_context(ErrorData *error)
{
	error->context = NULL;
	error->internalquery = NULL;
	error->internalpos = 0;
	error->detail = NULL;
}

/* Report an error of the source, which may quote a raw value: to the log as it is, to the client without its text. */
static pg_noreturn void
hide_error(ErrorData *error)
{
	ereport(LOG_SERVER_ONLY,
			(errcode(error->sqlerrcode),
			 errmsg_internal("the source of an anonymization view failed: %s", error->message),
			 error->detail ? errdetail_internal("%s", error->detail) : 0,
			 error->context ? errcontext_msg("%s", error->context) : 0));
	ereport(ERROR,
			(errcode(error->sqlerrcode),
			 errmsg("the source of an anonymization view could not be read"),
			 errhint("The server's log has the reason.")));
}

/* Return the error that was caught in a quiet scope, which has ended; it may go to the client again. */
static ErrorData *
take_error(MemoryContext caller)
{
	ErrorData *error;

	MemoryContextSwitchTo(caller);
	error = CopyErrorData();
	FlushErrorState();
	/* It was raised while nothing was sent. */
	error->output_to_client = whereToSendOutput == DestRemote;
	return error;
}

void
source_scope_error(SourceScope *scope, MemoryContext caller)
{
	ErrorData *error;

	end_scope(scope);
	if (!scope->quiet)
		PG_RE_THROW();
	error = take_error(caller);
	if (!error_is_discreet(error))
		hide_error(error);
	forget_context(error);
	ReThrowError(error);
}

void
source_scope_pass(SourceScope *scope, MemoryContext caller)
{
	end_scope(scope);
	if (!scope->quiet)
		PG_RE_THROW();
	ReThrowError(take_error(caller));
}
