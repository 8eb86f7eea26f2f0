/*
 * why_hidden.c
 *		Why an owner's data are not shown as they are, for the view's owner.
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

/* Whose rows are asked about, and what is said about them. */
typedef struct Question
{
	AView *aview;
	Anonymizer *anonymizer;
	Datum *ids; /* texts */
	ReturnSetInfo *result;
	int64 rows;
} Question;

static char *
text_of(Oid type, Datum value)
{
	Oid output;
	bool is_varlena;

	getTypeOutputInfo(type, &output, &is_varlena);
	return OidOutputFunctionCall(output, value);
}

/* Is a row of the source about the person asked for? */
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
			strcmp(text_of(question->aview->columns[ids[i]].source_type, slot->tts_values[place]), asked) != 0)
			return false;
	}
	return true;
}

static void
answer(Question *question, int column, const char *shown, const char *reason, const char *explanation)
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

static bool
flag(const Question *question, TupleTableSlot *slot, int column)
{
	int place = anonymizer_layout(question->anonymizer)->place[column];

	return !slot->tts_isnull[place] && DatumGetBool(slot->tts_values[place]);
}

/* A column that the owner of the row does not let be shown; false if that is not why. */
static bool
explain_choice(Question *question, TupleTableSlot *slot, int column)
{
	const AViewColumn *c = &question->aview->columns[column];
	const AViewProfile *profile = question->aview->profile;

	if (profile == NULL || (c->disclose < 0 && c->retain < 0))
		return false;
	if (!flag(question, slot, profile->found))
		answer(question, column, NULL, "no choice",
			   psprintf("there are no choices for purpose \"%s\" and recipient \"%s\"", profile->purpose, profile->recipient));
	else if (c->disclose >= 0 && !flag(question, slot, c->disclose))
		answer(question, column, NULL, "opted out", "the data owner does not disclose it");
	else if (c->retain >= 0 && !flag(question, slot, c->retain))
		answer(question, column, NULL, "expired", "its retention has ended, or the data owner never agreed to one");
	else
		return false;
	return true;
}

/* Why a column of a published row is as it is. */
static void
explain_column(Question *question, TupleTableSlot *slot, const Cell *cell, int column, const char *shown)
{
	const AViewColumn *c = &question->aview->columns[column];
	int place = anonymizer_layout(question->anonymizer)->place[column];
	int k = anonymizer_row(question->anonymizer)->k;

	if (slot->tts_isnull[place])
		answer(question, column, shown, NULL, "there is no value");
	else if (shown && strcmp(shown, text_of(c->source_type, slot->tts_values[place])) == 0)
		answer(question, column, shown, NULL, "shown as it is");
	else if (explain_choice(question, slot, column))
		;
	else if (c->role == ROLE_ID && shown == NULL)
		answer(question, column, NULL, "k", psprintf("the data owner's k is %d: identifiers are shown only if it is 0", k));
	else if (cell && cell->suppressed && c->role != ROLE_OTHER)
		answer(question, column, shown, "suppressed",
			   psprintf("no group with enough other people was found; the data owner's k is %d", k));
	else if (c->role == ROLE_QUASI && cell)
		answer(question, column, shown, "k", psprintf("generalized until its group shares it; the data owner's k is %d", k));
	else if (c->role == ROLE_SENSITIVE && c->level >= 0)
		answer(question, column, shown, "level", "generalized to the level that the data owner has chosen");
	else
		answer(question, column, shown, NULL, "shown as it is");
}

static void
explain_row(Question *question, TupleTableSlot *slot, const Cell *cell, Datum *values, bool *nulls)
{
	AView *aview = question->aview;

	question->rows++;
	for (int i = 0; i < aview->ncolumns; i++)
		explain_column(question, slot, cell, i, nulls[i] ? NULL : text_of(aview_column_type(aview, i), values[i]));
}

/* Rows that are not published at all. */
static void
explain_missing(Question *question)
{
	Anonymizer *anonymizer = question->anonymizer;
	const RowLayout *layout = anonymizer_layout(anonymizer);
	Query *query = source_query(question->aview, layout->columns, NIL, NIL);
	SourceRun *run = source_start(source_plan(query, false, NULL), NULL, GetActiveSnapshot());
	TupleTableSlot *slot;

	while (source_next(run, &slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (anonymizer_read(anonymizer, layout, slot, false) || !is_asked(question, slot))
			continue;
		question->rows++;
		for (int i = 0; i < question->aview->ncolumns; i++)
			answer(question, i, NULL, flag(question, slot, question->aview->profile->found) ? "k" : "no choice",
				   "the row is not shown: the data owner has chosen no k, and the view has none");
	}
	source_end(run);
}

static void
explain_rows(Question *question)
{
	AView *aview = question->aview;
	RowRequest request = {.aview = aview, .wanted = bms_add_range(NULL, 0, aview->ncolumns - 1), .snapshot = GetActiveSnapshot()};
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

/* The values of the identifiers, as texts. */
static Datum *
read_ids(const AView *aview, ArrayType *array)
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
				 errmsg("anonymization view \"%s\" has %d identifiers, but %d values are given", get_rel_name(aview->view), needed, given)));
	return ids;
}

/* why_hidden(view, VARIADIC identifiers) -> (row, column, shown, reason, explanation) */
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
	question.ids = read_ids(question.aview, PG_GETARG_ARRAYTYPE_P(1));
	kanon_materialize(fcinfo);
	/* The source's functions are its owner's, whoever asks. */
	as_owner_start(&scope, question.aview->owner, SECURITY_RESTRICTED_OPERATION);
	explain_rows(&question);
	as_owner_end(&scope);
	return (Datum) 0;
}
