/*
 * input.h
 *		What a release is made from: rows with an identifier and columns to
 *		generalize, read into memory as numbers.
 *
 * Every column becomes a line of numbers, so that an algorithm sees points and
 * never types.  A number is itself, a date its day; anything else is its place
 * in the leaf order of its hierarchy.  release_box() turns an interval on such
 * a line back into a generalized value.
 */
#ifndef KANON_RELEASE_SOURCE_H
#define KANON_RELEASE_SOURCE_H

#include "hierarchy/dgh.h"

#include "utils/jsonb.h"

typedef enum ColumnKind
{
	COLUMN_NUMBER, /* numbers as they are */
	COLUMN_DATE,   /* days since 2000-01-01 */
	COLUMN_WORD,   /* places of words: leaves of a tree, or distinct values in order */
	COLUMN_TEXT	   /* not for computing with: kept as text only */
} ColumnKind;

typedef struct ReleaseColumn
{
	char *name;
	char *dgh_name; /* as asked for; null: none */
	bool as_text;	/* asked for as COLUMN_TEXT */
	bool as_words;	/* asked for as COLUMN_WORD, numbers, too: set before reading */

	/* Filled by release_read(). */
	ColumnKind kind;
	Oid type;
	Dgh *dgh;		 /* pinned to the source's context; null: none */
	double *values;	 /* per row; NaN where it is null */
	bool rounded;	 /* a number was too long for a double: values are near it */
	const char **texts; /* per row, null where it is null; COLUMN_TEXT only */
	const char **words; /* COLUMN_WORD: a word per place */
	int nwords;
} ReleaseColumn;

typedef struct ReleaseSource
{
	MemoryContext context; /* owns everything */
	int nrows;
	int nown;		  /* rows of the source itself; a further source's follow */
	const char **ids; /* distinct, never null */
	int ncolumns;
	int nquasi; /* the first columns, those of quasi_ids */
	ReleaseColumn *columns;
} ReleaseSource;

/*
 * The columns named in quasi_ids ({"column": "hierarchy" or null}), in the order
 * in which the source has them, then any further columns, as text or not.
 */
extern ReleaseSource *release_open(Jsonb *quasi_ids);
extern ReleaseColumn *release_add_column(ReleaseSource *source, const char *name,
										 const char *dgh_name, bool as_text);
extern void release_read(ReleaseSource *source, const char *query, const char *id);
/* Finds the columns, without reading rows. */
extern void release_describe(ReleaseSource *source, const char *query);

/*
 * The same with the rows of a further source, a public register, below.  It has
 * the identifier and the quasi-identifiers; a row whose identifier the source
 * has, too, is the same person and is passed over.  Other columns are null.
 */
extern void release_read_joined(ReleaseSource *source, const char *query, const char *further, const char *id);

/* A source text as a FROM item: a relation's quoted name, or a query in parentheses. */
extern char *release_from_item(const char *source);

/* The smallest generalized value that covers [lo, hi] on a column's line. */
extern Datum release_box(const ReleaseColumn *column, double lo, double hi);

/* number.c: a value as a double, its type below all domains */
extern double release_number(ReleaseColumn *column, Datum value, Oid type);
extern bool release_is_infinite(const ReleaseColumn *column, double value);

#endif
