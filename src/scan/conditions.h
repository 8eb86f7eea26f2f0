/*
 * conditions.h
 *		Which conditions of a query on an A-view may be evaluated where.
 */
#ifndef KANON_CONDITIONS_H
#define KANON_CONDITIONS_H

#include "aview/aview.h"

#include "nodes/pathnodes.h"

typedef struct Conditions
{
	List *pre;		 /* may be handed to the source */
	List *witness;	 /* some member of a group must satisfy them */
	List *post;		 /* are checked on published rows, in this order */
	int npost_first; /* how many of them are checked before the others, whatever these cost */
	List *region;	 /* follow from witness conditions; in terms of the source; NIL for readers without hidden values */
	bool never;		 /* true if no published row can satisfy all of them */
} Conditions;

/*
 * Split the clauses of a query on the view, which is the relation rti there.
 * Derived clauses are those that PostgreSQL made from other clauses: they are
 * checked on published rows, and no witness is asked for them.
 */
extern void conditions_split(const AView *aview, int rti, List *clauses, List *derived, Conditions *conditions);

/*
 * Put conditions into the order that the planner has put the same clauses into since
 * they were split; the conditions to be checked first stay first.
 */
extern void conditions_sort(Conditions *conditions, List *clauses);

/*
 * Return clauses on the view in terms of its source.  Expressions that do not depend
 * on a row of the view become parameters; the expressions are appended to
 * *parameters.
 */
extern List *conditions_for_source(const AView *aview, int rti, List *clauses, List **parameters);

/*
 * Return the quasi-identifiers that AVLIKE compares with values from elsewhere, as
 * numbers of columns, and append the values to *values in the same order.  Only those
 * are returned that may be looked for among stored groups.
 */
extern List *conditions_asked(const AView *aview, int rti, List *clauses, List **values);

/* Return true if conditions on the view, which is the relation rti there, mention values that some of its rows hide. */
extern bool conditions_see_hidden(const AView *aview, int rti, List *clauses);

/* Return true if an expression uses a parameter that is set while the plan runs. */
extern bool uses_exec_params(Node *expression);

#endif
