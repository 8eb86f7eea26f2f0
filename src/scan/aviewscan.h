/*
 * aviewscan.h
 *		The custom-scan node of A-views: what its planner and executor share.
 */
#ifndef KANON_AVIEWSCAN_H
#define KANON_AVIEWSCAN_H

#include "aview/aview.h"

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* How the node gets its rows. */
typedef enum ScanPlan
{
	PLAN_ANONYMIZE_FIRST,
	PLAN_SELECT_FIRST,
	PLAN_STORED, /* the groups of a materialized view */
	PLAN_NOTHING /* no row can qualify */
} ScanPlan;

/* custom_private, all plain nodes. */
enum ScanPrivate
{
	PRIVATE_AVIEW,	 /* Integer: its number */
	PRIVATE_PLAN,	 /* Integer: ScanPlan */
	PRIVATE_CONDITIONS, /* List: conditions on the source, with parameters for what is constant */
	PRIVATE_PROBE,	 /* Boolean: the conditions select witnesses */
	PRIVATE_ASKED	 /* List of integers: columns that the last parameters are asked of, for PLAN_STORED */
};

/* custom_exprs, each a List; Vars refer to the view's columns. */
enum ScanExprs
{
	EXPRS_POST,		  /* conditions on published rows */
	EXPRS_WITNESS,	  /* conditions that some member of a group must satisfy */
	EXPRS_PRE,		  /* conditions that the source was asked for; for EXPLAIN */
	EXPRS_PARAMETERS  /* values of the parameters in PRIVATE_CONDITIONS */
};

extern const CustomPathMethods aview_path_methods;
extern const CustomScanMethods aview_scan_methods;
extern const CustomExecMethods aview_exec_methods;

/* planner.c */
extern void aview_planner_init(void);
extern int32 aview_id_of_argument(Oid type, Datum value);
extern FuncExpr *aview_scan_call(List *functions);
extern int32 aview_id_of_call(FuncExpr *call);

/* paths.c */
extern void aview_add_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, AView *aview);
/* Conditions on a view that nobody wrote, but PostgreSQL derived from others. */
extern List *aview_derived_conditions(PlannerInfo *root, RelOptInfo *rel);

/* tie.c */
/* Was a call of kanon.scan reached through its view, so that PostgreSQL has checked the caller's rights? */
extern bool aview_call_is_tied(const FuncExpr *call);
extern void aview_refuse_locking(PlannerInfo *root, FuncExpr *call);

/* exec.c */
extern Node *aview_create_scan_state(CustomScan *scan);

/* explain.c */
extern void aview_explain_init(void);
struct ExplainState;
extern void aview_explain(CustomScanState *node, List *ancestors, struct ExplainState *es);

#endif
