/*
 * aview.h
 *		The definition of an anonymization view, and questions about it.
 */
#ifndef KANON_AVIEW_H
#define KANON_AVIEW_H

#include "base/settings.h"
#include "hierarchy/dgh.h"
#include "recode/recode.h"

#include "nodes/parsenodes.h"

#define AVIEW_TABLE "aview"
#define AVIEW_COLUMN_TABLE "aview_column"
#define AVIEW_STEP_TABLE "aview_step"

/* What a column says about the people that rows are about, and so how it is published. */
typedef enum ColumnRole
{
	ROLE_OTHER, /* published as it is */
	ROLE_ID,	/* an identifier: published where k is 0 */
	ROLE_QUASI, /* a quasi-identifier: generalized */
	ROLE_SENSITIVE
} ColumnRole;

/* A column of the source; the columns of the view come first, in the same order. */
typedef struct AViewColumn
{
	char *name;
	ColumnRole role;
	Oid source_type;
	int32 source_typmod;
	Oid source_collation;
	char *dgh_name;	  /* the hierarchy; NULL: none */
	Dgh *dgh;		  /* the same, pinned to the definition's context */
	bool generalized; /* true if it is published as kanon.generalized */

	/* The choices of a row's owner about the column: numbers of columns of the source, or -1. */
	int disclose; /* boolean: whether it may be shown */
	int retain;	  /* boolean: whether it may still be shown */
	int level;	  /* of a sensitive column: how many levels up it is to be generalized */
} AViewColumn;

/* How the cells are found that rows are published in. */
typedef enum Algorithm
{
	ALGORITHM_DATAFLY, /* a chain of steps */
	ALGORITHM_MONDRIAN /* a tree of boxes */
} Algorithm;

/* When a published row satisfies a condition on quasi-identifiers. */
typedef enum MatchMode
{
	MATCH_COVER,  /* if its generalized values cover the value asked for */
	MATCH_WITNESS /* if, besides, the raw values of a member of its group satisfy it */
} MatchMode;

/*
 * The choices of the people that rows are about: further columns of the source,
 * which joins its rows with the choices for a purpose and a recipient.  Columns are
 * numbers of columns of the source.
 */
typedef struct AViewProfile
{
	const char *purpose;
	const char *recipient;
	Query *stated; /* the source as it is stored, with calls in place of the purpose and the recipient */
	int found;	   /* boolean: whether there are choices for the row */
	int k;		   /* -1: they say nothing about it */
	int shown;	   /* of stored rows, boolean: whether enough of the group are shown for these choices; -1: always */
	int demand;	   /* of a materialized view: the largest k of all purposes and recipients; -1: none */
} AViewProfile;

/* A definition.  It is shared by all of its users in a backend and must not be changed. */
typedef struct AView
{
	MemoryContext context; /* owns all of the definition */
	int32 id;			   /* its number in kanon.aview */
	Oid view;
	Oid owner;			   /* of the view: the role that the source is read as */
	Query *source;		   /* to be copied before it is planned */
	Query *rows;		   /* the same, or with a profile the subquery in it that gives the rows: nkeyed columns */
	AViewProfile *profile; /* NULL: none */
	int k;				   /* where the profile says nothing; -1: such rows are not shown */
	int l;				   /* 0: not asked for */
	double t;			   /* 0: not asked for */
	MatchMode match;
	bool preselects_hidden;	  /* conditions on values that some rows hide may go to the source for every analyst */
	PinnedSettings *settings; /* with which the source is planned and run */
	bool keeps_order;		  /* rows come in the source's order, not shuffled */
	bool is_sorted;			  /* ... which is that of an ORDER BY in it */
	Algorithm algorithm;
	int block_size;		  /* rows that are published together; 0: the whole input */
	int ncolumns;		  /* columns of the view */
	int nkeyed;			  /* the same, then columns of the profile's key that are not in the view */
	int nsource;		  /* columns of the source: the same, then columns of choices */
	AViewColumn *columns; /* nsource of them */
	int nquasi;
	int *quasi;		   /* the quasi-identifiers: numbers of columns, ascending */
	int nsteps;		   /* of a chain; it leads every quasi-identifier to its root */
	RecodeStep *steps; /* column: an index into quasi */

	/* Materialized views: see src/matview. */
	bool materialized;
	bool by_triggers; /* true if triggers keep the groups; otherwise only kanon.refresh() does */
	bool stale;		  /* the groups are known to have missed changes */
	char *chain;	  /* the steps that the groups were made with */
	char *policies;	  /* kanon.row_policies() at that time; NULL: no table had row security */
	int raw;		  /* of stored rows: the first of the columns as they are, which the group follows */
} AView;

/* definition_cache.c */
/* Ask for the announcements of changes; called once when the library is loaded. */
extern void aview_cache_init(void);
/*
 * Return the definition with a number, kept alive as long as the current memory
 * context; raise an error if there is none.  It is shared with others and must not be
 * changed.  The view is locked until the end of the transaction.
 */
extern AView *aview_load(int32 id);

/* definition.c */
extern bool aview_exists(int32 id);
/* Return the number of a view's definition, or 0 if it is no A-view. */
extern int32 aview_id_of(Oid view);
/* The same, but raise an error for any other relation, or if there is none of the name. */
extern int32 aview_id_of_view(Oid relation);
extern int32 aview_id_by_name(const char *name);
/* Return the source query inside the condition of an A-view, or NULL if the condition is another one. */
extern Query *aview_source_of_condition(Node *condition);

/* aview.c */
/* Raise an error for a materialized view: its definition cannot be changed under its groups. */
extern void aview_check_not_materialized(const AView *aview);
/* Raise an error for a materialized view: it has published its stored groups, not results of its source. */
extern void aview_check_logical(const AView *aview);
/* Return true if every row is an individual of its own, so that rows are counted instead of identifiers. */
extern bool aview_counts_rows(const AView *aview);
/* Return true if there may be rows that are published in groups. */
extern bool aview_groups(const AView *aview);
extern bool aview_index_is_key(Oid index, const Bitmapset *columns);
/* Return the column of a single plain table that a column of the view, or of its key, is, and set the table; or 0. */
extern AttrNumber aview_base_column(const AView *aview, int column, Oid *table);
extern Oid aview_column_type(const AView *aview, int column);
extern void aview_check_type(const AView *aview, int column, Oid type);
/*
 * Raise an error unless the current user may name the view in a query: USAGE on its schema, SELECT on the view.  For
 * functions that are given the view, or its number, where PostgreSQL does not check a name.
 */
extern void aview_check_select(Oid view);
extern bool relation_is_readable(Oid relation);
extern bool aview_source_readable(const AView *aview);

/* aview_dump.c */
/* Print a definition to stderr, as pprint() prints a node; for calls from a debugger. */
extern void aview_dump(const AView *aview);

#endif
