/*
 * sequence.c
 *		The order in which columns are generalized.
 *
 * The column with the most distinct values at its current level comes next; ties
 * go by the order of columns; a column at its root leaves the race.  The sequence
 * is computed when the view is created and stored with it, so that every plan, on
 * every day, uses the same one.
 */
#include "base/kanon.h"

#include "aview/aview.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/extension.h"
#include "base/progress.h"
#include "ddl/recoding.h"
#include "ddl/survey.h"
#include "hierarchy/generalized.h"
#include "recode/dictionary.h"

PG_FUNCTION_INFO_V1(kanon_generalization_sequence);
PG_FUNCTION_INFO_V1(kanon_refresh_sequence);
PG_FUNCTION_INFO_V1(kanon_uncovered);

/* Return how many different values a column shows at a level. */
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

/* Return the column to generalize next; -1 when all columns are at their roots. */
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

/* Compute the sequence and store it in place of the old one. */
static void
store_sequence(AView *aview)
{
	Survey *survey = survey_columns(aview, quasi_columns(aview), false);
	int *level = palloc0(Max(aview->nquasi, 1) * sizeof(int));
	Oid types[4] = {INT4OID, INT4OID, INT2OID, INT4OID};
	Datum values[4] = {Int32GetDatum(aview->id)};
	int column;
	int step = 0;

	kanon_execute("DELETE FROM kanon.aview_step WHERE aview OPERATOR(pg_catalog.=) $1", 1, types, values, NULL);
	while ((column = next_column(survey, level)) >= 0)
	{
		values[1] = Int32GetDatum(++step);
		values[2] = Int16GetDatum(aview->quasi[column] + 1);
		values[3] = Int32GetDatum(++level[column]);
		kanon_execute("INSERT INTO kanon.aview_step (aview, step, attnum, level) VALUES ($1, $2, $3, $4)",
					  4, types, values, NULL);
	}
}

/* Store the steps or the boxes learnt from the present rows of the source: see recoding.h. */
void
aview_store_recoding(AView *aview)
{
	if (aview->algorithm == ALGORITHM_MONDRIAN)
		aview_store_tree(aview);
	else
		store_sequence(aview);
}

/* Return how many different values a column has: see recoding.h. */
int64
aview_count_distinct(const AView *aview, int column)
{
	Survey *survey = survey_columns(aview, list_make1_int(column), false);

	survey->rows[0][NULL_CODE] = 0;
	return count_distinct(survey, 0, 0);
}

static AView *
load_for(Oid view, AclMode needed)
{
	int32 id = aview_id_of_view(view);

	if (needed == ACL_SELECT)
		aview_check_select(view);
	if (needed == ACL_NO_RIGHTS && !kanon_owns_relation(view, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_VIEW, get_rel_name(view));
	return aview_load(id);
}

/* Return the steps of a view: generalization_sequence(view), for roles that may query the view. */
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

/* Compute the sequence of a view anew: refresh_sequence(view), for the view's owner. */
Datum
kanon_refresh_sequence(PG_FUNCTION_ARGS)
{
	AView *aview = load_for(PG_GETARG_OID(0), ACL_NO_RIGHTS);

	aview_check_not_materialized(aview);
	progress_start(fcinfo);
	aview_store_recoding(aview);
	progress_end();
	PG_RETURN_VOID();
}

/* Return true if a column's hierarchy does not know a value. */
static bool
is_uncovered(const Dictionary *dictionary, int32 code)
{
	GenView view;

	if (code == NULL_CODE)
		return true;
	gen_view(dictionary->levels[0].values[code], &view);
	return view.kind != GEN_ANY && dictionary->dgh->methods->depth(dictionary->dgh, &view) < 0;
}

/* Return the raw values that a view's hierarchies do not know: uncovered(view), for the view's owner. */
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
	survey = survey_columns(aview, columns, false);
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
