/*
 * why_hidden.c
 *		kanon.why_hidden: the reasons why the values of a person are not shown as they
 *		are, for the view's owner.
 *
 * The view is read like a query reads it, and each row of the source that has the given
 * identifiers is compared with the row published of it, column by column.
 */
#include "base/kanon.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "anonymize/anonymize_first.h"
#include "anonymize/anonymizer.h"
#include "anonymize/row_source.h"
#include "aview/aview.h"
#include "base/as_owner.h"
#include "recode/recode.h"
#include "source/layout.h"
#include "source/source.h"

PG_FUNCTION_INFO_V1(kanon_why_hidden);

/* The rows that are asked about, and where the reasons go. */
typedef struct Question
{
	AView *aview;
	Anonymizer *anonymizer;
	Datum *ids; /* the identifiers asked for, as texts, in the order of the view's identifiers */
	ReturnSetInfo *result;
	int64 rows; /* found so far */
} Question;

/* Return a value as text. */
static char *
value_text(Oid type, Datum value)
{
	Oid output;
	bool is_varlena;

	getTypeOutputInfo(type, &output, &is_varlena);
	return OidOutputFunctionCall(output, value);
}

/* Return true if a row of the source has the identifiers asked for. */
static bool
is_asked(const Question *question, TupleTableSlot *slot)
{
	const int *ids;
	int nids = anonymizer_ids(question->anonymizer, &ids);

	for (int i = 0; i < nids; i++)
	{
		int place = anonymizer_layout(question->anonymizer)->place[ids[i]];
		char *asked = TextDatumGetCString(question->ids[i]);

		if (slot->tts_isnull[place] ||
			strcmp(value_text(question->aview->columns[ids[i]].source_type, slot->tts_values[place]), asked) != 0)
			return false;
	}
	return true;
}

/* Return a row of kanon.why_hidden for a column; shown, reason and explanation may be NULL. */
static void
return_reason(Question *question, int column, const char *shown, const char *reason, const char *explanation)
{
	NameData name;
	Datum values[5] = {Int64GetDatum(question->rows)};
	bool nulls[5] = {false, false, shown == NULL, reason == NULL, explanation == NULL};

	namestrcpy(&name, question->aview->columns[column].name);
	values[1] = NameGetDatum(&name);
	values[2] = shown ? CStringGetTextDatum(shown) : (Datum) 0;
	values[3] = reason ? CStringGetTextDatum(reason) : (Datum) 0;
	values[4] = explanation ? CStringGetTextDatum(explanation) : (Datum) 0;
	tuplestore_putvalues(question->result->setResult, question->result->setDesc, values, nulls);
}

/* Return true if a boolean column that holds a choice is true in a row. */
static bool
choice_is_set(const Question *question, TupleTableSlot *slot, int column)
{
	int place = anonymizer_layout(question->anonymizer)->place[column];

	Assert(column >= 0 && place >= 0);
	return !slot->tts_isnull[place] && DatumGetBool(slot->tts_values[place]);
}

/* Return a reason if a column is hidden by a choice of its data owner; return false if it is not. */
static bool
explain_choice(Question *question, TupleTableSlot *slot, int column)
{
	const AViewColumn *c = &question->aview->columns[column];
	const AViewProfile *profile = question->aview->profile;

	if (profile == NULL || (c->disclose < 0 && c->retain < 0))
		return false;
	if (!choice_is_set(question, slot, profile->found))
		return_reason(question, column, NULL, "no choice",
					  psprintf("there are no choices for purpose \"%s\" and recipient \"%s\"", profile->purpose,
							   profile->recipient));
	else if (c->disclose >= 0 && !choice_is_set(question, slot, c->disclose))
		return_reason(question, column, NULL, "opted out", "the data owner does not disclose it");
	else if (c->retain >= 0 && !choice_is_set(question, slot, c->retain))
		return_reason(question, column, NULL, "expired",
					  "its retention has ended, or the data owner never agreed to one");
	else
		return false;
	return true;
}

/* Return the reason why a column of a published row is as it is. */
static void
explain_column(Question *question, TupleTableSlot *slot, const Cell *cell, int column, const char *shown)
{
	const AViewColumn *c = &question->aview->columns[column];
	int place = anonymizer_layout(question->anonymizer)->place[column];
	int k = anonymizer_row(question->anonymizer)->k;

	if (slot->tts_isnull[place])
		return_reason(question, column, shown, NULL, "there is no value");
	else if (shown && strcmp(shown, value_text(c->source_type, slot->tts_values[place])) == 0)
		return_reason(question, column, shown, NULL, "shown as it is");
	else if (explain_choice(question, slot, column))
		;
	else if (c->role == ROLE_ID && shown == NULL)
		return_reason(question, column, NULL, "k",
					  psprintf("the data owner's k is %d: identifiers are shown only if it is 0", k));
	else if (cell && cell->suppressed && c->role != ROLE_OTHER)
		return_reason(question, column, shown, "suppressed",
					  psprintf("no group with enough other people was found; the data owner's k is %d", k));
	else if (c->role == ROLE_QUASI && cell)
		return_reason(question, column, shown, "k",
					  psprintf("generalized until its group shares it; the data owner's k is %d", k));
	else if (c->role == ROLE_SENSITIVE && c->level >= 0)
		return_reason(question, column, shown, "level", "generalized to the level that the data owner has chosen");
	else
		return_reason(question, column, shown, NULL, "shown as it is");
}

/* Return the reasons for all columns of a published row. */
static void
explain_row(Question *question, TupleTableSlot *slot, const Cell *cell, Datum *values, bool *nulls)
{
	AView *aview = question->aview;

	question->rows++;
	for (int i = 0; i < aview->ncolumns; i++)
		explain_column(question, slot, cell, i, nulls[i] ? NULL : value_text(aview_column_type(aview, i), values[i]));
}

/* Return the reasons for rows that are not published at all. */
static void
explain_missing(Question *question)
{
	Anonymizer *anonymizer = question->anonymizer;
	const RowLayout *layout = anonymizer_layout(anonymizer);
	Query *query = source_query(question->aview, layout->columns, NIL, NIL);
	SourceRun *run = source_start(question->aview, source_plan(question->aview, query, false, NULL), NULL,
								  GetActiveSnapshot());
	TupleTableSlot *slot;

	while (source_next(run, &slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (anonymizer_read(anonymizer, layout, slot, false) || !is_asked(question, slot))
			continue;
		question->rows++;
		for (int i = 0; i < question->aview->ncolumns; i++)
			return_reason(question, i, NULL,
						  choice_is_set(question, slot, question->aview->profile->found) ? "k" : "no choice",
						  "the row is not shown: the data owner has chosen no k, and the view has none");
	}
	source_end(run);
}

/* Return the reasons for all rows that are asked about. */
static void
explain_rows(Question *question)
{
	AView *aview = question->aview;
	RowRequest request = {.aview = aview,
						  .wanted = bms_add_range(NULL, 0, aview->ncolumns - 1),
						  .snapshot = GetActiveSnapshot()};
	AnonymizeFirst *rows = anonymize_first_start_with_source(&request);
	RowSource *source = (RowSource *) rows;
	Datum *values = palloc0(aview->ncolumns * sizeof(Datum));
	bool *nulls = palloc(aview->ncolumns * sizeof(bool));

	question->anonymizer = anonymize_first_anonymizer(rows);
	row_source_rewind(source, NULL);
	while (row_source_next(source, values, nulls))
	{
		const Cell *cell;
		TupleTableSlot *slot = anonymize_first_current(rows, &cell);

		if (is_asked(question, slot))
			explain_row(question, slot, cell, values, nulls);
	}
	if (aview->profile)
		explain_missing(question);
	row_source_end(source);
}

/*
 * Return the identifiers asked for, as texts; raise an error unless there is one, not
 * null, for each identifier of the view.
 */
static Datum *
read_asked_ids(const AView *aview, ArrayType *array)
{
	Datum *ids;
	bool *nulls;
	int given;
	int needed = 0;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &ids, &nulls, &given);
	for (int i = 0; i < aview->ncolumns; i++)
		needed += aview->columns[i].role == ROLE_ID;
	if (needed == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("anonymization view \"%s\" has no identifier", get_rel_name(aview->view))));
	for (int i = 0; i < given; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("an identifier must not be null")));
	}
	if (given != needed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("anonymization view \"%s\" has %d identifiers, but %d values are given",
						get_rel_name(aview->view), needed, given)));
	return ids;
}

/*
 * Return the reasons why values of a person are hidden: why_hidden(view, VARIADIC
 * identifiers) -> (row, column, shown, reason, explanation).
 */
Datum
kanon_why_hidden(PG_FUNCTION_ARGS)
{
	Oid view = PG_GETARG_OID(0);
	int32 id = aview_id_of_view(view);
	Question question = {.result = (ReturnSetInfo *) fcinfo->resultinfo};
	AsOwner scope;

	if (!kanon_owns_relation(view, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_VIEW, get_rel_name(view));
	question.aview = aview_load(id);
	aview_check_logical(question.aview);
	question.ids = read_asked_ids(question.aview, PG_GETARG_ARRAYTYPE_P(1));
	kanon_materialize(fcinfo);
	/* The source calls functions with the rights of the view's owner. */
	as_owner_start(&scope, question.aview->owner, question.aview->settings);
	explain_rows(&question);
	as_owner_end(&scope);
	return (Datum) 0;
}
