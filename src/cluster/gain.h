/*
 * gain.h
 *		The cut of a cell that lowers the loss of its rows most.
 */
#ifndef KANON_GAIN_H
#define KANON_GAIN_H

#include "cluster/mondrian.h"

/*
 * Set the cut of a cell's rows that lowers their loss most, among the cuts both sides of
 * which have k rows, and least rows, and l sensitive values; return false if there is none.
 */
extern bool gain_cut(const CutPlan *plan, int least, int32 *rows, int count, Cut *cut);

#endif
