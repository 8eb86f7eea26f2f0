/*
 * chain.c
 *		A chain of cells: each step raises one column by one level.
 *
 * A place is the code of each column at the step's levels.
 */
#include "base/kanon.h"

#include "recode/recode.h"

#include "recode/dictionary.h"

static inline int
level_at(const Recoder *recoder, int step, int column)
{
	return recoder->levels[step * recoder->ncolumns + column];
}

static void
chain_locate(const Recoder *recoder, int step, const int32 *codes, int32 *place)
{
	for (int i = 0; i < recoder->ncolumns; i++)
		place[i] = dictionary_climb(recoder->columns[i], codes[i], 0, level_at(recoder, step, i));
}

static void
chain_climb(const Recoder *recoder, int step, int32 *place)
{
	RecodeStep taken = recoder->steps[step - 1];

	place[taken.column] = recoder->columns[taken.column]->levels[taken.level - 1].parent[place[taken.column]];
}

static int
chain_due(const Recoder *recoder, const int32 *place)
{
	return 0;
}

static CellValue
chain_value(const Recoder *recoder, int step, const int32 *place, int column)
{
	int level = level_at(recoder, step, column);

	return (CellValue){
		.value = recoder->columns[column]->levels[level].values[place[column]],
		.isnull = level == 0 && place[column] == NULL_CODE,
		.raw = level == 0,
	};
}

const Nesting chain_nesting = {
	.classes_apart = true,
	.locate = chain_locate,
	.climb = chain_climb,
	.due = chain_due,
	.value = chain_value,
};

/* The levels of all columns after each step. */
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
		levels[recoder->steps[step - 1].column] = recoder->steps[step - 1].level;
	}
}
