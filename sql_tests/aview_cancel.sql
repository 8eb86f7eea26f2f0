-- A query over many rows can be cancelled at any time, and leaves no memory and no files behind.
\set dir `echo "$PG_ABS_SRCDIR"`
\set worker :dir '/data/worker.sql'
\i :worker
CREATE TABLE person AS
	SELECT i AS id, i % 97 AS age, (i::bigint * 7919 % 10007)::text AS zip, i % 13 AS disease, i % 10000 AS ward
	FROM generate_series(1, 100000) AS i;
CREATE INDEX ON person (ward);
ANALYZE person (ward, zip);
SELECT kanon.create_interval_dgh('tens', 0, '{10, 50}');
SELECT kanon.create_prefix_dgh('zips', 5);
SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person',
	id => '{id}', quasi_ids => '{"age": "tens", "zip": "zips"}', sensitive => '{"disease": null}', k => 50, l => 3,
	other => '{ward}');
SELECT kanon.create_anonymization_view('blocks', 'SELECT * FROM person',
	id => '{id}', quasi_ids => '{"age": "tens", "zip": "zips"}', k => 50, block_size => 50000,
		other => '{disease, ward}');
SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM person WHERE random() >= 0',
	id => '{id}', quasi_ids => '{"age": "tens", "zip": "zips"}', k => 50, other => '{disease, ward}');
-- The sources of the next three stop at one row, for a lock that this session holds.
SELECT pg_advisory_lock(25000) \g /dev/null
CREATE FUNCTION stop_at(id integer) RETURNS boolean STABLE LANGUAGE plpgsql AS $$
BEGIN
	IF id = 25000 THEN
		PERFORM pg_advisory_lock(id);
	END IF;
	RETURN true;
END
$$;
SELECT kanon.create_anonymization_view('people_stopped', 'SELECT * FROM person WHERE id <= 50000 AND stop_at(id)',
	id => '{id}', quasi_ids => '{"age": "tens", "zip": "zips"}', sensitive => '{"disease": null}', k => 50, l => 3,
	other => '{ward}');
SELECT kanon.create_anonymization_view('blocks_stopped', 'SELECT * FROM person WHERE id <= 50000 AND stop_at(id)',
	id => '{id}', quasi_ids => '{"age": "tens", "zip": "zips"}', k => 50, block_size => 25000,
		other => '{disease, ward}');
SELECT kanon.create_anonymization_view('kept_stopped',
	'SELECT * FROM person WHERE id <= 50000 AND stop_at(id) AND random() >= 0',
	id => '{id}', quasi_ids => '{"age": "tens", "zip": "zips"}', k => 50, other => '{disease, ward}');

-- Memory contexts of the extension in this session, except its caches, and its files on disk.
CREATE VIEW left_behind AS
SELECT name FROM pg_backend_memory_contexts
WHERE name LIKE 'kanon%'
	AND name NOT IN ('kanon hierarchies', 'kanon hierarchy', 'kanon relations', 'kanon definitions',
		'kanon anonymization view')
UNION ALL SELECT 'temporary file' FROM pg_ls_tmpdir() WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '.%';
SELECT count(*) FROM left_behind;

-- Cancel a query of the worker as soon as an expression is true: its error, and what it leaves behind.
CREATE FUNCTION try(query text, seen text, OUT error text, OUT left_behind bigint) LANGUAGE plpgsql AS $$
BEGIN
	error := cancelled(query, seen);
	SELECT n INTO left_behind FROM dblink('worker', 'SELECT count(*) FROM left_behind') AS t (n bigint);
END
$$;
-- Run a statement in the worker that returns one number.
CREATE FUNCTION worker_number(query text) RETURNS bigint
	LANGUAGE sql AS 'SELECT n FROM dblink(''worker'', query) AS t (n bigint)';
CREATE FUNCTION worker_set(name text, value text) RETURNS void LANGUAGE sql AS $$
	SELECT dblink_exec('worker', format('SET %I = %L', name, value))
$$;
-- The worker's memory, once its caches are filled.
SELECT worker_number(format('SELECT count(*) FROM %I WHERE ward = 5', name)),
	worker_number('SELECT count(*) FROM left_behind')
FROM unnest('{people,blocks,kept}'::text[]) AS name;
SELECT worker_number('SELECT sum(total_bytes) FROM pg_backend_memory_contexts') AS before \gset

-- In the first pass over the source, before a row is handed out.
SELECT * FROM try('SELECT count(*)::text FROM people_stopped', 'worker_waits()');
SELECT * FROM try('SELECT count(*)::text FROM kept_stopped', 'worker_waits()');
SELECT * FROM try('SELECT count(*)::text FROM blocks_stopped', 'worker_waits()');
-- Anywhere in a later pass: each step is an answer, and there is no end of them.
CREATE FUNCTION endless(name text) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT sum(n)::text FROM generate_series(1, 1000000) AS g,
		LATERAL (SELECT count(*) + g * nextval(''step'') AS n FROM %I OFFSET 0) AS s', name)
$$;
SELECT * FROM try(endless('people'), 'steps() >= 1');
SELECT * FROM try(endless('blocks'), 'steps() >= 1');
SELECT worker_set('kanon.plan', 'select_first');
SELECT * FROM try('SELECT count(nextval(''step''))::text FROM generate_series(1, 1000000) AS g,
	LATERAL (SELECT zip FROM people WHERE ward = g % 10000 OFFSET 0) AS s', 'steps() >= 20');
SELECT worker_set('kanon.plan', 'function');
SELECT * FROM try(endless('people'), 'steps() >= 1');
SELECT worker_set('kanon.plan', 'auto');
-- With little memory, on disk.
SELECT worker_set('work_mem', '1MB');
SELECT * FROM try(endless('people'), 'steps() >= 1');
SELECT * FROM try(endless('kept'), 'steps() >= 1');
SELECT (worker_number('SELECT sum(total_bytes) FROM pg_backend_memory_contexts') - :before) / 1024 / 1024 < 1
	AS "no memory left";

-- The same in a subtransaction, and with an error of another kind.
\set VERBOSITY terse
SELECT sum(total_bytes) AS before FROM pg_backend_memory_contexts \gset
BEGIN;
SAVEPOINT s;
SELECT count(*) FROM people WHERE 1 / (ward - 9999) > 1;
ROLLBACK TO s;
SELECT * FROM left_behind;
DECLARE c CURSOR FOR SELECT ward FROM people;
MOVE 10 IN c;
SELECT count(*) > 0 AS "an open cursor has some" FROM left_behind;
CLOSE c;
SELECT * FROM left_behind;
COMMIT;
SELECT count(*) FROM people WHERE ward = 5;
SELECT * FROM left_behind;
SELECT (sum(total_bytes) - :before) / 1024 / 1024 < 1 AS "no memory left" FROM pg_backend_memory_contexts;
