/*
 * aview_dump.c
 *		Printing the definition of an A-view, for debugging.
 *
 * In gdb: "call aview_dump(aview)", as "call pprint(node)" prints a node.
 */
#include "base/kanon.h"

#include "aview/aview.h"

#include "lib/stringinfo.h"

static const char *const role_names[] = {
	[ROLE_OTHER] = "other",
	[ROLE_ID] = "id",
	[ROLE_QUASI] = "quasi",
	[ROLE_SENSITIVE] = "sensitive",
};

/* Append the guarantee and how it is reached. */
static void
dump_policy(StringInfo text, const AView *aview)
{
	appendStringInfo(text, "  k %d, l %d, t %g, match %s, algorithm %s, block size %d\n", aview->k, aview->l, aview->t,
					 aview->match == MATCH_WITNESS ? "witness" : "cover",
					 aview->algorithm == ALGORITHM_MONDRIAN ? "mondrian" : "datafly", aview->block_size);
	if (aview->materialized)
		appendStringInfo(text, "  materialized, kept by %s, chain \"%s\"\n",
						 aview->by_triggers ? "triggers" : "refresh", aview->chain ? aview->chain : "");
}

/* Append a column of the source. */
static void
aview_dump_column(StringInfo text, const AView *aview, int number)
{
	const AViewColumn *column = &aview->columns[number];

	appendStringInfo(text, "  %d \"%s\" type %u typmod %d collation %u", number, column->name, column->source_type,
					 column->source_typmod, column->source_collation);
	if (number < aview->ncolumns)
		appendStringInfo(text, ", %s%s", role_names[column->role], column->generalized ? ", generalized" : "");
	if (column->dgh)
		appendStringInfo(text, ", hierarchy \"%s\" %d generation %d", column->dgh_name, column->dgh->id,
						 column->dgh->generation);
	if (column->disclose >= 0 || column->retain >= 0 || column->level >= 0)
		appendStringInfo(text, ", choices disclose %d retain %d level %d", column->disclose, column->retain,
						 column->level);
	appendStringInfoChar(text, '\n');
}

/* Append the chain. */
static void
dump_steps(StringInfo text, const AView *aview)
{
	appendStringInfoString(text, "  steps");
	for (int i = 0; i < aview->nsteps; i++)
		appendStringInfo(text, " %s:%d", aview->columns[aview->quasi[aview->steps[i].column]].name,
						 aview->steps[i].level);
	appendStringInfoChar(text, '\n');
}

/* Print a definition: see aview.h.  The catalogs are not read, so that it can be called anywhere. */
void
aview_dump(const AView *aview)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "anonymization view %d: relation %u, owner %u, %d of %d columns\n", aview->id, aview->view,
					 aview->owner, aview->ncolumns, aview->nsource);
	dump_policy(&text, aview);
	if (aview->profile)
		appendStringInfo(&text, "  profile: purpose \"%s\", recipient \"%s\", found %d, k %d, shown %d, demand %d\n",
						 aview->profile->purpose, aview->profile->recipient, aview->profile->found, aview->profile->k,
						 aview->profile->shown, aview->profile->demand);
	for (int i = 0; i < aview->nsource; i++)
		aview_dump_column(&text, aview, i);
	dump_steps(&text, aview);
	/* As PostgreSQL's pprint() does; a debugger's user looks for it there. */
	fputs(text.data, stderr);
	fflush(stderr);
	pfree(text.data);
}
