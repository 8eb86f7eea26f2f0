/*
 * demand.h
 *		The k that the rows of a materialized view ask for, by the choices of their owners.
 */
#ifndef KANON_DEMAND_H
#define KANON_DEMAND_H

#include "executor/tuptable.h"

#include "aview/aview.h"
#include "matview/keeper.h"

/* Return the table of choices that have a k in them; InvalidOid: none. */
extern Oid demand_table(const AView *aview);
/* Return true if triggers can tell of every change of the choices, or there are none. */
extern bool demand_has_triggers(const AView *aview);

/* Fill in the keeper's data on choices, in the current memory context, which must be the keeper's. */
extern void demand_prepare(Keeper *keeper);
/* Lock the tables of the keeper's plans, as every transaction must that runs them. */
extern void demand_lock(Keeper *keeper);

/* Return the k of a row, given the largest k of its owner's choices, or none; -1: the row is not shown. */
extern int64 demand_of_choices(const Keeper *keeper, Datum largest, bool none);
/* Return the k of a row, given its values; the keeper must have choices. */
extern int64 demand_of_row(Keeper *keeper, const Datum *values, const bool *nulls);

typedef void (*RowVisitor)(void *arg, const Datum *values, const bool *nulls);
/* Call a function with the values of each stored row to which choices belong, given by a row of keeper->owner. */
extern void demand_visit_owned(Keeper *keeper, TupleTableSlot *owner, RowVisitor visit, void *arg);

#endif
