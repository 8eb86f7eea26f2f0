/*
 * compare.h
 *		Comparing generalized values with each other and with values of the types
 *		that drivers send.
 *
 * A comparison lives in fn_extra and remembers values between calls: the value of
 * a constant, and its node in the hierarchy that it is compared with.  So a scan
 * looks a constant up once, not once per row.
 */
#ifndef KANON_COMPARE_H
#define KANON_COMPARE_H

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"

#define COMPARISON_MAX_ARGS 3

/* An argument that is not of the type generalized, and its value in the call before. */
typedef struct Operand
{
	Oid type;
	bool is_generalized;
	bool is_name; /* of the type name, which is read as text */
	bool by_value;
	FmgrInfo output;  /* for types without a conversion of their own */
	bool known;		  /* the fields below are set */
	Datum raw;		  /* the argument; a copy, if it is passed by reference */
	Size raw_size;	  /* of a copy, in bytes */
	Datum value;	  /* the argument as a generalized value */
	GenView view;	  /* of value */
	bool is_fraction; /* a number between floor and floor + 1 */
	int64 floor;
} Operand;

/* The last value looked up in a hierarchy, or read as a number or date, and the value that was found. */
typedef struct Finding
{
	bool known; /* the fields below are set */
	int32 dgh;	/* the hierarchy, and its generation */
	int32 generation;
	GenView source; /* the value looked up, with a copy of its label */
	Datum value;	/* the value found; 0 if there is none */
	GenView view;	/* of value */
} Finding;

/* The hierarchy of an argument in the call before. */
typedef struct Home
{
	int32 id;
	uint64 epoch; /* of the cache when it was found */
	DghHold hold; /* of none, if it does not exist any more */
} Home;

/*
 * A constant as a node of the hierarchy of the values beside it.  While the epoch
 * is the same, positions are compared, and no value has to be taken apart.
 */
typedef struct Shortcut
{
	GenPlace place; /* of kind GEN_ANY: there is none */
	uint64 epoch;
} Shortcut;

typedef struct Comparison
{
	MemoryContext context; /* of the function call; owns everything below */
	Oid collation;
	Operand operands[COMPARISON_MAX_ARGS];
	int number; /* which of two arguments is a numeric beside a generalized value, or -1 */
	bool both_generalized;
	int constant;		  /* which of two arguments is a constant beside a generalized value, or -1 */
	Datum constant_value; /* the constant */
	Shortcut shortcut;
	Home homes[2];							  /* by side */
	Finding current[2];						  /* by side: in its own hierarchy's present state */
	Finding bound[2];						  /* by side: in the other side's hierarchy */
	Finding resolutions[2][2];				  /* by the side that has the hierarchy, and by side */
	Finding readings[COMPARISON_MAX_ARGS][2]; /* by argument: read as a date, as a number */
} Comparison;

/* compare.c */
extern Comparison *comparison_make(FunctionCallInfo fcinfo);
extern const GenView *comparison_operand(Comparison *comparison, int which, Datum raw);
extern Dgh *comparison_go_home(Comparison *comparison, int side, int32 id);
extern const GenView *comparison_look_up(Comparison *comparison, Finding *finding, Dgh *dgh, const GenView *view);
extern const GenView *comparison_reread(Comparison *comparison, int side, const GenView *label, bool numbers);
extern bool comparison_digits(const GenView *prefix, GenView *result);

/* avlike.c */
extern bool comparison_avlike(Comparison *comparison, const GenView *a, const GenView *b);

/* True for values with a place in a hierarchy. */
#define GEN_IS_BOUND(v) ((v)->kind == GEN_NODE || (v)->kind == GEN_PREFIX)

/* Return the comparison of a function call, made at the first one. */
static inline Comparison *
comparison_start(FunctionCallInfo fcinfo)
{
	return likely(fcinfo->flinfo->fn_extra) ? fcinfo->flinfo->fn_extra : comparison_make(fcinfo);
}

/* Return an argument of a call as a generalized value taken apart; the caller gives room for it. */
static inline const GenView *
comparison_argument(Comparison *comparison, FunctionCallInfo fcinfo, int which, GenView *room)
{
	if (!comparison->operands[which].is_generalized)
		return comparison_operand(comparison, which, PG_GETARG_DATUM(which));
	gen_view(PG_GETARG_DATUM(which), room);
	return room;
}

/* Return the hierarchy of one side's value, or NULL if it is gone; valid until the side's next one is found. */
static inline Dgh *
comparison_dgh(Comparison *comparison, int side, int32 id)
{
	Home *home = &comparison->homes[side];

	if (likely(home->id == id && home->epoch == dgh_epoch()))
		return home->hold.dgh;
	return comparison_go_home(comparison, side, id);
}

/*
 * Return a value as a hierarchy has it.  The result is valid until the finding is
 * used again; to look the result itself up takes another finding.
 */
static inline const GenView *
comparison_find(Comparison *comparison, Finding *finding, Dgh *dgh, const GenView *view)
{
	if (GEN_IS_BOUND(view) && view->dgh == dgh->id && view->generation == dgh->generation)
		return view;
	return comparison_look_up(comparison, finding, dgh, view);
}

/* Return a side's value as the hierarchy of a side, home, has it. */
static inline const GenView *
comparison_resolve(Comparison *comparison, int home, int side, Dgh *dgh, const GenView *view)
{
	return comparison_find(comparison, &comparison->resolutions[home][side], dgh, view);
}

#endif
