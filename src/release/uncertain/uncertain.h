/*
 * uncertain.h
 *		The uncertain model of k-anonymity.
 *
 * Aggarwal, "On Unifying Privacy and Uncertain Data Models" (ICDE 2008); comments in
 * this component cite its formulas by their numbers.  Each row x is published
 * as z = x + noise together with the spread of the noise.  Its expected
 * anonymity is the expected number of rows that fit z at least as well as x
 * does, x and its duplicates included; the spread is chosen so that this is k.
 *
 *	uncertain_input.c		reading sources and releases
 *	uncertain_gaussian.c	the two kinds of noise
 *	uncertain_uniform.c
 *	uncertain_crowd.c		the expected anonymity of a row, and the spread for a given one
 *	uncertain_rings.c		the spread by a census of distances
 *	uncertain_task.c		the same for all rows, on several cores
 *	uncertain_release.c		kanon.uncertain
 *	uncertain_audit.c		kanon.fit, kanon.expected_anonymity, kanon.link_attack
 *	uncertain_estimate.c	kanon.uncertain_count, kanon.uncertain_classify
 */
#ifndef KANON_RELEASE_UNCERTAIN_H
#define KANON_RELEASE_UNCERTAIN_H

#include "utils/array.h"

#include "release/uncertain/uncertain_model.h"

/* Rows of a source, by identifier in the order of bytes. */
typedef struct Individuals
{
	int nrows;
	int ncolumns;
	const char **ids;
	char **names;
	double **columns; /* columns[column][row], in the order asked for */
	double *k;		  /* per row, NaN where it is NULL; NULL if no column of k was named */
} Individuals;

extern Individuals *individuals_read(const char *source, const char *id, char **names, int count, const char *k_column);
/* Return the row with an identifier, or -1. */
extern int individuals_find(const Individuals *individuals, const char *id);
/* Return the standard deviations of the columns, 0 for a constant column. */
extern double *individuals_deviations(const Individuals *individuals);
/* Return 1 / standard deviation of each column, 0 for a constant column. */
extern double *individuals_factors(const Individuals *individuals);

/* A row of an uncertain release; valid until the next one is read. */
typedef struct UncertainRow
{
	int64 number;	  /* from 1 */
	const char *text; /* of the column asked for */
	int ncolumns;	  /* the same in all rows */
	double *z;
	double *spread;
} UncertainRow;

typedef struct UncertainReader UncertainReader;

/*
 * Open a release.  with is a column to read as text besides z and spread, or NULL;
 * ncolumns is the number of values that z and spread must have, or 0 for as many as in
 * the first row.  Between open and close an SPI connection is open, but the caller's
 * memory context stays the current one.
 */
extern UncertainReader *uncertain_open(const char *release, const char *with, int ncolumns);
extern UncertainRow *uncertain_next(UncertainReader *reader);
extern void uncertain_close(UncertainReader *reader);

/* Set factors to 1 / spread, or NO_SPREAD_FACTOR. */
extern void spread_factors(const double *spread, int ncolumns, double *factors);

/* Arguments of SQL functions. */
/* Raise an error unless k is from 1 to the number of rows; id is the row that asks for this k, or NULL for all rows. */
extern void uncertain_check_k(double k, int nrows, const char *id);
/*
 * Return the numbers of an array; raise an error for one that does not have *expected
 * values.  If *expected is 0, set it to their number.  row is the row of a release that
 * an error names, or 0.
 */
extern double *number_array(ArrayType *array, const char *name, int64 row, int *expected);
/* Raise an error unless z and spread are finite, and spread is not negative; row as above. */
extern void uncertain_check(const double *z, const double *spread, int ncolumns, int64 row);
extern Datum make_number_array(const double *values, int count);

/* The work on all rows. */
/* Return the spreads that give each row its k, row by row and column by column; NaN where none does. */
extern double *task_find_spreads(const Individuals *individuals, const NoiseModel *model, const double *k, bool local);
/* Return the expected anonymity of rows[0 .. count) with the given spreads. */
extern double *task_measure(const Individuals *individuals, const NoiseModel *model, const int32 *rows,
							const double *spreads, int count);

#endif
