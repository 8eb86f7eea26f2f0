/*
 * pure.h
 *		Expressions that look at nothing but the columns they name.
 */
#ifndef KANON_PURE_H
#define KANON_PURE_H

#include "nodes/nodes.h"

/* Return the reason why an analyzed expression is not plain, as a sentence, or NULL if it is plain. */
extern const char *plain_objection(Node *expression);

#endif
