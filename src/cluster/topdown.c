/*
 * topdown.c
 *		TopDown (Xu et al. 2006, as section 2.2 of Sacharidis et al. uses it).
 *
 * A set of rows is parted around two rows that are far from each other: the others come in
 * random order, and each joins the side where it raises the loss less.  Parting goes on down to
 * k rows; then sides that are too small are joined with the neighbour that costs least.
 * Joined groups tend to be large, and rows on their rims to be nearer to other groups; so
 * they are rearranged in the end.
 *
 * Searching for neighbours takes quadratic time, so it stays within a block: a part of the
 * rows that keeps the rule by itself and is not parted further before its groups are made.
 */
#include "base/kanon.h"

#include "cluster/topdown.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "cluster/groups.h"
#include "cluster/improve.h"
#include "cluster/merge.h"
#include "cluster/mondrian.h"
#include "cluster/points.h"
#include "cluster/rule.h"

/* The search for two rows that are far apart takes steps from a row to the farthest one and on from there. */
#define SEED_STEPS 3

/* The rows that the search looks at, unless all of these are equal. */
#define SEED_ROWS 4096

/* A block has at most BLOCK_GROUPS * k rows, or BLOCK_ROWS if that is more. */
#define BLOCK_GROUPS 32
#define BLOCK_ROWS 1024

/* The state of topdown_groups(). */
typedef struct TopDown
{
	GroupRule *rule;
	const Points *points;
	pg_prng_state *random;
	int32 *rows;	 /* the caller's */
	int depth_limit; /* the depth from which on parts are halved */
	int32 *scratch;	 /* room for all rows */
	Bounds boxes[2];
} TopDown;

/* One of the two sides of a set that is being parted. */
typedef struct Side
{
	int32 *rows;
	int size;
	Bounds box;
	double loss; /* of the box */
} Side;

/* A stretch of the rows. */
typedef struct Part
{
	int32 first;
	int32 count;
	int32 depth; /* how often the rows were parted to get here */
} Part;

typedef struct PartStack
{
	Part *parts;
	int size;
	int capacity;
} PartStack;

/* Push a part on a stack. */
static void
push_part(PartStack *stack, int32 first, int32 count, int32 depth)
{
	Assert(first >= 0 && count >= 0);
	if (stack->size == stack->capacity)
	{
		stack->capacity = Max(64, 2 * stack->capacity);
		stack->parts = stack->parts ? repalloc(stack->parts, stack->capacity * sizeof(Part))
									: palloc(stack->capacity * sizeof(Part));
	}
	stack->parts[stack->size++] = (Part){first, count, depth};
}

/* Return a random number from 0 to count - 1. */
static int
random_below(TopDown *topdown, int count)
{
	return (int) pg_prng_uint64_range(topdown->random, 0, count - 1);
}

/* Swap two rows. */
static void
topdown_swap_rows(int32 *rows, int a, int b)
{
	int32 swap = rows[a];

	rows[a] = rows[b];
	rows[b] = swap;
}

/* Put rows in random order. */
static void
topdown_shuffle(TopDown *topdown, int32 *rows, int count)
{
	for (int i = count - 1; i > 0; i--)
		topdown_swap_rows(rows, i, random_below(topdown, i + 1));
}

/* Return the place of the row that loses most together with the row in the box, and set *distance to that loss. */
static int
farthest(const Points *points, const double *box, const int32 *rows, int count, double *distance)
{
	int place = 0;

	*distance = 0;
	for (int i = 0; i < count; i++)
	{
		double loss = bounds_loss_with_row(points, box, rows[i], INFINITY);

		if (loss > *distance)
		{
			*distance = loss;
			place = i;
		}
	}
	return place;
}

/* Bring two rows that are far apart to the front; return false if all rows are equal. */
static bool
find_seeds(TopDown *topdown, int32 *rows, int count)
{
	int place = 0;
	double distance = 0;

	for (int i = 0; i < SEED_STEPS; i++)
	{
		topdown_swap_rows(rows, 0, place);
		bounds_set(topdown->points, topdown->boxes[0], rows[0]);
		place = farthest(topdown->points, topdown->boxes[0], rows, Min(count, SEED_ROWS), &distance);
		if (distance == 0 && count > SEED_ROWS)
			place = farthest(topdown->points, topdown->boxes[0], rows, count, &distance);
		if (distance == 0)
			return false;
	}
	topdown_swap_rows(rows, 1, place);
	return true;
}

/* Return by how much a side's loss, over all its rows, is raised if a row joins it. */
static double
raise_by(const TopDown *topdown, const Side *side, int32 row)
{
	return bounds_loss_with_row(topdown->points, side->box, row, INFINITY) * (side->size + 1) - side->loss * side->size;
}

/* Start a side with one row. */
static void
start_side(const TopDown *topdown, Side *side, int32 seed)
{
	side->size = 1;
	side->loss = 0;
	side->rows[0] = seed;
	bounds_set(topdown->points, side->box, seed);
}

/* Part the rows around the two in front, and return how many rows are on the first side. */
static int
part_around_seeds(TopDown *topdown, int32 *rows, int count)
{
	Side sides[2] = {
		{.rows = rows, .box = topdown->boxes[0]},
		{.rows = topdown->scratch, .box = topdown->boxes[1]},
	};

	Assert(count >= 2);
	start_side(topdown, &sides[1], rows[1]);
	start_side(topdown, &sides[0], rows[0]);
	for (int i = 2; i < count; i++)
	{
		int32 row = rows[i];
		Side *side = &sides[raise_by(topdown, &sides[0], row) <= raise_by(topdown, &sides[1], row) ? 0 : 1];

		side->rows[side->size++] = row;
		bounds_add(topdown->points, side->box, row);
		side->loss = bounds_loss(topdown->points, side->box);
	}
	memcpy(rows + sides[0].size, sides[1].rows, sides[1].size * sizeof(int32));
	return sides[0].size;
}

/* Halve the rows by a cut beside a median; return how many rows are on the first side, or 0 if they cannot be cut. */
static int
part_at_median(TopDown *topdown, int k, int32 *rows, int count)
{
	GroupRule *rule = rule_create(topdown->points, k, 0);
	CutPlan plan = {.rule = rule, .enough = count - 1};
	CutTree *tree;

	rule->any_rows = true;
	tree = cuttree_build(&plan, rows, count);
	return tree->nnodes == 1 ? 0 : tree->nodes[tree->nodes[0].left].count;
}

/* Part the rows; return how many rows are on the first side, or 0 if they cannot be parted. */
static int
topdown_part_rows(TopDown *topdown, const Part *part)
{
	int32 *rows = topdown->rows + part->first;

	CHECK_FOR_INTERRUPTS();
	/* Rows that lie far out may come off one by one; too deep, the rest is halved. */
	if (part->depth > topdown->depth_limit)
		return part_at_median(topdown, 1, rows, part->count);
	topdown_shuffle(topdown, rows, part->count);
	return find_seeds(topdown, rows, part->count) ? part_around_seeds(topdown, rows, part->count) : 0;
}

/* Return true if a part can be a block: it keeps the rule, or has nothing to publish. */
static bool
topdown_is_complete(TopDown *topdown, const int32 *rows, int count)
{
	return rule_own(topdown->rule, rows, count) == 0 || rule_holds(topdown->rule, rows, count);
}

/*
 * Part the rows so that both sides can be blocks; return how many rows are on the first
 * side, or 0 if that is not possible.
 */
static int
part_into_blocks(TopDown *topdown, const Part *part)
{
	int32 *rows = topdown->rows + part->first;
	int first = topdown_part_rows(topdown, part);

	if (first > 0 && topdown_is_complete(topdown, rows, first) &&
		topdown_is_complete(topdown, rows + first, part->count - first))
		return first;
	first = part_at_median(topdown, topdown->rule->k, rows, part->count);
	if (first > 0 && topdown_is_complete(topdown, rows, first) &&
		topdown_is_complete(topdown, rows + first, part->count - first))
		return first;
	return 0;
}

/* Part a block down to k rows, and append the parts to a list of groups. */
static void
part_block(TopDown *topdown, const Part *block, Groups *groups)
{
	PartStack stack = {0};

	push_part(&stack, block->first, block->count, block->depth);
	while (stack.size > 0)
	{
		Part part = stack.parts[--stack.size];
		int first = part.count > topdown->rule->k ? topdown_part_rows(topdown, &part) : 0;

		if (first == 0)
		{
			groups_add(groups, topdown->rows + part.first, part.count);
			continue;
		}
		push_part(&stack, part.first + first, part.count - first, part.depth + 1);
		push_part(&stack, part.first, first, part.depth + 1);
	}
	pfree(stack.parts);
}

/* Drop the groups, from first on, that have no microdata. */
static void
drop_public_groups(GroupRule *rule, Groups *groups, int first)
{
	int count = groups->ngroups;
	int32 *ends = palloc(Max(count - first, 1) * sizeof(int32));
	int32 start = group_start(groups, first);

	memcpy(ends, groups->ends + first, (count - first) * sizeof(int32));
	groups->ngroups = first;
	for (int i = 0; i < count - first; i++)
	{
		const int32 *rows = groups->rows + start;

		if (rule_own(rule, rows, ends[i] - start) > 0)
			groups_add(groups, rows, ends[i] - start);
		start = ends[i];
	}
	pfree(ends);
}

/* Append the groups of a block to a list. */
static void
finish_block(TopDown *topdown, const Part *block, Groups *groups)
{
	int first = groups->ngroups;

	if (rule_own(topdown->rule, topdown->rows + block->first, block->count) == 0)
		return;
	part_block(topdown, block, groups);
	merge_groups(topdown->rule, groups, first);
	drop_public_groups(topdown->rule, groups, first);
	improve_groups(topdown->rule, groups, first);
}

/* Append groups to a list: rows are parted down to k rows, then joined and rearranged block by block. */
void
topdown_groups(GroupRule *rule, pg_prng_state *random, int32 *rows, int nrows, Groups *groups, Report report)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "kanon topdown", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	int block_rows = Max(BLOCK_ROWS, BLOCK_GROUPS * (int64) rule->k > nrows ? nrows : BLOCK_GROUPS * rule->k);
	PartStack stack = {0};
	TopDown topdown = {
		.rule = rule,
		.points = rule->points,
		.random = random,
		.rows = rows,
		.depth_limit = 2 * pg_leftmost_one_pos32(Max(nrows, 1)) + 16,
		.scratch = palloc_extended(Max((Size) nrows, 1) * sizeof(int32), MCXT_ALLOC_HUGE),
		.boxes = {bounds_create(rule->points, 1), bounds_create(rule->points, 1)},
	};

	push_part(&stack, 0, nrows, 0);
	while (stack.size > 0)
	{
		Part part = stack.parts[--stack.size];
		int first = part.count > block_rows ? part_into_blocks(&topdown, &part) : 0;

		if (first == 0)
		{
			finish_block(&topdown, &part, groups);
			if (report)
				report(part.first + part.count);
			continue;
		}
		push_part(&stack, part.first + first, part.count - first, part.depth + 1);
		push_part(&stack, part.first, first, part.depth + 1);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
}
