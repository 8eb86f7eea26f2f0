/*
 * policy.h
 *		For which purpose, and for whom, data are read.
 *
 * Any role may set kanon.purpose and kanon.recipient; whether it may act for them
 * is decided when a view with a profile is read.
 */
#ifndef KANON_POLICY_H
#define KANON_POLICY_H

#include "base/kanon.h"

#define ACCESS_TABLE "access_grant"

extern char *kanon_purpose;
extern char *kanon_recipient;

/* access.c */
extern void policy_init(void);
/* An error unless the current user may read a view for a purpose and a recipient. */
extern void access_check(Oid view, const char *purpose, const char *recipient);

#endif
