/*
 * select_first.h
 *		Select-then-Anonymize: the rows of the source that satisfy some conditions,
 *		as they are published.
 */
#ifndef KANON_SELECT_FIRST_H
#define KANON_SELECT_FIRST_H

#include "anonymize/row_source.h"

extern const RowSourceMethods select_first_methods;

#endif
