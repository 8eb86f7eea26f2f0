/*
 * pending.h
 *		The changes that a transaction has made to the tables of materialized views.
 */
#ifndef KANON_PENDING_H
#define KANON_PENDING_H

#include "access/tupdesc.h"
#include "utils/tuplestore.h"

#include "matview/keeper.h"

/* The columns of a pending row. */
enum Anum_pending
{
	Anum_pending_present = 1, /* boolean: the row is there after the change */
	Anum_pending_serial,	  /* the changes of a transaction, numbered in the order of time */
	Anum_pending_first		  /* of the source's columns */
};

/* The changes of one view by one subtransaction, in TopTransactionContext. */
typedef struct Pending
{
	int32 view;
	SubTransactionId subid;
	TupleDesc desc; /* of rows */
	Tuplestorestate *rows;
	Tuplestorestate *owners; /* rows of keeper->owner: choices that have changed; NULL: none */
	bool removals;			 /* some row was removed or changed */
	bool truncated;			 /* rows were removed that are not known: the view is to be compared with its source */
	bool written;			 /* by statements that write rows; otherwise by commands that change tables */
} Pending;

/* Register for the ends of transactions; when the library is loaded. */
extern void pending_init(void);
/* Have a view's groups compared with its source at the end of the transaction. */
extern void pending_reconcile(int32 id);
/* Return the entry of the current subtransaction for a view that is to be compared with its source. */
extern Pending *pending_compare(int32 id);
/* Return the entry for the current subtransaction's changes of a view. */
extern Pending *pending_for(Keeper *keeper);
/* Return the next number of a change, for Anum_pending_serial. */
extern int64 pending_next_serial(void);
/*
 * Raise an error while groups are being brought up to date: code of the view runs then, and
 * its changes could not be applied any more.
 */
extern void pending_refuse_nesting(void);

#endif
