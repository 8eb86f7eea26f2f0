/*
 * generalized.h
 *		The type kanon.generalized: a node of a hierarchy, an interval of numbers
 *		or dates, or everything.
 *
 * A value carries everything that is needed to compare and print it.  A node of a tree
 * holds the interval of leaf positions that it covers together with the
 * generation of the hierarchy that assigned them, so that comparing two nodes
 * of one generation takes two comparisons and no look at the hierarchy; after
 * the hierarchy has changed, the label finds the new positions.
 *
 * A value is immutable and may sit in a tuple with a short header, at any
 * address: read it through gen_view().
 */
#ifndef KANON_GENERALIZED_H
#define KANON_GENERALIZED_H

#include "fmgr.h"
#include "utils/numeric.h"

#include "base/interner.h"

#define GEN_ROOT_LABEL "*"

typedef enum GenKind
{
	GEN_ANY,	 /* everything: any value */
	GEN_LABEL,	 /* a word of no known hierarchy */
	GEN_NODE,	 /* a node of a tree */
	GEN_PREFIX,	 /* a node of a prefix hierarchy */
	GEN_INT,	 /* an interval of numbers with whole bounds */
	GEN_NUMERIC, /* any other interval of numbers */
	GEN_DATE	 /* an interval of dates */
} GenKind;

#define GEN_KIND_LAST GEN_DATE

/* Bytes of the kind and the flags, which every value starts with. */
#define GEN_HEADER_SIZE 2

/* Flags of intervals. */
#define GEN_LOWER_INC 0x01
#define GEN_UPPER_INC 0x02
#define GEN_LOWER_INF 0x04
#define GEN_UPPER_INF 0x08
#define GEN_POINT (GEN_LOWER_INC | GEN_UPPER_INC)
#define GEN_BOUND_FLAGS 0x0f

/* Flags of labels and nodes. */
#define GEN_IS_ROOT 0x10   /* covers also values that the hierarchy does not know */
#define GEN_UNKNOWN 0x20   /* a value that the hierarchy does not know: covers itself only */
#define GEN_FROM_TEXT 0x40 /* the column is of a text type: order the value as text */
#define GEN_LEAF 0x80	   /* of a tree: stands for its own label */

/* A flag of a single date in a condition: at some time of that day. */
#define GEN_MOMENT 0x80

/* A value taken apart: only the fields of its kind are set.  Pointers lead into the value itself, or into copies. */
typedef struct GenView
{
	uint8 kind;
	uint8 flags;

	/* GEN_NODE and GEN_PREFIX; of GEN_ANY only the hierarchy, or 0 */
	int32 dgh;		  /* the hierarchy's id in kanon.dgh */
	int32 generation; /* zero: the positions belong to no lasting state of the hierarchy */
	int32 lo;		  /* leaf positions [lo, hi), or the length of the prefix */
	int32 hi;

	/* GEN_LABEL, GEN_NODE, GEN_PREFIX */
	const char *label; /* not terminated */
	int len;		   /* of the label, in bytes */

	/* GEN_INT, GEN_DATE (days); zero where infinite */
	int64 ilo;
	int64 ihi;

	/* GEN_NUMERIC; null where infinite; copies, since the value is not aligned */
	Numeric nlo;
	Numeric nhi;

	struct varlena *copy; /* of a value that was stored compressed or out of line; else null */
} GenView;

#define GEN_IS_INTERVAL(v) ((v)->kind >= GEN_INT)
#define GEN_IS_NUMBER(v) ((v)->kind == GEN_INT || (v)->kind == GEN_NUMERIC)

/* value.c: making a value, and taking it apart */
extern void gen_view(Datum value, GenView *view);
extern void gen_view_free(GenView *view);
extern Datum gen_any(int32 dgh);
extern Datum gen_label(const char *label, int len, uint8 flags);
extern Datum gen_node(const GenView *node);
extern Datum gen_whole_interval(GenKind kind, uint8 flags, int64 lo, int64 hi);
extern Datum gen_numeric_interval(uint8 flags, Numeric lo, Numeric hi);
extern bool gen_is_point(const GenView *view);
extern bool gen_is_itself(const GenView *view);
extern bool gen_floor(Numeric number, int64 *result);
extern bool gen_decimal_points(Datum a, Datum b, bool *same);
extern Numeric gen_numeric_bound(const GenView *view, bool upper);
extern double gen_double_bound(const GenView *view, bool upper);

/* The beginning of a GEN_NODE or GEN_PREFIX; the label follows. */
typedef struct GenPlace
{
	uint8 kind;
	uint8 flags;
	int32 dgh;
	int32 generation;
	int32 lo;
	int32 hi;
	const char *label;
} GenPlace;

/* Read the beginning of a node, all that most comparisons need; false for other kinds and values out of line. */
static inline bool
gen_place(Datum value, GenPlace *place)
{
	const char *varlena = DatumGetPointer(value);
	const char *data = VARDATA_ANY(varlena);

	if (VARATT_IS_EXTERNAL(varlena) || VARATT_IS_COMPRESSED(varlena))
		return false;
	place->kind = (uint8) data[0];
	if (place->kind != GEN_NODE && place->kind != GEN_PREFIX)
		return false;
	place->flags = (uint8) data[1];
	memcpy(&place->dgh, data + GEN_HEADER_SIZE, 4 * sizeof(int32));
	place->label = data + GEN_HEADER_SIZE + 4 * sizeof(int32);
	return true;
}

/* text.c: the text form */
extern Datum gen_parse(const char *text, int len);
extern Datum gen_from_number(const char *text);
extern Numeric gen_number(const char *text);
extern bool gen_parse_number(const char *text, int len, Numeric *result);
extern bool gen_parse_date(const char *text, int len, int64 *days);
extern bool gen_reread(const char *text, int len, bool numbers, Datum *result);
extern const char *gen_text(const GenView *view, int *len);

/* identity.c: the order and the equality of GROUP BY, ORDER BY and indexes */
extern int gen_identity_cmp(const GenView *a, const GenView *b, Oid collation);
extern bool gen_identical(Datum a, Datum b);
extern uint32 gen_identity_hash(const GenView *view);
/* Methods of an interner whose keys are such values, which it copies, or a Datum of 0 for NULL. */
extern const InternerMethods gen_interner_methods;
extern bool gen_within(const GenView *inner, const GenView *outer);
extern int gen_bound_cmp(const GenView *a, bool upper_a, const GenView *b, bool upper_b);

#endif
