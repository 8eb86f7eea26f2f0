/*
 * valuecodes.h
 *		Numbers for the values of a column, as SQL tells them apart.
 */
#ifndef KANON_VALUECODES_H
#define KANON_VALUECODES_H

#include "fmgr.h"

typedef struct ValueCodes
{
	MemoryContext context;
	Oid type;
	Oid collation;
	int16 typlen;
	bool typbyval;
	FmgrInfo hash; /* unset where the type has none */
	FmgrInfo equal;
	struct valuecode_hash *index;
	int count; /* with NULL, which is 0 */
	int room;
	Datum *values;
} ValueCodes;

extern ValueCodes *valuecodes_create(Oid type, Oid collation);
extern int32 valuecodes_code(ValueCodes *codes, Datum value, bool isnull);
/* Per code its place among all of them, from 1; NULL is the last. */
extern int32 *valuecodes_ranks(const ValueCodes *codes);

#endif
