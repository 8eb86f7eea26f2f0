/*
 * compare.h
 *		Comparing generalized values with each other and with values of the types
 *		that drivers send.
 *
 * A comparison keeps what it found out between calls: what a constant means,
 * and where it stands in the hierarchy that it is compared with.  So a scan
 * asks the hierarchy once, not once per row.
 */
#ifndef KANON_COMPARE_H
#define KANON_COMPARE_H

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"

#define COMPARISON_MAX_ARGS 3

/* An argument that is not of the type generalized, as last seen. */
typedef struct Operand
{
	Oid type;
	bool is_generalized;
	bool is_name; /* and read as text */
	bool by_value;
	FmgrInfo output; /* for types without a conversion of their own */
	bool known;
	Datum raw; /* a copy, where it is passed by reference */
	Size raw_size;
	Datum value;
	GenView view;
	bool is_fraction; /* a number between floor and floor + 1 */
	int64 floor;
} Operand;

/* What a value was last found to be: in a hierarchy, or among numbers or dates. */
typedef struct Finding
{
	bool known;
	int32 dgh;
	int32 generation;
	GenView source; /* with a label of its own */
	Datum value;	/* zero if it is nothing there */
	GenView view;
} Finding;

/* The hierarchy of an argument, as last seen. */
typedef struct Home
{
	int32 id;
	uint64 epoch;
	DghHold hold; /* of none, if it is gone */
} Home;

/*
 * A constant as a node of the hierarchy of the values beside it.  Where all of
 * this is still so, positions tell, and nothing has to be taken apart.
 */
typedef struct Shortcut
{
	GenPlace place; /* of kind GEN_ANY: there is none */
	uint64 epoch;
} Shortcut;

typedef struct Comparison
{
	MemoryContext context;
	Oid collation;
	Operand operands[COMPARISON_MAX_ARGS];
	int number; /* which of two arguments is a numeric beside a generalized value, or -1 */
	bool both_generalized;
	int constant; /* which of two arguments is a constant beside a generalized value, or -1 */
	Datum constant_value;
	Shortcut shortcut;
	Home homes[2];							  /* of either side */
	Finding current[2];						  /* brought up to date, either side */
	Finding bound[2];						  /* bound to the other side's hierarchy */
	Finding resolutions[2][2];				  /* by whose hierarchy it is, and which side */
	Finding readings[COMPARISON_MAX_ARGS][2]; /* among dates, among numbers */
} Comparison;

extern Comparison *comparison_make(FunctionCallInfo fcinfo);
extern const GenView *comparison_operand(Comparison *comparison, int which, Datum raw);
extern Dgh *comparison_go_home(Comparison *comparison, int side, int32 id);
extern const GenView *comparison_look_up(Comparison *comparison, Finding *finding, Dgh *dgh, const GenView *view);
extern const GenView *comparison_reread(Comparison *comparison, int side, const GenView *label, bool numbers);
extern bool comparison_digits(const GenView *prefix, GenView *result);

/* avlike.c */
extern bool comparison_avlike(Comparison *comparison, const GenView *a, const GenView *b);

#define GEN_IS_BOUND(v) ((v)->kind == GEN_NODE || (v)->kind == GEN_PREFIX)

/* The state of a comparison, made at its first call. */
static inline Comparison *
comparison_start(FunctionCallInfo fcinfo)
{
	return likely(fcinfo->flinfo->fn_extra) ? fcinfo->flinfo->fn_extra : comparison_make(fcinfo);
}

/* An argument of a call, as a generalized value taken apart; in the caller's room, if need be. */
static inline const GenView *
comparison_argument(Comparison *comparison, FunctionCallInfo fcinfo, int which, GenView *room)
{
	if (!comparison->operands[which].is_generalized)
		return comparison_operand(comparison, which, PG_GETARG_DATUM(which));
	gen_view(PG_GETARG_DATUM(which), room);
	return room;
}

/* The hierarchy of one side's value, for as long as the next is not asked for; null if it is gone. */
static inline Dgh *
comparison_dgh(Comparison *comparison, int side, int32 id)
{
	Home *home = &comparison->homes[side];

	if (likely(home->id == id && home->epoch == dgh_epoch()))
		return home->hold.dgh;
	return comparison_go_home(comparison, side, id);
}

/*
 * A value as it is in a hierarchy.  What is found is valid until the finding is
 * used again: a value that was found may be looked up only into another one.
 */
static inline const GenView *
comparison_find(Comparison *comparison, Finding *finding, Dgh *dgh, const GenView *view)
{
	if (GEN_IS_BOUND(view) && view->dgh == dgh->id && view->generation == dgh->generation)
		return view;
	return comparison_look_up(comparison, finding, dgh, view);
}

/* A value as it is in the hierarchy that is the home of either side. */
static inline const GenView *
comparison_resolve(Comparison *comparison, int home, int side, Dgh *dgh, const GenView *view)
{
	return comparison_find(comparison, &comparison->resolutions[home][side], dgh, view);
}

#endif
