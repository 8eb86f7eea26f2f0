/*
 * noise.c
 *		Random numbers for releases.
 */
#include "base/kanon.h"

#include "release/common/noise.h"

#include <math.h>

/* Start a source of random numbers; seed 0 stands for no seed. */
void
noise_start(NoiseSource *source, int32 seed)
{
	memset(source, 0, sizeof(NoiseSource));
	source->seeded = seed != 0;
	if (source->seeded)
		pg_prng_seed(&source->state, (uint64) (int64) seed);
}

/* Return 64 random bits. */
static uint64
next_bits(NoiseSource *source)
{
	if (source->seeded)
		return pg_prng_uint64(&source->state);
	if (source->left == 0)
	{
		if (!pg_strong_random(source->pool, sizeof(source->pool)))
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("could not generate random numbers for a release")));
		source->left = lengthof(source->pool);
	}
	Assert(source->left > 0 && source->left <= (int) lengthof(source->pool));
	return source->pool[--source->left];
}

/*
 * Return a number between 0 and 1: the middle of one of 2^52 equal steps, so that numbers
 * are symmetric, and never 0 or 1.
 */
double
noise_uniform(NoiseSource *source)
{
	return ldexp((double) (next_bits(source) >> 12) + 0.5, -52);
}

/* Return a number of the standard normal distribution, by Box and Muller's transformation. */
double
noise_normal(NoiseSource *source)
{
	double radius;
	double angle;

	if (source->has_spare)
	{
		source->has_spare = false;
		return source->spare;
	}
	radius = sqrt(-2 * log(noise_uniform(source)));
	angle = 2 * M_PI * noise_uniform(source);
	source->spare = radius * sin(angle);
	source->has_spare = true;
	return radius * cos(angle);
}

/* Return x plus noise, rounded to a power of two near a millionth of the spread. */
double
noise_add(double x, double noise, double spread)
{
	double sum = x + noise;
	int exponent;

	(void) frexp(spread, &exponent);
	/* A double this large is coarser than the step to round to. */
	if (fabs(sum) >= ldexp(1, exponent + 31))
		return sum;
	return ldexp(rint(ldexp(sum, 21 - exponent)), exponent - 21);
}

/*
 * Return a whole number from 0 to below bound.  Numbers from the incomplete last round are
 * drawn again, so that all are equally likely.
 */
int
noise_below(NoiseSource *source, int bound)
{
	uint64 limit = PG_UINT64_MAX - PG_UINT64_MAX % bound;
	uint64 bits;

	Assert(bound > 0);
	do
		bits = next_bits(source);
	while (bits >= limit);
	return (int) (bits % bound);
}
