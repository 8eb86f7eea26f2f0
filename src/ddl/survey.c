/*
 * survey.c
 *		Reading the source of an A-view once.
 */
#include "base/kanon.h"

#include "ddl/survey.h"

#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "aview/aview.h"
#include "base/as_owner.h"
#include "base/progress.h"
#include "recode/dictionary.h"
#include "source/source.h"

static void
survey_value(Survey *survey, int column, int32 code)
{
	if (code >= survey->room[column])
	{
		int room = Max(64, 2 * code);
		MemoryContext old = MemoryContextSwitchTo(survey->context);

		survey->rows[column] = survey->rows[column] ? repalloc_huge(survey->rows[column], room * sizeof(int64))
													: palloc(room * sizeof(int64));
		memset(survey->rows[column] + survey->room[column], 0, (room - survey->room[column]) * sizeof(int64));
		survey->room[column] = room;
		MemoryContextSwitchTo(old);
	}
	survey->rows[column][code]++;
}

/* Return room for the codes of one more row. */
static int32 *
keep_row(Survey *survey)
{
	Size width = survey->ncolumns * sizeof(int32);

	if (survey->nkept == survey->kept_room)
	{
		if (survey->kept_room > PG_INT32_MAX / 2)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("the source of an anonymization view by Mondrian has more than %d rows",
							survey->kept_room)));
		survey->kept_room *= 2;
		survey->kept = repalloc_huge(survey->kept, survey->kept_room * width);
	}
	return survey->kept + (Size) survey->nkept++ * survey->ncolumns;
}

static bool
survey_row(void *arg, TupleTableSlot *slot)
{
	Survey *survey = arg;
	int32 *kept = survey->keeping ? keep_row(survey) : NULL;

	slot_getallattrs(slot);
	for (int i = 0; i < survey->ncolumns; i++)
	{
		int32 code = dictionary_code(survey->columns[i], slot->tts_values[i], slot->tts_isnull[i]);

		survey_value(survey, i, code);
		if (kept)
			kept[i] = code;
	}
	if (++survey->nrows % 10000 == 0)
		progress_done(survey->nrows);
	CHECK_FOR_INTERRUPTS();
	return true;
}

/*
 * Read the source as the view's owner, also where an administrator refreshes the
 * sequence: the functions of the source and of its types are the owner's, and must
 * not run with the administrator's rights.
 */
static void
run_survey(const AView *aview, List *columns, Survey *survey)
{
	AsOwner scope;
	SourceRun *run;

	progress_phase(PHASE_READING, 0);
	as_owner_start(&scope, aview->owner, aview->settings);
	run = source_start(aview, source_plan(aview, source_query(aview, columns, NIL, NIL), true, NULL), NULL,
					   GetActiveSnapshot());
	source_pump(run, survey_row, survey);
	source_end(run);
	as_owner_end(&scope);
}

Survey *
survey_columns(const AView *aview, List *columns, bool keeping)
{
	Survey *survey = palloc0(sizeof(Survey));
	int count = list_length(columns);
	ListCell *cell;

	survey->context = CurrentMemoryContext;
	survey->columns = palloc(Max(count, 1) * sizeof(Dictionary *));
	survey->rows = palloc0(Max(count, 1) * sizeof(int64 *));
	survey->room = palloc0(Max(count, 1) * sizeof(int));
	foreach (cell, columns)
	{
		AViewColumn *column = &aview->columns[lfirst_int(cell)];

		survey->columns[survey->ncolumns] = dictionary_create(column->source_type, column->dgh, aview->settings);
		survey_value(survey, survey->ncolumns, NULL_CODE);
		survey->rows[survey->ncolumns++][NULL_CODE] = 0;
	}
	survey->keeping = keeping;
	survey->kept_room = 1024;
	if (keeping)
		survey->kept = palloc(survey->kept_room * Max(count, 1) * sizeof(int32));
	if (count > 0)
		run_survey(aview, columns, survey);
	return survey;
}
