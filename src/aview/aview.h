/*
 * aview.h
 *		The definition of an anonymization view.
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

typedef enum ColumnRole
{
	ROLE_OTHER, /* published as it is */
	ROLE_ID,
	ROLE_QUASI,
	ROLE_SENSITIVE
} ColumnRole;

/* A column; the source query and the view have the same ones in the same order. */
typedef struct AViewColumn
{
	char *name;
	ColumnRole role;
	Oid source_type;
	int32 source_typmod;
	Oid source_collation;
	char *dgh_name; /* null: none */
	Dgh *dgh;		/* pinned to the definition's context */
	bool generalized; /* published as kanon.generalized */

	/* What the row's owner has chosen for it: columns of the source, or -1. */
	int disclose; /* boolean: may it be shown? */
	int retain;	  /* boolean: may it still be shown? */
	int level;	  /* of a sensitive column: how far up it is to be generalized */
} AViewColumn;

/* Which cells there are. */
typedef enum Algorithm
{
	ALGORITHM_DATAFLY, /* a chain of steps */
	ALGORITHM_MONDRIAN /* a kd-tree */
} Algorithm;

/* How a condition on quasi-identifiers is meant. */
typedef enum MatchMode
{
	MATCH_COVER,
	MATCH_WITNESS
} MatchMode;

/*
 * The choices of the people that rows are about: further columns of the source,
 * which joins its rows with the choices for a purpose and a recipient.
 */
typedef struct AViewProfile
{
	const char *purpose;
	const char *recipient;
	Query *stated; /* the source without them */
	int found; /* boolean column: are there choices for the row? */
	int k;	   /* -1: they say nothing about it */
	int shown; /* of stored rows, boolean column: are there enough of them here for these choices?  -1: always */
	int demand; /* of a materialized view: the largest k of all purposes and recipients; or -1 */
} AViewProfile;

typedef struct AView
{
	MemoryContext context;
	int32 id;
	Oid view;
	Oid owner;
	Query *source; /* with the owner's rights; copy before use */
	Query *rows;   /* the same, or the part of it that has no profile */
	AViewProfile *profile; /* null: none */
	int k;		   /* where the profile says nothing; -1: such rows are not shown */
	int l;	  /* 0: not asked for */
	double t; /* 0: not asked for */
	MatchMode match;
	bool preselects_hidden; /* conditions on values that some rows hide may go to the source for every analyst */
	PinnedSettings *settings; /* with which the source is planned and run */
	bool keeps_order;		/* rows come in the source's order, not shuffled */
	Algorithm algorithm;
	int block_size; /* 0: the whole input */
	int ncolumns;
	int nsource; /* columns of the source: those of the view, then those of the profile */
	AViewColumn *columns; /* nsource of them */
	int nquasi;
	int *quasi; /* columns, in order */
	int nsteps; /* of a chain */
	RecodeStep *steps; /* column: a number among the quasi-identifiers */

	/* Materialized views: see src/matview. */
	bool materialized;
	bool by_triggers; /* else by refresh alone */
	char *chain;	  /* the steps that its groups were made with */
	int raw;		  /* of stored rows: the first of the columns as they are; the group comes after them */
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
/* What stored groups were made for cannot be changed under them. */
extern void aview_check_not_materialized(const AView *aview);
extern void aview_check_logical(const AView *aview);
extern int32 aview_id_of(Oid view);
extern int32 aview_id_of_view(Oid relation);
extern int32 aview_id_by_name(const char *name);
extern bool aview_counts_rows(const AView *aview);
extern bool aview_groups(const AView *aview);
extern bool aview_index_is_key(Oid index, const Bitmapset *columns);
/* The plain column of a single table that a column is; 0 if it is not. */
extern AttrNumber aview_base_column(const AView *aview, int column, Oid *table);
extern Oid aview_column_type(const AView *aview, int column);
extern void aview_check_type(const AView *aview, int column, Oid type);
extern bool relation_is_readable(Oid relation);
extern bool aview_source_readable(const AView *aview);
extern Query *aview_source_of_condition(Node *condition);

#endif
