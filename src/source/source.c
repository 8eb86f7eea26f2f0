/*
 * source.c
 *		Building, planning and running queries over the source of an A-view.
 */
#include "base/kanon.h"

#include "source/source.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "parser/parse_clause.h"
#include "parser/parse_oper.h"
#include "rewrite/rewriteHandler.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "aview/aview.h"
#include "base/as_owner.h"
#include "base/shuffle.h"
#include "source/citus.h"
#include "source/shards.h"

/* Rows fetched at a time where the caller pulls them. */
#define BATCH_ROWS 256

#define QUERY_TEXT "<source of an anonymization view>"

Var *
source_column(const AView *aview, int column)
{
	const AViewColumn *c = &aview->columns[column];

	return makeVar(SOURCE_RTI, column + 1, c->source_type, c->source_typmod, c->source_collation, 0);
}

static RangeTblEntry *
source_entry(const AView *aview)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	List *names = NIL;

	for (int i = 0; i < aview->nsource; i++)
		names = lappend(names, makeString(aview->columns[i].name));
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = copyObject(aview->source);
	rte->eref = makeAlias("source", names);
	rte->inFromCl = true;
	return rte;
}

/* Sorts by a column of the target list. */
static SortGroupClause *
sort_by(TargetEntry *entry)
{
	SortGroupClause *clause = makeNode(SortGroupClause);

	get_sort_group_operators(exprType((Node *) entry->expr), true, true, false,
							 &clause->sortop, &clause->eqop, NULL, &clause->hashable);
	entry->ressortgroupref = entry->resno;
	clause->tleSortGroupRef = entry->resno;
	return clause;
}

Query *
source_query(const AView *aview, List *columns, List *conditions, List *order_by)
{
	Query *query = makeNode(Query);
	RangeTblRef *ref = makeNode(RangeTblRef);
	ListCell *cell;

	query->commandType = CMD_SELECT;
	query->querySource = QSRC_ORIGINAL;
	query->canSetTag = true;
	query->rtable = list_make1(source_entry(aview));
	ref->rtindex = SOURCE_RTI;
	query->jointree = makeFromExpr(list_make1(ref), (Node *) make_ands_explicit(copyObject(conditions)));
	if (conditions == NIL)
		query->jointree->quals = NULL;
	foreach (cell, columns)
	{
		int column = lfirst_int(cell);
		TargetEntry *entry = makeTargetEntry((Expr *) source_column(aview, column), list_length(query->targetList) + 1,
											 pstrdup(aview->columns[column].name), false);

		query->targetList = lappend(query->targetList, entry);
		if (list_member_int(order_by, column))
			query->sortClause = lappend(query->sortClause, sort_by(entry));
	}
	return query;
}

/* With a profile its rows are joined with their choices, whatever else is read. */
List *
source_least(const AView *aview)
{
	return list_make1_int(aview->profile ? aview->profile->found : 0);
}

PlannedStmt *
source_plan(Query *query, bool parallel, ParamListInfo params)
{
	int settings = NewGUCNestLevel();
	List *rewritten;
	PlannedStmt *planned;

	/* Takes the locks on what the stored query mentions, then expands views and row security. */
	query = copyObject(query);
	AcquireRewriteLocks(query, true, false);
	rewritten = QueryRewrite(query);
	if (list_length(rewritten) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a rule turns the source of an anonymization view into several queries")));
	/* Not pg_plan_query: debug_print_plan would show the caller the raw values in its conditions. */
	query = linitial_node(Query, rewritten);
	citus_hush();
	planned = planner(copyObject(query), QUERY_TEXT, parallel ? CURSOR_OPT_PARALLEL_OK : 0, params);
	AtEOXact_GUC(false, settings);
	kanon_forget_no_rights(planned);
	citus_check(planned, query);
	return planned;
}

/* As measured: planning a small query takes as long as so many operators, running it as so many. */
#define PLANNING_OPERATORS 3000
#define STARTING_OPERATORS 2000

struct SourcePlan
{
	Query *query;
	MemoryContext context; /* of the plan for the last values */
	PlannedStmt *latest;
	PlannedStmt *generic; /* for any values */
};

SourcePlan *
source_prepare(Query *query)
{
	SourcePlan *prepared = palloc0(sizeof(SourcePlan));

	prepared->query = query;
	prepared->context = AllocSetContextCreate(CurrentMemoryContext, "kanon source plan", ALLOCSET_DEFAULT_SIZES);
	return prepared;
}

Cost
cost_of_planning(void)
{
	return PLANNING_OPERATORS * cpu_operator_cost;
}

Cost
cost_of_starting(void)
{
	return STARTING_OPERATORS * cpu_operator_cost;
}

/* As PostgreSQL does for prepared statements: a plan for any values is good enough if it looks no worse than those for some. */
static bool
generic_will_do(SourcePlan *prepared)
{
	MemoryContext old;

	if (prepared->generic == NULL)
	{
		old = MemoryContextSwitchTo(GetMemoryChunkContext(prepared));
		prepared->generic = source_plan(prepared->query, false, NULL);
		MemoryContextSwitchTo(old);
	}
	return prepared->generic->planTree->total_cost <= prepared->latest->planTree->total_cost + cost_of_planning();
}

PlannedStmt *
source_choose(SourcePlan *prepared, ParamListInfo params, bool *planned)
{
	MemoryContext old;

	*planned = params && prepared->generic == NULL;
	if (prepared->latest && (params == NULL || generic_will_do(prepared)))
		return params ? prepared->generic : prepared->latest;
	*planned = true;
	prepared->latest = NULL;
	MemoryContextReset(prepared->context);
	old = MemoryContextSwitchTo(prepared->context);
	prepared->latest = source_plan(prepared->query, false, params);
	MemoryContextSwitchTo(old);
	return prepared->latest;
}

/* May reading a table read others: its partitions, those of its policies, one on another server? */
static bool
reads_others(Oid table)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	Form_pg_class class;
	bool result;

	if (!HeapTupleIsValid(tuple))
		return true;
	class = (Form_pg_class) GETSTRUCT(tuple);
	result = class->relhassubclass || class->relrowsecurity || class->relkind == RELKIND_FOREIGN_TABLE;
	ReleaseSysCache(tuple);
	return result;
}

/* Anything whose rows may depend on when, or in which order, it runs; context: whether there are tables that read others. */
static bool
unstable_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		*(bool *) context |= rte->rtekind == RTE_RELATION && reads_others(rte->relid);
		return rte->tablesample != NULL ||
			   (rte->rtekind == RTE_RELATION && rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_FOREIGN_TABLE &&
				rte->relkind != RELKIND_PARTITIONED_TABLE && rte->relkind != RELKIND_MATVIEW) ||
			   rte->rtekind == RTE_FUNCTION || rte->rtekind == RTE_TABLEFUNC;
	}
	if (IsA(node, Query))
	{
		Query *query = (Query *) node;

		if (query->limitCount || query->limitOffset || query->hasDistinctOn || query->hasAggs ||
			query->hasWindowFuncs || query->hasTargetSRFs)
			return true;
		return query_tree_walker(query, unstable_walker, context, QTW_EXAMINE_RTES_BEFORE);
	}
	return expression_tree_walker(node, unstable_walker, context);
}

/* Foreign partitions hide behind their parent. */
static Stability
stability_of_tables(const PlannedStmt *plan)
{
	Stability stability = SOURCE_STABLE;
	ListCell *cell;

	foreach (cell, plan->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, cell);

		if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_FOREIGN_TABLE)
			continue;
		if (!foreign_table_is_stable(rte->relid))
			return SOURCE_UNSTABLE;
		stability = SOURCE_STABLE_ELSEWHERE;
	}
	return stability;
}

/*
 * Plain tables under one snapshot give the same rows twice.  Views in the source
 * are not looked into: what is not known to be stable is read once and kept.
 */
Stability
source_stability(const AView *aview)
{
	bool has_others = false;

	if (unstable_walker((Node *) aview->source, &has_others) ||
		contain_volatile_functions_not_nextval((Node *) aview->source) ||
		contain_volatile_functions((Node *) aview->source))
		return SOURCE_UNSTABLE;
	/* Citus reads its tables on other servers, each time as they are then. */
	if (citus_is_here())
		return SOURCE_UNSTABLE;
	return has_others ? stability_of_tables(source_plan(source_query(aview, source_least(aview), NIL, NIL), false, NULL)) : SOURCE_STABLE;
}

/* A receiver that hands each row to a function. */
typedef struct PumpReceiver
{
	DestReceiver base;
	SourceReceiver receive;
	void *arg;
} PumpReceiver;

struct SourceRun
{
	QueryDesc *desc;
	bool readable; /* for the current user, too */
	Oid reader;	   /* the one to run it as; none: the current user */
	PumpReceiver receiver;
	MemoryContext batch; /* rows fetched ahead */
	MinimalTuple rows[BATCH_ROWS];
	int nrows;
	int at;
	bool finished;
	TupleTableSlot *slot;
	bool unordered; /* rows come in no order: */
	Shuffle *shuffle;
};

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	PumpReceiver *receiver = (PumpReceiver *) self;

	return receiver->receive(receiver->arg, slot);
}

static void
receiver_startup(DestReceiver *self, int operation, TupleDesc desc)
{
}

static void
receiver_shutdown(DestReceiver *self)
{
}

/* May the current user read all tables that a plan reads? */
static bool
is_readable(const PlannedStmt *plan)
{
	ListCell *cell;

	foreach (cell, plan->rtable)
	{
		RangeTblEntry *rte = lfirst(cell);

		if (rte->rtekind == RTE_RELATION && !relation_is_readable(rte->relid))
			return false;
	}
	return true;
}

/* Errors about rights, resources, concurrency and cancellation say nothing about rows. */
static bool
is_discreet(int sqlstate)
{
	switch (ERRCODE_TO_CATEGORY(sqlstate))
	{
		case ERRCODE_FEATURE_NOT_SUPPORTED:
		case ERRCODE_INVALID_TRANSACTION_STATE:
		case ERRCODE_TRANSACTION_ROLLBACK:
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_PROGRAM_LIMIT_EXCEEDED:
		case ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE:
		case ERRCODE_OPERATOR_INTERVENTION:
			return true;
		default:
			return sqlstate == ERRCODE_INSUFFICIENT_PRIVILEGE;
	}
}

/* An error of the source may quote a raw value: the log gets it, the caller hears of it. */
static void pg_attribute_noreturn()
hide_error(ErrorData *error)
{
	if (is_discreet(error->sqlerrcode))
		ReThrowError(error);
	ereport(LOG_SERVER_ONLY,
			(errcode(error->sqlerrcode),
			 errmsg_internal("the source of an anonymization view failed: %s", error->message),
			 error->detail ? errdetail_internal("%s", error->detail) : 0,
			 error->context ? errcontext_msg("%s", error->context) : 0));
	ereport(ERROR,
			(errcode(error->sqlerrcode),
			 errmsg("the source of an anonymization view could not be read"),
			 errhint("The server's log has the reason.")));
}

static void
run_executor(SourceRun *run, uint64 count, bool once)
{
	MemoryContext caller = CurrentMemoryContext;
	AsOwner scope;

	if (run->readable)
	{
		kanon_executor_run(run->desc, count, once);
		return;
	}
	PG_TRY();
	{
		if (OidIsValid(run->reader))
		{
			as_owner_start(&scope, run->reader, SECURITY_RESTRICTED_OPERATION);
			citus_hush();
		}
		kanon_executor_run(run->desc, count, once);
		if (OidIsValid(run->reader))
			as_owner_end(&scope);
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		hide_error(error);
	}
	PG_END_TRY();
}

/* All of it belongs to the current memory context and resource owner. */
SourceRun *
source_start(PlannedStmt *plan, ParamListInfo params, Snapshot snapshot)
{
	SourceRun *run = palloc0(sizeof(SourceRun));
	DestReceiver *base = &run->receiver.base;

	base->receiveSlot = receive_row;
	base->rStartup = receiver_startup;
	base->rShutdown = receiver_shutdown;
	base->rDestroy = receiver_shutdown;
	base->mydest = DestNone;
	run->desc = CreateQueryDesc(plan, QUERY_TEXT, snapshot, InvalidSnapshot, base, params, NULL, 0);
	run->readable = is_readable(plan);
	run->reader = run->readable ? InvalidOid : citus_reader(plan);
	ExecutorStart(run->desc, 0);
	/* auto_explain must not explain the source to those who may not read it. */
	if (!run->readable)
		run->desc->totaltime = NULL;
	run->slot = MakeSingleTupleTableSlot(run->desc->tupDesc, &TTSOpsMinimalTuple);
	run->batch = AllocSetContextCreate(CurrentMemoryContext, "kanon source rows", ALLOCSET_DEFAULT_SIZES);
	return run;
}

/*
 * Does a plan read one table, in the order in which it is stored?  Anything else,
 * be it an index, partitions or a join in batches, may put rows in an order of what
 * nobody is shown; and it depends on settings that anybody may change.
 */
static bool
is_in_stored_order(const Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_BitmapHeapScan:
			return true;
		case T_Gather:
			return is_in_stored_order(plan->lefttree);
		case T_SubqueryScan:
			return is_in_stored_order(((const SubqueryScan *) plan)->subplan);
		case T_Result:
			return plan->lefttree == NULL || is_in_stored_order(plan->lefttree);
		default:
			return false;
	}
}

bool
source_tells_order(const SourceRun *run)
{
	return !is_in_stored_order(run->desc->plannedstmt->planTree);
}

void
source_hide_order(SourceRun *run)
{
	run->unordered = source_tells_order(run);
}

static bool
shuffle_row(void *arg, TupleTableSlot *slot)
{
	shuffle_add(arg, slot);
	return true;
}

/* Reads all rows, to hand them out in no order. */
static void
shuffle_rows(SourceRun *run)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(run));

	run->shuffle = shuffle_create(run->desc->tupDesc);
	run->receiver.receive = shuffle_row;
	run->receiver.arg = run->shuffle;
	run_executor(run, 0, true);
	MemoryContextSwitchTo(old);
}

void
source_pump(SourceRun *run, SourceReceiver receiver, void *arg)
{
	TupleTableSlot *slot;

	if (run->unordered)
	{
		shuffle_rows(run);
		while (shuffle_next(run->shuffle, &slot) && receiver(arg, slot))
			;
		return;
	}
	run->receiver.receive = receiver;
	run->receiver.arg = arg;
	run_executor(run, 0, true);
	run->finished = true;
}

static bool
keep_row(void *arg, TupleTableSlot *slot)
{
	SourceRun *run = arg;
	MemoryContext old = MemoryContextSwitchTo(run->batch);

	run->rows[run->nrows++] = ExecCopySlotMinimalTuple(slot);
	MemoryContextSwitchTo(old);
	return true;
}

/* The next rows, of the executor or of those that wait in no order. */
static void
fetch_batch(SourceRun *run)
{
	TupleTableSlot *slot;

	ExecClearTuple(run->slot);
	MemoryContextReset(run->batch);
	run->nrows = run->at = 0;
	if (run->unordered && run->shuffle == NULL)
		shuffle_rows(run);
	if (run->unordered)
	{
		while (run->nrows < BATCH_ROWS && shuffle_next(run->shuffle, &slot))
			keep_row(run, slot);
	}
	else
	{
		run->receiver.receive = keep_row;
		run->receiver.arg = run;
		run_executor(run, BATCH_ROWS, false);
	}
	run->finished = run->nrows < BATCH_ROWS;
}

int
source_fetch(SourceRun *run)
{
	if (run->at == run->nrows && !run->finished)
		fetch_batch(run);
	return run->nrows - run->at;
}

TupleTableSlot *
source_fetched(SourceRun *run, int row)
{
	return ExecStoreMinimalTuple(run->rows[run->at + row], run->slot, false);
}

bool
source_next(SourceRun *run, TupleTableSlot **slot)
{
	if (source_fetch(run) == 0)
		return false;
	*slot = source_fetched(run, 0);
	run->at++;
	return true;
}

TupleDesc
source_desc(const SourceRun *run)
{
	return run->desc->tupDesc;
}

void
source_end(SourceRun *run)
{
	if (run->shuffle)
		shuffle_end(run->shuffle);
	ExecDropSingleTupleTableSlot(run->slot);
	ExecutorFinish(run->desc);
	ExecutorEnd(run->desc);
	FreeQueryDesc(run->desc);
	MemoryContextDelete(run->batch);
	pfree(run);
}
