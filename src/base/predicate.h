/*
 * predicate.h
 *		Conditions that are given as text.
 */
#ifndef KANON_PREDICATE_H
#define KANON_PREDICATE_H

#include "parser/parse_node.h"

/* One boolean expression over the columns of a namespace item, without subqueries and volatile functions. */
extern Node *predicate_analyze(const char *predicate, ParseState *state, ParseNamespaceItem *item);

extern void predicate_error(const char *predicate, const char *rule) pg_attribute_noreturn();

#endif
