/*
 * create.h
 *		What the creation of an A-view is asked for, by function or by statement.
 */
#ifndef KANON_AVIEW_CREATE_H
#define KANON_AVIEW_CREATE_H

#include "access/tupdesc.h"
#include "utils/array.h"

#include "ddl/position.h"
#include "policy/profile.h"

typedef struct AViewRequest
{
	char *name; /* as SQL writes it */
	char *query;
	const ErrorText *text; /* the query, or what it was written in */
	int query_location;	   /* in the text */
	List *columns;		   /* ColumnRequests */
	bool has_k;
	int k;
	bool has_l;
	int l; /* 0: not asked for */
	bool has_t;
	double t; /* 0: not asked for */
	ProfileRequest *profile; /* null: none */
	char *algorithm;
	char *match;
	char *preselect; /* NULL: published */
	bool keep_order;
	ArrayType *session_settings; /* names of settings that follow the session; NULL: none */
	bool materialized;
	bool has_block_size;
	int block_size; /* 0: not asked for */
} AViewRequest;

/* create.c */
extern Oid aview_create(const AViewRequest *request);
extern void aview_drop(const char *name);

/* query.c */
extern char *aview_read_source(const AViewRequest *request, TupleDesc *desc);

#endif
