/*
 * costs.h
 *		Costs of the plans of an A-view, in the planner's units: for the choice
 *		between them, and for knowing when to give one up.
 */
#ifndef KANON_COSTS_H
#define KANON_COSTS_H

#include "aview/aview.h"

#include "nodes/plannodes.h"

/* The values of the setting kanon.plan. */
typedef enum PlanChoice
{
	CHOOSE_AUTO,
	CHOOSE_ANONYMIZE_FIRST,
	CHOOSE_SELECT_FIRST,
	CHOOSE_FUNCTION
} PlanChoice;

extern int kanon_plan; /* a PlanChoice */

/* Return the cost of turning a row's values into codes, and finding its class. */
extern Cost cost_of_coding(const AView *aview);
/* Return the cost of fetching a row that was not filtered out, and of putting its published columns together. */
extern Cost cost_of_publishing(const AView *aview);
/* Return the cost of counting all rows of the source, which the plan source reads. */
extern Cost cost_of_counting(const AView *aview, const Plan *source);
/* Return the cost of noting all rows while they are counted, and of reading the notes. */
extern Cost cost_of_noting(const Plan *source);
/* Return the cost of running a planned query for the members of a cell, without coding its rows. */
extern Cost cost_of_lookup(const Plan *source, const Plan *plan);
/* Return the cost per loop of reading a part of the source by a plan, another part in each of some loops. */
extern Cost cost_of_repeated(const Plan *source, const Plan *reading, double loops);
/*
 * Return the cost of looking for the cells of a number of selected rows, with the plan probe
 * for one class; the search is given up when it has cost as much as counting the source.
 */
extern Cost cost_of_probing(const AView *aview, const Plan *source, const Plan *probe, double rows);

#endif
