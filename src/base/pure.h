/*
 * pure.h
 *		Expressions that look at nothing but the columns they name.
 */
#ifndef KANON_PLAIN_H
#define KANON_PLAIN_H

#include "nodes/nodes.h"

/* Why an analyzed expression is not plain, as a sentence; null: it is. */
extern const char *plain_objection(Node *expression);

#endif
