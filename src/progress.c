/*
 * progress.c
 *		Reporting progress, and kanon.progress.
 */
#include "progress.h"

#include "catalog/pg_authid.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/acl.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(kanon_progress);

/* None of PostgreSQL's own commands: its views pass over it. */
#define PROGRESS_COMMAND_KANON ((ProgressCommandType) 0x6b616e)

enum
{
	PARAM_PHASE,
	PARAM_DONE,
	PARAM_TOTAL
};

static const char *const phase_names[] = {
	[PHASE_READING] = "reading",
	[PHASE_BUILDING] = "building",
	[PHASE_GROUPING] = "grouping",
	[PHASE_CHECKING] = "checking",
	[PHASE_WRITING] = "writing",
};

void
progress_start(FunctionCallInfo fcinfo)
{
	pgstat_progress_start_command(PROGRESS_COMMAND_KANON, fcinfo->flinfo->fn_oid);
}

void
progress_phase(ProgressPhase phase, int64 total)
{
	const int params[3] = {PARAM_PHASE, PARAM_DONE, PARAM_TOTAL};
	const int64 values[3] = {phase, 0, total};

	pgstat_progress_update_multi_param(3, params, values);
}

void
progress_done(int64 done)
{
	pgstat_progress_update_param(PARAM_DONE, done);
}

void
progress_end(void)
{
	pgstat_progress_end_command();
}

/* As pg_stat_activity: one's own work, and everyone's for pg_read_all_stats. */
static bool
may_see(Oid role)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) || has_privs_of_role(GetUserId(), role);
}

/* kanon.progress_info() -> (pid, work, phase, done, total) */
Datum
kanon_progress(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int count = pgstat_fetch_stat_numbackends();

	kanon_materialize(fcinfo);
	for (int i = 1; i <= count; i++)
	{
		PgBackendStatus *backend = &pgstat_fetch_stat_local_beentry(i)->backendStatus;
		int64 phase = backend->st_progress_param[PARAM_PHASE];
		char *work;
		Datum values[5] = {0};
		bool nulls[5] = {false};

		if (backend->st_progress_command != PROGRESS_COMMAND_KANON ||
			backend->st_databaseid != MyDatabaseId || !may_see(backend->st_userid))
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
