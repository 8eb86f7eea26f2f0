/*
 * grouping.h
 *		Grouping rows for a release: the arguments that such releases share, the source
 *		as points, and the boxes of groups.
 */
#ifndef KANON_RELEASE_GROUPING_H
#define KANON_RELEASE_GROUPING_H

#include "funcapi.h"
#include "utils/array.h"

#include "cluster/groups.h"
#include "cluster/points.h"
#include "release/common/input.h"

/* The arguments of an SQL function that groups rows. */
typedef struct GroupingArgs
{
	const char *source;		   /* a relation's name or a query */
	const char *public_source; /* NULL if there is none */
	const char *id;			   /* the identifier's column */
	Jsonb *quasi_ids;
	int k;
	const char *sensitive; /* the sensitive column; NULL if there is none */
	int l;				   /* different sensitive values that a group needs; 0 if not given */
	bool ordered;		   /* bring the rows into the order of identifiers */
} GroupingArgs;

/* A source, and its rows as points, which may be in another order. */
typedef struct Grouping
{
	ReleaseSource *source;
	Points *points;
	int32 *row_of;			  /* per point: its row in the source */
	ReleaseColumn *sensitive; /* a column of the source; NULL if there is none */
} Grouping;

/* arguments.c */

/* Read id, quasi_ids and k. */
extern void argument_grouping(FunctionCallInfo fcinfo, int first, GroupingArgs *args);
/* Read sensitive and l, which may be NULL. */
extern void argument_diversity(FunctionCallInfo fcinfo, int first, GroupingArgs *args);

/* source_points.c */

/* Read the source, and the rows of the public one below it. */
extern Grouping *grouping_read(const GroupingArgs *args);
/* Do the same in steps, for callers that add columns to the source before it is read: check the columns ... */
extern void grouping_check_columns(const GroupingArgs *args, const ReleaseSource *source);
/* ... and make points of a source that has been read. */
extern Grouping *grouping_of(ReleaseSource *source, bool ordered);

/* rows.c */

/* Take a box apart, and return the number of its values. */
extern int box_values(ArrayType *box, Datum **values, bool **nulls);
/* Return the box around some rows as an array of generalized values. */
extern Datum grouping_box(const Grouping *grouping, const int32 *rows, int count, Oid type);
/* Return the identifiers of some rows. */
extern const char **grouping_ids(const Grouping *grouping, const int32 *rows, int count);
/* Return (id, grp, box) for every row, group by group. */
extern void grouping_return(FunctionCallInfo fcinfo, const Grouping *grouping, const Groups *groups);

#endif
