/*
 * matview_stress.c
 *		Many sessions change the base table of a materialized view at once.
 *
 *		matview_stress CONNECTION-STRING [CHANGES]    default: KANON_STRESS_CHANGES, or 2000
 *
 * Eight sessions make so many transactions each.  At all isolation levels, they
 * insert, update, delete, roll back and use savepoints, and change the k that rows
 * of a second view ask for; one session breaks off now and then, as after a crash
 * of its client.  Meanwhile a reader checks that every committed state has its k, in
 * a view with one k for all rows and in one with a k per row.  At the end the groups
 * are compared with the tables.
 */
#include <libpq-fe.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITERS 8
#define PEOPLE 400
#define K 4

/* The number of rows of the second view that are published in a group with fewer rows than they ask for. */
#define TOO_FEW \
	"(SELECT count(*) FROM kanon.members_2 m JOIN kanon.groups_2 g ON g_id = m_group WHERE m_k <= g_size AND m_k > " \
	"(SELECT count(*) FROM kanon.members_2 o WHERE o.m_group = g_id AND o.m_k <= g.g_size))"

static const char *connection_string;
static int tests = 0;

static void
ok(int condition, const char *what, const char *got)
{
	printf("%s %d - %s\n", condition ? "ok" : "not ok", ++tests, what);
	if (!condition)
		printf("# got: %s\n", got);
	fflush(stdout);
}

static PGconn *
start_session(void)
{
	PGconn *connection = PQconnectdb(connection_string);

	if (PQstatus(connection) != CONNECTION_OK)
	{
		fprintf(stderr, "%s", PQerrorMessage(connection));
		exit(1);
	}
	PQclear(PQexec(connection, "SET client_min_messages = error"));
	return connection;
}

/* Run SQL that must succeed, and return its first value. */
static char *
query(PGconn *connection, const char *sql)
{
	PGresult *result = PQexec(connection, sql);
	ExecStatusType status = PQresultStatus(result);
	char *value;

	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
	{
		fprintf(stderr, "%s: %s", sql, PQerrorMessage(connection));
		exit(1);
	}
	value = strdup(status == PGRES_TUPLES_OK && PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
	PQclear(result);
	return value;
}

/* Runs SQL that may fail to serialize, or meet a duplicate; anything else is counted as an error. */
static int
try(PGconn *connection, int *deadlocks, int *errors, const char *format, ...)
{
	char sql[1000];
	va_list args;
	PGresult *result;
	const char *state;
	int done;

	va_start(args, format);
	vsnprintf(sql, sizeof(sql), format, args);
	va_end(args);
	result = PQexec(connection, sql);
	done = PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK;
	state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	if (!done && state && strcmp(state, "40P01") == 0)
		(*deadlocks)++;
	else if (!done &&
			 !(state && (strcmp(state, "40001") == 0 || strcmp(state, "23505") == 0 || strcmp(state, "25P02") == 0)))
	{
		(*errors)++;
		fprintf(stderr, "# %s: %s", sql, PQerrorMessage(connection));
	}
	PQclear(result);
	return done;
}

/*
 * Run one transaction of a few random changes, one row each and in the order of ids, so that PostgreSQL's own row locks
 * cannot deadlock.
 */
static int
change(PGconn *connection, unsigned *seed, int *deadlocks, int *errors)
{
	static const char *const levels[] = {"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"};
	int id = 0;
	int good = try(connection, deadlocks, errors, "BEGIN ISOLATION LEVEL %s", levels[rand_r(seed) % 3]);

	for (int i = rand_r(seed) % 4; i >= 0 && good; i--)
	{
		id += 1 + rand_r(seed) % (PEOPLE / 4);
		switch (rand_r(seed) % 8)
		{
			case 0:
				good = try(connection, deadlocks, errors, "DELETE FROM person WHERE id = %d", id);
				break;
			case 1:
				good = try(connection, deadlocks, errors, "UPDATE person SET age = %d, ward = ward + 1 WHERE id = %d",
						   rand_r(seed) % 90, id);
				break;
			case 3:
				good = try(connection, deadlocks, errors,
						   "INSERT INTO wish VALUES (%d, %d) ON CONFLICT (id) DO UPDATE SET k = excluded.k", id,
						   2 + rand_r(seed) % 12);
				break;
			case 4:
				good = try(connection, deadlocks, errors, "DELETE FROM wish WHERE id = %d", id);
				break;
			case 2:
				good = try(connection, deadlocks, errors,
						   "SAVEPOINT s; INSERT INTO person VALUES (%d, 1, '000', 'x', 1) ON CONFLICT DO NOTHING; "
						   "ROLLBACK TO s",
						   id);
				break;
			default:
				good = try(connection, deadlocks, errors,
						   "INSERT INTO person VALUES (%d, %d, '%03d', 'd%d', %d) ON CONFLICT (id) DO UPDATE SET zip = "
						   "excluded.zip",
						   id, rand_r(seed) % 90, rand_r(seed) % 1000, rand_r(seed) % 5, id);
		}
	}
	return try(connection, deadlocks, errors, good && rand_r(seed) % 5 > 0 ? "COMMIT" : "ROLLBACK");
}

/* Make the transactions of one session, then exit: with 1 after a deadlock, with 2 after any other error. */
static void
write_changes(int number, int changes)
{
	unsigned seed = 17 * number + 1;
	PGconn *connection = start_session();
	int deadlocks = 0;
	int errors = 0;

	for (int done = 1; done <= changes; done++)
	{
		change(connection, &seed, &deadlocks, &errors);
		/* Break off in the middle of a transaction. */
		if (number == 0 && done % 50 == 0)
		{
			query(connection, "BEGIN");
			query(connection, "DELETE FROM person WHERE id = 7");
			PQfinish(connection);
			connection = start_session();
		}
	}
	PQfinish(connection);
	_exit(deadlocks > 0 ? 1 : errors > 0 ? 2 : 0);
}

/* Count the writers that have exited, and how many of them met a deadlock or another error.  Wait for none of them. */
static int
count_exited(int *deadlocks, int *errors)
{
	int exited = 0;
	int status;

	while (waitpid(-1, &status, WNOHANG) > 0)
	{
		*deadlocks += WIFEXITED(status) && WEXITSTATUS(status) == 1;
		*errors += !WIFEXITED(status) || WEXITSTATUS(status) > 1;
		exited++;
	}
	return exited;
}

/* Read until all writers have exited.  Return the number of answers in which some group was too small. */
static int
read_while_written(PGconn *connection, long *answers, int *deadlocks, int *errors)
{
	int wrong = 0;
	int exited = 0;

	while (exited < WRITERS)
	{
		char *least = query(connection, "SELECT CASE WHEN " TOO_FEW " > 0 THEN 0 ELSE coalesce(min(n), 1000) END"
										" FROM (SELECT count(*) AS n FROM kept GROUP BY age, zip) q");

		wrong += atoi(least) < K;
		free(least);
		(*answers)++;
		exited += count_exited(deadlocks, errors);
	}
	return wrong;
}

static void
check_end(PGconn *connection)
{
	char *got;

	got = query(connection,
				"SELECT count(*) FROM (SELECT g_id FROM kanon.groups_1 LEFT JOIN kanon.members_1 ON m_group = g_id"
				" GROUP BY g_id, g_size HAVING g_size <> count(m_group) OR g_size < 4) q");
	ok(strcmp(got, "0") == 0, "every group has its k, and as many members as it says", got);
	got = query(connection,
				"SELECT count(*) FROM ((SELECT * FROM person EXCEPT SELECT c1, c2, c3, c4, c5 FROM kanon.members_1)"
				" UNION ALL (SELECT c1, c2, c3, c4, c5 FROM kanon.members_1 EXCEPT SELECT * FROM person)) q");
	ok(strcmp(got, "0") == 0, "nothing is lost and nothing left over", got);
	got = query(connection,
				"SELECT count(*) FROM kanon.members_1 WHERE m_group IS NULL AND EXISTS (SELECT FROM kanon.groups_1)");
	ok(strcmp(got, "0") == 0, "no row waits", got);
	got = query(connection, "SELECT count(*) FROM kanon.members_1 m JOIN kanon.groups_1 g ON g_id = m_group"
							" WHERE NOT (kanon.avlike(g.c2, m.c2) AND kanon.avlike(g.c3, m.c3))");
	ok(strcmp(got, "0") == 0, "every member is in the cell of its group", got);
	got = query(connection, "SELECT " TOO_FEW);
	ok(strcmp(got, "0") == 0, "every published row has a group as large as it asks for", got);
	got = query(connection, "SELECT count(*) FROM ((SELECT id, age, coalesce(k, 3) FROM person LEFT JOIN wish USING "
							"(id) EXCEPT SELECT c1, c2, m_k FROM kanon.members_2)"
							" UNION ALL (SELECT c1, c2, m_k FROM kanon.members_2 EXCEPT SELECT id, age, coalesce(k, 3) "
							"FROM person LEFT JOIN wish USING (id))) q");
	ok(strcmp(got, "0") == 0, "the k of each row is stored", got);
	got = query(connection, "SELECT kanon.refresh('kept') + kanon.refresh('chosen')");
	ok(strcmp(got, "0") == 0, "refresh finds nothing to do", got);
}

int
main(int argc, char **argv)
{
	const char *changes = argc > 2 ? argv[2] : getenv("KANON_STRESS_CHANGES");
	PGconn *connection;
	int wrong;
	long answers = 0;
	int deadlocks = 0;
	int errors = 0;
	char text[100];

	connection_string = argc > 1 ? argv[1] : "";
	connection = start_session();
	query(connection,
		  "CREATE TABLE person (id integer PRIMARY KEY, age integer, zip text, disease text, ward integer)");
	query(connection, "INSERT INTO person SELECT i, i * 7 % 90, lpad((i * 131 % 1000)::text, 3, '0'), 'd' || i % 5, i "
					  "FROM generate_series(1, 300) AS i");
	query(connection, "SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}'), kanon.create_prefix_dgh('zips', 3)");
	query(connection, "SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM person', id => '{id}',"
					  " quasi_ids => '{\"age\": \"ages\", \"zip\": \"zips\"}', sensitive => '{\"disease\": null}', k "
					  "=> 4, materialized => true, other => '{ward}')");
	query(connection, "CREATE TABLE wish (id integer PRIMARY KEY, k integer)");
	query(connection, "INSERT INTO wish SELECT i, 2 + i % 7 FROM generate_series(1, 300, 2) AS i");
	query(connection, "SELECT kanon.create_anonymization_view('chosen', 'SELECT id, age FROM person', id => '{id}', "
					  "quasi_ids => '{\"age\": \"ages\"}',"
					  " k => 3, materialized => true, profile => '{\"table\": \"wish\", \"key\": {\"id\": \"id\"}, "
					  "\"k\": \"k\"}')");
	for (int i = 0; i < WRITERS; i++)
	{
		if (fork() == 0)
			write_changes(i, changes ? atoi(changes) : 2000);
	}
	wrong = read_while_written(connection, &answers, &deadlocks, &errors);
	snprintf(text, sizeof(text), "%d of %ld answers", wrong, answers);
	ok(wrong == 0 && answers > 0, "no answer ever had a group below k", text);
	ok(deadlocks == 0, "no session met a deadlock", "deadlocks");
	ok(errors == 0, "no session met any other error than 40001 and 23505", "errors");
	check_end(connection);
	printf("# %s transactions committed\n",
		   query(connection, "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"));
	printf("1..%d\n", tests);
	PQfinish(connection);
	return 0;
}
