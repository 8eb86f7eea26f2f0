/*
 * declare.c
 *		The definition of a hierarchy: one row of kanon.dgh, checked.
 *
 * The cache and the trigger on the table use the same code, so that a bad row is refused
 * however it is inserted.
 */
#include "base/kanon.h"

#include "hierarchy/catalog.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/numeric.h"
#include "utils/rel.h"

#include "base/extension.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"

PG_FUNCTION_INFO_V1(kanon_dgh_check);
PG_FUNCTION_INFO_V1(kanon_dgh_changed);

#define PREFIX_MAX_LENGTH DGH_MAX_HEIGHT

/* The names of units, by DateUnit. */
static const char *const unit_names[] = {"day", "month", "quarter", "year", "decade", "century"};

/* The names and operations of kinds, by DghKind. */
static const struct
{
	const char *name;
	const DghMethods *methods;
} kinds[] = {
	[DGH_TREE] = {"tree", &dgh_tree_methods},
	[DGH_INTERVAL] = {"interval", &dgh_interval_methods},
	[DGH_DATE] = {"date", &dgh_date_methods},
	[DGH_PREFIX] = {"prefix", &dgh_prefix_methods},
};

/* Raise the error that a definition breaks a rule. */
static pg_noreturn void
declare_error(const Dgh *dgh, const char *rule)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid definition of hierarchy \"%s\": %s", dgh->name, rule)));
}

/* Return a column that this kind of hierarchy needs; raise an error if it is null. */
static Datum
declare_column(HeapTuple row, TupleDesc desc, int column, const Dgh *dgh)
{
	bool isnull;
	Datum value = heap_getattr(row, column, desc, &isnull);

	if (isnull)
		declare_error(dgh, psprintf("%s must not be null",
									NameStr(TupleDescAttr(desc, column - 1)->attname)));
	return value;
}

/* Return the elements of an array that this kind of hierarchy needs; raise an error if there are none. */
static Datum *
declare_array(HeapTuple row, TupleDesc desc, int column, Oid type, const Dgh *dgh, int *count)
{
	ArrayType *array = DatumGetArrayTypeP(declare_column(row, desc, column, dgh));
	const char *name = NameStr(TupleDescAttr(desc, column - 1)->attname);
	Datum *elements;

	if (ARR_NDIM(array) != 1 || array_contains_nulls(array))
		declare_error(dgh, psprintf("%s must be a list without nulls, with at least one element", name));
	deconstruct_array(array, type, -1, false, TYPALIGN_INT, &elements, NULL, count);
	return elements;
}

/* Return the text of a number. */
static char *
declare_numeric_text(Numeric number)
{
	return DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(number)));
}

/* Return true if two numbers are in a relation: the SQL function of an operator. */
static bool
declare_numeric_is(PGFunction relation, Numeric a, Numeric b)
{
	return DatumGetBool(DirectFunctionCall2(relation, NumericGetDatum(a), NumericGetDatum(b)));
}

/* Set the origin and the widths as int64, if all of them are whole and far enough from the limits of the type. */
static void
declare_whole_widths(Dgh *dgh, int count)
{
	int64 *widths = palloc(count * sizeof(int64));

	for (int i = -1; i < count; i++)
	{
		Datum value = gen_numeric_interval(GEN_POINT, i < 0 ? dgh->origin : dgh->widths[i],
										   i < 0 ? dgh->origin : dgh->widths[i]);
		GenView view;

		gen_view(value, &view);
		if (view.kind != GEN_INT || view.ilo <= -DGH_SAFE_WHOLE || view.ilo >= DGH_SAFE_WHOLE)
			return;
		if (i < 0)
			dgh->int_origin = view.ilo;
		else
			widths[i] = view.ilo;
	}
	dgh->int_widths = widths;
}

/* Read the definition of intervals of numbers: each width is a multiple of the one before it. */
static void
declare_interval(HeapTuple row, TupleDesc desc, Dgh *dgh)
{
	Numeric zero = int64_to_numeric(0);
	int count;
	Datum *widths = declare_array(row, desc, Anum_dgh_widths, NUMERICOID, dgh, &count);

	if (count >= DGH_MAX_HEIGHT)
		declare_error(dgh, psprintf("there are %d widths, more than %d", count, DGH_MAX_HEIGHT - 1));
	dgh->origin = DatumGetNumericCopy(declare_column(row, desc, Anum_dgh_origin, dgh));
	dgh->widths = palloc(count * sizeof(Numeric));
	if (numeric_is_nan(dgh->origin) || numeric_is_inf(dgh->origin))
		declare_error(dgh, psprintf("the origin %s is not a finite number", declare_numeric_text(dgh->origin)));
	for (int i = 0; i < count; i++)
	{
		Numeric width = dgh->widths[i] = DatumGetNumericCopy(widths[i]);

		if (numeric_is_nan(width) || numeric_is_inf(width) || !declare_numeric_is(numeric_gt, width, zero))
			declare_error(dgh, psprintf("the width %s is not a positive number", declare_numeric_text(width)));
		if (i == 0)
			continue;
		if (!declare_numeric_is(numeric_gt, width, dgh->widths[i - 1]) ||
			!declare_numeric_is(numeric_eq, zero,
								DatumGetNumeric(DirectFunctionCall2(numeric_mod, NumericGetDatum(width),
																	NumericGetDatum(dgh->widths[i - 1])))))
			declare_error(dgh, psprintf("the width %s is not a larger multiple of the width %s before it",
										declare_numeric_text(width), declare_numeric_text(dgh->widths[i - 1])));
	}
	declare_whole_widths(dgh, count);
	dgh->height = count + 1;
}

/* Return the unit with a name; raise an error if there is none. */
static DateUnit
declare_unit(const Dgh *dgh, const char *name)
{
	for (int unit = 0; unit < (int) lengthof(unit_names); unit++)
	{
		if (pg_strcasecmp(name, unit_names[unit]) == 0)
			return (DateUnit) unit;
	}
	declare_error(dgh, psprintf("\"%s\" is not one of day, month, quarter, year, decade, century", name));
}

/*
 * Read the definition of calendar units.  Level 0 is the day in any case, so that a
 * first unit "day" adds no level.
 */
static void
declare_date(HeapTuple row, TupleDesc desc, Dgh *dgh)
{
	int count;
	Datum *units = declare_array(row, desc, Anum_dgh_units, TEXTOID, dgh, &count);
	int levels = 0;

	dgh->units = palloc(count * sizeof(DateUnit));
	for (int i = 0; i < count; i++)
	{
		DateUnit unit = declare_unit(dgh, TextDatumGetCString(units[i]));
		DateUnit below = levels > 0 ? dgh->units[levels - 1] : UNIT_DAY;

		if (unit < below || (unit == below && i > 0))
			declare_error(dgh, psprintf("the unit %s is not coarser than the unit before it",
										unit_names[unit]));
		Assert(levels < count);
		if (unit != UNIT_DAY)
			dgh->units[levels++] = unit;
	}
	dgh->height = levels + 1;
}

/* Read the definition of prefixes. */
static void
declare_prefix(HeapTuple row, TupleDesc desc, Dgh *dgh)
{
	int length = DatumGetInt32(declare_column(row, desc, Anum_dgh_length, dgh));

	dgh->mask = TextDatumGetCString(declare_column(row, desc, Anum_dgh_mask, dgh));
	if (length < 1 || length > PREFIX_MAX_LENGTH)
		declare_error(dgh, psprintf("the length %d is not between 1 and %d", length, PREFIX_MAX_LENGTH));
	if (pg_mbstrlen(dgh->mask) != 1)
		declare_error(dgh, psprintf("the mask \"%s\" is not a single character", dgh->mask));
	dgh->height = length;
}

/* Read the definition of a hierarchy, but not a tree's edges, in the current memory context; refuse a bad one. */
void
dgh_read_definition(HeapTuple row, TupleDesc desc, Dgh *dgh)
{
	char *kind;

	dgh->name = "";
	dgh->id = DatumGetInt32(declare_column(row, desc, Anum_dgh_id, dgh));
	dgh->name = TextDatumGetCString(declare_column(row, desc, Anum_dgh_name, dgh));
	dgh->generation = DatumGetInt32(declare_column(row, desc, Anum_dgh_generation, dgh));
	if (dgh->name[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("the name of a hierarchy must not be empty")));

	kind = TextDatumGetCString(declare_column(row, desc, Anum_dgh_kind, dgh));
	for (dgh->kind = DGH_TREE; dgh->kind < lengthof(kinds); dgh->kind++)
	{
		if (strcmp(kind, kinds[dgh->kind].name) == 0)
			break;
	}
	if (dgh->kind == lengthof(kinds))
		declare_error(dgh, psprintf("\"%s\" is not one of tree, interval, date, prefix", kind));
	dgh->methods = kinds[dgh->kind].methods;
	if (dgh->kind == DGH_INTERVAL)
		declare_interval(row, desc, dgh);
	else if (dgh->kind == DGH_DATE)
		declare_date(row, desc, dgh);
	else if (dgh->kind == DGH_PREFIX)
		declare_prefix(row, desc, dgh);
	Assert(dgh->kind == DGH_TREE || (dgh->height >= 1 && dgh->height <= DGH_MAX_HEIGHT));
	dgh->diameter = 2 * dgh->height;
}

/* Raise an error if another hierarchy has the name. */
static void
declare_check_name(const Dgh *dgh)
{
	HeapTuple other = dgh_fetch_row(dgh->name, 0, NULL);

	if (other && dgh_row_id(other) != dgh->id)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("hierarchy \"%s\" already exists", dgh->name)));
}

/*
 * Refuse an update that changes the id or the kind: a value refers to its hierarchy by
 * the id, and relies on the kind.
 */
static void
declare_check_update(HeapTuple old, TupleDesc desc, const Dgh *dgh)
{
	Dgh before = {0};

	dgh_read_definition(old, desc, &before);
	if (before.id != dgh->id)
		declare_error(dgh, psprintf("the id %d cannot change", before.id));
	if (before.kind != dgh->kind)
		declare_error(dgh, psprintf("the kind %s cannot change", kinds[before.kind].name));
}

/* Return a copy of a row with the next number of a sequence in a column. */
static HeapTuple
declare_next_number(HeapTuple row, TupleDesc desc, int column, const char *sequence)
{
	Datum value = Int32GetDatum((int32) nextval_internal(kanon_relation(sequence), false));
	bool isnull = false;

	return heap_modify_tuple_by_cols(row, desc, 1, &column, &value, &isnull);
}

/*
 * Refuse a bad definition, and give a good one its id and its generation, which no row has
 * had before: the trigger BEFORE INSERT OR UPDATE of kanon.dgh, FOR EACH ROW.
 */
Datum
kanon_dgh_check(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = kanon_trigger(fcinfo, DGH_TABLE, true);
	TupleDesc desc = RelationGetDescr(trigger->tg_relation);
	bool update = TRIGGER_FIRED_BY_UPDATE(trigger->tg_event);
	HeapTuple row = update ? trigger->tg_newtuple : trigger->tg_trigtuple;
	Dgh dgh = {0};

	row = declare_next_number(row, desc, Anum_dgh_generation, DGH_GENERATION_SEQUENCE);
	if (!update && heap_attisnull(row, Anum_dgh_id, desc))
		row = declare_next_number(row, desc, Anum_dgh_id, DGH_SERIAL_SEQUENCE);
	dgh_read_definition(row, desc, &dgh);
	if (update)
		declare_check_update(trigger->tg_trigtuple, desc, &dgh);
	declare_check_name(&dgh);
	return PointerGetDatum(row);
}

/*
 * Make all backends check their hierarchies again: the trigger AFTER any change of
 * kanon.dgh, FOR EACH STATEMENT. The message is sent at commit, and dropped at rollback.
 */
Datum
kanon_dgh_changed(PG_FUNCTION_ARGS)
{
	CacheInvalidateRelcache(kanon_trigger(fcinfo, DGH_TABLE, false)->tg_relation);
	return PointerGetDatum(NULL);
}
