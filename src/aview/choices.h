/*
 * choices.h
 *		The columns of choices in the source of an A-view.
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

/* Return the column of the profile table that a further column of the source comes from, and set the table; 0: none. */
extern AttrNumber choice_attribute(const AView *aview, int column, Oid *table);

/* Return the table whose key finds the choices of a row; InvalidOid if there is none, or no key is needed. */
extern Oid choices_table(const AView *aview);

/* How rows are joined with choices.  Columns of the profile table are attribute numbers, 0 for none. */
typedef struct ProfileKey
{
	Oid table;
	List *view_columns; /* numbers of columns of the rows, from 0: see AView.nkeyed */
	List *choices;		/* the columns of the profile table that they are compared with */
	AttrNumber purpose;
	AttrNumber recipient;
} ProfileKey;

/* Find out how rows are joined with choices; the lists are made in the current memory context. */
extern void profile_key(const AView *aview, ProfileKey *key);

/*
 * Return the query for the largest k that a row's owner asks for, for any purpose: see
 * profile_join.c.  Copy before use.
 */
extern Query *demand_query(const AView *aview);

/* Return true if there is at most one row of choices for each row of the source. */
extern bool choices_are_unique(const Query *source);

/*
 * Columns of the profile's key, after the view's columns, if they are not among these; %d
 * is the number from 1.
 */
#define CHOICE_KEY "kanon key %d"

/*
 * The columns of choices in the source, after the columns above; %d is the number, from
 * 1, of the column that they are about.
 */
#define CHOICE_FOUND "kanon found"
#define CHOICE_K "kanon k"
#define CHOICE_DEMAND "kanon demand"
#define CHOICE_LEVEL "kanon level %d"
#define CHOICE_DISCLOSE "kanon disclose %d"
#define CHOICE_RETAIN "kanon retain %d"

#endif
