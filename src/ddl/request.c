/*
 * request.c
 *		Checking the request for an A-view, before anything is created.
 */
#include "base/kanon.h"

#include "ddl/create.h"

#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "aview/aview.h"
#include "ddl/position.h"
#include "hierarchy/dgh.h"
#include "policy/profile.h"

/* Raise an error for the value of an argument that breaks a rule. */
void
request_bad_argument(const char *name, const char *value, const char *rule)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s is %s, but it must be %s", name, value, rule)));
}

/* Raise an error for an argument that materialized views do not support. */
static pg_noreturn void
not_yet(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("anonymization views do not support %s yet", name)));
}

/* Raise an error for a bad value in a request: see create.h. */
void
request_check_values(const AViewRequest *request)
{
	const char *match = request->match;
	const char *algorithm = request->algorithm;

	if (request->has_k && request->k < 0)
		request_bad_argument("k", psprintf("%d", request->k), "0 or more");
	if (request->has_l && request->l < 1)
		request_bad_argument("l", psprintf("%d", request->l), "1 or more");
	if (request->has_t && !(request->t > 0 && request->t <= 1))
		request_bad_argument("t", psprintf("%g", request->t), "above 0 and at most 1");
	if (match && strcmp(match, "cover") != 0 && strcmp(match, "witness") != 0)
		request_bad_argument("match", psprintf("\"%s\"", match), "cover or witness");
	if (algorithm && strcmp(algorithm, "datafly") != 0 && strcmp(algorithm, "mondrian") != 0)
		request_bad_argument("algorithm", psprintf("\"%s\"", algorithm), "datafly or mondrian");
	if (request->has_block_size && request->block_size < 1)
		request_bad_argument("block_size", psprintf("%d", request->block_size), "1 or more");
	if (request->preselect && strcmp(request->preselect, "published") != 0 && strcmp(request->preselect, "hidden") != 0)
		request_bad_argument("preselect", psprintf("\"%s\"", request->preselect), "published or hidden");
}

/* Raise an error for a k that publishes rows as they are, where the levels of columns are limited. */
void
request_check_k_of_levels(int k, bool limited)
{
	if (limited && k < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("k is %d, but it must be 2 or more for an anonymization view with levels", k),
				 errdetail("With a k of 0 or 1, rows are published as they are.")));
}

/* Raise an error for an argument that needs a column of a role. */
static pg_noreturn void
missing_column(const char *argument, const char *role)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s needs %s", argument, role)));
}

/*
 * Raise an error if l, t or block_size would silently guarantee nothing, for want of the
 * columns that they are about.
 */
void
request_check_roles(const AViewRequest *request, bool has_sensitive, bool has_id)
{
	if ((request->has_l || request->has_t) && !has_sensitive)
		missing_column(request->has_l ? "l" : "t", "a sensitive column");
	if (request->has_block_size && !has_id)
		missing_column("block_size", "an identifier");
}

/* Return true if a request names a column of a role. */
static bool
asks_for(const AViewRequest *request, ColumnRole role)
{
	ListCell *cell;

	foreach (cell, request->columns)
	{
		if (((ColumnRequest *) lfirst(cell))->role == role)
			return true;
	}
	return false;
}

/* Raise an error if the levels of columns are limited in a view that cannot keep to it. */
static void
check_levels(const AViewRequest *request)
{
	bool limited = false;
	ListCell *cell;

	foreach (cell, request->columns)
	{
		const ColumnRequest *column = lfirst(cell);
		int height;

		if (!column->limited)
			continue;
		limited = true;
		height = column->dgh ? dgh_get(column->dgh)->height : 1;
		if (column->highest > height)
			request_bad_argument(psprintf("the highest level of \"%s\"", column->name), psprintf("%d", column->highest),
								 psprintf("at most %d, the height of its hierarchy", height));
	}
	if (request->has_k)
		request_check_k_of_levels(request->k, limited);
	if (limited && strcmp(request->algorithm, "datafly") != 0)
		not_yet(psprintf("levels with algorithm %s", request->algorithm));
	if (limited && request->materialized)
		not_yet("materialized groups with levels");
}

/* Return true if some of the pairs of a profile are about a sensitive column. */
static bool
concerns_sensitive(const AViewRequest *request, const List *pairs)
{
	ListCell *pair;
	ListCell *cell;

	foreach (pair, pairs)
	{
		foreach (cell, request->columns)
		{
			const ColumnRequest *column = lfirst(cell);

			if (column->role == ROLE_SENSITIVE &&
				strcmp(column->name, ((const ProfilePair *) lfirst(pair))->view_column) == 0)
				return true;
		}
	}
	return false;
}

/*
 * Raise an error if l or t is asked of groups that are stored once, while the sensitive
 * values in them depend on the purpose and the moment of reading.
 */
static void
check_stored_values(const AViewRequest *request)
{
	const ProfileRequest *profile = request->profile;

	if (profile == NULL || !(request->has_l || request->has_t))
		return;
	if (profile->level || profile->levels)
		not_yet("materialized groups with sa_level and l or t");
	if (concerns_sensitive(request, profile->disclose) || concerns_sensitive(request, profile->retain))
		not_yet("materialized groups with l or t and sensitive columns that data owners may hide");
	if (profile->k && !request->has_k && (profile->purpose || profile->recipient))
		not_yet("materialized groups with l or t and rows that are shown for some purposes only");
}

/* Warn of a view in which nothing is hidden: see create.h. */
void
request_warn_of_roles(const AViewRequest *request)
{
	bool roles = asks_for(request, ROLE_ID) || asks_for(request, ROLE_QUASI);

	if (!roles)
		ereport(WARNING,
				(errmsg("nothing is anonymized in view \"%s\"", request->name),
				 errdetail("It has no identifiers and no quasi-identifiers: its rows are published as they are."),
				 errhint("Name the columns by which people can be found in quasi_ids.")));
	else if (request->has_k && request->k < 2 && request->profile == NULL)
		ereport(WARNING,
				(errmsg("no values are generalized in view \"%s\"", request->name),
				 request->k == 0 ? errdetail("With a k of 0, rows are published as they are, with their identifiers.")
								 : errdetail("With a k of 1, only identifiers are hidden."),
				 errhint("Choose a k of 2 or more.")));
}

/*
 * Raise an error if a view cannot be materialized.  Groups are stored for good: there
 * must be some, and rows must be told apart.
 */
static void
check_materialized(const AViewRequest *request)
{
	if (!asks_for(request, ROLE_ID))
		missing_column("a materialized anonymization view", "an identifier");
	if (!asks_for(request, ROLE_QUASI))
		missing_column("a materialized anonymization view", "a quasi-identifier");
	check_stored_values(request);
	if (request->has_k && request->k < 2)
		request_bad_argument("k", psprintf("%d", request->k), "2 or more for a materialized anonymization view");
	if (request->has_block_size)
		not_yet("materialized groups with block_size");
	if (request->session_settings && ARR_NDIM(request->session_settings) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a materialized anonymization view cannot have session_settings"),
				 errdetail("Its groups are stored once, for all sessions.")));
	if (request->keep_order)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a materialized anonymization view cannot have keep_order"),
				 errdetail("Its groups are stored without the order of the source.")));
	if (strcmp(request->algorithm, "datafly") != 0)
		not_yet(psprintf("materialized groups with algorithm %s", request->algorithm));
}

/* Raise an error for a request that cannot be fulfilled: see create.h. */
void
request_check(const AViewRequest *request)
{
	Assert(request->name && request->query && request->match && request->algorithm);
	if (!request->has_k && (request->profile == NULL || request->profile->k == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("anonymization view \"%s\" needs a k", request->name),
				 errhint("For example k => 5: each published row then looks like those of at least 4 other people.")));
	request_check_values(request);
	request_check_roles(request, asks_for(request, ROLE_SENSITIVE), asks_for(request, ROLE_ID));
	check_levels(request);
	if (request->materialized)
		check_materialized(request);
}

/* Return the index of a column of the source; raise an error if there is none of the name. */
static int
find_column(TupleDesc desc, const char *name)
{
	for (int i = 0; i < desc->natts; i++)
	{
		if (strcmp(NameStr(TupleDescAttr(desc, i)->attname), name) == 0)
			return i;
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("the source has no column \"%s\"", name)));
}

/* Raise an error for a hierarchy of dates over numbers, or the other way round. */
static void
check_hierarchy_type(const ColumnRequest *column, Oid type)
{
	DghKind kind = dgh_get(column->dgh)->kind;
	char category = TypeCategory(getBaseType(type));
	bool never_date = category == TYPCATEGORY_NUMERIC || category == TYPCATEGORY_BOOLEAN;
	bool never_number = category == TYPCATEGORY_DATETIME || category == TYPCATEGORY_BOOLEAN;

	if ((kind == DGH_DATE && never_date) || (kind == DGH_INTERVAL && never_number))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is of type %s, but hierarchy \"%s\" is one of %s", column->name,
						format_type_be(type), column->dgh, kind == DGH_DATE ? "dates" : "numbers"),
				 errdetail("It knows none of the values, so they could be shown only as they are or as *.")));
}

/* Raise an error if the values of a column cannot be published as a request asks. */
static void
check_column(const AViewRequest *request, const ColumnRequest *column, Oid type)
{
	if (column->dgh)
		check_hierarchy_type(column, type);
	if (column->role == ROLE_ID && request->has_block_size &&
		!OidIsValid(lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("identifier \"%s\" is of type %s, which has no order", column->name, format_type_be(type)),
				 errdetail("With block_size, rows are divided in the order of their identifiers.")));
	if (column->role == ROLE_QUASI &&
		(type_is_array(type) || type_is_rowtype(type) || get_typtype(type) == TYPTYPE_PSEUDO))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("quasi-identifier \"%s\" is of type %s, which has no single values to generalize", column->name,
						format_type_be(type)),
				 errhint("Give each part of it that identifies people a column of its own.")));
}

/* Return true if a request is for all columns that have no role. */
static bool
is_for_all(const ColumnRequest *column)
{
	return column->role == ROLE_OTHER && strcmp(column->name, OTHER_ALL) == 0;
}

/* Return true if all columns without a role are to be published as they are. */
bool
request_names_all(const AViewRequest *request)
{
	ListCell *cell;

	foreach (cell, request->columns)
	{
		if (is_for_all(lfirst(cell)))
			return true;
	}
	return false;
}

/* Raise an error for a column that is named a second time. */
static pg_noreturn void
named_twice(const ColumnRequest *first, const ColumnRequest *second)
{
	bool other = first->role == ROLE_OTHER || second->role == ROLE_OTHER;

	ereport(ERROR,
			(errcode(ERRCODE_DUPLICATE_COLUMN),
			 errmsg("column \"%s\" is named twice", second->name),
			 other ? errdetail("A column of the argument \"other\" has no role, and is named there only once.")
				   : errdetail("A column is an identifier, a quasi-identifier or sensitive, and only one of them.")));
}

/* Return the request for each column of the source, or NULL: see create.h. */
ColumnRequest **
request_match_columns(const AViewRequest *request, TupleDesc desc)
{
	ColumnRequest **columns = palloc0(Max(desc->natts, 1) * sizeof(ColumnRequest *));
	ListCell *cell;

	foreach (cell, request->columns)
	{
		ColumnRequest *column = lfirst(cell);
		ErrorPlace place;
		int index;

		if (is_for_all(column))
			continue;
		error_place_at(&place, request->text, column->location);
		index = find_column(desc, column->name);
		if (columns[index])
			named_twice(columns[index], column);
		check_column(request, column, TupleDescAttr(desc, index)->atttypid);
		error_place_leave(&place);
		columns[index] = column;
	}
	return columns;
}
