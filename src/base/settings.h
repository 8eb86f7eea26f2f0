/*
 * settings.h
 *		Running code with the settings that it was created with.
 *
 * A cast from timestamptz to date gives another day in another TimeZone; a function
 * resolves names by search_path and may read any application-defined setting.  If the
 * values of a source, or their places in a hierarchy, followed the session of the
 * reader, then two sessions would see two groupings of the same rows, and a person
 * alone in an intersection of both would be identified.  So settings are stored with a
 * view when it is created, as text[] of name=value like pg_proc.proconfig.  They are in
 * force whenever the source is planned and run, whenever a raw value is read into a
 * hierarchy, and while changes of tables are brought into stored groups.
 *
 * A name without a value stands for a setting that follows the session.  Of
 * application-defined settings, all that are not stored have their built-in values.
 */
#ifndef KANON_SETTINGS_H
#define KANON_SETTINGS_H

#include "utils/array.h"

typedef struct PinnedSettings PinnedSettings;

/*
 * Return the session's settings to be stored; the names in `session`, or NULL, are to
 * follow the session of each reader.
 */
extern ArrayType *settings_collect(ArrayType *session);

/* Read stored settings; the result belongs to the current memory context. */
extern PinnedSettings *settings_read(ArrayType *stored);

/*
 * Put settings in force, and return the level for settings_leave(), or 0 if they are
 * in force already.  After an error PostgreSQL restores the session's settings when it
 * ends the transaction or subtransaction.  NULL stands for the session's settings.
 */
extern int settings_enter(PinnedSettings *settings);

/*
 * Declare that settings are in force, or with NULL, that none are known to be; return what
 * was declared before, to be declared again at the end and after an error.
 */
extern PinnedSettings *settings_declare(PinnedSettings *settings);
/* The same as settings_enter(), but at no cost where the settings are declared to be in force: for single values. */
extern int settings_ensure(PinnedSettings *settings);

/* Return true if a setting follows the session of each reader. */
extern bool settings_follow_session(const PinnedSettings *settings);

/* Restore the session's settings. */
extern void settings_leave(int level);

#endif
