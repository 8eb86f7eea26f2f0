/*
 * recode.h
 *		Recoding: from rows to the cells in which they are published.
 *
 * A recoding is a number of steps, each of which makes cells larger: a cell of a later
 * step is a union of cells of the step before.  A row is published in the first cell on
 * its way in which the unpublished rows satisfy the privacy predicate.  Rows that are still
 * unpublished after the last step, where there is one cell, are suppressed.  A view may
 * publish in cells of some steps only: then cells of the other steps are nothing but
 * larger and larger sets of rows.
 *
 * The cells are given by one of two nestings: a chain, each step of which raises one
 * column by one level (chain.c), or a tree of boxes, each step of which leads from the
 * deepest boxes to the boxes around them (celltree.c).
 *
 * Since cells are nested, the rows of a cell alone decide how they are published up to that
 * cell's step.  Recoding all rows, or only the rows of the cell, gives the same cells there.
 *
 * Rows with equal values form a class, and recoding treats the rows of a class alike; so
 * it works on classes (histogram.h), never on rows.
 */
#ifndef KANON_RECODE_H
#define KANON_RECODE_H

#include "access/htup_details.h"

#include "recode/dictionary.h"
#include "recode/privacy.h"

struct Histogram;

/* The numbers in a place: at most one for each column of a row. */
#define MAX_PLACE MaxTupleAttributeNumber

/* A chain's step s raises steps[s - 1].column to steps[s - 1].level. */
typedef struct RecodeStep
{
	int column;
	int level;
} RecodeStep;

/* The value that a cell publishes for a column: the smallest one that covers the cell. */
typedef struct CellValue
{
	Datum value;
	bool isnull;
	bool raw; /* the cell holds no other value of the column, so that it is published as it is */
} CellValue;

typedef struct Recoder Recoder;

/*
 * How cells are nested.  A place identifies a cell of a step: it is width numbers, the
 * same ones for all classes of the cell.
 */
typedef struct Nesting
{
	bool classes_apart; /* at step 0 each class has a place of its own */

	/* Set the place, at a step, of the class that has these codes at level 0. */
	void (*locate)(const Recoder *recoder, int step, const int32 *codes, int32 *place);
	/* Move a place of the step before to a step. */
	void (*climb)(const Recoder *recoder, int step, int32 *place);
	/* Return the first step at which the cell of a place is complete; nothing is published in it before. */
	int (*due)(const Recoder *recoder, const int32 *place);
	/* Return the value of a column that the cell of a place publishes at a step. */
	CellValue (*value)(const Recoder *recoder, int step, const int32 *place, int column);
} Nesting;

/* A recoding: columns, a nesting of cells, and a privacy predicate. */
struct Recoder
{
	MemoryContext context; /* owns the cells */
	int ncolumns;
	Dictionary **columns; /* one per column */
	int nsteps;
	int first_step; /* rows are published in cells of the steps from this one */
	int last_step;	/* to this one; rows left then are suppressed, though there may be several cells */
	const Nesting *nesting;
	int width;			   /* numbers in a place */
	RecodeStep *steps;	   /* of a chain, nsteps of them */
	int16 *levels;		   /* of a chain, per column after each step: levels[step * ncolumns + column] */
	struct CellTree *tree; /* the tree of boxes; NULL: a chain */

	/* The privacy predicate. */
	int k;
	bool personal;		  /* each row has a k of its own: the largest in a group counts */
	int most_k;			  /* the largest k of the rows seen so far */
	int l;				  /* 0: l-diversity is not asked for */
	double t;			  /* 0: t-closeness is not asked for */
	int most_individuals; /* individuals that are told apart in a class; 0: all of them */
	bool masked;		  /* rows' owners may hide quasi-identifiers, and it matters which */
	bool count_rows;	  /* each row is an individual of its own */
	int nsensitive;		  /* columns that l or t is about */
	RecodeSensitive *sensitive;

	struct cellindex_hash *cells; /* all cells made so far */
};

/* A published cell, or the set of suppressed rows.  All of it is one piece of memory. */
typedef struct Cell
{
	int step;
	bool suppressed;
	bool witnessed; /* a member satisfies the query's conditions; kept by the users of cells */
	int64 rows;		/* kept by users that tell rows apart by their cells only */
	bool *nulls;	/* one per column, as in values */
	int32 *place;
	Datum values[FLEXIBLE_ARRAY_MEMBER];
} Cell;

/*
 * Set up a recoder's nesting and its set of cells; its columns, steps, with the first and the
 * last one, or its tree, its predicate and its context are set.
 */
extern void recoder_prepare(Recoder *recoder);
/* Start a new, empty set of cells, which lives in a memory context; the cells made before belong to theirs. */
extern void recoder_forget_cells(Recoder *recoder, MemoryContext context);
/* Count each row as an individual of its own from now on; nothing has been counted yet. */
extern void recoder_count_rows(Recoder *recoder);
/* Return true if rows are published in groups: k = 0 and k = 1 form none. */
extern bool recoder_groups(const Recoder *recoder);
/* Return the cell of a place at a step, or the set of suppressed rows; the same object each time. */
extern Cell *recoder_cell(Recoder *recoder, int step, const int32 *place, bool suppressed);
/* Return true if two classes, given by their codes at level 0, are in the same cell of a step. */
extern bool recoder_together(const Recoder *recoder, int step, const int32 *codes, const int32 *others);
/* Return a hash of the cell that a class, given by its codes at level 0, belongs to at a step. */
extern uint32 recoder_cell_hash(const Recoder *recoder, const int32 *codes, int step);
/* Set codes as a row's owner lets them be seen: the codes of hidden columns become NULL_CODE. */
extern void recoder_mask(const Recoder *recoder, uint64 visible, const int32 *codes, int32 *seen);

/*
 * Publish the classes of a histogram in cells of the steps from first_step to last_step.
 * The caller knows that no cell of an earlier step satisfies the predicate.  If last_step
 * is the recoder's last step, the classes that remain are suppressed; otherwise they keep
 * no cell, and the histogram's leaders are set.
 *
 * The histogram's counts and bags are used up: afterwards a leader has the counts and bags
 * of its group.
 */
extern void recode(struct Histogram *histogram, int first_step, int last_step);

/* Print a recoder to the server's standard error, for a debugger. */
extern void recoder_dump(const Recoder *recoder);

#endif
