/*
 * progress.h
 *		How far long work has come, for other sessions to see in kanon.progress.
 *
 * The numbers travel in the slots that PostgreSQL keeps per backend for
 * pg_stat_progress_*, so that nothing has to be preloaded and an error clears
 * them.
 */
#ifndef KANON_PROGRESS_H
#define KANON_PROGRESS_H

#include "fmgr.h"

typedef enum ProgressPhase
{
	PHASE_READING,	 /* rows of the source */
	PHASE_BUILDING,	 /* an index or a tree over them */
	PHASE_GROUPING,	 /* rows put into groups, or given their noise */
	PHASE_CHECKING,	 /* groups or rows checked */
	PHASE_WRITING	 /* rows handed out or stored */
} ProgressPhase;

extern void progress_init(void);

/* The work is known by the name of the SQL function that does it. */
extern void progress_start(FunctionCallInfo fcinfo);
/* total is 0 where it is not known */
extern void progress_phase(ProgressPhase phase, int64 total);
extern void progress_done(int64 done);
extern void progress_end(void);

#endif
