/*
 * noise.c
 *		Random numbers for releases.
 */
#include "base/kanon.h"

#include "release/common/noise.h"

#include <math.h>

void
noise_start(NoiseSource *source, int32 seed)
{
	memset(source, 0, sizeof(NoiseSource));
	source->seeded = seed != 0;
	if (source->seeded)
		pg_prng_seed(&source->state, (uint64) (int64) seed);
}

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
	return source->pool[--source->left];
}

/* The middles of 2^52 equal steps: symmetric, and never 0 or 1. */
double
noise_uniform(NoiseSource *source)
{
	return ldexp((double) (next_bits(source) >> 12) + 0.5, -52);
}

/* Box and Muller's transformation. */
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

double
noise_add(double x, double noise, double spread)
{
	double sum = x + noise;
	int exponent;

	(void) frexp(spread, &exponent);
	/* Where the double itself is coarser, there is nothing to round. */
	if (fabs(sum) >= ldexp(1, exponent + 31))
		return sum;
	return ldexp(rint(ldexp(sum, 21 - exponent)), exponent - 21);
}

/* Numbers from the incomplete last round are drawn again: none is more likely. */
int
noise_below(NoiseSource *source, int bound)
{
	uint64 limit = PG_UINT64_MAX - PG_UINT64_MAX % bound;
	uint64 bits;

	do
		bits = next_bits(source);
	while (bits >= limit);
	return (int) (bits % bound);
}
