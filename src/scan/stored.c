/*
 * stored.c
 *		Published rows from stored groups.
 */
#include "scan/stored.h"

#include "executor/executor.h"

#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "scan/conditions.h"

struct StoredRows
{
	MemoryContext context;
	AView *view;
	Snapshot snapshot;
	List *columns;
	Dictionary **dictionaries; /* per column of the view that is generalized here */
	MemoryContext run_context;
	SourceRun *run;
};

static void
append_column(StringInfo text, const AView *aview, int column)
{
	const AViewColumn *c = &aview->columns[column];

	if (c->role == ROLE_QUASI)
		appendStringInfo(text, "g.c%d", column + 1);
	else if (c->role == ROLE_ID)
		appendStringInfo(text, "NULL::%s", format_type_extended(c->source_type, c->source_typmod,
																FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
	else
		appendStringInfo(text, "m.c%d", column + 1);
	appendStringInfo(text, " AS %s", quote_identifier(c->name));
}

/* Whoever may query the view has its groups read on his behalf. */
static void
read_as_owner(Query *query)
{
	Oid owner = kanon_owner();
	ListCell *cell;

	foreach (cell, kanon_permissions(query))
		((KanonPermission *) lfirst(cell))->checkAsUser = owner;
}

static Query *
published_rows(const AView *aview)
{
	StringInfoData text;
	Query *query;

	initStringInfo(&text);
	appendStringInfoString(&text, "SELECT ");
	for (int i = 0; i < aview->ncolumns; i++)
	{
		appendStringInfoString(&text, i > 0 ? ", " : "");
		append_column(&text, aview, i);
	}
	appendStringInfo(&text, " FROM kanon.groups_%d AS g, kanon.members_%d AS m WHERE m.m_group OPERATOR(pg_catalog.=) g.g_id",
					 aview->id, aview->id);
	query = kanon_analyze(linitial_node(RawStmt, raw_parser(text.data, RAW_PARSE_DEFAULT)), text.data);
	read_as_owner(query);
	return query;
}

/* The stored rows are for an owner who may read the source itself, as long as he may. */
void
stored_check_rights(const AView *aview)
{
	kanon_check_permissions(aview->source);
}

AView *
stored_view(const AView *aview)
{
	AView *stored = palloc(sizeof(AView));

	stored_check_rights(aview);
	*stored = *aview;
	stored->source = stored->rows = published_rows(aview);
	stored->columns = palloc(aview->ncolumns * sizeof(AViewColumn));
	memcpy(stored->columns, aview->columns, aview->ncolumns * sizeof(AViewColumn));
	for (int i = 0; i < aview->ncolumns; i++)
	{
		if (stored->columns[i].role != ROLE_QUASI)
			continue;
		stored->columns[i].source_type = kanon_generalized_type();
		stored->columns[i].source_typmod = -1;
		stored->columns[i].source_collation = C_COLLATION_OID;
	}
	return stored;
}

/* A value and all above it, as an array. */
static Datum
path_of(Dgh *dgh, Datum value)
{
	Datum *path = palloc((dgh->height + 1) * sizeof(Datum));
	int length = 0;
	bool at_root = false;

	for (int steps = 0; steps <= dgh->height && !at_root; steps++)
		path[length++] = dgh_climb(dgh, value, steps, &at_root);
	return PointerGetDatum(construct_array(path, length, kanon_generalized_type(), -1, false, TYPALIGN_INT));
}

Node *
stored_probe(const AView *stored, int column, Oid type, Datum value)
{
	Dgh *dgh = stored->columns[column].dgh;
	ScalarArrayOpExpr *probe;
	GenView view;
	Oid generalized = kanon_generalized_type();

	if (dgh == NULL)
		return NULL;
	value = dgh_resolve(dgh, condition_meaning(type, value));
	gen_view(value, &view);
	/* Groups below a value that stands for many would have to be found, too. */
	if (!gen_is_itself(&view))
		return NULL;
	probe = makeNode(ScalarArrayOpExpr);
	probe->opno = lookup_type_cache(generalized, TYPECACHE_EQ_OPR)->eq_opr;
	probe->opfuncid = get_opcode(probe->opno);
	probe->useOr = true;
	probe->inputcollid = C_COLLATION_OID;
	probe->args = list_make2(source_column(stored, column),
							 makeConst(get_array_type(generalized), -1, C_COLLATION_OID, -1, path_of(dgh, value), false, false));
	probe->location = -1;
	return (Node *) probe;
}

StoredRows *
storedrows_start(const AView *aview, const Bitmapset *wanted, Snapshot snapshot)
{
	StoredRows *rows = palloc0(sizeof(StoredRows));
	int column = -1;

	rows->context = CurrentMemoryContext;
	rows->view = stored_view(aview);
	rows->snapshot = snapshot;
	rows->dictionaries = palloc0(aview->ncolumns * sizeof(Dictionary *));
	rows->run_context = AllocSetContextCreate(CurrentMemoryContext, "kanon stored rows", ALLOCSET_DEFAULT_SIZES);
	while ((column = bms_next_member(wanted, column)) >= 0)
	{
		const AViewColumn *c = &aview->columns[column];

		rows->columns = lappend_int(rows->columns, column);
		if (c->role == ROLE_SENSITIVE && c->generalized)
			rows->dictionaries[column] = dictionary_create(c->source_type, c->dgh);
	}
	/* Rows are rows, even if nothing of them is wanted. */
	if (rows->columns == NIL)
		rows->columns = list_make1_int(0);
	return rows;
}

void
storedrows_rewind(StoredRows *rows, List *conditions, ParamListInfo params)
{
	MemoryContext old;

	if (rows->run)
		source_end(rows->run);
	rows->run = NULL;
	MemoryContextReset(rows->run_context);
	old = MemoryContextSwitchTo(rows->run_context);
	rows->run = source_start(source_plan(source_query(rows->view, rows->columns, conditions, NIL), false, params), params, rows->snapshot);
	MemoryContextSwitchTo(old);
}

bool
storedrows_next(StoredRows *rows, Datum *values, bool *nulls)
{
	TupleTableSlot *slot;
	ListCell *cell;
	int place = 0;

	CHECK_FOR_INTERRUPTS();
	if (!source_next(rows->run, &slot))
		return false;
	slot_getallattrs(slot);
	foreach (cell, rows->columns)
	{
		int column = lfirst_int(cell);
		Dictionary *dictionary = rows->dictionaries[column];
		Datum value = slot->tts_values[place];

		nulls[column] = slot->tts_isnull[place++];
		values[column] = dictionary && !nulls[column] ? dictionary->levels[0].values[dictionary_code(dictionary, value, false)] : value;
	}
	return true;
}

void
storedrows_end(StoredRows *rows)
{
	if (rows->run)
		source_end(rows->run);
	rows->run = NULL;
}
