/*
 * chance.h
 *		Random numbers that cannot be foreseen.
 *
 * Each number comes from the server's cryptographic generator: there is no state, of this
 * session or any other, from which numbers could be computed, and no seed.
 */
#ifndef KANON_CHANCE_H
#define KANON_CHANCE_H

#include "compat.h"

/* Return a random number from 0 to below - 1, each of them as likely; below is at least 1. */
extern uint32 chance_below(uint32 below);

#endif
