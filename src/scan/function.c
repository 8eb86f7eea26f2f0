/*
 * function.c
 *		kanon.scan as a plain function, for calls that the custom-scan node cannot
 *		replace: it reads everything, and publishes exactly the same.
 */
#include "base/kanon.h"

#include "funcapi.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "anonymize/anonymize_first.h"
#include "anonymize/row_source.h"
#include "aview/aview.h"
#include "matview/stored.h"
#include "policy/access.h"
#include "scan/aviewscan.h"

PG_FUNCTION_INFO_V1(kanon_scan);

/*
 * Check that the caller may read the view.  A call that was reached through the
 * view is not checked here: PostgreSQL has checked the rights on the view itself.
 */
static void
function_check_access(FunctionCallInfo fcinfo, const AView *aview)
{
	Node *call = fcinfo->flinfo->fn_expr;

	if (call && IsA(call, FuncExpr) && aview_call_is_tied((FuncExpr *) call))
		return;
	aview_check_select(aview->view);
}

/* Return all published rows of a view: scan(view), by its number or its name. */
Datum
kanon_scan(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	AView *aview = aview_load(aview_id_of_argument(get_fn_expr_argtype(fcinfo->flinfo, 0), PG_GETARG_DATUM(0)));
	const RowSourceMethods *methods = aview->materialized ? &stored_rows_methods : &anonymize_first_methods;
	RowRequest request = {.aview = aview, .wanted = bms_add_range(NULL, 0, aview->ncolumns - 1)};
	RowSource *rows;
	Datum *values = palloc(aview->ncolumns * sizeof(Datum));
	bool *nulls = palloc(aview->ncolumns * sizeof(bool));
	MemoryContext row = AllocSetContextCreate(CurrentMemoryContext, "kanon published row", ALLOCSET_DEFAULT_SIZES);

	/* Columns that are hidden are left as they are, so NULL. */
	memset(nulls, true, aview->ncolumns * sizeof(bool));
	function_check_access(fcinfo, aview);
	if (aview->profile)
		access_check(aview->view, aview->profile->purpose, aview->profile->recipient);
	/* The result has a copy of the expected row type: a call in a lateral join runs again, and needs it. */
	kanon_materialize_expected(fcinfo);
	if (result->setDesc->natts != aview->ncolumns)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the anonymization view has %d columns, but %d were asked for", aview->ncolumns,
						result->setDesc->natts)));
	for (int i = 0; i < aview->ncolumns; i++)
		aview_check_type(aview, i, TupleDescAttr(result->setDesc, i)->atttypid);
	request.snapshot = GetActiveSnapshot();
	rows = methods->start(&request);
	row_source_rewind(rows, NULL);
	for (;;)
	{
		MemoryContext old = MemoryContextSwitchTo(row);
		bool found = row_source_next(rows, values, nulls);

		MemoryContextSwitchTo(old);
		if (!found)
			break;
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		MemoryContextReset(row);
	}
	row_source_end(rows);
	return (Datum) 0;
}
