/*
 * outlier_find.c
 *		kanon.outliers: the (p,d)-outliers of a source.
 */
#include "base/kanon.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "base/progress.h"
#include "release/plain/outlier.h"
#include "release/plain/outlier_count.h"

PG_FUNCTION_INFO_V1(kanon_outliers);

/*
 * Return the outliers as (id, kind): outliers(source, id, quasi_ids, sensitive, p, d).  An
 * outlier by its sensitive value alone is global, any other local.
 */
Datum
kanon_outliers(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Space *space;
	double *point;
	bool *global;

	progress_start(fcinfo);
	kanon_materialize(fcinfo);
	space = space_read(fcinfo, 4, 5);
	point = palloc(space->ncolumns * sizeof(double));
	global = space_global_values(space);
	progress_phase(PHASE_CHECKING, space->nrows);
	for (int row = 0; row < space->nrows; row++)
	{
		bool is_global = global[space->value_of[row]];

		space_point(space, row, point);
		if (is_global || point_is_outlier(space, point))
		{
			Datum values[2] = {CStringGetTextDatum(space_id(space, row)),
							   CStringGetTextDatum(is_global ? "global" : "local")};
			bool nulls[2] = {false, false};

			tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
			pfree(DatumGetPointer(values[0]));
			pfree(DatumGetPointer(values[1]));
		}
		if (row % 1000 == 0)
			progress_done(row);
	}
	progress_end();
	return (Datum) 0;
}
