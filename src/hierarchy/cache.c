/*
 * cache.c
 *		The backend's cache of hierarchies.
 *
 * Any change of kanon.dgh or kanon.dgh_edge gives the hierarchy a new
 * generation and sends a relation cache invalidation for kanon.dgh
 * (declare.c).  A backend that receives it checks each hierarchy's
 * generation before it uses it again, and loads anew only what has changed.
 * A hierarchy that someone holds outlives its replacement.
 */
#include "base/kanon.h"

#include "hierarchy/catalog.h"

#include "funcapi.h"
#include "lib/ilist.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/extension.h"
#include "hierarchy/dgh.h"
#include "hierarchy/tree.h"

PG_FUNCTION_INFO_V1(kanon_dgh_cache);

typedef struct CacheEntry
{
	dlist_node node;
	Dgh *dgh;
} CacheEntry;

uint64 dgh_cache_epoch = 0; /* how often the tables may have changed */

static MemoryContext cache_context = NULL;
static dlist_head cache = DLIST_STATIC_INIT(cache);
static Oid dgh_table = InvalidOid; /* that the entries come from */

static void
invalidate(Datum arg, Oid relation)
{
	dlist_iter iter;

	if (OidIsValid(relation) && relation != dgh_table)
		return;
	dgh_cache_epoch++;
	dlist_foreach(iter, &cache)
		dlist_container(CacheEntry, node, iter.cur)
			->dgh->checked = false;
}

void
dgh_cache_init(void)
{
	cache_context = AllocSetContextCreate(CacheMemoryContext ? CacheMemoryContext : TopMemoryContext,
										  "kanon hierarchies", ALLOCSET_DEFAULT_SIZES);
	CacheRegisterRelcacheCallback(invalidate, (Datum) 0);
}

static void
release(Dgh *dgh)
{
	dgh->checked = false;
	if (dgh->pins == 0)
		MemoryContextDelete(dgh->context);
	else
		dgh->dropped = true;
}

static void
forget(CacheEntry *entry)
{
	dlist_delete(&entry->node);
	release(entry->dgh);
	pfree(entry);
}

/* Makes a hierarchy part of the cache, once it has been loaded without error. */
static Dgh *
remember(HeapTuple row, Snapshot snapshot)
{
	Dgh *dgh = dgh_load(row, snapshot);
	CacheEntry *entry = MemoryContextAlloc(cache_context, sizeof(CacheEntry));

	MemoryContextSetParent(dgh->context, cache_context);
	MemoryContextSetIdentifier(dgh->context, dgh->name);
	entry->dgh = dgh;
	dlist_push_head(&cache, &entry->node);
	return dgh;
}

/*
 * Entries are told apart by numbers that are unique in one table: nothing is
 * left of an extension that was dropped when it is created again.
 */
static void
use_table(Oid table)
{
	if (table == dgh_table)
		return;
	while (!dlist_is_empty(&cache))
		forget(dlist_head_element(CacheEntry, node, &cache));
	dgh_table = table;
	dgh_cache_epoch++;
}

static CacheEntry *
find_entry(const char *name, int32 id)
{
	dlist_iter iter;

	dlist_foreach(iter, &cache)
	{
		CacheEntry *entry = dlist_container(CacheEntry, node, iter.cur);

		if (name ? strcmp(entry->dgh->name, name) == 0 : entry->dgh->id == id)
			return entry;
	}
	return NULL;
}

/* The hierarchy of a row: the entry, if it is still the same, or loaded. */
static Dgh *
renew_entry(CacheEntry *entry, HeapTuple row, Snapshot snapshot)
{
	if (entry && row && dgh_row_id(row) == entry->dgh->id &&
		dgh_row_generation(row) == entry->dgh->generation)
		return entry->dgh;
	if (entry)
		forget(entry);
	if (row == NULL)
		return NULL;
	/* It may be there under another name. */
	entry = find_entry(NULL, dgh_row_id(row));
	if (entry)
		forget(entry);
	return remember(row, snapshot);
}

/*
 * By name, or by id where the name is null; null if there is none.
 *
 * The definition and the edges are read with one snapshot, so that they are of
 * the same generation.  A change that is announced while they are being read
 * may have come too late for that snapshot: the next lookup checks again.
 */
static Dgh *
find(const char *name, int32 id)
{
	CacheEntry *entry;
	Snapshot snapshot;
	uint64 started;
	Dgh *dgh;

	/* A statement without a table takes no lock and would miss what was announced. */
	AcceptInvalidationMessages();
	entry = find_entry(name, id);
	if (entry && entry->dgh->checked)
		return entry->dgh;

	use_table(kanon_relation(DGH_TABLE));
	started = dgh_epoch();
	snapshot = RegisterSnapshot(GetCatalogSnapshot(dgh_table));
	dgh = renew_entry(find_entry(name, id), dgh_fetch_row(name, id, snapshot), snapshot);
	UnregisterSnapshot(snapshot);
	if (dgh)
		dgh->checked = started == dgh_epoch();
	return dgh;
}

Dgh *
dgh_find(const char *name)
{
	return find(name, 0);
}

Dgh *
dgh_find_by_id(int32 id)
{
	return id == 0 ? NULL : find(NULL, id);
}

/* Has this session loaded that state of a hierarchy? */
bool
dgh_is_cached(int32 id, int32 generation)
{
	CacheEntry *entry = find_entry(NULL, id);

	return entry && entry->dgh->generation == generation;
}

Dgh *
dgh_get(const char *name)
{
	Dgh *dgh = dgh_find(name);

	if (dgh == NULL)
		dgh_missing(name);
	return dgh;
}

static void
let_go(void *arg)
{
	DghHold *hold = arg;
	Dgh *dgh = hold->dgh;

	hold->dgh = NULL;
	if (dgh && --dgh->pins == 0 && dgh->dropped)
		release(dgh);
}

/*
 * Keeps a hierarchy alive in place of the one held before; either may be null.
 * The place starts as zeros and ends with its memory context.
 */
void
dgh_hold(DghHold *hold, Dgh *dgh, MemoryContext context)
{
	if (dgh == hold->dgh)
		return;
	if (hold->callback.func == NULL)
	{
		hold->callback.func = let_go;
		hold->callback.arg = hold;
		MemoryContextRegisterResetCallback(context, &hold->callback);
	}
	if (dgh)
		dgh->pins++;
	let_go(hold);
	hold->dgh = dgh;
}

/* Keeps a hierarchy alive as long as a memory context. */
void
dgh_pin(Dgh *dgh, MemoryContext context)
{
	dgh_hold(MemoryContextAllocZero(context, sizeof(DghHold)), dgh, context);
}

/* kanon.dgh_cache(): what this session has loaded, and how much memory that takes. */
Datum
kanon_dgh_cache(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	dlist_iter iter;

	kanon_materialize(fcinfo);
	dlist_foreach(iter, &cache)
	{
		Dgh *dgh = dlist_container(CacheEntry, node, iter.cur)->dgh;
		Datum values[4] = {0};
		bool nulls[4] = {false};

		values[0] = CStringGetTextDatum(dgh->name);
		nulls[1] = nulls[2] = dgh->tree == NULL;
		if (dgh->tree)
		{
			values[1] = Int32GetDatum(dgh->tree->nnodes);
			values[2] = Int32GetDatum(dgh->tree->nleaves);
		}
		values[3] = Int64GetDatum(MemoryContextMemAllocated(dgh->context, true));
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
