/*
 * position.h
 *		Showing errors in the text that the user wrote.
 *
 * PostgreSQL's parser reports positions in the text that it was given.  Here that
 * is often a part of something longer: a query inside the code of a DO
 * statement, itself a literal in what the client sent.
 */
#ifndef KANON_AVIEW_POSITION_H
#define KANON_AVIEW_POSITION_H

#include "compat.h"

/* A text that errors are shown in. */
typedef struct ErrorText
{
	const char *text;
	bool direct; /* the client's own statement holds it, and no function stands between */
} ErrorText;

/* Where an error belongs that is raised before the place is left. */
typedef struct ErrorPlace
{
	const ErrorText *text;
	int location; /* in bytes */
	ErrorContextCallback callback;
} ErrorPlace;

extern void error_text_init(ErrorText *text, const char *string);

/* In an ereport(): a place, in bytes from 0; nothing if it is negative. */
extern int error_text_position(const ErrorText *text, int location);

/*
 * An error that has a position has it in a part of the text that begins at the
 * location (error_place_part), or an error that has none gets the location, if
 * that is not negative (error_place_at).
 */
extern void error_place_part(ErrorPlace *place, const ErrorText *text, int location);
extern void error_place_at(ErrorPlace *place, const ErrorText *text, int location);
extern void error_place_leave(ErrorPlace *place);

#endif
