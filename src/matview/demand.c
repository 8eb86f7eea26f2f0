/*
 * demand.c
 *		The k that the rows of a materialized view ask for, by the choices of their owners.
 *
 * Groups are stored once, for all purposes and recipients: an analyst who may ask for
 * several of them could otherwise compare the groups of one with the groups of
 * another.  So the largest k of a data owner's choices counts, for all of them.  The
 * other choices, such as the columns that are shown, are looked up when the view is
 * read.
 *
 * A change of choices is a change of the rows to which they belong.
 */
#include "base/kanon.h"

#include "matview/demand.h"

#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "aview/aview.h"
#include "aview/choices.h"
#include "matview/follow.h"
#include "matview/keeper.h"
#include "matview/stored.h"
#include "matview/tables.h"
#include "source/source.h"

/* Return the table of choices that have a k in them; InvalidOid: none. */
Oid
demand_table(const AView *aview)
{
	if (aview->profile == NULL || aview->profile->demand < 0)
		return InvalidOid;
	return linitial_node(RangeTblEntry, demand_query(aview)->rtable)->relid;
}

/* Return true if triggers can tell of every change of the choices, or there are none. */
bool
demand_has_triggers(const AView *aview)
{
	Oid table = demand_table(aview);
	RangeTblEntry *rte;

	if (!OidIsValid(table))
		return true;
	rte = linitial_node(RangeTblEntry, demand_query(aview)->rtable);
	return (rte->relkind == RELKIND_RELATION || rte->relkind == RELKIND_PARTITIONED_TABLE) &&
		   check_enable_rls(table, aview->owner, true) != RLS_ENABLED &&
		   !follow_has_odd_column(demand_query(aview)->jointree->quals, table) &&
		   !contain_mutable_functions((Node *) demand_query(aview)->jointree->quals);
}

/*
 * Return the k of a row, given the largest k of its owner's choices.  The view's own k counts
 * where there is no choice; and, where choices depend on purpose or recipient, also where
 * there is one, since there may be none for another purpose.
 */
int64
demand_of_choices(const Keeper *keeper, Datum largest, bool none)
{
	int64 k = keeper->aview->k;

	if (none)
		return k;
	if (DatumGetInt64(largest) < 0)
		return -1;
	return keeper->in_context ? Max(DatumGetInt64(largest), k) : DatumGetInt64(largest);
}

/* Return the parameter with a number, of the type of a column. */
static Param *
make_param(int id, const Var *var)
{
	Param *param = makeNode(Param);

	param->paramkind = PARAM_EXTERN;
	param->paramid = id;
	param->paramtype = var->vartype;
	param->paramtypmod = var->vartypmod;
	param->paramcollid = var->varcollid;
	param->location = -1;
	return param;
}

/* Put parameters for the columns of a row, which are the outer query's: a query_tree_mutator(). */
static Node *
row_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == 1)
		return (Node *) make_param(((Var *) node)->varattno, (Var *) node);
	return expression_tree_mutator(node, row_mutator, context);
}

/* Replace the columns of a row by columns of members, and the columns of choices by parameters. */
static Node *
member_mutator(Node *node, void *context)
{
	const Keeper *keeper = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var *var = (Var *) node;
		int place = 0;

		if (var->varlevelsup == 1)
			return (Node *) makeVar(1, var->varattno + Anum_members_first - 1, var->vartype, var->vartypmod,
									var->varcollid, 0);
		Assert(list_member_int(keeper->owner_key.choices, var->varattno));
		while (list_nth_int(keeper->owner_key.choices, place) != var->varattno)
			place++;
		return (Node *) make_param(place + 1, var);
	}
	return expression_tree_mutator(node, member_mutator, context);
}

/* Plan SELECT the columns of the rows FROM members WHERE some choices belong to them. */
static PlannedStmt *
plan_owned(Keeper *keeper)
{
	StringInfoData text;
	Query *query;

	initStringInfo(&text);
	for (int i = 0; i < keeper->aview->nkeyed; i++)
		appendStringInfo(&text, "%s m.c%d", i == 0 ? "SELECT" : ",", i + 1);
	appendStringInfo(&text, " FROM kanon.members_%d AS m", keeper->id);
	query = stored_query(text.data);
	query->jointree->quals = member_mutator(demand_query(keeper->aview)->jointree->quals, keeper);
	return source_plan(keeper->aview, query, false, NULL);
}

/* Fill in the keeper's data on choices. */
void
demand_prepare(Keeper *keeper)
{
	AView *aview = keeper->aview;
	ListCell *cell;
	int place = 0;

	keeper->choices = demand_table(aview);
	if (!OidIsValid(keeper->choices))
		return;
	profile_key(aview, &keeper->owner_key);
	keeper->in_context = keeper->owner_key.purpose > 0 || keeper->owner_key.recipient > 0;
	keeper->largest_k = source_plan(aview, query_tree_mutator(copyObject(demand_query(aview)), row_mutator, NULL, 0),
									false, NULL);
	keeper->owned = plan_owned(keeper);
	keeper->planned = list_concat_copy(keeper->largest_k->relationOids, keeper->owned->relationOids);
	keeper->asking = AllocSetContextCreate(CurrentMemoryContext, "kanon demand", ALLOCSET_DEFAULT_SIZES);
	keeper->owner = CreateTemplateTupleDesc(list_length(keeper->owner_key.choices));
	foreach (cell, keeper->owner_key.choices)
	{
		Oid type;
		int32 typmod;
		Oid collation;

		get_atttypetypmodcoll(keeper->choices, lfirst_int(cell), &type, &typmod, &collation);
		TupleDescInitEntry(keeper->owner, ++place, NULL, type, typmod, 0);
		TupleDescInitEntryCollation(keeper->owner, place, collation);
	}
}

/* Lock the tables of a plan. */
static void
lock_tables(const PlannedStmt *plan)
{
	ListCell *cell;

	foreach (cell, plan->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, cell);

		if (rte->rtekind == RTE_RELATION)
			LockRelationOid(rte->relid, rte->rellockmode);
	}
}

/* Lock the tables of the keeper's plans: plans that are kept need their locks in each transaction. */
void
demand_lock(Keeper *keeper)
{
	if (!OidIsValid(keeper->choices))
		return;
	lock_tables(keeper->largest_k);
	lock_tables(keeper->owned);
}

/* Return the k of a row, by a query for the largest k of its owner's choices. */
int64
demand_of_row(Keeper *keeper, const Datum *values, const bool *nulls)
{
	MemoryContext old = MemoryContextSwitchTo(keeper->asking);
	ParamListInfo params = makeParamList(keeper->aview->nkeyed);
	SourceRun *run;
	TupleTableSlot *slot;
	int64 demand;
	ListCell *cell;

	Assert(OidIsValid(keeper->choices));
	foreach (cell, keeper->owner_key.view_columns)
	{
		int column = lfirst_int(cell);
		ParamExternData *param = &params->params[column];

		param->ptype = keeper->aview->columns[column].source_type;
		param->value = values[column];
		param->isnull = nulls[column];
	}
	run = source_start(keeper->aview, keeper->largest_k, params, GetActiveSnapshot());
	if (source_next(run, &slot))
	{
		slot_getallattrs(slot);
		demand = demand_of_choices(keeper, slot->tts_values[0], slot->tts_isnull[0]);
	}
	else
		demand = demand_of_choices(keeper, (Datum) 0, true);
	source_end(run);
	MemoryContextSwitchTo(old);
	MemoryContextReset(keeper->asking);
	return demand;
}

/* Call a function with the values of each stored row to which choices belong. */
void
demand_visit_owned(Keeper *keeper, TupleTableSlot *owner, RowVisitor visit, void *arg)
{
	MemoryContext old = MemoryContextSwitchTo(keeper->asking);
	ParamListInfo params = makeParamList(keeper->owner->natts);
	SourceRun *run;
	TupleTableSlot *slot;

	Assert(OidIsValid(keeper->choices));
	slot_getallattrs(owner);
	for (int i = 0; i < keeper->owner->natts; i++)
	{
		params->params[i].ptype = TupleDescAttr(keeper->owner, i)->atttypid;
		params->params[i].value = owner->tts_values[i];
		params->params[i].isnull = owner->tts_isnull[i];
	}
	run = source_start(keeper->aview, keeper->owned, params, GetActiveSnapshot());
	while (source_next(run, &slot))
	{
		slot_getallattrs(slot);
		visit(arg, slot->tts_values, slot->tts_isnull);
	}
	source_end(run);
	MemoryContextSwitchTo(old);
	MemoryContextReset(keeper->asking);
}
