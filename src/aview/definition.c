/*
 * definition.c
 *		Reading the definition of an A-view.
 *
 * As with hierarchies, reads see the latest committed state and need no
 * privileges: whoever may query the view has it read on his behalf.
 */
#include "base/kanon.h"

#include "aview/aview.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/regproc.h"
#include "utils/rls.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "aview/choices.h"
#include "aview/definition.h"
#include "base/extension.h"
#include "base/settings.h"
#include "hierarchy/dgh.h"
#include "recode/recode.h"

PG_FUNCTION_INFO_V1(kanon_aview_changed);

enum Anum_aview
{
	Anum_aview_id = 1,
	Anum_aview_view,
	Anum_aview_k,
	Anum_aview_l,
	Anum_aview_t,
	Anum_aview_match,
	Anum_aview_algorithm,
	Anum_aview_block_size,
	Anum_aview_maintained,
	Anum_aview_chain,
	Anum_aview_preselect,
	Anum_aview_keep_order,
	Anum_aview_settings
};

enum Anum_aview_column
{
	Anum_aview_column_aview = 1,
	Anum_aview_column_attnum,
	Anum_aview_column_role,
	Anum_aview_column_dgh
};

enum Anum_aview_step
{
	Anum_aview_step_aview = 1,
	Anum_aview_step_step,
	Anum_aview_step_attnum,
	Anum_aview_step_level
};

/* Calls a function for each row of a table whose integer or oid column has a value. */
typedef void (*RowReader)(AView *aview, HeapTuple row, TupleDesc desc);

static int
read_rows(const char *table, const char *index, int column, RegProcedure equal, Datum value, RowReader reader, AView *aview)
{
	Relation rel = table_open(kanon_relation(table), AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple row;
	int count = 0;

	ScanKeyInit(&key, column, BTEqualStrategyNumber, equal, value);
	scan = systable_beginscan(rel, kanon_relation(index), true, NULL, 1, &key);
	while ((row = systable_getnext(scan)) != NULL)
	{
		reader(aview, row, RelationGetDescr(rel));
		count++;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return count;
}

static Datum
attribute(HeapTuple row, TupleDesc desc, int column, bool *isnull)
{
	return heap_getattr(row, column, desc, isnull);
}

static void
read_aview(AView *aview, HeapTuple row, TupleDesc desc)
{
	bool isnull;
	Datum value;

	aview->id = DatumGetInt32(attribute(row, desc, Anum_aview_id, &isnull));
	aview->view = DatumGetObjectId(attribute(row, desc, Anum_aview_view, &isnull));
	value = attribute(row, desc, Anum_aview_k, &isnull);
	aview->k = isnull ? -1 : DatumGetInt32(value);
	value = attribute(row, desc, Anum_aview_l, &isnull);
	aview->l = isnull ? 0 : DatumGetInt32(value);
	value = attribute(row, desc, Anum_aview_t, &isnull);
	aview->t = isnull ? 0 : DatumGetFloat8(value);
	value = attribute(row, desc, Anum_aview_match, &isnull);
	aview->match = strcmp(TextDatumGetCString(value), "witness") == 0 ? MATCH_WITNESS : MATCH_COVER;
	value = attribute(row, desc, Anum_aview_algorithm, &isnull);
	aview->algorithm = strcmp(TextDatumGetCString(value), "mondrian") == 0 ? ALGORITHM_MONDRIAN : ALGORITHM_DATAFLY;
	value = attribute(row, desc, Anum_aview_block_size, &isnull);
	aview->block_size = isnull ? 0 : DatumGetInt32(value);
	value = attribute(row, desc, Anum_aview_maintained, &isnull);
	aview->materialized = !isnull;
	aview->by_triggers = !isnull && strcmp(TextDatumGetCString(value), "triggers") == 0;
	value = attribute(row, desc, Anum_aview_chain, &isnull);
	aview->chain = isnull ? NULL : TextDatumGetCString(value);
	value = attribute(row, desc, Anum_aview_preselect, &isnull);
	aview->preselects_hidden = strcmp(TextDatumGetCString(value), "hidden") == 0;
	aview->keeps_order = DatumGetBool(attribute(row, desc, Anum_aview_keep_order, &isnull));
	aview->settings = settings_read(DatumGetArrayTypePCopy(attribute(row, desc, Anum_aview_settings, &isnull)));
}

static void
read_column(AView *aview, HeapTuple row, TupleDesc desc)
{
	bool isnull;
	int attnum = DatumGetInt16(attribute(row, desc, Anum_aview_column_attnum, &isnull));
	char *role = TextDatumGetCString(attribute(row, desc, Anum_aview_column_role, &isnull));
	Datum dgh = attribute(row, desc, Anum_aview_column_dgh, &isnull);
	AViewColumn *column;

	if (attnum < 1 || attnum > aview->ncolumns)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the definition of anonymization view \"%s\" does not fit the view", get_rel_name(aview->view))));
	column = &aview->columns[attnum - 1];
	column->role = strcmp(role, "id") == 0 ? ROLE_ID : (strcmp(role, "quasi") == 0 ? ROLE_QUASI : ROLE_SENSITIVE);
	column->dgh_name = isnull ? NULL : TextDatumGetCString(dgh);
	column->generalized = column->role == ROLE_QUASI || (column->role == ROLE_SENSITIVE && !isnull);
}

static void
read_step(AView *aview, HeapTuple row, TupleDesc desc)
{
	bool isnull;
	int step = DatumGetInt32(attribute(row, desc, Anum_aview_step_step, &isnull));
	int attnum = DatumGetInt16(attribute(row, desc, Anum_aview_step_attnum, &isnull));

	if (step < 1 || step > aview->nsteps + 1000)
		return;
	if (step > aview->nsteps)
	{
		aview->steps = aview->steps ? repalloc(aview->steps, step * sizeof(RecodeStep))
									: palloc(step * sizeof(RecodeStep));
		aview->nsteps = step;
	}
	aview->steps[step - 1].column = -1;
	for (int i = 0; i < aview->nquasi; i++)
	{
		if (aview->quasi[i] == attnum - 1)
			aview->steps[step - 1].column = i;
	}
	aview->steps[step - 1].level = DatumGetInt32(attribute(row, desc, Anum_aview_step_level, &isnull));
}

/*
 * The source query inside the condition of an A-view; null if it is not one.  It
 * stands in true OR EXISTS (source).
 */
Query *
aview_source_of_condition(Node *condition)
{
	List *args = is_orclause(condition) ? ((BoolExpr *) condition)->args : NIL;
	SubLink *link;

	if (list_length(args) != 2 || !IsA(lsecond(args), SubLink))
		return NULL;
	link = lsecond_node(SubLink, args);
	return link->subLinkType == EXISTS_SUBLINK ? castNode(Query, link->subselect) : NULL;
}

/* The view's own call of kanon.scan must name this very definition. */
static bool
scans_definition(Query *query, int32 id)
{
	ListCell *cell;

	foreach (cell, query->rtable)
	{
		RangeTblEntry *rte = lfirst(cell);
		FuncExpr *call;
		Const *argument;

		if (rte->rtekind != RTE_FUNCTION || list_length(rte->functions) != 1)
			continue;
		call = (FuncExpr *) linitial_node(RangeTblFunction, rte->functions)->funcexpr;
		if (!IsA(call, FuncExpr) || list_length(call->args) != 1 || !IsA(linitial(call->args), Const))
			continue;
		argument = linitial_node(Const, call->args);
		if (argument->consttype == TEXTOID && !argument->constisnull &&
			strcmp(TextDatumGetCString(argument->constvalue), psprintf("%d", id)) == 0)
			return true;
	}
	return false;
}

/*
 * Rows in the order of the source's ORDER BY would say whose they are, where it
 * names an identifier or a raw quasi-identifier.  A view has no order anyway.
 */
static void
forget_order(Query *source)
{
	if (source->limitCount == NULL && source->limitOffset == NULL && source->distinctClause == NIL)
		source->sortClause = NIL;
}

static void
read_source(AView *aview)
{
	Relation rel = try_relation_open(aview->view, AccessShareLock);
	Query *query;
	TupleDesc desc;
	ListCell *cell;

	if (rel == NULL || rel->rd_rel->relkind != RELKIND_VIEW)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("the view of anonymization view definition %d does not exist", aview->id)));
	query = get_view_query(rel);
	aview->owner = rel->rd_rel->relowner;
	aview->source = scans_definition(query, aview->id) ? copyObject(aview_source_of_condition(query->jointree->quals)) : NULL;
	if (aview->source == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("\"%s\" is no longer an anonymization view", RelationGetRelationName(rel)),
				 errdetail("Its query was replaced."),
				 errhint("Drop it, and create it with %s.create_anonymization_view.", KANON_SCHEMA)));

	desc = RelationGetDescr(rel);
	aview->ncolumns = desc->natts;
	aview->columns = palloc0(list_length(aview->source->targetList) * sizeof(AViewColumn));
	foreach (cell, aview->source->targetList)
	{
		TargetEntry *entry = lfirst(cell);
		AViewColumn *column = &aview->columns[aview->nsource];

		if (entry->resjunk)
			continue;
		column->name = pstrdup(aview->nsource < desc->natts ? NameStr(TupleDescAttr(desc, aview->nsource)->attname) : entry->resname);
		column->source_type = exprType((Node *) entry->expr);
		column->source_typmod = exprTypmod((Node *) entry->expr);
		column->source_collation = exprCollation((Node *) entry->expr);
		column->disclose = column->retain = column->level = -1;
		aview->nsource++;
	}
	relation_close(rel, NoLock);
	if (aview->nsource < aview->ncolumns)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the definition of anonymization view \"%s\" does not fit the view", get_rel_name(aview->view))));
	profile_read(aview);
	forget_order(aview->rows);
}

static void
list_quasi(AView *aview)
{
	aview->quasi = palloc(Max(aview->ncolumns, 1) * sizeof(int));
	for (int i = 0; i < aview->ncolumns; i++)
	{
		AViewColumn *column = &aview->columns[i];

		if (column->role == ROLE_QUASI)
			aview->quasi[aview->nquasi++] = i;
		if (column->dgh_name)
		{
			column->dgh = dgh_get(column->dgh_name);
			dgh_pin(column->dgh, aview->context);
		}
	}
}

/*
 * A chain has to lead every column to its root.  A hierarchy may have grown since
 * the sequence was stored: what it lacks is added at its end, and steps to
 * levels that are no more lead to the root.
 */
static void
complete_steps(AView *aview)
{
	int *level = palloc0(Max(aview->nquasi, 1) * sizeof(int));
	int kept = 0;

	for (int i = 0; i < aview->nsteps; i++)
	{
		RecodeStep step = aview->steps[i];
		Dgh *dgh = step.column >= 0 ? aview->columns[aview->quasi[step.column]].dgh : NULL;
		int height = dgh ? dgh->height : 1;

		if (step.column < 0 || level[step.column] >= height)
			continue;
		step.level = ++level[step.column];
		aview->steps[kept++] = step;
	}
	for (int column = 0; column < aview->nquasi; column++)
	{
		Dgh *dgh = aview->columns[aview->quasi[column]].dgh;
		int height = dgh ? dgh->height : 1;

		while (level[column] < height)
		{
			aview->steps = aview->steps ? repalloc(aview->steps, (kept + 1) * sizeof(RecodeStep))
										: palloc(sizeof(RecodeStep));
			aview->steps[kept].column = column;
			aview->steps[kept++].level = ++level[column];
		}
	}
	aview->nsteps = kept;
}

AView *
aview_read(int32 id)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon anonymization view",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	AView *aview = palloc0(sizeof(AView));

	aview->context = context;
	if (read_rows(AVIEW_TABLE, "aview_pkey", Anum_aview_id, F_INT4EQ, Int32GetDatum(id), read_aview, aview) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("anonymization view definition %d does not exist", id),
				 errhint("A dump of the schema or of some tables alone has views without their definitions, which are data of the extension: restore the whole dump, or drop the view and create it again.")));
	read_source(aview);
	read_rows(AVIEW_COLUMN_TABLE, "aview_column_pkey", Anum_aview_column_aview, F_INT4EQ, Int32GetDatum(id), read_column, aview);
	list_quasi(aview);
	if (aview->algorithm == ALGORITHM_DATAFLY)
	{
		read_rows(AVIEW_STEP_TABLE, "aview_step_pkey", Anum_aview_step_aview, F_INT4EQ, Int32GetDatum(id), read_step, aview);
		complete_steps(aview);
	}
	MemoryContextSwitchTo(old);
	return aview;
}

void
aview_check_not_materialized(const AView *aview)
{
	if (aview->materialized)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("anonymization view \"%s\" is materialized, and its groups were made for what it says", get_rel_name(aview->view)),
				 errhint("Drop it and create it anew, if earlier answers may be compared.")));
}

/* What follows from today's rows is not what a materialized view has published. */
void
aview_check_logical(const AView *aview)
{
	if (aview->materialized)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this cannot be said of anonymization view \"%s\", which is materialized", get_rel_name(aview->view)),
				 errhint("kanon.groups shows its stored groups, and kanon.k_anonymity measures what it publishes.")));
}

bool
aview_exists(int32 id)
{
	AView found = {0};

	return read_rows(AVIEW_TABLE, "aview_pkey", Anum_aview_id, F_INT4EQ, Int32GetDatum(id), read_aview, &found) > 0;
}

/* The number of a view's definition; 0 if it is no A-view. */
int32
aview_id_of(Oid view)
{
	AView found = {0};

	read_rows(AVIEW_TABLE, "aview_view_key", Anum_aview_view, F_OIDEQ, ObjectIdGetDatum(view), read_aview, &found);
	return found.id;
}

/* The same, and an error for any other relation. */
int32
aview_id_of_view(Oid relation)
{
	char *name = get_rel_name(relation);
	int32 id;

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation)));
	id = aview_id_of(relation);
	if (id == 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not an anonymization view", name)));
	return id;
}

/* An A-view as people name it. */
int32
aview_id_by_name(const char *name)
{
	RangeVar *range = makeRangeVarFromNameList(kanon_name_list(name));

	return aview_id_of_view(RangeVarGetRelid(range, NoLock, false));
}

/* The type in which a column is published. */
Oid
aview_column_type(const AView *aview, int column)
{
	return aview->columns[column].generalized ? kanon_generalized_type() : aview->columns[column].source_type;
}

/* A call of kanon.scan says itself which columns it expects. */
void
aview_check_type(const AView *aview, int column, Oid type)
{
	if (column >= aview->ncolumns || type != aview_column_type(aview, column))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column %d of anonymization view \"%s\" is not of type %s", column + 1, get_rel_name(aview->view),
						format_type_be(type)),
				 errhint("Query the view itself.")));
}

AttrNumber
aview_base_column(const AView *aview, int index, Oid *table)
{
	Query *source = aview->rows;
	TargetEntry *entry = list_nth_node(TargetEntry, source->targetList, index);
	Var *var = (Var *) entry->expr;
	RangeTblEntry *rte;

	if (source->setOperations || source->groupClause || source->hasAggs || source->hasTargetSRFs ||
		list_length(source->jointree->fromlist) != 1 || !IsA(linitial(source->jointree->fromlist), RangeTblRef) ||
		!IsA(var, Var) || var->varlevelsup != 0)
		return 0;
	rte = rt_fetch(var->varno, source->rtable);
	if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_RELATION)
		return 0;
	*table = rte->relid;
	return var->varattno;
}

static bool
column_not_null(Oid table, AttrNumber attnum)
{
	HeapTuple tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(table), Int16GetDatum(attnum));
	bool result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = ((Form_pg_attribute) GETSTRUCT(tuple))->attnotnull;
	ReleaseSysCache(tuple);
	return result;
}

/* Does a unique index rule out two rows with equal values in some columns? */
bool
aview_index_is_key(Oid index, const Bitmapset *columns)
{
	HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	Form_pg_index form;
	bool result;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_index) GETSTRUCT(tuple);
	result = form->indisunique && form->indisvalid && form->indimmediate &&
			 heap_attisnull(tuple, Anum_pg_index_indpred, NULL);
	for (int i = 0; result && i < form->indnkeyatts; i++)
		result = form->indkey.values[i] > 0 && bms_is_member(form->indkey.values[i], columns);
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Is every row an individual of its own?  So it is without identifiers, and
 * where they hold a key of the one table that the rows come from.
 */
bool
aview_counts_rows(const AView *aview)
{
	Bitmapset *columns = NULL;
	Oid table = InvalidOid;
	bool any = false;
	bool result = false;
	Relation rel;
	ListCell *cell;

	for (int i = 0; i < aview->ncolumns; i++)
	{
		AttrNumber attnum;

		if (aview->columns[i].role != ROLE_ID)
			continue;
		any = true;
		attnum = aview_base_column(aview, i, &table);
		if (attnum > 0 && column_not_null(table, attnum))
			columns = bms_add_member(columns, attnum);
	}
	if (!any)
		return true;
	if (columns == NULL || has_subclass(table))
		return false;
	rel = relation_open(table, AccessShareLock);
	foreach (cell, RelationGetIndexList(rel))
		result = result || aview_index_is_key(lfirst_oid(cell), columns);
	relation_close(rel, NoLock);
	return result;
}

/* Are there rows that are published in groups? */
bool
aview_groups(const AView *aview)
{
	return aview->k > 1 || (aview->profile && aview->profile->k >= 0);
}

/* May the current user read all rows and columns of a table? */
bool
relation_is_readable(Oid relation)
{
	return pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK &&
		   check_enable_rls(relation, InvalidOid, true) != RLS_ENABLED;
}

/*
 * A view in the source may be an A-view, or have one below: what it reads has to
 * be readable, too.  The context is the view at hand, which its own query names.
 */
static bool
unreadable_walker(Node *node, void *view)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;
		Relation rel;
		bool result;

		if (rte->rtekind != RTE_RELATION || rte->relid == *(Oid *) view)
			return false;
		if (!relation_is_readable(rte->relid))
			return true;
		if (rte->relkind != RELKIND_VIEW)
			return false;
		check_stack_depth();
		rel = relation_open(rte->relid, AccessShareLock);
		result = unreadable_walker((Node *) get_view_query(rel), &rte->relid);
		relation_close(rel, AccessShareLock);
		return result;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, unreadable_walker, view, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, unreadable_walker, view);
}

/* May the current user read all of the source himself? */
bool
aview_source_readable(const AView *aview)
{
	Oid view = aview->view;

	return !unreadable_walker((Node *) aview->source, &view);
}

/* Announce that a row of the tables of definitions has changed: the first column tells which definition it is about. */
static void
announce_change(const TriggerData *trigger, HeapTuple row)
{
	TupleDesc desc = RelationGetDescr(trigger->tg_relation);
	AView aview = {0};
	bool isnull;

	if (RelationGetRelid(trigger->tg_relation) == kanon_relation(AVIEW_TABLE))
		read_aview(&aview, row, desc);
	else
		read_rows(AVIEW_TABLE, "aview_pkey", Anum_aview_id, F_INT4EQ, attribute(row, desc, 1, &isnull), read_aview, &aview);
	if (OidIsValid(aview.view) && TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
		LockRelationOid(aview.view, AccessExclusiveLock);
	if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(aview.view)))
		CacheInvalidateRelcacheByRelid(aview.view);
}

/*
 * Announce a change of a definition: an AFTER trigger FOR EACH ROW.  Cached
 * definitions and plans made from it are no longer good.  A view's plans hold a lock
 * on it while they run, and look for news after they have got it: so does a change.
 */
Datum
kanon_aview_changed(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = kanon_trigger(fcinfo, NULL, true);

	announce_change(trigger, trigger->tg_trigtuple);
	/* A row may come to another definition. */
	if (TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
		announce_change(trigger, trigger->tg_newtuple);
	return PointerGetDatum(NULL);
}
