/*
 * scan_state.h
 *		The executor's state of the custom-scan node.
 */
#ifndef KANON_SCAN_STATE_H
#define KANON_SCAN_STATE_H

#include "nodes/execnodes.h"

#include "anonymize/row_source.h"
#include "aview/aview.h"

typedef struct AViewScanState
{
	CustomScanState css;
	AView *aview;
	bool whole_row; /* true if the query uses the view's row as a whole */

	RowRequest request;
	const RowSourceMethods *methods; /* NULL: no row can qualify */
	RowSource *rows;				 /* NULL before it is started, and where no row can qualify */

	List *parameters;				 /* ExprStates */
	MemoryContext parameter_context; /* holds their values until the next rescan */
	bool selecting;					 /* true if the rows were rewound with the parameters' present values */
	ExprState *witness;				 /* or NULL */
	TupleTableSlot *witness_slot;	 /* for a member that is tested; NULL if there is no witness condition */
} AViewScanState;

/*
 * Return the values of the parameters in PRIVATE_CONDITIONS for EXPLAIN: a parameter
 * whose value is set while the plan runs is NULL.  Return NULL if there are none.
 */
extern ParamListInfo aview_parameters_to_explain(AViewScanState *state);

#endif
