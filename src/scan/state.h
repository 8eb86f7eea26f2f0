/*
 * state.h
 *		The executor's state of the custom-scan node.
 */
#ifndef KANON_SCAN_STATE_H
#define KANON_SCAN_STATE_H

#include "nodes/execnodes.h"

#include "anonymize/anonymize_first.h"
#include "anonymize/select_first.h"
#include "aview/aview.h"
#include "matview/stored.h"
#include "scan/aviewscan.h"

typedef struct AViewScanState
{
	CustomScanState css;
	AView *aview;
	ScanPlan plan;
	Bitmapset *wanted; /* columns of the view that the query uses, from 0 */
	bool whole_row;	   /* it uses the row as a whole, too */

	AllRows *rows;		  /* PLAN_ANONYMIZE_FIRST */
	Selection *selection; /* PLAN_SELECT_FIRST */
	StoredRows *stored;	  /* PLAN_STORED */
	AView *aview_stored;  /* the same */

	List *parameters; /* ExprStates */
	MemoryContext parameter_context;
	bool selecting; /* with the parameters as they are now */
	ExprState *witness;		 /* null: none */
	TupleTableSlot *witness_slot;
} AViewScanState;

/* The conditions on stored rows; params: their values, or those known so far. */
extern List *aview_stored_conditions(AViewScanState *state, const AView *stored, ParamListInfo params);

/* The values of the parameters in PRIVATE_CONDITIONS as far as they are known before the start; else NULL. */
extern ParamListInfo aview_parameters_to_explain(AViewScanState *state);

#endif
