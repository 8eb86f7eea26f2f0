/*
 * keeper.h
 *		The data that a backend keeps to maintain a materialized view.
 *
 * A keeper is made when the backend first changes the view's groups, and made anew
 * when the view, its hierarchies or the backend's memory ask for it.  So its users
 * get it anew for each piece of work, by keeper_get() or keeper_work().
 */
#ifndef KANON_KEEPER_H
#define KANON_KEEPER_H

#include "access/skey.h"
#include "nodes/plannodes.h"

#include "anonymize/anonymizer.h"
#include "aview/aview.h"
#include "aview/choices.h"
#include "recode/recode.h"
#include "source/layout.h"

/* Bytes that each step adds to a key. */
#define KEY_BYTES 4

typedef struct Keeper
{
	int32 id;
	uint64 number;		   /* of this keeper: no other one of this backend has it */
	MemoryContext context; /* of all of this; below CacheMemoryContext */
	bool stale;			   /* the definition may have changed */
	int users;			   /* calls of keeper_use() that are running */
	AView *aview;
	AView *rows;			 /* the same view, as its rows are stored: of the choices, it has the k alone */
	Anonymizer *anonymizer;	 /* codes rows */
	Recoder *recoder;		 /* the anonymizer's: knows the privacy predicate and the cells of the chain */
	const RowLayout *layout; /* the anonymizer's: all columns of row */
	bool chain_holds;		 /* the groups were made with the view's present steps */
	uint64 epoch;			 /* of the hierarchies, when the keeper was made */
	Oid base;				 /* the table whose triggers keep the view; InvalidOid: none */
	double least_climb;		 /* the least that a climb of one edge costs */
	TupleDesc row;			 /* the source's columns, and the k if each row has its own */
	TupleDesc arrival;		 /* a floor, then the columns of row */
	bool personal;			 /* each row has a k of its own */
	int least;				 /* the fewest members that a group can have */

	Oid groups;
	Oid groups_by_id;
	Oid groups_by_key;
	Oid members;
	Oid members_by_id;
	Oid members_by_group;
	int nids;
	const int *ids;		  /* the columns that are identifiers */
	ScanKeyData *id_keys; /* to find a member by its identifiers; without values */

	/* The choices of data owners, where they have a k in them; prepared by demand.c. */
	Oid choices;			/* the table; InvalidOid: none */
	ProfileKey owner_key;	/* how rows and choices belong together */
	TupleDesc owner;		/* the columns of choices that tell to which data owner they belong */
	bool in_context;		/* choices depend on purpose or recipient */
	PlannedStmt *largest_k; /* finds the largest k of a row's choices; the row's columns are parameters */
	PlannedStmt *owned;		/* finds the members to which a row of choices belongs; its columns are parameters */
	List *planned;			/* OIDs of the relations in these plans */
	MemoryContext asking;	/* reset after each run of a plan */

	/* Hashes of values: hashes[first_level[column] + level][code]. */
	uint32 **hashes;
	int *nhashes; /* by level: how many are known */
	int *first_level;
} Keeper;

typedef void (*KeeperWork)(Keeper *keeper, void *arg);

/* Register for invalidations; when the library is loaded. */
extern void keeper_init(void);
/*
 * Return the keeper of a view, with the tables of its plans locked; valid until the next
 * call or until invalidations are accepted, whichever comes first, unless it is in use.
 */
extern Keeper *keeper_get(int32 id);
/* Do some work with a keeper, which stays in place until the work has ended. */
extern void keeper_use(Keeper *keeper, KeeperWork work, void *arg);
/*
 * Do some work on a view's groups: with its lock, a snapshot taken after that, which sees
 * all that earlier holders of the lock have committed, and the rights of the view's owner.
 */
extern void keeper_work(int32 id, KeeperWork work, void *arg);

/*
 * Write the key of a row, given by its codes at level 0: nsteps parts of KEY_BYTES bytes,
 * the first nsteps - s of which are the key of the row's cell at step s.
 */
extern void keeper_key(Keeper *keeper, const int32 *codes, uint8 *key);
/* Return the value of a quasi-identifier in the row's cell at a step. */
extern Datum keeper_cell_value(Keeper *keeper, const int32 *codes, int column, int step, bool *isnull);
/*
 * Return the cost of generalizing a column of a row from one step to a later one, or from
 * one value to another that covers it: the edges between them in the hierarchy, over the
 * most edges between any two of its values.
 */
extern double keeper_climb(Keeper *keeper, const int32 *codes, int column, int from_step, int to_step);
extern double keeper_distance(Keeper *keeper, int column, Datum from, bool from_null, Datum to, bool to_null);

#endif
