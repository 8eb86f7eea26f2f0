/*
 * survey.h
 *		Reading the source of an A-view once, when it is created or refreshed.
 */
#ifndef KANON_DDL_SURVEY_H
#define KANON_DDL_SURVEY_H

#include "aview/aview.h"
#include "recode/dictionary.h"

/* All values of some columns, counted. */
typedef struct Survey
{
	int ncolumns;
	Dictionary **columns;
	int64 **rows; /* per column, of each code */
	int *room;
	MemoryContext context;
	int64 nrows;

	/* The rows themselves, if they are kept: ncolumns codes each. */
	bool keeping;
	int nkept;
	int kept_room;
	int32 *kept;
} Survey;

extern Survey *survey_columns(const AView *aview, List *columns, bool keeping);

#endif
