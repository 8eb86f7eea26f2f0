/*
 * relation.h
 *		Any relation, read by the classes of some columns.
 *
 * Its queries run with the rights of its owner, after a check that the caller may read it:
 * code that its owner planted in views, policies, types or indexes gets no rights beyond
 * the owner's.
 */
#ifndef KANON_QUALITY_RELATION_H
#define KANON_QUALITY_RELATION_H

#include "access/htup.h"
#include "access/tupdesc.h"
#include "nodes/pg_list.h"
#include "utils/array.h"

/* A relation and the parts of queries by its classes. */
typedef struct ClassedRelation
{
	Oid relid; /* locked to the end of the transaction */
	Oid owner;
	char *name;		  /* qualified and quoted */
	List *columns;	  /* column names, quoted, with the alias "r" */
	char *list;		  /* the same names, separated by commas */
	List *types;	  /* type OIDs of the columns */
	char *suppressed; /* an SQL condition: each column covers everything */
} ClassedRelation;

/* Check that the caller may read some columns of a relation, lock it, and return the parts of queries. */
extern ClassedRelation *relation_for_classes(Oid relation, ArrayType *columns);
/* Return a further column as SQL, and set its type. */
extern char *relation_column(const ClassedRelation *relation, const char *name, Oid *type);

/* A function that is called for each row of a query, connected to SPI. */
typedef void (*RowFunction)(void *arg, HeapTuple row, TupleDesc desc);
/* Call a function for each row of a query; the caller is connected to SPI. */
extern void relation_visit(const char *query, RowFunction function, void *arg);

#endif
