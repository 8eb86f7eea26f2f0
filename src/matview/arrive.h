/*
 * arrive.h
 *		Rows that come to a materialized view find their groups.
 */
#ifndef KANON_ARRIVE_H
#define KANON_ARRIVE_H

#include "utils/tuplestore.h"

#include "matview/tables.h"

/*
 * Find groups for rows of keeper->arrival, and store the rows in them, or let them wait.
 * forming: the rows, and the rows that wait, may form new groups among themselves.
 */
extern void arrive(Stored *stored, Tuplestorestate *rows, bool forming);

#endif
