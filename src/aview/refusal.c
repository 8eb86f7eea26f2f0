/*
 * refusal.c
 *		Debug messages that say why an optimization was refused.
 */
#include "base/kanon.h"

#include "aview/refusal.h"

#include "utils/lsyscache.h"

#include "aview/aview.h"

/* Say at DEBUG2 why an optimization was refused: see refusal.h. */
void
aview_refuse(const AView *aview, const char *optimization, const char *reason)
{
	Assert(optimization && reason);
	if (message_level_is_interesting(DEBUG2) && aview_source_readable(aview))
		elog(DEBUG2, "kanon: no %s for \"%s\": %s", optimization, get_rel_name(aview->view), reason);
}
