/*
 * position.h
 *		Showing errors in the text that the user wrote.
 *
 * PostgreSQL's parser reports positions in the text that it was given.  Here this
 * text is often part of a longer one: a query inside the code of a DO statement,
 * which is itself a literal in the client's statement.
 */
#ifndef KANON_DDL_POSITION_H
#define KANON_DDL_POSITION_H

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

/* Set the error's position, inside ereport(): in bytes from 0; none if it is negative. */
extern int error_text_position(const ErrorText *text, int location);

/*
 * Enter an error context that places errors in a text.  With error_place_part(), the
 * position of an error is one in the part of the text that begins at location; with
 * error_place_at(), an error without a position gets location, unless it is negative.
 */
extern void error_place_part(ErrorPlace *place, const ErrorText *text, int location);
extern void error_place_at(ErrorPlace *place, const ErrorText *text, int location);
extern void error_place_leave(ErrorPlace *place);

#endif
