/*
 * select_first.h
 *		Select first (the paper's Select-then-Anonymize): a source of the rows that
 *		satisfy the conditions of a request or, where the request has a witness test
 *		and probes, of the whole groups of the witnesses among them.
 */
#ifndef KANON_SELECT_FIRST_H
#define KANON_SELECT_FIRST_H

#include "anonymize/row_source.h"

extern const RowSourceMethods select_first_methods;

#endif
