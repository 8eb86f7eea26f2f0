/*
 * remarks.c
 *		Measuring what a new or changed A-view publishes, and warning its creator.
 */
#include "base/kanon.h"

#include "ddl/remarks.h"

#include "access/xact.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "aview/aview.h"
#include "aview/choices.h"
#include "aview/purpose.h"
#include "base/interner.h"
#include "base/progress.h"
#include "base/valuecodes.h"
#include "ddl/recoding.h"
#include "hierarchy/generalized.h"
#include "quality/quality.h"
#include "recode/dictionary.h"

/*
 * Of so many rows all is counted; of further ones only whether they are suppressed, so that
 * a view over many rows costs little more than a read of it, and memory has a bound.
 */
#define MOST_COUNTED 250000

/* Shares of fewer rows than this say little. */
#define FEW_ROWS 20

/* More than this share of suppressed rows deserves a warning. */
#define MUCH_SUPPRESSED 0.1
/* More than this share of rows that show nothing of a column deserves a warning. */
#define NEARLY_ALL 0.9
/* More than this share deserves a remark: of different values, unknown ones, or rows that a value tells apart. */
#define MOST 0.5

/* A value of a column in a group. */
typedef struct Beside
{
	int32 group; /* the key: class and value */
	int32 value;
	int64 rows;
} Beside;

/* A column that is published as it is. */
typedef struct OtherColumn
{
	int column;
	ValueCodes *values;
	Interner *beside; /* of Besides */
	int64 rows;
	int64 grouped; /* of these, in a group */
} OtherColumn;

/* What is learnt from reading a view once. */
typedef struct Measured
{
	AView *aview;
	int64 rows;
	Tally *tally; /* of the first rows */
	int nothers;
	OtherColumn *others;
	int64 *without; /* per column: rows in which an identifier is NULL */
	int64 suppressed;
	int largest_k;	   /* of all rows */
	Bitmapset *blamed; /* columns with values that were named as a cause */
} Measured;

static bool measure_views = true;

/* Define the setting: see remarks.h. */
void
remarks_init(void)
{
	DefineCustomBoolVariable("kanon.measure_views", "Reads a new anonymization view once, to warn of likely mistakes.",
							 "Off makes the creation of a view over many rows faster.", &measure_views, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
}

/* Note a row in the group that it is published in, by its value of a column that is published as it is. */
static void
note_other(OtherColumn *other, const Pair *pair, int group)
{
	Beside key = {.group = pair->fate == FATE_GROUP ? group : -1};
	bool found;
	Beside *beside;

	key.value = valuecodes_code(other->values, pair->values[other->column], pair->nulls[other->column]);
	beside = interner_record(other->beside, interner_code(other->beside, &key, &found));
	beside->rows++;
	other->rows++;
	other->grouped += pair->fate == FATE_GROUP;
}

/* Count a row: a PairReceiver. */
static void
remarks_row(void *arg, const Pair *pair)
{
	Measured *measured = arg;
	const AView *aview = measured->aview;
	MemoryContext old;
	int group;

	measured->rows++;
	measured->suppressed += pair->fate == FATE_SUPPRESSED;
	measured->largest_k = Max(measured->largest_k, pair->k);
	if (measured->tally->nrows >= MOST_COUNTED)
		return;
	old = MemoryContextSwitchTo(measured->tally->raw_index->context);
	group = tally_add(measured->tally, pair);
	for (int i = 0; i < aview->ncolumns; i++)
	{
		if (aview->columns[i].role == ROLE_ID)
			measured->without[i] += pair->nulls[aview->ncolumns + i];
	}
	for (int i = 0; i < measured->nothers; i++)
		note_other(&measured->others[i], pair, group);
	MemoryContextSwitchTo(old);
}

/* List the columns that are published as they are, of types with values that can be compared. */
static void
list_others(Measured *measured)
{
	const AView *aview = measured->aview;

	measured->others = palloc0(Max(aview->ncolumns, 1) * sizeof(OtherColumn));
	for (int i = 0; i < aview->ncolumns; i++)
	{
		const AViewColumn *column = &aview->columns[i];
		OtherColumn *other = &measured->others[measured->nothers];

		if (column->role != ROLE_OTHER ||
			!OidIsValid(lookup_type_cache(column->source_type, TYPECACHE_EQ_OPR)->eq_opr))
			continue;
		other->column = i;
		other->values = valuecodes_create(column->source_type, column->source_collation);
		other->beside = interner_create(CurrentMemoryContext, offsetof(Beside, rows), sizeof(Beside), NULL, NULL);
		measured->nothers++;
	}
}

/* Read a view once. */
static void
measure(Measured *measured, AView *aview, RemarkScope scope)
{
	measured->aview = aview;
	measured->largest_k = -1;
	measured->tally = tally_create(aview);
	measured->without = palloc0(Max(aview->ncolumns, 1) * sizeof(int64));
	if (scope == REMARK_ALL)
		list_others(measured);
	progress_phase(PHASE_CHECKING, 0);
	pairs_read(aview, bms_add_range(NULL, 0, aview->ncolumns - 1), remarks_row, measured);
}

/* Return true if all rows were counted, and not only the first ones. */
static bool
counted_all(const Measured *measured)
{
	return measured->rows == measured->tally->nrows;
}

/* Return the number of people in the rows of a view. */
static int64
count_people(const Tally *tally)
{
	return tally->count_rows ? tally->nrows : tally->people->count;
}

/* Count the rows in which a column has a value, and those of them with a value that its hierarchy does not know. */
static int64
count_unknown(const Tally *tally, int column, int64 *rows)
{
	const Dictionary *raw = tally->raw[column];
	int64 unknown = 0;

	*rows = 0;
	for (int32 code = 0; code < Min(raw->levels[0].ncodes, tally->raw_room[column]); code++)
	{
		if (code == NULL_CODE)
			continue;
		*rows += tally->raw_rows[column][code];
		if (raw->dgh && recoding_is_unknown(raw, code))
			unknown += tally->raw_rows[column][code];
	}
	return unknown;
}

/* Return how many different values a column has, NULL aside. */
static int64
remarks_values(const Tally *tally, int column)
{
	int64 count = 0;

	for (int32 code = 0; code < Min(tally->raw[column]->levels[0].ncodes, tally->raw_room[column]); code++)
		count += code != NULL_CODE && tally->raw_rows[column][code] > 0;
	return count;
}

/* Warn of a sensitive column with fewer than l values; return true if there is one. */
static bool
warn_of_diversity(const Measured *measured)
{
	const AView *aview = measured->aview;
	bool any = false;

	/* There may be more values in later rows, but not if none of them can be shown. */
	if (!counted_all(measured) && measured->suppressed < measured->rows)
		return false;
	for (int i = 0; i < aview->ncolumns && aview->l > 0; i++)
	{
		if (aview->columns[i].role != ROLE_SENSITIVE || remarks_values(measured->tally, i) >= aview->l)
			continue;
		ereport(WARNING,
				(errmsg("l is %d, but the sensitive column \"%s\" has only " INT64_FORMAT " values", aview->l,
						aview->columns[i].name, remarks_values(measured->tally, i)),
				 errdetail("All rows will be suppressed.")));
		any = true;
	}
	return any;
}

/* Return the cause of suppression if most likely it is the number of people, and a hint; NULL: it is not. */
static char *
cause_in_people(const Measured *measured, const char **hint)
{
	const AView *aview = measured->aview;

	for (int i = 0; i < aview->ncolumns; i++)
	{
		if (measured->without[i] <= MOST * measured->tally->nrows)
			continue;
		*hint = "Identifiers are hidden in rows that come from another anonymization view."
				" Name none, and each row counts as a person.";
		return psprintf("Identifier \"%s\" is null in " INT64_FORMAT " of " INT64_FORMAT
						" rows, which do not count as different people.",
						aview->columns[i].name, measured->without[i], measured->tally->nrows);
	}
	if (measured->largest_k < 0)
	{
		*hint = "Store choices, or create the view with a k for data owners without a choice.";
		return pstrdup("The view has no k for rows whose data owner has chosen none.");
	}
	if (measured->largest_k <= count_people(measured->tally) || !counted_all(measured))
		return NULL;
	*hint = measured->largest_k == aview->k ? "Lower k." : "No view can satisfy it: ask the data owner.";
	return psprintf("%s is %d, but the number of people in the source is " INT64_FORMAT ".",
					measured->largest_k == aview->k ? "k" : "The largest k of a data owner", measured->largest_k,
					count_people(measured->tally));
}

/* Return the call that lists values which the hierarchies of a view do not know, as a hint. */
static char *
uncovered_call(Oid view)
{
	char *name = DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(view)));

	return psprintf("SELECT * FROM kanon.uncovered(%s);", quote_literal_cstr(name));
}

/* Return the cause of suppression that a quasi-identifier most likely is, and a hint; NULL: it is not. */
static char *
cause_in_values(const Measured *measured, int column, const char **hint)
{
	const AViewColumn *c = &measured->aview->columns[column];
	int64 rows;
	int64 unknown = count_unknown(measured->tally, column, &rows);

	if (c->dgh && unknown > MOST * rows)
	{
		*hint = uncovered_call(measured->aview->view);
		return psprintf("Hierarchy \"%s\" does not know the values of \"%s\" in " INT64_FORMAT " of " INT64_FORMAT
						" rows.",
						c->dgh_name, c->name, unknown, rows);
	}
	if (c->dgh == NULL && measured->aview->algorithm == ALGORITHM_DATAFLY &&
		remarks_values(measured->tally, column) > MOST * rows)
	{
		*hint = "Give the column a hierarchy, or declare it as an identifier.";
		return psprintf("Quasi-identifier \"%s\" has " INT64_FORMAT " values in " INT64_FORMAT
						" rows and no hierarchy.",
						c->name, remarks_values(measured->tally, column), rows);
	}
	return NULL;
}

/* Return the most likely cause of suppression, and a hint. */
static char *
find_cause(Measured *measured, const char **hint)
{
	const AView *aview = measured->aview;
	char *cause = cause_in_people(measured, hint);

	for (int i = 0; i < aview->nquasi && cause == NULL; i++)
	{
		cause = cause_in_values(measured, aview->quasi[i], hint);
		if (cause)
			measured->blamed = bms_add_member(measured->blamed, aview->quasi[i]);
	}
	if (cause)
		return cause;
	if (aview_limits_levels(aview))
		*hint = "Let columns be generalized up to higher levels, publish fewer quasi-identifiers, or lower k.";
	else
		*hint = "Give the hierarchies more levels below the root, publish fewer quasi-identifiers, or lower k.";
	return psprintf("There is no group for them that satisfies %s%s%s.",
					aview->profile && aview->profile->k >= 0 ? "the data owners' k" : "k", aview->l > 0 ? ", l" : "",
					aview->t > 0 ? ", t" : "");
}

/*
 * Return true if it is known which rows are suppressed.  Choices may depend on a purpose
 * and a recipient: then none were read unless both are set, and stored groups may be
 * published for others.
 */
static bool
knows_suppressed(const AView *aview)
{
	ProfileKey key;

	if (aview->profile == NULL)
		return true;
	profile_key(aview, &key);
	if (key.purpose == 0 && key.recipient == 0)
		return true;
	return !aview->materialized && (key.purpose == 0 || kanon_purpose[0] != '\0') &&
		   (key.recipient == 0 || kanon_recipient[0] != '\0');
}

/* Warn of a view that suppresses many rows. */
static void
warn_of_suppression(Measured *measured)
{
	int64 rows = measured->rows;
	const char *name = get_rel_name(measured->aview->view);
	const char *fate = measured->aview->materialized ? "wait for a group" : "are suppressed";
	const char *hint = NULL;
	char *cause;

	if (warn_of_diversity(measured) || !knows_suppressed(measured->aview) ||
		measured->suppressed <= MUCH_SUPPRESSED * rows || (measured->suppressed < rows && rows < FEW_ROWS))
		return;
	cause = find_cause(measured, &hint);
	ereport(WARNING,
			(measured->suppressed == rows
				 ? errmsg("all rows of anonymization view \"%s\" %s", name, fate)
				 : errmsg(INT64_FORMAT " of " INT64_FORMAT " rows of anonymization view \"%s\" %s",
						  measured->suppressed, rows, name, fate),
			 errdetail_internal("%s", cause), errhint("%s", hint)));
}

/* Return the number of rows in which a quasi-identifier, given by its place among them, shows everything. */
static int64
count_starred(const Tally *tally, int place)
{
	const Dictionary *shown = tally->shown[tally->aview->quasi[place]];
	int64 rows = 0;

	for (int class = 0; class < tally->shown_index->count; class ++)
	{
		int32 code = tally_shown_codes(tally, class)[place];
		GenView view;

		if (code == NULL_CODE)
			continue;
		gen_view(shown->levels[0].values[code], &view);
		if (view.kind == GEN_ANY)
			rows += tally->shown_classes[class].rows;
	}
	return rows;
}

/* Warn of quasi-identifiers of which nearly nothing is shown. */
static void
warn_of_stars(Measured *measured)
{
	const AView *aview = measured->aview;
	int64 rows = measured->tally->nrows;

	for (int i = 0; i < aview->nquasi && rows >= FEW_ROWS && knows_suppressed(aview); i++)
	{
		int column = aview->quasi[i];
		int64 starred = count_starred(measured->tally, i);
		const char *hint =
			"Give its hierarchy more levels, lower k, or leave the column out so that others become more precise.";
		char *cause;

		if (starred <= NEARLY_ALL * rows || measured->suppressed == measured->rows)
			continue;
		cause = cause_in_values(measured, column, &hint);
		if (cause)
			measured->blamed = bms_add_member(measured->blamed, column);
		ereport(WARNING, (errmsg("column \"%s\" of anonymization view \"%s\" shows * in " INT64_FORMAT
								 " of " INT64_FORMAT " rows",
								 aview->columns[column].name, get_rel_name(aview->view), starred, rows),
						  cause ? errdetail_internal("%s", cause) : 0, errhint("%s", hint)));
	}
}

/* Tell of values that a hierarchy does not know: they are information, but most likely a mistake if they are most. */
static void
remark_values(const Measured *measured, int column)
{
	const AViewColumn *c = &measured->aview->columns[column];
	const char *view = get_rel_name(measured->aview->view);
	int64 rows;
	int64 unknown = count_unknown(measured->tally, column, &rows);

	if (c->dgh == NULL || unknown == 0 || bms_is_member(column, measured->blamed))
		return;
	ereport(unknown > MOST * rows ? WARNING : NOTICE,
			(errmsg("hierarchy \"%s\" does not know the values of column \"%s\" of anonymization view \"%s\""
					" in " INT64_FORMAT " of " INT64_FORMAT " rows",
					c->dgh_name, c->name, view, unknown, rows),
			 errdetail("Such values can be shown only as they are or as *."),
			 errhint("%s", uncovered_call(measured->aview->view))));
}

/* Return the number of rows that a column's value tells from all others of their group. */
static int64
count_told_apart(const OtherColumn *other)
{
	int64 alone = 0;

	for (int32 code = 0; code < other->beside->count; code++)
	{
		const Beside *beside = interner_record(other->beside, code);

		alone += beside->group >= 0 && beside->rows == 1;
	}
	return alone;
}

/* Return true, and warn, if a column that is published as it is has a value of its own in most rows. */
static bool
warn_of_key(const Measured *measured, const OtherColumn *other)
{
	int64 values = valuecodes_count(other->values) - 1;

	if (values <= MOST * other->rows || other->rows < FEW_ROWS)
		return false;
	ereport(WARNING,
			(errmsg("column \"%s\" of anonymization view \"%s\" is published as it is and tells most rows apart",
					measured->aview->columns[other->column].name, get_rel_name(measured->aview->view)),
			 errdetail("It has " INT64_FORMAT " values in " INT64_FORMAT " rows, suppressed rows included.", values,
					   other->rows),
			 errhint("Declare it as an identifier, a quasi-identifier or sensitive, or leave it out of the view.")));
	return true;
}

/* Tell of columns that are published as they are and tell rows apart: in the whole view, or in their groups. */
static void
remark_others(const Measured *measured)
{
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = 0; i < measured->nothers; i++)
	{
		const OtherColumn *other = &measured->others[i];
		int64 alone = count_told_apart(other);

		if (!warn_of_key(measured, other) && alone > MOST * other->grouped && other->grouped >= FEW_ROWS)
			appendStringInfo(&columns, "%s\"%s\" (" INT64_FORMAT " of " INT64_FORMAT " rows)",
							 columns.len > 0 ? ", " : "", measured->aview->columns[other->column].name, alone,
							 other->grouped);
	}
	/* Of some rows of a group it is not known whether others are like them. */
	if (columns.len > 0 && counted_all(measured))
		ereport(NOTICE,
				(errmsg("columns of anonymization view \"%s\" tell rows from the others of their group: %s",
						get_rel_name(measured->aview->view), columns.data),
				 errhint("If others may know the values, declare such a column as a quasi-identifier or sensitive.")));
}

/* Make remarks about what was measured. */
static void
make_remarks(Measured *measured, RemarkScope scope)
{
	const AView *aview = measured->aview;
	bool anonymizes = aview->nquasi > 0;

	if (measured->tally->nrows == 0)
		return;
	warn_of_suppression(measured);
	warn_of_stars(measured);
	for (int i = 0; i < aview->ncolumns; i++)
	{
		anonymizes = anonymizes || aview->columns[i].role == ROLE_ID;
		if (scope == REMARK_ALL && aview->columns[i].dgh)
			remark_values(measured, i);
	}
	/* Otherwise it was said that nothing is anonymized. */
	if (anonymizes)
		remark_others(measured);
}

/* Read a view in a subtransaction; return false after an error, which becomes a warning. */
static bool
measure_safely(Measured *measured, AView *aview, RemarkScope scope)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool done = false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		PushActiveSnapshot(GetTransactionSnapshot());
		measure(measured, aview, scope);
		PopActiveSnapshot();
		ReleaseCurrentSubTransaction();
		done = true;
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED || error->sqlerrcode == ERRCODE_ASSERT_FAILURE)
			PG_RE_THROW();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		ereport(WARNING,
				(errmsg("anonymization view \"%s\" was made, but cannot be read", get_rel_name(aview->view)),
				 errdetail_internal("%s", error->message)));
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return done;
}

/* Read a view's rows and make remarks: see remarks.h. */
void
remarks_make(int32 id, RemarkScope scope)
{
	MemoryContext context;
	MemoryContext old;
	Measured measured = {0};

	if (!measure_views)
		return;
	CommandCounterIncrement();
	context = AllocSetContextCreate(CurrentMemoryContext, "kanon remarks", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	if (measure_safely(&measured, aview_load(id), scope))
		make_remarks(&measured, scope);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}
