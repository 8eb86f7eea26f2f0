/*
 * typekind.h
 *		The kinds of types that kanon tells apart: the only place that lists their OIDs.
 *
 * Values of one kind are coded, compared and published in the same way.  A test
 * that lets types through for another reason (comparisons that raise no errors,
 * types that a setting accepts) keeps a list of its own.
 */
#ifndef KANON_TYPEKIND_H
#define KANON_TYPEKIND_H

#include "utils/date.h"

typedef enum TypeKind
{
	TYPEKIND_OTHER,
	TYPEKIND_BOOLEAN,
	TYPEKIND_INTEGER, /* smallint, integer, bigint */
	TYPEKIND_NUMERIC,
	TYPEKIND_FLOAT, /* real, double precision */
	TYPEKIND_DATE,
	TYPEKIND_TIMESTAMP, /* with and without time zone */
	TYPEKIND_TEXT,		/* text, varchar */
	TYPEKIND_PADDED,	/* char(n) */
	TYPEKIND_NAME
} TypeKind;

/* Return the kind of a type; a domain has the kind of its base type. */
extern TypeKind typekind(Oid type);

/* Return the kind of a type that is no domain, without a look into the catalog. */
extern TypeKind typekind_of_base(Oid type);

/* Return true for the types of numbers. */
extern bool typekind_is_number(TypeKind kind);

/* Return the number that a value of an integer type stands for. */
extern int64 typekind_integer(Oid type, Datum value);

/* Return the day of a date or timestamp; the day of a timestamptz is that of the session's time zone. */
extern DateADT typekind_day(Oid type, Datum value);

#endif
