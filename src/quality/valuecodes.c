/*
 * valuecodes.c
 *		A hash table of values by the functions of their type.
 */
#include "base/kanon.h"

#include "quality/valuecodes.h"

#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

typedef struct ValueCode
{
	Datum value;
	uint32 hash;
	int32 code;
	char status;
} ValueCode;

/* Types that can only be sorted have few friends: they share one bucket. */
static inline uint32
hash_value(ValueCodes *codes, Datum value)
{
	if (!OidIsValid(codes->hash.fn_oid))
		return 0;
	return DatumGetUInt32(FunctionCall1Coll(&codes->hash, codes->collation, value));
}

static inline bool
same_value(ValueCodes *codes, Datum a, Datum b)
{
	return DatumGetBool(FunctionCall2Coll(&codes->equal, codes->collation, a, b));
}

#define SH_PREFIX valuecode
#define SH_ELEMENT_TYPE ValueCode
#define SH_KEY_TYPE Datum
#define SH_KEY value
#define SH_HASH_KEY(tb, k) hash_value((tb)->private_data, k)
#define SH_EQUAL(tb, a, b) same_value((tb)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

#define FIRST_VALUES 64

ValueCodes *
valuecodes_create(Oid type, Oid collation)
{
	ValueCodes *codes = palloc0(sizeof(ValueCodes));
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_HASH_PROC | TYPECACHE_EQ_OPR);

	if (!OidIsValid(entry->eq_opr))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify an equality operator for type %s", format_type_be(type))));
	codes->context = CurrentMemoryContext;
	codes->type = type;
	codes->collation = collation;
	get_typlenbyval(type, &codes->typlen, &codes->typbyval);
	fmgr_info(get_opcode(entry->eq_opr), &codes->equal);
	if (OidIsValid(entry->hash_proc))
		fmgr_info(entry->hash_proc, &codes->hash);
	codes->index = valuecode_create(CurrentMemoryContext, FIRST_VALUES, codes);
	codes->room = FIRST_VALUES;
	codes->values = palloc0(codes->room * sizeof(Datum));
	codes->count = 1;
	return codes;
}

int32
valuecodes_code(ValueCodes *codes, Datum value, bool isnull)
{
	ValueCode *entry;
	bool found;
	MemoryContext old;

	if (isnull)
		return 0;
	entry = valuecode_insert(codes->index, value, &found);
	if (found)
		return entry->code;
	old = MemoryContextSwitchTo(codes->context);
	entry->value = datumCopy(value, codes->typbyval, codes->typlen);
	MemoryContextSwitchTo(old);
	if (codes->count == codes->room)
	{
		codes->room *= 2;
		codes->values = repalloc_huge(codes->values, codes->room * sizeof(Datum));
	}
	codes->values[codes->count] = entry->value;
	entry->code = codes->count++;
	return entry->code;
}

typedef struct RankedCode
{
	Datum value;
	int32 code;
} RankedCode;

static int
compare_values(const void *left, const void *right, void *sort)
{
	return ApplySortComparator(((const RankedCode *) left)->value, false, ((const RankedCode *) right)->value, false, sort);
}

int32 *
valuecodes_ranks(const ValueCodes *codes)
{
	RankedCode *sorted = palloc_extended(codes->count * sizeof(RankedCode), MCXT_ALLOC_HUGE);
	int32 *ranks = palloc_extended(codes->count * sizeof(int32), MCXT_ALLOC_HUGE);
	SortSupportData sort = {.ssup_cxt = CurrentMemoryContext, .ssup_collation = codes->collation};

	PrepareSortSupportFromOrderingOp(lookup_type_cache(codes->type, TYPECACHE_LT_OPR)->lt_opr, &sort);
	for (int32 code = 1; code < codes->count; code++)
		sorted[code - 1] = (RankedCode){.value = codes->values[code], .code = code};
	qsort_arg(sorted, codes->count - 1, sizeof(RankedCode), compare_values, &sort);
	for (int32 rank = 1; rank < codes->count; rank++)
		ranks[sorted[rank - 1].code] = rank;
	ranks[0] = codes->count;
	return ranks;
}
