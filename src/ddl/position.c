/*
 * position.c
 *		Showing errors in the text that the user wrote.
 */
#include "base/kanon.h"

#include "ddl/position.h"

#include "catalog/pg_proc.h"
#include "mb/pg_wchar.h"

/*
 * Set up a text to show errors in.  Call this before any error context of ours is
 * entered: if there is no error context at all, the client's statement called us
 * directly and may contain the text as a literal.  Otherwise a function called us, and
 * its error context reports the statement.
 */
void
error_text_init(ErrorText *text, const char *string)
{
	text->text = string;
	text->direct = error_context_stack == NULL;
}

/* Show the current error at a position, in characters from 1. */
static void
show_at(const ErrorText *text, int position)
{
	errposition(0);
	internalerrposition(position);
	internalerrquery(text->text);
	if (text->direct)
		function_parse_error_transpose(text->text);
}

int
error_text_position(const ErrorText *text, int location)
{
	if (location >= 0)
		show_at(text, pg_mbstrlen_with_len(text->text, location) + 1);
	return 0;
}

/* Return the current error's position; SPI has already made the position of its own errors an internal one. */
static int
reported_position(void)
{
	return geterrposition() > 0 ? geterrposition() : getinternalerrposition();
}

static void
show_part(void *arg)
{
	ErrorPlace *place = arg;
	int position = reported_position();

	if (position > 0)
		show_at(place->text, pg_mbstrlen_with_len(place->text->text, place->location) + position);
}

static void
show_place(void *arg)
{
	ErrorPlace *place = arg;

	if (reported_position() <= 0)
		error_text_position(place->text, place->location);
}

static void
enter(ErrorPlace *place, void (*show)(void *))
{
	place->callback.callback = show;
	place->callback.arg = place;
	place->callback.previous = error_context_stack;
	error_context_stack = &place->callback;
}

void
error_place_part(ErrorPlace *place, const ErrorText *text, int location)
{
	place->text = text;
	place->location = location;
	enter(place, show_part);
}

void
error_place_at(ErrorPlace *place, const ErrorText *text, int location)
{
	place->text = text;
	place->location = location;
	enter(place, show_place);
}

void
error_place_leave(ErrorPlace *place)
{
	error_context_stack = place->callback.previous;
}
