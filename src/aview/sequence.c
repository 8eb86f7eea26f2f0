/*
 * sequence.c
 *		The order in which columns are generalized.
 *
 * The column with the most distinct values at its current level comes next; ties
 * go by the order of columns; a column at its root leaves the race.  The sequence
 * is computed when the view is created and stored with it, so that every plan, on
 * every day, uses the same one.
 */
#include "aview/aview.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "asowner.h"
#include "progress.h"
#include "scan/source.h"

PG_FUNCTION_INFO_V1(kanon_generalization_sequence);
PG_FUNCTION_INFO_V1(kanon_refresh_sequence);
PG_FUNCTION_INFO_V1(kanon_uncovered);

/* All values of some columns, counted. */
typedef struct Survey
{
	int ncolumns;
	Dictionary **columns;
	int64 **rows; /* per column, of each code */
	int *room;
	MemoryContext context;
	int64 nrows;
} Survey;

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

static bool
survey_row(void *arg, TupleTableSlot *slot)
{
	Survey *survey = arg;

	slot_getallattrs(slot);
	for (int i = 0; i < survey->ncolumns; i++)
		survey_value(survey, i, dictionary_code(survey->columns[i], slot->tts_values[i], slot->tts_isnull[i]));
	if (++survey->nrows % 10000 == 0)
		progress_done(survey->nrows);
	CHECK_FOR_INTERRUPTS();
	return true;
}

/*
 * Reads the source as the view's owner, whoever asked for it: its functions and
 * those of its types are the owner's, and must not run with an administrator's
 * rights because he refreshes a sequence.
 */
static void
run_survey(const AView *aview, List *columns, Survey *survey)
{
	AsOwner scope;
	SourceRun *run;

	progress_phase(PHASE_READING, 0);
	as_owner_start(&scope, aview->owner);
	run = source_start(source_plan(source_query(aview, columns, NIL, NIL), true, NULL), NULL, GetActiveSnapshot());
	source_pump(run, survey_row, survey);
	source_end(run);
	as_owner_end(&scope);
}

static Survey *
survey_columns(const AView *aview, List *columns)
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

		survey->columns[survey->ncolumns] = dictionary_create(column->source_type, column->dgh);
		survey_value(survey, survey->ncolumns, NULL_CODE);
		survey->rows[survey->ncolumns++][NULL_CODE] = 0;
	}
	if (count > 0)
		run_survey(aview, columns, survey);
	return survey;
}

/* How many different values a column shows at a level. */
static int
count_distinct(const Survey *survey, int column, int level)
{
	Dictionary *dictionary = survey->columns[column];
	bool *shown = palloc0(dictionary->levels[level].ncodes * sizeof(bool));
	int count = 0;

	for (int32 code = 0; code < dictionary->levels[0].ncodes; code++)
	{
		int32 above = dictionary_climb(dictionary, code, 0, level);

		if (survey->rows[column][code] > 0 && !shown[above])
		{
			shown[above] = true;
			count++;
		}
	}
	pfree(shown);
	return count;
}

static List *
quasi_columns(const AView *aview)
{
	List *columns = NIL;

	for (int i = 0; i < aview->nquasi; i++)
		columns = lappend_int(columns, aview->quasi[i]);
	return columns;
}

/* The column to be generalized next; -1 when all are at their roots. */
static int
next_column(const Survey *survey, const int *level)
{
	int best = -1;
	int most = 0;

	for (int i = 0; i < survey->ncolumns; i++)
	{
		int distinct;

		if (level[i] >= survey->columns[i]->height)
			continue;
		distinct = count_distinct(survey, i, level[i]);
		if (best < 0 || distinct > most)
		{
			best = i;
			most = distinct;
		}
	}
	return best;
}

/* Computes the sequence and stores it in place of the old one. */
void
aview_store_sequence(AView *aview)
{
	Survey *survey = survey_columns(aview, quasi_columns(aview));
	int *level = palloc0(Max(aview->nquasi, 1) * sizeof(int));
	Oid types[4] = {INT4OID, INT4OID, INT2OID, INT4OID};
	Datum values[4] = {Int32GetDatum(aview->id)};
	int column;
	int step = 0;

	aview_run_as_extension("DELETE FROM kanon.aview_step WHERE aview OPERATOR(pg_catalog.=) $1", 1, types, values, NULL);
	while ((column = next_column(survey, level)) >= 0)
	{
		values[1] = Int32GetDatum(++step);
		values[2] = Int16GetDatum(aview->quasi[column] + 1);
		values[3] = Int32GetDatum(++level[column]);
		aview_run_as_extension("INSERT INTO kanon.aview_step (aview, step, attnum, level) VALUES ($1, $2, $3, $4)",
							   4, types, values, NULL);
	}
}

/* How many different values, NULL aside, a column has. */
int64
aview_count_distinct(const AView *aview, int column)
{
	Survey *survey = survey_columns(aview, list_make1_int(column));

	survey->rows[0][NULL_CODE] = 0;
	return count_distinct(survey, 0, 0);
}

static AView *
load_for(Oid view, AclMode needed)
{
	int32 id = aview_id_of_view(view);

	if (needed == ACL_SELECT && pg_class_aclcheck(view, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_VIEW, get_rel_name(view));
	if (needed == ACL_NO_RIGHTS && !pg_class_ownercheck(view, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_VIEW, get_rel_name(view));
	return aview_load(id);
}

/* generalization_sequence(view), for whoever may query the view */
Datum
kanon_generalization_sequence(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	AView *aview = load_for(PG_GETARG_OID(0), ACL_SELECT);

	kanon_materialize(fcinfo);
	for (int step = 0; step < aview->nsteps; step++)
	{
		AViewColumn *column = &aview->columns[aview->quasi[aview->steps[step].column]];
		NameData name;
		Datum values[3];
		bool nulls[3] = {false};

		namestrcpy(&name, column->name);
		values[0] = Int32GetDatum(step + 1);
		values[1] = NameGetDatum(&name);
		values[2] = Int32GetDatum(aview->steps[step].level);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* refresh_sequence(view), for its owner */
Datum
kanon_refresh_sequence(PG_FUNCTION_ARGS)
{
	AView *aview = load_for(PG_GETARG_OID(0), ACL_NO_RIGHTS);

	progress_start(fcinfo);
	aview_store_sequence(aview);
	progress_end();
	PG_RETURN_VOID();
}

/* Does a column's hierarchy not know a value? */
static bool
is_uncovered(const Dictionary *dictionary, int32 code)
{
	GenView view;

	if (code == NULL_CODE)
		return true;
	gen_view(dictionary->levels[0].values[code], &view);
	return (view.flags & GEN_UNKNOWN) != 0;
}

/* uncovered(view): raw values that its hierarchies do not know, for its owner */
Datum
kanon_uncovered(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	AView *aview = load_for(PG_GETARG_OID(0), ACL_NO_RIGHTS);
	List *columns = NIL;
	Survey *survey;

	for (int i = 0; i < aview->ncolumns; i++)
	{
		if (aview->columns[i].dgh)
			columns = lappend_int(columns, i);
	}
	kanon_materialize(fcinfo);
	progress_start(fcinfo);
	survey = survey_columns(aview, columns);
	progress_end();
	for (int i = 0; i < survey->ncolumns; i++)
	{
		NameData name;

		namestrcpy(&name, aview->columns[list_nth_int(columns, i)].name);
		for (int32 code = 0; code < survey->columns[i]->levels[0].ncodes; code++)
		{
			Datum values[3] = {NameGetDatum(&name)};
			bool nulls[3] = {false, code == NULL_CODE};

			if (survey->rows[i][code] == 0 || !is_uncovered(survey->columns[i], code))
				continue;
			if (code != NULL_CODE)
			{
				GenView view;
				int len;
				const char *text;

				gen_view(survey->columns[i]->levels[0].values[code], &view);
				text = gen_text(&view, &len);
				values[1] = PointerGetDatum(cstring_to_text_with_len(text, len));
			}
			values[2] = Int64GetDatum(survey->rows[i][code]);
			tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		}
	}
	return (Datum) 0;
}
