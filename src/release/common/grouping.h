/*
 * grouping.h
 *		What the releases that group rows have in common: their arguments, the
 *		source as points, and the boxes of groups.
 */
#ifndef KANON_RELEASE_GROUPING_H
#define KANON_RELEASE_GROUPING_H

#include "funcapi.h"
#include "utils/array.h"

#include "cluster/groups.h"
#include "cluster/points.h"
#include "release/common/input.h"

typedef struct GroupingArgs
{
	const char *source;
	const char *public_source; /* null: none */
	const char *id;
	Jsonb *quasi_ids;
	int k;
	const char *sensitive; /* null: none */
	int l;				   /* 0: not asked for */
	bool ordered;		   /* bring the rows into the order of identifiers */
} GroupingArgs;

typedef struct Grouping
{
	ReleaseSource *source;
	Points *points;
	int32 *row_of;			  /* of each point: its row in the source */
	ReleaseColumn *sensitive; /* null: none */
} Grouping;

/* arguments.c: id, quasi_ids and k; then sensitive and l, which may be null */
extern void argument_grouping(FunctionCallInfo fcinfo, int first, GroupingArgs *args);
extern void argument_diversity(FunctionCallInfo fcinfo, int first, GroupingArgs *args);

/* source_points.c: reads the source, and the public one below it */
extern Grouping *grouping_read(const GroupingArgs *args);
/* The same in steps, for who adds columns of its own to the source before it is read. */
extern void grouping_check_columns(const GroupingArgs *args, const ReleaseSource *source);
extern Grouping *grouping_of(ReleaseSource *source, bool ordered);
/* rows.c */
extern int box_values(ArrayType *box, Datum **values, bool **nulls);
extern Datum grouping_box(const Grouping *grouping, const int32 *rows, int count, Oid type);
extern const char **grouping_ids(const Grouping *grouping, const int32 *rows, int count);
extern void grouping_return(FunctionCallInfo fcinfo, const Grouping *grouping, const Groups *groups);

#endif
