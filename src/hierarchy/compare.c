/*
 * compare.c
 *		Arguments of any type for comparisons, and the lookup of values in each other's
 *		hierarchies.
 */
#include "base/kanon.h"

#include "hierarchy/compare.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datum.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/typekind.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"

/* Operands other than names are passed by value or are varlenas. */
StaticAssertDecl(FLOAT8PASSBYVAL, "kanon needs a 64-bit server");

/* Digits that an int64 surely holds. */
#define WHOLE_DIGITS 18

/* Zeros that a number in a tree may end with. */
#define MAX_ZEROS 16

/* Note which of two arguments is a constant in the expression that is evaluated, if one is. */
static void
comparison_find_constant(Comparison *comparison, const Node *call)
{
	List *arguments = call && IsA(call, OpExpr)		? ((const OpExpr *) call)->args
					  : call && IsA(call, FuncExpr) ? ((const FuncExpr *) call)->args
													: NIL;

	comparison->constant = -1;
	for (int i = 0; i < 2 && list_length(arguments) == 2; i++)
	{
		const Const *argument = list_nth(arguments, i);

		if (!IsA(argument, Const) || argument->constisnull || !comparison->operands[1 - i].is_generalized)
			continue;
		comparison->constant = i;
		comparison->constant_value = argument->constvalue;
	}
}

/* Make the comparison of a function call.  The declared types of the arguments are the same for all calls. */
Comparison *
comparison_make(FunctionCallInfo fcinfo)
{
	Comparison *comparison = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Comparison));
	Oid *types;
	int count;

	comparison->context = fcinfo->flinfo->fn_mcxt;
	comparison->collation = PG_GET_COLLATION();
	(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &count);
	Assert(count >= 2 && count <= COMPARISON_MAX_ARGS);
	for (int i = 0; i < Min(count, COMPARISON_MAX_ARGS); i++)
	{
		Operand *operand = &comparison->operands[i];

		operand->type = types[i];
		operand->is_name = operand->type == NAMEOID;
		if (operand->is_name)
			operand->type = TEXTOID;
		operand->by_value = get_typbyval(operand->type);
		operand->is_generalized = !operand->by_value && operand->type != TEXTOID && operand->type != NUMERICOID;
		if (operand->type == FLOAT4OID || operand->type == FLOAT8OID)
		{
			Oid output;
			bool is_varlena;

			getTypeOutputInfo(operand->type, &output, &is_varlena);
			fmgr_info_cxt(output, &operand->output, comparison->context);
		}
	}
	comparison->both_generalized = comparison->operands[0].is_generalized && comparison->operands[1].is_generalized;
	comparison_find_constant(comparison, fcinfo->flinfo->fn_expr);
	comparison->number = -1;
	for (int i = 0; i < 2; i++)
	{
		if (comparison->operands[i].type == NUMERICOID && comparison->operands[1 - i].is_generalized)
			comparison->number = i;
	}
	fcinfo->flinfo->fn_extra = comparison;
	return comparison;
}

/* Make the value of a day. */
static Datum
operand_day(DateADT date, uint8 flags)
{
	return gen_whole_interval(GEN_DATE, GEN_POINT | flags, date, date);
}

/* Return an argument as a generalized value. */
static Datum
operand_convert(Operand *operand, Datum value)
{
	int64 whole;

	switch (typekind_of_base(operand->type))
	{
		case TYPEKIND_INTEGER:
			whole = typekind_integer(operand->type, value);
			return gen_whole_interval(GEN_INT, GEN_POINT, whole, whole);
		case TYPEKIND_NUMERIC:
			return gen_numeric_interval(GEN_POINT, DatumGetNumeric(value), DatumGetNumeric(value));
		case TYPEKIND_TEXT:
			return gen_parse(VARDATA_ANY(DatumGetPointer(value)), VARSIZE_ANY_EXHDR(DatumGetPointer(value)));
		case TYPEKIND_DATE:
			return operand_day(typekind_day(operand->type, value), 0);
		case TYPEKIND_TIMESTAMP:
			return operand_day(typekind_day(operand->type, value), GEN_MOMENT);
		case TYPEKIND_BOOLEAN:
			return gen_label(DatumGetBool(value) ? "t" : "f", 1, 0);
		default:
			return gen_from_number(OutputFunctionCall(&operand->output, value));
	}
}

/* Return true if an argument is equal to that of the call before. */
static inline bool
operand_is_known(const Operand *operand, Datum raw)
{
	if (!operand->known)
		return false;
	if (operand->by_value)
		return operand->raw == raw;
	return VARSIZE_ANY(DatumGetPointer(raw)) == operand->raw_size &&
		   memcmp(DatumGetPointer(raw), DatumGetPointer(operand->raw), operand->raw_size) == 0;
}

/*
 * Convert an argument, and finding_remember it.  Only the results are allocated in the
 * comparison's context, since a join may come here once per row.
 */
static pg_noinline void
operand_learn(Comparison *comparison, Operand *operand, Datum raw)
{
	Datum value = operand_convert(operand, raw);
	MemoryContext old = MemoryContextSwitchTo(comparison->context);

	if (operand->known)
	{
		operand->known = false;
		if (!operand->by_value)
			pfree(DatumGetPointer(operand->raw));
		gen_view_free(&operand->view);
		pfree(DatumGetPointer(operand->value));
	}
	operand->value = datumCopy(value, false, -1);
	gen_view(operand->value, &operand->view);
	operand->raw_size = operand->by_value ? 0 : VARSIZE_ANY(DatumGetPointer(raw));
	operand->raw = operand->by_value ? raw : datumCopy(raw, false, -1);
	MemoryContextSwitchTo(old);
	operand->is_fraction = operand->type == NUMERICOID && operand->view.kind == GEN_NUMERIC && operand->view.nlo &&
						   gen_floor(operand->view.nlo, &operand->floor);
	operand->known = true;
}

/* Return an argument that is not of the type generalized as a generalized value taken apart. */
const GenView *
comparison_operand(Comparison *comparison, int which, Datum raw)
{
	Operand *operand = &comparison->operands[which];

	Assert(which >= 0 && which < COMPARISON_MAX_ARGS && !operand->is_generalized);
	if (operand->is_name)
		raw = CStringGetTextDatum(NameStr(*DatumGetName(raw)));
	else if (!operand->by_value)
		raw = PointerGetDatum(PG_DETOAST_DATUM_PACKED(raw));
	if (!operand_is_known(operand, raw))
		operand_learn(comparison, operand, raw);
	return &operand->view;
}

/* Find the hierarchy of one side's value, and keep it alive; NULL if there is none. */
Dgh *
comparison_go_home(Comparison *comparison, int side, int32 id)
{
	Home *home = &comparison->homes[side];
	uint64 epoch;

	Assert(side == 0 || side == 1);
	home->id = 0;
	AcceptInvalidationMessages();
	epoch = dgh_epoch(); /* a change announced during the lookup may be too late for it */
	dgh_hold(&home->hold, dgh_find_by_id(id), comparison->context);
	home->id = id;
	home->epoch = epoch;
	return home->hold.dgh;
}

/* Return true if two values that are looked up are the same. */
static bool
finding_same_source(const GenView *source, const GenView *view)
{
	if (source->kind != view->kind || source->flags != view->flags)
		return false;
	switch ((GenKind) view->kind)
	{
		case GEN_INT:
		case GEN_DATE:
			return source->ilo == view->ilo && source->ihi == view->ihi;
		case GEN_NODE:
		case GEN_PREFIX:
			if (source->dgh != view->dgh || source->generation != view->generation)
				return false;
			/* FALLTHROUGH */
		case GEN_LABEL:
			return source->len == view->len && memcmp(source->label, view->label, view->len) == 0;
		default:
			return false;
	}
}

/* Free the values of a finding. */
static void
finding_forget(Finding *finding)
{
	finding->known = false;
	if (finding->source.label)
		pfree((char *) finding->source.label);
	finding->source.label = NULL;
	if (finding->value)
	{
		gen_view_free(&finding->view);
		pfree(DatumGetPointer(finding->value));
	}
	finding->value = (Datum) 0;
}

/* Copy a value that was looked up, and the value found, into the comparison's context. */
static pg_noinline void
finding_remember(Comparison *comparison, Finding *finding, const GenView *source, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(comparison->context);

	finding_forget(finding);
	finding->source = *source;
	finding->source.label = NULL;
	if (source->kind == GEN_LABEL || GEN_IS_BOUND(source))
		finding->source.label = pnstrdup(source->label, source->len);
	if (value)
	{
		finding->value = datumCopy(value, false, -1);
		gen_view(finding->value, &finding->view);
	}
	finding->known = true;
	MemoryContextSwitchTo(old);
}

/* Find a number that a tree has with zeros at its end, as numerics with a scale are written. */
static bool
find_with_zeros(Dgh *dgh, const GenView *number, Datum *result)
{
	GenView label = {.kind = GEN_LABEL};
	GenView found;
	StringInfoData text;

	Assert(dgh->kind == DGH_TREE && GEN_IS_NUMBER(number));
	initStringInfo(&text);
	label.label = gen_text(number, &label.len);
	appendBinaryStringInfo(&text, label.label, label.len);
	if (strchr(text.data, '.') == NULL)
		appendStringInfoChar(&text, '.');
	for (int zeros = 0; zeros < MAX_ZEROS; zeros++)
	{
		appendStringInfoChar(&text, '0');
		label.label = text.data;
		label.len = text.len;
		*result = dgh->methods->resolve(dgh, &label);
		gen_view(*result, &found);
		if (!(found.flags & GEN_UNKNOWN))
			return true;
	}
	return false;
}

/*
 * Return a value as a hierarchy has it.  If the hierarchy has changed and no longer
 * knows an inner node, the node may have stood for any value.
 */
static pg_noinline Datum
finding_look_up(Dgh *dgh, const GenView *view)
{
	Datum value = dgh->methods->resolve(dgh, view);
	Datum other;
	GenView found;

	gen_view(value, &found);
	if (!(found.flags & GEN_UNKNOWN))
		return value;
	if (GEN_IS_BOUND(view) && view->dgh == dgh->id && !gen_is_itself(view))
		return gen_any(dgh->id);
	if (dgh->kind == DGH_TREE && GEN_IS_NUMBER(view) && gen_is_point(view) && find_with_zeros(dgh, view, &other))
		return other;
	return value;
}

/* Return a value as a hierarchy has it, which may be known from the call before. */
const GenView *
comparison_look_up(Comparison *comparison, Finding *finding, Dgh *dgh, const GenView *view)
{
	if (view->kind == GEN_ANY)
		return view;
	if (!finding->known || finding->dgh != dgh->id || finding->generation != dgh->generation ||
		!finding_same_source(&finding->source, view))
	{
		finding_remember(comparison, finding, view, finding_look_up(dgh, view));
		finding->dgh = dgh->id;
		finding->generation = dgh->generation;
	}
	return &finding->view;
}

/* Return a label as a number or an interval of numbers, or else of dates; NULL if it spells none. */
const GenView *
comparison_reread(Comparison *comparison, int side, const GenView *label, bool numbers)
{
	Finding *finding = &comparison->readings[side][numbers ? 1 : 0];
	Datum value;

	Assert(side >= 0 && side < COMPARISON_MAX_ARGS);
	if (!finding->known || !finding_same_source(&finding->source, label))
		finding_remember(comparison, finding, label,
						 gen_reread(label->label, label->len, numbers, &value) ? value : (Datum) 0);
	return finding->value ? &finding->view : NULL;
}

/*
 * Find the numbers that a code of digits stands for, where a masked one may be any
 * digit; return false for other codes.
 */
bool
comparison_digits(const GenView *view, GenView *extent)
{
	int masked = pg_mbstrlen_with_len(view->label + view->lo, view->len - view->lo);
	StringInfoData lowest;
	StringInfoData highest;
	int64 lo = 0;
	int64 hi;

	Assert(view->kind == GEN_PREFIX && view->lo <= view->len);
	for (int i = 0; i < view->lo; i++)
	{
		if (view->label[i] < '0' || view->label[i] > '9')
			return false;
		lo = i < WHOLE_DIGITS ? lo * 10 + view->label[i] - '0' : 0;
	}
	if (view->lo + masked <= WHOLE_DIGITS)
	{
		hi = lo;
		for (int i = 0; i < masked; i++)
		{
			lo *= 10;
			hi = hi * 10 + 9;
		}
		*extent = (GenView){.kind = GEN_INT, .flags = GEN_POINT, .ilo = lo, .ihi = hi};
		return true;
	}

	initStringInfo(&lowest);
	initStringInfo(&highest);
	appendBinaryStringInfo(&lowest, view->label, view->lo);
	appendBinaryStringInfo(&highest, view->label, view->lo);
	for (int i = 0; i < masked; i++)
	{
		appendStringInfoChar(&lowest, '0');
		appendStringInfoChar(&highest, '9');
	}
	gen_view(gen_numeric_interval(GEN_POINT, gen_number(lowest.data), gen_number(highest.data)), extent);
	return true;
}
