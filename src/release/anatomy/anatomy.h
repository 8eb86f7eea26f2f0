/*
 * anatomy.h
 *		Groups of rows whose sensitive values differ: anatomy and n-dependency.
 *
 * Quasi-identifiers stay as they are.  What protects a row is that it shares
 * its group with at least l - 1 others and that nothing says which of the
 * group's sensitive values is whose.
 */
#ifndef KANON_RELEASE_ANATOMY_H
#define KANON_RELEASE_ANATOMY_H

#include "release/common/input.h"
#include "release/common/noise.h"

/* Rows with a sensitive value each.  Words are in the order of their bytes. */
typedef struct Microdata
{
	ReleaseSource *source; /* owns everything */
	int nrows;
	const char **ids;
	int32 *order; /* rows in an order that depends on the identifiers alone */
	int32 *word;  /* per row */
	const char **words;
	int64 *counts; /* rows per word */
	int nwords;
} Microdata;

/* microdata.c */
extern Microdata *microdata_read(const char *query, const char *id, const char *sensitive);
extern int32 *microdata_order(const ReleaseSource *source);
/* The error for a missing sensitive value; id may be null. */
extern void microdata_null(const char *sensitive, const char *id) pg_attribute_noreturn();

/*
 * buckets.c: puts each row into a group, numbered from 1, of at least l rows with
 * different keys.  No key may have more than one row in l.  Who does not know
 * the random numbers learns nothing from the groups beyond their keys.
 */
extern int32 *bucket_groups(const Microdata *data, const int32 *key_of_word, int nkeys, int l, NoiseSource *noise);

/* anatomy.c: an argument that must not be null nor less than that */
extern int anatomy_int_arg(FunctionCallInfo fcinfo, int argument, const char *name, int least);

#endif
