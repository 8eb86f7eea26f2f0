/*
 * pure.c
 *		Expressions that look at nothing but the columns they name.
 *
 * A subquery is not the only way to read a table: table_to_xml() is stable and
 * reads any, and so do functions that take a query as text.  Nor are functions
 * the only way to run code: a domain brings its checks along.
 *
 * What PostgreSQL lets a parallel worker call at least leaves the session alone,
 * and none of its own functions that read tables is among these.  Others may be
 * marked as anything, so that only those count that came with the server or
 * are written in a language that takes a superuser.  An operator is a function.
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

static const char *
object_to_function(Oid function)
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

static bool
check_function(Oid function, void *objection)
{
	const char **sentence = objection;

	*sentence = object_to_function(function);
	return *sentence != NULL;
}

static bool
find_objection(Node *node, void *objection)
{
	const char **sentence = objection;

	if (node == NULL)
		return false;
	if (IsA(node, SubLink))
		*sentence = "It must not contain a subquery.";
	else if (IsA(node, CoerceToDomain))
		*sentence = psprintf("It must not convert to the domain %s, whose checks may be anything.",
							 format_type_be(((CoerceToDomain *) node)->resulttype));
	if (*sentence || check_functions_in_node(node, check_function, objection))
		return true;
	return expression_tree_walker(node, find_objection, objection);
}

const char *
plain_objection(Node *expression)
{
	const char *sentence = NULL;

	(void) find_objection(expression, &sentence);
	return sentence;
}
