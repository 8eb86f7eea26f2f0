/*
 * codetable.h
 *		Numbers for tuples of codes, in the order in which they come.
 */
#ifndef KANON_CODETABLE_H
#define KANON_CODETABLE_H

typedef struct CodeTable
{
	MemoryContext context;
	int width; /* codes in a tuple */
	int count;
	int room;
	int32 *codes; /* width per tuple */
	struct codeindex_hash *index;
	const int32 *wanted; /* the tuple that a lookup is after */
} CodeTable;

extern CodeTable *codetable_create(int width);
extern int32 codetable_number(CodeTable *table, const int32 *codes, bool *found);

/* The codes of a tuple. */
static inline const int32 *
codetable_codes(const CodeTable *table, int32 number)
{
	return table->codes + (Size) number * table->width;
}

#endif
