/*
 * statement_query.c
 *		Finding the end of the query in CREATE ANONYMIZATION_VIEW ... ON query WITH ...
 *
 * PostgreSQL's own scanner reads the query, so that strings, dollar quotes, escapes,
 * comments and names end where PostgreSQL's parser will end them.
 */
#include "base/kanon.h"

#include "ddl/statement.h"

#include <ctype.h>

#include "miscadmin.h"
#include "parser/scanner.h"

#include "ddl/position.h"

typedef struct QueryScan
{
	const ErrorText *text;
	int start; /* of the query in it: locations are counted from there */
	core_yyscan_t scanner;
	int depth; /* of parentheses */
	int open;  /* the outermost parenthesis */
} QueryScan;

bool
statement_word_is(const char *word, int length, const char *keyword)
{
	for (int i = 0; i < length; i++)
	{
		if (pg_ascii_tolower((unsigned char) word[i]) != (unsigned char) keyword[i])
			return false;
	}
	return keyword[length] == '\0';
}

/* Return true if a word begins like a keyword of the grammar: it is one, or a misspelled one. */
bool
statement_is_clause_prefix(const char *word, int length)
{
	static const char prefix[] = "anonymization_";

	return length >= (int) strlen(prefix) && statement_word_is(word, strlen(prefix), prefix);
}

/* Return the length of a token that is a word, or 0; a quoted name is no word. */
static int
word_length(const char *token)
{
	int length = 0;

	while (IS_HIGHBIT_SET(token[length]) || isalnum((unsigned char) token[length]) || token[length] == '_' ||
		   token[length] == '$')
		length++;
	return length;
}

static bool
token_is(const char *token, const char *keyword)
{
	return statement_word_is(token, word_length(token), keyword);
}

/* Return true if a token may begin a clause; the grammar reports a misspelled keyword. */
static bool
is_clause_word(const char *token)
{
	static const char *const words[] = {"k", "l", "t", "match", "algorithm", "block_size", "keep_order"};

	for (int i = 0; i < (int) lengthof(words); i++)
	{
		if (token_is(token, words[i]))
			return true;
	}
	return statement_is_clause_prefix(token, word_length(token));
}

/*
 * Return true if the two tokens after a WITH outside parentheses begin the clauses.
 * In a query, a common table expression may have such a name, but then AS or column
 * names follow.
 */
static bool
begin_clauses(const char *first, const char *second)
{
	if (token_is(second, "references"))
		return true;
	return is_clause_word(first) && !token_is(second, "as") && *second != '(';
}

static void
count_parenthesis(QueryScan *scan, int token, int location)
{
	if (token == '(' && scan->depth++ == 0)
		scan->open = location;
	if (token == ')' && scan->depth > 0)
		scan->depth--;
}

static void
check_closed(const QueryScan *scan)
{
	if (scan->depth > 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("a parenthesis in the query is not closed"),
				 error_text_position(scan->text, scan->start + scan->open)));
}

static int
next_token(QueryScan *scan, int *location)
{
	core_YYSTYPE value;
	ErrorPlace place;
	int token;

	CHECK_FOR_INTERRUPTS();
	error_place_part(&place, scan->text, scan->start);
	token = core_yylex(&value, location, scan->scanner);
	error_place_leave(&place);
	return token;
}

/* Return the end of the query: a WITH with clauses, a semicolon or the end of the text. */
static int
find_end(QueryScan *scan, int *first)
{
	const char *query = scan->text->text + scan->start;
	int before[2] = {-1, -1}; /* the last two tokens, if not in parentheses */
	int location;
	int token = next_token(scan, &location);

	*first = location;
	for (;;)
	{
		if (before[0] >= 0 && before[1] >= 0 && token_is(query + before[0], "with") &&
			begin_clauses(query + before[1], query + location))
			return before[0];
		if (token == 0 || token == ';')
			break;
		count_parenthesis(scan, token, location);
		before[0] = before[1];
		before[1] = scan->depth == 0 ? location : -1;
		token = next_token(scan, &location);
	}
	check_closed(scan);
	return location;
}

/*
 * Return the end of the query that follows start, and set *first to its beginning; there
 * is no query if both are equal.
 */
int
statement_query_end(const ErrorText *text, int start, int *first)
{
	QueryScan scan = {.text = text, .start = start};
	core_yy_extra_type extra;
	int end;

	scan.scanner = scanner_init(text->text + start, &extra, &ScanKeywords, ScanKeywordTokens);
	extra.escape_string_warning = false; /* the parser will warn */
	end = find_end(&scan, first);
	scanner_finish(scan.scanner);
	*first += start;
	return end + start;
}
