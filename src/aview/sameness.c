/*
 * sameness.c
 *		Which values of a column are one value.
 */
#include "base/kanon.h"

#include "aview/sameness.h"

#include "catalog/pg_type.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "aview/aview.h"
#include "base/extension.h"
#include "base/typekind.h"
#include "base/valuecodes.h"
#include "hierarchy/generalized.h"
#include "recode/ldiversity.h"

/* Return true if values of a column may cover each other. */
bool
values_may_cover(const AViewColumn *column)
{
	return column->dgh || getBaseType(column->source_type) == kanon_generalized_type();
}

/* Return true if labels of a column's hierarchy can be read as values of its type as they are. */
static bool
has_text_values(const AViewColumn *column)
{
	Oid type = getBaseType(column->source_type);
	TypeKind kind = typekind_of_base(type);

	return kind == TYPEKIND_TEXT || kind == TYPEKIND_PADDED || IsBinaryCoercible(type, TEXTOID);
}

/* Return true if two values of a column are equal just where they have one code in its dictionary. */
static bool
codes_tell_equality(const AViewColumn *column)
{
	Oid type = getBaseType(column->source_type);

	switch (typekind_of_base(type))
	{
		case TYPEKIND_TEXT:
		case TYPEKIND_PADDED:
		case TYPEKIND_NAME:
			return !OidIsValid(column->source_collation) || get_collation_isdeterministic(column->source_collation);
		case TYPEKIND_TIMESTAMP:
			/* A code stands for a day: a hierarchy publishes no more. */
			return column->dgh != NULL;
		case TYPEKIND_OTHER:
			return type == kanon_generalized_type();
		default:
			return true;
	}
}

/* Return codes for raw values of a column, where its dictionary's codes do not tell which are equal; else NULL. */
ValueCodes *
sameness_create(const AViewColumn *column)
{
	if (codes_tell_equality(column))
		return NULL;
	return valuecodes_create_for_any(getBaseType(column->source_type), column->source_collation);
}

/* Note which codes of the rule's dictionary are equal to a code. */
void
sameness_learn(const AViewColumn *column, ValueCodes *equal, DiversityRule *rule, int32 code, int level, Datum value)
{
	if (has_text_values(column))
	{
		GenView view;
		const char *label;
		int len;

		if (code < rule->nsame && rule->same[code] >= 0)
			return;
		gen_view(rule->dictionary->levels[0].values[code], &view);
		label = gen_text(&view, &len);
		value = PointerGetDatum(cstring_to_text_with_len(label, len));
	}
	else if (level > 0)
		return;
	diversity_equate(rule, code, valuecodes_code(equal, value, false));
}
