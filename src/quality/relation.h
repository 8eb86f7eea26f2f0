/*
 * relation.h
 *		Any relation, read by the classes of some columns.
 *
 * Its queries are ordinary SELECTs, and PostgreSQL checks them as such: privileges on the
 * schema and the columns, row security, views with their callers' rights, purposes of
 * anonymization views.  They run with the rights of the relation's owner if the caller
 * has these, so that code that the owner planted in views, policies, types or indexes
 * gets no more rights; for any other caller they run with the caller's own rights, so
 * that they return nothing that the caller's own SELECT would not return.
 */
#ifndef KANON_QUALITY_RELATION_H
#define KANON_QUALITY_RELATION_H

#include "access/htup.h"
#include "access/tupdesc.h"
#include "nodes/pg_list.h"
#include "utils/array.h"

#include "base/as_owner.h"

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

/* Lock a relation, and return the parts of queries by the classes of some columns. */
extern ClassedRelation *relation_for_classes(Oid relation, ArrayType *columns);
/* Return a further column as SQL, and set its type. */
extern char *relation_column(const ClassedRelation *relation, const char *name, Oid *type);

/*
 * Start to query a relation, connected to SPI: restricted, as its owner or as the caller, and
 * with names found in pg_catalog.
 */
extern void relation_start(const ClassedRelation *relation, AsOwner *scope);
/* End the queries of a relation. */
extern void relation_end(const AsOwner *scope);

/* A function that is called for each row of a query, connected to SPI. */
typedef void (*RowFunction)(void *arg, HeapTuple row, TupleDesc desc);
/* Call a function for each row of a query, between relation_start() and relation_end(). */
extern void relation_visit(const char *query, RowFunction function, void *arg);

#endif
