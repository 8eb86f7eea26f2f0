/*
 * answers.h
 *		A condition on an A-view beside the same condition on its source.
 */
#ifndef KANON_ANSWERS_H
#define KANON_ANSWERS_H

#include "executor/executor.h"

#include "aview/aview.h"
#include "quality/quality.h"

typedef struct Answers
{
	const AView *aview;
	Bitmapset *columns; /* of the view that the conditions look at */
	bool needs_witness;
	ExprState *published;
	ExprState *raw;
	char *condition; /* the one on the view, as SQL with the alias "v" */
	EState *estate;
	TupleTableSlot *slot;

	int64 answered; /* rows that the view gives */
	int64 wanted;	/* rows of the source that satisfy the condition */
	int64 right;	/* both */
} Answers;

/* To be called with the rights of the view's owner, as all that follows. */
extern Answers *answers_create(const AView *aview, const char *predicate);
extern void answers_add(Answers *answers, const Pair *pair);
extern void answers_finish(Answers *answers);

#endif
