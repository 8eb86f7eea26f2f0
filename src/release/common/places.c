/*
 * places.c
 *		The places of words on a column's line.
 *
 * Leaves of a tree stand in the order of the tree, words that it does not know behind
 * them, and words without a hierarchy in the order of bytes.
 */
#include "base/kanon.h"

#include "release/common/places.h"

#include <math.h>

#include "miscadmin.h"

#include "base/interner.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"
#include "release/common/input.h"

/* A word and its place. */
typedef struct WordPlace
{
	const char *word;
	int32 code; /* of the word, in the order of arrival */
	int32 leaf; /* its place in the tree; PG_INT32_MAX if it is no leaf */

	/* The nodes of a computed hierarchy over the word, the highest first, then the word itself. */
	int npath;
	int *path; /* a node is given by the first word that is below it */
} WordPlace;

/* A node of a computed hierarchy, by its text. */
typedef struct NodeWord
{
	const char *text;
	int first; /* place of the first word that is below it */
} NodeWord;

/* Order by the place in the tree, words without one by their bytes: a qsort comparator. */
static int
compare_word_places(const void *left, const void *right)
{
	const WordPlace *a = left;
	const WordPlace *b = right;

	if (a->leaf != b->leaf)
		return a->leaf < b->leaf ? -1 : 1;
	return strcmp(a->word, b->word);
}

/* Order by the nodes over the words: a qsort comparator. */
static int
compare_word_paths(const void *left, const void *right)
{
	const WordPlace *a = left;
	const WordPlace *b = right;

	for (int i = 0; i < Min(a->npath, b->npath); i++)
	{
		if (a->path[i] != b->path[i])
			return a->path[i] < b->path[i] ? -1 : 1;
	}
	return a->npath - b->npath;
}

/* Find the path of a word: climb from the word up, then turn the path around. */
static void
find_path(Dgh *dgh, WordPlace *place, int index, Interner *nodes)
{
	Datum value = dgh_resolve(dgh, gen_label(place->word, strlen(place->word), 0));
	bool at_root = false;

	place->path = palloc((dgh->height + 2) * sizeof(int));
	place->path[place->npath++] = index;
	while (!at_root && place->npath < dgh->height + 2)
	{
		GenView view;
		const char *text;
		int32 node;
		int len;
		bool found;

		gen_view(value, &view);
		text = gen_text(&view, &len);
		text = pnstrdup(text, len);
		node = interner_code(nodes, &text, &found);
		if (!found)
			((NodeWord *) interner_record(nodes, node))->first = index;
		place->path[place->npath++] = ((NodeWord *) interner_record(nodes, node))->first;
		value = dgh_climb(dgh, value, 1, &at_root);
	}
	Assert(place->npath <= dgh->height + 2);
	for (int low = 0, high = place->npath - 1; low < high; low++, high--)
	{
		int step = place->path[low];

		place->path[low] = place->path[high];
		place->path[high] = step;
	}
}

/*
 * Bring the words below each node of a computed hierarchy together.
 *
 * In the order of bytes, words that the hierarchy does not know may stand between words of
 * a node.  A node is published as a whole, so its words must be one stretch.
 */
static void
gather_nodes(Dgh *dgh, WordPlace *places, int count)
{
	Interner *nodes = interner_create(CurrentMemoryContext, sizeof(char *), sizeof(NodeWord), &interner_borrowed_texts,
									  NULL);

	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		find_path(dgh, &places[i], i, nodes);
	}
	qsort(places, count, sizeof(WordPlace), compare_word_paths);
}

/* Return the words in the order of their places. */
static WordPlace *
list_words(const Interner *words, Dgh *dgh)
{
	DghTree *tree = dgh ? dgh->tree : NULL;
	WordPlace *places = palloc_extended(Max(words->count, 1) * sizeof(WordPlace), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (int32 code = 0; code < words->count; code++)
	{
		const char *word = interner_text(words, code);
		int node = tree ? tree_find(tree, word, strlen(word)) : -1;
		bool leaf = node > 0 && tree->hi[node] - tree->lo[node] == 1 && tree->leaf[tree->lo[node]] == node;

		places[code].word = word;
		places[code].code = code;
		places[code].leaf = leaf ? tree->lo[node] : PG_INT32_MAX;
	}
	qsort(places, words->count, sizeof(WordPlace), compare_word_places);
	if (dgh && !tree)
		gather_nodes(dgh, places, words->count);
	return places;
}

/* Replace a column's codes of words by places, and list the words by place. */
void
release_place_words(ReleaseSource *source, ReleaseColumn *column, const Interner *words)
{
	DghTree *tree = column->dgh ? column->dgh->tree : NULL;
	WordPlace *places = list_words(words, column->dgh);
	int32 *place_of = palloc_extended(Max(words->count, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
	int nleaves = tree ? tree->nleaves : 0;
	MemoryContext old = MemoryContextSwitchTo(source->context);

	column->words = palloc_extended((nleaves + words->count + 1) * sizeof(char *), MCXT_ALLOC_HUGE);
	MemoryContextSwitchTo(old);
	for (int i = 0; i < nleaves; i++)
		column->words[i] = tree_label(tree, tree->leaf[i]);
	column->nwords = nleaves;
	for (int i = 0; i < words->count; i++)
	{
		if (places[i].leaf == PG_INT32_MAX)
		{
			places[i].leaf = column->nwords;
			column->words[column->nwords++] = places[i].word;
		}
		Assert(places[i].leaf >= 0 && places[i].leaf < column->nwords);
		place_of[places[i].code] = places[i].leaf;
	}
	Assert(column->nwords <= nleaves + words->count);
	for (int row = 0; row < source->nrows; row++)
	{
		if (!isnan(column->values[row]))
			column->values[row] = place_of[(int) column->values[row]];
	}
}
