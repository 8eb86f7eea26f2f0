/*
 * refresh.c
 *		kanon.refresh: bringing a materialized view up to date, or forming its groups anew.
 */

#include "base/kanon.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "aview/aview.h"
#include "base/extension.h"
#include "ddl/recoding.h"
#include "matview/matview.h"
#include "matview/policies.h"

PG_FUNCTION_INFO_V1(kanon_refresh);

/* Delete the stored groups, so that nothing is kept of earlier answers. */
static void
forget_groups(AView *aview)
{
	Oid types[2] = {INT4OID, TEXTOID};
	Datum values[2] = {Int32GetDatum(aview->id)};

	aview_store_recoding(aview);
	CommandCounterIncrement();
	values[1] = CStringGetTextDatum(matview_chain(aview_load(aview->id)));
	kanon_execute("UPDATE kanon.aview SET chain = $2 WHERE id OPERATOR(pg_catalog.=) $1", 2, types, values, NULL);
	matview_delete_groups(aview->id);
}

/* Note that the groups have missed nothing. */
static void
mark_fresh(int32 id)
{
	Oid types[1] = {INT4OID};
	Datum values[1] = {Int32GetDatum(id)};

	kanon_execute("UPDATE kanon.aview SET stale = false WHERE id OPERATOR(pg_catalog.=) $1 AND stale", 1, types,
				  values, NULL);
}

/* Refresh a materialized view: refresh(view, earlier_answers_may_be_compared). */
Datum
kanon_refresh(PG_FUNCTION_ARGS)
{
	AView *aview = matview_load_owned(PG_GETARG_OID(0));
	int64 changes;

	if (matview_has_pending(aview->id))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("anonymization view \"%s\" cannot be refreshed in a transaction that has changed its source",
						get_rel_name(aview->view)),
				 errhint("Commit first.")));
	matview_restore_triggers(aview);
	matview_lock(aview->id);
	if (PG_GETARG_BOOL(1))
		forget_groups(aview);
	changes = matview_reconcile(aview->id);
	mark_fresh(aview->id);
	policies_store(aview);
	PG_RETURN_INT64(changes);
}
