/*
 * taxonomy.c
 *		The part of a hierarchy that a table's sensitive values use.
 *
 * Follows Landberg, Rahayu and Pardede, "n-Dependency: dependency diversity in anatomised
 * microdata tables": mapping and pruning (their Algorithms 1 and 2), the initial level (3)
 * and the largest n (4). Their pseudocode never counts n up; here it counts one for each
 * level above the initial one that can be kept.
 */
#include "base/kanon.h"

#include "release/anatomy/taxonomy.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "base/interner.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"

/* The number of missing values that an error names. */
#define MISSING_SHOWN 10

/* Return the node with a number while nodes are being added. */
static inline TaxonomyNode *
taxonomy_node(const Interner *nodes, int32 node)
{
	return interner_record(nodes, node);
}

/*
 * Return the node of a resolved value, which stands at a depth.  Add it if it is new,
 * and its ancestors up to the first that is known.
 */
static int32
add_path(const Taxonomy *taxonomy, Interner *nodes, Datum value, int depth)
{
	int32 lowest = -1;
	int32 child = -1;
	bool found;
	bool at_root;

	for (;;)
	{
		int32 node = interner_code(nodes, &value, &found);

		if (!found)
		{
			taxonomy_node(nodes, node)->parent = -1;
			taxonomy_node(nodes, node)->depth = depth;
		}
		if (child >= 0)
			taxonomy_node(nodes, child)->parent = node;
		if (lowest < 0)
			lowest = node;
		if (found || depth == 0)
			return lowest;
		child = node;
		value = dgh_climb(taxonomy->dgh, value, 1, &at_root);
		depth--;
	}
}

/* Find the hierarchy's value for a word, and return its depth, or -1 if the hierarchy does not know it. */
static int
find_word(Dgh *dgh, const char *word, Datum *value)
{
	GenView view;

	*value = dgh_resolve(dgh, gen_parse(word, strlen(word)));
	gen_view(*value, &view);
	return view.kind == GEN_ANY ? 0 : dgh->methods->depth(dgh, &view);
}

/* Append a missing word to the list, unless it is long enough. */
static void
note_missing(StringInfo missing, const char *word, int count)
{
	if (count <= MISSING_SHOWN)
		appendStringInfo(missing, "%s\"%s\"", count > 1 ? ", " : "", word);
}

/* Raise the error that words are missing from the hierarchy. */
static void
report_missing(const Dgh *dgh, StringInfo missing, int count)
{
	if (count > MISSING_SHOWN)
		appendStringInfo(missing, " and %d more", count - MISSING_SHOWN);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("hierarchy \"%s\" does not know %d of the sensitive values", dgh->name, count),
			 errdetail("Not known: %s.", missing->data),
			 dgh->kind == DGH_TREE ? errhint("Insert them into kanon.dgh_edge, or leave their rows out of the source.")
								   : errhint("Leave their rows out of the source.")));
}

/* Do the mapping: make a node for every word and for its ancestors. */
static void
map_words(Taxonomy *taxonomy, const char **words, const int64 *counts, int nwords)
{
	Interner *nodes = interner_create(CurrentMemoryContext, sizeof(Datum), sizeof(TaxonomyNode), &gen_interner_methods,
									  NULL);
	StringInfoData missing;
	int nmissing = 0;

	initStringInfo(&missing);
	for (int i = 0; i < nwords; i++)
	{
		Datum value;
		int depth = find_word(taxonomy->dgh, words[i], &value);

		CHECK_FOR_INTERRUPTS();
		if (depth < 0)
			note_missing(&missing, words[i], ++nmissing);
		else
		{
			taxonomy->node_of_word[i] = add_path(taxonomy, nodes, value, depth);
			taxonomy_node(nodes, taxonomy->node_of_word[i])->own += counts[i];
			taxonomy->nrows += counts[i];
			taxonomy->initial = i == 0 ? depth : Min(taxonomy->initial, depth);
			taxonomy->deepest = Max(taxonomy->deepest, depth);
		}
	}
	if (nmissing > 0)
		report_missing(taxonomy->dgh, &missing, nmissing);
	taxonomy->nnodes = nodes->count;
	taxonomy->nodes = (TaxonomyNode *) nodes->records;
}

/* Do the pruning: add the frequencies of nodes to all their ancestors. */
static void
add_up(Taxonomy *taxonomy)
{
	for (int32 i = 0; i < taxonomy->nnodes; i++)
	{
		for (int32 node = i; node >= 0 && taxonomy->nodes[i].own > 0; node = taxonomy->nodes[node].parent)
			taxonomy->nodes[node].below += taxonomy->nodes[i].own;
	}
}

/* Make a node the heaviest one if it has more rows. */
static inline void
raise_load(TaxonomyLoad *load, int32 node, int64 rows)
{
	if (rows > load->rows)
	{
		load->node = node;
		load->rows = rows;
	}
}

/*
 * Find the heaviest node of each cut.  A cut shows the nodes on its depth with all rows
 * below them, and the values above as they are.
 */
static void
find_loads(Taxonomy *taxonomy)
{
	TaxonomyLoad *above = palloc0((taxonomy->deepest + 1) * sizeof(TaxonomyLoad));

	taxonomy->loads = palloc0((taxonomy->deepest + 1) * sizeof(TaxonomyLoad));
	for (int32 i = 0; i < taxonomy->nnodes; i++)
	{
		raise_load(&taxonomy->loads[taxonomy->nodes[i].depth], i, taxonomy->nodes[i].below);
		raise_load(&above[taxonomy->nodes[i].depth], i, taxonomy->nodes[i].own);
	}
	for (int depth = 1; depth <= taxonomy->deepest; depth++)
	{
		raise_load(&above[depth], above[depth - 1].node, above[depth - 1].rows);
		raise_load(&taxonomy->loads[depth], above[depth - 1].node, above[depth - 1].rows);
	}
	pfree(above);
}

/* Build the taxonomy of words and their frequencies. */
Taxonomy *
taxonomy_build(Dgh *dgh, const char **words, const int64 *counts, int nwords)
{
	Taxonomy *taxonomy = palloc0(sizeof(Taxonomy));

	taxonomy->dgh = dgh;
	dgh_pin(dgh, CurrentMemoryContext);
	taxonomy->node_of_word = palloc_extended(Max(nwords, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
	map_words(taxonomy, words, counts, nwords);
	add_up(taxonomy);
	find_loads(taxonomy);
	return taxonomy;
}

/* Return the ancestor of a node at a depth, or the node if it is not below that depth. */
int32
taxonomy_cut(const Taxonomy *taxonomy, int32 node, int depth)
{
	Assert(node >= 0 && node < taxonomy->nnodes && depth >= 0);
	while (taxonomy->nodes[node].depth > depth)
		node = taxonomy->nodes[node].parent;
	return node;
}

/*
 * Return the depth nearest to the root on which no node has more than one row in l, or -1
 * if there is none.
 */
int
taxonomy_first_depth(const Taxonomy *taxonomy, int l)
{
	for (int depth = 0; depth <= taxonomy->deepest; depth++)
	{
		if (taxonomy->loads[depth].rows <= taxonomy->nrows / l)
			return depth;
	}
	return -1;
}

/* Return the largest n that groups of l rows can have, or 0 if not even their values can differ. */
int
taxonomy_max_n(const Taxonomy *taxonomy, int l)
{
	int first = taxonomy_first_depth(taxonomy, l);

	return first < 0 ? 0 : Max(taxonomy->initial - first + 1, 1);
}

/*
 * Return the depth of the cut for an n.
 *
 * Groups that differ on the initial level satisfy more than n = 1 requires.  If values of
 * unequal depth do not allow such groups, the first depth below that allows some is used.
 */
int
taxonomy_depth_for(const Taxonomy *taxonomy, int l, int n)
{
	/* Without rows any n will do. */
	Assert(n > 0 && (taxonomy->nrows == 0 || n <= taxonomy_max_n(taxonomy, l)));
	return Max(taxonomy->initial - (n - 1), taxonomy_first_depth(taxonomy, l));
}

/* Return the text of a node. */
char *
taxonomy_label(const Taxonomy *taxonomy, int32 node)
{
	GenView view;
	int len;
	const char *label;

	gen_view(taxonomy->nodes[node].value, &view);
	label = gen_text(&view, &len);
	return pnstrdup(label, len);
}
