/*
 * definition.c
 *		Reading the definition of an A-view, and announcing its changes.
 *
 * A definition stands in two places: the rows of kanon.aview, kanon.aview_column
 * and kanon.aview_step, and the view's own query, which contains the source.  As
 * with hierarchies, reading sees the latest committed state and needs no
 * privileges: a role that may query the view has its definition read for it.
 */
#include "base/kanon.h"

#include "aview/definition.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "aview/aview.h"
#include "aview/choices.h"
#include "aview/projection.h"
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
	Anum_aview_settings,
	Anum_aview_stale,
	Anum_aview_policies
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

/* Enters a row of one of the tables into the definition. */
typedef void (*RowReader)(AView *aview, HeapTuple row, TupleDesc desc);

/* Rows of one of the tables that have a value in a column: where they are found, and how they are read. */
typedef struct DefinitionRows
{
	const char *table;
	const char *index; /* on the column */
	int column;
	RegProcedure equal; /* of the column's type */
	RowReader reader;
} DefinitionRows;

/* Read the rows that have a value in the column, in the order of the index; return how many there are. */
static int
read_definition_rows(const DefinitionRows *rows, Datum value, AView *aview)
{
	Relation rel = table_open(kanon_relation(rows->table), AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple row;
	int count = 0;

	ScanKeyInit(&key, rows->column, BTEqualStrategyNumber, rows->equal, value);
	scan = systable_beginscan(rel, kanon_relation(rows->index), true, NULL, 1, &key);
	while ((row = systable_getnext(scan)) != NULL)
	{
		rows->reader(aview, row, RelationGetDescr(rel));
		count++;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return count;
}

/* Return a column of a row. */
static Datum
attribute(HeapTuple row, TupleDesc desc, int column, bool *isnull)
{
	return heap_getattr(row, column, desc, isnull);
}

/* Read of a row of kanon.aview only which view it defines. */
static void
read_identity(AView *aview, HeapTuple row, TupleDesc desc)
{
	bool isnull;

	aview->id = DatumGetInt32(attribute(row, desc, Anum_aview_id, &isnull));
	aview->view = DatumGetObjectId(attribute(row, desc, Anum_aview_view, &isnull));
}

/* Read a row of kanon.aview. */
static void
read_aview(AView *aview, HeapTuple row, TupleDesc desc)
{
	bool isnull;
	Datum value;

	read_identity(aview, row, desc);
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
	value = attribute(row, desc, Anum_aview_policies, &isnull);
	aview->policies = isnull ? NULL : TextDatumGetCString(value);
	value = attribute(row, desc, Anum_aview_preselect, &isnull);
	aview->preselects_hidden = strcmp(TextDatumGetCString(value), "hidden") == 0;
	aview->keeps_order = DatumGetBool(attribute(row, desc, Anum_aview_keep_order, &isnull));
	aview->settings = settings_read(DatumGetArrayTypePCopy(attribute(row, desc, Anum_aview_settings, &isnull)));
	aview->stale = DatumGetBool(attribute(row, desc, Anum_aview_stale, &isnull));
}

/* Read a row of kanon.aview_column; the columns themselves are known from the source. */
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
				 errmsg("the definition of anonymization view \"%s\" does not fit the view",
						get_rel_name(aview->view))));
	column = &aview->columns[attnum - 1];
	column->role = strcmp(role, "id") == 0 ? ROLE_ID : (strcmp(role, "quasi") == 0 ? ROLE_QUASI : ROLE_SENSITIVE);
	column->dgh_name = isnull ? NULL : TextDatumGetCString(dgh);
	column->generalized = column->role == ROLE_QUASI || (column->role == ROLE_SENSITIVE && !isnull);
}

/*
 * Read a row of kanon.aview_step.  Steps that are missing have no column, here as -1,
 * as have steps of columns that are no quasi-identifiers; complete_steps() removes them.
 */
static void
read_step(AView *aview, HeapTuple row, TupleDesc desc)
{
	bool isnull;
	int step = DatumGetInt32(attribute(row, desc, Anum_aview_step_step, &isnull));
	int attnum = DatumGetInt16(attribute(row, desc, Anum_aview_step_attnum, &isnull));

	/* The table can be written by hand: a number far away must not take gigabytes. */
	if (step < 1 || step > aview->nsteps + 1000)
		return;
	if (step > aview->nsteps)
	{
		aview->steps = aview->steps ? repalloc(aview->steps, step * sizeof(RecodeStep))
									: palloc(step * sizeof(RecodeStep));
		for (int i = aview->nsteps; i < step; i++)
			aview->steps[i] = (RecodeStep){.column = -1};
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
 * Return the source query inside the condition of an A-view, which is true OR EXISTS
 * (source), or NULL if the condition is another one.
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

/* Return true if a query calls kanon.scan for this very definition. */
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

/* Remove the ORDER BY of a source, whose rows are shuffled anyway, unless it says which rows there are. */
static void
forget_order(Query *source)
{
	if (source->limitCount == NULL && source->limitOffset == NULL && source->distinctClause == NIL)
		source->sortClause = NIL;
}

/* Raise an error for a view whose query has been replaced. */
static pg_noreturn void
not_an_aview(Relation view)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("\"%s\" is no longer an anonymization view", RelationGetRelationName(view)),
			 errdetail("Its query was replaced."),
			 errhint("Drop it, and create it with %s.create_anonymization_view.", KANON_SCHEMA)));
}

/*
 * List the columns of the source: the columns of the view, under the view's names, then
 * columns that are not in it: of the profile's key, and of choices.
 */
static void
list_source_columns(AView *aview, TupleDesc desc)
{
	ListCell *cell;

	aview->ncolumns = desc->natts;
	aview->columns = palloc0(list_length(aview->source->targetList) * sizeof(AViewColumn));
	foreach (cell, aview->source->targetList)
	{
		TargetEntry *entry = lfirst(cell);
		AViewColumn *column = &aview->columns[aview->nsource];

		if (entry->resjunk)
			continue;
		column->name = pstrdup(aview->nsource < desc->natts ? NameStr(TupleDescAttr(desc, aview->nsource)->attname)
															: entry->resname);
		column->source_type = exprType((Node *) entry->expr);
		column->source_typmod = exprTypmod((Node *) entry->expr);
		column->source_collation = exprCollation((Node *) entry->expr);
		column->disclose = column->retain = column->level = -1;
		aview->nsource++;
	}
	if (aview->nsource < aview->ncolumns)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the definition of anonymization view \"%s\" does not fit the view",
						get_rel_name(aview->view))));
}

/* Read the source, its columns and the owner from the view, which stays locked until the end of the transaction. */
static void
read_source(AView *aview)
{
	Relation rel = try_relation_open(aview->view, AccessShareLock);
	Query *query;

	if (rel == NULL || rel->rd_rel->relkind != RELKIND_VIEW)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("the view of anonymization view definition %d does not exist", aview->id)));
	query = get_view_query(rel);
	aview->owner = rel->rd_rel->relowner;
	aview->source = scans_definition(query, aview->id) ? copyObject(aview_source_of_condition(query->jointree->quals))
													   : NULL;
	if (aview->source == NULL)
		not_an_aview(rel);
	aview->source = projection_read(aview->source);
	list_source_columns(aview, RelationGetDescr(rel));
	relation_close(rel, NoLock);
	profile_read(aview);
	if (!aview->keeps_order || aview->profile || aview->materialized)
	{
		forget_order(aview->rows);
		forget_order(projection_inside(aview->rows));
	}
	else
		aview->is_sorted = projection_inside(aview->rows)->sortClause != NIL;
}

/* List the quasi-identifiers, and pin the hierarchies of all columns. */
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
 * Make the steps a chain that leads every column to its root.  A hierarchy may have
 * changed since the sequence was stored: steps that it lacks are added at its end,
 * and steps beyond the root are removed.
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
	for (int i = 0; i < kept; i++)
		Assert(aview->steps[i].column >= 0 && aview->steps[i].column < aview->nquasi && aview->steps[i].level > 0);
}

static const DefinitionRows definition_by_id = {AVIEW_TABLE, "aview_pkey", Anum_aview_id, F_INT4EQ, read_aview};
static const DefinitionRows identity_by_id = {AVIEW_TABLE, "aview_pkey", Anum_aview_id, F_INT4EQ, read_identity};
static const DefinitionRows identity_by_view = {AVIEW_TABLE, "aview_view_key", Anum_aview_view, F_OIDEQ, read_identity};
static const DefinitionRows columns_by_id = {AVIEW_COLUMN_TABLE, "aview_column_pkey", Anum_aview_column_aview, F_INT4EQ,
											 read_column};
static const DefinitionRows steps_by_id = {AVIEW_STEP_TABLE, "aview_step_pkey", Anum_aview_step_aview, F_INT4EQ,
										   read_step};

/* Read a definition: see definition.h. */
AView *
aview_read(int32 id)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon anonymization view",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	AView *aview = palloc0(sizeof(AView));

	aview->context = context;
	if (read_definition_rows(&definition_by_id, Int32GetDatum(id), aview) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("anonymization view definition %d does not exist", id),
				 errhint("A dump of the schema or of some tables alone has views without their definitions, which are data of the extension: restore the whole dump, or drop the view and create it again.")));
	read_source(aview);
	read_definition_rows(&columns_by_id, Int32GetDatum(id), aview);
	list_quasi(aview);
	if (aview->algorithm == ALGORITHM_DATAFLY)
	{
		read_definition_rows(&steps_by_id, Int32GetDatum(id), aview);
		complete_steps(aview);
	}
	Assert(aview->id == id && aview->rows && aview->nquasi <= aview->ncolumns);
	MemoryContextSwitchTo(old);
	return aview;
}

/* Return true if there is a definition with a number. */
bool
aview_exists(int32 id)
{
	AView found = {0};

	return read_definition_rows(&identity_by_id, Int32GetDatum(id), &found) > 0;
}

/* Return the number of a view's definition, or 0 if it is no A-view. */
int32
aview_id_of(Oid view)
{
	AView found = {0};

	read_definition_rows(&identity_by_view, ObjectIdGetDatum(view), &found);
	return found.id;
}

/* Return the number of a view's definition; raise an error for any other relation. */
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

/* Return the number of the definition of an A-view that is named as SQL names it; raise an error if there is none. */
int32
aview_id_by_name(const char *name)
{
	RangeVar *range = makeRangeVarFromNameList(kanon_name_list(name));

	return aview_id_of_view(RangeVarGetRelid(range, NoLock, false));
}

/* Announce that a row of the tables of definitions has changed: the first column tells which definition it is about. */
static void
announce_change(const TriggerData *trigger, HeapTuple row)
{
	TupleDesc desc = RelationGetDescr(trigger->tg_relation);
	AView aview = {0};
	bool isnull;

	if (RelationGetRelid(trigger->tg_relation) == kanon_relation(AVIEW_TABLE))
		read_identity(&aview, row, desc);
	else
		read_definition_rows(&identity_by_id, attribute(row, desc, 1, &isnull), &aview);
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
