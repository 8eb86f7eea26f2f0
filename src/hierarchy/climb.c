/*
 * climb.c
 *		Climbing and distances, for all kinds of hierarchies.
 */
#include "base/kanon.h"

#include "hierarchy/dgh.h"

#include "catalog/pg_collation.h"

#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"

/* Return the root of a hierarchy. */
Datum
dgh_root(Dgh *dgh)
{
	return dgh->kind == DGH_TREE ? tree_value(dgh, 0) : gen_any(dgh->id);
}

/* Return a hierarchy's own form of a value, which may be a raw value, or the text form of a node. */
Datum
dgh_resolve(Dgh *dgh, Datum value)
{
	GenView view;

	gen_view(value, &view);
	if (view.kind == GEN_NODE && view.dgh == dgh->id && view.generation == dgh->generation)
		return value;
	if (view.kind == GEN_ANY)
		return dgh_root(dgh);
	return dgh->methods->resolve(dgh, &view);
}

/* Return the steps from a resolved value up to the root, or -1 for one that the hierarchy does not know. */
static int
climb_depth(Dgh *dgh, const GenView *value)
{
	return value->kind == GEN_ANY ? 0 : dgh->methods->depth(dgh, value);
}

/*
 * Return the value that is some steps above a resolved one.  The climb ends at the root;
 * a value that the hierarchy does not know is one step below it.
 */
Datum
dgh_climb(Dgh *dgh, Datum value, int steps, bool *at_root)
{
	GenView view;
	int depth;

	Assert(steps >= 0);
	gen_view(value, &view);
	depth = climb_depth(dgh, &view);
	Assert(depth <= dgh->height);
	if (depth < 0)
		depth = 1;
	*at_root = steps >= depth;
	if (*at_root)
		return dgh_root(dgh);
	return steps == 0 ? value : dgh->methods->ascend(dgh, &view, steps);
}

/* Return the steps from a resolved value up to the root: 1 for one that the hierarchy does not know. */
static int
climb_steps_to_root(Dgh *dgh, Datum value)
{
	GenView view;
	int depth;

	gen_view(value, &view);
	depth = climb_depth(dgh, &view);
	return depth < 0 ? 1 : depth;
}

/* Return the value at which the paths of two resolved values to the root meet, and the edges of both ways to it. */
static Datum
climb_meet(Dgh *dgh, Datum a, Datum b, int *edges)
{
	int ahead = climb_steps_to_root(dgh, a) - climb_steps_to_root(dgh, b);
	bool at_root = false;

	*edges = abs(ahead);
	if (ahead > 0)
		a = dgh_climb(dgh, a, ahead, &at_root);
	else if (ahead < 0)
		b = dgh_climb(dgh, b, -ahead, &at_root);
	while (!gen_identical(a, b))
	{
		a = dgh_climb(dgh, a, 1, &at_root);
		b = dgh_climb(dgh, b, 1, &at_root);
		*edges += 2;
	}
	return a;
}

/* Return the number of edges between two resolved values. */
int
dgh_edges_between(Dgh *dgh, Datum a, Datum b)
{
	int edges;

	(void) climb_meet(dgh, a, b, &edges);
	return edges;
}

/* Return the lowest value that covers two resolved ones. */
Datum
dgh_join(Dgh *dgh, Datum a, Datum b)
{
	int edges;

	return climb_meet(dgh, a, b, &edges);
}

/* Return true if one value is above another one in a hierarchy, in its present state. */
static bool
is_above(Dgh *dgh, Datum upper, Datum lower)
{
	upper = dgh_resolve(dgh, upper);
	lower = dgh_resolve(dgh, lower);
	return !gen_identical(upper, lower) && gen_identical(dgh_join(dgh, upper, lower), upper);
}

/*
 * Return true if a published value covers another one, and is not the same.  dgh is the
 * hierarchy of both, or NULL for values that bring their own.  Inner nodes of a hierarchy
 * that does not exist any more may have stood for any value.
 */
bool
dgh_covers(Dgh *dgh, Datum upper, Datum lower)
{
	GenView a;
	GenView b;

	gen_view(upper, &a);
	gen_view(lower, &b);
	if (b.kind == GEN_ANY || gen_identity_cmp(&a, &b, C_COLLATION_OID) == 0)
		return false;
	if (a.kind == GEN_ANY || (a.kind == GEN_NODE && (a.flags & GEN_IS_ROOT)))
		return true;
	if (gen_is_itself(&a))
		return false;
	if (GEN_IS_INTERVAL(&a) && GEN_IS_INTERVAL(&b))
		return GEN_IS_NUMBER(&a) == GEN_IS_NUMBER(&b) && gen_within(&b, &a);
	if (a.kind != GEN_NODE && a.kind != GEN_PREFIX)
		return false;
	if (dgh == NULL)
		dgh = dgh_find_by_id(a.dgh);
	return dgh == NULL || is_above(dgh, upper, lower);
}
