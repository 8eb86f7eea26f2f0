/*
 * lookup.c
 *		Looking for the rows of cells, as long as that is worth it.
 *
 * Nobody knows before how many cells have to be looked for, or how large they are:
 * one rare row may need a cell as large as the table.  So what is spent is added
 * up.  It is never more than counting the whole source costs, or some milliseconds:
 * should that have to be done after all, both together cost twice as much as the
 * better plan at worst.
 * Mostly it is less, since nothing is spent on a cell where the others that are
 * known to be needed could not be paid for.
 */
#include "base/kanon.h"

#include "anonymize/lookup.h"

#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "anonymize/anonymizer.h"
#include "anonymize/costs.h"
#include "source/layout.h"
#include "source/source.h"

/* Some milliseconds: so little is not worth a thought. */
#define ALWAYS_WORTHWHILE 2000

/* Whoever asks for this plan gets it, unless it is much the worse one. */
#define MUCH_WORSE 4

/* A query for the cells of a step, without its constants. */
typedef struct CellQuery
{
	MemoryContext context;
	const RowLayout *layout;
	List *conditions;
	SourcePlan *plan;
} CellQuery;

struct Lookup
{
	Anonymizer *anonymizer;
	MemoryContext context;
	CellQuery *queries; /* by step: the last of each */
	const Plan *source; /* reading everything; null: what follows is not known yet */
	Cost coding;		/* a row */
	Cost limit;			/* what may be spent */
	Cost spent;

	/* Of cells that are about as large as each other. */
	double left;
	int found;
	Cost found_for;
};

Lookup *
lookup_create(Anonymizer *anonymizer)
{
	Lookup *lookup = palloc0(sizeof(Lookup));

	lookup->anonymizer = anonymizer;
	lookup->context = CurrentMemoryContext;
	lookup->queries = palloc0((anonymizer->recoder->nsteps + 1) * sizeof(CellQuery));
	return lookup;
}

void
lookup_expect_cells(Lookup *lookup, double cells)
{
	lookup->left = cells;
	lookup->found = 0;
	lookup->found_for = 0;
}

static void
learn_costs(Lookup *lookup)
{
	Anonymizer *anonymizer = lookup->anonymizer;
	MemoryContext old = MemoryContextSwitchTo(lookup->context);
	Query *all = source_query(anonymizer->aview, anonymizer->counted.columns, NIL, NIL);

	lookup->source = source_plan(all, false, NULL)->planTree;
	lookup->coding = cost_of_coding(anonymizer->aview);
	lookup->limit = cost_of_counting(anonymizer->aview, lookup->source) * (kanon_plan == CHOOSE_SELECT_FIRST ? MUCH_WORSE : 1);
	lookup->limit = Max(lookup->limit, ALWAYS_WORTHWHILE);
	MemoryContextSwitchTo(old);
}

/* May this much still be spent?  Then it is. */
static bool
spend(Lookup *lookup, Cost cost)
{
	if (lookup->spent + cost > lookup->limit)
		return false;
	lookup->spent += cost;
	return true;
}

/* The same for a cell, if the others will cost no more than can be spent on them either. */
static bool
spend_on_cell(Lookup *lookup, const Plan *plan)
{
	Cost cost = cost_of_starting() + cost_of_lookup(lookup->source, plan);
	Cost usual;

	lookup->found++;
	lookup->found_for += cost + plan->plan_rows * lookup->coding;
	lookup->left--;
	usual = lookup->found_for / lookup->found;
	return lookup->spent + cost + Max(lookup->left, 0) * usual <= lookup->limit && spend(lookup, cost);
}

typedef struct Constants
{
	List *found; /* Consts */
} Constants;

/* Conditions with a parameter for each constant that a column is compared with.  Lists of them are part of the plan. */
static Node *
without_constants(Node *node, void *context)
{
	Constants *constants = context;
	Const *constant = (Const *) node;
	Param *param;

	if (node == NULL || IsA(node, ScalarArrayOpExpr))
		return copyObject(node);
	if (!IsA(node, Const))
		return expression_tree_mutator(node, without_constants, context);
	constants->found = lappend(constants->found, constant);
	param = makeNode(Param);
	param->paramkind = PARAM_EXTERN;
	param->paramid = list_length(constants->found);
	param->paramtype = constant->consttype;
	param->paramtypmod = constant->consttypmod;
	param->paramcollid = constant->constcollid;
	param->location = -1;
	return (Node *) param;
}

static ParamListInfo
as_parameters(const Constants *constants)
{
	ParamListInfo params = makeParamList(list_length(constants->found));
	ListCell *cell;

	foreach (cell, constants->found)
	{
		Const *constant = lfirst(cell);
		ParamExternData *param = &params->params[foreach_current_index(cell)];

		param->value = constant->constvalue;
		param->isnull = constant->constisnull;
		param->ptype = constant->consttype;
		param->pflags = PARAM_FLAG_CONST;
	}
	return params;
}

/* The query of a step for some conditions: often that of the last cell, with other constants. */
static SourcePlan *
prepare(Lookup *lookup, const RowLayout *layout, int step, List *conditions)
{
	CellQuery *query = &lookup->queries[step];
	MemoryContext old;

	if (query->plan && query->layout == layout && equal(query->conditions, conditions))
		return query->plan;
	if (query->context)
		MemoryContextDelete(query->context);
	query->context = AllocSetContextCreate(lookup->context, "kanon cell query", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(query->context);
	query->layout = layout;
	query->conditions = copyObject(conditions);
	query->plan = source_prepare(source_query(lookup->anonymizer->aview, layout->columns, query->conditions, NIL));
	MemoryContextSwitchTo(old);
	return query->plan;
}

SourceRun *
lookup_start(Lookup *lookup, const RowLayout *layout, int step, List *conditions)
{
	Constants constants = {NIL};
	ParamListInfo params;
	PlannedStmt *plan;
	bool planned;

	if (conditions == NIL)
		return NULL;
	if (lookup->source == NULL)
		learn_costs(lookup);
	conditions = (List *) without_constants((Node *) conditions, &constants);
	params = as_parameters(&constants);
	plan = source_choose(prepare(lookup, layout, step, conditions), params, &planned);
	if ((planned && !spend(lookup, cost_of_planning())) || !spend_on_cell(lookup, plan->planTree))
		return NULL;
	return source_start(plan, params, lookup->anonymizer->snapshot);
}

bool
lookup_goes_on(Lookup *lookup)
{
	return spend(lookup, lookup->coding);
}
