/*
 * input.h
 *		The source of a release: rows with an identifier and columns to generalize, read
 *		into memory as numbers.
 *
 * Every column becomes a line of numbers, so that an algorithm sees points and never
 * types.  A number stands for itself, a date for its day; any other value is a word, and
 * becomes its place in the leaf order of its hierarchy.  release_box() turns an interval
 * on such a line back into a generalized value.
 */
#ifndef KANON_RELEASE_SOURCE_H
#define KANON_RELEASE_SOURCE_H

#include "hierarchy/dgh.h"

#include "utils/jsonb.h"

/* How the values of a column are kept. */
typedef enum ColumnKind
{
	COLUMN_NUMBER, /* numbers as they are */
	COLUMN_DATE,   /* days since 2000-01-01 */
	COLUMN_WORD,   /* places of words: leaves of a tree, or distinct values in order */
	COLUMN_TEXT,   /* texts, not on a line */
	COLUMN_VALUE   /* numbers that are equal where the type calls the values equal; not on a line */
} ColumnKind;

/* A column of a source. */
typedef struct ReleaseColumn
{
	char *name;
	char *dgh_name; /* its hierarchy as given; NULL if there is none */
	bool as_text;	/* requested as COLUMN_TEXT */
	bool as_words;	/* requested as COLUMN_WORD, even if it has numbers; set before reading */
	bool as_values; /* requested as COLUMN_VALUE; set before reading */

	/* Filled by release_read(). */
	ColumnKind kind;
	Oid type;
	Oid collation;
	Dgh *dgh;			/* pinned to the source's context; NULL if there is none */
	double *values;		/* per row, NaN for NULL; not for COLUMN_TEXT */
	bool rounded;		/* a number had more digits than a double holds, and was rounded */
	const char **texts; /* per row, NULL for NULL; only for COLUMN_TEXT */
	const char **words; /* per place on the line; only for COLUMN_WORD */
	int nwords;			/* places; of COLUMN_VALUE the different values */
	bool *covering;		/* of COLUMN_VALUE, per number: the value covers another one of the column; NULL: none does */
} ReleaseColumn;

/* The rows of a source, and of a further source below them. */
typedef struct ReleaseSource
{
	MemoryContext context; /* owns everything here */
	int nrows;
	int nown;		  /* rows of the source itself; the rows of a further source follow */
	const char **ids; /* per row; different, never NULL */
	int ncolumns;
	int nquasi; /* the first columns are the quasi-identifiers */
	ReleaseColumn *columns;
} ReleaseSource;

/* Create a source with the columns named in quasi_ids, which is {"column": "hierarchy" or null} or NULL. */
extern ReleaseSource *release_open(Jsonb *quasi_ids);
/* Add a further column behind them. */
extern ReleaseColumn *release_add_column(ReleaseSource *source, const char *name,
										 const char *dgh_name, bool as_text);
/* Read the rows of a query, and bring the quasi-identifiers into the order of its columns. */
extern void release_read(ReleaseSource *source, const char *query, const char *id);
/* Find the columns of a query, without reading rows. */
extern void release_describe(ReleaseSource *source, const char *query);

/*
 * Read the rows of a query and, below them, of a further one, a public register.  The
 * register has the identifier and the quasi-identifiers; its rows are NULL in other
 * columns.  A row with an identifier that is in the source as well is the same person, and
 * passed over.
 */
extern void release_read_joined(ReleaseSource *source, const char *query, const char *further, const char *id);

/* Return a source's text as a FROM item: a relation's quoted name, or a query in parentheses. */
extern char *release_from_item(const char *source);

/* box.c: return the smallest generalized value that covers [lo, hi] on a column's line */
extern Datum release_box(const ReleaseColumn *column, double lo, double hi);

/* number.c */

/* Return a value as a number on its column's line; type is the base type of its domain, if it has one. */
extern double release_number(ReleaseColumn *column, Datum value, Oid type);
/* Return true if a number on a column's line stands for an infinite value or NaN. */
extern bool release_is_infinite(const ReleaseColumn *column, double value);

#endif
