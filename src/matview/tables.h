/*
 * tables.h
 *		The tables of groups and members, open while changes are applied.
 *
 * The caller holds the view's lock.  Reads see all rows that are committed or of this
 * transaction.  Groups that functions return are copies in the current memory context.
 */
#ifndef KANON_TABLES_H
#define KANON_TABLES_H

#include "access/htup_details.h"
#include "catalog/indexing.h"
#include "utils/relcache.h"

#include "matview/keeper.h"

enum Anum_groups
{
	Anum_groups_id = 1,
	Anum_groups_step,
	Anum_groups_size, /* members that are published */
	Anum_groups_members,
	Anum_groups_key,  /* NULL: no row may join */
	Anum_groups_first /* of the quasi-identifiers, in order */
};

enum Anum_members
{
	Anum_members_group = 1, /* NULL: the row waits */
	Anum_members_floor,
	Anum_members_first /* of the source's columns; then, of some views, the k */
};

/* The open tables.  Group numbers start at 1; 0 stands for the rows that wait. */
typedef struct Stored
{
	Keeper *keeper;
	Relation groups;
	Relation members;
	CatalogIndexState group_indexes;
	CatalogIndexState member_indexes;
	int64 next_group; /* the next free number; 0: not known yet */
	/* Numbers of members that are not written yet, so that a transaction writes one version of a group. */
	struct sizes_hash *sizes;
} Stored;

/* A group as stored. */
typedef struct StoredGroup
{
	HeapTuple tuple; /* a copy */
	int64 id;
	int step;
	int64 members;	  /* published or not, with changes that are not written yet */
	const uint8 *key; /* NULL: none */
	int length;		  /* of the key, in steps */
	Datum *values;	  /* of all columns of groups_N */
	bool *nulls;
} StoredGroup;

/* Open the tables, and allocate in the current memory context; close them, and write the numbers of members. */
extern void stored_open(Stored *stored, Keeper *keeper);
extern void stored_close(Stored *stored);

/* Return a group, given by its row or its number; NULL: there is none with that number. */
extern StoredGroup *stored_group_copy(Stored *stored, HeapTuple tuple);
extern StoredGroup *stored_group(Stored *stored, int64 id);
/* Return true if there is a group that rows may join. */
extern bool stored_any_group(Stored *stored);
/* Return the groups that have been weakened since the last call. */
extern List *stored_weakened(Stored *stored);

/* Store a group for the cell of some codes at a step, with a key, or without one for a row that stays alone. */
extern StoredGroup *stored_new_group(Stored *stored, const int32 *codes, int step, const uint8 *key, int64 members);
/* Set the number of members of a group; weakened: a member has left or changed, so that the group is to be checked. */
extern void stored_resize_group(Stored *stored, const StoredGroup *group, int64 members, bool weakened);
/* Generalize a group to the cell of some codes at a step. */
extern void stored_raise_group(Stored *stored, StoredGroup *group, const int32 *codes, int step, const uint8 *key);
/* Delete a group, which must have no members any more. */
extern void stored_delete_group(Stored *stored, StoredGroup *group);

/* Return how many members of a group are published, and whether a member is one of them, given that number. */
extern int64 stored_published(Stored *stored, const StoredGroup *group);
extern bool stored_is_published(Stored *stored, HeapTuple member, int64 published);

/* Store a row as a member of a group, or as waiting for one (group 0). */
extern void stored_insert_member(Stored *stored, int64 group, int floor, const Datum *values, const bool *nulls);
extern void stored_update_member(Stored *stored, HeapTuple old, int64 group, int floor,
								 const Datum *values, const bool *nulls);
/* Return a copy of the member with the identifiers of a row; NULL: there is none. */
extern HeapTuple stored_find_member(Stored *stored, const Datum *values, const bool *nulls);
/* Return true if there is a member, or a row that waits. */
extern bool stored_any_member(Stored *stored);

/* Delete a row of one of the tables. */
extern void stored_delete_row(Relation rel, ItemPointer row);
/* Delete all groups and members of a view; the caller holds its lock. */
extern void stored_delete_all(int32 id);

/* Takes a member, valid during the call; returns false if no more members are wanted. */
typedef bool (*MemberVisitor)(void *arg, HeapTuple member);
/* Call a function for each member of a group, or for each row that waits (group 0). */
extern void stored_visit_members(Stored *stored, int64 group, MemberVisitor visit, void *arg);

#endif
