/*
 * remarks.h
 *		Remarks for the creator of an A-view, about the rows that it publishes.
 *
 * After a view was created or changed, its rows are read once, as they are and as they
 * are published.  The creator is warned where most likely a mistake was made: rows are
 * suppressed, a hierarchy does not know the values of its column, a column that is published as it
 * is tells rows apart.  No value is quoted.
 */
#ifndef KANON_DDL_REMARKS_H
#define KANON_DDL_REMARKS_H

/* The subject of remarks. */
typedef enum RemarkScope
{
	REMARK_SUPPRESSION, /* rows that are suppressed: after a change */
	REMARK_ALL			/* also values and columns: of a new view */
} RemarkScope;

/* Define the setting kanon.measure_views. */
extern void remarks_init(void);
/* Read a view's rows and make remarks.  An error of the source becomes a warning: the view is not to blame. */
extern void remarks_make(int32 id, RemarkScope scope);

#endif
