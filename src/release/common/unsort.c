/*
 * unsort.c
 *		The order of a release's rows.
 *
 * Algorithms put rows group by group, and in a group as they are stored or by their
 * identifiers.  A publisher who drops the identifiers and copies the rest as it comes
 * would publish that order with it.
 */
#include "base/kanon.h"

#include "release/common/unsort.h"

#include "executor/tuptable.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/tuplestore.h"

#include "base/shuffle.h"

/* Bring the rows that a function returns in a tuplestore into random order. */
void
release_unsort(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Shuffle *shuffle = shuffle_create(result->setDesc, false);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(result->setDesc, &TTSOpsMinimalTuple);

	while (tuplestore_gettupleslot(result->setResult, true, false, slot))
	{
		CHECK_FOR_INTERRUPTS();
		shuffle_add(shuffle, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_clear(result->setResult);
	while (shuffle_next(shuffle, &slot))
	{
		CHECK_FOR_INTERRUPTS();
		tuplestore_puttupleslot(result->setResult, slot);
	}
	shuffle_end(shuffle);
}
