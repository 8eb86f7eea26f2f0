/*
 * layout.h
 *		Where a query over the source of an A-view delivers the source's columns.
 */
#ifndef KANON_LAYOUT_H
#define KANON_LAYOUT_H

#include "aview/aview.h"

typedef struct RowLayout
{
	List *columns; /* of the source, in the order of the row */
	int *place;	   /* per column of the source: its place in the row, or -1 */
} RowLayout;

/* Set up the layout of rows that have some columns of the source, in the order of their numbers. */
extern void row_layout(RowLayout *layout, const AView *aview, const Bitmapset *columns);

#endif
