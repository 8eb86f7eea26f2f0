/*
 * kanon.h
 *		The header that every file of the extension includes first.
 */
#ifndef KANON_H
#define KANON_H

#include "compat.h"

/* The schema of the extension's objects. */
#define KANON_SCHEMA "kanon"

#endif
