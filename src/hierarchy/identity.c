/*
 * identity.c
 *		Identity of generalized values: the equality and the order of GROUP BY,
 *		DISTINCT, ORDER BY, UNION and indexes.
 *
 * Two values are identical when they print alike and are of one sort; their hierarchies
 * and generations do not matter.  Numbers come first, by their lower bounds, then dates,
 * then labels in the order of the collation, then everything.
 */
#include "base/kanon.h"

#include "hierarchy/generalized.h"

#include "catalog/pg_collation.h"
#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/numeric.h"
#include "utils/varlena.h"

#include "base/interner.h"

PG_FUNCTION_INFO_V1(kanon_identity_cmp);
PG_FUNCTION_INFO_V1(kanon_identity_eq);
PG_FUNCTION_INFO_V1(kanon_identity_ne);
PG_FUNCTION_INFO_V1(kanon_identity_lt);
PG_FUNCTION_INFO_V1(kanon_identity_le);
PG_FUNCTION_INFO_V1(kanon_identity_gt);
PG_FUNCTION_INFO_V1(kanon_identity_ge);
PG_FUNCTION_INFO_V1(kanon_identity_hash);
PG_FUNCTION_INFO_V1(kanon_identity_hash_extended);
PG_FUNCTION_INFO_V1(kanon_identity_larger);
PG_FUNCTION_INFO_V1(kanon_identity_smaller);

/* The sorts of values, in their order. */
enum
{
	SORT_OF_NUMBERS,
	SORT_OF_DATES,
	SORT_OF_LABELS,
	SORT_OF_ANY
};

/* Return the sort of a value. */
static int
identity_sort(const GenView *view)
{
	switch ((GenKind) view->kind)
	{
		case GEN_INT:
		case GEN_NUMERIC:
			return SORT_OF_NUMBERS;
		case GEN_DATE:
			return SORT_OF_DATES;
		case GEN_LABEL:
		case GEN_NODE:
		case GEN_PREFIX:
			return SORT_OF_LABELS;
		case GEN_ANY:
			break;
	}
	return SORT_OF_ANY;
}

/* Compare two whole numbers. */
static inline int
identity_compare_whole(int64 a, int64 b)
{
	return a < b ? -1 : a > b;
}

/* Compare two finite bounds of intervals of numbers. */
static int
identity_compare_numbers(const GenView *a, bool upper_a, const GenView *b, bool upper_b)
{
	Numeric left = gen_numeric_bound(a, upper_a);
	Numeric right = gen_numeric_bound(b, upper_b);
	int order;

	Assert(left != NULL && right != NULL);
	order = DatumGetInt32(DirectFunctionCall2(numeric_cmp, NumericGetDatum(left), NumericGetDatum(right)));
	if (a->kind == GEN_INT)
		pfree(left);
	if (b->kind == GEN_INT)
		pfree(right);
	return order;
}

/* Compare two bounds of intervals, each a lower or an upper one, as points on the line. */
int
gen_bound_cmp(const GenView *a, bool upper_a, const GenView *b, bool upper_b)
{
	bool inf_a = (a->flags & (upper_a ? GEN_UPPER_INF : GEN_LOWER_INF)) != 0;
	bool inf_b = (b->flags & (upper_b ? GEN_UPPER_INF : GEN_LOWER_INF)) != 0;

	Assert(GEN_IS_INTERVAL(a) && GEN_IS_INTERVAL(b));
	Assert(GEN_IS_NUMBER(a) == GEN_IS_NUMBER(b));
	if (inf_a || inf_b)
	{
		int place_a = inf_a ? (upper_a ? 1 : -1) : 0;
		int place_b = inf_b ? (upper_b ? 1 : -1) : 0;

		return place_a - place_b;
	}
	if (a->kind != GEN_NUMERIC && b->kind != GEN_NUMERIC)
		return identity_compare_whole(upper_a ? a->ihi : a->ilo, upper_b ? b->ihi : b->ilo);
	return identity_compare_numbers(a, upper_a, b, upper_b);
}

/* Compare two intervals of one sort: by the lower bounds, the upper ones, and the flags of both. */
static int
identity_compare_intervals(const GenView *a, const GenView *b)
{
	int order = gen_bound_cmp(a, false, b, false);

	if (order == 0)
		order = gen_bound_cmp(a, true, b, true);
	if (order == 0)
		order = (int) (a->flags & GEN_BOUND_FLAGS) - (int) (b->flags & GEN_BOUND_FLAGS);
	return order;
}

/* Compare two labels in the order of a collation, and by their bytes if it finds different ones equal. */
static int
identity_compare_labels(const GenView *a, const GenView *b, Oid collation)
{
	int order;

	if (a->len == b->len && memcmp(a->label, b->label, a->len) == 0)
		return 0;
	order = varstr_cmp(a->label, a->len, b->label, b->len,
					   OidIsValid(collation) ? collation : C_COLLATION_OID);
	if (order != 0)
		return order;
	order = memcmp(a->label, b->label, Min(a->len, b->len));
	return order != 0 ? order : a->len - b->len;
}

/* Compare two values, like a btree comparison function. */
int
gen_identity_cmp(const GenView *a, const GenView *b, Oid collation)
{
	int sort_a = identity_sort(a);
	int sort_b = identity_sort(b);

	if (sort_a != sort_b)
		return sort_a - sort_b;
	if (sort_a < SORT_OF_LABELS)
		return identity_compare_intervals(a, b);
	return sort_a == SORT_OF_LABELS ? identity_compare_labels(a, b, collation) : 0;
}

/* Return true if two values are identical. */
bool
gen_identical(Datum a, Datum b)
{
	GenView left;
	GenView right;

	gen_view(a, &left);
	gen_view(b, &right);
	return gen_identity_cmp(&left, &right, C_COLLATION_OID) == 0;
}

/* Return a hash of a value; identical values have equal ones. */
uint32
gen_identity_hash(const GenView *view)
{
	uint32 hash = 0;

	switch ((GenKind) view->kind)
	{
		case GEN_ANY:
			break;
		case GEN_LABEL:
		case GEN_NODE:
		case GEN_PREFIX:
			hash = hash_bytes((const unsigned char *) view->label, view->len);
			break;
		case GEN_INT:
		case GEN_DATE:
			hash = hash_combine(hash_bytes((const unsigned char *) &view->ilo, sizeof(int64)),
								hash_bytes((const unsigned char *) &view->ihi, sizeof(int64)));
			break;
		case GEN_NUMERIC:
			if (view->nlo)
				hash = DatumGetUInt32(DirectFunctionCall1(hash_numeric, NumericGetDatum(view->nlo)));
			if (view->nhi)
				hash = hash_combine(hash, DatumGetUInt32(DirectFunctionCall1(hash_numeric,
																			 NumericGetDatum(view->nhi))));
			break;
	}
	return hash_combine(hash, murmurhash32(identity_sort(view) * 16 + (view->flags & GEN_BOUND_FLAGS)));
}

/* Compare the two arguments of a call.  Frees its memory, since a sort calls it many times in one memory context. */
static int
identity_compare_arguments(FunctionCallInfo fcinfo, Oid collation)
{
	GenView a;
	GenView b;
	int order;

	gen_view(PG_GETARG_DATUM(0), &a);
	gen_view(PG_GETARG_DATUM(1), &b);
	order = gen_identity_cmp(&a, &b, collation);
	gen_view_free(&a);
	gen_view_free(&b);
	return order;
}

/* Compare two values: the btree operator class's comparison. */
Datum
kanon_identity_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(identity_compare_arguments(fcinfo, PG_GET_COLLATION()));
}

/* Return true if two values are identical. */
Datum
kanon_identity_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(identity_compare_arguments(fcinfo, InvalidOid) == 0);
}

/* Return true if two values are not identical. */
Datum
kanon_identity_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(identity_compare_arguments(fcinfo, InvalidOid) != 0);
}

/* Return true if the first value comes before the second. */
Datum
kanon_identity_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(identity_compare_arguments(fcinfo, PG_GET_COLLATION()) < 0);
}

/* Return true if the first value comes before, or is identical to, the second. */
Datum
kanon_identity_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(identity_compare_arguments(fcinfo, PG_GET_COLLATION()) <= 0);
}

/* Return true if the first value comes after the second. */
Datum
kanon_identity_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(identity_compare_arguments(fcinfo, PG_GET_COLLATION()) > 0);
}

/* Return true if the first value comes after, or is identical to, the second. */
Datum
kanon_identity_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(identity_compare_arguments(fcinfo, PG_GET_COLLATION()) >= 0);
}

/* Return the larger of two values, for max(). */
Datum
kanon_identity_larger(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(PG_GETARG_DATUM(identity_compare_arguments(fcinfo, PG_GET_COLLATION()) >= 0 ? 0 : 1));
}

/* Return the smaller of two values, for min(). */
Datum
kanon_identity_smaller(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(PG_GETARG_DATUM(identity_compare_arguments(fcinfo, PG_GET_COLLATION()) <= 0 ? 0 : 1));
}

/* Return the hash of a value, for the hash operator class. */
Datum
kanon_identity_hash(PG_FUNCTION_ARGS)
{
	GenView view;
	uint32 hash;

	gen_view(PG_GETARG_DATUM(0), &view);
	hash = gen_identity_hash(&view);
	gen_view_free(&view);
	PG_RETURN_UINT32(hash_bytes_uint32(hash));
}

/* Return the hash of a value and a seed; with the seed 0 its lower half is the plain hash. */
Datum
kanon_identity_hash_extended(PG_FUNCTION_ARGS)
{
	GenView view;
	uint32 hash;

	gen_view(PG_GETARG_DATUM(0), &view);
	hash = gen_identity_hash(&view);
	gen_view_free(&view);
	PG_RETURN_UINT64(hash_bytes_uint32_extended(hash, PG_GETARG_INT64(1)));
}

/* Hash the value of an interner's key. */
static uint32
gen_hash_key(const void *key, void *arg)
{
	Datum value = *(const Datum *) key;
	GenView view;

	if (DatumGetPointer(value) == NULL)
		return 0;
	gen_view(value, &view);
	return gen_identity_hash(&view);
}

/* Return true if the values of two keys are identical; NULL is identical to itself only. */
static bool
gen_equal_keys(const void *a, const void *b, void *arg)
{
	Datum left = *(const Datum *) a;
	Datum right = *(const Datum *) b;

	if (DatumGetPointer(left) == NULL || DatumGetPointer(right) == NULL)
		return left == right;
	/* Most equal values have equal bytes, too. */
	if (VARSIZE_ANY_EXHDR(DatumGetPointer(left)) == VARSIZE_ANY_EXHDR(DatumGetPointer(right)) &&
		memcmp(VARDATA_ANY(DatumGetPointer(left)), VARDATA_ANY(DatumGetPointer(right)),
			   VARSIZE_ANY_EXHDR(DatumGetPointer(left))) == 0)
		return true;
	return gen_identical(left, right);
}

/* Copy the value of a new key. */
static void
gen_copy_key(void *key, void *arg)
{
	Datum *value = key;

	if (DatumGetPointer(*value) != NULL)
		*value = datumCopy(*value, false, -1);
}

const InternerMethods gen_interner_methods = {
	.hash = gen_hash_key,
	.equal = gen_equal_keys,
	.copy = gen_copy_key,
};
