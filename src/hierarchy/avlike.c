/*
 * avlike.c
 *		AVLIKE: true if one of two values covers the other.
 *
 * Two nodes of one generation compare their leaf positions, two intervals their bounds.
 * Anything else is first looked up in the hierarchy of the value that has one; where
 * both values have one, and different ones, AVLIKE holds if it holds in either.
 */
#include "base/kanon.h"

#include "hierarchy/compare.h"

#include "utils/builtins.h"

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"

PG_FUNCTION_INFO_V1(kanon_avlike);

/* Return true if two values print alike. */
static bool
avlike_same_text(const GenView *a, const GenView *b)
{
	int len_a;
	int len_b;
	const char *text_a = gen_text(a, &len_a);
	const char *text_b = gen_text(b, &len_b);

	return len_a == len_b && memcmp(text_a, text_b, len_a) == 0;
}

/* Return true if one of two nodes of one generation covers the other. */
static inline bool
nested_nodes(const GenView *a, const GenView *b)
{
	if ((a->flags | b->flags) & (GEN_IS_ROOT | GEN_UNKNOWN))
		return ((a->flags | b->flags) & GEN_IS_ROOT) || avlike_same_text(a, b);
	return (a->lo <= b->lo && b->hi <= a->hi) || (b->lo <= a->lo && a->hi <= b->hi);
}

/* Return true if the shorter of two prefixes begins the longer one. */
static bool
nested_prefixes(const GenView *a, const GenView *b)
{
	return memcmp(a->label, b->label, Min(a->lo, b->lo)) == 0;
}

/* Return true if an interval lies in another one. */
bool
gen_within(const GenView *inner, const GenView *outer)
{
	int lower = gen_bound_cmp(outer, false, inner, false);
	int upper = gen_bound_cmp(inner, true, outer, true);

	if (lower > 0 || upper > 0)
		return false;
	if (lower == 0 && (inner->flags & GEN_LOWER_INC) && !(outer->flags & GEN_LOWER_INC))
		return false;
	return upper < 0 || !(inner->flags & GEN_UPPER_INC) || (outer->flags & GEN_UPPER_INC);
}

/* Return true if a bounded interval of whole numbers or dates holds a single one: the most common case. */
static inline bool
holds_point(const GenView *interval, int64 point)
{
	return (interval->ilo < point || (interval->ilo == point && (interval->flags & GEN_LOWER_INC))) &&
		   (interval->ihi > point || (interval->ihi == point && (interval->flags & GEN_UPPER_INC)));
}

/* True for an interval of whole numbers or dates that holds one of them, and for one without infinite bounds. */
#define IS_WHOLE_POINT(v) (((v)->flags & GEN_BOUND_FLAGS) == GEN_POINT && (v)->ilo == (v)->ihi)
#define IS_BOUNDED(v) (((v)->flags & (GEN_LOWER_INF | GEN_UPPER_INF)) == 0)

/* Return true if one of two intervals covers the other. */
static inline bool
nested_intervals(const GenView *a, const GenView *b)
{
	if (a->kind == b->kind && a->kind != GEN_NUMERIC)
	{
		if (IS_WHOLE_POINT(b) && IS_BOUNDED(a))
			return holds_point(a, b->ilo);
		if (IS_WHOLE_POINT(a) && IS_BOUNDED(b))
			return holds_point(b, a->ilo);
	}
	if (GEN_IS_NUMBER(a) != GEN_IS_NUMBER(b))
		return false;
	return gen_within(a, b) || gen_within(b, a);
}

/*
 * Return true if a label is in an interval.  It may be a number or a date in other
 * spelling.  If it is not, no interval is printed like it, unless both come from a
 * column of a text type.
 */
static bool
nested_label(Comparison *comparison, int side, const GenView *label, const GenView *interval)
{
	const GenView *read;

	if (label->flags & GEN_FROM_TEXT)
		return avlike_same_text(label, interval);
	read = comparison_reread(comparison, side, label, GEN_IS_NUMBER(interval));
	return read && nested_intervals(read, interval);
}

/* Return true if one of two values of no hierarchy, or of the same one, covers the other. */
static inline bool
nested(Comparison *comparison, const GenView *a, const GenView *b)
{
	if (a->kind == GEN_NODE && b->kind == GEN_NODE)
		return nested_nodes(a, b);
	if (a->kind == GEN_PREFIX && b->kind == GEN_PREFIX)
		return nested_prefixes(a, b);
	if (GEN_IS_INTERVAL(a) && GEN_IS_INTERVAL(b))
		return nested_intervals(a, b);
	if (a->kind == GEN_ANY || b->kind == GEN_ANY)
		return true;
	if (GEN_IS_INTERVAL(a) && b->kind == GEN_LABEL)
		return nested_label(comparison, 1, b, a);
	if (a->kind == GEN_LABEL && GEN_IS_INTERVAL(b))
		return nested_label(comparison, 0, a, b);
	return avlike_same_text(a, b);
}

/*
 * Return true if one of two values may have covered the other in a hierarchy that does
 * not exist any more.  Its inner nodes may have stood for any value.
 */
static bool
may_be_nested(int32 id, const GenView *a, const GenView *b)
{
	return avlike_same_text(a, b) ||
		   (GEN_IS_BOUND(a) && a->dgh == id && !gen_is_itself(a)) ||
		   (GEN_IS_BOUND(b) && b->dgh == id && !gen_is_itself(b));
}

/* Return true if, in the hierarchy of one side's value, one of two values covers the other. */
static bool
nested_at_home(Comparison *comparison, int home, const GenView *a, const GenView *b)
{
	int32 id = home == 0 ? a->dgh : b->dgh;
	Dgh *dgh = comparison_dgh(comparison, home, id);

	Assert(home == 0 || home == 1);
	Assert(GEN_IS_BOUND(home == 0 ? a : b));
	if (dgh == NULL)
		return may_be_nested(id, a, b);
	return nested(comparison, comparison_resolve(comparison, home, 0, dgh, a),
				  comparison_resolve(comparison, home, 1, dgh, b));
}

/* Return true if one of two values covers the other. */
bool
comparison_avlike(Comparison *comparison, const GenView *a, const GenView *b)
{
	bool bound_a = GEN_IS_BOUND(a);
	bool bound_b = GEN_IS_BOUND(b);

	if (a->kind == GEN_ANY || b->kind == GEN_ANY)
		return true;
	if (!bound_a && !bound_b)
		return nested(comparison, a, b);
	if (bound_a && bound_b && a->dgh == b->dgh && a->generation == b->generation && a->generation != 0)
		return nested(comparison, a, b);
	if (bound_a && nested_at_home(comparison, 0, a, b))
		return true;
	return bound_b && !(bound_a && a->dgh == b->dgh) && nested_at_home(comparison, 1, a, b);
}

/*
 * Compare a number that is not whole with an interval of whole bounds, or with another
 * such number; return false if these are not the arguments.  The number lies inside or
 * outside the interval, never on a bound, so that its floor decides.  Without this case,
 * arithmetic on numerics takes most of a scan.
 */
static bool
fraction_avlike(Comparison *comparison, FunctionCallInfo fcinfo, bool *result)
{
	int side = comparison->number;
	GenView view;
	const Operand *number = &comparison->operands[side];
	Datum other = PG_GETARG_DATUM(1 - side);

	Assert(side == 0 || side == 1);
	(void) comparison_argument(comparison, fcinfo, side, &view);
	if (number->view.kind != GEN_NUMERIC)
		return false;
	if (gen_decimal_points(other, number->value, result))
		return true;
	gen_view(other, &view);
	if (!number->is_fraction || view.kind != GEN_INT)
		return false;
	*result = ((view.flags & GEN_LOWER_INF) || view.ilo <= number->floor) &&
			  ((view.flags & GEN_UPPER_INF) || view.ihi > number->floor);
	return true;
}

/* True for a node of a tree with positions, and for two nodes of one state of one hierarchy. */
#define IN_TREE(p) ((p)->kind == GEN_NODE && !((p)->flags & (GEN_IS_ROOT | GEN_UNKNOWN)))
#define SAME_STATE(a, b) ((a)->dgh == (b)->dgh && (a)->generation == (b)->generation)

/* Return true if one of two nodes of one generation covers the other. */
static inline bool
nested_places(const GenPlace *a, const GenPlace *b)
{
	return (a->lo <= b->lo && b->hi <= a->hi) || (b->lo <= a->lo && a->hi <= b->hi);
}

/*
 * Compare two nodes of one state of one tree, which are the arguments of most scans and
 * joins; return false if these are not the arguments.  The result is that of
 * comparison_avlike().
 */
static inline bool
places_avlike(FunctionCallInfo fcinfo, bool *result)
{
	GenPlace a;
	GenPlace b;

	if (!gen_place(PG_GETARG_DATUM(0), &a) || !gen_place(PG_GETARG_DATUM(1), &b) || !IN_TREE(&a) || !IN_TREE(&b) ||
		!SAME_STATE(&a, &b) || a.generation == 0)
		return false;
	*result = nested_places(&a, &b);
	return true;
}

/*
 * Compare a constant whose place in the hierarchy of the other value is known; return
 * false if it is not.  The result is that of comparison_avlike().
 */
static inline bool
shortcut_avlike(const Comparison *comparison, FunctionCallInfo fcinfo, bool *result)
{
	const GenPlace *constant = &comparison->shortcut.place;
	GenPlace place;

	if (comparison->shortcut.epoch != dgh_epoch() ||
		PG_GETARG_DATUM(comparison->constant) != comparison->constant_value ||
		!gen_place(PG_GETARG_DATUM(1 - comparison->constant), &place) || place.kind != constant->kind ||
		!SAME_STATE(&place, constant))
		return false;
	if (place.kind == GEN_PREFIX)
		*result = memcmp(place.label, constant->label, Min(place.lo, constant->lo)) == 0;
	else if (IN_TREE(&place))
		*result = nested_places(&place, constant);
	else
		return false;
	return true;
}

/* After a value was compared with a constant, note the constant's place in the value's hierarchy, if it has one. */
static void
take_shortcut(Comparison *comparison, FunctionCallInfo fcinfo, const GenView *constant, const GenView *value)
{
	GenPlace *place = &comparison->shortcut.place;
	const GenView *found;
	Dgh *dgh;

	if (GEN_IS_BOUND(constant) || constant->kind == GEN_ANY || !GEN_IS_BOUND(value) || value->generation == 0 ||
		PG_GETARG_DATUM(comparison->constant) != comparison->constant_value)
		return;
	dgh = comparison_dgh(comparison, 1 - comparison->constant, value->dgh);
	if (dgh == NULL || dgh->generation != value->generation)
		return;
	found = comparison_resolve(comparison, 1 - comparison->constant, comparison->constant, dgh, constant);
	if (found->kind != GEN_PREFIX && !IN_TREE(found))
		return;
	*place = (GenPlace){found->kind, found->flags, dgh->id, dgh->generation, found->lo, found->hi, found->label};
	comparison->shortcut.epoch = comparison->homes[1 - comparison->constant].epoch;
}

/* Return true if one of two values covers the other: avlike(), ~~^ and =. */
Datum
kanon_avlike(PG_FUNCTION_ARGS)
{
	Comparison *comparison = comparison_start(fcinfo);
	GenView room[2];
	const GenView *a;
	const GenView *b;
	bool result;

	if (comparison->both_generalized && places_avlike(fcinfo, &result))
		PG_RETURN_BOOL(result);
	if (comparison->shortcut.place.kind != GEN_ANY && shortcut_avlike(comparison, fcinfo, &result))
		PG_RETURN_BOOL(result);
	if (comparison->number >= 0 && fraction_avlike(comparison, fcinfo, &result))
		PG_RETURN_BOOL(result);
	comparison->shortcut.place.kind = GEN_ANY; /* its label may be freed below */
	a = comparison_argument(comparison, fcinfo, 0, &room[0]);
	b = comparison_argument(comparison, fcinfo, 1, &room[1]);
	result = comparison_avlike(comparison, a, b);
	if (comparison->constant >= 0 && GEN_IS_BOUND(a) != GEN_IS_BOUND(b))
		take_shortcut(comparison, fcinfo, comparison->constant == 0 ? a : b, comparison->constant == 0 ? b : a);
	PG_RETURN_BOOL(result);
}
