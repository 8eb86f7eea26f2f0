/*
 * answers.h
 *		A condition evaluated on an anonymization view beside the same condition on its
 *		source.
 */
#ifndef KANON_ANSWERS_H
#define KANON_ANSWERS_H

#include "executor/executor.h"

#include "aview/aview.h"
#include "quality/quality.h"

typedef struct Answers
{
	const AView *aview;
	Bitmapset *columns;	  /* columns of the view that the conditions read */
	bool needs_witness;	  /* the answer depends on the other members of a row's group */
	ExprState *published; /* the condition on the first half of a pair */
	ExprState *raw;		  /* the condition on the second half */
	char *condition;	  /* the condition on the view, as SQL with the alias "v" */
	EState *estate;
	TupleTableSlot *slot; /* holds a pair */

	int64 answered; /* rows in the answer of the view */
	int64 wanted;	/* rows of the source that satisfy the condition */
	int64 right;	/* rows that are in both */
} Answers;

/*
 * Prepare to evaluate a condition; this and the functions below are called with the rights
 * of the view's owner.
 */
extern Answers *answers_create(const AView *aview, const char *predicate);
/* Count a row. */
extern void answers_add(Answers *answers, const Pair *pair);
/* Complete the counts; no row may be added afterwards. */
extern void answers_finish(Answers *answers);

#endif
