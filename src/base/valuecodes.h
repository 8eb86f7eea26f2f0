/*
 * valuecodes.h
 *		Codes for the values of a column, which are equal if SQL says so.
 */
#ifndef KANON_VALUECODES_H
#define KANON_VALUECODES_H

#include "fmgr.h"

#include "base/interner.h"

typedef struct ValueCodes
{
	Oid type;
	Oid collation;
	int16 typlen;
	bool typbyval;
	FmgrInfo hash; /* fn_oid is unset if the type has no hash function */
	FmgrInfo equal;
	bool by_text;	  /* the type has no equality: values are equal if they print alike */
	FmgrInfo output;  /* set if by_text */
	Interner *values; /* all but NULL: the code of a value here is one less than in valuecodes_code() */
} ValueCodes;

/* Create codes for the values of a type in the current memory context; raise an error if the type has no equality. */
extern ValueCodes *valuecodes_create(Oid type, Oid collation);
/* Do the same for any type: values of a type without equality are equal if they print alike. */
extern ValueCodes *valuecodes_create_for_any(Oid type, Oid collation);
/* Return the code of a value; NULL has 0. */
extern int32 valuecodes_code(ValueCodes *codes, Datum value, bool isnull);
/* Return the number of codes, with that of NULL. */
extern int valuecodes_count(const ValueCodes *codes);
/* Return the rank of each code's value in the order of the type, from 1; NULL comes last. */
extern int32 *valuecodes_ranks(const ValueCodes *codes);

#endif
