/*
 * access.c
 *		Which roles may act for which purpose and recipient.
 *
 * kanon.access_grant has a row for each grant.  It is read on behalf of the role that
 * queries a view, which needs no rights on it.
 */
#include "base/kanon.h"

#include "policy/access.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/extension.h"

enum Anum_access_grant
{
	Anum_access_grant_purpose = 1,
	Anum_access_grant_recipient,
	Anum_access_grant_role,
	Anum_access_grant_view
};

/* Return true if a grant is one to the current user, for a view. */
static bool
grant_reaches(HeapTuple row, TupleDesc desc, Oid view)
{
	bool isnull;
	Oid role = DatumGetObjectId(heap_getattr(row, Anum_access_grant_role, desc, &isnull));
	Oid granted_view = DatumGetObjectId(heap_getattr(row, Anum_access_grant_view, desc, &isnull));

	/* No view: all of them.  No role: PUBLIC. */
	if (OidIsValid(granted_view) && granted_view != view)
		return false;
	return !OidIsValid(role) || has_privs_of_role(GetUserId(), role);
}

/*
 * Return true if the current user may act for a purpose and a recipient.  The latest
 * committed grants count: a grant that was revoked does not live on in an old snapshot.
 */
static bool
is_granted(Oid view, const char *purpose, const char *recipient)
{
	Relation rel = table_open(kanon_relation(ACCESS_TABLE), AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple row;
	bool result = false;

	ScanKeyInit(&keys[0], Anum_access_grant_purpose, BTEqualStrategyNumber, F_TEXTEQ, CStringGetTextDatum(purpose));
	ScanKeyInit(&keys[1], Anum_access_grant_recipient, BTEqualStrategyNumber, F_TEXTEQ, CStringGetTextDatum(recipient));
	scan = systable_beginscan(rel, kanon_relation("access_grant_pkey"), true, NULL, 2, keys);
	while (!result && (row = systable_getnext(scan)) != NULL)
		result = grant_reaches(row, RelationGetDescr(rel), view);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return result;
}

/* Raise an error unless the current user may read a view for a purpose and a recipient. */
void
access_check(Oid view, const char *purpose, const char *recipient)
{
	const char *user = GetUserNameFromId(GetUserId(), false);

	Assert(purpose && recipient);
	if (purpose[0] == '\0' || recipient[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("anonymization view \"%s\" is read for a purpose and a recipient, but the purpose is \"%s\" and the recipient \"%s\"",
						get_rel_name(view), purpose, recipient),
				 errhint("SET kanon.purpose and kanon.recipient to a pair that role \"%s\" may act for; kanon.access lists the pairs.",
						 user)));
	if (!is_granted(view, purpose, recipient))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("role \"%s\" may not read anonymization view \"%s\" for purpose \"%s\" and recipient \"%s\"",
						user, get_rel_name(view), purpose, recipient),
				 errhint(
					 "SET kanon.purpose and kanon.recipient to others, or ask an administrator for kanon.grant_access().")));
}
