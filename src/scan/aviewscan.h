/*
 * aviewscan.h
 *		The custom-scan node of A-views: declarations shared by its planner and executor.
 */
#ifndef KANON_AVIEWSCAN_H
#define KANON_AVIEWSCAN_H

#include "aview/aview.h"
#include "scan/conditions.h"

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* The ways in which the node gets its rows. */
typedef enum ScanPlan
{
	PLAN_ANONYMIZE_FIRST,
	PLAN_SELECT_FIRST,
	PLAN_STORED,  /* from the groups of a materialized view */
	PLAN_NOTHING, /* no row can qualify */
	PLAN_COUNT
} ScanPlan;

/* A path of the node. */
typedef struct AViewPath
{
	CustomPath path;
	ScanPlan plan;
	bool selects;		   /* true if the source is read again for the selected rows; PLAN_ANONYMIZE_FIRST only */
	AView *aview;		   /* as its rows are read: with PLAN_STORED the view of its stored groups */
	Conditions conditions; /* the conditions that the path is for */
} AViewPath;

/* The members of a plan's custom_private; all of them are plain nodes. */
enum ScanPrivate
{
	PRIVATE_AVIEW,		/* Integer: the number of the view */
	PRIVATE_PLAN,		/* Integer: ScanPlan */
	PRIVATE_CONDITIONS, /* List: conditions on the source, with parameters for all but constants */
	PRIVATE_PROBE,		/* Integer: true if the conditions select witnesses */
	PRIVATE_ASKED,		/* List of integers: columns that the last parameters are compared with; PLAN_STORED only */
	PRIVATE_LENGTH
};

/* The members of custom_exprs, each a List; Vars refer to the view's columns. */
enum ScanExprs
{
	EXPRS_POST,		  /* conditions on published rows */
	EXPRS_WITNESS,	  /* conditions that some member of a group must satisfy */
	EXPRS_PRE,		  /* conditions that were handed to the source; for EXPLAIN */
	EXPRS_PARAMETERS, /* the values of the parameters in PRIVATE_CONDITIONS */
	EXPRS_LENGTH
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

/* tie.c */
/* Return true if a call of kanon.scan was reached through its view, so that PostgreSQL checks the reader's rights. */
extern bool aview_call_is_tied(const FuncExpr *call);
/* Raise an error if a query locks the rows of the view that a tied call reads. */
extern void aview_refuse_locking(PlannerInfo *root, FuncExpr *call);

/* exec.c */
extern Node *aview_create_scan_state(CustomScan *scan);

/* explain.c */
extern void aview_explain_init(void);
struct ExplainState;
extern void aview_explain(CustomScanState *node, List *ancestors, struct ExplainState *es);

#endif
