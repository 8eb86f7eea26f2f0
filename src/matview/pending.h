/*
 * pending.h
 *		The changes that a transaction has made to the tables of materialized views.
 */
#ifndef KANON_PENDING_H
#define KANON_PENDING_H

/* Register for the ends of transactions; when the library is loaded. */
extern void pending_init(void);
/* Have a view's groups compared with its source at the end of the transaction. */
extern void pending_reconcile(int32 id);

#endif
