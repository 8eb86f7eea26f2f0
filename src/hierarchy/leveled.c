/*
 * leveled.c
 *		Leveled hierarchies, as other tools exchange them: a line per leaf, with the
 *		leaf and its ancestors up to the root, separated by semicolons.
 *
 * Where a line repeats a label from one level to the next, the value stays unchanged at
 * that level in other tools; a tree of labels has no such step, and climbs on.  Fields
 * may be quoted as in CSV.
 */
#include "base/kanon.h"

#include "hierarchy/catalog.h"

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/extension.h"
#include "hierarchy/dgh.h"
#include "hierarchy/generalized.h"
#include "hierarchy/tree.h"
#include "hierarchy/tree_build.h"

PG_FUNCTION_INFO_V1(kanon_import_dgh);
PG_FUNCTION_INFO_V1(kanon_import_dgh_file);
PG_FUNCTION_INFO_V1(kanon_export_dgh);

#define SEPARATOR ';'
#define QUOTE '"'

/* The state of an import. */
typedef struct Import
{
	MemoryContext context;		/* owns everything that outlives a line */
	MemoryContext line_context; /* owns the fields of a line */
	const char *name;
	int line;				   /* the number of the present line, from 1 */
	int fields;				   /* of the first line */
	int blank;				   /* the first of the blank lines just passed, or 0 */
	TreeBuilder *seen;		   /* finds contradictions between lines */
	ArrayBuildState *children; /* of the edges, */
	ArrayBuildState *parents;  /* in the same order */
	ArrayBuildState *leaves;   /* in the order of lines */
} Import;

/* Raise the error that a line breaks a rule. */
#define bad_line(import, rule, ...) \
	ereport(ERROR, \
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT), \
			 errmsg("line %d of hierarchy \"%s\": " rule, (import)->line, (import)->name, ##__VA_ARGS__)))

/* Read a field; return the place where the next one starts, or NULL after the last. */
static const char *
split_field(Import *import, const char *text, StringInfo field)
{
	resetStringInfo(field);
	if (*text != QUOTE)
	{
		for (; *text && *text != SEPARATOR; text++)
			appendStringInfoChar(field, *text);
		return *text ? text + 1 : NULL;
	}
	for (text++; *text; text++)
	{
		if (*text == QUOTE && text[1] != QUOTE)
			break;
		if (*text == QUOTE)
			text++;
		appendStringInfoChar(field, *text);
	}
	if (*text != QUOTE)
		bad_line(import, "a quoted field is not terminated");
	if (text[1] != SEPARATOR && text[1] != '\0')
		bad_line(import, "text follows the closing quote of a field");
	return text[1] ? text + 2 : NULL;
}

/* Return the fields of a line. */
static List *
split_line(Import *import, const char *line)
{
	List *fields = NIL;
	StringInfoData field;

	initStringInfo(&field);
	while (line)
	{
		line = split_field(import, line, &field);
		if (field.len == 0)
			bad_line(import, "field %d is empty", list_length(fields) + 1);
		fields = lappend(fields, pstrdup(field.data));
	}
	return fields;
}

/* Append a text to an array. */
static void
append_text(Import *import, ArrayBuildState **state, const char *text)
{
	*state = accumArrayResult(*state, CStringGetTextDatum(text), false, TEXTOID, import->context);
}

/* Note a leaf.  A leaf may stay the same on all levels, and so come without an edge. */
static void
import_label(Import *import, const char *label)
{
	MemoryContext old = MemoryContextSwitchTo(import->context);

	tree_builder_add(import->seen, label, NULL);
	MemoryContextSwitchTo(old);
}

/* Add an edge. */
static void
import_edge(Import *import, const char *child, const char *parent)
{
	MemoryContext old = MemoryContextSwitchTo(import->context);

	tree_builder_add(import->seen, child, parent);
	MemoryContextSwitchTo(old);
	append_text(import, &import->children, child);
	append_text(import, &import->parents, parent);
}

/* Import one step of a line.  Repeated labels, and so steps of the root to itself, add no edge. */
static void
import_step(Import *import, const char *child, const char *parent)
{
	const char *known;

	if (strcmp(child, parent) == 0)
		return;
	if (strcmp(child, GEN_ROOT_LABEL) == 0)
		bad_line(import, "\"%s\" stands below \"%s\", but it is the root", child, parent);
	known = tree_builder_parent(import->seen, child);
	if (known && strcmp(known, parent) != 0)
		bad_line(import, "\"%s\" stands below \"%s\", but below \"%s\" in an earlier line", child, parent, known);
	if (known == NULL)
		import_edge(import, child, parent);
}

/* Import the fields of a line. */
static void
import_fields(Import *import, List *fields)
{
	const char *leaf = linitial(fields);
	const char *below = NULL;
	ListCell *cell;

	Assert(fields != NIL);
	if (import->fields == 0)
		import->fields = list_length(fields);
	if (list_length(fields) != import->fields)
		bad_line(import, "the line has %d fields, the first one %d", list_length(fields), import->fields);

	if (tree_builder_parent(import->seen, leaf) == NULL)
		append_text(import, &import->leaves, leaf);
	import_label(import, leaf);
	foreach (cell, fields)
	{
		if (below)
			import_step(import, below, lfirst(cell));
		below = lfirst(cell);
	}
	/* A single field is a leaf of a flat hierarchy. */
	if (import->fields == 1)
		import_step(import, below, GEN_ROOT_LABEL);
}

/* Import a line.  Blank lines may only stand at the end. */
static void
import_line(Import *import, char *line)
{
	MemoryContext old;
	int len = strlen(line);

	CHECK_FOR_INTERRUPTS();
	import->line++;
	if (len > 0 && line[len - 1] == '\r')
		line[len - 1] = '\0';
	if (line[strspn(line, " \t")] == '\0')
	{
		if (import->blank == 0)
			import->blank = import->line;
		return;
	}
	if (import->blank)
	{
		import->line = import->blank;
		bad_line(import, "the line is empty, but further lines follow");
	}
	old = MemoryContextSwitchTo(import->line_context);
	import_fields(import, split_line(import, line));
	MemoryContextSwitchTo(old);
	MemoryContextReset(import->line_context);
}

/* Return the finished array, an empty one if no text was appended. */
static Datum
import_array(ArrayBuildState *state)
{
	if (state == NULL)
		return PointerGetDatum(construct_empty_array(TEXTOID));
	return makeArrayResult(state, CurrentMemoryContext);
}

/* Put leaves that have no edge below the root. */
static void
import_lone_leaves(Import *import)
{
	const char *root;
	ListCell *cell;

	foreach (cell, tree_builder_lone(import->seen, &root))
		import_edge(import, lfirst(cell), root);
}

/* Store the hierarchy, and return the number of its leaves.  After an error nothing is stored. */
static int64
import_finish(Import *import)
{
	Oid types[3] = {TEXTOID, TEXTARRAYOID, TEXTARRAYOID};
	Datum values[3];
	int64 count = import->leaves ? import->leaves->nelems : 0;

	import_lone_leaves(import);
	Assert((import->children == NULL) == (import->parents == NULL));
	Assert(import->children == NULL || import->children->nelems == import->parents->nelems);
	tree_builder_check(import->seen, import->name);
	values[0] = CStringGetTextDatum(import->name);
	values[1] = import_array(import->leaves);
	if (SPI_execute_with_args("INSERT INTO kanon.dgh (name, kind, leaf_order) VALUES ($1, 'tree', $2)",
							  2, types, values, NULL, false, 0) != SPI_OK_INSERT)
		elog(ERROR, "could not create hierarchy \"%s\"", import->name);
	values[1] = import_array(import->children);
	values[2] = import_array(import->parents);
	if (SPI_execute_with_args("INSERT INTO kanon.dgh_edge (dgh, child, parent)"
							  " SELECT $1, child, parent"
							  " FROM ROWS FROM (pg_catalog.unnest($2), pg_catalog.unnest($3)) AS edge (child, parent)",
							  3, types, values, NULL, false, 0) != SPI_OK_INSERT)
		elog(ERROR, "could not fill hierarchy \"%s\"", import->name);
	return count;
}

/* Start an import in the current memory context. */
static void
import_start(Import *import, const char *name)
{
	memset(import, 0, sizeof(Import));
	import->name = name;
	import->context = CurrentMemoryContext;
	import->line_context = AllocSetContextCreate(CurrentMemoryContext, "kanon line", ALLOCSET_DEFAULT_SIZES);
	import->seen = tree_builder_start();
}

/* Import lines, and return the number of leaves: import_dgh(name, rows). */
Datum
kanon_import_dgh(PG_FUNCTION_ARGS)
{
	Import import;
	Datum *rows;
	bool *nulls;
	int count;
	int64 leaves;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TEXTOID, -1, false, TYPALIGN_INT, &rows, &nulls, &count);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	import_start(&import, text_to_cstring(PG_GETARG_TEXT_PP(0)));
	for (int i = 0; i < count; i++)
	{
		char *line = nulls[i] ? pstrdup("") : TextDatumGetCString(rows[i]);

		import_line(&import, line);
		pfree(line);
	}
	leaves = import_finish(&import);
	SPI_finish();
	PG_RETURN_INT64(leaves);
}

/* Read the next line of a file without its end; zero bytes are kept, to be refused later. */
static bool
import_read_line(FILE *file, StringInfo line)
{
	int byte;

	resetStringInfo(line);
	while ((byte = getc(file)) != EOF && byte != '\n')
		appendStringInfoChar(line, (char) byte);
	return byte != EOF || line->len > 0;
}

/* Import the lines of a file in UTF-8. */
static void
import_lines(Import *import, FILE *file, const char *path)
{
	StringInfoData line;

	initStringInfo(&line);
	while (import_read_line(file, &line))
	{
		char *text = line.data;
		char *converted;

		/* Some tools begin with a byte order mark. */
		if (import->line == 0 && line.len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
			text += 3;
		/* Raises an error for bytes that are not valid UTF-8, zero bytes included. */
		converted = pg_any_to_server(text, line.data + line.len - text, PG_UTF8);
		import_line(import, converted);
		if (converted != text)
			pfree(converted);
	}
	if (ferror(file))
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read file \"%s\": %m", path)));
}

/*
 * Import a file of the server, and return the number of leaves: import_dgh_file(name,
 * path), for roles that may read such files.
 */
Datum
kanon_import_dgh_file(PG_FUNCTION_ARGS)
{
	char *path = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Import import;
	FILE *file;
	int64 leaves;

	if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to read server files"),
				 errhint("Import the lines with %s.import_dgh, or ask for the role pg_read_server_files.",
						 KANON_SCHEMA)));
	file = AllocateFile(path, PG_BINARY_R);
	if (file == NULL)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\" for reading: %m", path)));

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	import_start(&import, text_to_cstring(PG_GETARG_TEXT_PP(0)));
	import_lines(&import, file, path);
	FreeFile(file);
	leaves = import_finish(&import);
	SPI_finish();
	PG_RETURN_INT64(leaves);
}

/* Append a field to a line, quoted if need be. */
static void
export_field(StringInfo line, const char *label)
{
	bool quoted = strchr(label, SEPARATOR) || strchr(label, '\n') || strchr(label, '\r') || label[0] == QUOTE ||
				  label[strspn(label, " \t")] == '\0';

	if (!quoted)
	{
		appendStringInfoString(line, label);
		return;
	}
	appendStringInfoChar(line, QUOTE);
	for (; *label; label++)
	{
		if (*label == QUOTE)
			appendStringInfoChar(line, QUOTE);
		appendStringInfoChar(line, *label);
	}
	appendStringInfoChar(line, QUOTE);
}

/* Raise an error unless the current user may read kanon.dgh_edge. */
static void
export_check_permission(void)
{
	AclResult result = pg_class_aclcheck(kanon_relation(DGH_EDGE_TABLE), GetUserId(), ACL_SELECT);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_TABLE, DGH_EDGE_TABLE);
}

/* Return the leaves in the order of export: as they were imported, then leaves that were added later. */
static int32 *
export_leaves(const Dgh *dgh)
{
	DghTree *tree = dgh->tree;
	int32 *leaves = palloc_extended(Max(tree->nleaves, 1) * sizeof(int32), MCXT_ALLOC_HUGE);
	bool *listed = palloc_extended(tree->nnodes * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	HeapTuple row = dgh_fetch_row(dgh->name, 0, NULL);
	int imported = 0;
	char **order = row ? dgh_leaf_order(row, &imported) : NULL;
	int count = 0;

	for (int i = 0; i < imported; i++)
	{
		int node = tree_find(tree, order[i], strlen(order[i]));

		if (node > 0 && tree->leaf[tree->lo[node]] == node && !listed[node])
		{
			leaves[count++] = node;
			listed[node] = true;
		}
	}
	for (int i = 0; i < tree->nleaves; i++)
	{
		if (!listed[tree->leaf[i]])
			leaves[count++] = tree->leaf[i];
	}
	Assert(count == tree->nleaves);
	return leaves;
}

/*
 * Make the line of a leaf: the leaf and its ancestors.  A path that reaches the root
 * early repeats the root, so that all lines have the same length.
 */
static void
export_line(StringInfo line, const Dgh *dgh, int node)
{
	resetStringInfo(line);
	export_field(line, tree_label(dgh->tree, node));
	for (int level = 1; level <= dgh->height; level++)
	{
		node = Max(dgh->tree->parent[node], 0);
		appendStringInfoChar(line, SEPARATOR);
		export_field(line, tree_label(dgh->tree, node));
	}
}

/* Return a line per leaf: export_dgh(name). */
Datum
kanon_export_dgh(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Dgh *dgh = dgh_get(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	StringInfoData line;
	int32 *leaves;

	export_check_permission();
	if (dgh->tree == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("hierarchy \"%s\" is computed, so that its leaves cannot be listed", dgh->name)));
	kanon_materialize_expected(fcinfo);
	dgh_pin(dgh, CurrentMemoryContext);
	leaves = export_leaves(dgh);
	initStringInfo(&line);
	for (int i = 0; i < dgh->tree->nleaves; i++)
	{
		Datum value;
		bool isnull = false;

		CHECK_FOR_INTERRUPTS();
		export_line(&line, dgh, leaves[i]);
		value = CStringGetTextDatum(line.data);
		tuplestore_putvalues(result->setResult, result->setDesc, &value, &isnull);
		pfree(DatumGetPointer(value));
	}
	return (Datum) 0;
}
