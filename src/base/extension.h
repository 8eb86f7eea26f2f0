/*
 * extension.h
 *		The extension's own objects: its tables, its type, its triggers.
 */
#ifndef KANON_EXTENSION_H
#define KANON_EXTENSION_H

#include "commands/trigger.h"
#include "fmgr.h"

/* Make the functions below notice changes of the objects; called once when the library is loaded. */
extern void extension_init(void);

/* Return the OID of the schema kanon; InvalidOid if there is none and missing_ok is true. */
extern Oid kanon_namespace(bool missing_ok);

/* Return true if a function is the one of that name in the schema kanon, or with NULL any in that schema. */
extern bool kanon_is_function(Oid function, const char *name);

/* Return the OID of a table or index in the schema kanon; raise an error if it does not exist. */
extern Oid kanon_relation(const char *name);

/* Return the owner of the extension's tables. */
extern Oid kanon_owner(void);

/* Return the OID of the type kanon.generalized. */
extern Oid kanon_generalized_type(void);

/*
 * Return the trigger that a function was called for.  Raise an error unless it is
 * a trigger of that level (row or statement) on the named table of the schema
 * kanon, or on any of its tables if the name is NULL: every role may create
 * triggers that call the function on tables of its own.
 */
extern TriggerData *kanon_trigger(FunctionCallInfo fcinfo, const char *table, bool for_each_row);

/* Run a command on the extension's tables with the rights of their owner. */
extern void kanon_execute(const char *command, int nargs, Oid *types, Datum *values, const char *nulls);

/* Run a query of the extension's tables with the rights of their owner, and append its rows to a tuplestore. */
extern void kanon_select(const char *query, Tuplestorestate *rows);

#endif
