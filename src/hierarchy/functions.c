/*
 * functions.c
 *		SQL functions on hierarchies: generalize, generalized, dgh_path, dgh_distance,
 *		drop_dgh.
 */
#include "base/kanon.h"

#include "hierarchy/catalog.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"

PG_FUNCTION_INFO_V1(kanon_generalize);
PG_FUNCTION_INFO_V1(kanon_bind);
PG_FUNCTION_INFO_V1(kanon_dgh_path);
PG_FUNCTION_INFO_V1(kanon_dgh_distance);
PG_FUNCTION_INFO_V1(kanon_drop_dgh);

/*
 * Return the hierarchy that a call names.  A function that is called once per row looks
 * the hierarchy up once, and again only if hierarchies have changed in between.
 */
static Dgh *
named_dgh(FunctionCallInfo fcinfo, int argument)
{
	text *name = PG_GETARG_TEXT_PP(argument);
	DghHold *last = fcinfo->flinfo->fn_extra;

	if (last == NULL)
		last = fcinfo->flinfo->fn_extra = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(DghHold));
	if (last->dgh == NULL || !last->dgh->checked || strlen(last->dgh->name) != VARSIZE_ANY_EXHDR(name) ||
		memcmp(last->dgh->name, VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name)) != 0)
		dgh_hold(last, dgh_get(text_to_cstring(name)), fcinfo->flinfo->fn_mcxt);
	return last->dgh;
}

/* Return the value of a text in a hierarchy. */
static Datum
text_to_value(Dgh *dgh, text *value)
{
	return dgh_resolve(dgh, gen_parse(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)));
}

/* Return a value's generalization: generalize(dgh, value, level).  NULL is a leaf directly below the root. */
Datum
kanon_generalize(PG_FUNCTION_ARGS)
{
	Dgh *dgh;
	int level;
	bool at_root;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	dgh = named_dgh(fcinfo, 0);
	level = PG_GETARG_INT32(2);
	if (level < 0 || level > dgh->height)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("level %d is out of range for hierarchy \"%s\"", level, dgh->name),
				 errdetail("Its levels are 0 to %d.", dgh->height)));
	if (!PG_ARGISNULL(1))
		PG_RETURN_DATUM(dgh_climb(dgh, text_to_value(dgh, PG_GETARG_TEXT_PP(1)), level, &at_root));
	if (level == 0)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(dgh_root(dgh));
}

/* Return a text form as a value of a hierarchy: generalized(value, dgh). */
Datum
kanon_bind(PG_FUNCTION_ARGS)
{
	Dgh *dgh = named_dgh(fcinfo, 1);

	PG_RETURN_DATUM(text_to_value(dgh, PG_GETARG_TEXT_PP(0)));
}

/* Return every step from a value to the root: dgh_path(dgh, value). */
Datum
kanon_dgh_path(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Dgh *dgh;
	Datum value;
	bool nulls[2] = {false, PG_ARGISNULL(1)};
	bool at_root = false;

	kanon_materialize(fcinfo);
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	dgh = named_dgh(fcinfo, 0);
	value = nulls[1] ? (Datum) 0 : text_to_value(dgh, PG_GETARG_TEXT_PP(1));
	for (int level = 0; !at_root; level++)
	{
		Datum values[2] = {Int32GetDatum(level)};

		if (PG_ARGISNULL(1))
		{
			at_root = level == 1;
			nulls[1] = !at_root;
			values[1] = at_root ? dgh_root(dgh) : (Datum) 0;
		}
		else
			values[1] = dgh_climb(dgh, value, level, &at_root);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* Return the edges between two values, divided by the most edges that there can be: dgh_distance(dgh, a, b). */
Datum
kanon_dgh_distance(PG_FUNCTION_ARGS)
{
	Dgh *dgh = named_dgh(fcinfo, 0);
	Datum a = text_to_value(dgh, PG_GETARG_TEXT_PP(1));
	Datum b = text_to_value(dgh, PG_GETARG_TEXT_PP(2));

	Assert(dgh->diameter > 0);
	PG_RETURN_FLOAT8((float8) dgh_edges_between(dgh, a, b) / dgh->diameter);
}

/* Delete a hierarchy and its edges: drop_dgh(name). */
Datum
kanon_drop_dgh(PG_FUNCTION_ARGS)
{
	char *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	Oid types[1] = {TEXTOID};
	Datum values[1] = {PG_GETARG_DATUM(0)};

	if (dgh_fetch_row(name, 0, NULL) == NULL)
		dgh_missing(name);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args("DELETE FROM kanon.dgh WHERE name OPERATOR(pg_catalog.=) $1",
							  1, types, values, NULL, false, 0) != SPI_OK_DELETE)
		elog(ERROR, "could not delete hierarchy \"%s\"", name);
	SPI_finish();
	PG_RETURN_VOID();
}
