/*
 * computed.c
 *		Hierarchies that are computed: intervals of numbers, calendar units, prefixes.
 *
 * Their values tell by themselves where they stand: an interval by its bounds, a masked
 * text by its mask.  Level 0 holds the raw values, the level dgh->height the root.
 */
#include "base/kanon.h"

#include "hierarchy/dgh.h"

#include "datatype/timestamp.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/numeric.h"

#include "hierarchy/generalized.h"

/* The result of a SQL function of two numbers. */
#define NUMERIC_CALL(function, a, b) \
	DatumGetNumeric(DirectFunctionCall2(function, NumericGetDatum(a), NumericGetDatum(b)))

/* Make the value of a text that the hierarchy does not know. */
static Datum
computed_unknown(const GenView *value)
{
	int len;
	const char *text = gen_text(value, &len);

	return gen_label(text, len, GEN_UNKNOWN);
}

/* Make the value of a view of an interval. */
static Datum
computed_value(const GenView *view)
{
	if (view->kind == GEN_NUMERIC)
		return gen_numeric_interval(view->flags, view->nlo, view->nhi);
	return gen_whole_interval(view->kind, view->flags, view->ilo, view->ihi);
}

/* Return true if two intervals are identical. */
static bool
computed_same_interval(const GenView *a, const GenView *b)
{
	return a->kind == b->kind && gen_identity_cmp(a, b, InvalidOid) == 0;
}

/* Return false for infinite numbers and dates and for NaN, which are in no interval of a hierarchy. */
static bool
computed_is_finite(const GenView *view)
{
	if (view->kind == GEN_DATE)
		return !DATE_NOT_FINITE(view->ilo) && !DATE_NOT_FINITE(view->ihi);
	if (view->kind != GEN_NUMERIC)
		return true;
	return !(view->nlo && (numeric_is_nan(view->nlo) || numeric_is_inf(view->nlo))) &&
		   !(view->nhi && (numeric_is_nan(view->nhi) || numeric_is_inf(view->nhi)));
}

/*
 * Read a value as an interval of numbers, or of dates if numbers is false; return false
 * if it is none.  A label may spell one.
 */
static bool
computed_read(const GenView *value, bool numbers, GenView *result)
{
	const char *text;
	int len;
	Datum reread;

	*result = *value;
	if (GEN_IS_INTERVAL(value))
		return GEN_IS_NUMBER(value) == numbers && computed_is_finite(value);
	text = gen_text(value, &len);
	if (!gen_reread(text, len, numbers, &reread))
		return false;
	gen_view(reread, result);
	result->flags &= ~GEN_MOMENT;
	return computed_is_finite(result);
}

/*
 * Return the level of an interval: the level at which the bucket of its lower bound is
 * the interval itself.  The level is 0 for a single value, and -1 for an interval that
 * is not one of the hierarchy's.
 */
static int
computed_level(Dgh *dgh, const GenView *value, Datum (*bucket)(Dgh *, const GenView *, int))
{
	if (!GEN_IS_INTERVAL(value) || (value->flags & (GEN_LOWER_INF | GEN_UPPER_INF)))
		return -1;
	if (gen_is_point(value))
		return 0;
	for (int level = 1; level < dgh->height; level++)
	{
		GenView candidate;

		gen_view(bucket(dgh, value, level), &candidate);
		if (computed_same_interval(&candidate, value))
			return level;
	}
	return -1;
}

/*
 * Intervals of numbers
 */

/* Return the interval of a level that a whole number falls into, if the origin and the widths are whole. */
static Datum
whole_bucket(Dgh *dgh, int64 value, int level)
{
	int64 width = dgh->int_widths[level - 1];
	int64 rest = (value - dgh->int_origin) % width;
	int64 start = value - (rest < 0 ? rest + width : rest);

	Assert(start <= value && value - start < width);
	return gen_whole_interval(GEN_INT, GEN_LOWER_INC, start, start + width);
}

/* Return the interval of a level that the lower bound of a value falls into. */
static Datum
number_bucket(Dgh *dgh, const GenView *value, int level)
{
	Numeric width = dgh->widths[level - 1];
	Numeric number;
	Numeric rest;

	Assert(level >= 1 && level < dgh->height);
	if (value->kind == GEN_INT && dgh->int_widths && value->ilo > -DGH_SAFE_WHOLE && value->ilo < DGH_SAFE_WHOLE)
		return whole_bucket(dgh, value->ilo, level);

	number = value->kind == GEN_INT ? int64_to_numeric(value->ilo) : value->nlo;
	rest = NUMERIC_CALL(numeric_mod, NUMERIC_CALL(numeric_sub, number, dgh->origin), width);
	if (DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(rest),
										 NumericGetDatum(int64_to_numeric(0)))))
		rest = NUMERIC_CALL(numeric_add, rest, width);
	number = NUMERIC_CALL(numeric_sub, number, rest);
	return gen_numeric_interval(GEN_LOWER_INC, number, NUMERIC_CALL(numeric_add, number, width));
}

/* Return the number or interval that a value spells, or a value that the hierarchy does not know. */
static Datum
interval_resolve(Dgh *dgh, const GenView *value)
{
	GenView number;

	return computed_read(value, true, &number) ? computed_value(&number) : computed_unknown(value);
}

/* Return the steps from an interval up to the root, or -1 if it is none of the hierarchy. */
static int
interval_depth(Dgh *dgh, const GenView *value)
{
	int level = computed_level(dgh, value, number_bucket);

	return level < 0 || !GEN_IS_NUMBER(value) ? -1 : dgh->height - level;
}

/* Return the interval that is some steps above one of the hierarchy. */
static Datum
interval_ascend(Dgh *dgh, const GenView *value, int steps)
{
	return number_bucket(dgh, value, computed_level(dgh, value, number_bucket) + steps);
}

const DghMethods dgh_interval_methods = {
	.resolve = interval_resolve,
	.depth = interval_depth,
	.ascend = interval_ascend,
};

/*
 * Calendar units
 */

/* Return the greatest multiple that is not above a value.  Years are counted through zero: 1 BC is the year 0. */
static int
floor_to(int value, int multiple)
{
	int rest = value % multiple;

	return value - (rest < 0 ? rest + multiple : rest);
}

/*
 * Return the first day of a month, or 0 and the flag of an infinite bound if
 * PostgreSQL's calendar does not have it.
 */
static int64
first_day(int year, int month, uint8 infinite, uint8 *flags)
{
	int64 days;

	if (IS_VALID_JULIAN(year, month, 1))
	{
		days = (int64) date2j(year, month, 1) - POSTGRES_EPOCH_JDATE;
		if (IS_VALID_DATE(days))
			return days;
	}
	*flags = (*flags & ~GEN_LOWER_INC) | infinite;
	return 0;
}

/* Return the calendar unit of a level that the first day of a value falls into. */
static Datum
date_bucket(Dgh *dgh, const GenView *value, int level)
{
	uint8 flags = GEN_LOWER_INC;
	uint8 upper_flags = 0;
	int64 lo;
	int64 hi;
	int year;
	int month;
	int day;
	int months = 12;

	Assert(level >= 1 && level < dgh->height);
	j2date((int) value->ilo + POSTGRES_EPOCH_JDATE, &year, &month, &day);
	switch (dgh->units[level - 1])
	{
		case UNIT_DAY:
			break;
		case UNIT_MONTH:
			months = 1;
			break;
		case UNIT_QUARTER:
			months = 3;
			break;
		case UNIT_YEAR:
			break;
		case UNIT_DECADE:
			year = floor_to(year, 10);
			months = 120;
			break;
		case UNIT_CENTURY:
			year = floor_to(year, 100);
			months = 1200;
			break;
	}
	month = months < 12 ? floor_to(month - 1, months) : 0;
	lo = first_day(year, month + 1, GEN_LOWER_INF, &flags);
	year += (month + months) / 12;
	hi = first_day(year, (month + months) % 12 + 1, GEN_UPPER_INF, &upper_flags);
	return gen_whole_interval(GEN_DATE, flags | upper_flags, lo, hi);
}

/* Return the date or interval that a value spells, or a value that the hierarchy does not know. */
static Datum
date_resolve(Dgh *dgh, const GenView *value)
{
	GenView date;

	return computed_read(value, false, &date) ? computed_value(&date) : computed_unknown(value);
}

/* Return the steps from an interval up to the root, or -1 if it is none of the hierarchy. */
static int
date_depth(Dgh *dgh, const GenView *value)
{
	int level = computed_level(dgh, value, date_bucket);

	return level < 0 || value->kind != GEN_DATE ? -1 : dgh->height - level;
}

/* Return the interval that is some steps above one of the hierarchy. */
static Datum
date_ascend(Dgh *dgh, const GenView *value, int steps)
{
	return date_bucket(dgh, value, computed_level(dgh, value, date_bucket) + steps);
}

const DghMethods dgh_date_methods = {
	.resolve = date_resolve,
	.depth = date_depth,
	.ascend = date_ascend,
};

/*
 * Prefixes: the last characters are masked, one more per level
 */

/* Return the node of a text of the right length, whose last characters may be masks; else an unknown value. */
static Datum
prefix_resolve(Dgh *dgh, const GenView *value)
{
	int mask_len = strlen(dgh->mask);
	GenView node = {.kind = GEN_PREFIX, .dgh = dgh->id, .generation = dgh->generation};

	node.label = gen_text(value, &node.len);
	if (pg_mbstrlen_with_len(node.label, node.len) != dgh->height)
		return computed_unknown(value);
	node.lo = node.len;
	while (node.lo >= mask_len && memcmp(node.label + node.lo - mask_len, dgh->mask, mask_len) == 0)
		node.lo -= mask_len;
	return node.lo == 0 ? gen_any(dgh->id) : gen_node(&node);
}

/* Return the steps from a node up to the root: the characters that are not masked; -1 for other values. */
static int
prefix_depth(Dgh *dgh, const GenView *value)
{
	return value->kind == GEN_PREFIX ? pg_mbstrlen_with_len(value->label, value->lo) : -1;
}

/* Return the node that is some steps above another one. */
static Datum
prefix_ascend(Dgh *dgh, const GenView *value, int steps)
{
	int kept = pg_mbstrlen_with_len(value->label, value->lo) - steps;
	GenView node = *value;
	StringInfoData masked;

	Assert(value->kind == GEN_PREFIX && kept > 0);
	initStringInfo(&masked);
	node.lo = pg_mbcharcliplen(value->label, value->lo, kept);
	appendBinaryStringInfo(&masked, value->label, node.lo);
	for (int i = kept; i < dgh->height; i++)
		appendStringInfoString(&masked, dgh->mask);
	node.label = masked.data;
	node.len = masked.len;
	return gen_node(&node);
}

const DghMethods dgh_prefix_methods = {
	.resolve = prefix_resolve,
	.depth = prefix_depth,
	.ascend = prefix_ascend,
};
