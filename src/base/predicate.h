/*
 * predicate.h
 *		Conditions that are given as text.
 */
#ifndef KANON_PREDICATE_H
#define KANON_PREDICATE_H

#include "parser/parse_node.h"

/*
 * Return a text as one boolean expression over the columns of a namespace item;
 * raise an error unless it looks at nothing else (pure.h).  Frees the parse state.
 */
extern Node *predicate_analyze(const char *predicate, ParseState *state, ParseNamespaceItem *item);

/* Raise the error for a predicate that breaks a rule, which is a sentence. */
extern pg_noreturn void predicate_error(const char *predicate, const char *rule);

#endif
