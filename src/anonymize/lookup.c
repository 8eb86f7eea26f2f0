/*
 * lookup.c
 *		Looking up the rows of cells, as long as that is worth it.
 *
 * The number of cells that have to be looked up, and their size, are not known
 * before: one rare row may need a cell as large as the table.  So the costs of all
 * queries are added up, and limited to the cost of counting the whole source, or to
 * some milliseconds.  Should the source have to be counted after all, lookup and
 * counting together cost at most twice as much as the better plan.  Mostly they cost
 * less, since no cell is looked up unless the limit allows for all other cells that
 * are known to be needed, too.
 */
#include "base/kanon.h"

#include "anonymize/lookup.h"

#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "anonymize/anonymizer.h"
#include "anonymize/anonymizer_private.h"
#include "anonymize/costs.h"
#include "aview/refusal.h"
#include "source/layout.h"
#include "source/source.h"

/* The least limit: some milliseconds, too little to decide anything by. */
#define ALWAYS_WORTHWHILE 2000

/* The limit, in costs of counting the source, where the setting kanon.plan asks for select first. */
#define MUCH_WORSE 4

/* A query for the cells of a step, with parameters for its constants. */
typedef struct CellQuery
{
	MemoryContext context; /* of the plan and the conditions; NULL: there is no query yet */
	const RowLayout *layout;
	List *conditions;
	SourcePlan *plan;
} CellQuery;

struct Lookup
{
	Anonymizer *anonymizer;
	MemoryContext context; /* of the lookup and its plans */
	CellQuery *queries;	   /* by step: the last one */
	const Plan *source;	   /* the plan that reads the whole source; NULL: the costs are not known yet */
	Cost coding;		   /* of a row */
	Cost limit;			   /* of all that is spent */
	Cost spent;			   /* on all cells so far */

	/* Since the last call of lookup_expect_cells(). */
	double left;	/* cells that are still expected */
	int found;		/* cells that have been looked up */
	Cost found_for; /* their expected costs */
};

/* Create a lookup. */
Lookup *
lookup_create(Anonymizer *anonymizer)
{
	Lookup *lookup = palloc0(sizeof(Lookup));

	lookup->anonymizer = anonymizer;
	lookup->context = CurrentMemoryContext;
	lookup->queries = palloc0((anonymizer->recoder->nsteps + 1) * sizeof(CellQuery));
	return lookup;
}

/* Expect a number of cells from now on. */
void
lookup_expect_cells(Lookup *lookup, double cells)
{
	lookup->left = cells;
	lookup->found = 0;
	lookup->found_for = 0;
}

/* Plan reading the whole source, and set the limit of costs from that. */
static void
learn_costs(Lookup *lookup)
{
	Anonymizer *anonymizer = lookup->anonymizer;
	MemoryContext old = MemoryContextSwitchTo(lookup->context);
	Query *all = source_query(anonymizer->aview, anonymizer->counted.columns, NIL, NIL);

	lookup->source = source_plan(anonymizer->aview, all, false, NULL)->planTree;
	lookup->coding = cost_of_coding(anonymizer->aview);
	lookup->limit = cost_of_counting(anonymizer->aview, lookup->source);
	if (kanon_plan == CHOOSE_SELECT_FIRST)
		lookup->limit *= MUCH_WORSE;
	lookup->limit = Max(lookup->limit, ALWAYS_WORTHWHILE);
	MemoryContextSwitchTo(old);
}

/* Spend a cost if the limit allows it; return false if not. */
static bool
spend(Lookup *lookup, Cost cost)
{
	if (lookup->spent + cost > lookup->limit)
		return false;
	lookup->spent += cost;
	return true;
}

/* Spend the cost of a query for a cell, if the limit allows for the other cells that are expected, too. */
static bool
spend_on_cell(Lookup *lookup, const Plan *plan)
{
	Cost cost = cost_of_starting() + cost_of_lookup(lookup->source, plan);
	Cost usual;

	Assert(cost >= 0);
	lookup->found++;
	lookup->found_for += cost + plan->plan_rows * lookup->coding;
	lookup->left--;
	usual = lookup->found_for / lookup->found;
	return lookup->spent + cost + Max(lookup->left, 0) * usual <= lookup->limit && spend(lookup, cost);
}

/* The constants of some conditions, in the order of their parameters. */
typedef struct Constants
{
	List *found; /* Consts */
} Constants;

/*
 * Return conditions with a parameter for each constant that a column is compared with: an
 * expression_tree_mutator().  Lists of constants stay part of the plan.
 */
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

/* Return the constants as the values of parameters. */
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

/* Return the prepared query of a step for some conditions: often that of the last cell, with other constants. */
static SourcePlan *
prepare_lookup(Lookup *lookup, const RowLayout *layout, int step, List *conditions)
{
	CellQuery *query = &lookup->queries[step];
	MemoryContext old;

	Assert(step >= 0 && step <= lookup->anonymizer->recoder->nsteps);
	if (query->plan && query->layout == layout && equal(query->conditions, conditions))
		return query->plan;
	if (query->context)
		MemoryContextDelete(query->context);
	query->context = AllocSetContextCreate(lookup->context, "kanon cell query", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(query->context);
	query->layout = layout;
	query->conditions = copyObject(conditions);
	query->plan = source_prepare(lookup->anonymizer->aview,
								 source_query(lookup->anonymizer->aview, layout->columns, query->conditions, NIL));
	MemoryContextSwitchTo(old);
	return query->plan;
}

/* Say at DEBUG2 why cells are looked up no longer. */
void
lookup_refuse(const Lookup *lookup, const char *reason)
{
	aview_refuse(lookup->anonymizer->aview, "further lookup of cells", reason);
}

/* Start reading the rows of a cell; return NULL if that is not worth it. */
SourceRun *
lookup_start(Lookup *lookup, const RowLayout *layout, int step, List *conditions)
{
	Constants constants = {NIL};
	ParamListInfo params;
	PlannedStmt *plan;
	bool planned;

	if (conditions == NIL)
	{
		lookup_refuse(lookup, "no condition on the source finds the members of the cell");
		return NULL;
	}
	if (lookup->source == NULL)
		learn_costs(lookup);
	conditions = (List *) without_constants((Node *) conditions, &constants);
	params = as_parameters(&constants);
	plan = source_choose(prepare_lookup(lookup, layout, step, conditions), params, &planned);
	if ((planned && !spend(lookup, cost_of_planning())) || !spend_on_cell(lookup, plan->planTree))
	{
		lookup_refuse(lookup, "the cells still needed cost more than counting the whole source");
		return NULL;
	}
	return source_start(lookup->anonymizer->aview, plan, params, lookup->anonymizer->snapshot);
}

/* Account for a row that was read; return false if there are too many. */
bool
lookup_goes_on(Lookup *lookup)
{
	bool affordable = spend(lookup, lookup->coding);

	if (!affordable)
		lookup_refuse(lookup, "the cell has more rows than were estimated, and more than are worth reading");
	return affordable;
}
