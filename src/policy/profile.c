/*
 * profile.c
 *		Reading the request for a profile, by function or by statement.
 */
#include "base/kanon.h"

#include "policy/profile.h"

#include "utils/builtins.h"

/* Raise an error for a part of a profile that breaks a rule. */
static pg_noreturn void
bad_profile(const char *what, const char *rule)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s of the profile must be %s", what, rule),
			 errhint("For example {\"table\": \"choices\", \"key\": {\"name\": \"name\"}, \"k\": \"k\", \"purpose\": \"purpose\", "
					 "\"recipient\": \"recipient\"}.")));
}

/* Return the name that a part of a profile is: of a column, or of a table in SQL's notation. */
static char *
read_name(const char *part, const JsonbValue *value)
{
	if (value->type != jbvString || value->val.string.len == 0)
		bad_profile(psprintf("\"%s\"", part), "a name");
	return pnstrdup(value->val.string.val, value->val.string.len);
}

/* Return the pairs of a part of a profile: {"view column": "table column", ...}. */
static List *
read_pairs(const char *part, const JsonbValue *value)
{
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue item;
	List *pairs = NIL;

	if (value->type != jbvBinary || !JsonContainerIsObject(value->val.binary.data))
		bad_profile(psprintf("\"%s\"", part), "an object of view column and table column");
	iterator = JsonbIteratorInit(value->val.binary.data);
	while ((token = JsonbIteratorNext(&iterator, &item, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
		{
			ProfilePair *pair = palloc0(sizeof(ProfilePair));

			pair->view_column = pnstrdup(item.val.string.val, item.val.string.len);
			pairs = lappend(pairs, pair);
		}
		else if (token == WJB_VALUE)
		{
			Assert(pairs != NIL);
			((ProfilePair *) llast(pairs))->table_column = read_name(part, &item);
		}
	}
	return pairs;
}

/* Read a part of a profile; raise an error for one that there is not. */
static void
read_part(ProfileRequest *profile, const char *part, const JsonbValue *value)
{
	if (strcmp(part, "table") == 0)
		profile->table = read_name(part, value);
	else if (strcmp(part, "key") == 0)
		profile->key = read_pairs(part, value);
	else if (strcmp(part, "k") == 0)
		profile->k = read_name(part, value);
	else if (strcmp(part, "sa_level") == 0 && value->type == jbvString)
		profile->level = read_name(part, value);
	else if (strcmp(part, "sa_level") == 0)
		profile->levels = read_pairs(part, value);
	else if (strcmp(part, "purpose") == 0)
		profile->purpose = read_name(part, value);
	else if (strcmp(part, "recipient") == 0)
		profile->recipient = read_name(part, value);
	else if (strcmp(part, "disclose") == 0)
		profile->disclose = read_pairs(part, value);
	else if (strcmp(part, "retain") == 0)
		profile->retain = read_pairs(part, value);
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a profile has no part \"%s\"", part),
				 errhint("Its parts are table, key, k, sa_level, purpose, recipient, disclose and retain.")));
}

/* Read the profile argument of kanon.create_anonymization_view(). */
ProfileRequest *
profile_of_json(Jsonb *json)
{
	ProfileRequest *profile = palloc0(sizeof(ProfileRequest));
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue value;
	char *part = NULL;

	if (!JB_ROOT_IS_OBJECT(json))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("profile is %s, but it must be an object", JsonbToCString(NULL, &json->root, VARSIZE(json)))));
	iterator = JsonbIteratorInit(&json->root);
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			part = pnstrdup(value.val.string.val, value.val.string.len);
		else if (token == WJB_VALUE && value.type != jbvNull)
			read_part(profile, part, &value);
	}
	if (profile->table == NULL)
		bad_profile("\"table\"", "given");
	if (profile->key == NIL)
		bad_profile("\"key\"", "given, with at least one column");
	return profile;
}

/* Return the profile of the clause column REFERENCES table (k [, level]). */
ProfileRequest *
profile_of_reference(char *column, char *table, char *k, char *level)
{
	ProfileRequest *profile = palloc0(sizeof(ProfileRequest));
	ProfilePair *pair = palloc0(sizeof(ProfilePair));

	pair->view_column = column;
	profile->by_statement = true;
	profile->table = table;
	profile->key = list_make1(pair);
	profile->k = k;
	profile->level = level;
	return profile;
}
