-- A query over many rows can be ended at any time, and leaves no memory and no files behind.
CREATE TABLE person AS SELECT i AS id, i % 97 AS age, (i::bigint * 7919 % 10007)::text AS zip, i % 13 AS disease, i % 100000 AS ward
	FROM generate_series(1, 1000000) AS i;
CREATE INDEX ON person (ward);
ANALYZE person (ward, zip);
SELECT kanon.create_interval_dgh('tens', 0, '{10, 50}');
SELECT kanon.create_prefix_dgh('zips', 5);
SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "tens", "zip": "zips"}',
	sensitive => '{"disease": null}', k => 50, l => 3);
SELECT kanon.create_anonymization_view('blocks', 'SELECT * FROM person WHERE id <= 200000', id => '{id}', quasi_ids => '{"age": "tens", "zip": "zips"}', k => 50, block_size => 100000);
SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM person WHERE id <= 200000 AND random() >= 0', id => '{id}', quasi_ids => '{"age": "tens", "zip": "zips"}', k => 50);

-- Contexts of kanon's in this session but the cache of hierarchies, files on disk, and all memory in megabytes.
CREATE VIEW left_behind AS
SELECT name FROM pg_backend_memory_contexts WHERE name LIKE 'kanon%' AND name NOT IN ('kanon hierarchies', 'kanon hierarchy')
UNION ALL SELECT 'temporary file' FROM pg_ls_tmpdir() WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '.%';
SELECT count(*) FROM left_behind;
SELECT sum(total_bytes) AS before FROM pg_backend_memory_contexts \gset

-- While classes are counted, and while rows are handed out.
\set VERBOSITY terse
SELECT clock_timestamp() AS start \gset
SET statement_timeout = 50;
SELECT count(*) FROM people;
SELECT count(*) FROM kept;
SELECT count(*) FROM blocks;
-- Again and again: it is still going on after a while.
SET statement_timeout = 600;
SELECT sum(n) FROM generate_series(1, 1000) AS g, LATERAL (SELECT count(*) + g AS n FROM people OFFSET 0) s;
SELECT sum(n) FROM generate_series(1, 1000) AS g, LATERAL (SELECT count(*) + g AS n FROM blocks OFFSET 0) s;
SET kanon.plan = select_first;
SELECT count(*) FROM generate_series(1, 1000000) AS g, LATERAL (SELECT zip FROM people WHERE ward = g OFFSET 0) s;
SET kanon.plan = function;
SELECT count(*) FROM people;
RESET kanon.plan;
-- With little memory, on disk.
SET work_mem = '1MB';
SET statement_timeout = 700;
SELECT sum(n) FROM generate_series(1, 1000) AS g, LATERAL (SELECT count(*) + g AS n FROM people OFFSET 0) s;
SELECT sum(n) FROM generate_series(1, 1000) AS g, LATERAL (SELECT count(*) + g AS n FROM kept OFFSET 0) s;
RESET work_mem;
RESET statement_timeout;
SELECT clock_timestamp() - :'start' < interval '60 s' AS "in time";
SELECT * FROM left_behind;
SELECT (sum(total_bytes) - :before) / 1024 / 1024 < 1 AS "no memory left" FROM pg_backend_memory_contexts;
-- The same in a subtransaction, and with an error of another kind.
BEGIN;
SAVEPOINT s;
SELECT count(*) FROM people WHERE 1 / (ward - 99999) > 1;
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
