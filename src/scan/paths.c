/*
 * paths.c
 *		The paths of an A-view: alone, and parameterized by the rows of other relations.
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
#include "aview/refusal.h"
#include "matview/stored.h"
#include "scan/conditions.h"
#include "source/source.h"

/* The estimate of rows that is shown where the true estimate must be hidden. */
#define HIDDEN_ROWS 1000

/* The largest number of sets of other relations that are tried as the outer side of a join. */
#define MAX_JOINING_SETS 8

/* Return all conditions in the FROM and WHERE of a query. */
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

/* Return true if a relation is joined by a condition with OR. */
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
 * Return the conditions that PostgreSQL derived: from a join by (a AND x) OR (b AND y)
 * it derives (a OR b) on one relation.  Checking that on published rows changes
 * nothing, but asking a witness for it would: the query does not contain it.
 */
static List *
derived_conditions(PlannerInfo *root, RelOptInfo *rel)
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

/* The common part of all paths of one A-view. */
typedef struct ViewPaths
{
	PlannerInfo *root;
	RelOptInfo *rel;
	Index rti;
	AView *aview;
	Plan *source;				  /* the plan for reading the whole source */
	bool stable;				  /* true if reading the source twice gives the same rows */
	const char *against_selected; /* why a second reading may not be of selected rows only; NULL: it may */
} ViewPaths;

/* The conditions that a path is for, and the rows that they select. */
typedef struct Asking
{
	Conditions conditions;
	ParamPathInfo *param_info; /* the other relations that they need, or NULL */
	double loops;			   /* how often the path will be run */
	List *on_source;		   /* conditions in terms of the source */
	Plan *selected;			   /* the plan that selects from the source by them; NULL if there are none */
	double rows;			   /* of the view */
} Asking;

/* Make a path for one way of getting the rows; its costs are set by the caller. */
static AViewPath *
make_path(ViewPaths *paths, ScanPlan plan, const Asking *asking)
{
	AViewPath *path = (AViewPath *) newNode(sizeof(AViewPath), T_CustomPath);

	path->path.path.pathtype = T_CustomScan;
	path->path.path.parent = paths->rel;
	path->path.path.pathtarget = paths->rel->reltarget;
	path->path.path.param_info = asking->param_info;
	path->path.methods = &aview_path_methods;
	path->path.flags = KANON_PATH_PROJECTS;
	path->plan = plan;
	path->aview = paths->aview;
	path->conditions = asking->conditions;
	return path;
}

/*
 * Return how often a parameterized path will be run: as often as the smallest of the
 * relations that it depends on has rows, which is PostgreSQL's estimate for indexes.
 */
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
 * Set the costs of a path that reads rows by a plan and publishes them, at a cost for
 * each row.  Counting is done once, however often the path is run.
 */
static void
cost_reading(ViewPaths *paths, const Asking *asking, const Plan *reading, Cost each, Cost counting, Path *path)
{
	QualCost qual;
	Cost once = counting / asking->loops;
	Cost cost = cost_of_repeated(paths->source, reading, asking->loops);

	cost_qual_eval(&qual, list_concat_copy(asking->conditions.post, asking->conditions.pre), paths->root);
	path->rows = asking->rows;
	/* All rows are read before the first is handed out, unless they come in the source's order. */
	path->startup_cost = once + (paths->aview->keeps_order ? Min(reading->startup_cost, cost) : cost) + qual.startup +
						 cost_of_starting();
	path->total_cost = once + cost + qual.startup + cost_of_starting() +
					   (each + cost_of_publishing(paths->aview) + qual.per_tuple) * reading->plan_rows;
}

/*
 * The share of published rows that satisfy a condition on quasi-identifiers.  There
 * are no statistics on published values; since recall is 1, the share is not small.
 */
#define PUBLISHED_SELECTIVITY 0.3

/* Estimate how many of the rows that the source selects satisfy the other conditions. */
static double
estimate_rows(ViewPaths *paths, const Conditions *conditions, const Plan *selected)
{
	double rows = selected ? selected->plan_rows : paths->source->plan_rows;

	return clamp_row_est(rows *
						 pow(PUBLISHED_SELECTIVITY, list_length(conditions->post) + list_length(conditions->witness)));
}

/* Plan a query that reads columns of the source by conditions. */
static PlannedStmt *
plan_source(const ViewPaths *paths, List *columns, List *on_source)
{
	return source_plan(paths->aview, source_query(paths->aview, columns, on_source, NIL), false, NULL);
}

/* Return the plan for the rows that conditions select from the source, or NULL if there are no conditions. */
static Plan *
plan_selected(ViewPaths *paths, List *on_source)
{
	if (on_source == NIL)
		return NULL;
	return plan_source(paths, source_least(paths->aview), on_source)->planTree;
}

/*
 * Split clauses and plan the query of the source that they need.  Our estimate of rows
 * replaces PostgreSQL's guess about a function.
 */
static void
ask_source(ViewPaths *paths, List *clauses, ParamPathInfo *param_info, Asking *asking)
{
	List *parameters = NIL;

	conditions_split(paths->aview, paths->rti, extract_actual_clauses(clauses, false),
					 derived_conditions(paths->root, paths->rel), &asking->conditions);
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

/* Add the path that anonymizes all rows first; then the selected rows are read again, or all rows are noted. */
static void
add_anonymize_first(ViewPaths *paths, const Asking *asking, bool selects)
{
	Cost counting = aview_groups(paths->aview) ? cost_of_counting(paths->aview, paths->source) : 0;
	Plan notes = {.plan_rows = paths->source->plan_rows, .total_cost = cost_of_noting(paths->source)};
	AViewPath *path = make_path(paths, PLAN_ANONYMIZE_FIRST, asking);

	path->selects = selects;
	if (selects)
		cost_reading(paths, asking, asking->selected, cost_of_coding(paths->aview), counting, &path->path.path);
	else
		cost_reading(paths, asking, counting > 0 ? &notes : paths->source, 0, counting, &path->path.path);
	add_path(paths->rel, &path->path.path);
}

/* Return true if looking for a single cell would cost more than counting everything. */
static bool
is_hopeless(const ViewPaths *paths)
{
	return kanon_plan == CHOOSE_AUTO && paths->against_selected == NULL && aview_groups(paths->aview) &&
		   cost_of_planning() + cost_of_starting() > cost_of_counting(paths->aview, paths->source);
}

/* Return the columns that counting the rows of a class reads; an index may hold all of them. */
static List *
counted_columns(const AView *aview)
{
	List *columns = aview->profile ? source_least(aview) : NIL;

	for (int i = 0; i < aview->nsource; i++)
	{
		if (i < aview->ncolumns &&
			(aview->columns[i].role == ROLE_QUASI || (aview->columns[i].role == ROLE_ID && !aview_counts_rows(aview))))
			columns = lappend_int(columns, i);
	}
	return columns;
}

/* Set the cost of looking for the cells of the selected rows; return false if that is impossible. */
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
	probe = plan_source(paths, counted_columns(paths->aview), region)->planTree;
	/* The groups of witnesses are read once more. */
	*cost = cost_of_probing(paths->aview, paths->source, probe,
							selected->plan_rows * asking->loops * (probes ? 1.5 : 1));
	return true;
}

/* Return the reason why no path can select first, or NULL if one can. */
static const char *
objection_to_select_first(const ViewPaths *paths, const Asking *asking, const Plan *selected, bool probes)
{
	if (selected == NULL)
		return "no condition can be handed to the source";
	if (paths->aview->block_size > 0)
		return "the view has a block size";
	if (kanon_plan == CHOOSE_ANONYMIZE_FIRST)
		return "kanon.plan asks for anonymize first";
	if (!paths->stable)
		return "the source may give other rows when it is read again";
	if (asking->conditions.witness != NIL && !probes)
		return "witnesses would have to be looked for among all rows";
	if (is_hopeless(paths))
		return "looking for one cell costs more than counting everything";
	return NULL;
}

/* Add the path that selects first, if there is a condition to select by. */
static void
add_select_first(ViewPaths *paths, const Asking *asking)
{
	bool probes = asking->on_source == NIL && asking->conditions.region != NIL;
	Plan *selected = probes ? plan_selected(paths, asking->conditions.region) : asking->selected;
	const char *objection = objection_to_select_first(paths, asking, selected, probes);
	Cost probing;
	AViewPath *path;

	if (objection)
	{
		aview_refuse(paths->aview, "select first", objection);
		return;
	}
	if (!cost_probing(paths, asking, selected, probes, &probing))
	{
		aview_refuse(paths->aview, "select first", "no condition on the source finds the members of a cell");
		return;
	}
	path = make_path(paths, PLAN_SELECT_FIRST, asking);
	cost_reading(paths, asking, selected, cost_of_coding(paths->aview), probing, &path->path.path);
	if (kanon_plan == CHOOSE_SELECT_FIRST)
		path->path.path.startup_cost = path->path.path.total_cost = 0;
	add_path(paths->rel, &path->path.path);
}

/* Return true if a member of an equivalence class is a column that conditions may be handed to the source for. */
static bool
member_is_on_source(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec, EquivalenceMember *em, void *arg)
{
	const AView *aview = ((ViewPaths *) arg)->aview;
	Var *var = (Var *) em->em_expr;

	return IsA(var, Var) && (int) var->varno == (int) rel->relid && var->varattno > 0 &&
		   aview->columns[var->varattno - 1].role == ROLE_OTHER;
}

/* Return true if a list of sets of relations has a set; list_member() does not compare sets before PostgreSQL 16. */
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

/* Return the sets of other relations with rows that could select rows of the view. */
static List *
joining_relations(ViewPaths *paths)
{
	List *clauses = list_copy(paths->rel->joininfo);
	List *sets = NIL;
	ListCell *cell;

	if (paths->rel->has_eclass_joins)
		clauses = list_concat(clauses,
							  generate_implied_equalities_for_column(paths->root, paths->rel, member_is_on_source,
																	 paths, paths->rel->lateral_referencers));
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

/* Add the path that reads stored groups. */
static void
add_stored(ViewPaths *paths, const Asking *asking)
{
	List *parameters = NIL;
	const Conditions *conditions = &asking->conditions;
	int asked = list_length(conditions_asked(paths->aview, paths->rti,
											 list_concat_copy(conditions->post, conditions->witness), &parameters));
	Path *path = &make_path(paths, PLAN_STORED, asking)->path.path;

	path->rows = asking->rows;
	path->total_cost = (asking->selected ? asking->selected : paths->source)->total_cost *
					   pow(PUBLISHED_SELECTIVITY, asked);
	path->startup_cost = path->total_cost; /* all rows are read before the first is handed out */
	add_path(paths->rel, path);
}

/* Add the paths for some conditions. */
static void
add_plans(ViewPaths *paths, const Asking *asking)
{
	if (paths->aview->materialized)
	{
		add_stored(paths, asking);
		return;
	}
	add_select_first(paths, asking);
	if (asking->selected && paths->against_selected)
		aview_refuse(paths->aview, "second reading of selected rows only", paths->against_selected);
	else if (asking->selected)
		add_anonymize_first(paths, asking, true);
	/* For each row of another relation all of them would be read again. */
	if (asking->param_info == NULL)
		add_anonymize_first(paths, asking, false);
}

/* Add parameterized paths, the paper's semijoin: the rows of other relations select rows of the view. */
static void
add_join_paths(ViewPaths *paths)
{
	ListCell *cell;

	foreach (cell, joining_relations(paths))
	{
		ParamPathInfo *info = get_baserel_parampathinfo(paths->root, paths->rel, lfirst(cell));
		Asking asking = {0};

		ask_source(paths, list_concat_copy(paths->rel->baserestrictinfo, info->ppi_clauses), info, &asking);
		if (!asking.conditions.never)
			add_plans(paths, &asking);
	}
}

/* Replace the paths of the function by all paths of the view. */
static void
add_paths(ViewPaths *paths)
{
	Asking asking = {0};
	AViewPath *path;

	paths->rel->tuples = paths->source->plan_rows;
	paths->rel->pathlist = NIL;
	paths->rel->partial_pathlist = NIL;
	ask_source(paths, paths->rel->baserestrictinfo, NULL, &asking);
	if (asking.conditions.never)
	{
		path = make_path(paths, PLAN_NOTHING, &asking);
		path->path.path.rows = 0;
		add_path(paths->rel, &path->path.path);
		return;
	}
	add_plans(paths, &asking);
	add_join_paths(paths);
}

/*
 * Hide the estimates of paths from debug_print_plan, which every role may set;
 * EXPLAIN hides the numbers of a plan by itself.  The choice between the paths of
 * the view has been made by then.
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

/* Return the reason why a second reading of the source may not be of selected rows only, or NULL if it may. */
static const char *
objection_to_second_reading(const AView *aview, Stability stability)
{
	if (stability == SOURCE_UNSTABLE)
		return "the source may give other rows when it is read again";
	if (stability == SOURCE_STABLE_ELSEWHERE)
		return "all rows of other servers are compared with their counts";
	if (aview->profile)
		return "rows are kept together with the choices of their data owners";
	if (aview->block_size > 0)
		return "the view has a block size";
	return NULL;
}

/* Replace the paths of a relation by the paths of an A-view. */
void
aview_add_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, AView *aview)
{
	ViewPaths paths = {.root = root, .rel = rel, .rti = rti, .aview = aview->materialized ? stored_view(aview) : aview};
	PlannedStmt *source = plan_source(&paths, source_least(paths.aview), NIL);
	Stability stability = source_stability(paths.aview, source);

	/* Which conditions go to the source depends on the rights of the role that reads the view. */
	root->glob->dependsOnRole = true;
	root->glob->relationOids = list_concat(root->glob->relationOids, source->relationOids);
	paths.source = source->planTree;
	paths.stable = stability != SOURCE_UNSTABLE;
	paths.against_selected = objection_to_second_reading(paths.aview, stability);
	add_paths(&paths);
	hide_estimates(&paths);
}
