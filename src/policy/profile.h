/*
 * profile.h
 *		Profiles: the choices of the people that an A-view's rows are about.
 *
 * They stand in a table of the administrator's, a row for each person, purpose
 * and recipient.  When the view is created, its source is joined with that table,
 * so that each row comes with its owner's choices in further columns; PostgreSQL
 * then keeps the dependencies, follows renames, and finds the choices by their
 * index or by hashing, whichever is cheaper.
 */
#ifndef KANON_PROFILE_H
#define KANON_PROFILE_H

#include "aview/aview.h"

#include "access/tupdesc.h"
#include "utils/jsonb.h"

/* A column of the view and the one of the profile table that is about it. */
typedef struct ProfilePair
{
	char *view_column;
	char *table_column;
} ProfilePair;

typedef struct ProfileRequest
{
	char *table; /* as SQL writes it */
	bool by_statement; /* columns without a name are found by the usual ones */
	List *key;	 /* ProfilePairs */
	char *k;	 /* null: the view's */
	char *level; /* of all sensitive columns; null: none */
	List *levels;
	char *purpose; /* null: the choices are for all of them */
	char *recipient;
	List *disclose;
	List *retain;
	bool for_all; /* groups are stored, for all purposes and recipients alike */
} ProfileRequest;

/* A column and the hierarchy asked for it. */
typedef struct ColumnRequest
{
	char *name;
	char *dgh; /* null: none */
	ColumnRole role;
	int location; /* in the request's text; negative: not there */
} ColumnRequest;

/* profile.c */
extern ProfileRequest *profile_of_json(Jsonb *profile);
extern ProfileRequest *profile_of_reference(char *column, char *table, char *k, char *level);

/* profile_join.c: the source with the choices; columns: the role asked for each of the source's columns, or null */
extern char *profile_join(const ProfileRequest *profile, const char *source, TupleDesc desc, ColumnRequest **columns);

#endif
