/*
 * outlier.h
 *		The rows of a source as points, among which outliers are found and hidden.
 *
 * Wang and Liu, "Hiding Distinguished Ones into Crowd" (EDBT 2009); numbers of definitions,
 * theorems, sections and lines in this folder refer to that paper.
 *
 *	outlier_input.c		the source as points of a standardized space
 *	outlier_tree.c		an index over the points
 *	outlier_count.c		are enough rows within d?
 *	outlier_find.c		kanon.outliers
 *	outlier_grouping.c	a grouping given as a query, and its information loss
 *	outlier_check.c		Theorem 5.1 and the attack of section 4, to the letter
 *	plain_known.c		answers about points that need no count
 *	plain_check.c		Theorem 5.1 for the algorithms, by sets of nodes
 *	plain_search.c		the cheapest rows to take into a group
 *	plain_expand.c		groups grown from one row
 *	plain_residue.c		rows left over
 *	plain_release.c		kanon.plain_k
 */
#ifndef KANON_RELEASE_OUTLIER_H
#define KANON_RELEASE_OUTLIER_H

#include "cluster/points.h"
#include "release/common/grouping.h"
#include "release/common/input.h"
#include "release/common/kdtree.h"

struct Known;

/* The most quasi-identifiers: a box has two corners for each generalized column, 2 to this power in all. */
#define MOST_QUASI_IDS 16

/*
 * The rows, in the order of their identifiers, each a point: its quasi-identifiers and, in
 * the last column, its sensitive value, all between 0 and 1 (Definition 3.1).  A raw value
 * is the column's own number: a number, a day, a place among the leaves.
 */
typedef struct Space
{
	Grouping *grouping;
	const Points *points; /* the grouping's: raw quasi-identifiers */
	int nrows;
	int nquasi;
	int ncolumns;		 /* nquasi + 1; nquasi after space_read_quasi() */
	double *least;		 /* by column: the smallest raw value */
	double *width;		 /* by column: the largest raw value less the smallest */
	double *unit;		 /* by column: 1 if all raw values are whole, else 0 */
	double *loss_factor; /* by column: 1 over the width that losses are shares of */

	/* Not set by space_read_quasi(). */
	double **columns; /* standardized values, [column][row] */
	double *centre;	  /* by column: the mean of the standardized values */
	KdTree tree;	  /* over the rows, if there are any */
	int32 *waiting;	  /* scratch of a count, by node: the next node that waits to be opened */

	/* The distinct sensitive values. */
	int nvalues;
	double *values;	 /* standardized, in ascending order */
	double usual;	 /* the one next to the mean */
	int32 *value_of; /* by row: the place of its value in values */
	const ReleaseColumn *sensitive_text;

	double d;
	double square; /* the largest sum of squares that is within d */
	int enough;	   /* a point with so many rows within d is no (p,d)-outlier */

	struct Known *known; /* set by plain_k; else NULL */
} Space;

/*
 * Read the source: source, id, quasi_ids and sensitive are the first arguments of the SQL
 * function, p and d the arguments with these numbers.
 */
extern Space *space_read(FunctionCallInfo fcinfo, int p, int d);
/* Read the source for its quasi-identifiers only: there are no sensitive values and no index. */
extern Space *space_read_quasi(FunctionCallInfo fcinfo);
/* Raise an error if groups cannot have k distinct sensitive values. */
extern void space_check_k(const Space *space, int k);
/* Return a raw value of a column standardized. */
extern double space_standard(const Space *space, int column, double raw);
/* Set the point of a row. */
extern void space_point(const Space *space, int32 row, double *point);
/* Return the identifier of a row. */
extern const char *space_id(const Space *space, int32 row);
/* Return the sensitive value of a row as text. */
extern const char *space_sensitive(const Space *space, int32 row);

/*
 * Set the ends, raw, of the interval that is published for a column where the rows of a
 * group are between lo and hi (Definition 3.4).
 */
extern void space_interval(const Space *space, int column, double lo, double hi, double *lower, double *upper);
/* Return the loss of a value that is published as an interval (Definition 3.7). */
extern double space_loss(const Space *space, int column, double lower, double upper);
/* Set the ends, raw, of the box that is published for some rows. */
extern void space_box(const Space *space, const int32 *rows, int count, double *lower, double *upper);

#endif
