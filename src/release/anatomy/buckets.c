/*
 * buckets.c
 *		The bucket algorithm of anatomy: groups of rows with different keys.
 *
 * Follows Xiao and Tao, "Anatomy: simple and effective privacy preservation", as the
 * n-dependency paper uses it: while l buckets have rows, one row of each of the l largest
 * buckets makes a group; each row that is left joins a group without its key.
 *
 * Why it cannot fail: let a * l + r rows be left, with r < l.  The claim is that no bucket
 * has more than a + 1 rows, and at most r buckets have a + 1. It holds at the start, where
 * no bucket has more than a.  A round reduces all buckets with a + 1 rows, q of them, to a
 * rows.  If B buckets have a rows or more, the round passes over at most B - l of them
 * with a rows; but B * a + q rows are at most a * l + r, so (B - l) + q is at most r, and
 * the claim holds for a - 1. When fewer than l buckets have rows, they have at most a * (l
 * - 1) + r rows, so a is 0: floor(rows / l) groups have been made, and each bucket has at
 * most one row.  Its key had no more rows than there are groups, and one of these rows is
 * left: some group is without the key.
 *
 * Why it tells nothing: which buckets a group takes depends on their sizes and on chance;
 * which of its rows a bucket gives, on chance alone.  So any two ways to assign a group's
 * values to its rows are equally likely to have led to the published groups.
 */
#include "base/kanon.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"

#include "base/progress.h"
#include "release/anatomy/anatomy.h"
#include "release/common/noise.h"

#define PROGRESS_GROUPS 4096

/* The rows of a key. */
typedef struct Bucket
{
	int32 *rows; /* in random order */
	int32 size;
	int32 left; /* rows not yet in a group: the first ones */
	int rank;	/* random: decides among buckets of one size */
} Bucket;

/* The state of the algorithm. */
typedef struct BucketGroups
{
	int l;
	int32 *group; /* per row, from 1 */
	int32 ngroups;
	NoiseSource *noise;
	Bucket *buckets;
	int nbuckets;	  /* one per key */
	binaryheap *heap; /* of the buckets with rows left, the largest first */
} BucketGroups;

/* Order buckets by the rows left, then by rank: a binaryheap comparator. */
static int
compare_buckets(Datum left, Datum right, void *arg)
{
	const Bucket *a = (const Bucket *) DatumGetPointer(left);
	const Bucket *b = (const Bucket *) DatumGetPointer(right);

	if (a->left != b->left)
		return a->left < b->left ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Bring rows into a random order. */
static void
bucket_shuffle(int32 *rows, int32 size, NoiseSource *noise)
{
	for (int32 i = size - 1; i > 0; i--)
	{
		int32 j = noise_below(noise, i + 1);
		int32 row = rows[i];

		rows[i] = rows[j];
		rows[j] = row;
	}
}

/* Distribute the rows over buckets, and shuffle each. */
static void
fill_buckets(BucketGroups *grouping, const Microdata *data, const int32 *key_of_word)
{
	int32 *rows = palloc_extended(Max(data->nrows, 1) * sizeof(int32), MCXT_ALLOC_HUGE);

	for (int i = 0; i < data->nwords; i++)
		grouping->buckets[key_of_word[i]].size += data->counts[i];
	for (int i = 0; i < grouping->nbuckets; i++)
	{
		grouping->buckets[i].rows = rows;
		rows += grouping->buckets[i].size;
	}
	for (int32 i = 0; i < data->nrows; i++)
	{
		int32 row = data->order[i];
		Bucket *bucket = &grouping->buckets[key_of_word[data->word[row]]];

		bucket->rows[bucket->left++] = row;
	}
	for (int i = 0; i < grouping->nbuckets; i++)
	{
		Assert(grouping->buckets[i].left == grouping->buckets[i].size);
		CHECK_FOR_INTERRUPTS();
		bucket_shuffle(grouping->buckets[i].rows, grouping->buckets[i].size, grouping->noise);
	}
}

/* Put a bucket with rows left on the heap, with a new rank. */
static void
offer_bucket(BucketGroups *grouping, Bucket *bucket)
{
	bucket->rank = noise_below(grouping->noise, PG_INT32_MAX);
	binaryheap_add(grouping->heap, PointerGetDatum(bucket));
}

/* Make a group of one row from each of the l largest buckets. */
static void
make_bucket_group(BucketGroups *grouping, Bucket **chosen)
{
	grouping->ngroups++;
	for (int i = 0; i < grouping->l; i++)
	{
		Bucket *bucket = (Bucket *) DatumGetPointer(binaryheap_remove_first(grouping->heap));

		Assert(bucket->left > 0 && bucket->left <= bucket->size);
		grouping->group[bucket->rows[--bucket->left]] = grouping->ngroups;
		chosen[i] = bucket;
	}
	for (int i = 0; i < grouping->l; i++)
	{
		if (chosen[i]->left > 0)
			offer_bucket(grouping, chosen[i]);
	}
}

/* Make groups while l buckets have rows. */
static void
make_bucket_groups(BucketGroups *grouping)
{
	Bucket **chosen = palloc_extended(grouping->l * sizeof(Bucket *), MCXT_ALLOC_HUGE);

	grouping->heap = binaryheap_allocate(Max(grouping->nbuckets, 1), compare_buckets, NULL);
	for (int i = 0; i < grouping->nbuckets; i++)
		offer_bucket(grouping, &grouping->buckets[i]);
	while (grouping->heap->bh_size >= grouping->l)
	{
		CHECK_FOR_INTERRUPTS();
		make_bucket_group(grouping, chosen);
		if (grouping->ngroups % PROGRESS_GROUPS == 0)
			progress_done((int64) grouping->ngroups * grouping->l);
	}
	pfree(chosen);
}

/*
 * Return a group for a bucket's last row: one without its key, each with the same
 * probability.  holds is work space.
 */
static int32
choose_group(BucketGroups *grouping, const Bucket *bucket, bool *holds)
{
	int32 skip = noise_below(grouping->noise, grouping->ngroups - bucket->size + 1);
	int32 group;

	memset(holds, 0, (grouping->ngroups + 1) * sizeof(bool));
	for (int32 i = 1; i < bucket->size; i++)
		holds[grouping->group[bucket->rows[i]]] = true;
	for (group = 1; holds[group] || skip > 0; group++)
	{
		if (!holds[group])
			skip--;
	}
	Assert(group <= grouping->ngroups);
	return group;
}

/* Put the rows that are left over, fewer than l, into groups that exist. */
static void
place_residues(BucketGroups *grouping)
{
	bool *holds = palloc_extended(((Size) grouping->ngroups + 1) * sizeof(bool), MCXT_ALLOC_HUGE);

	for (int i = 0; i < grouping->nbuckets; i++)
	{
		Bucket *bucket = &grouping->buckets[i];

		CHECK_FOR_INTERRUPTS();
		if (bucket->left == 0)
			continue;
		if (bucket->left > 1 || bucket->size > grouping->ngroups)
			elog(ERROR, "%d rows of one key are left for %d groups", bucket->left, grouping->ngroups);
		bucket->left = 0;
		grouping->group[bucket->rows[0]] = choose_group(grouping, bucket, holds);
	}
	pfree(holds);
}

/* Return the group of each row. */
int32 *
bucket_groups(const Microdata *data, const int32 *key_of_word, int nkeys, int l, NoiseSource *noise)
{
	BucketGroups grouping = {.l = l, .nbuckets = nkeys, .noise = noise};

	grouping.group = palloc_extended(Max(data->nrows, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
	grouping.buckets = palloc_extended(Max(nkeys, 1) * sizeof(Bucket), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	fill_buckets(&grouping, data, key_of_word);
	make_bucket_groups(&grouping);
	place_residues(&grouping);
	return grouping.group;
}
