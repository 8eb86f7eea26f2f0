/*
 * chain.h
 *		A chain of steps as a nesting of cells: each step raises one column.
 */
#ifndef KANON_CHAIN_H
#define KANON_CHAIN_H

#include "recode/recode.h"

/* Set up a recoder's nesting, width and levels; columns, nsteps and steps are set. */
extern void chain_prepare(Recoder *recoder);

#endif
