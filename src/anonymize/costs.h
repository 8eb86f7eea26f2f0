/*
 * costs.h
 *		What the plans of an A-view cost, in the planner's units: for the choice
 *		between them, and for knowing when to give one up.
 */
#ifndef KANON_SCAN_COSTS_H
#define KANON_SCAN_COSTS_H

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

extern int kanon_plan;

/* Turning a row's values into codes, and finding its class. */
extern Cost cost_of_coding(const AView *aview);
/* Fetching a row that was not filtered out, and putting together what is shown of it. */
extern Cost cost_of_publishing(const AView *aview);
/* Counting all rows of the source, which a plan reads. */
extern Cost cost_of_counting(const AView *aview, const Plan *source);
/* Noting all rows while they are counted, and reading the notes. */
extern Cost cost_of_noting(const Plan *source);
/* Running a query for the members of a cell, once planned, without what becomes of its rows. */
extern Cost cost_of_lookup(const Plan *source, const Plan *plan);
/* Reading a part of the source by a plan, as often as that, each time another. */
extern Cost cost_of_repeated(const Plan *source, const Plan *reading, double loops);
/* Looking for the cells of so many selected rows, by a plan for one class; given up in time. */
extern Cost cost_of_probing(const AView *aview, const Plan *source, const Plan *probe, double rows);

#endif
