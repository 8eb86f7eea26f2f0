/*
 * pure.c
 *		Expressions that look at nothing but the columns they name.
 *
 * A subquery is not the only way to read a table: table_to_xml() is stable and reads any
 * table, and so do functions that take a query as text.  Nor are functions the only way
 * to run code: a domain has checks.
 *
 * A function that PostgreSQL may call in a parallel worker does at least not change the
 * session, and none of PostgreSQL's own functions that read tables is marked as such.
 * Users may mark their functions as they like, so that the mark counts only for a
 * function that came with the server or is written in C, which takes a superuser.  An
 * operator is a function, too.
 */
#include "base/kanon.h"

#include "base/pure.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

/* Return the reason why an expression that calls a function is not plain, as a sentence, or NULL. */
static const char *
function_objection(Oid function)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc form;
	bool is_volatile;
	bool is_plain;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	form = (Form_pg_proc) GETSTRUCT(tuple);
	is_volatile = form->provolatile == PROVOLATILE_VOLATILE;
	is_plain = form->proparallel == PROPARALLEL_SAFE &&
			   (function < FirstNormalObjectId || form->prolang == INTERNALlanguageId || form->prolang == ClanguageId);
	ReleaseSysCache(tuple);
	if (is_volatile)
		return psprintf("It must not call volatile functions, and %s is one.", format_procedure(function));
	if (!is_plain)
		return psprintf("It must not call %s, which may look at more than its arguments.", format_procedure(function));
	return NULL;
}

/* Note the objection to a function, and return true if there is one: for check_functions_in_node(). */
static bool
pure_check_function(Oid function, void *objection)
{
	const char **sentence = objection;

	*sentence = function_objection(function);
	return *sentence != NULL;
}

/* Find the first objection in an expression tree; return true to stop the walk. */
static bool
pure_walker(Node *node, void *objection)
{
	const char **sentence = objection;

	if (node == NULL)
		return false;
	if (IsA(node, SubLink))
		*sentence = "It must not contain a subquery.";
	else if (IsA(node, CoerceToDomain))
		*sentence = psprintf("It must not convert to the domain %s, whose checks may be anything.",
							 format_type_be(((CoerceToDomain *) node)->resulttype));
	if (*sentence || check_functions_in_node(node, pure_check_function, objection))
		return true;
	return expression_tree_walker(node, pure_walker, objection);
}

/* Return the reason why an analyzed expression is not plain, as a sentence, or NULL if it is plain. */
const char *
plain_objection(Node *expression)
{
	const char *sentence = NULL;

	Assert(expression != NULL);
	(void) pure_walker(expression, &sentence);
	return sentence;
}
