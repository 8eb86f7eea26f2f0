/*
 * stored_rows.c
 *		Reading published rows from stored groups.
 *
 * The rows come from the source of stored_view().  They are published already but for
 * the choices of the purpose and recipient: columns that are not shown, and how far
 * sensitive values are generalized.  Where groups with a witness are asked for, a
 * first query finds them, and a second one reads the rows.
 */
#include "base/kanon.h"

#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "anonymize/row_source.h"
#include "aview/aview.h"
#include "matview/policies.h"
#include "matview/stored.h"
#include "policy/consent.h"
#include "recode/dictionary.h"
#include "source/layout.h"
#include "source/source.h"

/* The number of a group that has a witness. */
typedef struct WitnessedGroup
{
	int64 group;
	char status;
} WitnessedGroup;

#define SH_PREFIX witnessed
#define SH_ELEMENT_TYPE WitnessedGroup
#define SH_KEY_TYPE int64
#define SH_KEY group
#define SH_HASH_KEY(tb, k) murmurhash32((uint32) (k) ^ (uint32) ((k) >> 32))
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct StoredRows
{
	RowSource source;
	AView *view; /* of stored_view() */
	Snapshot snapshot;
	Bitmapset *wanted;
	List *conditions; /* on the stored rows */
	List *asked;	  /* columns with which AVLIKE compares the last parameters */
	bool keep_order;
	RowLayout layout;
	TupleTableSlot *current;   /* the last row, as stored */
	Dictionary **dictionaries; /* by column of the view: NULL unless it is generalized or tested here */
	RowWitness witness;		   /* NULL: no witness is asked for */
	void *witness_arg;
	struct witnessed_hash *witnessed; /* groups that have a witness; in run_context */
	MemoryContext run_context;		  /* of the run; reset by rewind */
	SourceRun *run;
};

/* Add the raw columns of the view, the group and the k of a row. */
static Bitmapset *
add_raw_columns(const AView *stored, Bitmapset *columns)
{
	columns = bms_add_range(columns, stored->raw, stored->raw + stored->nkeyed);
	return stored_is_personal(stored) ? bms_add_member(columns, stored->profile->demand) : columns;
}

/* Prepare for testing the quasi-identifiers of members as they are. */
static void
prepare_witness(StoredRows *rows)
{
	const AView *view = rows->view;

	for (int i = 0; i < view->nquasi; i++)
	{
		const AViewColumn *raw = &view->columns[view->raw + view->quasi[i]];

		rows->dictionaries[view->quasi[i]] = dictionary_create(raw->source_type, raw->dgh, view->settings);
	}
}

/* Warn that the groups of a view have missed changes. */
static void
warn_if_stale(const AView *aview)
{
	if (aview->stale)
		ereport(WARNING,
				(errmsg("materialized anonymization view \"%s\" has missed changes of its source",
						get_rel_name(aview->view)),
				 errhint("Its owner has to call %s.refresh.", KANON_SCHEMA)));
}

/* Start a source of stored rows. */
static RowSource *
stored_rows_start(const RowRequest *request)
{
	const AView *aview = request->aview;
	StoredRows *rows = palloc0(sizeof(StoredRows));
	Bitmapset *columns;
	int column = -1;

	Assert(aview->materialized);
	warn_if_stale(aview);
	policies_check(aview);
	rows->source.methods = &stored_rows_methods;
	rows->view = stored_view(aview);
	rows->snapshot = request->snapshot;
	rows->wanted = bms_copy(request->wanted);
	rows->conditions = request->conditions;
	rows->asked = request->asked;
	rows->keep_order = request->keep_order;
	rows->witness = request->witness;
	rows->witness_arg = request->witness_arg;
	rows->dictionaries = palloc0(aview->ncolumns * sizeof(Dictionary *));
	rows->run_context = AllocSetContextCreate(CurrentMemoryContext, "kanon stored rows", ALLOCSET_DEFAULT_SIZES);
	while ((column = bms_next_member(rows->wanted, column)) >= 0)
	{
		const AViewColumn *c = &aview->columns[column];

		if (c->role == ROLE_SENSITIVE)
			rows->dictionaries[column] = dictionary_create(c->source_type, c->dgh, aview->settings);
	}
	if (rows->witness)
		prepare_witness(rows);
	columns = consent_add_profile(rows->view, bms_copy(rows->wanted));
	if (request->raw || rows->witness)
		columns = add_raw_columns(rows->view, columns);
	columns = consent_add_choices(rows->view, columns);
	if (rows->view->profile && rows->view->profile->shown >= 0)
		columns = bms_add_member(columns, rows->view->profile->shown);
	/* A query needs a column, even if only the number of rows is wanted. */
	if (bms_is_empty(columns))
		columns = bms_make_singleton(0);
	row_layout(&rows->layout, rows->view, columns);
	return &rows->source;
}

/* Return the number of a row's group; below 0 for a row in no group. */
static int64
group_of(const StoredRows *rows, TupleTableSlot *slot)
{
	Assert(rows->layout.place[rows->view->raw + rows->view->nkeyed] >= 0);
	return DatumGetInt64(slot->tts_values[rows->layout.place[rows->view->raw + rows->view->nkeyed]]);
}

/* Return true if a row is a witness.  Values that its owner does not let be seen are NULL. */
static bool
is_stored_witness(const StoredRows *rows, TupleTableSlot *slot, Datum *values, bool *nulls)
{
	const AView *view = rows->view;

	for (int i = 0; i < view->nquasi; i++)
	{
		int column = view->quasi[i];
		int place = rows->layout.place[view->raw + column];
		Dictionary *dictionary = rows->dictionaries[column];

		nulls[column] = slot->tts_isnull[place] || !consent_given(view, &rows->layout, slot, column);
		if (!nulls[column])
		{
			/* The code must come first: a new code may move the array of values. */
			int32 code = dictionary_code(dictionary, slot->tts_values[place], false);

			values[column] = dictionary->levels[0].values[code];
		}
	}
	return rows->witness(rows->witness_arg, values, nulls);
}

static bool is_shown(const StoredRows *rows, TupleTableSlot *slot);

/*
 * Find the groups that have a witness.  Any member may be one, also one that does not
 * satisfy the conditions on the wanted rows.
 */
static void
find_witnessed_groups(StoredRows *rows, List *probes, ParamListInfo params)
{
	Datum *values = palloc0(rows->view->ncolumns * sizeof(Datum));
	bool *nulls = palloc(rows->view->ncolumns * sizeof(bool));
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon witness", ALLOCSET_DEFAULT_SIZES);
	Query *query = source_query(rows->view, rows->layout.columns, probes, NIL);
	PlannedStmt *plan = source_plan(rows->view, query, false, params);
	SourceRun *run = source_start(rows->view, plan, params, rows->snapshot);
	TupleTableSlot *slot;

	memset(nulls, true, rows->view->ncolumns * sizeof(bool));
	rows->witnessed = witnessed_create(CurrentMemoryContext, 64, NULL);
	while (source_next(run, &slot))
	{
		MemoryContext old = MemoryContextSwitchTo(work);
		bool found;

		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		found = is_shown(rows, slot) && is_stored_witness(rows, slot, values, nulls);
		MemoryContextSwitchTo(old);
		if (found)
			witnessed_insert(rows->witnessed, group_of(rows, slot), &found);
		MemoryContextReset(work);
	}
	source_end(run);
	MemoryContextDelete(work);
}

/* Return a condition for each value of the parameters that an index on the groups can look for. */
static List *
list_probes(const AView *stored, List *asked, ParamListInfo params)
{
	int first = params ? params->numParams - list_length(asked) : 0;
	List *probes = NIL;
	ListCell *cell;

	Assert(first >= 0 && (params || asked == NIL));
	foreach (cell, asked)
	{
		ParamExternData *param = &params->params[first + foreach_current_index(cell)];
		Node *probe = param->isnull ? NULL : stored_probe(stored, lfirst_int(cell), param->ptype, param->value);

		if (probe)
			probes = lappend(probes, probe);
	}
	return probes;
}

/* Find the groups with a witness, if they are asked for, and start reading rows. */
static void
stored_rows_rewind(RowSource *source, ParamListInfo params)
{
	StoredRows *rows = (StoredRows *) source;
	MemoryContext old;
	List *probes;
	Query *query;

	if (rows->run)
		source_end(rows->run);
	rows->run = NULL;
	rows->witnessed = NULL;
	MemoryContextReset(rows->run_context);
	old = MemoryContextSwitchTo(rows->run_context);
	probes = list_probes(rows->view, rows->asked, params);
	if (rows->witness)
		find_witnessed_groups(rows, probes, params);
	query = source_query(rows->view, rows->layout.columns, list_concat_copy(rows->conditions, probes), NIL);
	rows->run = source_start(rows->view, source_plan(rows->view, query, false, params), params, rows->snapshot);
	if (!rows->keep_order)
		source_hide_order(rows->run);
	MemoryContextSwitchTo(old);
}

/* Return true if a row is shown for the purpose and the recipient. */
static bool
is_shown(const StoredRows *rows, TupleTableSlot *slot)
{
	const AViewProfile *profile = rows->view->profile;

	if (profile == NULL)
		return true;
	if (profile->shown >= 0)
	{
		int place = rows->layout.place[profile->shown];

		return !slot->tts_isnull[place] && DatumGetBool(slot->tts_values[place]);
	}
	return consent_k(rows->view, &rows->layout, slot) >= 0;
}

/* Publish a sensitive value as its owner lets it be published. */
static void
publish_stored_sensitive(const StoredRows *rows, TupleTableSlot *slot, int column, Datum *value, bool *isnull)
{
	Dictionary *dictionary = rows->dictionaries[column];
	int level = consent_level(rows->view, &rows->layout, slot, column, dictionary->height);
	int32 code;

	/* As in anonymizer.c: from level 1 on, NULL is published as the root. */
	if (!rows->view->columns[column].generalized)
	{
		*isnull = *isnull || level > 0;
		return;
	}
	if (*isnull && level == 0)
		return;
	code = dictionary_climb(dictionary, dictionary_code(dictionary, *value, *isnull), 0, level);
	*isnull = false;
	*value = dictionary->levels[level].values[code];
}

/* Fill in the wanted columns of a row. */
static void
publish_stored_row(const StoredRows *rows, TupleTableSlot *slot, Datum *values, bool *nulls)
{
	int column = -1;

	while ((column = bms_next_member(rows->wanted, column)) >= 0)
	{
		int place = rows->layout.place[column];

		values[column] = slot->tts_values[place];
		nulls[column] = slot->tts_isnull[place];
		if (!consent_given(rows->view, &rows->layout, slot, column))
			nulls[column] = true;
		else if (rows->view->columns[column].role == ROLE_SENSITIVE)
			publish_stored_sensitive(rows, slot, column, &values[column], &nulls[column]);
	}
}

/* Publish the next row that is shown, of a group that has a witness if one is asked for. */
static bool
stored_rows_next(RowSource *source, Datum *values, bool *nulls)
{
	StoredRows *rows = (StoredRows *) source;
	TupleTableSlot *slot;

	do
	{
		CHECK_FOR_INTERRUPTS();
		if (!source_next(rows->run, &slot))
			return false;
		slot_getallattrs(slot);
	} while (!is_shown(rows, slot) ||
			 (rows->witnessed && witnessed_lookup(rows->witnessed, group_of(rows, slot)) == NULL));
	publish_stored_row(rows, slot, values, nulls);
	rows->current = slot;
	return true;
}

/* Set the columns of the last row as they are in the source. */
void
stored_rows_raw(const StoredRows *rows, Datum *values, bool *nulls)
{
	for (int i = 0; i < rows->view->ncolumns; i++)
	{
		int place = rows->layout.place[rows->view->raw + i];

		Assert(place >= 0);
		values[i] = rows->current->tts_values[place];
		nulls[i] = rows->current->tts_isnull[place];
	}
}

/* Return true if the last row is in no group. */
bool
stored_rows_alone(const StoredRows *rows)
{
	return group_of(rows, rows->current) < 0;
}

/* Return the k that the last row asks for, of all purposes. */
int
stored_rows_k(const StoredRows *rows)
{
	if (!stored_is_personal(rows->view))
		return rows->view->k;
	return (int) Min(DatumGetInt64(rows->current->tts_values[rows->layout.place[rows->view->profile->demand]]),
					 PG_INT32_MAX);
}

/* End the query that is being run. */
static void
stored_rows_end(RowSource *source)
{
	StoredRows *rows = (StoredRows *) source;

	if (rows->run)
		source_end(rows->run);
	rows->run = NULL;
}

/* Show how the stored groups are read. */
static void
stored_rows_explain(const RowRequest *request, ParamListInfo params, RowSourceShow show, void *arg)
{
	AView *stored = stored_view(request->aview);
	List *probes = list_probes(stored, request->asked, params);
	List *conditions = list_concat_copy(request->conditions, probes);

	show(arg, "Source", source_query(stored, source_least(stored), conditions, NIL));
}

const RowSourceMethods stored_rows_methods = {
	.name = "Stored Groups",
	.start = stored_rows_start,
	.rewind = stored_rows_rewind,
	.next = stored_rows_next,
	.end = stored_rows_end,
	.explain = stored_rows_explain,
};
