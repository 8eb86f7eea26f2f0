/*
 * progress.c
 *		Progress reports, and the view kanon.progress that shows them.
 *
 * A backend has one command in progress, with the numbers of its phase.  With the setting
 * kanon.show_progress the session that does the work sees them, too, as lines at the
 * level INFO.
 */
#include "base/kanon.h"

#include "base/progress.h"

#include "catalog/pg_authid.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/acl.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(kanon_progress);

/* A number that none of PostgreSQL's own commands has, so that its pg_stat_progress views pass over it. */
#define PROGRESS_COMMAND_KANON ((ProgressCommandType) 0x6b616e)

/* The slots of st_progress_param. */
enum
{
	PARAM_PHASE,
	PARAM_DONE,
	PARAM_TOTAL /* 0 if it is not known */
};

static const char *const phase_names[] = {
	[PHASE_READING] = "reading",
	[PHASE_BUILDING] = "building",
	[PHASE_GROUPING] = "grouping",
	[PHASE_CHECKING] = "checking",
	[PHASE_WRITING] = "writing",
};

/* The setting kanon.show_progress, and the state of its lines. */
static bool show_progress = false;
static Oid shown_work; /* the SQL function at work; invalid if there is none */
static ProgressPhase shown_phase;
static int64 shown_total;
static TimestampTz shown_at; /* the time of the last line */

/* The time between two lines of one phase. */
#define LINE_MILLISECONDS 1000

/* Define the setting kanon.show_progress. */
void
progress_init(void)
{
	DefineCustomBoolVariable("kanon.show_progress", "Tells the client how far long work has come.",
							 "One line per phase, and one a second while it lasts.",
							 &show_progress, false, PGC_USERSET, 0, NULL, NULL, NULL);
}

/* Send a line about the present phase to the client. */
static void
progress_line(int64 done)
{
	const char *work = OidIsValid(shown_work) ? get_func_name(shown_work) : NULL;

	shown_at = GetCurrentTimestamp();
	if (work == NULL)
		return;
	if (shown_total > 0)
		ereport(INFO,
				(errmsg("%s: %s, %d %% (" INT64_FORMAT " of " INT64_FORMAT ")", work, phase_names[shown_phase],
						(int) (100.0 * done / shown_total), done, shown_total)));
	else if (done > 0)
		ereport(INFO, (errmsg("%s: %s (" INT64_FORMAT ")", work, phase_names[shown_phase], done)));
	else
		ereport(INFO, (errmsg("%s: %s", work, phase_names[shown_phase])));
}

/* Begin to report the progress of a SQL function. */
void
progress_start(FunctionCallInfo fcinfo)
{
	shown_work = fcinfo->flinfo->fn_oid;
	pgstat_progress_start_command(PROGRESS_COMMAND_KANON, fcinfo->flinfo->fn_oid);
}

/* Begin a phase, of a number of steps or, if total is 0, an unknown number. */
void
progress_phase(ProgressPhase phase, int64 total)
{
	const int params[3] = {PARAM_PHASE, PARAM_DONE, PARAM_TOTAL};
	const int64 values[3] = {phase, 0, total};

	Assert((int) phase >= 0 && (int) phase < (int) lengthof(phase_names));
	Assert(total >= 0);
	pgstat_progress_update_multi_param(3, params, values);
	shown_phase = phase;
	shown_total = total;
	if (show_progress)
		progress_line(0);
}

/* Report the number of steps of the phase that are done. */
void
progress_done(int64 done)
{
	Assert(done >= 0);
	pgstat_progress_update_param(PARAM_DONE, done);
	if (show_progress && TimestampDifferenceExceeds(shown_at, GetCurrentTimestamp(), LINE_MILLISECONDS))
		progress_line(done);
}

/* End the report. */
void
progress_end(void)
{
	pgstat_progress_end_command();
	shown_work = InvalidOid;
}

/* Return true if the current user may see a role's work: its own, and with pg_read_all_stats everyone's. */
static bool
progress_is_visible(Oid role)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) || has_privs_of_role(GetUserId(), role);
}

/* Return the work in progress: kanon.progress_info() -> (pid, work, phase, done, total). */
Datum
kanon_progress(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int count = pgstat_fetch_stat_numbackends();

	kanon_materialize(fcinfo);
	for (int i = 1; i <= count; i++)
	{
		PgBackendStatus *backend = kanon_backend_status(i);
		int64 phase = backend->st_progress_param[PARAM_PHASE];
		char *work;
		Datum values[5] = {0};
		bool nulls[5] = {false};

		if (backend->st_progress_command != PROGRESS_COMMAND_KANON ||
			backend->st_databaseid != MyDatabaseId || !progress_is_visible(backend->st_userid))
			continue;
		work = get_func_name(backend->st_progress_command_target);
		if (work == NULL || phase < 0 || phase >= (int64) lengthof(phase_names))
			continue;
		values[0] = Int32GetDatum(backend->st_procpid);
		values[1] = CStringGetTextDatum(work);
		values[2] = CStringGetTextDatum(phase_names[phase]);
		values[3] = Int64GetDatum(backend->st_progress_param[PARAM_DONE]);
		values[4] = Int64GetDatum(backend->st_progress_param[PARAM_TOTAL]);
		nulls[4] = backend->st_progress_param[PARAM_TOTAL] == 0;
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
