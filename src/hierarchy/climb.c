/*
 * climb.c
 *		What all kinds of hierarchies have in common: climbing and distances.
 */
#include "base/kanon.h"

#include "hierarchy/dgh.h"

#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"

Datum
dgh_root(Dgh *dgh)
{
	return dgh->kind == DGH_TREE ? tree_value(dgh, 0) : gen_any(dgh->id);
}

/* The hierarchy's own form of a value: a raw one, or a node by its text form. */
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

static int
depth_of(Dgh *dgh, const GenView *value)
{
	return value->kind == GEN_ANY ? 0 : dgh->methods->depth(dgh, value);
}

/*
 * A resolved value so many steps up.  The climb ends at the root; a value that
 * the hierarchy does not know is one step below it.
 */
Datum
dgh_climb(Dgh *dgh, Datum value, int steps, bool *at_root)
{
	GenView view;
	int depth;

	gen_view(value, &view);
	depth = depth_of(dgh, &view);
	if (depth < 0)
		depth = 1;
	*at_root = steps >= depth;
	if (*at_root)
		return dgh_root(dgh);
	return steps == 0 ? value : dgh->methods->ascend(dgh, &view, steps);
}

/* Steps to the root, one from a value that the hierarchy does not know. */
static int
steps_to_root(Dgh *dgh, Datum value)
{
	GenView view;
	int depth;

	gen_view(value, &view);
	depth = depth_of(dgh, &view);
	return depth < 0 ? 1 : depth;
}

/* Where the paths of two resolved values to the root meet, and how far that is. */
static Datum
meet(Dgh *dgh, Datum a, Datum b, int *edges)
{
	int ahead = steps_to_root(dgh, a) - steps_to_root(dgh, b);
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

/* The number of edges between two resolved values. */
int
dgh_edges_between(Dgh *dgh, Datum a, Datum b)
{
	int edges;

	(void) meet(dgh, a, b, &edges);
	return edges;
}

/* The lowest value that covers two resolved ones. */
Datum
dgh_join(Dgh *dgh, Datum a, Datum b)
{
	int edges;

	return meet(dgh, a, b, &edges);
}
