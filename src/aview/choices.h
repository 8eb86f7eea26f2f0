/*
 * choices.h
 *		The choices of people in the source of an A-view.
 *
 * The source of a view with a profile joins its rows with the table of choices
 * (policy/profile.h), so that each row comes with the choices of its owner in
 * further columns.  These functions find the choices again in the analyzed source.
 */
#ifndef KANON_CHOICES_H
#define KANON_CHOICES_H

#include "aview/aview.h"

/* Set up the profile of a view whose source has more columns than the view. */
extern void profile_read(AView *aview);

/* The column of the profile table that a further column of the source comes from; 0: none. */
extern AttrNumber choice_attribute(const AView *aview, int column, Oid *table);

/* Return the table whose key finds the choices of a row; InvalidOid if there is none, or no key is needed. */
extern Oid choices_table(const AView *aview);

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

#endif
