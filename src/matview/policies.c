/*
 * policies.c
 *		Row security of the tables behind stored groups.
 *
 * Groups hold the rows that the view's owner could see when the groups were last compared with
 * the source.  Enabling row security or changing a policy fires no trigger of the table.
 * Therefore every reader compares the policies with those of that time.
 */
#include "base/kanon.h"

#include "matview/policies.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteHandler.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "aview/aview.h"
#include "base/as_owner.h"
#include "base/extension.h"

/* The search for row security: in the query of a view, with the rights of its owner. */
typedef struct PolicySearch
{
	Oid view; /* which its own query names */
	Oid owner;
} PolicySearch;

/* Find a table whose row policies hold for the owner of the view that reads it. */
static bool
row_security_walker(Node *node, void *context)
{
	PolicySearch *search = context;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, row_security_walker, context, QTW_EXAMINE_RTES_BEFORE);
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;
		PolicySearch below;
		Relation rel;
		bool result;

		if (rte->rtekind != RTE_RELATION || rte->relid == search->view)
			return false;
		if (rte->relkind != RELKIND_VIEW)
			return check_enable_rls(rte->relid, search->owner, true) == RLS_ENABLED;
		check_stack_depth();
		rel = relation_open(rte->relid, AccessShareLock);
		below = (PolicySearch){rte->relid, rel->rd_rel->relowner};
		result = row_security_walker((Node *) get_view_query(rel), &below);
		relation_close(rel, AccessShareLock);
		return result;
	}
	return expression_tree_walker(node, row_security_walker, context);
}

/*
 * Return true if row policies hide rows of the source from the view's owner, or from the owner
 * of a view below.  Choices are not stored: they are joined when the view is read.
 */
static bool
has_row_policies(const AView *aview)
{
	PolicySearch search = {aview->view, aview->owner};

	return row_security_walker((Node *) aview->rows, &search);
}

/* Return kanon.row_policies() of a view, in the current memory context. */
static char *
present_policies(Oid view)
{
	MemoryContext caller = CurrentMemoryContext;
	Oid types[1] = {OIDOID};
	Datum values[1] = {ObjectIdGetDatum(view)};
	char *text;
	AsOwner scope;

	as_kanon_start(&scope, kanon_owner());
	/* As they are now, and not as they were when the transaction began. */
	PushActiveSnapshot(GetLatestSnapshot());
	if (SPI_connect() != SPI_OK_CONNECT ||
		SPI_execute_with_args("SELECT kanon.row_policies($1::pg_catalog.regclass)", 1, types, values, NULL, true, 1) !=
			SPI_OK_SELECT)
		elog(ERROR, "could not read row policies");
	text = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	if (text)
		text = MemoryContextStrdup(caller, text);
	SPI_finish();
	PopActiveSnapshot();
	as_owner_end(&scope);
	return text;
}

void
policies_check(const AView *aview)
{
	char *present = has_row_policies(aview) ? present_policies(aview->view) : NULL;

	if (present && (aview->policies == NULL || strcmp(present, aview->policies) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the row security of a table behind materialized anonymization view \"%s\" has changed",
						get_rel_name(aview->view)),
				 errdetail("Its stored groups may hold rows that the view's owner may not see any more."),
				 errhint("Bring them up to date with %s.refresh.", KANON_SCHEMA)));
}

void
policies_store(const AView *aview)
{
	Oid types[1] = {INT4OID};
	Datum values[1] = {Int32GetDatum(aview->id)};

	kanon_execute("UPDATE kanon.aview SET policies = kanon.row_policies(view) WHERE id OPERATOR(pg_catalog.=) $1"
				  " AND policies IS DISTINCT FROM kanon.row_policies(view)",
				  1, types, values, NULL);
}
