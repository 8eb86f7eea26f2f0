/*
 * arguments.h
 *		Arguments of the SQL functions that make and judge releases.  Each function
 *		reads the argument at a place, and raises an error that names it.
 */
#ifndef KANON_RELEASE_ARGUMENTS_H
#define KANON_RELEASE_ARGUMENTS_H

#include "fmgr.h"

/* Return an argument that must not be NULL. */
extern char *argument_text(FunctionCallInfo fcinfo, int which, const char *name);
extern int argument_int(FunctionCallInfo fcinfo, int which, const char *name);
/* Return true if an argument is the word yes, false if it is the word no. */
extern bool argument_choice(FunctionCallInfo fcinfo, int which, const char *name, const char *no, const char *yes);
/* Return the names of columns, at least one and all different, and set their number. */
extern char **argument_names(FunctionCallInfo fcinfo, int which, const char *name, int *count);

/* Return a seed of random numbers; NULL is 0, which stands for no seed. */
extern int32 argument_seed(FunctionCallInfo fcinfo, int which);

#endif
