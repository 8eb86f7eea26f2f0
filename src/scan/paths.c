/*
 * paths.c
 *		The plans of an A-view as paths: alone, and for each row of other relations.
 */
#include "base/kanon.h"

#include "scan/aviewscan.h"

#include <math.h>

#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/guc.h"

#include "anonymize/costs.h"
#include "anonymize/region.h"
#include "aview/aview.h"
#include "matview/stored.h"
#include "scan/conditions.h"
#include "source/source.h"

/* What an estimate is said to be where it must not be told. */
#define HIDDEN_ROWS 1000

/* Other relations that are tried, alone or together, as the outer side of a join. */
#define MAX_JOINING_SETS 8

/* All conditions in the FROM and WHERE of a query. */
static List *
written_conditions(Node *jointree)
{
	List *written = NIL;
	ListCell *cell;

	if (jointree && IsA(jointree, FromExpr))
	{
		written = list_copy((List *) ((FromExpr *) jointree)->quals);
		foreach (cell, ((FromExpr *) jointree)->fromlist)
			written = list_concat(written, written_conditions(lfirst(cell)));
	}
	else if (jointree && IsA(jointree, JoinExpr))
	{
		JoinExpr *join = (JoinExpr *) jointree;

		written = list_concat(list_copy((List *) join->quals), written_conditions(join->larg));
		written = list_concat(written, written_conditions(join->rarg));
	}
	return written;
}

static bool
joins_by_or(RelOptInfo *rel)
{
	ListCell *cell;

	foreach (cell, rel->joininfo)
	{
		if (restriction_is_or_clause(lfirst_node(RestrictInfo, cell)))
			return true;
	}
	return false;
}

/*
 * PostgreSQL derives (a OR b) on one relation from a join by (a AND x) OR (b AND y).
 * On published values that changes nothing; a witness of it nobody asked for.
 */
List *
aview_derived_conditions(PlannerInfo *root, RelOptInfo *rel)
{
	RelOptInfo *base = IS_OTHER_REL(rel) ? find_base_rel(root, bms_singleton_member(rel->top_parent_relids)) : rel;
	List *written = written_conditions((Node *) root->parse->jointree);
	List *derived = NIL;
	ListCell *cell;

	if (!joins_by_or(base))
		return NIL;
	foreach (cell, rel->baserestrictinfo)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);

		if (restriction_is_or_clause(info) && !list_member(written, info->clause))
			derived = lappend(derived, info->clause);
	}
	return derived;
}

/* What all paths of one A-view start from. */
typedef struct ViewPaths
{
	PlannerInfo *root;
	RelOptInfo *rel;
	Index rti;
	AView *aview;
	Plan *source;  /* reading all of it */
	bool stable;   /* twice gives the same */
	bool selected; /* a second reading may be of selected rows only */
} ViewPaths;

static CustomPath *
make_path(ViewPaths *paths, ScanPlan plan, ParamPathInfo *param_info)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = paths->rel;
	path->path.pathtarget = paths->rel->reltarget;
	path->path.param_info = param_info;
	path->methods = &aview_path_methods;
	path->flags = KANON_PATH_PROJECTS;
	path->custom_private = list_make2(makeInteger(paths->aview->id), makeInteger(plan));
	return path;
}

/* The conditions that a path is for, and what they select. */
typedef struct Asking
{
	Conditions conditions;
	ParamPathInfo *param_info; /* other relations that they need; null: none */
	double loops;			   /* how often these will ask */
	List *on_source;
	Plan *selected; /* what the source gives then; null: they say nothing to it */
	double rows;	/* of the view */
} Asking;

/* How many rows the relations bring that a path depends on: those of the smallest, as PostgreSQL has it for indexes. */
static double
expect_loops(PlannerInfo *root, const ParamPathInfo *param_info)
{
	double loops = 0;
	int relid = -1;

	while (param_info && (relid = bms_next_member(param_info->ppi_req_outer, relid)) >= 0)
	{
		RelOptInfo *other = relid < root->simple_rel_array_size ? root->simple_rel_array[relid] : NULL;

		if (other && other->rows > 0 && (loops == 0 || other->rows < loops))
			loops = other->rows;
	}
	return Max(loops, 1);
}

/*
 * Reading rows by a plan, and publishing them, at a cost for each; counting has to
 * be done once, however often they are asked for.
 */
static void
cost_reading(ViewPaths *paths, const Asking *asking, const Plan *reading, Cost each, Cost counting, Path *path)
{
	QualCost qual;
	Cost once = counting / asking->loops;
	Cost cost = cost_of_repeated(paths->source, reading, asking->loops);

	cost_qual_eval(&qual, list_concat_copy(asking->conditions.post, asking->conditions.pre), paths->root);
	path->rows = asking->rows;
	path->startup_cost = once + Min(reading->startup_cost, cost) + qual.startup + cost_of_starting();
	path->total_cost = once + cost + qual.startup + cost_of_starting() +
					   (each + cost_of_publishing(paths->aview) + qual.per_tuple) * reading->plan_rows;
}

/*
 * The share of published rows that a condition on quasi-identifiers lets through.
 * Nothing is known of published values; recall being 1, it is not small.
 */
#define PUBLISHED_SELECTIVITY 0.3

/* Of the rows that the source would select, those that satisfy the other conditions. */
static double
estimate_rows(ViewPaths *paths, const Conditions *conditions, const Plan *selected)
{
	double rows = selected ? selected->plan_rows : paths->source->plan_rows;

	return clamp_row_est(rows * pow(PUBLISHED_SELECTIVITY, list_length(conditions->post) + list_length(conditions->witness)));
}

/* The plan for what conditions select from the source; null if they say nothing to it. */
static Plan *
plan_selected(ViewPaths *paths, List *on_source)
{
	if (on_source == NIL)
		return NULL;
	return source_plan(source_query(paths->aview, source_least(paths->aview), on_source, NIL), false, NULL)->planTree;
}

/* What some clauses ask for.  Our own knowledge of rows takes the place of PostgreSQL's guess about a function. */
static void
ask(ViewPaths *paths, List *clauses, ParamPathInfo *param_info, Asking *asking)
{
	List *parameters = NIL;

	conditions_split(paths->aview, paths->rti, extract_actual_clauses(clauses, false),
					 aview_derived_conditions(paths->root, paths->rel), &asking->conditions);
	asking->param_info = param_info;
	asking->loops = expect_loops(paths->root, param_info);
	if (asking->conditions.never)
		return;
	asking->on_source = conditions_for_source(paths->aview, paths->rti, asking->conditions.pre, &parameters);
	asking->selected = plan_selected(paths, asking->on_source);
	asking->rows = estimate_rows(paths, &asking->conditions, asking->selected);
	if (param_info)
		param_info->ppi_rows = asking->rows;
	else
		paths->rel->rows = asking->rows;
}

/* The plan that anonymizes all rows first; those that are selected are then read again, or all are noted. */
static void
add_anonymize_first(ViewPaths *paths, const Asking *asking, bool selects)
{
	Cost counting = aview_groups(paths->aview) ? cost_of_counting(paths->aview, paths->source) : 0;
	Plan notes = {.plan_rows = paths->source->plan_rows, .total_cost = cost_of_noting(paths->source)};
	CustomPath *path = make_path(paths, PLAN_ANONYMIZE_FIRST, asking->param_info);

	path->custom_private = lappend(path->custom_private, makeInteger(selects));
	if (selects)
		cost_reading(paths, asking, asking->selected, cost_of_coding(paths->aview), counting, &path->path);
	else
		cost_reading(paths, asking, counting > 0 ? &notes : paths->source, 0, counting, &path->path);
	add_path(paths->rel, &path->path);
}

/* Would looking for a single cell cost more than counting everything?  Then how much more need not be known. */
static bool
is_hopeless(const ViewPaths *paths)
{
	return kanon_plan == CHOOSE_AUTO && paths->selected && aview_groups(paths->aview) &&
		   cost_of_planning() + cost_of_starting() > cost_of_counting(paths->aview, paths->source);
}

/* What counting the rows of a class reads of each, which an index may have. */
static List *
counted_columns(const AView *aview)
{
	List *columns = aview->profile ? source_least(aview) : NIL;

	for (int i = 0; i < aview->nsource; i++)
	{
		if (i < aview->ncolumns && (aview->columns[i].role == ROLE_QUASI || (aview->columns[i].role == ROLE_ID && !aview_counts_rows(aview))))
			columns = lappend_int(columns, i);
	}
	return columns;
}

/* What looking for the cells of the selected rows costs; false if that cannot be done. */
static bool
cost_probing(ViewPaths *paths, const Asking *asking, const Plan *selected, bool probes, Cost *cost)
{
	List *region = region_template(paths->aview);
	Plan *probe;

	*cost = 0;
	if (!aview_groups(paths->aview))
		return true;
	if (region == NIL)
		return false;
	probe = source_plan(source_query(paths->aview, counted_columns(paths->aview), region, NIL), false, NULL)->planTree;
	/* The groups of witnesses are read once more. */
	*cost = cost_of_probing(paths->aview, paths->source, probe, selected->plan_rows * asking->loops * (probes ? 1.5 : 1));
	return true;
}

/* The plan that selects first, if there is anything to select by. */
static void
add_select_first(ViewPaths *paths, const Asking *asking)
{
	bool probes = asking->on_source == NIL && asking->conditions.region != NIL;
	Plan *selected = probes ? plan_selected(paths, asking->conditions.region) : asking->selected;
	Cost probing;
	CustomPath *path;

	if (selected == NULL || paths->aview->block_size > 0 || kanon_plan == CHOOSE_ANONYMIZE_FIRST || !paths->stable)
		return;
	/* Witnesses would have to be looked for among all rows. */
	if (asking->conditions.witness != NIL && !probes)
		return;
	if (is_hopeless(paths) || !cost_probing(paths, asking, selected, probes, &probing))
		return;
	path = make_path(paths, PLAN_SELECT_FIRST, asking->param_info);
	cost_reading(paths, asking, selected, cost_of_coding(paths->aview), probing, &path->path);
	if (kanon_plan == CHOOSE_SELECT_FIRST)
		path->path.startup_cost = path->path.total_cost = 0;
	add_path(paths->rel, &path->path);
}

/* Could this member of an equivalence class give the source a condition? */
static bool
member_is_on_source(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec, EquivalenceMember *em, void *arg)
{
	const AView *aview = ((ViewPaths *) arg)->aview;
	Var *var = (Var *) em->em_expr;

	return IsA(var, Var) && (int) var->varno == (int) rel->relid && var->varattno > 0 &&
		   aview->columns[var->varattno - 1].role == ROLE_OTHER;
}

/* list_member() knows no sets of relations before PostgreSQL 16. */
static bool
has_set(List *sets, Relids set)
{
	ListCell *cell;

	foreach (cell, sets)
	{
		if (bms_equal(lfirst(cell), set))
			return true;
	}
	return false;
}

/* The sets of other relations whose rows could select rows of the view. */
static List *
joining_relations(ViewPaths *paths)
{
	List *clauses = list_copy(paths->rel->joininfo);
	List *sets = NIL;
	ListCell *cell;

	if (paths->rel->has_eclass_joins)
		clauses = list_concat(clauses, generate_implied_equalities_for_column(paths->root, paths->rel, member_is_on_source, paths,
																			  paths->rel->lateral_referencers));
	foreach (cell, clauses)
	{
		RestrictInfo *clause = lfirst(cell);
		Relids others = bms_difference(clause->clause_relids, paths->rel->relids);

		if (join_clause_is_movable_to(clause, paths->rel) && !bms_is_empty(others) && !has_set(sets, others) &&
			list_length(sets) < MAX_JOINING_SETS)
			sets = lappend(sets, others);
	}
	return sets;
}

/* The plan that reads stored groups, alone or with values that other relations ask for. */
static void
add_stored(ViewPaths *paths, const Asking *asking)
{
	List *parameters = NIL;
	const Conditions *conditions = &asking->conditions;
	int asked = list_length(conditions_asked(paths->aview, paths->rti, list_concat_copy(conditions->post, conditions->witness), &parameters));
	CustomPath *path = make_path(paths, PLAN_STORED, asking->param_info);

	path->path.rows = asking->rows;
	path->path.startup_cost = 0;
	path->path.total_cost = (asking->selected ? asking->selected : paths->source)->total_cost * pow(PUBLISHED_SELECTIVITY, asked);
	add_path(paths->rel, &path->path);
}

static void
add_plans(ViewPaths *paths, const Asking *asking)
{
	if (paths->aview->materialized)
	{
		add_stored(paths, asking);
		return;
	}
	add_select_first(paths, asking);
	if (paths->selected && asking->selected)
		add_anonymize_first(paths, asking, true);
	/* For each row of another relation all of them would be read again. */
	if (asking->param_info == NULL)
		add_anonymize_first(paths, asking, false);
}

/* The paper's semijoin: rows of another relation select those of the view. */
static void
add_join_paths(ViewPaths *paths)
{
	ListCell *cell;

	foreach (cell, joining_relations(paths))
	{
		ParamPathInfo *info = get_baserel_parampathinfo(paths->root, paths->rel, lfirst(cell));
		Asking asking = {0};

		ask(paths, list_concat_copy(paths->rel->baserestrictinfo, info->ppi_clauses), info, &asking);
		if (!asking.conditions.never)
			add_plans(paths, &asking);
	}
}

static void
add_paths(ViewPaths *paths)
{
	Asking asking = {0};
	CustomPath *path;

	paths->rel->tuples = paths->source->plan_rows;
	paths->rel->pathlist = NIL;
	paths->rel->partial_pathlist = NIL;
	ask(paths, paths->rel->baserestrictinfo, NULL, &asking);
	if (asking.conditions.never)
	{
		path = make_path(paths, PLAN_NOTHING, NULL);
		path->path.rows = 0;
		add_path(paths->rel, &path->path);
		return;
	}
	add_plans(paths, &asking);
	add_join_paths(paths);
}

/*
 * EXPLAIN hides the numbers of a plan, but debug_print_plan, which anybody may
 * set, would show them.  The choice between paths has been made by then.
 */
static void
hide_estimates(ViewPaths *paths)
{
	ListCell *cell;

	if (!Debug_print_plan || aview_source_readable(paths->aview))
		return;
	paths->rel->rows = paths->rel->tuples = HIDDEN_ROWS;
	foreach (cell, paths->rel->pathlist)
	{
		Path *path = lfirst(cell);

		path->rows = HIDDEN_ROWS;
		path->startup_cost = 0;
		path->total_cost = HIDDEN_ROWS;
		if (path->param_info)
			path->param_info->ppi_rows = HIDDEN_ROWS;
	}
}

void
aview_add_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, AView *aview)
{
	ViewPaths paths = {.root = root, .rel = rel, .rti = rti, .aview = aview->materialized ? stored_view(aview) : aview};
	Stability stability = source_stability(paths.aview);

	paths.source = source_plan(source_query(paths.aview, source_least(paths.aview), NIL, NIL), false, NULL)->planTree;
	paths.stable = stability != SOURCE_UNSTABLE;
	/* What is kept is all kept; rows of other servers are all compared with what was counted. */
	paths.selected = stability == SOURCE_STABLE && !paths.aview->profile && paths.aview->block_size == 0;
	add_paths(&paths);
	hide_estimates(&paths);
}
