/*
 * projection.h
 *		Columns of a source that are not in the view.
 *
 * Where a view leaves out columns of its source query, its source is written as
 * SELECT the columns FROM (query) AS "kanon rows".  When the definition is read, that
 * becomes the query itself with fewer columns, where possible, so that all that is
 * known about plain queries over a table holds for it too.
 */
#ifndef KANON_PROJECTION_H
#define KANON_PROJECTION_H

#include "nodes/parsenodes.h"

/* The name of the query in a source that leaves out some of its columns. */
#define PROJECTION_NAME "kanon rows"

/* Return the query that gives the rows of a source, without the columns that are left out; the argument is changed. */
extern Query *projection_read(Query *source);

/* Return the query that has all columns: the one in a projection, or else the argument itself. */
extern Query *projection_inside(Query *rows);

#endif
