/*
 * relation.h
 *		Any relation, looked at by the classes of some columns.
 *
 * Its queries run with the rights of its owner, after the caller was found to be
 * allowed to read it: what its owner planted in views, policies, types or
 * indexes gets no rights that it does not have anyway.
 */
#ifndef KANON_QUALITY_RELATION_H
#define KANON_QUALITY_RELATION_H

#include "access/htup.h"
#include "access/tupdesc.h"
#include "nodes/pg_list.h"
#include "utils/array.h"

typedef struct ClassedRelation
{
	Oid relid; /* locked to the end of the transaction */
	Oid owner;
	char *name;		  /* as SQL writes it */
	List *columns;	  /* names as SQL writes them */
	char *list;		  /* the same with commas */
	List *types;	  /* of the columns */
	char *suppressed; /* an expression over them: all show everything */
} ClassedRelation;

extern ClassedRelation *relation_for_classes(Oid relation, ArrayType *columns);
/* A further column, quoted; sets its type. */
extern char *relation_column(const ClassedRelation *relation, const char *name, Oid *type);

/* Connected to SPI: the rows of a query, one after the other. */
typedef void (*RowFunction)(void *arg, HeapTuple row, TupleDesc desc);
extern void relation_visit(const char *query, RowFunction function, void *arg);

#endif
