/*
 * dgh.h
 *		Domain generalization hierarchies.
 *
 * A hierarchy is a tree of labels stored in kanon.dgh_edge, or one that is computed from
 * its definition in kanon.dgh.  Either way the root stands for every value, also for
 * values that the hierarchy does not know; such a value, and NULL, is a leaf of its own
 * directly below the root.
 *
 * A Dgh comes from the backend's cache.  It is valid until the caller next lets
 * invalidation messages in; a caller that needs it longer holds it, or pins it to a
 * memory context.
 */
#ifndef KANON_DGH_H
#define KANON_DGH_H

#include "utils/numeric.h"
#include "utils/palloc.h"

#include "hierarchy/generalized.h"

#define DGH_MAX_HEIGHT 255

/* Whole numbers below this leave room to add an origin and a width. */
#define DGH_SAFE_WHOLE (INT64CONST(1) << 60)

/* The generation of a hierarchy that this transaction has changed and may change again: no value refers to it. */
#define DGH_UNSETTLED (-1)

typedef enum DghKind
{
	DGH_TREE,
	DGH_INTERVAL,
	DGH_DATE,
	DGH_PREFIX
} DghKind;

typedef enum DateUnit
{
	UNIT_DAY,
	UNIT_MONTH,
	UNIT_QUARTER,
	UNIT_YEAR,
	UNIT_DECADE,
	UNIT_CENTURY
} DateUnit;

typedef struct DghTree DghTree;
typedef struct DghMethods DghMethods;

typedef struct Dgh
{
	MemoryContext context; /* owns everything below */
	const DghMethods *methods;
	int32 id;		  /* in kanon.dgh */
	int32 generation; /* of its state: a positive number, or DGH_UNSETTLED */
	char *name;
	DghKind kind;
	int height;	  /* level of the root above the deepest leaf */
	int diameter; /* most edges between any two nodes */

	DghTree *tree; /* DGH_TREE */

	/* DGH_INTERVAL: level i is made of intervals of widths[i - 1] */
	Numeric origin;
	Numeric *widths;
	int64 int_origin;  /* the same as integers; */
	int64 *int_widths; /* null if one of them is not whole or too large */

	DateUnit *units; /* DGH_DATE: level i is made of units[i - 1] */

	char *mask; /* DGH_PREFIX: one character */

	/* For the cache alone. */
	int pins;	  /* holds that keep it alive */
	bool checked; /* agrees with kanon.dgh, as far as this backend was told */
	bool dropped; /* no longer in the cache: freed with its last pin */
} Dgh;

/*
 * The operations of a kind of hierarchy.  Values are resolved first: brought into
 * the hierarchy's own form.
 */
struct DghMethods
{
	/* Return the hierarchy's form of a raw value, or of a node's text form. */
	Datum (*resolve)(Dgh *dgh, const GenView *value);

	/* Return the steps from a resolved value up to the root; -1 if the hierarchy does not know the value. */
	int (*depth)(Dgh *dgh, const GenView *value);

	/* Return the value some steps above a known one, fewer than its depth. */
	Datum (*ascend)(Dgh *dgh, const GenView *value, int steps);
};

/* A place that keeps one hierarchy at a time alive. */
typedef struct DghHold
{
	Dgh *dgh;
	MemoryContextCallback callback;
} DghHold;

/* cache.c */
extern void dgh_cache_init(void);
extern Dgh *dgh_find(const char *name);
extern Dgh *dgh_get(const char *name);
extern Dgh *dgh_find_by_id(int32 id);
extern bool dgh_is_cached(int32 id, int32 generation);
extern void dgh_hold(DghHold *hold, Dgh *dgh, MemoryContext context);
extern void dgh_pin(Dgh *dgh, MemoryContext context);

/* A number that stays the same as long as every hierarchy found in the cache is up to date. */
extern uint64 dgh_cache_epoch;
#define dgh_epoch() dgh_cache_epoch

/* climb.c: for all kinds of hierarchies */
extern Datum dgh_root(Dgh *dgh);
extern Datum dgh_resolve(Dgh *dgh, Datum value);
extern Datum dgh_climb(Dgh *dgh, Datum value, int steps, bool *at_root);
extern Datum dgh_join(Dgh *dgh, Datum a, Datum b);
extern bool dgh_covers(Dgh *dgh, Datum upper, Datum lower);
extern int dgh_edges_between(Dgh *dgh, Datum a, Datum b);

/* tree.c, computed.c */
extern const DghMethods dgh_tree_methods;
extern const DghMethods dgh_interval_methods;
extern const DghMethods dgh_date_methods;
extern const DghMethods dgh_prefix_methods;

#endif
