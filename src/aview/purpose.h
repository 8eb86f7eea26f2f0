/*
 * purpose.h
 *		The purpose and the recipient that a session reads A-views for.
 *
 * Any role may set kanon.purpose and kanon.recipient.  Whether the role may act
 * for them is checked when a view with a profile is read (policy/access.h).
 */
#ifndef KANON_PURPOSE_H
#define KANON_PURPOSE_H

/* The settings; never NULL, and empty if they were not made. */
extern char *kanon_purpose;
extern char *kanon_recipient;

/* The functions that stand for the purpose and the recipient in the source. */
#define PURPOSE_FUNCTION "current_purpose"
#define RECIPIENT_FUNCTION "current_recipient"

/* Define the settings; called once when the library is loaded. */
extern void purpose_init(void);

#endif
