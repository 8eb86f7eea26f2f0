/*
 * text.c
 *		The text form of generalized values.
 *
 * Input changes no text: a text becomes a number, a date or an interval only if that
 * prints as the very same text again ('35', not '035'), so that labels of any spelling
 * survive and a hierarchy finds them.  Any other text is a label, which comparisons may
 * still read as a number or a date.
 */
#include "base/kanon.h"

#include "hierarchy/generalized.h"

#include <ctype.h>

#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/numeric.h"

/* How to read a text. */
#define READ_STRICT 0x01 /* only if it is spelled as it would be printed */
#define READ_NUMBERS 0x02
#define READ_DATES 0x04

/* Longer strings of digits stay labels: exact arithmetic on them would be slow. */
#define NUMBER_MAX_CHARS 1000
#define NUMBER_MAX_EXPONENT 1000

/* Return the place after the digits that start at a place. */
static int
skip_digits(const char *text, int len, int at)
{
	Assert(at >= 0 && at <= len);
	while (at < len && isdigit((unsigned char) text[at]))
		at++;
	return at;
}

/* Return true for [+-] digits [. digits] [e [+-] digits], with a digit before the exponent. */
static bool
looks_like_number(const char *text, int len)
{
	int at = 0;
	int start;
	int digits;

	if (len == 0 || len > NUMBER_MAX_CHARS)
		return false;
	if (text[at] == '+' || text[at] == '-')
		at++;
	start = at;
	at = skip_digits(text, len, at);
	digits = at - start;
	if (at < len && text[at] == '.')
	{
		start = ++at;
		at = skip_digits(text, len, at);
		digits += at - start;
	}
	if (digits == 0)
		return false;
	if (at < len && (text[at] == 'e' || text[at] == 'E'))
	{
		at++;
		if (at < len && (text[at] == '+' || text[at] == '-'))
			at++;
		start = at;
		at = skip_digits(text, len, at);
		if (at == start || at - start > 4 || atoi(pnstrdup(text + start, at - start)) > NUMBER_MAX_EXPONENT)
			return false;
	}
	return at == len;
}

/* Leave out blanks at both ends of a text. */
static void
trim_blanks(const char **text, int *len)
{
	while (*len > 0 && isspace((unsigned char) **text))
	{
		(*text)++;
		(*len)--;
	}
	while (*len > 0 && isspace((unsigned char) (*text)[*len - 1]))
		(*len)--;
}

/* Return the number that a text spells; the caller knows that it is one. */
Numeric
gen_number(const char *text)
{
	return DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
											   Int32GetDatum(-1)));
}

/* Read a number in any spelling that PostgreSQL knows; return false if the text is none.  Raises no errors. */
bool
gen_parse_number(const char *text, int len, Numeric *result)
{
	trim_blanks(&text, &len);
	if (!looks_like_number(text, len))
		return false;
	*result = gen_number(pnstrdup(text, len));
	return true;
}

/*
 * Return true if the date parser might read a text.  Other words are kept from it,
 * because it takes words for time zones and looks for their files.
 */
static bool
looks_like_date(const char *text, int len)
{
	static const char *const words[] = {"now", "today", "tomorrow", "yesterday"};

	for (int i = 0; i < len; i++)
	{
		if (isdigit((unsigned char) text[i]))
			return true;
	}
	for (int i = 0; i < (int) lengthof(words); i++)
	{
		if ((int) strlen(words[i]) == len && pg_strncasecmp(text, words[i], len) == 0)
			return true;
	}
	return false;
}

/*
 * Return true if the only letters of a text are the T and the Z of ISO 8601.  The date
 * parser may take other words for the name of a time zone, and raise an error if there
 * is none.
 */
static bool
may_have_zone(const char *text, int len)
{
	for (int i = 0; i < len; i++)
	{
		bool after_digit = i > 0 && isdigit((unsigned char) text[i - 1]);

		if (!isalpha((unsigned char) text[i]) && !IS_HIGHBIT_SET(text[i]))
			continue;
		if (!after_digit)
			return false;
		if (pg_toupper(text[i]) == 'Z' && i + 1 == len)
			continue;
		if (pg_toupper(text[i]) != 'T' || i + 1 == len || !isdigit((unsigned char) text[i + 1]))
			return false;
	}
	return true;
}

/*
 * Read a date in any spelling that PostgreSQL knows, as days since 2000-01-01; return
 * false if the text is none.  Raises no errors.  A time of day other than midnight makes
 * the date a moment of that day.
 */
static bool
parse_date(const char *text, int len, int64 *days, bool *moment)
{
	char copy[MAXDATELEN + 1];
	char work[MAXDATELEN + MAXDATEFIELDS];
	char *fields[MAXDATEFIELDS];
	int types[MAXDATEFIELDS];
	int nfields;
	int type;
	struct pg_tm tm;
	fsec_t fsec;
	int tz = 0;

	if (len > MAXDATELEN || !looks_like_date(text, len))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (ParseDateTime(copy, work, sizeof(work), fields, types, MAXDATEFIELDS, &nfields) != 0 ||
		kanon_decode_datetime(fields, types, nfields, &type, &tm, &fsec, may_have_zone(text, len) ? &tz : NULL) != 0 ||
		type != DTK_DATE)
		return false;
	if (!IS_VALID_JULIAN(tm.tm_year, tm.tm_mon, tm.tm_mday))
		return false;
	*days = date2j(tm.tm_year, tm.tm_mon, tm.tm_mday) - POSTGRES_EPOCH_JDATE;
	*moment = tm.tm_hour != 0 || tm.tm_min != 0 || tm.tm_sec != 0 || fsec != 0;
	return IS_VALID_DATE(*days);
}

/* Read a date in any spelling that PostgreSQL knows; return false if the text is none. */
bool
gen_parse_date(const char *text, int len, int64 *days)
{
	bool moment;

	return parse_date(text, len, days, &moment);
}

/* Return the ISO text of a date.  DateStyle does not matter, since stored values outlive it. */
static char *
date_text(int64 days)
{
	char buffer[MAXDATELEN + 1];
	struct pg_tm tm;

	if (DATE_NOT_FINITE(days))
		return pstrdup(DATE_IS_NOEND(days) ? LATE : EARLY);
	j2date((int) days + POSTGRES_EPOCH_JDATE, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
	EncodeDateOnly(&tm, USE_ISO_DATES, buffer);
	return pstrdup(buffer);
}

/* A bound of an interval, as read. */
typedef struct Bound
{
	GenKind kind;	/* GEN_NUMERIC, GEN_DATE, or GEN_ANY for infinite */
	Numeric number; /* GEN_NUMERIC */
	int64 days;		/* GEN_DATE: since 2000-01-01 */
	bool moment;	/* GEN_DATE: with a time of day */
} Bound;

/* Return true if a text is equal to a string. */
static bool
text_equals(const char *text, int len, const char *other)
{
	return (int) strlen(other) == len && memcmp(text, other, len) == 0;
}

/* Return true if a text spells a number in the way that it is printed. */
static bool
is_canonical_number(const char *text, int len, Numeric number)
{
	Datum trimmed = DirectFunctionCall1(numeric_trim_scale, NumericGetDatum(number));

	return text_equals(text, len, DatumGetCString(DirectFunctionCall1(numeric_out, trimmed)));
}

/* Return true if a text may be an ISO date; a quick test that spares most labels the date parser. */
static bool
looks_like_iso_date(const char *text, int len)
{
	int year_end = skip_digits(text, len, 0);

	return year_end >= 4 && len >= year_end + 6 && text[year_end] == '-' && text[year_end + 3] == '-';
}

/* Read infinity, -infinity and NaN; return false for any other text. */
static bool
parse_special(const char *text, int len, int how, Bound *bound)
{
	bool late = len == strlen(LATE) && pg_strncasecmp(text, LATE, len) == 0;
	bool early = len == strlen(EARLY) && pg_strncasecmp(text, EARLY, len) == 0;

	if (how & READ_DATES)
	{
		bound->kind = GEN_DATE;
		bound->days = late ? DATEVAL_NOEND : DATEVAL_NOBEGIN;
		return late || early;
	}
	if (!late && !early && (len != 3 || pg_strncasecmp(text, "nan", len) != 0))
		return false;
	bound->kind = GEN_NUMERIC;
	bound->number = gen_number(pnstrdup(text, len));
	return true;
}

/* Read a number or a date, as the flags in how allow; return false if the text is none. */
static bool
parse_bound(const char *text, int len, int how, Bound *bound)
{
	bool strict = (how & READ_STRICT) != 0;

	bound->moment = false;
	if (!strict)
		trim_blanks(&text, &len);
	if ((how & READ_NUMBERS) && gen_parse_number(text, len, &bound->number))
	{
		bound->kind = GEN_NUMERIC;
		return !strict || is_canonical_number(text, len, bound->number);
	}
	if ((how & READ_DATES) && (!strict || looks_like_iso_date(text, len)) &&
		parse_date(text, len, &bound->days, &bound->moment))
	{
		bound->kind = GEN_DATE;
		return !strict || text_equals(text, len, date_text(bound->days));
	}
	return !strict && parse_special(text, len, how, bound);
}

/* Return true if no value lies between two bounds. */
static bool
is_empty(uint8 flags, const Bound *lo, const Bound *hi)
{
	int order;

	if (lo->kind == GEN_ANY || hi->kind == GEN_ANY)
		return false;
	if (lo->kind == GEN_DATE)
		order = lo->days < hi->days ? -1 : lo->days > hi->days;
	else
		order = DatumGetInt32(DirectFunctionCall2(numeric_cmp, NumericGetDatum(lo->number),
												  NumericGetDatum(hi->number)));
	return order > 0 || (order == 0 && (flags & GEN_BOUND_FLAGS) != GEN_POINT);
}

/* Make the interval between two bounds of one kind, one of which may be infinite. */
static Datum
interval_between(uint8 flags, const Bound *lo, const Bound *hi)
{
	Assert(lo->kind != GEN_ANY || hi->kind != GEN_ANY);
	Assert(lo->kind == hi->kind || lo->kind == GEN_ANY || hi->kind == GEN_ANY);
	if (lo->kind == GEN_DATE || hi->kind == GEN_DATE)
		return gen_whole_interval(GEN_DATE, flags, lo->kind == GEN_DATE ? lo->days : 0,
								  hi->kind == GEN_DATE ? hi->days : 0);
	return gen_numeric_interval(flags, lo->kind == GEN_NUMERIC ? lo->number : NULL,
								hi->kind == GEN_NUMERIC ? hi->number : NULL);
}

/*
 * Read an interval as PostgreSQL writes ranges, [lo,hi), where a missing bound is
 * infinite; return false if the text is none.  In strict reading an empty interval is an
 * error.
 */
static bool
parse_interval(const char *text, int len, int how, Datum *result)
{
	bool strict = (how & READ_STRICT) != 0;
	const char *comma;
	uint8 flags = 0;
	Bound bounds[2];

	if (len < 3 || (text[0] != '[' && text[0] != '(') || (text[len - 1] != ']' && text[len - 1] != ')'))
		return false;
	comma = memchr(text, ',', len);
	if (comma == NULL)
		return false;
	if (text[0] == '[')
		flags |= GEN_LOWER_INC;
	if (text[len - 1] == ']')
		flags |= GEN_UPPER_INC;

	for (int i = 0; i < 2; i++)
	{
		const char *start = i == 0 ? text + 1 : comma + 1;
		int size = i == 0 ? comma - start : text + len - 1 - start;
		uint8 included = i == 0 ? GEN_LOWER_INC : GEN_UPPER_INC;

		if (!strict)
			trim_blanks(&start, &size);
		bounds[i].kind = GEN_ANY;
		if (size == 0)
		{
			if (strict && (flags & included))
				return false;
			flags = (flags & ~included) | (i == 0 ? GEN_LOWER_INF : GEN_UPPER_INF);
		}
		else if (!parse_bound(start, size, how, &bounds[i]))
			return false;
	}
	/* Two infinite bounds are neither numbers nor dates; a number and a date are no interval. */
	if (bounds[0].kind != bounds[1].kind && bounds[0].kind != GEN_ANY && bounds[1].kind != GEN_ANY)
		return false;
	if (bounds[0].kind == GEN_ANY && bounds[1].kind == GEN_ANY)
		return false;
	if (is_empty(flags, &bounds[0], &bounds[1]))
	{
		if (!strict)
			return false;
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("invalid generalized value \"%.*s\": the interval is empty", len, text),
				 errdetail("The lower bound must be below the upper one, or equal to it with both included.")));
	}
	*result = interval_between(flags, &bounds[0], &bounds[1]);
	return true;
}

/* Read a single number or date; return false if the text is none. */
static bool
parse_point(const char *text, int len, int how, Datum *result)
{
	Bound bound;

	if (!parse_bound(text, len, how, &bound))
		return false;
	if (bound.kind == GEN_DATE)
		*result = gen_whole_interval(GEN_DATE, GEN_POINT | (bound.moment ? GEN_MOMENT : 0), bound.days, bound.days);
	else
		*result = gen_numeric_interval(GEN_POINT, bound.number, bound.number);
	return true;
}

/* Return the value that a text stands for: the input function of the type. */
Datum
gen_parse(const char *text, int len)
{
	const int how = READ_STRICT | READ_NUMBERS | READ_DATES;
	Datum result;

	if (len == 1 && text[0] == GEN_ROOT_LABEL[0])
		return gen_any(0);
	if (parse_point(text, len, how, &result) || parse_interval(text, len, how, &result))
		return result;
	return gen_label(text, len, 0);
}

/* Return the value of a number that its type's output function printed; NaN and the infinities are labels. */
Datum
gen_from_number(const char *text)
{
	Numeric number;

	if (gen_parse_number(text, strlen(text), &number))
		return gen_numeric_interval(GEN_POINT, number, number);
	return gen_label(text, strlen(text), 0);
}

/*
 * Read a number or an interval of numbers in any spelling, or of dates if numbers is
 * false; return false if the text is none.
 */
bool
gen_reread(const char *text, int len, bool numbers, Datum *result)
{
	const int how = numbers ? READ_NUMBERS : READ_DATES;

	trim_blanks(&text, &len);
	return parse_point(text, len, how, result) || parse_interval(text, len, how, result);
}

/* Return the text of a bound of an interval; empty if it is infinite. */
static char *
bound_text(const GenView *view, bool upper)
{
	if (view->flags & (upper ? GEN_UPPER_INF : GEN_LOWER_INF))
		return "";
	Assert(GEN_IS_INTERVAL(view));
	switch ((GenKind) view->kind)
	{
		case GEN_DATE:
			return date_text(upper ? view->ihi : view->ilo);
		case GEN_INT:
			return psprintf(INT64_FORMAT, upper ? view->ihi : view->ilo);
		default:
			return DatumGetCString(DirectFunctionCall1(numeric_out,
													   NumericGetDatum(upper ? view->nhi : view->nlo)));
	}
}

/* Return a value's text form and its length; not terminated if it leads into the value itself. */
const char *
gen_text(const GenView *view, int *len)
{
	char *text;

	switch ((GenKind) view->kind)
	{
		case GEN_ANY:
			*len = strlen(GEN_ROOT_LABEL);
			return GEN_ROOT_LABEL;
		case GEN_LABEL:
		case GEN_NODE:
		case GEN_PREFIX:
			*len = view->len;
			return view->label;
		default:
			break;
	}
	if (gen_is_point(view))
		text = bound_text(view, false);
	else
		text = psprintf("%c%s,%s%c",
						view->flags & GEN_LOWER_INC ? '[' : '(', bound_text(view, false),
						bound_text(view, true), view->flags & GEN_UPPER_INC ? ']' : ')');
	*len = strlen(text);
	return text;
}
