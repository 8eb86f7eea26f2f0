%{
/*
 * statement_gram.y
 *		The grammar of DO LANGUAGE kanon.
 *
 * It is the grammar of Eltabakh et al., "Query Processing with K-Anonymity", section
 * 4 and Fig. 5, with clauses for the further arguments of
 * kanon.create_anonymization_view().  A block is parsed to its end before any of its
 * statements is executed.
 */
#include "base/kanon.h"

#include "ddl/statement.h"

#include <limits.h>

#include "utils/builtins.h"

#include "aview/aview.h"
#include "ddl/create.h"
#include "ddl/position.h"
#include "policy/profile.h"

/* An error must leave nothing behind but memory of the current context. */
#define YYMALLOC palloc
#define YYFREE pfree

/* A construct is where its first token is; one without tokens is where the last one was. */
#define YYLLOC_DEFAULT(current, rhs, n) ((current) = (n) > 0 ? YYRHSLOC(rhs, 1) : YYRHSLOC(rhs, 0))

/* Hints: how a statement is written. */
#define FORM_CREATE_DGH "CREATE DGH is followed by the name of a hierarchy."
#define FORM_DROP_DGH "DROP DGH is followed by the name of a hierarchy."
#define FORM_INSERT_DGH \
	"The form is INSERT INTO DGH hierarchy child, parent or INSERT INTO DGH hierarchy (child, parent), ...;" \
	" a label that is not one word stands in single quotes."
#define FORM_DROP_AVIEW "DROP ANONYMIZATION_VIEW is followed by the name of an anonymization view."
#define FORM_CREATE_AVIEW \
	"The form is CREATE [MATERIALIZED] ANONYMIZATION_VIEW view ON query WITH clauses," \
	" where a clause begins with ANONYMIZATION_ID, ANONYMIZATION_QUASI_ID, ANONYMIZATION_SENSITIVE_ATTR or" \
	" ANONYMIZATION_OTHER, with K, L, T, MATCH, ALGORITHM, BLOCK_SIZE, PRESELECT or KEEP_ORDER," \
	" or is column REFERENCES table (column)."
#define FORM_CLAUSES \
	"Clauses are ANONYMIZATION_ID columns, ANONYMIZATION_QUASI_ID columns, ANONYMIZATION_SENSITIVE_ATTR columns," \
	" ANONYMIZATION_OTHER columns or *, column REFERENCES table (k_column [, level_column])," \
	" K n, L n, T x, MATCH cover or witness, ALGORITHM name, BLOCK_SIZE n, PRESELECT published or hidden, and" \
	" KEEP_ORDER; columns are separated by commas, and a hierarchy follows its column as DGH_NAME hierarchy."
#define FORM_UNKNOWN \
	"Statements are CREATE DGH, INSERT INTO DGH, DROP DGH, CREATE ANONYMIZATION_VIEW and DROP ANONYMIZATION_VIEW," \
	" with semicolons between them."
%}

%code requires
{
#include "ddl/statement.h"
}

%code provides
{
extern int kanon_statement_yylex(KANON_STATEMENT_YYSTYPE *value, int *location, StatementParser *parser);
}

%code
{
static void kanon_statement_yyerror(int *location, StatementParser *parser, const char *message);
static Statement *add_statement(StatementParser *parser, StatementKind kind, int location, char *name);
static AViewRequest *start_request(StatementParser *parser, bool materialized);
static void begin_clause(StatementParser *parser, Clause clause, int location);
static void add_columns(AViewRequest *request, ColumnRole role, List *columns);
static ColumnRequest *make_column(char *name, char *dgh, int location);
static int read_integer(StatementParser *parser, const char *text, int location);
static double read_number(StatementParser *parser, const char *text, int location);
}

%define api.prefix {kanon_statement_yy}
%define api.pure full
%define api.location.type {int}
%locations
%lex-param {StatementParser *parser}
%parse-param {StatementParser *parser}
%expect 0

/*
 * The grammar sets the scanner's mode before the next token is read.  Therefore a
 * state that can only reduce does so without looking ahead.
 */
%define lr.default-reduction most

%union
{
	char *text;
	List *list;
	ColumnRequest *column;
	ProfileRequest *profile;
	bool boolean;
}

%token <text> NAME INTEGER DECIMAL LABEL QUERY
/* Reserved words: as names only in double quotes. */
%token <text> CREATE INTO ON REFERENCES WITH
%token <text> ANONYMIZATION_ID ANONYMIZATION_QUASI_ID ANONYMIZATION_SENSITIVE_ATTR ANONYMIZATION_OTHER DGH_NAME
/* Any other word that begins like them: a misspelling, reported at its position. */
%token <text> ANONYMIZATION_UNKNOWN
/* Allowed as names. */
%token <text> ALGORITHM ANONYMIZATION_VIEW BLOCK_SIZE DGH DROP INSERT K KEEP_ORDER L MATCH MATERIALIZED PRESELECT T

%type <text> name qualified_name number
%type <boolean> materialized
%type <list> names others columns labels pairs edges
%type <column> column
%type <profile> profile

%%

block:
	statement
	| block ';' { parser->form = NULL; } statement
	;

statement:
	%empty
	| CREATE DGH { parser->form = FORM_CREATE_DGH; } name
		{
			add_statement(parser, STATEMENT_CREATE_DGH, @1, $4);
		}
	| DROP DGH { parser->form = FORM_DROP_DGH; } name
		{
			add_statement(parser, STATEMENT_DROP_DGH, @1, $4);
		}
	| INSERT INTO DGH { parser->form = FORM_INSERT_DGH; } name
		{
			Assert(yychar == KANON_STATEMENT_YYEMPTY);
			parser->mode = SCAN_LABELS;
		}
	  edges
		{
			add_statement(parser, STATEMENT_INSERT_DGH, @1, $5)->labels = $7;
		}
	| CREATE materialized ANONYMIZATION_VIEW { parser->request = start_request(parser, $2); } qualified_name ON
		{
			Assert(yychar == KANON_STATEMENT_YYEMPTY);
			parser->mode = SCAN_QUERY;
		}
	  QUERY WITH { parser->form = FORM_CLAUSES; } clauses
		{
			parser->request->name = $5;
			parser->request->query = $8;
			parser->request->query_location = @8;
			add_statement(parser, STATEMENT_CREATE_AVIEW, @1, $5)->request = parser->request;
		}
	| DROP ANONYMIZATION_VIEW { parser->form = FORM_DROP_AVIEW; } qualified_name
		{
			add_statement(parser, STATEMENT_DROP_AVIEW, @1, $4);
		}
	;

edges:
	labels
	| pairs
	;

labels:
	LABEL ',' LABEL						{ $$ = list_make2($1, $3); }
	| labels ',' LABEL ',' LABEL		{ $$ = lappend(lappend($1, $3), $5); }
	;

pairs:
	'(' LABEL ',' LABEL ')'				{ $$ = list_make2($2, $4); }
	| pairs ',' '(' LABEL ',' LABEL ')'	{ $$ = lappend(lappend($1, $4), $6); }
	;

materialized:
	%empty								{ $$ = false; }
	| MATERIALIZED						{ $$ = true; }
	;

clauses:
	clause
	| clauses clause
	;

clause:
	ANONYMIZATION_ID names
		{
			begin_clause(parser, CLAUSE_ID, @1);
			add_columns(parser->request, ROLE_ID, $2);
		}
	| ANONYMIZATION_QUASI_ID columns
		{
			begin_clause(parser, CLAUSE_QUASI_ID, @1);
			add_columns(parser->request, ROLE_QUASI, $2);
		}
	| ANONYMIZATION_SENSITIVE_ATTR columns
		{
			begin_clause(parser, CLAUSE_SENSITIVE_ATTR, @1);
			add_columns(parser->request, ROLE_SENSITIVE, $2);
		}
	| ANONYMIZATION_OTHER others
		{
			begin_clause(parser, CLAUSE_OTHER, @1);
			add_columns(parser->request, ROLE_OTHER, $2);
		}
	| profile
		{
			begin_clause(parser, CLAUSE_PROFILE, @1);
			parser->request->profile = $1;
		}
	| K INTEGER
		{
			begin_clause(parser, CLAUSE_K, @1);
			parser->request->has_k = true;
			parser->request->k = read_integer(parser, $2, @2);
		}
	| L INTEGER
		{
			begin_clause(parser, CLAUSE_L, @1);
			parser->request->has_l = true;
			parser->request->l = read_integer(parser, $2, @2);
		}
	| T number
		{
			begin_clause(parser, CLAUSE_T, @1);
			parser->request->has_t = true;
			parser->request->t = read_number(parser, $2, @2);
		}
	| MATCH name
		{
			begin_clause(parser, CLAUSE_MATCH, @1);
			parser->request->match = $2;
		}
	| ALGORITHM name
		{
			begin_clause(parser, CLAUSE_ALGORITHM, @1);
			parser->request->algorithm = $2;
		}
	| BLOCK_SIZE INTEGER
		{
			begin_clause(parser, CLAUSE_BLOCK_SIZE, @1);
			parser->request->has_block_size = true;
			parser->request->block_size = read_integer(parser, $2, @2);
		}
	| PRESELECT name
		{
			begin_clause(parser, CLAUSE_PRESELECT, @1);
			parser->request->preselect = $2;
		}
	| KEEP_ORDER
		{
			begin_clause(parser, CLAUSE_KEEP_ORDER, @1);
			parser->request->keep_order = true;
		}
	;

profile:
	name REFERENCES qualified_name '(' name ')'
		{
			$$ = profile_of_reference($1, $3, $5, NULL);
		}
	| name REFERENCES qualified_name '(' name ',' name ')'
		{
			$$ = profile_of_reference($1, $3, $5, $7);
		}
	;

names:
	name								{ $$ = list_make1(make_column($1, NULL, @1)); }
	| names ',' name					{ $$ = lappend($1, make_column($3, NULL, @3)); }
	;

others:
	names
	| '*'								{ $$ = list_make1(make_column(pstrdup(OTHER_ALL), NULL, @1)); }
	;

columns:
	column								{ $$ = list_make1($1); }
	| columns ',' column				{ $$ = lappend($1, $3); }
	;

column:
	name								{ $$ = make_column($1, NULL, @1); }
	| name DGH_NAME name				{ $$ = make_column($1, $3, @1); }
	;

number:
	INTEGER
	| DECIMAL
	;

/* As SQL writes it: quoted where needed. */
qualified_name:
	name								{ $$ = pstrdup(quote_identifier($1)); }
	| qualified_name '.' name			{ $$ = psprintf("%s.%s", $1, quote_identifier($3)); }
	;

name:
	NAME
	| ALGORITHM
	| ANONYMIZATION_VIEW
	| BLOCK_SIZE
	| DGH
	| DROP
	| INSERT
	| K
	| KEEP_ORDER
	| L
	| MATCH
	| MATERIALIZED
	| PRESELECT
	| T
	;

%%

/* Raise an error at the last token, which the grammar does not allow there. */
static void
kanon_statement_yyerror(int *location, StatementParser *parser, const char *message)
{
	statement_error(parser, message, parser->form ? parser->form : FORM_UNKNOWN);
}

static Statement *
add_statement(StatementParser *parser, StatementKind kind, int location, char *name)
{
	Statement *statement = palloc0(sizeof(Statement));

	statement->kind = kind;
	statement->location = location;
	statement->name = name;
	parser->statements = lappend(parser->statements, statement);
	return statement;
}

static AViewRequest *
start_request(StatementParser *parser, bool materialized)
{
	AViewRequest *request = palloc0(sizeof(AViewRequest));

	request->text = parser->text;
	request->materialized = materialized;
	request->algorithm = "datafly";
	request->match = "cover";
	parser->form = FORM_CREATE_AVIEW;
	parser->clauses = 0;
	return request;
}

static void
begin_clause(StatementParser *parser, Clause clause, int location)
{
	static const char *const names[] = {
		[CLAUSE_ID] = "ANONYMIZATION_ID",
		[CLAUSE_QUASI_ID] = "ANONYMIZATION_QUASI_ID",
		[CLAUSE_SENSITIVE_ATTR] = "ANONYMIZATION_SENSITIVE_ATTR",
		[CLAUSE_OTHER] = "ANONYMIZATION_OTHER",
		[CLAUSE_PROFILE] = "REFERENCES",
		[CLAUSE_K] = "K",
		[CLAUSE_L] = "L",
		[CLAUSE_T] = "T",
		[CLAUSE_MATCH] = "MATCH",
		[CLAUSE_ALGORITHM] = "ALGORITHM",
		[CLAUSE_BLOCK_SIZE] = "BLOCK_SIZE",
		[CLAUSE_PRESELECT] = "PRESELECT",
		[CLAUSE_KEEP_ORDER] = "KEEP_ORDER",
	};

	if (parser->clauses & (1u << clause))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("%s is given twice", names[clause]),
				 error_text_position(parser->text, location)));
	parser->clauses |= 1u << clause;
}

static void
add_columns(AViewRequest *request, ColumnRole role, List *columns)
{
	ListCell *cell;

	foreach (cell, columns)
		((ColumnRequest *) lfirst(cell))->role = role;
	request->columns = list_concat(request->columns, columns);
}

static ColumnRequest *
make_column(char *name, char *dgh, int location)
{
	ColumnRequest *column = palloc0(sizeof(ColumnRequest));

	column->name = name;
	column->dgh = dgh;
	column->location = location;
	return column;
}

static pg_noreturn void
out_of_range(StatementParser *parser, const char *text, int location)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("number %s is out of range", text),
			 error_text_position(parser->text, location)));
}

static int
read_integer(StatementParser *parser, const char *text, int location)
{
	long value;

	errno = 0;
	value = strtol(text, NULL, 10);
	if (errno != 0 || value < INT_MIN || value > INT_MAX)
		out_of_range(parser, text, location);
	return (int) value;
}

static double
read_number(StatementParser *parser, const char *text, int location)
{
	double value;

	errno = 0;
	value = strtod(text, NULL);
	if (errno != 0)
		out_of_range(parser, text, location);
	return value;
}

/* Return the statements of a block of code. */
List *
statement_parse(const ErrorText *text)
{
	StatementParser parser = {.text = text};

	statement_scanner_start(&parser);
	if (kanon_statement_yyparse(&parser) != 0)
		elog(ERROR, "the parser gave up without an error");
	statement_scanner_end(&parser);
	return parser.statements;
}
