/*
 * settings.c
 *		Running code with the settings that it was created with.
 *
 * Most of the time the session has the very values that are stored.  So that finding
 * this out costs next to nothing, the first comparison by text leaves behind the
 * variable's value in the form in which the server has it.
 */
#include "base/kanon.h"

#include "base/settings.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"
#include "utils/lsyscache.h"

/*
 * The settings of the server that every role may change and that change values.  The
 * test settings_verdicts goes through pg_settings and says for each of the others why
 * it is not here.
 */
static const char *const value_settings[] = {
	"array_nulls",
	"backslash_quote",
	"bytea_output",
	"DateStyle",
	"default_text_search_config",
	"extra_float_digits",
	"gin_fuzzy_search_limit",
	"IntervalStyle",
	"lc_monetary",
	"lc_numeric",
	"lc_time",
	"quote_all_identifiers",
	"row_security",
	"search_path",
	"standard_conforming_strings",
	"TimeZone",
	"timezone_abbreviations",
	"transform_null_equals",
	"xmlbinary",
	"xmloption",
};

/* Extensions with settings that affect how their code computes, and not its results; kanon's own are the session's. */
static const char *const session_prefixes[] = {"kanon.", "citus."};

typedef struct PinnedSetting
{
	const char *name;
	const char *value;			   /* NULL: follows the session */
	struct config_generic *record; /* of a setting of the server; NULL for an application-defined setting */
	bool known;					   /* true once the following is set: the value as the server has it */
	int64 number;				   /* of bool, int and enum */
	char *text;					   /* of string, or NULL */
} PinnedSetting;

struct PinnedSettings
{
	MemoryContext context;
	int count;
	PinnedSetting settings[FLEXIBLE_ARRAY_MEMBER];
};

/* Return true for settings that an application or another extension defines and that every role may change. */
static bool
setting_is_application_defined(const struct config_generic *record)
{
	if (record->group != CUSTOM_OPTIONS || record->context != PGC_USERSET)
		return false;
	for (int i = 0; i < (int) lengthof(session_prefixes); i++)
	{
		if (pg_strncasecmp(record->name, session_prefixes[i], strlen(session_prefixes[i])) == 0)
			return false;
	}
	return true;
}

/* Return the value of a bool, int or enum, and 0 for others. */
static int64
setting_number(const struct config_generic *record)
{
	switch (record->vartype)
	{
		case PGC_BOOL:
			return *((const struct config_bool *) record)->variable;
		case PGC_INT:
			return *((const struct config_int *) record)->variable;
		case PGC_ENUM:
			return *((const struct config_enum *) record)->variable;
		default:
			return 0;
	}
}

/* Return the value of a string, and NULL for others. */
static const char *
setting_text(const struct config_generic *record)
{
	return record->vartype == PGC_STRING ? *((const struct config_string *) record)->variable : NULL;
}

/* Return true if two texts, or NULLs, are equal. */
static bool
same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/*
 * Return true if a setting of the server is known to have its stored value.
 *
 * This includes search_path.  It must have the stored text: another text that names the
 * same schemas for the current user may name more of them for the owner of a function
 * that runs with its owner's rights.
 */
static bool
setting_is_known_to_hold(const PinnedSetting *setting)
{
	return setting->known && setting_number(setting->record) == setting->number &&
		   same_text(setting_text(setting->record), setting->text);
}

/* Remember the form in which the server has the stored value, which is in force. */
static void
learn_setting(PinnedSettings *settings, PinnedSetting *setting)
{
	const char *text;

	if (setting->record == NULL || setting->record->vartype == PGC_REAL)
		return;
	text = setting_text(setting->record);
	setting->number = setting_number(setting->record);
	setting->text = text ? MemoryContextStrdup(settings->context, text) : NULL;
	setting->known = true;
}

/* Start a level of settings unless there is one. */
static void
open_level(int *level)
{
	if (*level == 0)
		*level = NewGUCNestLevel();
}

/* Set a setting for the level. */
static void
set_for_level(const char *name, const char *value, int *level)
{
	open_level(level);
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/* Put one stored setting in force. */
static void
enter_setting(PinnedSettings *settings, PinnedSetting *setting, int *level)
{
	if (setting->value == NULL || setting_is_known_to_hold(setting))
		return;
	if (!same_text(GetConfigOption(setting->name, true, false), setting->value))
		set_for_level(setting->name, setting->value, level);
	learn_setting(settings, setting);
}

/* Return the built-in value of an application-defined setting as text. */
static const char *
boot_value(const struct config_generic *record)
{
	switch (record->vartype)
	{
		case PGC_BOOL:
			return ((const struct config_bool *) record)->boot_val ? "on" : "off";
		case PGC_INT:
			return psprintf("%d", ((const struct config_int *) record)->boot_val);
		case PGC_REAL:
			return psprintf("%.17g", ((const struct config_real *) record)->boot_val);
		case PGC_STRING:
			return ((const struct config_string *) record)->boot_val;
		case PGC_ENUM:
			return config_enum_lookup_by_value((struct config_enum *) record,
											   ((const struct config_enum *) record)->boot_val);
	}
	return NULL;
}

/* Return true if an application-defined setting has its built-in value. */
static bool
has_boot_value(const struct config_generic *record)
{
	switch (record->vartype)
	{
		case PGC_BOOL:
			return *((const struct config_bool *) record)->variable == ((const struct config_bool *) record)->boot_val;
		case PGC_INT:
			return *((const struct config_int *) record)->variable == ((const struct config_int *) record)->boot_val;
		case PGC_REAL:
			return *((const struct config_real *) record)->variable == ((const struct config_real *) record)->boot_val;
		case PGC_STRING:
			return same_text(setting_text(record), ((const struct config_string *) record)->boot_val) ||
				   (((const struct config_string *) record)->boot_val == NULL && setting_text(record)[0] == '\0');
		case PGC_ENUM:
			return *((const struct config_enum *) record)->variable == ((const struct config_enum *) record)->boot_val;
	}
	return false;
}

/* Return true if a setting is among the stored ones. */
static bool
is_stored(const PinnedSettings *settings, const char *name)
{
	for (int i = 0; i < settings->count; i++)
	{
		if (pg_strcasecmp(settings->settings[i].name, name) == 0)
			return true;
	}
	return false;
}

/* Give application-defined settings that are not stored their built-in values. */
static void
enter_boot_values(const PinnedSettings *settings, int *level)
{
	int count;
	struct config_generic **records = kanon_settings(&count);

	for (int i = 0; i < count; i++)
	{
		const struct config_generic *record = records[i];

		if (setting_is_application_defined(record) && !has_boot_value(record) && !is_stored(settings, record->name))
		{
			const char *value = boot_value(record);

			set_for_level(record->name, value ? value : "", level);
		}
	}
}

int
settings_enter(PinnedSettings *settings)
{
	int level = 0;

	if (settings == NULL)
		return 0;
	for (int i = 0; i < settings->count; i++)
		enter_setting(settings, &settings->settings[i], &level);
	enter_boot_values(settings, &level);
	return level;
}

/* The settings that are known to be in force, or NULL. */
static PinnedSettings *declared = NULL;

PinnedSettings *
settings_declare(PinnedSettings *settings)
{
	PinnedSettings *before = declared;

	declared = settings;
	return before;
}

int
settings_ensure(PinnedSettings *settings)
{
	return settings == declared ? 0 : settings_enter(settings);
}

/* Return true if some setting is named without a value. */
bool
settings_follow_session(const PinnedSettings *settings)
{
	for (int i = 0; i < settings->count; i++)
	{
		if (settings->settings[i].value == NULL)
			return true;
	}
	return false;
}

void
settings_leave(int level)
{
	if (level > 0)
		AtEOXact_GUC(false, level);
}

/* Return the record of a setting of the server, which stays where it is, or NULL for other settings. */
static struct config_generic *
server_record(const char *name)
{
	int count;
	struct config_generic **records = kanon_settings(&count);

	for (int i = 0; i < count; i++)
	{
		if (records[i]->group != CUSTOM_OPTIONS && pg_strcasecmp(records[i]->name, name) == 0)
			return records[i];
	}
	return NULL;
}

PinnedSettings *
settings_read(ArrayType *stored)
{
	Datum *elements;
	int count;
	PinnedSettings *settings;

	deconstruct_array(stored, TEXTOID, -1, false, TYPALIGN_INT, &elements, NULL, &count);
	settings = palloc0(offsetof(PinnedSettings, settings) + count * sizeof(PinnedSetting));
	settings->context = CurrentMemoryContext;
	settings->count = count;
	for (int i = 0; i < count; i++)
	{
		char *name = TextDatumGetCString(elements[i]);
		char *equals = strchr(name, '=');

		if (equals)
			*equals = '\0';
		settings->settings[i].name = name;
		settings->settings[i].value = equals ? equals + 1 : NULL;
		settings->settings[i].record = server_record(name);
	}
	return settings;
}

/*
 * Return the schemas of search_path by their own names: "$user" would be another schema
 * for another role, and objects of the reader's temporary schema come last.
 */
static char *
resolved_search_path(void)
{
	StringInfoData path;
	List *schemas = fetch_search_path(false);
	ListCell *cell;

	initStringInfo(&path);
	foreach (cell, schemas)
	{
		char *name = isAnyTempNamespace(lfirst_oid(cell)) ? NULL : get_namespace_name(lfirst_oid(cell));

		if (name)
			appendStringInfo(&path, "%s, ", quote_identifier(name));
	}
	appendStringInfoString(&path, "pg_temp");
	return path.data;
}

/* Return true if an array of names, or NULL, has a name. */
static bool
is_named(ArrayType *names, const char *name)
{
	Datum *elements;
	bool *nulls;
	int count;

	if (names == NULL)
		return false;
	deconstruct_array(names, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		if (!nulls[i] && pg_strcasecmp(TextDatumGetCString(elements[i]), name) == 0)
			return true;
	}
	return false;
}

/* Append name=value to a list of texts, unless the setting follows the session. */
static List *
append_setting(List *texts, ArrayType *session, const char *name, const char *value)
{
	if (is_named(session, name))
		return texts;
	return lappend(texts, psprintf("%s=%s", name, value ? value : ""));
}

/* Append the names of the settings that follow the session, each of which the session must know. */
static List *
append_session_settings(List *texts, ArrayType *session)
{
	Datum *elements;
	bool *nulls;
	int count;

	deconstruct_array(session, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		char *name = nulls[i] ? NULL : TextDatumGetCString(elements[i]);

		if (name == NULL || strchr(name, '=') || (strchr(name, '.') == NULL && server_record(name) == NULL))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"%s\" is not the name of a setting", name ? name : "NULL"),
					 errhint("session_settings lists names of settings of the server or of an application, such as \"app.ward\".")));
		texts = lappend(texts, name);
	}
	return texts;
}

ArrayType *
settings_collect(ArrayType *session)
{
	List *texts = NIL;
	ListCell *cell;
	Datum *elements;
	int count;
	struct config_generic **records = kanon_settings(&count);
	int n = 0;

	for (int i = 0; i < (int) lengthof(value_settings); i++)
	{
		const char *name = value_settings[i];

		texts = append_setting(texts, session, name,
							   strcmp(name, "search_path") == 0 ? resolved_search_path()
																: GetConfigOption(name, true, false));
	}
	for (int i = 0; i < count; i++)
	{
		if (setting_is_application_defined(records[i]) && !has_boot_value(records[i]))
			texts = append_setting(texts, session, records[i]->name, GetConfigOption(records[i]->name, true, false));
	}
	if (session)
		texts = append_session_settings(texts, session);
	elements = palloc(list_length(texts) * sizeof(Datum));
	foreach (cell, texts)
		elements[n++] = CStringGetTextDatum(lfirst(cell));
	return construct_array(elements, n, TEXTOID, -1, false, TYPALIGN_INT);
}
