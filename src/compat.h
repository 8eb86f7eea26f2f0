/*
 * compat.h
 *		Differences between PostgreSQL versions: no other file knows the version it is
 *		built for.
 */
#ifndef KANON_COMPAT_H
#define KANON_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 140000
#error "kanon needs PostgreSQL 14 or later"
#endif

/* PostgreSQL 16 moved varatt.h out of postgres.h; pg_class.h has the OID of that catalog for the macros below. */
#if PG_VERSION_NUM >= 160000
#include "catalog/pg_class.h"
#include "varatt.h"
#endif

/* PostgreSQL 18's name for the attribute of functions that do not return, which stands before their type. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

/* Prepare a set-returning function to fill a tuplestore. */
#if PG_VERSION_NUM >= 150000
#define kanon_materialize(fcinfo) InitMaterializedSRF(fcinfo, 0)
#define kanon_materialize_expected(fcinfo) InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC)
#else
/* A macro, so that files without set-returning functions need not include funcapi.h. */
#define kanon_start_rows(fcinfo, expected) \
	do \
	{ \
		ReturnSetInfo *info_ = (ReturnSetInfo *) (fcinfo)->resultinfo; \
		MemoryContext old_; \
		if (info_ == NULL || !IsA(info_, ReturnSetInfo) || !(info_->allowedModes & SFRM_Materialize) || \
			((expected) && info_->expectedDesc == NULL)) \
			ereport(ERROR, \
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED), \
					 errmsg("materialize mode required, but it is not allowed in this context"))); \
		old_ = MemoryContextSwitchTo(info_->econtext->ecxt_per_query_memory); \
		if (expected) \
			info_->setDesc = CreateTupleDescCopy(info_->expectedDesc); \
		else if (get_call_result_type(fcinfo, NULL, &info_->setDesc) != TYPEFUNC_COMPOSITE) \
			elog(ERROR, "return type must be a row type"); \
		info_->setResult = \
			tuplestore_begin_heap((info_->allowedModes & SFRM_Materialize_Random) != 0, false, work_mem); \
		info_->returnMode = SFRM_Materialize; \
		MemoryContextSwitchTo(old_); \
	} while (0)
#define kanon_materialize(fcinfo) kanon_start_rows(fcinfo, false)
#define kanon_materialize_expected(fcinfo) kanon_start_rows(fcinfo, true)
#endif

/*
 * Random numbers by a seed.  PostgreSQL 14 has no such generator; this is the one
 * that later versions have, xoroshiro128** seeded by splitmix64 (both by Blackman
 * and Vigna), so that a seed means the same everywhere.
 */
#if PG_VERSION_NUM >= 150000
#include "common/pg_prng.h"
#else
#include "port/pg_bitutils.h"

typedef struct pg_prng_state
{
	uint64 word[2];
} pg_prng_state;

/* Rotate a word to the left. */
static inline uint64
kanon_rotate(uint64 word, int bits)
{
	return word << bits | word >> (64 - bits);
}

/* Mix the bits of a word: splitmix64's output function. */
static inline uint64
kanon_mix(uint64 word)
{
	word = (word ^ word >> 30) * UINT64CONST(0xBF58476D1CE4E5B9);
	word = (word ^ word >> 27) * UINT64CONST(0x94D049BB133111EB);
	return word ^ word >> 31;
}

/* Seed a generator; no seed gives two zeros, a state that the generator would never leave. */
static inline void
pg_prng_seed(pg_prng_state *state, uint64 seed)
{
	const uint64 step = UINT64CONST(0x9E3779B97F4A7C15);

	state->word[0] = kanon_mix(seed + step);
	state->word[1] = kanon_mix(seed + 2 * step);
}

/* Draw 64 random bits. */
static inline uint64
pg_prng_uint64(pg_prng_state *state)
{
	uint64 first = state->word[0];
	uint64 both = first ^ state->word[1];

	state->word[0] = kanon_rotate(first, 24) ^ both ^ both << 16;
	state->word[1] = kanon_rotate(both, 37);
	return kanon_rotate(first * 5, 7) * 9;
}

/* Draw a number of a range: as many of the upper bits as the range needs, until they are in it. */
static inline uint64
pg_prng_uint64_range(pg_prng_state *state, uint64 least, uint64 most)
{
	uint64 drawn = 0;

	if (most > least)
	{
		do
			drawn = pg_prng_uint64(state) >> (63 - pg_leftmost_one_pos64(most - least));
		while (drawn > most - least);
	}
	return least + drawn;
}

#endif

/* Have the processor fetch memory that is soon needed, of any address. */
#ifdef __GNUC__
#define kanon_prefetch(address) __builtin_prefetch(address)
#else
#define kanon_prefetch(address) ((void) (address))
#endif
#define KANON_CACHE_LINE 64

/* PostgreSQL 16 gave many functions a way to return errors softly. */
#if PG_VERSION_NUM >= 160000
#define kanon_make_range(cache, lower, upper) make_range(cache, lower, upper, false, NULL)
#else
#define kanon_make_range(cache, lower, upper) make_range(cache, lower, upper, false)
#endif

/* PostgreSQL 15 renamed the analysis of statements without parameters. */
#if PG_VERSION_NUM >= 150000
#define kanon_analyze(statement, text) parse_analyze_fixedparams(statement, text, NULL, 0, NULL)
#else
#define kanon_analyze(statement, text) parse_analyze(statement, text, NULL, 0, NULL)
#endif

/* PostgreSQL 16 keeps the rights that a query needs apart from its range table. */
#if PG_VERSION_NUM >= 160000
#define kanon_permissions(query) ((query)->rteperminfos)
#define kanon_plan_permissions(plan) ((plan)->permInfos)
typedef struct RTEPermissionInfo KanonPermission;
#else
#define kanon_permissions(query) ((query)->rtable)
#define kanon_plan_permissions(plan) ((plan)->rtable)
typedef struct RangeTblEntry KanonPermission;
#endif

/* PostgreSQL 18 has the answer in the collation's locale. */
#if PG_VERSION_NUM >= 180000
#define kanon_collation_is_c(collation) (pg_newlocale_from_collation(collation)->collate_is_c)
#else
#define kanon_collation_is_c(collation) lc_collate_is_c(collation)
#endif

/* PostgreSQL 16 added an argument to the date parser for details of an error, which are not used. */
#if PG_VERSION_NUM >= 160000
#define kanon_decode_datetime(field, ftype, nf, dtype, tm, fsec, tzp) \
	DecodeDateTime(field, ftype, nf, dtype, tm, fsec, tzp, &(DateTimeErrorExtra){0})
#else
#define kanon_decode_datetime DecodeDateTime
#endif

/* PostgreSQL 15 lets an extension have its prefix of settings to itself. */
#if PG_VERSION_NUM >= 150000
#define kanon_reserve_settings(prefix) MarkGUCPrefixReserved(prefix)
#else
#define kanon_reserve_settings(prefix) EmitWarningsOnPlaceholders(prefix)
#endif

/* PostgreSQL 16 has one function for the privileges on all kinds of objects. */
#if PG_VERSION_NUM >= 160000
#define kanon_function_aclcheck(function, role, mode) object_aclcheck(ProcedureRelationId, function, role, mode)
#define kanon_schema_aclcheck(schema, role, mode) object_aclcheck(NamespaceRelationId, schema, role, mode)
#else
#define kanon_function_aclcheck pg_proc_aclcheck
#define kanon_schema_aclcheck pg_namespace_aclcheck
#endif

/*
 * The rights that PostgreSQL checks on an entry of a query's range table: 16 keeps
 * them in a list beside the table.  An entry of that list that requires no right is
 * allowed only while a query is planned, so kanon_forget_no_rights() removes it.
 */
#if PG_VERSION_NUM >= 160000
#define kanon_permission(query, rte) \
	list_nth_node(RTEPermissionInfo, (query)->rteperminfos, (int) (rte)->perminfoindex - 1)
#define kanon_ask_no_rights(query, rte) \
	(kanon_permission(query, rte)->relid = (rte)->relid, kanon_permission(query, rte)->requiredPerms = 0)
#define kanon_forget_no_rights(planned) \
	do \
	{ \
		List *asked_ = NIL; \
		ListCell *cell_; \
		foreach (cell_, (planned)->rtable) \
		{ \
			RangeTblEntry *rte_ = lfirst_node(RangeTblEntry, cell_); \
			if (rte_->perminfoindex == 0) \
				continue; \
			asked_ = lappend(asked_, list_nth((planned)->permInfos, (int) rte_->perminfoindex - 1)); \
			rte_->perminfoindex = list_length(asked_); \
			if (llast_node(RTEPermissionInfo, asked_)->requiredPerms == 0) \
			{ \
				asked_ = list_delete_last(asked_); \
				rte_->perminfoindex = 0; \
			} \
		} \
		(planned)->permInfos = asked_; \
	} while (0)
/* Add a copy of a relation's entry in the query `from` to the range table of another query. */
#define kanon_add_entry(query, from, rte) \
	do \
	{ \
		RangeTblEntry *copy_ = copyObject(rte); \
		if ((rte)->perminfoindex > 0) \
		{ \
			(query)->rteperminfos = lappend((query)->rteperminfos, copyObject(kanon_permission(from, rte))); \
			copy_->perminfoindex = list_length((query)->rteperminfos); \
		} \
		(query)->rtable = lappend((query)->rtable, copy_); \
	} while (0)
#else
#define kanon_permission(query, rte) (rte)
#define kanon_ask_no_rights(query, rte) ((rte)->requiredPerms = 0)
#define kanon_forget_no_rights(planned) ((void) 0)
#define kanon_add_entry(query, from, rte) ((query)->rtable = lappend((query)->rtable, copyObject(rte)))
#endif

/*
 * Until PostgreSQL 15 the query of a view begins with two entries for the view, OLD and NEW;
 * since then the view's own entry stays in the query that names it.
 */
#define KANON_VIEWS_LEAVE_OLD (PG_VERSION_NUM < 160000)

/* Since PostgreSQL 17 ALTER TABLE can give a generated column other values, for which no trigger fires. */
#if PG_VERSION_NUM >= 170000
#define kanon_sets_expression(subtype) ((subtype) == AT_SetExpression)
#else
#define kanon_sets_expression(subtype) false
#endif

/* The parts of a name that may be qualified. */
#if PG_VERSION_NUM >= 160000
#define kanon_name_list(name) stringToQualifiedNameList(name, NULL)
#else
#define kanon_name_list(name) stringToQualifiedNameList(name)
#endif

/* True if a role has the rights of a relation's owner. */
#if PG_VERSION_NUM >= 160000
#define kanon_owns_relation(relation, role) object_ownercheck(RelationRelationId, relation, role)
#else
#define kanon_owns_relation(relation, role) pg_class_ownercheck(relation, role)
#endif

/* The status of a backend, by its number, which starts at 1. */
#if PG_VERSION_NUM >= 160000
#define kanon_backend_status(number) (&pgstat_get_local_beentry_by_index(number)->backendStatus)
#else
#define kanon_backend_status(number) (&pgstat_fetch_stat_local_beentry(number)->backendStatus)
#endif

/* The server's settings as an array of struct config_generic *. */
#if PG_VERSION_NUM >= 160000
#define kanon_settings(count) get_guc_variables(count)
#else
#define kanon_settings(count) (*(count) = GetNumConfigOptions(), get_guc_variables())
#endif

/* PostgreSQL 18 has no argument that says whether a query runs once only. */
#if PG_VERSION_NUM >= 180000
#define kanon_executor_run(desc, count, once) ((void) (once), ExecutorRun(desc, ForwardScanDirection, count))
#else
#define kanon_executor_run(desc, count, once) ExecutorRun(desc, ForwardScanDirection, count, once)
#endif

/* PostgreSQL 18 can leave room before a minimal tuple. */
#if PG_VERSION_NUM >= 180000
#define kanon_minimal_tuple(desc, values, nulls) heap_form_minimal_tuple(desc, values, nulls, 0)
#else
#define kanon_minimal_tuple(desc, values, nulls) heap_form_minimal_tuple(desc, values, nulls)
#endif

/* PostgreSQL 18 knows primary keys that can be deferred; they are no keys to rely on. */
#if PG_VERSION_NUM >= 180000
#define kanon_primary_key(rel) RelationGetPrimaryKeyIndex(rel, false)
#else
#define kanon_primary_key(rel) RelationGetPrimaryKeyIndex(rel)
#endif

/* PostgreSQL 18 has generated columns that are computed only when a query reads them. */
#if PG_VERSION_NUM >= 180000
#define kanon_is_virtual(table, attnum) (get_attgenerated(table, attnum) == ATTRIBUTE_GENERATED_VIRTUAL)
#else
#define kanon_is_virtual(table, attnum) false
#endif

/* In PostgreSQL 18 a grouped query refers to its grouping expressions by Vars: replace them by the expressions. */
#if PG_VERSION_NUM >= 180000
#define kanon_ungrouped(query, node) ((query)->hasGroupRTE ? flatten_group_exprs(NULL, query, node) : (node))
#else
#define kanon_ungrouped(query, node) (node)
#endif

/* PostgreSQL 18 has the functions that write EXPLAIN's properties in a header of their own. */
#if PG_VERSION_NUM >= 180000
#define KANON_EXPLAIN_HEADER "commands/explain_format.h"
#else
#define KANON_EXPLAIN_HEADER "commands/explain.h"
#endif

/*
 * True if an operator, or its negator, belongs to a btree operator family.
 * PostgreSQL 18 looks at the families of all access methods that sort, of which
 * only the btree's count here.
 */
#if PG_VERSION_NUM >= 180000
#include "catalog/pg_am.h"
#include "utils/lsyscache.h"

static inline bool
kanon_sorts(Oid opno)
{
	ListCell *cell;

	foreach (cell, get_op_index_interpretation(opno))
	{
		if (get_opfamily_method(((OpIndexInterpretation *) lfirst(cell))->opfamily_id) == BTREE_AM_OID)
			return true;
	}
	return false;
}
#else
#define kanon_sorts(opno) (get_op_btree_interpretation(opno) != NIL)
#endif

/* PostgreSQL 14 expects every custom path to project, and has no flag for it. */
#if PG_VERSION_NUM >= 150000
#define KANON_PATH_PROJECTS CUSTOMPATH_SUPPORT_PROJECTION
#else
#define KANON_PATH_PROJECTS 0
#include "miscadmin.h"
#define list_copy_head(list, length) list_truncate(list_copy(list), length)
#endif

#endif
