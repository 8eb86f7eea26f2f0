/*
 * closest.c
 *		The group that changes least when a row joins it.
 *
 * The cost of a change is the paper's (section 7, and READINGS.md): the sum, over the
 * row and all members and over the quasi-identifiers, of the edges that a value
 * climbs, divided by the most edges that its hierarchy has between two values.  A row
 * that was published before starts from the cell in which it was published, so that
 * it never becomes narrower.
 *
 * A group with a cell that covers the row need not change.  Of these the lowest is
 * the best, and the longest prefix of the row's key among the keys of groups finds
 * it.  Any other group has to climb to the first cell that it shares with the row.
 * Groups that share a low cell with the row are next to it in the order of keys.  The
 * search goes out from there, both ways, until the row's own climb and the climb of k
 * members by one edge would cost more than the best group so far; and it looks at no
 * more than a fixed number of groups.
 */
#include "base/kanon.h"

#include "matview/closest.h"

#include <float.h>

#include "access/genam.h"
#include "access/stratnum.h"
#include "fmgr.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "hierarchy/generalized.h"
#include "matview/keeper.h"
#include "matview/tables.h"

/* Groups looked at on either side of the row. */
#define NEIGHBOURS 32

/* The search for the closest group of a row. */
typedef struct Search
{
	Stored *stored;
	const int32 *codes; /* of the row, at level 0 */
	const uint8 *key;	/* of the row */
	int length;			/* of the part of the key down to the row's floor, in steps */
	int floor;
	int k;			   /* the k that the row asks for; 0: rows have none of their own */
	double *climb;	   /* by step: the cost of the row's own climb from its floor; below 0: not known yet */
	StoredGroup *best; /* so far; NULL: none */
	int best_step;	   /* the step to which this group has to come */
	double least;	   /* its cost */
} Search;

/* Return how many parts two keys have in common from their start. */
static int
common_prefix(const uint8 *a, int length_a, const uint8 *b, int length_b)
{
	int length = Min(length_a, length_b);
	int same = 0;

	while (same < length && memcmp(a + same * KEY_BYTES, b + same * KEY_BYTES, KEY_BYTES) == 0)
		same++;
	return same;
}

/* Return the cost of the row's own climb to a step, and remember it. */
static double
climb_cost(Search *search, int step)
{
	Keeper *keeper = search->stored->keeper;
	double cost = 0;

	Assert(step >= 0 && step <= keeper->recoder->nsteps);
	if (search->climb[step] >= 0)
		return search->climb[step];
	for (int i = 0; i < keeper->aview->nquasi; i++)
		cost += keeper_climb(keeper, search->codes, i, search->floor, step);
	return search->climb[step] = cost;
}

/* Return the cost of the climb of one member of a group to the row's cell at a step. */
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

/* Return true if the group's cell is the row's cell at that step: keys are made of hashes, and may agree by chance. */
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

/* Make a group that climbs to a step the best one, if it has enough members for the row's k and costs least. */
static void
consider(Search *search, StoredGroup *group, int step)
{
	double cost;

	Assert(step >= group->step);
	if (search->k > 0 && stored_published(search->stored, group) + 1 < search->k)
		return;
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

/* Return the first parts of a key as a bytea. */
static Datum
make_key(const uint8 *key, int length)
{
	bytea *result = palloc(VARHDRSZ + length * KEY_BYTES);

	SET_VARSIZE(result, VARHDRSZ + length * KEY_BYTES);
	memcpy(VARDATA(result), key, length * KEY_BYTES);
	return PointerGetDatum(result);
}

/* Start a scan of the groups in the order of keys: up, from behind a key; or down, from the key itself. */
static SysScanDesc
scan_from(Stored *stored, Relation index, const uint8 *key, int length, bool up, ScanKeyData *scan_key)
{
	ScanKeyInit(scan_key, Anum_groups_key, up ? BTGreaterStrategyNumber : BTLessEqualStrategyNumber,
				up ? F_BYTEAGT : F_BYTEALE, make_key(key, length));
	return systable_beginscan_ordered(stored->groups, index, SnapshotSelf, 1, scan_key);
}

/* Return the group with the greatest key up to a given one; NULL: there is none. */
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
 * Return the lowest group that covers the row and has a key of at most length parts; NULL:
 * there is none.  As routers find the longest prefix: the group just before the key in the
 * order of keys shows how much of the key any prefix can have.
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

/* Return the lowest group that covers the row and has a key of at most length parts. */
StoredGroup *
covering_group(Stored *stored, const int32 *codes, const uint8 *key, int length)
{
	Relation index = index_open(stored->keeper->groups_by_key, AccessShareLock);
	StoredGroup *group = find_covering(stored, index, codes, key, length);

	index_close(index, AccessShareLock);
	return group;
}

/* Consider the row's neighbours in the order of keys on one side, the nearest first. */
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
		 * Groups farther away share no more of the key: the row would have to climb as high,
		 * or higher, and at least k members by at least one edge.
		 */
		if (climb_cost(search, step) + least >= search->least)
			break;
		if (climb_cost(search, step) + group->members * stored->keeper->least_climb < search->least ||
			step == group->step)
			consider(search, group, step);
	}
	systable_endscan_ordered(scan);
}

/* Return the place of a row, in the current memory context. */
Place
closest_group(Stored *stored, const int32 *codes, const uint8 *key, int floor, int k)
{
	int nsteps = stored->keeper->recoder->nsteps;
	Relation index = index_open(stored->keeper->groups_by_key, AccessShareLock);
	Search search = {.stored = stored,
					 .codes = codes,
					 .key = key,
					 .length = nsteps - floor,
					 .floor = floor,
					 .k = k,
					 .least = DBL_MAX};
	StoredGroup *covering = find_covering(stored, index, codes, key, search.length);

	search.climb = palloc((nsteps + 1) * sizeof(double));
	for (int i = 0; i <= nsteps; i++)
		search.climb[i] = -1;
	/* Where the lowest covering group has too few members, a wider one may have enough. */
	for (StoredGroup *group = covering; group && search.best == NULL;
		 group = find_covering(stored, index, codes, key, group->length - 1))
		consider(&search, group, group->step);
	search_side(&search, index, false);
	search_side(&search, index, true);
	index_close(index, AccessShareLock);
	/*
	 * A row that asks for a larger k than any group has members waits in the group around it:
	 * that group need not change for a row that is not shown.
	 */
	if (search.best == NULL && covering)
		return (Place){covering, covering->step};
	return (Place){search.best, search.best_step};
}
