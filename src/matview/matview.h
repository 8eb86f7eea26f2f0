/*
 * matview.h
 *		Materialized A-views: groups that are stored, and only ever generalize.
 *
 * A view with the number N has two ordinary tables in the schema kanon.
 * groups_N has a row per group: the step of the view's chain that it has come
 * to, how many members it has, its cell.  members_N has a row per row of the
 * source: its group (null while it waits), the step that it was once published
 * at (its floor), the values of the source and, where each row has a k of its own
 * (demand.c), that.
 *
 * Of a group's members those are published whose k is not larger than their number:
 * the first j in the order of their k, for the largest j that the j-th does not
 * ask for more than.  So a group's members with a k up to its size are just these.
 * A row that asks for no company has a group of its own, without a key, which
 * nobody joins.
 *
 * Cells of the chain are nested: a cell at one step lies in one cell at the next.
 * So the way of a row from the root down to its own values is a string, each cell
 * on its way a prefix of it, and a group's cell is the group's key.  Groups near a
 * row are near it in the order of keys, which is that of a btree.
 *
 * Statement triggers on the base table note what a transaction changes
 * (pending.c).  Before it commits, and after all else that it does, it takes the
 * lock of each view concerned, in the order of their numbers, and brings the
 * groups up to date (maintain.c).  Who holds such a lock waits for nothing but the
 * next one, so no deadlock comes from it; and he has it for as long as the work
 * takes, not for the rest of a transaction.
 */
#ifndef KANON_MATVIEW_H
#define KANON_MATVIEW_H

#include "aview/aview.h"
#include "aview/choices.h"
#include "anonymize/anonymizer.h"
#include "recode/recode.h"
#include "source/layout.h"

#include "access/skey.h"
#include "catalog/indexing.h"
#include "executor/tuptable.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"
#include "utils/tuplestore.h"

enum Anum_groups
{
	Anum_groups_id = 1,
	Anum_groups_step,
	Anum_groups_size, /* members that are published */
	Anum_groups_members,
	Anum_groups_key, /* null: nobody may join */
	Anum_groups_first /* of the quasi-identifiers, in order */
};

enum Anum_members
{
	Anum_members_group = 1,
	Anum_members_floor,
	Anum_members_first /* of the source's columns; then, of some views, the k */
};

/* Bytes that each step adds to a key. */
#define KEY_BYTES 4

/* What a backend keeps to maintain a view. */
typedef struct Keeper
{
	int32 id;
	MemoryContext context; /* owns all of this */
	bool stale;			   /* the definition may have changed */
	int users;			   /* that hold it now */
	AView *aview;
	AView *rows;			/* the same view, as its rows are stored: of the choices, it has the k alone */
	Anonymizer *anonymizer; /* codes rows */
	Recoder *recoder;		/* the anonymizer's: knows the privacy predicate and the cells of the chain */
	const RowLayout *layout; /* the anonymizer's, of the columns in row */
	int nids;
	const int *ids; /* the columns that are identifiers */
	bool chain_holds;		/* the groups were made with the view's present steps */
	uint64 epoch;			/* of the hierarchies */
	Oid base;				/* the table whose triggers keep the view; 0: none */
	double least_climb;		/* the least that a climb of one edge costs */
	TupleDesc row;			/* the source's columns, and the k if each has its own */
	TupleDesc arrival;		/* a floor, then those */
	bool personal;			/* each has */
	int least;				/* the fewest members that a group can have */

	Oid groups;
	Oid groups_by_id;
	Oid groups_by_key;
	Oid members;
	Oid members_by_id;
	Oid members_by_group;
	ScanKeyData *id_keys; /* to find a member by its identifiers */

	/* The choices of people, where they have a k in them. */
	Oid choices;		   /* the table; 0: none */
	ProfileKey owner_key;  /* how rows and choices belong together */
	TupleDesc owner;	   /* whose choices they are: the columns of the table that say so */
	bool in_context;	   /* they depend on purpose or recipient */
	PlannedStmt *largest_k; /* of somebody's choices */
	PlannedStmt *owned;	   /* the members that are somebody's */
	List *planned;		   /* what these plans read */
	MemoryContext asking;  /* for one question at a time */

	uint32 **hashes; /* of values, per level of each column, by code */
	int *nhashes;
	int *first_level; /* of each column in hashes */
} Keeper;

/* The stored tables, open while changes are applied. */
typedef struct Stored
{
	Keeper *keeper;
	Relation groups;
	Relation members;
	CatalogIndexState group_indexes;
	CatalogIndexState member_indexes;
	int64 next_group; /* 0: not known yet */
	/* What is not written yet: one row version per group and transaction, however many rows come. */
	struct sizes_hash *sizes;
} Stored;

/* The number of members of a group that has changed. */
typedef struct GroupSize
{
	int64 group;
	int64 members;
	bool weakened; /* by a member that left or changed: to be checked */
	char status;
} GroupSize;

/* A group as stored. */
typedef struct StoredGroup
{
	HeapTuple tuple; /* a copy */
	int64 id;
	int step;
	int64 members; /* all of them */
	const uint8 *key; /* null: none */
	int length; /* of the key, in steps */
	Datum *values;
	bool *nulls; /* of all columns of groups_N */
} StoredGroup;

/* Where a row should go. */
typedef struct Place
{
	StoredGroup *group; /* null: there is none */
	int step;			/* that the group has to come to */
} Place;

/* keeper.c */
extern void keeper_init(void);
extern Keeper *keeper_get(int32 id);
extern void keeper_lock(int32 id);
typedef void (*KeeperWork)(Keeper *keeper, void *arg);
extern void keeper_use(Keeper *keeper, KeeperWork work, void *arg);
extern void keeper_work(int32 id, KeeperWork work, void *arg);
extern char *matview_chain(const AView *aview);
extern void keeper_key(Keeper *keeper, const int32 *codes, uint8 *key);
extern double keeper_distance(Keeper *keeper, int column, Datum from, bool from_null, Datum to, bool to_null);
extern double keeper_climb(Keeper *keeper, const int32 *codes, int column, int from_step, int to_step);
extern Datum keeper_cell_value(Keeper *keeper, const int32 *codes, int column, int step, bool *isnull);

/* demand.c */
extern Oid demand_table(const AView *aview);
extern bool demand_has_triggers(const AView *aview);
extern void demand_prepare(Keeper *keeper);
extern void demand_lock(Keeper *keeper);
extern int64 demand_of_choices(const Keeper *keeper, Datum largest, bool none);
extern int64 demand_of_row(Keeper *keeper, const Datum *values, const bool *nulls);
typedef void (*RowVisitor)(void *arg, const Datum *values, const bool *nulls);
extern void demand_visit_owned(Keeper *keeper, TupleTableSlot *owner, RowVisitor visit, void *arg);

/* tables.c */
extern void stored_open(Stored *stored, Keeper *keeper);
extern void stored_close(Stored *stored);
extern StoredGroup *stored_group_copy(Stored *stored, HeapTuple tuple);
extern StoredGroup *stored_group(Stored *stored, int64 id);
extern StoredGroup *stored_new_group(Stored *stored, const int32 *codes, int step, const uint8 *key, int64 members);
extern void stored_resize_group(Stored *stored, const StoredGroup *group, int64 members, bool weakened);
/* How many members of a group are published; is this one of them? */
extern int64 stored_published(Stored *stored, const StoredGroup *group);
extern bool stored_is_published(Stored *stored, HeapTuple member, int64 published);
extern void stored_raise_group(Stored *stored, StoredGroup *group, const int32 *codes, int step, const uint8 *key);
extern void stored_delete_group(Stored *stored, StoredGroup *group);
extern void stored_insert_member(Stored *stored, int64 group, int floor, const Datum *values, const bool *nulls);
extern HeapTuple stored_find_member(Stored *stored, const Datum *values, const bool *nulls);
extern void stored_update_member(Stored *stored, HeapTuple old, int64 group, int floor, const Datum *values, const bool *nulls);
typedef bool (*MemberVisitor)(void *arg, HeapTuple member);
/* group 0: those that wait */
extern void stored_visit_members(Stored *stored, int64 group, MemberVisitor visit, void *arg);
extern bool stored_any_group(Stored *stored);
extern bool stored_any_member(Stored *stored);
extern List *stored_weakened(Stored *stored);

/* closest.c */
/* k: that the row asks for, if rows do */
extern Place closest_group(Stored *stored, const int32 *codes, const uint8 *key, int floor, int k);
extern StoredGroup *covering_group(Stored *stored, const int32 *codes, const uint8 *key, int length);
extern bool group_is_cell_of(Stored *stored, const StoredGroup *group, const int32 *codes);

/* maintain.c */
typedef struct Maintenance Maintenance;
/* Changes are noted one by one, and take effect at the end. */
extern Maintenance *maintenance_start(Keeper *keeper);
/* A row of the source is gone. */
extern void maintenance_remove(Maintenance *maintenance, const Datum *values, const bool *nulls);
/* A row of the source is there, as it is now; where it was stored, if it was. */
extern bool maintenance_put(Maintenance *maintenance, const Datum *values, const bool *nulls, ItemPointer was);
extern void maintenance_drop(Maintenance *maintenance, HeapTuple member);
extern Relation maintenance_members(Maintenance *maintenance);
/* Rows that wait try again. */
extern void maintenance_recall(Maintenance *maintenance);
/* Returns how many rows were not as they should have been. */
extern int64 maintenance_end(Maintenance *maintenance);

/* arrive.c */
/* Rows, each after its floor, find their groups.  May they form new ones among themselves? */
extern void arrive(Stored *stored, Tuplestorestate *rows, bool forming);

/* check.c */
extern bool group_holds(Stored *stored, const StoredGroup *group);
extern List *groups_not_close(Stored *stored);

/* pending.c */
extern void pending_init(void);
extern bool pending_has(int32 id);
/* At the end of the transaction the view is compared with its source. */
extern void pending_reconcile(int32 id);

/* materialize.c */
extern void matview_init(void);
/* Make and fill what a materialized view is stored in. */
extern void matview_create(AView *aview);
/* Does every change of its rows and of choices reach the groups? */
extern bool matview_is_followed(const AView *aview);
extern bool source_has_triggers(const AView *aview, Oid *base);
extern bool has_odd_column(Node *expression, Oid table);
extern List *matview_tables(const AView *aview, Oid base);
extern void matview_warn_of_triggers(const AView *aview);

/* show_groups.c */
extern AView *matview_load_owned(Oid view);

/* reconcile.c */
extern int64 matview_reconcile(Keeper *keeper);

#endif
