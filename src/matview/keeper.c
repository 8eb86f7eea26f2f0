/*
 * keeper.c
 *		The data that a backend keeps of a materialized view from one change to the next.
 *
 * Reading a definition and resolving hierarchies takes longer than inserting a row.
 * So it is done once, and again when the view, its hierarchies or the backend's
 * memory ask for it: an invalidation marks a keeper stale, and the next keeper_get()
 * replaces it.
 *
 * Keys consist of hashes of generalized values.  The hash of a value comes from its
 * text, so that it is the same on every machine and in every state of the hierarchy;
 * hashes are kept by code.
 */
#include "base/kanon.h"

#include "matview/keeper.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "storage/lmgr.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "anonymize/anonymizer.h"
#include "aview/aview.h"
#include "aview/choices.h"
#include "base/as_owner.h"
#include "base/extension.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "matview/demand.h"
#include "matview/follow.h"
#include "matview/matview.h"
#include "matview/tables.h"
#include "recode/dictionary.h"
#include "recode/recode.h"
#include "source/scope.h"

/* A keeper with dictionaries that have grown beyond this starts afresh. */
#define KEEPER_MEMORY (64 * 1024 * 1024)

typedef struct KeeperEntry
{
	int32 id;
	Keeper *keeper; /* NULL: none */
} KeeperEntry;

/* The keepers of this backend, by number of the view; NULL before the first one. */
static HTAB *keepers = NULL;

/* How many keepers this backend has made. */
static uint64 keepers_made = 0;

/*
 * Take the lock of a view.  At the end of a transaction, the holder waits for nothing but the
 * locks of further views, which all transactions take in the same order.
 */
void
matview_lock(int32 id)
{
	LockDatabaseObject(kanon_relation(AVIEW_TABLE), id, 0, ExclusiveLock);
}

/* Return the steps of a view as text. */
char *
matview_chain(const AView *aview)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < aview->nsteps; i++)
		appendStringInfo(&text, "%s%d:%d", i > 0 ? " " : "", aview->quasi[aview->steps[i].column] + 1,
						 aview->steps[i].level);
	return text.data;
}

/*
 * Return the view as its rows are stored: without choices but for the k, where choices have
 * one, which becomes a column of its own behind the columns of the view.
 */
static AView *
view_of_rows(const AView *aview)
{
	AView *view = palloc(sizeof(AView));

	*view = *aview;
	view->profile = NULL;
	view->nsource = aview->nkeyed;
	view->columns = palloc0((aview->nkeyed + 1) * sizeof(AViewColumn));
	memcpy(view->columns, aview->columns, aview->nkeyed * sizeof(AViewColumn));
	for (int i = 0; i <= aview->nkeyed; i++)
		view->columns[i].disclose = view->columns[i].retain = view->columns[i].level = -1;
	if (OidIsValid(demand_table(aview)))
	{
		view->columns[view->nsource].name = CHOICE_K;
		view->columns[view->nsource].source_type = INT8OID;
		view->columns[view->nsource].source_typmod = -1;
		view->profile = palloc0(sizeof(AViewProfile));
		view->profile->found = view->profile->shown = view->profile->demand = -1;
		view->profile->k = view->nsource++;
	}
	return view;
}

/* Return the descriptor of rows as they are stored, or with before = 1, as they arrive: behind a floor. */
static TupleDesc
describe_rows(const AView *aview, int before)
{
	TupleDesc desc = CreateTemplateTupleDesc(aview->nsource + before);

	if (before > 0)
		TupleDescInitEntry(desc, 1, "floor", INT4OID, -1, 0);
	for (int i = 0; i < aview->nsource; i++)
	{
		const AViewColumn *column = &aview->columns[i];

		TupleDescInitEntry(desc, i + 1 + before, column->name, column->source_type, column->source_typmod, 0);
		TupleDescInitEntryCollation(desc, i + 1 + before, column->source_collation);
	}
	return desc;
}

/* Prepare the search for an identifier. */
static void
init_id_key(Keeper *keeper, int index, int column)
{
	const AViewColumn *c = &keeper->aview->columns[column];
	TypeCacheEntry *type = lookup_type_cache(c->source_type, TYPECACHE_BTREE_OPFAMILY | TYPECACHE_EQ_OPR_FINFO);

	ScanKeyEntryInitializeWithInfo(&keeper->id_keys[index], 0, Anum_members_first + column, BTEqualStrategyNumber,
								   InvalidOid, c->source_collation, &type->eq_opr_finfo, (Datum) 0);
	fmgr_info_copy(&keeper->id_keys[index].sk_func, &type->eq_opr_finfo, keeper->context);
}

/* Look up the tables of the view and their indexes. */
static void
find_relations(Keeper *keeper)
{
	int id = keeper->id;

	keeper->groups = kanon_relation(psprintf("groups_%d", id));
	keeper->groups_by_id = kanon_relation(psprintf("groups_%d_id", id));
	keeper->groups_by_key = kanon_relation(psprintf("groups_%d_key", id));
	keeper->members = kanon_relation(psprintf("members_%d", id));
	keeper->members_by_id = kanon_relation(psprintf("members_%d_id", id));
	keeper->members_by_group = kanon_relation(psprintf("members_%d_group", id));
}

/* Set up the hashes of values, none of which is known yet. */
static void
prepare_hashes(Keeper *keeper)
{
	Recoder *recoder = keeper->recoder;
	int levels = 0;

	keeper->first_level = palloc((recoder->ncolumns + 1) * sizeof(int));
	for (int i = 0; i < recoder->ncolumns; i++)
	{
		keeper->first_level[i] = levels;
		levels += recoder->columns[i]->height + 1;
	}
	keeper->hashes = palloc0(levels * sizeof(uint32 *));
	keeper->nhashes = palloc0(levels * sizeof(int));
}

/* Make the keeper of a view. */
static Keeper *
make_keeper(int32 id)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon keeper", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Keeper *keeper = palloc0(sizeof(Keeper));
	AsOwner scope;
	AView *rows;

	keeper->id = id;
	keeper->number = ++keepers_made;
	keeper->context = context;
	keeper->epoch = dgh_epoch();
	keeper->aview = aview_load(id);
	keeper->rows = rows = view_of_rows(keeper->aview);
	keeper->anonymizer = anonymizer_create(rows, bms_add_range(NULL, 0, rows->nkeyed - 1), InvalidSnapshot);
	keeper->recoder = anonymizer_recoder(keeper->anonymizer);
	keeper->layout = anonymizer_layout(keeper->anonymizer);
	keeper->nids = anonymizer_ids(keeper->anonymizer, &keeper->ids);
	keeper->personal = rows->profile != NULL;
	keeper->least = keeper->personal ? 1 : rows->k;
	keeper->chain_holds = keeper->aview->chain && strcmp(keeper->aview->chain, matview_chain(keeper->aview)) == 0;
	keeper->row = describe_rows(rows, 0);
	keeper->arrival = describe_rows(rows, 1);
	find_relations(keeper);
	/* Planning runs code of the view's owner, too. */
	as_owner_start(&scope, keeper->aview->owner, keeper->aview->settings);
	demand_prepare(keeper);
	as_owner_end(&scope);
	keeper->id_keys = palloc0(keeper->nids * sizeof(ScanKeyData));
	for (int i = 0; i < keeper->nids; i++)
		init_id_key(keeper, i, keeper->ids[i]);
	prepare_hashes(keeper);
	if (!follow_possible(keeper->aview, &keeper->base))
		keeper->base = InvalidOid;
	keeper->least_climb = 0.5;
	for (int i = 0; i < keeper->aview->nquasi; i++)
	{
		Dgh *dgh = keeper->aview->columns[keeper->aview->quasi[i]].dgh;

		if (dgh)
			keeper->least_climb = Min(keeper->least_climb, 1.0 / Max(dgh->diameter, 1));
	}
	/* The keeper is complete: an error can no longer leave half of it. */
	MemoryContextSetParent(context, CacheMemoryContext);
	MemoryContextSwitchTo(old);
	return keeper;
}

/* Create the table of keepers. */
static void
make_keepers(void)
{
	HASHCTL control = {.keysize = sizeof(int32), .entrysize = sizeof(KeeperEntry)};

	keepers = hash_create("kanon keepers", 16, &control, HASH_ELEM | HASH_BLOBS);
}

/* Return the keeper of a view, after replacing it if it is stale or too large, and not in use. */
static Keeper *
find_keeper(int32 id)
{
	bool found;
	KeeperEntry *entry;

	if (keepers == NULL)
		make_keepers();
	entry = hash_search(keepers, &id, HASH_ENTER, &found);
	if (!found)
		entry->keeper = NULL;
	if (entry->keeper && entry->keeper->users == 0 &&
		(entry->keeper->stale || entry->keeper->epoch != dgh_epoch() ||
		 MemoryContextMemAllocated(entry->keeper->context, true) > KEEPER_MEMORY))
	{
		MemoryContextDelete(entry->keeper->context);
		entry->keeper = NULL;
	}
	if (entry->keeper == NULL)
	{
		Keeper *keeper = make_keeper(id);

		entry = hash_search(keepers, &id, HASH_ENTER, &found);
		entry->keeper = keeper;
	}
	return entry->keeper;
}

/* Return the keeper of a view. */
Keeper *
keeper_get(int32 id)
{
	Keeper *keeper;

	do
	{
		keeper = find_keeper(id);
		demand_lock(keeper);
		if (keeper->stale && keeper->users > 0)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("materialized anonymization view \"%s\" was changed while its groups are in use",
							get_rel_name(keeper->aview->view))));
	} while (keeper->stale);
	return keeper;
}

/*
 * Do some work with a keeper, which no invalidation replaces until the work has ended.
 * After an error the keeper is made anew: want of memory may have left a value in one of
 * its dictionaries without the values above it.
 */
void
keeper_use(Keeper *keeper, KeeperWork work, void *arg)
{
	Assert(keeper->users >= 0);
	keeper->users++;
	PG_TRY();
	{
		work(keeper, arg);
	}
	PG_CATCH();
	{
		keeper->stale = true;
		keeper->users--;
		PG_RE_THROW();
	}
	PG_END_TRY();
	Assert(keeper->users > 0);
	keeper->users--;
}

/* Use a keeper in the scope of its view's source: that of the caller, who may not be allowed to read it. */
static void
use_in_scope(Keeper *keeper, KeeperWork work, void *arg, bool quiet)
{
	MemoryContext caller = CurrentMemoryContext;
	SourceScope scope;

	source_scope_enter(&scope, keeper->aview, quiet);
	PG_TRY();
	{
		keeper_use(keeper, work, arg);
	}
	PG_CATCH();
	{
		source_scope_pass(&scope, caller);
	}
	PG_END_TRY();
	source_scope_leave(&scope);
}

/*
 * Do some work on a view's groups: with its lock, a snapshot that sees all that earlier
 * holders of the lock have committed, the settings of the view, and the rights of the
 * view's owner, who wrote the code in the view.
 */
void
keeper_work(int32 id, KeeperWork work, void *arg)
{
	Keeper *keeper;
	AsOwner scope;
	bool quiet;

	matview_lock(id);
	PushActiveSnapshot(GetLatestSnapshot());
	keeper = keeper_get(id);
	quiet = !aview_source_readable(keeper->aview);
	as_owner_start(&scope, keeper->aview->owner, keeper->aview->settings);
	use_in_scope(keeper, work, arg, quiet);
	as_owner_end(&scope);
	PopActiveSnapshot();
}

/* Mark the keepers stale that depend on a relation, or with InvalidOid, all: a relcache callback. */
static void
keeper_forget(Datum arg, Oid relation)
{
	HASH_SEQ_STATUS status;
	KeeperEntry *entry;

	if (keepers == NULL)
		return;
	hash_seq_init(&status, keepers);
	while ((entry = hash_seq_search(&status)) != NULL)
	{
		Keeper *keeper = entry->keeper;

		if (keeper &&
			(!OidIsValid(relation) || relation == keeper->aview->view || relation == keeper->base ||
			 list_member_oid(keeper->planned, relation) || relation == keeper->groups || relation == keeper->members))
			keeper->stale = true;
	}
}

/* Mark all keepers stale, as a function has changed, which may be part of a plan: a syscache callback. */
static void
keeper_forget_all(Datum arg, int cache, uint32 hash)
{
	keeper_forget(arg, InvalidOid);
}

/* Register for invalidations. */
void
keeper_init(void)
{
	CacheRegisterRelcacheCallback(keeper_forget, (Datum) 0);
	CacheRegisterSyscacheCallback(PROCOID, keeper_forget_all, (Datum) 0);
}

/* Return the hash of a value, which comes from its text. */
static uint32
hash_for_key(Datum value)
{
	GenView view;
	pg_crc32c crc;
	int len;
	const char *text;

	gen_view(value, &view);
	text = gen_text(&view, &len);
	INIT_CRC32C(crc);
	COMP_CRC32C(crc, text, len);
	FIN_CRC32C(crc);
	return crc;
}

/* Return the hash of the value with a code, after computing the hashes of all codes that are new on the level. */
static uint32
code_hash(Keeper *keeper, int column, int level, int32 code)
{
	Dictionary *dictionary = keeper->recoder->columns[column];
	int at = keeper->first_level[column] + level;
	int known = keeper->nhashes[at];

	if (level == 0 && code == NULL_CODE)
		return 0;
	if (code >= known)
	{
		int size = dictionary->levels[level].capacity;
		MemoryContext old = MemoryContextSwitchTo(keeper->context);

		keeper->hashes[at] = known > 0 ? repalloc_huge(keeper->hashes[at], size * sizeof(uint32))
									   : palloc(size * sizeof(uint32));
		MemoryContextSwitchTo(dictionary->work);
		for (int i = known; i < dictionary->levels[level].ncodes; i++)
			keeper->hashes[at][i] = level == 0 && i == NULL_CODE ? 0
																 : hash_for_key(dictionary->levels[level].values[i]);
		MemoryContextReset(dictionary->work);
		MemoryContextSwitchTo(old);
		keeper->nhashes[at] = dictionary->levels[level].ncodes;
	}
	Assert(code >= 0 && code < keeper->nhashes[at]);
	return keeper->hashes[at][code];
}

/*
 * Write the key of a row: the way from the root down to its own values.  A part for each
 * step, the last one first, has the hash of the value that the step's column had before the
 * step.  The first nsteps - s parts are the row's cell at step s.
 */
void
keeper_key(Keeper *keeper, const int32 *codes, uint8 *key)
{
	Recoder *recoder = keeper->recoder;

	for (int i = 0; i < recoder->nsteps; i++)
	{
		RecodeStep step = recoder->steps[recoder->nsteps - 1 - i];
		int32 code = dictionary_climb(recoder->columns[step.column], codes[step.column], 0, step.level - 1);
		uint32 hash = code_hash(keeper, step.column, step.level - 1, code);

		for (int byte = 0; byte < KEY_BYTES; byte++)
			*key++ = (uint8) (hash >> (8 * (KEY_BYTES - 1 - byte)));
	}
}

/* Return the level of a column after a step of the chain. */
static int
level_after(const Recoder *recoder, int step, int column)
{
	Assert(step >= 0 && step <= recoder->nsteps && column >= 0 && column < recoder->ncolumns);
	return recoder->levels[step * recoder->ncolumns + column];
}

/* Return the value of a quasi-identifier in the row's cell at a step. */
Datum
keeper_cell_value(Keeper *keeper, const int32 *codes, int column, int step, bool *isnull)
{
	Recoder *recoder = keeper->recoder;
	int level = level_after(recoder, step, column);
	int32 code = dictionary_climb(recoder->columns[column], codes[column], 0, level);

	*isnull = level == 0 && code == NULL_CODE;
	return *isnull ? (Datum) 0 : recoder->columns[column]->levels[level].values[code];
}

/*
 * Return the cost of generalizing a column of a row from one step to a later one.  Each level
 * that changes the value is an edge.
 */
double
keeper_climb(Keeper *keeper, const int32 *codes, int column, int from_step, int to_step)
{
	Recoder *recoder = keeper->recoder;
	Dictionary *dictionary = recoder->columns[column];
	int level = level_after(recoder, from_step, column);
	int last = level_after(recoder, to_step, column);
	int32 code = dictionary_climb(dictionary, codes[column], 0, level);
	int edges = 0;

	for (; level < last; level++)
	{
		int32 above = dictionary->levels[level].parent[code];

		edges += (level == 0 && code == NULL_CODE) ||
				 !gen_identical(dictionary->levels[level].values[code], dictionary->levels[level + 1].values[above]);
		code = above;
	}
	return dictionary->dgh ? (double) edges / Max(dictionary->dgh->diameter, 1) : 0.5 * edges;
}

/*
 * Return the cost of generalizing a value to another: the edges between them, over the most
 * between any two values.  Without a hierarchy, there is one edge of cost 0.5 to the root.
 */
double
keeper_distance(Keeper *keeper, int column, Datum from, bool from_null, Datum to, bool to_null)
{
	Dgh *dgh = keeper->recoder->columns[column]->dgh;

	if (from_null && to_null)
		return 0;
	if (dgh == NULL)
		return !from_null && !to_null && gen_identical(from, to) ? 0 : 0.5;
	/* NULL is a leaf below the root. */
	if (from_null)
		return (1.0 + dgh_edges_between(dgh, dgh_root(dgh), dgh_resolve(dgh, to))) / dgh->diameter;
	return (double) dgh_edges_between(dgh, dgh_resolve(dgh, from), dgh_resolve(dgh, to)) / dgh->diameter;
}
