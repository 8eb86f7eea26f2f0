/*
 * chain.c
 *		A chain of steps as a nesting of cells: each step raises one column by one level.
 *
 * A place is the code of each column at the step's levels.
 */
#include "base/kanon.h"

#include "recode/chain.h"

#include "recode/dictionary.h"
#include "recode/recode.h"

/* Return the level of a column after a step. */
static inline int
chain_level(const Recoder *recoder, int step, int column)
{
	return recoder->levels[step * recoder->ncolumns + column];
}

/* Set the place of a class at a step. */
static void
chain_locate(const Recoder *recoder, int step, const int32 *codes, int32 *place)
{
	for (int i = 0; i < recoder->ncolumns; i++)
		place[i] = dictionary_climb(recoder->columns[i], codes[i], 0, chain_level(recoder, step, i));
}

/* Move a place of the step before to a step. */
static void
chain_climb(const Recoder *recoder, int step, int32 *place)
{
	RecodeStep taken = recoder->steps[step - 1];

	Assert(step >= 1 && step <= recoder->nsteps);
	place[taken.column] = recoder->columns[taken.column]->levels[taken.level - 1].parent[place[taken.column]];
}

/* Return the first step in whose cells rows are published: the cells of a chain are complete from the start. */
static int
chain_due(const Recoder *recoder, const int32 *place)
{
	return recoder->first_step;
}

/* Return the value of a column in a cell. */
static CellValue
chain_value(const Recoder *recoder, int step, const int32 *place, int column)
{
	int level = chain_level(recoder, step, column);

	Assert(column >= 0 && column < recoder->ncolumns);
	Assert(place[column] >= 0 && place[column] < recoder->columns[column]->levels[level].ncodes);
	return (CellValue){
		.value = recoder->columns[column]->levels[level].values[place[column]],
		.isnull = level == 0 && place[column] == NULL_CODE,
		.raw = level == 0,
	};
}

static const Nesting chain_nesting = {
	.classes_apart = true,
	.locate = chain_locate,
	.climb = chain_climb,
	.due = chain_due,
	.value = chain_value,
};

/* Set up a recoder's nesting and width, and the levels of all columns after each step. */
void
chain_prepare(Recoder *recoder)
{
	int width = recoder->ncolumns;

	recoder->nesting = &chain_nesting;
	recoder->width = width;
	recoder->levels = palloc0((Size) (recoder->nsteps + 1) * Max(width, 1) * sizeof(int16));
	for (int step = 1; step <= recoder->nsteps; step++)
	{
		int16 *levels = recoder->levels + step * width;

		memcpy(levels, levels - width, width * sizeof(int16));
		/* Steps of a column follow each other level by level: chain_climb() looks one level up. */
		Assert(recoder->steps[step - 1].level == levels[recoder->steps[step - 1].column] + 1);
		levels[recoder->steps[step - 1].column] = recoder->steps[step - 1].level;
	}
}
