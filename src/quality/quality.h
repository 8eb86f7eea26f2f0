/*
 * quality.h
 *		The quality of an anonymization view: its published rows beside the raw ones,
 *		for its owner only.
 *
 * All measures come from one pass over the source, in which each row is seen as it is and
 * as it is published (pairs.c). The pass puts rows into classes by their
 * quasi-identifiers, before and after anonymization (tally.c).
 */
#ifndef KANON_QUALITY_H
#define KANON_QUALITY_H

#include "fmgr.h"

#include "aview/aview.h"
#include "base/interner.h"
#include "base/valuecodes.h"
#include "recode/dictionary.h"
#include "recode/ldiversity.h"

/* How a row is published. */
typedef enum Fate
{
	FATE_GROUP,		 /* with its group */
	FATE_SUPPRESSED, /* without its values: there is no group for it */
	FATE_OPEN		 /* as it is, in no group: its k, the view's or its owner's, is below 2 */
} Fate;

/* One row of the source: the columns of the view as published, then the same columns raw. */
typedef struct Pair
{
	Datum *values; /* 2 * ncolumns, valid until the receiver returns */
	bool *nulls;
	Fate fate;
	int k; /* the k of the view, or of the row's owner */
} Pair;

/* A function that is called for each pair. */
typedef void (*PairReceiver)(void *arg, const Pair *pair);

/* pairs.c */

/* Return the definition of a view; raise an error unless the current role owns it. */
extern AView *quality_load(Oid view);
/* Read the pairs of a view, with the values of some of its columns. */
extern void pairs_read(AView *aview, const Bitmapset *columns, PairReceiver receive, void *arg);

/* Rows that are published alike in all quasi-identifiers. */
typedef struct ShownClass
{
	int64 rows;
	int64 people;		/* at least 1; rows without an identifier add none */
	Diversity *diverse; /* per sensitive column: the published values of its people */
	int64 raw_classes;	/* raw classes with their first row in it */
	int64 raw_alone;	/* of these, classes of a single person */
	double k;			/* the sum of k over its rows */
} ShownClass;

/* Rows with equal raw quasi-identifiers. */
typedef struct RawClass
{
	int32 person; /* of its first row that has an identifier; -1 before that */
	int32 shown;  /* the shown class of its first row; -1 before that is known */
	bool crowd;	  /* it has more than one person */
} RawClass;

/* Classes of rows and the codes of their values; all in one memory context. */
typedef struct Tally
{
	const AView *aview;
	int64 nrows;
	bool count_rows; /* each row is a person */

	/* Per column of the view. */
	Dictionary **raw;	/* of raw values of quasi-identifiers and sensitive columns, else NULL */
	int64 **raw_rows;	/* rows per code of raw */
	int *raw_room;		/* codes that raw_rows has space for */
	Dictionary **shown; /* of published values of quasi-identifiers, else NULL */
	ValueCodes **ids;	/* of identifiers, else NULL */

	/* Per sensitive column, in order: how its published values are counted. */
	int nsensitive;
	struct TallySensitive *sensitive;

	Interner *raw_index; /* of the codes of raw quasi-identifiers */
	RawClass *raw_classes;
	Interner *shown_index; /* of the fate and the codes of published quasi-identifiers */
	ShownClass *shown_classes;
	Interner *people;	   /* of the codes of identifiers; unused if count_rows */
	Interner *memberships; /* of shown class and person; unused if count_rows */

	int32 *codes; /* work space */
} Tally;

/* tally.c */

/* Create an empty tally in the current memory context. */
extern Tally *tally_create(const AView *aview);
/* Count a row. */
extern void tally_add(Tally *tally, const Pair *pair);
/* Complete the classes, after the last row. */
extern void tally_finish(Tally *tally);
/* Return how many different values of different people a shown class has in a sensitive column. */
extern int tally_diversity(const Tally *tally, int class, int index);
/* Return the fate of the rows of a shown class. */
extern Fate tally_fate(const Tally *tally, int class);
/* Return the codes of a shown class's quasi-identifiers. */
extern const int32 *tally_shown_codes(const Tally *tally, int class);

/* loss.c: return the loss of each published value of a quasi-identifier, by code, from 0 to 1 */
extern double *loss_of_values(const Tally *tally, int column);

#endif
