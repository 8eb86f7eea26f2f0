/*
 * extended_protocol.c
 *		Comparisons as a driver sends them: through the extended protocol, with
 *		parameters of no type and of every type, as text and as binary; results of
 *		both forms; and binary input that is not what it should be.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

/* The oids of types that drivers name. */
#define INT8OID 20
#define INT2OID 21
#define INT4OID 23
#define TEXTOID 25
#define FLOAT4OID 700
#define FLOAT8OID 701
#define VARCHAROID 1043
#define DATEOID 1082
#define TIMESTAMPOID 1114
#define NUMERICOID 1700
#define UNKNOWNOID 705
#define UNTYPED 0

static PGconn *conn;
static int tests;

static void
ok(bool passed, const char *what)
{
	printf("%sok %d - %s\n", passed ? "" : "not ", ++tests, what);
}

static void
is(const char *got, const char *expected, const char *what)
{
	bool same = strcmp(got, expected) == 0;

	ok(same, what);
	if (!same)
		printf("# got \"%s\", expected \"%s\"\n", got, expected);
}

static void
run(const char *query)
{
	PGresult *result = PQexec(conn, query);

	if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
	{
		printf("Bail out! %s", PQresultErrorMessage(result));
		exit(1);
	}
	PQclear(result);
}

/* The one value that a result has, or its error. */
static const char *
value_of(PGresult *result)
{
	static char value[1000];

	if (PQresultStatus(result) == PGRES_TUPLES_OK)
		snprintf(value, sizeof(value), "%s", PQgetisnull(result, 0, 0) ? "null" : PQgetvalue(result, 0, 0));
	else
		snprintf(value, sizeof(value), "%s %s", PQresultErrorField(result, PG_DIAG_SQLSTATE),
				 PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
	PQclear(result);
	return value;
}

/* A parameter as it goes over the wire. */
typedef struct Parameter
{
	const char *name;
	Oid type;
	int format; /* 0: text, 1: binary */
	int length;
	char value[64];
} Parameter;

static Parameter
text_parameter(const char *name, Oid type, const char *value)
{
	Parameter p = {.name = name, .type = type, .length = strlen(value)};

	strcpy(p.value, value);
	return p;
}

static Parameter
binary_parameter(const char *name, Oid type, const void *value, int length)
{
	Parameter p = {.name = name, .type = type, .format = 1, .length = length};

	memcpy(p.value, value, length);
	return p;
}

static PGresult *
ask(const char *query, const Parameter *p, int result_format)
{
	const char *values[1] = {p->value};

	return PQexecParams(conn, query, 1, &p->type, values, &p->length, &p->format, result_format);
}

/* Asks at once and through a prepared statement, often enough for a generic plan. */
static void
compare(const char *condition, const Parameter *p, const char *expected)
{
	char query[200];
	char what[300];
	const char *values[1] = {p->value};
	const char *got = NULL;

	snprintf(query, sizeof(query), "SELECT string_agg(id::text, ' ' ORDER BY id) FROM patient WHERE %s", condition);
	snprintf(what, sizeof(what), "%s, %s, %s", condition, p->name, p->format ? "binary" : "text");
	is(value_of(ask(query, p, 0)), expected, what);

	PQclear(PQprepare(conn, "", query, 1, &p->type));
	for (int i = 0; i < 8; i++)
		got = value_of(PQexecPrepared(conn, "", 1, values, &p->length, &p->format, 0));
	snprintf(what, sizeof(what), "%s, %s, %s, prepared", condition, p->name, p->format ? "binary" : "text");
	is(got, expected, what);
}

/* Every comparison with a parameter on either side. */
static void
compare_all(const char *column, const Parameter *p, const char *const *expected)
{
	static const char *const forms[] = {"%s = $1", "$1 = %s", "%s ~~^ $1", "%s <> $1",
										"%s < $1", "$1 > %s", "%s >= $1",  "$1 <= %s"};
	static const int answer[] = {0, 0, 0, 1, 2, 2, 3, 3};
	char condition[100];

	for (int i = 0; i < 8; i++)
	{
		snprintf(condition, sizeof(condition), forms[i], column);
		compare(condition, p, expected[answer[i]]);
	}
}

static void
compare_numbers(void)
{
	static const char *const expected[] = {"2 3 4", "1 2 3 4", "1 2 3 4", "2 3 4"};
	int16_t int2 = htons(34);
	int32_t int4 = htonl(34);
	int64_t int8 = htobe64(34);
	float single = 34;
	double number = 34;
	uint32_t float4;
	uint64_t float8;
	uint16_t numeric[] = {htons(1), 0, 0, 0, htons(34)}; /* one digit to the base of 10000 */

	memcpy(&float4, &single, sizeof(float4));
	memcpy(&float8, &number, sizeof(float8));
	float4 = htonl(float4);
	float8 = htobe64(float8);

	Parameter parameters[] = {
		text_parameter("untyped", UNTYPED, "34"),
		text_parameter("unknown", UNKNOWNOID, "34"),
		text_parameter("text", TEXTOID, "34"),
		text_parameter("varchar", VARCHAROID, "34"),
		text_parameter("smallint", INT2OID, "34"),
		text_parameter("integer", INT4OID, "34"),
		text_parameter("bigint", INT8OID, "34"),
		text_parameter("numeric", NUMERICOID, "34.0"),
		text_parameter("real", FLOAT4OID, "34"),
		text_parameter("float8", FLOAT8OID, "34"),
		binary_parameter("text", TEXTOID, "34", 2),
		binary_parameter("varchar", VARCHAROID, "34", 2),
		binary_parameter("smallint", INT2OID, &int2, sizeof(int2)),
		binary_parameter("integer", INT4OID, &int4, sizeof(int4)),
		binary_parameter("bigint", INT8OID, &int8, sizeof(int8)),
		binary_parameter("numeric", NUMERICOID, numeric, sizeof(numeric)),
		binary_parameter("real", FLOAT4OID, &float4, sizeof(float4)),
		binary_parameter("float8", FLOAT8OID, &float8, sizeof(float8)),
	};

	for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		compare_all("age", &parameters[i], expected);
}

static void
compare_words_and_dates(void)
{
	static const char *const diseases[] = {"1 3 4", "1 2 3 4", "2 4", "1 3 4"};
	static const char *const births[] = {"1 3 4", "1 2 3 4", "1 3 4", "1 2 3 4"};
	static const char *const zips[] = {"1 2 4", "1 2 3 4", "1 2 4", "1 2 3 4"};
	int32_t date = htonl(-11478); /* 1968-07-29, in days from 2000-01-01 */
	int64_t timestamp = htobe64(INT64_C(-11478) * 86400 * 1000000);
	Parameter words[] = {
		text_parameter("untyped", UNTYPED, "gastritis"),
		text_parameter("text", TEXTOID, "gastritis"),
		binary_parameter("text", TEXTOID, "gastritis", 9),
		text_parameter("varchar", VARCHAROID, "gastritis"),
	};
	Parameter dates[] = {
		text_parameter("untyped", UNTYPED, "1968-07-29"),
		text_parameter("text", TEXTOID, "29 July 1968"),
		text_parameter("date", DATEOID, "1968-07-29"),
		binary_parameter("date", DATEOID, &date, sizeof(date)),
		binary_parameter("timestamp", TIMESTAMPOID, &timestamp, sizeof(timestamp)),
	};
	Parameter codes[] = {
		text_parameter("untyped", UNTYPED, "13053"),
		text_parameter("text", TEXTOID, "13053"),
		text_parameter("integer", INT4OID, "13053"),
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		compare_all("disease", &words[i], diseases);
	for (size_t i = 0; i < sizeof(dates) / sizeof(dates[0]); i++)
		compare_all("birth", &dates[i], births);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		compare_all("zip", &codes[i], zips);
}

/* What a driver finds out about a statement before it sends anything. */
static void
describe(void)
{
	PGresult *result;
	Oid generalized = atoi(value_of(PQexec(conn, "SELECT 'kanon.generalized'::regtype::oid")));

	PQclear(PQprepare(conn, "d", "SELECT disease FROM patient WHERE disease = $1 AND age < $2 AND zip IN ($3, $4)", 0,
					  NULL));
	result = PQdescribePrepared(conn, "d");
	ok(PQnparams(result) == 4 && PQparamtype(result, 0) == generalized && PQparamtype(result, 3) == generalized,
	   "parameters without a type are generalized values");
	ok(PQnfields(result) == 1 && PQftype(result, 0) == generalized, "and so is a column");
	PQclear(result);
	PQclear(PQprepare(conn, "a", "SELECT 1 FROM patient WHERE age = ANY($1) AND disease BETWEEN $2 AND $3", 0, NULL));
	result = PQdescribePrepared(conn, "a");
	ok(PQnparams(result) == 3 && PQparamtype(result, 0) != UNKNOWNOID && PQparamtype(result, 2) == generalized,
	   "also in ANY and BETWEEN");
	PQclear(result);
}

/* NULL, arrays, limits, cursors with a fetch size. */
static void
ask_otherwise(void)
{
	const char *nothing[1] = {NULL};
	const char *array[1] = {"{25,99}"};
	const char *words[1] = {"{ulcer,plague}"};
	const char *ages[2] = {"30", "33"};
	Oid int4[2] = {INT4OID, INT4OID};
	PGresult *result;
	int rows = 0;

	is(value_of(PQexecParams(conn, "SELECT count(*) FROM patient WHERE age = $1", 1, NULL, nothing, NULL, NULL, 0)),
	   "0", "NULL is nobody's age");
	is(value_of(PQexecParams(conn, "SELECT count(*) FROM patient WHERE age = ANY($1::int[])", 1, NULL, array, NULL,
							 NULL, 0)),
	   "2", "an array of integers");
	is(value_of(
		   PQexecParams(conn, "SELECT count(*) FROM patient WHERE disease = ANY($1)", 1, NULL, words, NULL, NULL, 0)),
	   "3", "an array without a type");
	is(value_of(PQexecParams(conn, "SELECT count(*) FROM patient WHERE age BETWEEN $1 AND $2", 2, int4, ages, NULL,
							 NULL, 0)),
	   "3", "between two integers");

	PQsendQueryParams(conn, "SELECT disease FROM patient WHERE disease = $1", 1, NULL, (const char *const[]){"ulcer"},
					  NULL, NULL, 0);
	PQsetSingleRowMode(conn);
	while ((result = PQgetResult(conn)) != NULL)
	{
		rows += PQresultStatus(result) == PGRES_SINGLE_TUPLE;
		PQclear(result);
	}
	ok(rows == 3, "row by row");
}

/* A value as binary result is the name of its hierarchy, a zero byte and its text; it is taken back as a parameter. */
static void
send_back(const char *source, const char *name, const char *text)
{
	char query[200];
	char what[200];
	PGresult *result;
	PGresult *again;
	const char *values[1];
	int length;
	int format = 1;
	Oid type = atoi(value_of(PQexec(conn, "SELECT 'kanon.generalized'::regtype::oid")));

	snprintf(query, sizeof(query), "SELECT %s", source);
	result = PQexecParams(conn, query, 0, NULL, NULL, NULL, NULL, 1);
	length = PQgetlength(result, 0, 0);
	snprintf(what, sizeof(what), "%s in binary", source);
	ok(PQresultStatus(result) == PGRES_TUPLES_OK && PQfformat(result, 0) == 1 &&
		   length == (int) (strlen(name) + 1 + strlen(text)) && strcmp(PQgetvalue(result, 0, 0), name) == 0 &&
		   memcmp(PQgetvalue(result, 0, 0) + strlen(name) + 1, text, strlen(text)) == 0,
	   what);
	values[0] = PQgetvalue(result, 0, 0);
	snprintf(query, sizeof(query),
			 "SELECT $1 OPERATOR(kanon.*=) %s AND kanon.generalized_send($1) = kanon.generalized_send(%s)", source,
			 source);
	again = PQexecParams(conn, query, 1, &type, values, &length, &format, 0);
	snprintf(what, sizeof(what), "%s comes back", source);
	is(value_of(again), "t", what);
	PQclear(result);
}

/* Random bytes as a value: taken, or refused with an error; the server lives on. */
static void
send_noise(void)
{
	Oid type = atoi(value_of(PQexec(conn, "SELECT 'kanon.generalized'::regtype::oid")));
	int taken = 0;
	int refused = 0;
	int odd = 0;

	srand(42);
	for (int i = 0; i < 3000; i++)
	{
		char bytes[64];
		const char *values[1] = {bytes};
		int length = rand() % sizeof(bytes);
		int format = 1;
		PGresult *result;
		const char *state;

		for (int j = 0; j < length; j++)
			bytes[j] = i % 3 == 0 ? rand() : "[](),.-0129 *ae\0\xc3\xa4"[rand() % (i % 3 == 1 ? 15 : 18)];
		if (i % 3 == 1 && length > 8)
			memcpy(bytes, i % 2 ? "disease" : "nowhere", 8); /* with their zero bytes */
		result = PQexecParams(conn,
							  "SELECT $1 = '5', $1 < 'x', $1::text, $1 = $1 FROM (SELECT kanon.identity_hash($1)) x", 1,
							  &type, values, &length, &format, 0);
		state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
		if (PQresultStatus(result) == PGRES_TUPLES_OK)
			taken++;
		else if (state && (strcmp(state, "22021") == 0 || strcmp(state, "08P01") == 0 || strcmp(state, "22000") == 0))
			refused++;
		else
		{
			odd++;
			printf("# %s", PQresultErrorMessage(result));
		}
		PQclear(result);
	}
	ok(taken > 500 && refused > 500 && odd == 0, "random bytes are values or errors");
	is(value_of(PQexec(conn, "SELECT 'alive'")), "alive", "and the server lives");
}

int
main(int argc, char **argv)
{
	conn = PQconnectdb(argc > 1 ? argv[1] : "");
	if (PQstatus(conn) != CONNECTION_OK)
	{
		printf("Bail out! %s", PQerrorMessage(conn));
		return 1;
	}
	run("SELECT kanon.import_dgh('disease', '{ulcer;stomach;*,gastritis;stomach;*,flu;lung;*}'), "
		"kanon.create_interval_dgh('age', 0, '{10}'),"
		" kanon.create_date_dgh('birth', '{year}'), kanon.create_prefix_dgh('zip', 5)");
	run("CREATE TABLE patient AS SELECT n AS id, kanon.generalize('disease', d, 1) AS disease, kanon.generalize('age', "
		"a::text, 1) AS age,"
		" kanon.generalize('birth', b, 1) AS birth, kanon.generalize('zip', z, 2) AS zip FROM (VALUES (1, 'ulcer', 25, "
		"'1968-07-29', '13053'),"
		" (2, 'flu', 34, '1971-01-01', '13068'), (3, 'gastritis', 39, '1968-01-02', '14850'), (4, 'plague', NULL, "
		"'unknown', '1')) v (n, d, a, b, z)");

	compare_numbers();
	compare_words_and_dates();
	describe();
	ask_otherwise();
	send_back("kanon.generalize('disease', 'ulcer', 1)", "disease", "stomach");
	send_back("kanon.generalize('disease', 'ulcer', 2)", "disease", "*");
	send_back("kanon.generalize('zip', '13053', 2)", "zip", "130**");
	send_back("kanon.generalize('age', '34', 1)", "", "[30,40)");
	send_back("kanon.generalize('birth', '1968-07-29', 1)", "", "[1968-01-01,1969-01-01)");
	send_back("'[1.5,2]'::kanon.generalized", "", "[1.5,2]");
	send_back("'word'::kanon.generalized", "", "word");
	send_back("''::kanon.generalized", "", "");
	send_noise();

	/* Another client encoding changes the bytes, not the value. */
	PQsetClientEncoding(conn, "LATIN1");
	is(value_of(PQexecParams(conn, "SELECT $1 = U&'\\00e4'::kanon.generalized", 1, NULL, (const char *const[]){"\xe4"},
							 NULL, NULL, 0)),
	   "t", "a parameter in Latin 1");

	printf("1..%d\n", tests);
	PQfinish(conn);
	return 0;
}
