/*
 * state.h
 *		The executor's state of the custom-scan node.
 */
#ifndef KANON_SCAN_STATE_H
#define KANON_SCAN_STATE_H

#include "nodes/execnodes.h"

#include "anonymize/row_source.h"
#include "aview/aview.h"
#include "scan/aviewscan.h"

typedef struct AViewScanState
{
	CustomScanState css;
	AView *aview;
	ScanPlan plan;
	bool whole_row;	   /* it uses the row as a whole, too */

	RowRequest request;
	const RowSourceMethods *methods; /* NULL: no row can qualify */
	RowSource *rows;				 /* NULL before it is started, and where no row can qualify */

	List *parameters; /* ExprStates */
	MemoryContext parameter_context;
	bool selecting; /* with the parameters as they are now */
	ExprState *witness;		 /* null: none */
	TupleTableSlot *witness_slot;
} AViewScanState;

/* The values of the parameters in PRIVATE_CONDITIONS as far as they are known before the start; else NULL. */
extern ParamListInfo aview_parameters_to_explain(AViewScanState *state);

#endif
