/*
 * chance.c
 *		Random numbers that cannot be foreseen.
 *
 * A generator that is fast but not cryptographic, such as PostgreSQL's, would do for
 * mixing rows well.  But an analyst who knows where some rows are stored, and sees
 * where they come out, could compute its state from these and then the places of all
 * other rows.  So the numbers are those of pg_strong_random(), taken in batches: a
 * number costs a few nanoseconds.
 */
#include "base/kanon.h"

#include "base/chance.h"

/* Numbers that are drawn together. */
#define BATCH 1024

/* Numbers not yet used: [0, nleft) of the batch.  Used ones are erased. */
static uint32 batch[BATCH];
static int nleft = 0;

/* Draw the next batch. */
static void
draw_batch(void)
{
	Assert(nleft == 0);
	if (!pg_strong_random(batch, sizeof(batch)))
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
	nleft = BATCH;
}

/* Return a random number. */
static inline uint32
take_number(void)
{
	uint32 number;

	if (nleft == 0)
		draw_batch();
	number = batch[--nleft];
	batch[nleft] = 0;
	return number;
}

/*
 * Return a random number from 0 to below - 1 (Lemire, "Fast Random Integer Generation in an
 * Interval"): the upper half of a product, but for the few lower halves that would make some
 * numbers more likely than others.
 */
uint32
chance_below(uint32 below)
{
	uint64 product = (uint64) take_number() * below;

	Assert(below >= 1);
	if ((uint32) product < below)
	{
		uint32 unfair = -below % below;

		while ((uint32) product < unfair)
			product = (uint64) take_number() * below;
	}
	return (uint32) (product >> 32);
}
