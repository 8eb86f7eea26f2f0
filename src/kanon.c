/*
 * kanon.c
 *		Module start: one init call per component.
 */

#include "base/kanon.h"

#include "fmgr.h"

#include "utils/guc.h"

#include "aview/aview.h"
#include "aview/purpose.h"
#include "base/extension.h"
#include "base/progress.h"
#include "ddl/remarks.h"
#include "hierarchy/dgh.h"
#include "join/join.h"
#include "matview/matview.h"
#include "scan/aviewscan.h"

PG_MODULE_MAGIC;

void _PG_init(void);

/* Initialize the components when a backend loads the library. */
void
_PG_init(void)
{
	extension_init();
	progress_init();
	dgh_cache_init();
	aview_cache_init();
	aview_planner_init();
	avlike_join_init();
	aview_explain_init();
	matview_init();
	purpose_init();
	remarks_init();
	kanon_reserve_settings(KANON_SCHEMA);
}
