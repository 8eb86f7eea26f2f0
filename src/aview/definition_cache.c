/*
 * definition_cache.c
 *		The backend's cache of definitions of A-views.
 *
 * A definition is read once in a backend, and again after a change was announced
 *
 * - of the view: its query, its columns, its owner (a relcache invalidation, as
 *   for any view);
 * - of the rows in kanon.aview, kanon.aview_column and kanon.aview_step: the
 *   trigger kanon.aview_changed() announces them as a change of the view; what
 *   fires no row trigger, such as TRUNCATE, is one of the table itself;
 * - of a hierarchy (dgh_epoch());
 * - of the table of choices, whose key must find at most one row of choices;
 * - of the settings kanon.purpose and kanon.recipient, which the source of a view
 *   with a profile contains.
 *
 * PostgreSQL delivers an announcement to the own backend with the end of the
 * command, again if the transaction or savepoint is rolled back, and to other
 * backends at the commit.  It is received before a lock is granted.  So a
 * definition is looked at after the view and the table of choices were locked, as
 * reading it would lock them, and stays true until the end of the transaction but
 * for changes of its own.
 *
 * A definition in use is pinned to the memory context of its user and outlives
 * its replacement.  It is shared by all of its users and must not be changed.
 */
#include "base/kanon.h"

#include "aview/aview.h"

#include "nodes/nodeFuncs.h"
#include "storage/lmgr.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "aview/choices.h"
#include "aview/definition.h"
#include "aview/purpose.h"
#include "base/extension.h"
#include "hierarchy/dgh.h"

/* A definition that was read; it lives in the definition's own memory context. */
typedef struct CachedView
{
	AView *aview;
	Oid choices;  /* the table of choices; InvalidOid if a change of it does not matter */
	uint64 epoch; /* dgh_epoch() before the hierarchies were looked up */
	int pins;	  /* how many users there are */
	bool valid;	  /* true if no change has been announced since it was read */
	bool dropped; /* true if it has left the cache, and goes with its last user */
#ifdef USE_ASSERT_CHECKING
	Query *source; /* the source as it was read */
#endif
} CachedView;

/* An entry of the cache. */
typedef struct CacheEntry
{
	int32 id; /* hash key: the number of the definition */
	CachedView *cached;
} CacheEntry;

/* A use of a definition, in the memory context of the user. */
typedef struct CachePin
{
	CachedView *cached;
	MemoryContextCallback callback;
} CachePin;

static HTAB *cache = NULL;

/* The tables that the last definition was read from. */
static Oid definition_tables[3];

/* How often a change of any relation was announced. */
static uint64 changes = 0;

/* Mark the definitions that are made of a relation, or all of them for InvalidOid: a relcache callback. */
static void
invalidate_definitions(Datum arg, Oid relation)
{
	bool all = !OidIsValid(relation);
	HASH_SEQ_STATUS status;
	CacheEntry *entry;

	changes++;
	if (cache == NULL)
		return;
	for (int i = 0; i < (int) lengthof(definition_tables); i++)
		all = all || relation == definition_tables[i];
	hash_seq_init(&status, cache);
	while ((entry = hash_seq_search(&status)) != NULL)
	{
		if (all || relation == entry->cached->aview->view || relation == entry->cached->choices)
			entry->cached->valid = false;
	}
}

/* Ask for the announcements of changes; called once when the library is loaded. */
void
aview_cache_init(void)
{
	CacheRegisterRelcacheCallback(invalidate_definitions, (Datum) 0);
}

/* Free a definition that has left the cache, unless it is in use. */
static void
free_unused(CachedView *cached)
{
	Assert(cached->dropped && cached->pins >= 0);
	if (cached->pins == 0)
		MemoryContextDelete(cached->aview->context);
}

/* End the use of a definition with the memory context that it was pinned to. */
static void
unpin_definition(void *arg)
{
	CachedView *cached = ((CachePin *) arg)->cached;

	Assert(cached->pins > 0);
	cached->pins--;
	if (cached->dropped)
		free_unused(cached);
}

/* Keep a definition alive as long as the current memory context. */
static void
pin_definition(CachedView *cached)
{
	CachePin *pin = palloc0(sizeof(CachePin));

	pin->cached = cached;
	pin->callback.func = unpin_definition;
	pin->callback.arg = pin;
	cached->pins++;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &pin->callback);
}

/* Return true if reading a definition again would give the same. */
static bool
is_current(const CachedView *cached)
{
	const AViewProfile *profile = cached->aview->profile;

	return cached->valid && cached->epoch == dgh_epoch() &&
		   (profile == NULL ||
			(strcmp(profile->purpose, kanon_purpose) == 0 && strcmp(profile->recipient, kanon_recipient) == 0));
}

/* Take the locks that reading a definition takes, until the end of the transaction; earlier changes are then known. */
static void
lock_definition(const CachedView *cached)
{
	LockRelationOid(cached->aview->view, AccessShareLock);
	if (OidIsValid(cached->choices))
		LockRelationOid(cached->choices, AccessShareLock);
	AcceptInvalidationMessages();
}

/* Return the cached definition with a number, or NULL if it has to be read. */
static CachedView *
find_definition(int32 id)
{
	CacheEntry *entry = cache ? hash_search(cache, &id, HASH_FIND, NULL) : NULL;
	CachedView *cached = entry ? entry->cached : NULL;

	/* The view may be gone, and its OID another relation's. */
	AcceptInvalidationMessages();
	if (cached == NULL || !is_current(cached))
		return NULL;
	lock_definition(cached);
	if (!is_current(cached))
		return NULL;
	Assert(cached->aview->id == id && equal(cached->source, cached->aview->source));
	return cached;
}

/* Remove the definitions that are no longer current from the cache. */
static void
drop_outdated(void)
{
	HASH_SEQ_STATUS status;
	CacheEntry *entry;

	hash_seq_init(&status, cache);
	while ((entry = hash_seq_search(&status)) != NULL)
	{
		CachedView *cached = entry->cached;

		if (is_current(cached))
			continue;
		(void) hash_search(cache, &entry->id, HASH_REMOVE, NULL);
		cached->dropped = true;
		free_unused(cached);
	}
}

/* Read a definition from the tables, in a memory context of its own below the current one. */
static CachedView *
read_definition(int32 id)
{
	uint64 before = changes;
	uint64 epoch = dgh_epoch();
	AView *aview;
	CachedView *cached;

	definition_tables[0] = kanon_relation(AVIEW_TABLE);
	definition_tables[1] = kanon_relation(AVIEW_COLUMN_TABLE);
	definition_tables[2] = kanon_relation(AVIEW_STEP_TABLE);
	aview = aview_read(id);
	cached = MemoryContextAllocZero(aview->context, sizeof(CachedView));
	cached->aview = aview;
	cached->choices = choices_table(aview);
	cached->epoch = epoch;
	cached->valid = before == changes;
#ifdef USE_ASSERT_CHECKING
	{
		MemoryContext old = MemoryContextSwitchTo(aview->context);

		cached->source = copyObject(aview->source);
		MemoryContextSwitchTo(old);
	}
#endif
	return cached;
}

/* Make a definition part of the cache, now that it has been read without an error. */
static void
remember_definition(CachedView *cached)
{
	HASHCTL control = {.keysize = sizeof(int32), .entrysize = sizeof(CacheEntry)};
	CacheEntry *entry;
	bool found;

	if (cache == NULL)
		cache = hash_create("kanon definitions", 16, &control, HASH_ELEM | HASH_BLOBS);
	drop_outdated();
	entry = hash_search(cache, &cached->aview->id, HASH_ENTER, &found);
	Assert(!found);
	entry->cached = cached;
	MemoryContextSetParent(cached->aview->context, CacheMemoryContext);
}

/* Return the definition with a number, kept alive as long as the current memory context: see aview.h. */
AView *
aview_load(int32 id)
{
	CachedView *cached = find_definition(id);

	if (cached == NULL)
	{
		cached = read_definition(id);
		/* Some of it may have been read before the view was locked. */
		if (!cached->valid)
		{
			MemoryContextDelete(cached->aview->context);
			cached = read_definition(id);
		}
		remember_definition(cached);
	}
	pin_definition(cached);
	return cached->aview;
}
