/*
 * attempt.h
 *		Work for a materialized view that must not fail a command which does not need it.
 */
#ifndef KANON_ATTEMPT_H
#define KANON_ATTEMPT_H

typedef void (*AttemptedWork)(void *arg);

/*
 * Do some work for a view in a subtransaction.  After an error the work is undone, the error
 * is in the server's log, the view is stale, and the client gets a warning.  A query that is
 * cancelled, by a timeout or otherwise, raises the error all the same.
 */
extern void attempt(int32 id, AttemptedWork work, void *arg);

#endif
