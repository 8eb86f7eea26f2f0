/*
 * kanon.h
 *		Module-wide names: the schema and its tables.
 */
#ifndef KANON_H
#define KANON_H

#include "compat.h"

#define KANON_SCHEMA "kanon"

/* The oid of a table or index in the schema kanon; an error if it is gone. */
extern Oid kanon_relation(const char *name);

/* Who owns kanon's tables. */
extern Oid kanon_owner(void);

/* The oid of the type kanon.generalized. */
extern Oid kanon_generalized_type(void);

#endif
