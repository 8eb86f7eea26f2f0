/*
 * closest.c
 *		The group that changes least when a row joins it.
 *
 * The change is the paper's (section 7, and READINGS.md): for the row and for all
 * members, the edges that each quasi-identifier climbs over the most that its
 * hierarchy has, summed.  A row that was published before starts from the cell
 * that it was published in, which is how it never becomes narrower.
 *
 * A group whose cell covers the row need not change.  Of these the lowest is the
 * best, and the longest of the row's prefixes among the keys finds it.  Any other
 * group has to climb to the first cell that it shares with the row; those that
 * share a low one are next to the row in the order of keys.  The search goes out
 * from there, both ways, until the row's own climb and that of k members by one
 * edge would cost more than the best group so far, and looks at no more than a fixed number of groups.
 */
#include "base/kanon.h"

#include "matview/matview.h"

#include <float.h>

#include "access/genam.h"
#include "access/stratnum.h"
#include "fmgr.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "hierarchy/generalized.h"

/* Groups looked at on either side of the row. */
#define NEIGHBOURS 32

typedef struct Search
{
	Stored *stored;
	const int32 *codes;
	const uint8 *key;
	int length; /* of the key, in steps: that of the row's floor */
	int floor;
	int k; /* that the row asks for; 0 if rows do not */
	double *climb; /* what the row's own climb from its floor to each step costs */
	StoredGroup *best;
	int best_step;
	double least;
} Search;

static int
common_prefix(const uint8 *a, int length_a, const uint8 *b, int length_b)
{
	int length = Min(length_a, length_b);
	int same = 0;

	while (same < length && memcmp(a + same * KEY_BYTES, b + same * KEY_BYTES, KEY_BYTES) == 0)
		same++;
	return same;
}

/* What the row's own climb to each step costs; filled in as far as it is asked for. */
static double
climb_cost(Search *search, int step)
{
	Keeper *keeper = search->stored->keeper;
	double cost = 0;

	if (search->climb[step] >= 0)
		return search->climb[step];
	for (int i = 0; i < keeper->aview->nquasi; i++)
		cost += keeper_climb(keeper, search->codes, i, search->floor, step);
	return search->climb[step] = cost;
}

/* What it costs one member of a group to climb to the row's cell at a step. */
static double
member_cost(Search *search, const StoredGroup *group, int step)
{
	Keeper *keeper = search->stored->keeper;
	double cost = 0;

	if (step == group->step)
		return 0;
	for (int i = 0; i < keeper->aview->nquasi; i++)
	{
		int at = Anum_groups_first - 1 + i;
		bool isnull;
		Datum to = keeper_cell_value(keeper, search->codes, i, step, &isnull);

		cost += keeper_distance(keeper, i, group->values[at], group->nulls[at], to, isnull);
	}
	return cost;
}

/* Keys are made of hashes: is the group's cell really the row's? */
bool
group_is_cell_of(Stored *stored, const StoredGroup *group, const int32 *codes)
{
	for (int i = 0; i < stored->keeper->aview->nquasi; i++)
	{
		int at = Anum_groups_first - 1 + i;
		bool isnull;
		Datum value = keeper_cell_value(stored->keeper, codes, i, group->step, &isnull);

		if (isnull != group->nulls[at] || (!isnull && !gen_identical(value, group->values[at])))
			return false;
	}
	return true;
}

static void
consider(Search *search, StoredGroup *group, int step)
{
	double cost;

	/* There would be too few of them. */
	if (search->k > 0 && stored_published(search->stored, group) + 1 < search->k)
		return;
	/* Two keys may agree by chance where the cells do not. */
	if (step == group->step && !group_is_cell_of(search->stored, group, search->codes))
		return;
	cost = climb_cost(search, step) + group->members * member_cost(search, group, step);
	if (cost < search->least)
	{
		search->best = group;
		search->best_step = step;
		search->least = cost;
	}
}

static Datum
make_key(const uint8 *key, int length)
{
	bytea *result = palloc(VARHDRSZ + length * KEY_BYTES);

	SET_VARSIZE(result, VARHDRSZ + length * KEY_BYTES);
	memcpy(VARDATA(result), key, length * KEY_BYTES);
	return PointerGetDatum(result);
}

/* The groups from a key on, upwards or (the key itself included) downwards. */
static SysScanDesc
scan_from(Stored *stored, Relation index, const uint8 *key, int length, bool up, ScanKeyData *scan_key)
{
	ScanKeyInit(scan_key, Anum_groups_key, up ? BTGreaterStrategyNumber : BTLessEqualStrategyNumber, up ? F_BYTEAGT : F_BYTEALE,
				make_key(key, length));
	return systable_beginscan_ordered(stored->groups, index, SnapshotSelf, 1, scan_key);
}

/* The group with the greatest key up to a given one; null if there is none. */
static StoredGroup *
group_before(Stored *stored, Relation index, const uint8 *key, int length)
{
	ScanKeyData scan_key;
	SysScanDesc scan = scan_from(stored, index, key, length, false, &scan_key);
	HeapTuple tuple = systable_getnext_ordered(scan, BackwardScanDirection);
	StoredGroup *group = HeapTupleIsValid(tuple) ? stored_group_copy(stored, tuple) : NULL;

	systable_endscan_ordered(scan);
	return group;
}

/*
 * The lowest group that covers the first parts of a row's key, in the way that
 * routers find the longest prefix: what stands before the key shows how much of it
 * any prefix can have.
 */
static StoredGroup *
find_covering(Stored *stored, Relation index, const int32 *codes, const uint8 *key, int length)
{
	while (length >= 0)
	{
		StoredGroup *group = group_before(stored, index, key, length);
		int same;

		if (group == NULL)
			return NULL;
		same = common_prefix(group->key, group->length, key, length);
		if (same < group->length)
			length = same;
		else if (group_is_cell_of(stored, group, codes))
			return group;
		else
			length = same - 1;
	}
	return NULL;
}

StoredGroup *
covering_group(Stored *stored, const int32 *codes, const uint8 *key, int length)
{
	Relation index = index_open(stored->keeper->groups_by_key, AccessShareLock);
	StoredGroup *group = find_covering(stored, index, codes, key, length);

	index_close(index, AccessShareLock);
	return group;
}

/* Looks at neighbours on one side, the nearest first. */
static void
search_side(Search *search, Relation index, bool up)
{
	Stored *stored = search->stored;
	int nsteps = stored->keeper->recoder->nsteps;
	double least = stored->keeper->least * stored->keeper->least_climb;
	ScanKeyData scan_key;
	SysScanDesc scan = scan_from(stored, index, search->key, search->length, up, &scan_key);

	for (int i = 0; i < NEIGHBOURS; i++)
	{
		HeapTuple tuple = systable_getnext_ordered(scan, up ? ForwardScanDirection : BackwardScanDirection);
		StoredGroup *group;
		int step;

		if (!HeapTupleIsValid(tuple))
			break;
		group = stored_group_copy(stored, tuple);
		step = nsteps - common_prefix(group->key, group->length, search->key, search->length);
		/*
		 * Farther ones share less: the row would have to climb as high, or higher, and at
		 * least k members by at least one edge.
		 */
		if (climb_cost(search, step) + least >= search->least)
			break;
		if (climb_cost(search, step) + group->members * stored->keeper->least_climb < search->least || step == group->step)
			consider(search, group, step);
	}
	systable_endscan_ordered(scan);
}

/* Where a row that is published at its floor or above should go; all in the current memory context. */
Place
closest_group(Stored *stored, const int32 *codes, const uint8 *key, int floor, int k)
{
	int nsteps = stored->keeper->recoder->nsteps;
	Relation index = index_open(stored->keeper->groups_by_key, AccessShareLock);
	Search search = {
		.stored = stored, .codes = codes, .key = key, .length = nsteps - floor, .floor = floor, .k = k, .least = DBL_MAX};
	StoredGroup *covering = find_covering(stored, index, codes, key, search.length);

	search.climb = palloc((nsteps + 1) * sizeof(double));
	for (int i = 0; i <= nsteps; i++)
		search.climb[i] = -1;
	/* A wider one, where the lowest has too few members. */
	for (StoredGroup *group = covering; group && search.best == NULL; group = find_covering(stored, index, codes, key, group->length - 1))
		consider(&search, group, group->step);
	search_side(&search, index, false);
	search_side(&search, index, true);
	index_close(index, AccessShareLock);
	/*
	 * Where it asks for more than there are it waits among those around it: they need not change for somebody
	 * who is not shown.
	 */
	if (search.best == NULL && covering)
		return (Place){covering, covering->step};
	return (Place){search.best, search.best_step};
}
