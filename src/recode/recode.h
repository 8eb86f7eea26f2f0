/*
 * recode.h
 *		Recoding: from rows to the cells in which they are published.
 *
 * A recoding is a number of steps, each of which makes cells larger: cells of
 * later steps are unions of cells of earlier ones.  A row is published in the
 * first cell on its way whose unpublished rows satisfy the privacy predicate.
 * What is left after the last step, where there is one cell, is suppressed.
 *
 * Which cells there are is a matter of two nestings: a chain, each step of which
 * raises one column by one level (chain.c), or a tree of boxes, each step of
 * which leads from the deepest boxes to those around them (celltree.c).
 *
 * Since cells are nested, the rows of one cell decide alone what is published
 * inside it.  Recoding all rows, or only those of a cell up to that cell's step,
 * gives the same cells.
 *
 * Rows with equal values form a class; all that happens, happens to classes.
 */
#ifndef KANON_RECODE_H
#define KANON_RECODE_H

#include "access/htup_details.h"

#include "recode/dictionary.h"

/* A place has at most one number for each column of a row. */
#define MAX_PLACE MaxTupleAttributeNumber

/* A chain's step s raises steps[s - 1].column to steps[s - 1].level. */
typedef struct RecodeStep
{
	int column;
	int level;
} RecodeStep;

/* How far apart two distributions of sensitive values are. */
typedef enum Distance
{
	DISTANCE_EQUAL,
	DISTANCE_HIERARCHICAL,
	DISTANCE_ORDERED
} Distance;

typedef struct ValueTree ValueTree;

typedef struct RecodeSensitive
{
	Dictionary *dictionary;
	Distance distance;
	/* The distribution over the whole input, by code; for t only. */
	double *share;
	int nshares;
	int32 *order; /* codes in the order of their values; DISTANCE_ORDERED */
	ValueTree *tree; /* DISTANCE_HIERARCHICAL */
} RecodeSensitive;

/* What is published of a column in a cell: the smallest value that covers it. */
typedef struct CellValue
{
	Datum value;
	bool isnull;
	bool raw; /* no other value is in the cell */
} CellValue;

typedef struct Recoder Recoder;

/*
 * How cells are nested.  A place says in which cell of a step a class is: it is a
 * few numbers, the same ones for all classes of the cell.
 */
typedef struct Nesting
{
	bool classes_apart; /* each class has a place of its own at step 0 */

	/* The place of a class, which is given by its codes at level 0. */
	void (*locate)(const Recoder *recoder, int step, const int32 *codes, int32 *place);
	/* Moves a place on to a step from the one before. */
	void (*climb)(const Recoder *recoder, int step, int32 *place);
	/* The step at which a place's cell is complete: nothing is published in it before. */
	int (*due)(const Recoder *recoder, const int32 *place);
	CellValue (*value)(const Recoder *recoder, int step, const int32 *place, int column);
} Nesting;

struct Recoder
{
	MemoryContext context;
	int ncolumns;
	Dictionary **columns;
	int nsteps;
	const Nesting *nesting;
	int width;			   /* of a place */
	RecodeStep *steps;	   /* of a chain */
	int16 *levels;		   /* of each column after each step: levels[step * ncolumns + column] */
	struct CellTree *tree; /* of boxes, instead of a chain */

	/* The privacy predicate. */
	int k;
	bool personal; /* each row has a k of its own: the largest in a group counts */
	int most_k;	   /* of the rows seen so far */
	int l;		   /* 0: not asked for */
	double t;	   /* 0: not asked for */
	int most_individuals; /* as many of a group are told apart; 0: all of them */
	bool masked;	 /* owners may hide quasi-identifiers, and it matters which */
	bool count_rows; /* each row is an individual of its own */
	int nsensitive;	 /* columns that l or t concern */
	RecodeSensitive *sensitive;

	struct cellindex_hash *cells;
};

/* A published cell, or the set of suppressed rows. */
typedef struct Cell
{
	int step;
	bool suppressed;
	bool witnessed; /* a member satisfies the query's conditions */
	int64 rows;		/* where rows are not told apart but by their cells */
	bool *nulls;	/* of each column, as the values; in one piece of memory */
	int32 *place;
	Datum values[FLEXIBLE_ARRAY_MEMBER];
} Cell;

/* A set of keys with counts, in the order of keys. */
typedef struct Bag
{
	int size;
	int room;
	uint64 *keys;
	int64 *counts; /* null: only presence matters */
} Bag;

/* Classes of rows and what the predicate needs to know of each. */
typedef struct Histogram
{
	MemoryContext context;
	Recoder *recoder;
	int nclasses;
	int capacity;
	int32 *codes; /* ncolumns per class */
	struct classindex_hash *index;
	Cell **cells; /* per class, null until it is published */
	int *leaders; /* per class that is not, the one that its group's counts are with */

	/* Null where classes are only told apart. */
	int64 *rows;
	int *k; /* null: the recoder's */
	Bag *visible; /* the sets of columns that owners let be seen; null: all of them */
	Bag *individuals;
	Bag *sensitive; /* nsensitive per class */

	const int32 *wanted; /* codes that a lookup is after */
} Histogram;

/* One row, or several that agree in all of this, in codes. */
typedef struct RecodeRow
{
	int64 rows;
	int32 *codes;
	int k; /* below 2: in no group; below 0: not shown at all */
	uint64 visible; /* a bit for each column that the owner lets be seen */
	uint64 individual; /* a hash of the identifiers */
	int32 *sensitive;
} RecodeRow;

/* histogram.c */
extern Histogram *histogram_create(Recoder *recoder, bool counting);
extern int histogram_find(Histogram *histogram, const int32 *codes);
extern int histogram_class(Histogram *histogram, const int32 *codes);
extern int histogram_add(Histogram *histogram, const RecodeRow *row);
extern void histogram_take(Histogram *histogram, const Histogram *other, int class);
/* Calls a function with a class's codes as its rows' owners let them be seen, until it returns true. */
typedef bool (*ClassTest)(void *arg, const int32 *codes);
extern bool histogram_test(const Histogram *histogram, int class, ClassTest test, void *arg);
extern void recoder_mask(const Recoder *recoder, uint64 visible, const int32 *codes, int32 *seen);
extern uint32 histogram_hash(const Recoder *recoder, const int32 *codes, int step);
extern void bag_merge(Bag *bag, const Bag *other, int limit);

/* recode.c */
extern void recoder_prepare(Recoder *recoder);
extern void recoder_forget_cells(Recoder *recoder, MemoryContext context);
extern void recode(Histogram *histogram, int first_step, int last_step);
extern Cell *recoder_cell(Recoder *recoder, int step, const int32 *place, bool suppressed);
extern bool recoder_together(const Recoder *recoder, int step, const int32 *codes, const int32 *others);
extern bool recoder_groups(const Recoder *recoder);

/* chain.c */
extern const Nesting chain_nesting;
extern void chain_prepare(Recoder *recoder);

/* celltree.c */
extern const Nesting tree_nesting;
extern void tree_prepare(Recoder *recoder);

/* privacy.c */
typedef struct Group Group;
extern bool privacy_holds(const Recoder *recoder, int k, int64 individuals, const Bag *sensitive);

/* valuetree.c */
extern ValueTree *valuetree_create(const Dictionary *dictionary, int ncodes);
extern double valuetree_distance(const ValueTree *tree, const double *share, const double *other);

#endif
