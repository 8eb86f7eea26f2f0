/*
 * query.c
 *		Checking and describing the source query of an A-view that is to be created.
 */
#include "base/kanon.h"

#include "ddl/create.h"

#include "executor/spi.h"
#include "parser/parser.h"
#include "utils/plancache.h"

#include "ddl/position.h"

/*
 * Return the source query if it is one SELECT, as in CREATE VIEW, and set the byte at
 * which it begins; else raise an error.
 */
static char *
check_query(const char *query, int *start)
{
	List *statements = raw_parser(query, RAW_PARSE_DEFAULT);
	RawStmt *statement;

	if (list_length(statements) != 1 || !IsA(linitial_node(RawStmt, statements)->stmt, SelectStmt) ||
		((SelectStmt *) linitial_node(RawStmt, statements)->stmt)->intoClause)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("the source of an anonymization view must be one SELECT")));
	statement = linitial_node(RawStmt, statements);
	*start = statement->stmt_location;
	if (statement->stmt_len == 0)
		return pstrdup(query + statement->stmt_location);
	return pnstrdup(query + statement->stmt_location, statement->stmt_len);
}

/* Set from which relations the columns of a query come as they are. */
static void
list_origins(RequestedSource *source, const Query *query)
{
	ListCell *cell;
	int column = 0;

	source->origins = palloc0(source->desc->natts * sizeof(Oid));
	foreach (cell, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (!entry->resjunk)
			source->origins[column++] = entry->resorigtbl;
	}
	Assert(column == source->desc->natts);
}

/* Set the columns of a source, without running it. */
static void
describe_query(RequestedSource *source)
{
	SPIPlanPtr plan = SPI_prepare(source->query, 0, NULL);
	CachedPlanSource *prepared;
	TupleDesc desc;

	if (plan == NULL)
		elog(ERROR, "could not prepare the source: %s", SPI_result_code_string(SPI_result));
	prepared = linitial(SPI_plan_get_plan_sources(plan));
	source->desc = desc = prepared->resultDesc;
	if (desc->natts == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TABLE_DEFINITION),
				 errmsg("the source has no columns")));
	for (int i = 0; i < desc->natts; i++)
	{
		for (int j = 0; j < i; j++)
		{
			if (strcmp(NameStr(TupleDescAttr(desc, i)->attname), NameStr(TupleDescAttr(desc, j)->attname)) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("the source has two columns named \"%s\"", NameStr(TupleDescAttr(desc, i)->attname)),
						 errhint("Give one of them another name with AS.")));
		}
	}
	list_origins(source, linitial_node(Query, prepared->query_list));
}

/* Read the query of the source and its columns; errors in it are shown in the text that contains it. */
void
source_read(const AViewRequest *request, RequestedSource *source)
{
	ErrorPlace place;
	int start = 0;

	error_place_part(&place, request->text, request->query_location);
	source->query = check_query(request->query, &start);
	place.location += start;
	describe_query(source);
	error_place_leave(&place);
	source->nshown = source->desc->natts;
}
