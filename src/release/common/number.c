/*
 * number.c
 *		Numbers and dates of the source as doubles.
 */
#include "base/kanon.h"

#include "release/common/input.h"

#include <float.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/numeric.h"

#include "base/typekind.h"

/* A double holds every whole number up to here. */
#define DOUBLE_WHOLE (INT64CONST(1) << 53)

/*
 * Return true if the shortest text of the nearest double is the number itself: if it has
 * at most DBL_DIG digits.
 */
static bool
fits_double(const char *number)
{
	int digits = 0;
	int zeros = 0; /* at the end, so far */

	for (const char *at = number; *at && *at != 'e' && *at != 'E'; at++)
	{
		if (*at == '0')
			zeros += digits > 0 ? 1 : 0;
		else if (*at >= '1' && *at <= '9')
		{
			digits += zeros + 1;
			zeros = 0;
		}
	}
	return digits <= DBL_DIG;
}

/* Return a numeric as a double, and note in its column if it was rounded. */
static double
numeric_value(ReleaseColumn *column, Datum value)
{
	char *text = DatumGetCString(DirectFunctionCall1(numeric_out, value));

	if (!fits_double(text))
		column->rounded = true;
	return DatumGetFloat8(DirectFunctionCall1(float8in, CStringGetDatum(text)));
}

/* Return an integer as a double, and note in its column if it was rounded. */
static double
integer_value(ReleaseColumn *column, int64 value)
{
	if (value < -DOUBLE_WHOLE || value > DOUBLE_WHOLE)
		column->rounded = true;
	return (double) value;
}

/* Return a value as a number on its column's line. */
double
release_number(ReleaseColumn *column, Datum value, Oid type)
{
	switch (typekind_of_base(type))
	{
		case TYPEKIND_INTEGER:
			return integer_value(column, typekind_integer(type, value));
		case TYPEKIND_FLOAT:
			return type == FLOAT4OID ? DatumGetFloat4(value) : DatumGetFloat8(value);
		case TYPEKIND_DATE:
		case TYPEKIND_TIMESTAMP:
			return typekind_day(type, value);
		default:
			return numeric_value(column, value);
	}
}

/* Return true if a number on a column's line stands for an infinite value or NaN. */
bool
release_is_infinite(const ReleaseColumn *column, double value)
{
	if (column->kind == COLUMN_DATE)
		return DATE_NOT_FINITE((DateADT) value);
	return isinf(value) || isnan(value);
}
