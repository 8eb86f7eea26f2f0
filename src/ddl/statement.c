/*
 * statement.c
 *		The language kanon: executing the statements of a DO block.
 *
 * Each statement stands for a function of kanon.  It runs with the rights of the
 * caller and needs the same privileges as the function, including the one to
 * execute it.
 */
#include "base/kanon.h"

#include "ddl/statement.h"

#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "ddl/create.h"
#include "ddl/position.h"
#include "hierarchy/catalog.h"

PG_FUNCTION_INFO_V1(kanon_language_call);
PG_FUNCTION_INFO_V1(kanon_language_inline);
PG_FUNCTION_INFO_V1(kanon_language_validator);

/* The statement that is being executed, for error contexts. */
typedef struct Execution
{
	const ErrorText *text;
	const Statement *statement;
} Execution;

static const char *const statement_names[] = {
	[STATEMENT_CREATE_DGH] = "CREATE DGH",
	[STATEMENT_DROP_DGH] = "DROP DGH",
	[STATEMENT_INSERT_DGH] = "INSERT INTO DGH",
	[STATEMENT_CREATE_AVIEW] = "CREATE ANONYMIZATION_VIEW",
	[STATEMENT_DROP_AVIEW] = "DROP ANONYMIZATION_VIEW",
};

/* Raise an error if the caller may not execute a function of kanon. */
static void
check_function(const char *name)
{
	const Oid any[1] = {InvalidOid}; /* ignored: there is one function of the name */
	Oid function = LookupFuncName(list_make2(makeString(KANON_SCHEMA), makeString(pstrdup(name))), -1, any, false);
	AclResult result = kanon_function_aclcheck(function, GetUserId(), ACL_EXECUTE);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FUNCTION, name);
}

static void
run(const char *command, int nargs, Oid *types, Datum *values)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args(command, nargs, types, values, NULL, false, 0) < 0)
		elog(ERROR, "could not run \"%s\"", command);
	SPI_finish();
}

/* Run a command that takes a hierarchy's name. */
static void
run_on_dgh(const char *command, const char *name)
{
	Oid types[1] = {TEXTOID};
	Datum values[1] = {CStringGetTextDatum(name)};

	run(command, 1, types, values);
}

/* Return every second label, from first on, as an array. */
static Datum
label_array(List *labels, int first)
{
	int count = list_length(labels) / 2;
	Datum *elements = palloc_extended(count * sizeof(Datum), MCXT_ALLOC_HUGE);

	for (int i = 0; i < count; i++)
		elements[i] = CStringGetTextDatum(list_nth(labels, 2 * i + first));
	return PointerGetDatum(construct_array(elements, count, TEXTOID, -1, false, TYPALIGN_INT));
}

static void
insert_edges(const Statement *statement)
{
	Oid types[3] = {TEXTOID, TEXTARRAYOID, TEXTARRAYOID};
	Datum values[3] = {CStringGetTextDatum(statement->name), label_array(statement->labels, 0),
					   label_array(statement->labels, 1)};

	/* A clearer error than that of the foreign key. */
	(void) dgh_kind_of(statement->name);
	run("INSERT INTO kanon.dgh_edge (dgh, child, parent) SELECT $1, child, parent"
		" FROM ROWS FROM (pg_catalog.unnest($2), pg_catalog.unnest($3)) AS edge (child, parent)",
		3, types, values);
}

static void
execute(const Statement *statement)
{
	switch (statement->kind)
	{
		case STATEMENT_CREATE_DGH:
			run_on_dgh("SELECT kanon.create_dgh($1)", statement->name);
			break;
		case STATEMENT_DROP_DGH:
			run_on_dgh("SELECT kanon.drop_dgh($1)", statement->name);
			break;
		case STATEMENT_INSERT_DGH:
			insert_edges(statement);
			break;
		case STATEMENT_CREATE_AVIEW:
			check_function("create_anonymization_view");
			aview_create(statement->request);
			break;
		case STATEMENT_DROP_AVIEW:
			check_function("drop_anonymization_view");
			aview_drop(statement->name);
			break;
	}
}

static void
show_statement(void *arg)
{
	Execution *execution = arg;
	const char *code = execution->text->text;
	int line = 1;

	for (int i = 0; i < execution->statement->location; i++)
		line += code[i] == '\n';
	errcontext("kanon code block, line %d at %s", line, statement_names[execution->statement->kind]);
}

static void
execute_all(const ErrorText *text, List *statements)
{
	Execution execution = {.text = text};
	ErrorContextCallback callback = {.callback = show_statement, .arg = &execution, .previous = error_context_stack};
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon statement", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	ListCell *cell;

	error_context_stack = &callback;
	foreach (cell, statements)
	{
		execution.statement = lfirst(cell);
		CHECK_FOR_INTERRUPTS();
		execute(execution.statement);
		MemoryContextReset(context);
	}
	error_context_stack = callback.previous;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* Execute a block of code: DO LANGUAGE kanon. */
Datum
kanon_language_inline(PG_FUNCTION_ARGS)
{
	InlineCodeBlock *block = (InlineCodeBlock *) PG_GETARG_POINTER(0);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon code block", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	ErrorText code;

	error_text_init(&code, block->source_text);
	execute_all(&code, statement_parse(&code));
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	PG_RETURN_VOID();
}

static pg_noreturn void
no_functions(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("there are no functions in the language kanon"),
			 errhint("Its statements are executed by DO LANGUAGE kanon.")));
}

/* Refuse CREATE FUNCTION ... LANGUAGE kanon: the validator. */
Datum
kanon_language_validator(PG_FUNCTION_ARGS)
{
	if (CheckFunctionValidatorAccess(fcinfo->flinfo->fn_oid, PG_GETARG_OID(0)))
		no_functions();
	PG_RETURN_VOID();
}

/* Refuse a function in the language kanon, which can only be used by DO: the call handler. */
Datum
kanon_language_call(PG_FUNCTION_ARGS)
{
	no_functions();
}
