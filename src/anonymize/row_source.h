/*
 * row_source.h
 *		Published rows of an A-view, one after another, from one of several sources.
 *
 * The custom-scan node and the function kanon.scan read through this interface.
 * Its implementations are anonymize_first.c and select_first.c, the two plans of
 * the paper, and matview/stored_rows.c, which reads stored groups.  All of them
 * give the same rows for the same request, but for conditions: they are a means of
 * reading less, and the caller checks published rows against its own conditions.
 *
 * A source is started once, rewound (before its first row, too) as often as the
 * parameters of the conditions change, and ended once.  It allocates in the memory
 * context in which it was started.  Values that it fills in are valid until the
 * next call.
 */
#ifndef KANON_ROW_SOURCE_H
#define KANON_ROW_SOURCE_H

#include "nodes/bitmapset.h"
#include "nodes/params.h"
#include "nodes/parsenodes.h"
#include "nodes/pg_list.h"
#include "utils/snapshot.h"

#include "aview/aview.h"

/*
 * Return true if a member of a group satisfies the conditions asked of a witness.  The
 * member's values come from the source, as far as its owner lets them be seen.  The
 * arrays have a place per column of the view; only quasi-identifiers are filled in,
 * others are NULL.
 */
typedef bool (*RowWitness)(void *arg, const Datum *values, const bool *nulls);

/* A request for rows.  It outlives the source. */
typedef struct RowRequest
{
	AView *aview;
	const Bitmapset *wanted; /* columns of the view to be filled in, numbered from 0 */
	List *conditions;		 /* on the source, or on stored rows; values that are not constant are parameters */
	List *asked;			 /* columns with which AVLIKE compares the last parameters; stored groups only */
	Snapshot snapshot;
	RowWitness witness; /* only groups with a witness are given; NULL: all groups */
	void *witness_arg;
	bool probe;		 /* the conditions select witnesses, and their whole groups are wanted; select first only */
	bool raw;		 /* the columns as they are are wanted, too; stored groups only */
	bool keep_order; /* the rows may come in the source's order: the caller may see it */
} RowRequest;

typedef struct RowSourceMethods RowSourceMethods;

/* The first member of every source's own struct. */
typedef struct RowSource
{
	const RowSourceMethods *methods;
} RowSource;

/* Shows a query that a source runs, under a label. */
typedef void (*RowSourceShow)(void *arg, const char *label, Query *query);

struct RowSourceMethods
{
	const char *name; /* as EXPLAIN calls the plan */

	RowSource *(*start)(const RowRequest *request);
	/* Start again with these values of the parameters, which stay valid until the next call. */
	void (*rewind)(RowSource *source, ParamListInfo params);
	/* Fill in the wanted columns of the next published row; return false after the last. */
	bool (*next)(RowSource *source, Datum *values, bool *nulls);
	/* End the queries that are being run; memory goes with its context. */
	void (*end)(RowSource *source);
	/* Show the queries that would be run; for readers who may read the source. */
	void (*explain)(const RowRequest *request, ParamListInfo params, RowSourceShow show, void *arg);
};

static inline void
row_source_rewind(RowSource *source, ParamListInfo params)
{
	source->methods->rewind(source, params);
}

static inline bool
row_source_next(RowSource *source, Datum *values, bool *nulls)
{
	return source->methods->next(source, values, nulls);
}

static inline void
row_source_end(RowSource *source)
{
	source->methods->end(source);
}

#endif
