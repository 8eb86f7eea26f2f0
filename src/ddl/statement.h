/*
 * statement.h
 *		The parsed statements of DO LANGUAGE kanon, and the state of their parser.
 *
 * The language has three ways of reading a text.  Statements are words, numbers
 * and punctuation as in SQL.  Labels of hierarchies are the texts between
 * commas.  The query of an A-view is SQL, whose end PostgreSQL's own scanner
 * finds.  The grammar says which of them comes next.
 */
#ifndef KANON_DDL_STATEMENT_H
#define KANON_DDL_STATEMENT_H

#include "ddl/create.h"
#include "ddl/position.h"

typedef enum StatementKind
{
	STATEMENT_CREATE_DGH,
	STATEMENT_DROP_DGH,
	STATEMENT_INSERT_DGH,
	STATEMENT_CREATE_AVIEW,
	STATEMENT_DROP_AVIEW
} StatementKind;

typedef struct Statement
{
	StatementKind kind;
	int location;		   /* in the code, in bytes */
	char *name;			   /* of a hierarchy, or of a view as SQL writes it */
	List *labels;		   /* child, parent, child, parent, ... */
	AViewRequest *request; /* STATEMENT_CREATE_AVIEW */
} Statement;

/* The kind of token that the scanner reads next. */
typedef enum ScanMode
{
	SCAN_WORDS,
	SCAN_LABELS,
	SCAN_QUERY
} ScanMode;

/* The clauses of CREATE ANONYMIZATION_VIEW, each of which may stand there once. */
typedef enum Clause
{
	CLAUSE_ID,
	CLAUSE_QUASI_ID,
	CLAUSE_SENSITIVE_ATTR,
	CLAUSE_OTHER,
	CLAUSE_PROFILE,
	CLAUSE_K,
	CLAUSE_L,
	CLAUSE_T,
	CLAUSE_MATCH,
	CLAUSE_ALGORITHM,
	CLAUSE_BLOCK_SIZE,
	CLAUSE_PRESELECT,
	CLAUSE_KEEP_ORDER
} Clause;

/* The state of parsing one block of code. */
typedef struct StatementParser
{
	const ErrorText *text; /* the code */
	List *statements;

	/* The scanner's. */
	char *buffer; /* a copy of the code */
	int length;
	void *scanner;
	ScanMode mode;
	int start; /* of the last token, in bytes */
	int end;
	int comment_start;
	int comment_depth;

	/* The statement that is being read. */
	const char *form; /* a hint how it is written; null if its first words do not tell */
	AViewRequest *request;
	unsigned clauses; /* a bit for each clause that has been read */
} StatementParser;

/* statement_gram.y */
extern List *statement_parse(const ErrorText *text);

/* statement_lex.l */
extern void statement_scanner_start(StatementParser *parser);
extern void statement_scanner_end(StatementParser *parser);
extern pg_noreturn void statement_error(StatementParser *parser, const char *message, const char *hint);

/* statement_query.c */
extern bool statement_word_is(const char *word, int length, const char *keyword);
extern bool statement_is_clause_prefix(const char *word, int length);
extern int statement_query_end(const ErrorText *text, int start, int *first);

#endif
