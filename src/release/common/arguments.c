/*
 * arguments.c
 *		The arguments of the SQL functions that make and judge releases: reading and
 *		checking them.
 */
#include "base/kanon.h"

#include "release/common/arguments.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

#include "release/common/grouping.h"

/* Raise an error if an argument is NULL. */
static void
refuse_null(FunctionCallInfo fcinfo, int which, const char *name)
{
	if (PG_ARGISNULL(which))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name)));
}

/* Return a text argument, which must not be NULL. */
char *
argument_text(FunctionCallInfo fcinfo, int which, const char *name)
{
	refuse_null(fcinfo, which, name);
	return text_to_cstring(PG_GETARG_TEXT_PP(which));
}

/* Return an integer argument, which must not be NULL. */
int
argument_int(FunctionCallInfo fcinfo, int which, const char *name)
{
	refuse_null(fcinfo, which, name);
	return PG_GETARG_INT32(which);
}

/*
 * Return true if a text argument is the second of two words, false if it is the first;
 * raise an error if it is neither.
 */
bool
argument_choice(FunctionCallInfo fcinfo, int which, const char *name, const char *no, const char *yes)
{
	char *given = argument_text(fcinfo, which, name);

	if (strcmp(given, no) != 0 && strcmp(given, yes) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s \"%s\" is not known", name, given),
				 errhint("It is \"%s\" or \"%s\".", no, yes)));
	return strcmp(given, yes) == 0;
}

/* Return an argument that names columns, at least one and all different, and set their number. */
char **
argument_names(FunctionCallInfo fcinfo, int which, const char *name, int *count)
{
	Datum *elements;
	bool *nulls;
	char **names;

	refuse_null(fcinfo, which, name);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(which), TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, count);
	if (*count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must name at least one column", name)));
	names = palloc(*count * sizeof(char *));
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not have null values", name)));
		names[i] = TextDatumGetCString(elements[i]);
		for (int j = 0; j < i; j++)
		{
			if (strcmp(names[i], names[j]) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("column \"%s\" is named twice in %s", names[i], name)));
		}
	}
	return names;
}

/* Return the seed of random numbers; NULL is 0, which stands for no seed. */
int32
argument_seed(FunctionCallInfo fcinfo, int which)
{
	return PG_ARGISNULL(which) ? 0 : PG_GETARG_INT32(which);
}

/* Read the arguments id, quasi_ids and k, of which id is the first. */
void
argument_grouping(FunctionCallInfo fcinfo, int first, GroupingArgs *args)
{
	args->id = argument_text(fcinfo, first, "id");
	refuse_null(fcinfo, first + 1, "quasi_ids");
	args->quasi_ids = PG_GETARG_JSONB_P(first + 1);
	args->k = argument_int(fcinfo, first + 2, "k");
	if (args->k < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("k is %d, but a group has at least one row", args->k)));
}

/* Read the arguments sensitive and l, which may be NULL. */
void
argument_diversity(FunctionCallInfo fcinfo, int first, GroupingArgs *args)
{
	if (!PG_ARGISNULL(first))
		args->sensitive = text_to_cstring(PG_GETARG_TEXT_PP(first));
	if (PG_ARGISNULL(first + 1))
		return;
	args->l = PG_GETARG_INT32(first + 1);
	if (args->l < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("l is %d, but a group has at least one sensitive value", args->l)));
	if (args->sensitive == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("l is %d, but no sensitive column is named", args->l),
				 errhint("Name the column whose values must differ: sensitive => '...'.")));
}
