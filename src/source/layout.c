/*
 * layout.c
 *		Where a query over the source of an A-view delivers the source's columns.
 */
#include "base/kanon.h"

#include "source/layout.h"

#include "aview/aview.h"

/* Set up the layout of rows that have some columns of the source. */
void
row_layout(RowLayout *layout, const AView *aview, const Bitmapset *columns)
{
	int column = -1;

	layout->place = palloc(Max(aview->nsource, 1) * sizeof(int));
	for (int i = 0; i < aview->nsource; i++)
		layout->place[i] = -1;
	while ((column = bms_next_member(columns, column)) >= 0)
	{
		layout->place[column] = list_length(layout->columns);
		layout->columns = lappend_int(layout->columns, column);
	}
}
