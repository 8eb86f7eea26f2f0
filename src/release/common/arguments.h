/*
 * arguments.h
 *		Arguments of the SQL functions that make and judge releases.
 */
#ifndef KANON_RELEASE_ARGUMENTS_H
#define KANON_RELEASE_ARGUMENTS_H

#include "fmgr.h"

/* Arguments that must not be null. */
extern char *argument_text(FunctionCallInfo fcinfo, int which, const char *name);
extern int argument_int(FunctionCallInfo fcinfo, int which, const char *name);
extern bool argument_choice(FunctionCallInfo fcinfo, int which, const char *name, const char *no, const char *yes);
/* Names of columns, at least one and all different. */
extern char **argument_names(FunctionCallInfo fcinfo, int which, const char *name, int *count);

/* Null is 0, which stands for no seed. */
extern int32 argument_seed(FunctionCallInfo fcinfo, int which);

#endif
