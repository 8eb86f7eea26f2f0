/*
 * typekind.c
 *		The kinds of types that kanon tells apart.
 */
#include "base/kanon.h"

#include "base/typekind.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Return the kind of a type that is no domain. */
TypeKind
typekind_of_base(Oid type)
{
	switch (type)
	{
		case BOOLOID:
			return TYPEKIND_BOOLEAN;
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return TYPEKIND_INTEGER;
		case NUMERICOID:
			return TYPEKIND_NUMERIC;
		case FLOAT4OID:
		case FLOAT8OID:
			return TYPEKIND_FLOAT;
		case DATEOID:
			return TYPEKIND_DATE;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return TYPEKIND_TIMESTAMP;
		case TEXTOID:
		case VARCHAROID:
			return TYPEKIND_TEXT;
		case BPCHAROID:
			return TYPEKIND_PADDED;
		case NAMEOID:
			return TYPEKIND_NAME;
		default:
			return TYPEKIND_OTHER;
	}
}

/* Return the kind of a type; a domain has the kind of its base type. */
TypeKind
typekind(Oid type)
{
	return typekind_of_base(getBaseType(type));
}

/* Return true for the kinds of numbers. */
bool
typekind_is_number(TypeKind kind)
{
	return kind == TYPEKIND_INTEGER || kind == TYPEKIND_NUMERIC || kind == TYPEKIND_FLOAT;
}

/* Return the number that a value of an integer type stands for, of any width. */
int64
typekind_integer(Oid type, Datum value)
{
	Assert(typekind_of_base(type) == TYPEKIND_INTEGER);
	if (type == INT2OID)
		return DatumGetInt16(value);
	return type == INT4OID ? DatumGetInt32(value) : DatumGetInt64(value);
}

/* Return the day of a date or timestamp; that of a timestamptz is the day in the session's time zone. */
DateADT
typekind_day(Oid type, Datum value)
{
	Assert(typekind_of_base(type) == TYPEKIND_DATE || typekind_of_base(type) == TYPEKIND_TIMESTAMP);
	if (type == DATEOID)
		return DatumGetDateADT(value);
	return DatumGetDateADT(DirectFunctionCall1(type == TIMESTAMPOID ? timestamp_date : timestamptz_date, value));
}
