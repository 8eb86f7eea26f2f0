/*
 * profile.h
 *		Profiles: the choices of the people that an A-view's rows are about.
 *
 * They stand in a table that the administrator names, with a row for each person,
 * purpose and recipient.  When the view is created, its source is joined with that table,
 * so that each row comes with its owner's choices in further columns; PostgreSQL
 * then keeps the dependencies, follows renames, and finds the choices by their
 * index or by hashing, as costs less.
 */
#ifndef KANON_PROFILE_H
#define KANON_PROFILE_H

#include "aview/aview.h"

#include "access/tupdesc.h"
#include "utils/jsonb.h"

/* A column of the view and the column of the profile table that is compared with it or is about it. */
typedef struct ProfilePair
{
	char *view_column;
	char *table_column;
} ProfilePair;

/*
 * A profile as it is asked for.  Its columns are names of columns of the profile table,
 * its lists are ProfilePairs.
 */
typedef struct ProfileRequest
{
	char *table;	   /* as SQL writes it */
	bool by_statement; /* true for REFERENCES: purpose, recipient and key are found by custom */
	List *key;
	char *k;		 /* NULL: the view's k */
	char *level;	 /* how many levels up all sensitive columns are generalized; NULL: none */
	List *levels;	 /* the same for single sensitive columns */
	char *purpose;	 /* NULL: the choices are for all purposes */
	char *recipient; /* NULL: the choices are for all recipients */
	List *disclose;
	List *retain;
	bool for_all; /* true if groups are stored, for all purposes and recipients alike */
} ProfileRequest;

/* The role and the hierarchy that are asked for a column. */
typedef struct ColumnRequest
{
	char *name;
	char *dgh; /* the name of a hierarchy; NULL: none */
	ColumnRole role;
	bool limited; /* it is published between two levels of its hierarchy */
	int lowest;
	int highest;
	int location; /* in the request's text, in bytes; negative: not there */
} ColumnRequest;

/* profile.c */
/* Read the profile argument of kanon.create_anonymization_view(). */
extern ProfileRequest *profile_of_json(Jsonb *profile);
/* Return the profile of the clause column REFERENCES table (k [, level]). */
extern ProfileRequest *profile_of_reference(char *column, char *table, char *k, char *level);

/* profile_join.c */
/*
 * Return the text of a source joined with the choices of a profile.  desc: the columns
 * of the source; columns: the request for each of them, or NULL; nshown: the first of
 * them, which are columns of the view.
 */
extern char *profile_join(const ProfileRequest *profile, const char *source, TupleDesc desc, ColumnRequest **columns,
						  int nshown);

#endif
