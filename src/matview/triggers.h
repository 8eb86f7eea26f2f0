/*
 * triggers.h
 *		The triggers of a materialized view on the tables that it follows, and the notes of these tables.
 */
#ifndef KANON_TRIGGERS_H
#define KANON_TRIGGERS_H

#include "nodes/pg_list.h"

/*
 * Note that a view follows some tables and no others, and give them the view's triggers, with
 * the rights of the current role; by_rows: for each row instead of each statement.  Return
 * true if a table or a trigger was not as it should have been: changes may have been missed.
 */
extern bool triggers_move(int32 id, List *tables, bool by_rows);

/* Return true if none of a view's triggers on a table is disabled or gone. */
extern bool triggers_are_there(int32 id, Oid table, bool by_rows);
/* Return true if a trigger has the name of a row trigger of some view. */
extern bool triggers_is_row_name(const char *name);

#endif
