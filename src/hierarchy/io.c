/*
 * io.c
 *		Input, output and casts of kanon.generalized.
 *
 * The binary form names the hierarchy of a node, so that a value keeps its meaning
 * between databases; the text form is for people, and does not name it.
 */
#include "base/kanon.h"

#include "hierarchy/dgh.h"

#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

#include "hierarchy/generalized.h"

PG_FUNCTION_INFO_V1(kanon_generalized_in);
PG_FUNCTION_INFO_V1(kanon_generalized_out);
PG_FUNCTION_INFO_V1(kanon_generalized_recv);
PG_FUNCTION_INFO_V1(kanon_generalized_send);
PG_FUNCTION_INFO_V1(kanon_generalized_text);
PG_FUNCTION_INFO_V1(kanon_numeric_generalized);
PG_FUNCTION_INFO_V1(kanon_float4_generalized);
PG_FUNCTION_INFO_V1(kanon_float8_generalized);
PG_FUNCTION_INFO_V1(kanon_date_generalized);
PG_FUNCTION_INFO_V1(kanon_range_generalized);
PG_FUNCTION_INFO_V1(kanon_generalized_numrange);
PG_FUNCTION_INFO_V1(kanon_generalized_int8range);
PG_FUNCTION_INFO_V1(kanon_generalized_daterange);

/* Return the value of a text form: the input function. */
Datum
kanon_generalized_in(PG_FUNCTION_ARGS)
{
	char *text = PG_GETARG_CSTRING(0);

	PG_RETURN_DATUM(gen_parse(text, strlen(text)));
}

/* Return the text form of a value: the output function. */
Datum
kanon_generalized_out(PG_FUNCTION_ARGS)
{
	GenView view;
	int len;
	const char *text;

	gen_view(PG_GETARG_DATUM(0), &view);
	text = gen_text(&view, &len);
	PG_RETURN_CSTRING(pnstrdup(text, len));
}

/* Cast a value to text: its text form. */
Datum
kanon_generalized_text(PG_FUNCTION_ARGS)
{
	GenView view;
	int len;
	const char *text;

	gen_view(PG_GETARG_DATUM(0), &view);
	text = gen_text(&view, &len);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(text, len));
}

/* Return the binary form of a value: its hierarchy's name, empty if it has none, and its text form. */
Datum
kanon_generalized_send(PG_FUNCTION_ARGS)
{
	StringInfoData buffer;
	GenView view;
	Dgh *dgh = NULL;
	int len;
	const char *text;

	gen_view(PG_GETARG_DATUM(0), &view);
	if (view.kind == GEN_ANY || view.kind == GEN_NODE || view.kind == GEN_PREFIX)
		dgh = dgh_find_by_id(view.dgh);
	pq_begintypsend(&buffer);
	pq_sendstring(&buffer, dgh ? dgh->name : "");
	text = gen_text(&view, &len);
	pq_sendtext(&buffer, text, len);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buffer));
}

/* Return the value of a binary form.  A hierarchy that this database does not have is left out. */
Datum
kanon_generalized_recv(PG_FUNCTION_ARGS)
{
	StringInfo buffer = (StringInfo) PG_GETARG_POINTER(0);
	const char *name = pq_getmsgstring(buffer);
	int len;
	char *text = pq_getmsgtext(buffer, buffer->len - buffer->cursor, &len);
	Dgh *dgh = name[0] ? dgh_find(name) : NULL;
	Datum value = gen_parse(text, len);

	PG_RETURN_DATUM(dgh ? dgh_resolve(dgh, value) : value);
}

/* Cast a numeric.  A cast through text would make a label of 1.50. */
Datum
kanon_numeric_generalized(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(gen_from_number(DatumGetCString(DirectFunctionCall1(numeric_out, PG_GETARG_DATUM(0)))));
}

/* Cast a real.  A cast through text would make a label of 1e+20. */
Datum
kanon_float4_generalized(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(gen_from_number(DatumGetCString(DirectFunctionCall1(float4out, PG_GETARG_DATUM(0)))));
}

/* Cast a double precision number, like a real. */
Datum
kanon_float8_generalized(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(gen_from_number(DatumGetCString(DirectFunctionCall1(float8out, PG_GETARG_DATUM(0)))));
}

/* Cast a date.  Its text form depends on DateStyle, and is not used. */
Datum
kanon_date_generalized(PG_FUNCTION_ARGS)
{
	DateADT date = PG_GETARG_DATEADT(0);

	/* A label, as the input function makes of its text form. */
	if (DATE_NOT_FINITE(date))
		PG_RETURN_DATUM(DATE_IS_NOEND(date) ? gen_label(LATE, strlen(LATE), 0) : gen_label(EARLY, strlen(EARLY), 0));
	PG_RETURN_DATUM(gen_whole_interval(GEN_DATE, GEN_POINT, date, date));
}

/* Call a bound infinite if its value is an infinity or NaN, which have no place in a value's text form. */
static void
io_drop_infinity(RangeBound *bound, Oid type)
{
	if (bound->infinite)
		return;
	if (type == DATERANGEOID)
		bound->infinite = DATE_NOT_FINITE(DatumGetDateADT(bound->val));
	else if (type == NUMRANGEOID)
		bound->infinite = numeric_is_nan(DatumGetNumeric(bound->val)) || numeric_is_inf(DatumGetNumeric(bound->val));
}

/* Return the flags of an interval with the bounds of a range. */
static uint8
io_bound_flags(const RangeBound *lower, const RangeBound *upper)
{
	return (lower->infinite ? GEN_LOWER_INF : lower->inclusive ? GEN_LOWER_INC
															   : 0) |
		   (upper->infinite ? GEN_UPPER_INF : upper->inclusive ? GEN_UPPER_INC
															   : 0);
}

/* Cast a numrange, int8range or daterange. */
Datum
kanon_range_generalized(PG_FUNCTION_ARGS)
{
	RangeType *range = PG_GETARG_RANGE_P(0);
	Oid type = RangeTypeGetOid(range);
	RangeBound lower;
	RangeBound upper;
	bool empty;
	uint8 flags;

	range_deserialize(range_get_typcache(fcinfo, type), range, &lower, &upper, &empty);
	if (empty)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("an empty %s cannot be a generalized value", format_type_be(type)),
				 errdetail("It stands for no value.")));
	Assert(type == NUMRANGEOID || type == INT8RANGEOID || type == DATERANGEOID);
	io_drop_infinity(&lower, type);
	io_drop_infinity(&upper, type);
	flags = io_bound_flags(&lower, &upper);
	if (lower.infinite && upper.infinite)
		PG_RETURN_DATUM(gen_any(0));
	if (type == NUMRANGEOID)
		PG_RETURN_DATUM(gen_numeric_interval(flags, lower.infinite ? NULL : DatumGetNumeric(lower.val),
											 upper.infinite ? NULL : DatumGetNumeric(upper.val)));
	if (type == DATERANGEOID)
		PG_RETURN_DATUM(gen_whole_interval(GEN_DATE, flags, lower.infinite ? 0 : DatumGetDateADT(lower.val),
										   upper.infinite ? 0 : DatumGetDateADT(upper.val)));
	PG_RETURN_DATUM(gen_whole_interval(GEN_INT, flags, lower.infinite ? 0 : DatumGetInt64(lower.val),
									   upper.infinite ? 0 : DatumGetInt64(upper.val)));
}

/*
 * Take apart a value that is cast to a range type, and raise an error unless it is an
 * interval of dates, or of numbers.  A label may be one in another spelling.
 */
static void
io_view_interval(Datum value, bool dates, Oid range, GenView *view)
{
	Datum reread;
	int len;
	const char *text;

	gen_view(value, view);
	text = gen_text(view, &len);
	if (!GEN_IS_INTERVAL(view) && view->kind != GEN_ANY && gen_reread(text, len, !dates, &reread))
		gen_view(reread, view);
	if (!GEN_IS_INTERVAL(view) || GEN_IS_NUMBER(view) == dates)
		ereport(ERROR,
				(errcode(ERRCODE_CANNOT_COERCE),
				 errmsg("generalized value \"%.*s\" is not an interval of %s", len, text,
						dates ? "dates" : "numbers"),
				 errdetail("It cannot be cast to type %s.", format_type_be(range))));
}

/* Make a range with the given bounds and the flags of a view. */
static Datum
io_make_range(FunctionCallInfo fcinfo, Oid type, const GenView *view, Datum lo, Datum hi)
{
	TypeCacheEntry *cache = range_get_typcache(fcinfo, type);
	RangeBound lower = {
		.val = lo,
		.infinite = (view->flags & GEN_LOWER_INF) != 0,
		.inclusive = (view->flags & GEN_LOWER_INC) != 0,
		.lower = true,
	};
	RangeBound upper = {
		.val = hi,
		.infinite = (view->flags & GEN_UPPER_INF) != 0,
		.inclusive = (view->flags & GEN_UPPER_INC) != 0,
		.lower = false,
	};

	return RangeTypePGetDatum(kanon_make_range(cache, &lower, &upper));
}

/* Cast a value to numrange. */
Datum
kanon_generalized_numrange(PG_FUNCTION_ARGS)
{
	GenView view;

	io_view_interval(PG_GETARG_DATUM(0), false, NUMRANGEOID, &view);
	return io_make_range(fcinfo, NUMRANGEOID, &view, NumericGetDatum(gen_numeric_bound(&view, false)),
						 NumericGetDatum(gen_numeric_bound(&view, true)));
}

/* Cast a value to int8range; raise an error if its bounds are not whole. */
Datum
kanon_generalized_int8range(PG_FUNCTION_ARGS)
{
	GenView view;

	io_view_interval(PG_GETARG_DATUM(0), false, INT8RANGEOID, &view);
	if (view.kind != GEN_INT)
	{
		int len;
		const char *text = gen_text(&view, &len);

		ereport(ERROR,
				(errcode(ERRCODE_CANNOT_COERCE),
				 errmsg("generalized value \"%.*s\" has bounds that no bigint can hold", len, text),
				 errhint("Cast it to numrange.")));
	}
	return io_make_range(fcinfo, INT8RANGEOID, &view, Int64GetDatum(view.ilo), Int64GetDatum(view.ihi));
}

/* Cast a value to daterange. */
Datum
kanon_generalized_daterange(PG_FUNCTION_ARGS)
{
	GenView view;

	io_view_interval(PG_GETARG_DATUM(0), true, DATERANGEOID, &view);
	return io_make_range(fcinfo, DATERANGEOID, &view, DateADTGetDatum(view.ilo), DateADTGetDatum(view.ihi));
}
