/*
 * create.h
 *		Requests for A-views, by function or by statement, and their fulfilment.
 */
#ifndef KANON_DDL_CREATE_H
#define KANON_DDL_CREATE_H

#include "access/tupdesc.h"
#include "utils/array.h"

#include "ddl/position.h"
#include "policy/profile.h"

/* In place of a name: all columns of the source that have no role. */
#define OTHER_ALL "*"

/* A request for an A-view, or for a change of one. */
typedef struct AViewRequest
{
	char *name;			   /* as SQL writes it */
	char *query;		   /* the source */
	const ErrorText *text; /* the query, or the text that it was written in; errors are shown there */
	int query_location;	   /* where the query begins in the text, in bytes */
	List *columns;		   /* ColumnRequests; with ROLE_OTHER the column is published as it is */
	bool has_k;
	int k;
	bool has_l;
	int l; /* 0: not asked for */
	bool has_t;
	double t;				 /* 0: not asked for */
	ProfileRequest *profile; /* NULL: none */
	char *algorithm;
	char *match;
	char *preselect; /* NULL: published */
	bool keep_order;
	ArrayType *session_settings; /* names of settings that follow the session; NULL: none */
	bool materialized;
	bool has_block_size;
	int block_size; /* 0: not asked for */
} AViewRequest;

/* request.c */
/* Raise an error for a request for a new view that cannot be fulfilled, as far as its columns need not be known. */
extern void request_check(const AViewRequest *request);
/* Raise an error for a bad value in a request; match and algorithm may be NULL. */
extern void request_check_values(const AViewRequest *request);
/* Raise an error for a k that publishes rows as they are, where the levels of columns are limited. */
extern void request_check_k_of_levels(int k, bool limited);
/* Warn of a view in which nothing is hidden. */
extern void request_warn_of_roles(const AViewRequest *request);
/* Raise an error if a request needs a sensitive column or an identifier and has none. */
extern void request_check_roles(const AViewRequest *request, bool has_sensitive, bool has_id);
/*
 * Return the request for each column of the source, or NULL; raise an error for a
 * request that does not fit the column.  All other columns are named by OTHER_ALL.
 */
extern ColumnRequest **request_match_columns(const AViewRequest *request, TupleDesc desc);
/* Return true if all columns without a role are to be published as they are. */
extern bool request_names_all(const AViewRequest *request);
extern pg_noreturn void request_bad_argument(const char *name, const char *value, const char *rule);

/* create.c */
/* Create the view that is asked for, with the rights of the current user, and return it. */
extern Oid aview_create(const AViewRequest *request);
/* Drop an A-view by its name, as SQL writes it, with the rights of the current user. */
extern void aview_drop(const char *name);

/* The source of a view that is to be created. */
typedef struct RequestedSource
{
	char *query;			 /* as text */
	TupleDesc desc;			 /* its columns */
	Oid *origins;			 /* per column: the relation whose column it is as it stands there, or InvalidOid */
	ColumnRequest **columns; /* per column: its request, or NULL */
	int nshown;				 /* the first of its columns, which the view has; others are of the profile's key */
} RequestedSource;

/* query.c */
/* Read the query of the source and its columns; to be called while SPI is connected. */
extern void source_read(const AViewRequest *request, RequestedSource *source);

/* hide.c */
/* Leave out the columns of a source that have no role and are not to be published as they are. */
extern void source_hide_columns(const AViewRequest *request, RequestedSource *source);

#endif
