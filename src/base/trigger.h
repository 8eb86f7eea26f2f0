/*
 * trigger.h
 *		Trigger functions of kanon's own tables.
 */
#ifndef KANON_TRIGGER_H
#define KANON_TRIGGER_H

#include "base/kanon.h"

#include "commands/trigger.h"
#include "fmgr.h"

/*
 * The trigger that a function was called for; an error unless it is one of that
 * level on this table of kanon's (null: any of them).  Anybody may put triggers on
 * tables of his own.
 */
extern TriggerData *kanon_trigger(FunctionCallInfo fcinfo, const char *table, bool for_each_row);

#endif
