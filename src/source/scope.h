/*
 * scope.h
 *		The state of the session while code of a view's source runs.
 *
 * It has the settings with which the view was created.  A quiet scope is for
 * readers who may not read the source: NOTICE, WARNING, INFO and LOG messages of the
 * source may quote rows that the view hides, so they go to the server's log only; and
 * the blocks and the WAL that the source uses are not added to the session's
 * counters, which EXPLAIN and pg_stat_statements show.  A scope in a quiet one is quiet:
 * the keepers of stored groups work in one for any role that writes to a table.
 */
#ifndef KANON_SCOPE_H
#define KANON_SCOPE_H

#include "aview/aview.h"
#include "base/settings.h"

#include "executor/instrument.h"
#include "tcop/dest.h"

typedef struct SourceScope
{
	int settings;			  /* the level of settings_leave() */
	PinnedSettings *declared; /* to be declared again */
	bool quiet;
	bool outer;				 /* the scope around this one is quiet */
	CommandDest destination; /* of messages, to go back to */
	BufferUsage buffers;	 /* counters, to go back to */
	WalUsage wal;
} SourceScope;

extern void source_scope_enter(SourceScope *scope, const AView *aview, bool quiet);
extern void source_scope_leave(SourceScope *scope);

/*
 * Leave the scope for an error that was caught in it, and raise it again.  In a quiet
 * scope the text of an error that may quote a value goes to the log, and another one is
 * raised.  `caller` is the memory context in which the error was caught.
 */
extern pg_noreturn void source_scope_error(SourceScope *scope, MemoryContext caller);
/* The same, but raise the error as it is: for code of kanon around scopes of sources. */
extern pg_noreturn void source_scope_pass(SourceScope *scope, MemoryContext caller);

#endif
