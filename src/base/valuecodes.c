/*
 * valuecodes.c
 *		Codes for values, by the hash and equality functions of their type.
 */
#include "base/kanon.h"

#include "base/valuecodes.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

#include "base/interner.h"

/* Hash a value; all values of a type that can only be sorted have one hash. */
static uint32
valuecodes_hash(const void *key, void *arg)
{
	ValueCodes *codes = arg;

	if (!OidIsValid(codes->hash.fn_oid))
		return 0;
	return DatumGetUInt32(FunctionCall1Coll(&codes->hash, codes->collation, *(const Datum *) key));
}

/* Return true if two values are stored alike, so that they are equal for every type. */
static inline bool
valuecodes_same_bytes(const ValueCodes *codes, Datum left, Datum right)
{
	const void *a = DatumGetPointer(left);
	const void *b = DatumGetPointer(right);

	if (codes->typbyval)
		return left == right;
	return codes->typlen == -1 && VARSIZE_ANY(a) == VARSIZE_ANY(b) && memcmp(a, b, VARSIZE_ANY(a)) == 0;
}

/* Return true if SQL says that two values are equal. */
static bool
valuecodes_equal(const void *a, const void *b, void *arg)
{
	ValueCodes *codes = arg;
	Datum left = *(const Datum *) a;
	Datum right = *(const Datum *) b;

	if (valuecodes_same_bytes(codes, left, right))
		return true;
	return DatumGetBool(FunctionCall2Coll(&codes->equal, codes->collation, left, right));
}

/* Copy a new value. */
static void
valuecodes_copy(void *key, void *arg)
{
	ValueCodes *codes = arg;
	Datum *value = key;

	*value = datumCopy(*value, codes->typbyval, codes->typlen);
}

static const InternerMethods valuecodes_methods = {
	.hash = valuecodes_hash,
	.equal = valuecodes_equal,
	.copy = valuecodes_copy,
};

/* Create codes for the values of a type that has an equality operator. */
static ValueCodes *
create_by_equality(Oid type, Oid collation, const TypeCacheEntry *entry)
{
	ValueCodes *codes = palloc0(sizeof(ValueCodes));

	codes->type = type;
	/* Where expressions disagree about the collation, no equality holds but that of bytes. */
	codes->collation = type_is_collatable(type) && !OidIsValid(collation) ? C_COLLATION_OID : collation;
	get_typlenbyval(type, &codes->typlen, &codes->typbyval);
	fmgr_info(get_opcode(entry->eq_opr), &codes->equal);
	if (OidIsValid(entry->hash_proc))
		fmgr_info(entry->hash_proc, &codes->hash);
	codes->values = interner_create(CurrentMemoryContext, sizeof(Datum), sizeof(Datum), &valuecodes_methods, codes);
	return codes;
}

/* Create codes for the values of a type; raise an error if the type has no equality. */
ValueCodes *
valuecodes_create(Oid type, Oid collation)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_HASH_PROC | TYPECACHE_EQ_OPR);

	if (!OidIsValid(entry->eq_opr))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify an equality operator for type %s", format_type_be(type))));
	return create_by_equality(type, collation, entry);
}

/* Create codes for the values of any type. */
ValueCodes *
valuecodes_create_for_any(Oid type, Oid collation)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_HASH_PROC | TYPECACHE_EQ_OPR);
	ValueCodes *codes;
	Oid output;
	bool is_varlena;

	if (OidIsValid(entry->eq_opr))
		return create_by_equality(type, collation, entry);
	entry = lookup_type_cache(TEXTOID, TYPECACHE_HASH_PROC | TYPECACHE_EQ_OPR);
	codes = create_by_equality(TEXTOID, C_COLLATION_OID, entry);
	codes->by_text = true;
	getTypeOutputInfo(type, &output, &is_varlena);
	fmgr_info(output, &codes->output);
	return codes;
}

/* Return the code of a value; NULL has 0. */
int32
valuecodes_code(ValueCodes *codes, Datum value, bool isnull)
{
	bool found;

	if (isnull)
		return 0;
	if (codes->by_text)
		value = CStringGetTextDatum(OutputFunctionCall(&codes->output, value));
	return interner_code(codes->values, &value, &found) + 1;
}

/* Return the number of codes, with that of NULL. */
int
valuecodes_count(const ValueCodes *codes)
{
	return codes->values->count + 1;
}

typedef struct RankedCode
{
	Datum value;
	int32 code;
} RankedCode;

/* Order codes by their values: a qsort_arg comparator. */
static int
compare_ranked_codes(const void *left, const void *right, void *sort)
{
	return ApplySortComparator(((const RankedCode *) left)->value, false, ((const RankedCode *) right)->value, false,
							   sort);
}

/* Return the rank of each code's value in the order of the type, from 1; NULL comes last. */
int32 *
valuecodes_ranks(const ValueCodes *codes)
{
	int count = valuecodes_count(codes);
	RankedCode *sorted = palloc_extended(count * sizeof(RankedCode), MCXT_ALLOC_HUGE);
	int32 *ranks = palloc_extended(count * sizeof(int32), MCXT_ALLOC_HUGE);
	SortSupportData sort = {.ssup_cxt = CurrentMemoryContext, .ssup_collation = codes->collation};

	PrepareSortSupportFromOrderingOp(lookup_type_cache(codes->type, TYPECACHE_LT_OPR)->lt_opr, &sort);
	for (int32 code = 1; code < count; code++)
		sorted[code - 1] = (RankedCode){.value = interner_datum(codes->values, code - 1), .code = code};
	qsort_arg(sorted, count - 1, sizeof(RankedCode), compare_ranked_codes, &sort);
	for (int32 rank = 1; rank < count; rank++)
		ranks[sorted[rank - 1].code] = rank;
	ranks[0] = count;
	return ranks;
}
