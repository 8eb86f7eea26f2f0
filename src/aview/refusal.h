/*
 * refusal.h
 *		Debug messages that say why an optimization was refused.
 */
#ifndef KANON_REFUSAL_H
#define KANON_REFUSAL_H

#include "aview/aview.h"

/*
 * Say at DEBUG2 why an optimization of reading a view was refused.  The reason may
 * depend on the statistics of the source, so only readers of the source are told.
 */
extern void aview_refuse(const AView *aview, const char *optimization, const char *reason);

#endif
