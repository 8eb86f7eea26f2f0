/*
 * definition.h
 *		Reading the definition of an A-view, for its cache.
 */
#ifndef KANON_DEFINITION_H
#define KANON_DEFINITION_H

#include "aview/aview.h"

/*
 * Read the definition with a number from the tables, in a memory context of its own
 * below the current one; raise an error if there is none.  The view is locked from
 * then on, as is its table of choices.
 */
extern AView *aview_read(int32 id);

#endif
