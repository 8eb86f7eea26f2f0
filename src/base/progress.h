/*
 * progress.h
 *		Progress reports on long work, for other sessions to see in kanon.progress.
 *
 * The numbers travel in the slots that PostgreSQL has per backend for
 * pg_stat_progress_*, so that nothing has to be preloaded and an error clears them.
 */
#ifndef KANON_PROGRESS_H
#define KANON_PROGRESS_H

#include "fmgr.h"

typedef enum ProgressPhase
{
	PHASE_READING,	/* rows of the source */
	PHASE_BUILDING, /* an index or a tree over them */
	PHASE_GROUPING, /* rows put into groups, or given their noise */
	PHASE_CHECKING, /* groups or rows checked */
	PHASE_WRITING	/* rows handed out or stored */
} ProgressPhase;

/* Define the setting kanon.show_progress. */
extern void progress_init(void);

/* Begin to report; the work has the name of the SQL function that does it. */
extern void progress_start(FunctionCallInfo fcinfo);
/* Begin a phase of so many steps; 0: their number is not known. */
extern void progress_phase(ProgressPhase phase, int64 total);
/* Report the steps of the phase that are done. */
extern void progress_done(int64 done);
/* End the report. */
extern void progress_end(void);

#endif
