/*
 * access.h
 *		Which roles may read A-views for which purpose and recipient.
 */
#ifndef KANON_ACCESS_H
#define KANON_ACCESS_H

/* The table of grants: see sql/40_policy.sql. */
#define ACCESS_TABLE "access_grant"

/* Raise an error unless the current user may read a view for a purpose and a recipient. */
extern void access_check(Oid view, const char *purpose, const char *recipient);

#endif
