/*
 * noise.h
 *		Random numbers for releases.
 *
 * With a seed, numbers come from PostgreSQL's pseudo-random generator and are the same
 * each time: for tests, and for a release that must be made again.  That generator does
 * not withstand an attacker who knows some of its numbers, and published noise, or
 * published groups that chance made, give away the numbers behind the rows that an
 * attacker knows.  So without a seed each number comes from pg_strong_random().
 */
#ifndef KANON_RELEASE_NOISE_H
#define KANON_RELEASE_NOISE_H

/* A source of random numbers. */
typedef struct NoiseSource
{
	bool seeded;
	pg_prng_state state; /* only if seeded */
	uint64 pool[64];	 /* strong random bits; only if not seeded */
	int left;			 /* numbers of the pool not used yet */
	double spare;		 /* the second of a pair of normal numbers */
	bool has_spare;
} NoiseSource;

/* Start a source; seed 0 stands for no seed. */
extern void noise_start(NoiseSource *source, int32 seed);

/* Return a number between 0 and 1, neither of them included. */
extern double noise_uniform(NoiseSource *source);
/* Return a number of the normal distribution with mean 0 and standard deviation 1. */
extern double noise_normal(NoiseSource *source);
/*
 * Return x plus noise, without the last bits.  A generator can return a limited number
 * of doubles, so the last bits of a sum may tell from which of two x it was made.  The
 * sum is therefore rounded to a multiple of a power of two, which is about a millionth
 * of the spread: many numbers of the generator lead to each multiple from either x.
 */
extern double noise_add(double x, double noise, double spread);
/* Return a whole number from 0 to below bound. */
extern int noise_below(NoiseSource *source, int bound);

#endif
