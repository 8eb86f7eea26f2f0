/*
 * noise.h
 *		Random numbers for releases.
 *
 * With a seed they come from PostgreSQL's pseudo-random generator and are the
 * same each time: for tests, and for a release that has to be made again.  That
 * generator is not made to withstand someone who knows some of its numbers, and
 * whoever publishes noise, or groups that chance made, lets everyone compute
 * the numbers behind the rows that they know.  So without a seed each number
 * comes from pg_strong_random().
 */
#ifndef KANON_RELEASE_NOISE_H
#define KANON_RELEASE_NOISE_H

typedef struct NoiseSource
{
	bool seeded;
	pg_prng_state state;
	uint64 pool[64]; /* strong random bits not used yet */
	int left;
	double spare; /* normal numbers come in pairs */
	bool has_spare;
} NoiseSource;

/* Seed 0 stands for none. */
extern void noise_start(NoiseSource *source, int32 seed);

/* Between 0 and 1, neither of them included. */
extern double noise_uniform(NoiseSource *source);
/* With mean 0 and standard deviation 1. */
extern double noise_normal(NoiseSource *source);
/*
 * x plus noise, without the last bits.  Only so many doubles can come out of a
 * generator, and the last bits of a sum can tell which of two x it was made
 * from; so they are rounded to a power of two, a millionth of the spread or a
 * bit less, which very many numbers of the generator lead to from either.
 */
extern double noise_add(double x, double noise, double spread);
/* A whole number from 0 to below bound. */
extern int noise_below(NoiseSource *source, int bound);

#endif
