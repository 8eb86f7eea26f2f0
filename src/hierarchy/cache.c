/*
 * cache.c
 *		The backend's cache of hierarchies.
 *
 * Any change of kanon.dgh or kanon.dgh_edge gives the hierarchy a new generation and
 * sends a relation cache invalidation for kanon.dgh (declare.c).  A backend that
 * receives it checks each hierarchy's generation before it uses that hierarchy again,
 * and loads only hierarchies that have changed.  A hierarchy that is pinned outlives its
 * replacement.
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

/* A hierarchy in the cache. */
typedef struct CacheEntry
{
	dlist_node node;
	Dgh *dgh;
} CacheEntry;

uint64 dgh_cache_epoch = 0; /* rises whenever the tables may have changed */

static MemoryContext cache_context = NULL;			/* owns the entries; parent of the hierarchies' contexts */
static dlist_head cache = DLIST_STATIC_INIT(cache); /* of CacheEntry */
static Oid dgh_table = InvalidOid;					/* the kanon.dgh that the entries come from */

/* Mark all entries to be checked, if kanon.dgh, or any relation, may have changed: a relation cache callback. */
static void
dgh_cache_invalidate(Datum arg, Oid relation)
{
	dlist_iter iter;

	if (OidIsValid(relation) && relation != dgh_table)
		return;
	dgh_cache_epoch++;
	dlist_foreach(iter, &cache)
		dlist_container(CacheEntry, node, iter.cur)
			->dgh->checked = false;
}

/* Make the cache, and learn of changes. */
void
dgh_cache_init(void)
{
	cache_context = AllocSetContextCreate(CacheMemoryContext ? CacheMemoryContext : TopMemoryContext,
										  "kanon hierarchies", ALLOCSET_DEFAULT_SIZES);
	CacheRegisterRelcacheCallback(dgh_cache_invalidate, (Datum) 0);
}

/* Free a hierarchy, now or with its last pin. */
static void
dgh_cache_release(Dgh *dgh)
{
	Assert(dgh->pins >= 0);
	dgh->checked = false;
	if (dgh->pins == 0)
		MemoryContextDelete(dgh->context);
	else
		dgh->dropped = true;
}

/* Take an entry out of the cache. */
static void
dgh_cache_forget(CacheEntry *entry)
{
	dlist_delete(&entry->node);
	dgh_cache_release(entry->dgh);
	pfree(entry);
}

/* Load a hierarchy into the cache; after an error nothing of it is in the cache. */
static Dgh *
dgh_cache_load(HeapTuple row, Snapshot snapshot)
{
	Dgh *dgh = dgh_load(row, snapshot);
	CacheEntry *entry = MemoryContextAlloc(cache_context, sizeof(CacheEntry));

	Assert(dgh->pins == 0 && !dgh->dropped);
	MemoryContextSetParent(dgh->context, cache_context);
	MemoryContextSetIdentifier(dgh->context, dgh->name);
	entry->dgh = dgh;
	dlist_push_head(&cache, &entry->node);
	return dgh;
}

/*
 * Empty the cache if its entries come from another table than the present kanon.dgh.
 * Entries are told apart by numbers that are unique in one table, so that nothing may be
 * left of an extension that was dropped when it is created again.
 */
static void
dgh_cache_use_table(Oid table)
{
	if (table == dgh_table)
		return;
	while (!dlist_is_empty(&cache))
		dgh_cache_forget(dlist_head_element(CacheEntry, node, &cache));
	dgh_table = table;
	dgh_cache_epoch++;
}

/* Return the entry of a name, or of an id if the name is NULL; NULL if there is none. */
static CacheEntry *
dgh_cache_entry(const char *name, int32 id)
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

/* Return the hierarchy of a row: that of the entry, if its generation is still the same, or else loaded anew. */
static Dgh *
dgh_cache_renew(CacheEntry *entry, HeapTuple row, Snapshot snapshot)
{
	if (entry && row && dgh_row_id(row) == entry->dgh->id &&
		dgh_row_generation(row) == entry->dgh->generation)
		return entry->dgh;
	if (entry)
		dgh_cache_forget(entry);
	if (row == NULL)
		return NULL;
	/* The hierarchy may be in the cache under another name. */
	entry = dgh_cache_entry(NULL, dgh_row_id(row));
	if (entry)
		dgh_cache_forget(entry);
	return dgh_cache_load(row, snapshot);
}

/*
 * Return the hierarchy of a name, or of an id if the name is NULL; NULL if there is
 * none.
 *
 * The definition and the edges are read with one snapshot, so that they are of the same
 * generation.  A change that is announced while they are being read may be too late for
 * that snapshot: then the next lookup checks again.
 */
static Dgh *
dgh_cache_lookup(const char *name, int32 id)
{
	CacheEntry *entry;
	Snapshot snapshot;
	uint64 started;
	Dgh *dgh;

	/* Statements without tables take no locks, and would miss a change that was announced. */
	AcceptInvalidationMessages();
	entry = dgh_cache_entry(name, id);
	if (entry && entry->dgh->checked)
		return entry->dgh;

	dgh_cache_use_table(kanon_relation(DGH_TABLE));
	started = dgh_epoch();
	snapshot = RegisterSnapshot(GetCatalogSnapshot(dgh_table));
	dgh = dgh_cache_renew(dgh_cache_entry(name, id), dgh_fetch_row(name, id, snapshot), snapshot);
	UnregisterSnapshot(snapshot);
	if (dgh)
		dgh->checked = started == dgh_epoch();
	return dgh;
}

/* Return the hierarchy of a name, or NULL if there is none. */
Dgh *
dgh_find(const char *name)
{
	return dgh_cache_lookup(name, 0);
}

/* Return the hierarchy with an id, or NULL if there is none. */
Dgh *
dgh_find_by_id(int32 id)
{
	return id == 0 ? NULL : dgh_cache_lookup(NULL, id);
}

/* Return true if this session has loaded that generation of a hierarchy. */
bool
dgh_is_cached(int32 id, int32 generation)
{
	CacheEntry *entry = dgh_cache_entry(NULL, id);

	return entry && entry->dgh->generation == generation;
}

/* Return the hierarchy of a name; raise an error if there is none. */
Dgh *
dgh_get(const char *name)
{
	Dgh *dgh = dgh_find(name);

	if (dgh == NULL)
		dgh_missing(name);
	return dgh;
}

/* Give up the hierarchy that a hold keeps alive: a memory context callback. */
static void
dgh_hold_end(void *arg)
{
	DghHold *hold = arg;
	Dgh *dgh = hold->dgh;

	hold->dgh = NULL;
	Assert(dgh == NULL || dgh->pins > 0);
	if (dgh && --dgh->pins == 0 && dgh->dropped)
		dgh_cache_release(dgh);
}

/*
 * Keep a hierarchy alive in place of the one held before; either may be NULL. The hold
 * starts as zeros, and ends with its memory context.
 */
void
dgh_hold(DghHold *hold, Dgh *dgh, MemoryContext context)
{
	if (dgh == hold->dgh)
		return;
	if (hold->callback.func == NULL)
	{
		hold->callback.func = dgh_hold_end;
		hold->callback.arg = hold;
		MemoryContextRegisterResetCallback(context, &hold->callback);
	}
	if (dgh)
		dgh->pins++;
	dgh_hold_end(hold);
	hold->dgh = dgh;
}

/* Keep a hierarchy alive as long as a memory context. */
void
dgh_pin(Dgh *dgh, MemoryContext context)
{
	dgh_hold(MemoryContextAllocZero(context, sizeof(DghHold)), dgh, context);
}

/* Return the hierarchies that this session has loaded, with their sizes and memory: kanon.dgh_cache(). */
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
