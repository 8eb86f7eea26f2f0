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
	List *pre;	   /* the source may be asked for them */
	List *witness; /* some member of a group must satisfy them */
	List *post;	   /* to be checked on published rows: first those that rows may have been found by */
	List *region;  /* on the source, from witness conditions; already in its terms */
	bool never;	   /* no published row can satisfy all of them */
} Conditions;

/* Derived clauses follow from others; nobody asked for a witness of them. */
extern void conditions_split(const AView *aview, int rti, List *clauses, List *derived, Conditions *conditions);

/*
 * Conditions on the view in terms of the source.  What does not depend on its
 * row becomes a parameter, whose value is appended to *parameters.
 */
extern List *conditions_for_source(const AView *aview, int rti, List *clauses, List **parameters);

/* The quasi-identifiers that AVLIKE compares with values from elsewhere, as numbers of columns, and these values. */
extern List *conditions_asked(const AView *aview, int rti, List *clauses, List **values);

/* Does an expression take a value from elsewhere in the running plan? */
extern bool uses_exec_params(Node *expression);

#endif
