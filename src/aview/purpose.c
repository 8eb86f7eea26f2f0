/*
 * purpose.c
 *		The settings kanon.purpose and kanon.recipient.
 */
#include "base/kanon.h"

#include "aview/purpose.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"

PG_FUNCTION_INFO_V1(kanon_current_purpose);
PG_FUNCTION_INFO_V1(kanon_current_recipient);

char *kanon_purpose = NULL;
char *kanon_recipient = NULL;

/* Define the settings; called once when the library is loaded. */
void
purpose_init(void)
{
	DefineCustomStringVariable("kanon.purpose", "The purpose for which anonymization views are read.",
							   "Which purposes a role may act for is a matter of kanon.grant_access().",
							   &kanon_purpose, "", PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("kanon.recipient", "The recipient for whom anonymization views are read.",
							   "Which recipients a role may act for is a matter of kanon.grant_access().",
							   &kanon_recipient, "", PGC_USERSET, 0, NULL, NULL, NULL);
}

/* Return the purpose of the session: current_purpose(), which the sources of views with a profile call. */
Datum
kanon_current_purpose(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(kanon_purpose));
}

/* Return the recipient of the session: current_recipient(). */
Datum
kanon_current_recipient(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(kanon_recipient));
}
