/*
 * anatomy.h
 *		Groups of rows whose sensitive values differ: anatomy and n-dependency.
 *
 * Quasi-identifiers stay as they are.  A row is protected because it shares its group with
 * at least l - 1 others, and nothing tells which of the group's sensitive values belongs
 * to which row.
 */
#ifndef KANON_RELEASE_ANATOMY_H
#define KANON_RELEASE_ANATOMY_H

#include "release/common/input.h"
#include "release/common/noise.h"

/* Rows with a sensitive value each, which is a word. */
typedef struct Microdata
{
	ReleaseSource *source; /* its memory context owns everything here */
	int nrows;
	const char **ids;	/* per row */
	int32 *order;		/* rows in an order that depends on the identifiers alone */
	int32 *word;		/* per row */
	const char **words; /* in the order of their bytes */
	int64 *counts;		/* rows per word */
	int nwords;
	int32 *equal; /* per word: a number that all equal words have */
	int nequal;	  /* different words */
} Microdata;

/* microdata.c */

/* Read the rows of a query. */
extern Microdata *microdata_read(const char *query, const char *id, const char *sensitive);
/* Return the rows of a source in an order that depends on their identifiers alone. */
extern int32 *microdata_order(const ReleaseSource *source);
/* Raise the error for a missing sensitive value; id, of its row, may be NULL. */
extern pg_noreturn void microdata_null(const char *sensitive, const char *id);

/*
 * buckets.c: put each row into a group, numbered from 1, of at least l rows with
 * different keys.  No key may have more than one row in l.  An attacker who does not
 * know the random numbers learns nothing from the groups beyond their keys.
 */
extern int32 *bucket_groups(const Microdata *data, const int32 *key_of_word, int nkeys, int l, NoiseSource *noise);

/* anatomy.c: return an argument that must be neither NULL nor below the least value */
extern int anatomy_int_arg(FunctionCallInfo fcinfo, int argument, const char *name, int least);

#endif
