/*
 * outlier.h
 *		Outliers among the rows of a source, and groups in which they do not show.
 *
 * Wang and Liu, "Hiding Distinguished Ones into Crowd" (EDBT 2009); numbers of
 * definitions and theorems in this component are those of that paper.
 *
 *	outlier_input.c		the source as points of a standardized space
 *	outlier_tree.c		an index over them
 *	outlier_count.c		are enough rows within d?
 *	outlier_find.c		kanon.outliers
 *	outlier_grouping.c	a grouping given as a query, and what it loses
 *	outlier_check.c		Theorem 5.1 and the attack of section 4, to the letter
 *	plain_known.c		what is known about points without counting
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

/* A box has two corners for each generalized column: 2 to this power at the most. */
#define MOST_QUASI_IDS 16

/*
 * The rows, in the order of their identifiers, each a point: its
 * quasi-identifiers and, in the last column, its sensitive value, all between
 * 0 and 1 (Definition 3.1).  Raw is what a column has on its line: a number, a
 * day, a place among the leaves.
 */
typedef struct Known Known;

typedef struct Space
{
	Grouping *grouping;
	const Points *points; /* the grouping's: raw quasi-identifiers */
	int nrows;
	int nquasi;
	int ncolumns;		 /* nquasi + 1 */
	double *least;		 /* by column, raw */
	double *width;		 /* by column: the largest less the least */
	double *unit;		 /* by column: 1 where all are whole, else 0 */
	double *loss_factor; /* by quasi-identifier: 1 over what a loss is a share of */
	double **columns;	 /* standardized, [column][row] */
	double *centre;		 /* the mean of each */
	KdTree tree;		 /* over them */
	int32 *waiting;		 /* by node: of a count, the next that waits to be opened */

	/* Distinct sensitive values in their order, and where each row's is among them. */
	int nvalues;
	double *values; /* standardized */
	double usual;	/* the one next to the mean */
	int32 *value_of;
	const ReleaseColumn *sensitive_text;

	double d;
	double square; /* the largest sum of squares that is within d */
	int enough;	   /* with so many rows within d a point is no (p,d)-outlier */

	Known *known; /* of the algorithms; null elsewhere */
} Space;

/* source, id, quasi_ids and sensitive from the first arguments; p and d from where they are. */
extern Space *space_read(FunctionCallInfo fcinfo, int p, int d);
/* Only source, id and quasi_ids: no sensitive values, no index. */
extern Space *space_read_quasi(FunctionCallInfo fcinfo);
extern void space_check_k(const Space *space, int k);
extern double space_standard(const Space *space, int column, double raw);
extern void space_point(const Space *space, int32 row, double *point);
extern const char *space_id(const Space *space, int32 row);
extern const char *space_sensitive(const Space *space, int32 row);

/* The interval, raw, that is published where a group's rows are between lo and hi (Definition 3.4). */
extern void space_interval(const Space *space, int column, double lo, double hi, double *lower, double *upper);
/* What a value loses when it is published so (Definition 3.7). */
extern double space_loss(const Space *space, int column, double lower, double upper);

/* outlier_tree.c */
extern KdTree space_tree(double *const *columns, int nrows, int ncolumns);

/*
 * outlier_count.c
 *
 * A set of points to be near to.  In each column there is a lower and an upper
 * end, and a way in which a row's distance to them counts.
 */
typedef enum Gap
{
	GAP_FARTHEST, /* to the farther end: near to every point between the ends */
	GAP_NEAREST,  /* to the nearer end: near to some corner */
	GAP_BETWEEN,  /* to the interval: near to some point between the ends */
	GAP_OUTSIDE	  /* to what is not between them: near to some corner of a wider box */
} Gap;

typedef struct Crowd
{
	Gap quasi;
	Gap sensitive;
	const double *lower; /* ncolumns of them */
	const double *upper;
} Crowd;

/* Are enough rows within d? */
extern bool crowd_is_enough(const Space *space, const Crowd *crowd);
extern bool point_is_outlier(const Space *space, const double *point);
/* Sensitive-attribute outliers (Definition 3.2), by distinct sensitive value. */
extern bool *space_global_values(const Space *space);

/* A grouping of the rows of a source. */
typedef struct GivenGroups
{
	int ngroups;
	int32 *labels;	 /* grp of each, ascending */
	int32 *group_of; /* by row; -1: none */
	int32 *starts;	 /* of each group in rows, and the end of the last */
	int32 *rows;
} GivenGroups;

extern GivenGroups *given_groups_read(const Space *space, const char *query);
/* Where the published box of some rows begins and ends, raw. */
extern void space_box(const Space *space, const int32 *rows, int count, double *lower, double *upper);

#endif
