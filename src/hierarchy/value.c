/*
 * value.c
 *		Making a generalized value, and taking one apart.
 *
 * Layout after the varlena header: kind, flags, then by kind
 *		ANY				dgh
 *		LABEL			the label
 *		NODE, PREFIX	dgh, generation, lo, hi, the label
 *		INT, DATE		lo, hi as int64
 *		NUMERIC			size of lo, lo, hi as numerics, either may be missing
 * Nothing is aligned, since tuples store it with a one-byte header.
 */
#include "base/kanon.h"

#include "hierarchy/generalized.h"

#include <math.h>

#include "utils/builtins.h"

/* Allocate a value of a kind with room for a payload, whose bytes are not set yet. */
static char *
value_start(GenKind kind, uint8 flags, Size payload)
{
	Size size = VARHDRSZ + GEN_HEADER_SIZE + payload;
	char *value = palloc(size);

	Assert(kind <= GEN_KIND_LAST);
	SET_VARSIZE(value, size);
	value[VARHDRSZ] = (char) kind;
	value[VARHDRSZ + 1] = (char) flags;
	return value;
}

/* The first byte of the payload of a value with a long header. */
#define PAYLOAD(value) ((value) + VARHDRSZ + GEN_HEADER_SIZE)

/* Make the value that stands for everything; of a hierarchy, or of none if dgh is 0. */
Datum
gen_any(int32 dgh)
{
	char *value = value_start(GEN_ANY, GEN_IS_ROOT, sizeof(int32));

	memcpy(PAYLOAD(value), &dgh, sizeof(int32));
	return PointerGetDatum(value);
}

/* Make a word of no known hierarchy. */
Datum
gen_label(const char *label, int len, uint8 flags)
{
	char *value = value_start(GEN_LABEL, flags, len);

	Assert(len >= 0);
	memcpy(PAYLOAD(value), label, len);
	return PointerGetDatum(value);
}

/* Make a GEN_NODE or GEN_PREFIX from a view with all its fields. */
Datum
gen_node(const GenView *node)
{
	char *value = value_start(node->kind, node->flags, 4 * sizeof(int32) + node->len);
	int32 place[4] = {node->dgh, node->generation, node->lo, node->hi};

	Assert(node->kind == GEN_NODE || node->kind == GEN_PREFIX);
	Assert(node->kind == GEN_PREFIX || node->lo <= node->hi);
	Assert(node->generation >= 0);
	memcpy(PAYLOAD(value), place, sizeof(place));
	memcpy(PAYLOAD(value) + sizeof(place), node->label, node->len);
	return PointerGetDatum(value);
}

/* Make an interval of whole numbers or days; a bound that the flags call infinite is 0. */
Datum
gen_whole_interval(GenKind kind, uint8 flags, int64 lo, int64 hi)
{
	char *value = value_start(kind, flags, 2 * sizeof(int64));
	int64 bounds[2] = {lo, hi};

	Assert(kind == GEN_INT || kind == GEN_DATE);
	Assert(!(flags & GEN_LOWER_INF) || lo == 0);
	Assert(!(flags & GEN_UPPER_INF) || hi == 0);
	Assert((flags & (GEN_LOWER_INF | GEN_UPPER_INF)) || lo <= hi);
	memcpy(PAYLOAD(value), bounds, sizeof(bounds));
	return PointerGetDatum(value);
}

/* Return true if a number is in a range. */
static bool
numeric_is_between(Numeric number, int64 least, int64 greatest)
{
	return DatumGetBool(DirectFunctionCall2(numeric_ge, NumericGetDatum(number),
											NumericGetDatum(int64_to_numeric(least)))) &&
		   DatumGetBool(DirectFunctionCall2(numeric_le, NumericGetDatum(number),
											NumericGetDatum(int64_to_numeric(greatest))));
}

/* Convert a number to an int64; return false if it is not whole or too large. */
static bool
numeric_is_whole(Numeric number, int64 *result)
{
	if (numeric_is_nan(number) || numeric_is_inf(number) ||
		DatumGetInt32(DirectFunctionCall1(numeric_scale, NumericGetDatum(number))) != 0)
		return false;
	/* The conversion would raise an error. */
	if (!numeric_is_between(number, PG_INT64_MIN, PG_INT64_MAX))
		return false;
	*result = DatumGetInt64(DirectFunctionCall1(numeric_int8, NumericGetDatum(number)));
	return true;
}

/* Find the greatest whole number that is not above a number; return false if no int64 can hold it. */
bool
gen_floor(Numeric number, int64 *result)
{
	if (numeric_is_nan(number) || numeric_is_inf(number))
		return false;
	return numeric_is_whole(DatumGetNumeric(DirectFunctionCall1(numeric_floor, NumericGetDatum(number))), result);
}

/*
 * Make an interval of numbers; a null bound is infinite, and has its flag.  Scales are
 * trimmed and whole bounds make a GEN_INT, so that equal intervals have equal bytes.
 */
Datum
gen_numeric_interval(uint8 flags, Numeric lo, Numeric hi)
{
	int64 ilo = 0;
	int64 ihi = 0;
	uint32 lo_size;
	uint32 hi_size;
	char *value;

	Assert((lo == NULL) == ((flags & GEN_LOWER_INF) != 0));
	Assert((hi == NULL) == ((flags & GEN_UPPER_INF) != 0));
	if (lo)
		lo = DatumGetNumeric(DirectFunctionCall1(numeric_trim_scale, NumericGetDatum(lo)));
	if (hi)
		hi = DatumGetNumeric(DirectFunctionCall1(numeric_trim_scale, NumericGetDatum(hi)));
	if ((!lo || numeric_is_whole(lo, &ilo)) && (!hi || numeric_is_whole(hi, &ihi)))
		return gen_whole_interval(GEN_INT, flags, ilo, ihi);

	lo_size = lo ? VARSIZE(lo) : 0;
	hi_size = hi ? VARSIZE(hi) : 0;
	value = value_start(GEN_NUMERIC, flags, sizeof(uint32) + lo_size + hi_size);
	memcpy(PAYLOAD(value), &lo_size, sizeof(uint32));
	if (lo)
		memcpy(PAYLOAD(value) + sizeof(uint32), lo, lo_size);
	if (hi)
		memcpy(PAYLOAD(value) + sizeof(uint32) + lo_size, hi, hi_size);
	return PointerGetDatum(value);
}

/* Return an aligned copy of a numeric that may start at any address; NULL if it has no bytes. */
static Numeric
copy_numeric(const char *start, uint32 size)
{
	char *copy;

	if (size == 0)
		return NULL;
	copy = palloc(size);
	memcpy(copy, start, size);
	return (Numeric) copy;
}

/* Read the bounds of a GEN_NUMERIC. */
static void
view_numeric(const char *payload, Size size, GenView *view)
{
	uint32 lo_size;

	memcpy(&lo_size, payload, sizeof(uint32));
	payload += sizeof(uint32);
	size -= sizeof(uint32);
	Assert(lo_size <= size);
	view->nlo = copy_numeric(payload, lo_size);
	view->nhi = copy_numeric(payload + lo_size, size - lo_size);
}

/*
 * Take a value apart.  The view's pointers lead into the value, but for copies in the
 * current memory context: of numerics, and of a value that is compressed or out of line.
 */
void
gen_view(Datum value, GenView *view)
{
	struct varlena *packed = (struct varlena *) DatumGetPointer(value);
	const char *data;
	Size size;

	view->copy = NULL;
	if (unlikely(VARATT_IS_COMPRESSED(packed) || VARATT_IS_EXTERNAL(packed)))
		packed = view->copy = pg_detoast_datum(packed);
	data = VARDATA_ANY(packed);
	size = VARSIZE_ANY_EXHDR(packed) - GEN_HEADER_SIZE;
	view->kind = (uint8) data[0];
	view->flags = (uint8) data[1];
	Assert(view->kind <= GEN_KIND_LAST);
	data += GEN_HEADER_SIZE;
	switch ((GenKind) view->kind)
	{
		case GEN_ANY:
			memcpy(&view->dgh, data, sizeof(int32));
			break;
		case GEN_LABEL:
			view->label = data;
			view->len = size;
			break;
		case GEN_NODE:
		case GEN_PREFIX:
			memcpy(&view->dgh, data, sizeof(int32));
			memcpy(&view->generation, data + sizeof(int32), sizeof(int32));
			memcpy(&view->lo, data + 2 * sizeof(int32), sizeof(int32));
			memcpy(&view->hi, data + 3 * sizeof(int32), sizeof(int32));
			view->label = data + 4 * sizeof(int32);
			view->len = size - 4 * sizeof(int32);
			break;
		case GEN_INT:
		case GEN_DATE:
			memcpy(&view->ilo, data, sizeof(int64));
			memcpy(&view->ihi, data + sizeof(int64), sizeof(int64));
			break;
		case GEN_NUMERIC:
			view_numeric(data, size, view);
			break;
	}
}

/* Return the bytes of a single number that is not whole; NULL for any other value. */
static const char *
decimal_point(Datum value, Size *size)
{
	struct varlena *packed = (struct varlena *) DatumGetPointer(value);
	const char *data;
	uint32 half;

	if (VARATT_IS_COMPRESSED(packed) || VARATT_IS_EXTERNAL(packed))
		return NULL;
	data = VARDATA_ANY(packed);
	*size = VARSIZE_ANY_EXHDR(packed);
	if (data[0] != GEN_NUMERIC || (data[1] & GEN_BOUND_FLAGS) != GEN_POINT)
		return NULL;
	memcpy(&half, data + GEN_HEADER_SIZE, sizeof(uint32));
	data += GEN_HEADER_SIZE + sizeof(uint32);
	*size -= GEN_HEADER_SIZE + sizeof(uint32);
	return *size == 2 * (Size) half && memcmp(data, data + half, half) == 0 ? data : NULL;
}

/*
 * Set *same if two single numbers that are not whole are equal; return false if one of
 * the values is no such number.
 */
bool
gen_decimal_points(Datum a, Datum b, bool *same)
{
	Size size_a;
	Size size_b;
	const char *data_a = decimal_point(a, &size_a);
	const char *data_b = data_a ? decimal_point(b, &size_b) : NULL;

	if (data_b == NULL)
		return false;
	*same = size_a == size_b && memcmp(data_a, data_b, size_a) == 0;
	return true;
}

/* Return a bound of an interval of numbers, or NULL if it is infinite. */
Numeric
gen_numeric_bound(const GenView *view, bool upper)
{
	Assert(GEN_IS_NUMBER(view));
	if (view->kind == GEN_NUMERIC)
		return upper ? view->nhi : view->nlo;
	if (view->flags & (upper ? GEN_UPPER_INF : GEN_LOWER_INF))
		return NULL;
	return int64_to_numeric(upper ? view->ihi : view->ilo);
}

/* Return a bound of an interval of numbers or dates; infinite also if it is beyond the range of a double. */
double
gen_double_bound(const GenView *view, bool upper)
{
	Assert(GEN_IS_INTERVAL(view));
	if (view->flags & (upper ? GEN_UPPER_INF : GEN_LOWER_INF))
		return upper ? INFINITY : -INFINITY;
	if (view->kind != GEN_NUMERIC)
		return (double) (upper ? view->ihi : view->ilo);
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
											  NumericGetDatum(upper ? view->nhi : view->nlo)));
}

/* Free the copies that gen_view() made, for callers with a memory context that lives too long. */
void
gen_view_free(GenView *view)
{
	if (view->kind == GEN_NUMERIC)
	{
		if (view->nlo)
			pfree(view->nlo);
		if (view->nhi)
			pfree(view->nhi);
	}
	if (view->copy)
		pfree(view->copy);
}

/* Return true if a value stands for a single value. */
bool
gen_is_point(const GenView *view)
{
	switch ((GenKind) view->kind)
	{
		case GEN_ANY:
			return false;
		case GEN_LABEL:
			return true;
		case GEN_NODE:
			return (view->flags & GEN_UNKNOWN) || view->hi - view->lo == 1;
		case GEN_PREFIX:
			return view->lo == view->len;
		case GEN_INT:
		case GEN_DATE:
			return (view->flags & GEN_BOUND_FLAGS) == GEN_POINT && view->ilo == view->ihi;
		case GEN_NUMERIC:
			return (view->flags & GEN_BOUND_FLAGS) == GEN_POINT &&
				   DatumGetBool(DirectFunctionCall2(numeric_eq, NumericGetDatum(view->nlo),
													NumericGetDatum(view->nhi)));
	}
	return false;
}

/*
 * Return true if a value stands for the value that it prints, in any hierarchy.  A node
 * above a single leaf is a point, but does not print that leaf.
 */
bool
gen_is_itself(const GenView *view)
{
	if (view->kind == GEN_NODE)
		return (view->flags & (GEN_UNKNOWN | GEN_LEAF)) != 0;
	return gen_is_point(view);
}
