/*
 * reconcile.c
 *		Comparing the groups with the source, and making them anew; showing them.
 */
#include "matview/matview.h"

#include "access/htup_details.h"
#include "access/heapam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "matview/stored.h"

PG_FUNCTION_INFO_V1(kanon_refresh);
PG_FUNCTION_INFO_V1(kanon_groups);

/* Places of members whose row is still in the source. */
typedef struct SeenEntry
{
	uint64 place;
	char status;
} SeenEntry;

#define SH_PREFIX seen
#define SH_ELEMENT_TYPE SeenEntry
#define SH_KEY_TYPE uint64
#define SH_KEY place
#define SH_HASH_KEY(tb, k) (murmurhash32((uint32) (k)) ^ murmurhash32((uint32) ((k) >> 32)))
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static uint64
place_of(ItemPointer tid)
{
	return (uint64) ItemPointerGetBlockNumber(tid) << 16 | ItemPointerGetOffsetNumber(tid);
}

static void
check_ids_present(Keeper *keeper, TupleTableSlot *slot)
{
	for (int i = 0; i < keeper->anonymizer->nids; i++)
	{
		if (slot->tts_isnull[keeper->anonymizer->ids[i]])
			ereport(ERROR,
					(errcode(ERRCODE_NOT_NULL_VIOLATION),
					 errmsg("identifier \"%s\" of materialized anonymization view \"%s\" is null in a row of the source",
							keeper->aview->columns[keeper->anonymizer->ids[i]].name, get_rel_name(keeper->aview->view))));
	}
}

static void
put_source(Keeper *keeper, Maintenance *maintenance, seen_hash *seen, Snapshot snapshot)
{
	AView *aview = keeper->aview;
	List *columns = NIL;
	SourceRun *run;
	TupleTableSlot *slot;

	for (int i = 0; i < aview->ncolumns; i++)
		columns = lappend_int(columns, i);
	/* Where rows have a k of their own, it comes last here as there. */
	if (keeper->personal)
		columns = lappend_int(columns, aview->profile->demand);
	run = source_start(source_plan(source_query(aview, columns, NIL, NIL), false, NULL), NULL, snapshot);
	while (source_next(run, &slot))
	{
		ItemPointerData was;
		bool again;

		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		check_ids_present(keeper, slot);
		if (keeper->personal)
		{
			int last = aview->ncolumns;

			slot->tts_values[last] = Int64GetDatum(demand_of_choices(keeper, slot->tts_values[last], slot->tts_isnull[last]));
			slot->tts_isnull[last] = false;
		}
		if (!maintenance_put(maintenance, slot->tts_values, slot->tts_isnull, &was))
			continue;
		seen_insert(seen, place_of(&was), &again);
	}
	source_end(run);
}

static void
drop_unseen(Maintenance *maintenance, seen_hash *seen, Snapshot snapshot)
{
	TableScanDesc scan = table_beginscan(maintenance_members(maintenance), snapshot, 0, NULL);
	HeapTuple member;

	while ((member = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (seen_lookup(seen, place_of(&member->t_self)) == NULL)
			maintenance_drop(maintenance, member);
	}
	table_endscan(scan);
}

/*
 * Brings in whatever the groups have missed.  The caller holds the view's lock and
 * a snapshot taken after he got it, which therefore sees what all who had the lock
 * before him have committed.
 */
int64
matview_reconcile(Keeper *keeper)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon comparison of groups and source", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Snapshot snapshot = RegisterSnapshot(GetActiveSnapshot());
	Maintenance *maintenance = maintenance_start(keeper);
	seen_hash *seen = seen_create(context, 1024, NULL);
	int64 changes;

	put_source(keeper, maintenance, seen, snapshot);
	drop_unseen(maintenance, seen, snapshot);
	maintenance_recall(maintenance);
	changes = maintenance_end(maintenance);
	UnregisterSnapshot(snapshot);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return changes;
}

static AView *
load_owned(Oid view)
{
	AView *aview = aview_load(aview_id_of_view(view));

	if (!kanon_owns_relation(view, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_VIEW, get_rel_name(view));
	if (!aview->materialized)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("anonymization view \"%s\" is not materialized", get_rel_name(view))));
	stored_check_rights(aview);
	return aview;
}

/* Nothing of what was published is kept. */
static void
forget_groups(AView *aview)
{
	Oid types[2] = {INT4OID, TEXTOID};
	Datum values[2] = {Int32GetDatum(aview->id)};

	aview_store_recoding(aview);
	CommandCounterIncrement();
	values[1] = CStringGetTextDatum(matview_chain(aview_load(aview->id)));
	aview_run_as_extension("UPDATE kanon.aview SET chain = $2 WHERE id OPERATOR(pg_catalog.=) $1", 2, types, values, NULL);
	aview_run_as_extension(psprintf("DELETE FROM kanon.groups_%d", aview->id), 0, NULL, NULL, NULL);
	aview_run_as_extension(psprintf("DELETE FROM kanon.members_%d", aview->id), 0, NULL, NULL, NULL);
	CommandCounterIncrement();
}

static void
count_changes(Keeper *keeper, void *arg)
{
	*(int64 *) arg = matview_reconcile(keeper);
}

/* refresh(view, earlier_answers_may_be_compared) */
Datum
kanon_refresh(PG_FUNCTION_ARGS)
{
	AView *aview = load_owned(PG_GETARG_OID(0));
	int64 changes = 0;

	if (pending_has(aview->id))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("anonymization view \"%s\" cannot be refreshed in a transaction that has changed its source",
						get_rel_name(aview->view)),
				 errhint("Commit first.")));
	matview_warn_of_triggers(aview);
	keeper_lock(aview->id);
	if (PG_GETARG_BOOL(1))
		forget_groups(aview);
	keeper_work(aview->id, count_changes, &changes);
	PG_RETURN_INT64(changes);
}

/* Runs a query on the stored tables as their owner, and keeps its rows. */
static void
select_stored(const char *command, Tuplestorestate *store)
{
	Oid user;
	int context;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(kanon_owner(), context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	if (SPI_connect() != SPI_OK_CONNECT || SPI_execute(command, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read stored groups");
	for (uint64 i = 0; i < SPI_processed; i++)
		tuplestore_puttuple(store, SPI_tuptable->vals[i]);
	SPI_finish();
	SetUserIdAndSecContext(user, context);
}

/* {"column": expression, ...} of the columns of a role */
static char *
object_of(const AView *aview, ColumnRole role, const char *form)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, "pg_catalog.jsonb_build_object(");
	for (int i = 0; i < aview->ncolumns; i++)
	{
		if (aview->columns[i].role != role)
			continue;
		appendStringInfo(&text, "%s%s, ", text.data[text.len - 1] == '(' ? "" : ", ", quote_literal_cstr(aview->columns[i].name));
		appendStringInfo(&text, form, i + 1);
	}
	appendStringInfoChar(&text, ')');
	return text.data;
}

/* groups(view): as in the paper's Fig. 10, for the view's owner; rows that wait come last */
Datum
kanon_groups(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	AView *aview = load_owned(PG_GETARG_OID(0));
	/* By their output functions: a cast to json may be anybody's code, and this runs with our rights. */
	const char *list = "pg_catalog.jsonb_agg(CASE WHEN m.c%1$d IS NULL THEN NULL ELSE pg_catalog.format('%%s', m.c%1$d) END ORDER BY m.ctid)";
	StringInfoData command;
	StringInfoData cell;

	initStringInfo(&command);
	initStringInfo(&cell);
	for (int i = 0; i < aview->nquasi; i++)
		appendStringInfo(&cell, ", g.c%d", aview->quasi[i] + 1);
	appendStringInfo(&command,
					 "SELECT g.g_id, pg_catalog.count(*), CASE WHEN g.g_id IS NOT NULL THEN %s END, %s, %s, %s"
					 " FROM kanon.members_%d AS m LEFT JOIN kanon.groups_%d AS g ON g.g_id OPERATOR(pg_catalog.=) m.m_group%s"
					 " GROUP BY g.g_id%s ORDER BY g.g_id",
					 object_of(aview, ROLE_QUASI, "g.c%d::pg_catalog.text"), object_of(aview, ROLE_ID, list),
					 object_of(aview, ROLE_SENSITIVE, list), object_of(aview, ROLE_OTHER, list), aview->id, aview->id,
					 stored_shown(aview), cell.data);
	kanon_materialize(fcinfo);
	select_stored(command.data, result->setResult);
	return (Datum) 0;
}
