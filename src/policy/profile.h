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
#ifndef KANON_AVIEW_PROFILE_H
#define KANON_AVIEW_PROFILE_H

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

struct ColumnRequest;

/* profile.c */
extern ProfileRequest *profile_of_json(Jsonb *profile);
extern ProfileRequest *profile_of_reference(char *column, char *table, char *k, char *level);

/* profile_join.c: the source with the choices; columns: the role asked for each of the source's columns, or null */
extern char *profile_join(const ProfileRequest *profile, const char *source, TupleDesc desc, struct ColumnRequest **columns);

/* choices.c: what the source of a view that was read says about a profile */
extern void profile_read(AView *aview);

/* The column of the profile table that a further column of the source comes from; 0: none. */
extern AttrNumber choice_attribute(const AView *aview, int column, Oid *table);

/* How rows are joined with choices; columns of the profile table, 0 for none. */
typedef struct ProfileKey
{
	Oid table;
	List *view_columns; /* numbers from 0 */
	List *choices;		/* the columns that they are compared with */
	AttrNumber purpose;
	AttrNumber recipient;
} ProfileKey;

extern void profile_key(const AView *aview, ProfileKey *key);

/* The query for what somebody asks for, of all purposes and recipients: see profile_join.c. */
extern Query *demand_query(const AView *aview);

/* Is there at most one row of choices for each row of the source? */
extern bool choices_are_unique(const Query *source);

/* The columns of choices in the source, after those of the view; %d is the number of the column they are about. */
#define CHOICE_FOUND "kanon found"
#define CHOICE_K "kanon k"
#define CHOICE_DEMAND "kanon demand"
#define CHOICE_LEVEL "kanon level %d"
#define CHOICE_DISCLOSE "kanon disclose %d"
#define CHOICE_RETAIN "kanon retain %d"

/* The functions that stand for the purpose and the recipient in the source. */
#define PURPOSE_FUNCTION "current_purpose"
#define RECIPIENT_FUNCTION "current_recipient"

#endif
