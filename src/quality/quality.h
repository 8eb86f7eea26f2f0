/*
 * quality.h
 *		What an A-view publishes beside what it hides: for its owner only.
 *
 * All measures come from one pass over the source, in which each row is seen as
 * it is and as it is published (pairs.c).  The pass puts rows into classes: those
 * that look alike in the quasi-identifiers, before and after (tally.c).
 */
#ifndef KANON_QUALITY_H
#define KANON_QUALITY_H

#include "fmgr.h"

#include "aview/aview.h"
#include "base/interner.h"
#include "recode/dictionary.h"

/* What became of a row. */
typedef enum Fate
{
	FATE_GROUP,
	FATE_SUPPRESSED,
	FATE_OPEN /* its k, the view's or its owner's, is below 2: it is in no group */
} Fate;

/*
 * One row of the source: columns of the view as they are published, then the
 * same columns as they are.
 */
typedef struct Pair
{
	Datum *values;
	bool *nulls;
	Fate fate;
	int k; /* that its owner asks for */
} Pair;

typedef void (*PairReceiver)(void *arg, const Pair *pair);

/* pairs.c */
extern AView *quality_load(Oid view);
/* columns: of the view */
extern void pairs_read(AView *aview, const Bitmapset *columns, PairReceiver receive, void *arg);

/* Rows that are published alike in all quasi-identifiers. */
typedef struct ShownClass
{
	int64 rows;
	int64 people;
	int64 raw_classes; /* that it is made of */
	int64 raw_alone;   /* people in it who were alone in theirs */
	double k;		   /* sum over its rows */
} ShownClass;

/* Rows that are alike before. */
typedef struct RawClass
{
	int32 person; /* the first one */
	int32 shown;
	bool crowd; /* of more than one */
} RawClass;

typedef struct Tally
{
	const AView *aview;
	int64 nrows;
	bool count_rows; /* each row is a person */

	Dictionary **raw; /* per quasi-identifier or sensitive column, else null */
	int64 **raw_rows; /* per code */
	int *raw_room;
	Dictionary **shown; /* per quasi-identifier, else null */

	Interner *raw_index;
	RawClass *raw_classes;
	Interner *shown_index; /* of the fate and the codes of quasi-identifiers */
	ShownClass *shown_classes;

	Dictionary **ids; /* per identifier, else null */
	Interner *people;
	Interner *memberships; /* class and person */

	int32 *codes; /* work space */
} Tally;

/* tally.c */
extern Tally *tally_create(const AView *aview);
extern void tally_add(Tally *tally, const Pair *pair);
extern void tally_finish(Tally *tally);

extern Fate tally_fate(const Tally *tally, int class);
/* The codes of what a class shows in its quasi-identifiers. */
extern const int32 *tally_shown_codes(const Tally *tally, int class);

/* loss.c: of a published value, from 0 to 1 */
extern double *loss_of_values(const Tally *tally, int column);

#endif
