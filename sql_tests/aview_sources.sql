-- Queries that an A-view may be made from. Each is checked: as many rows as the source, no published group smaller than
-- k.
SET kanon.measure_views = off;
\set SHOW_CONTEXT never
CREATE TABLE person (id integer PRIMARY KEY, age integer, zip text, ward integer, income numeric);
INSERT INTO person SELECT i, 20 + i * 7 % 50, lpad((i * 13 % 60)::text, 3, '0'), i % 10,
	i * 1.5 FROM generate_series(1, 300) AS i;
CREATE TABLE visit (person integer REFERENCES person, day date, cost integer);
INSERT INTO visit SELECT 1 + i * 11 % 300, date '2020-01-01' + i % 90, i % 17 FROM generate_series(1, 900) AS i;
SELECT kanon.create_interval_dgh('tens', 0, '{10, 50}');
SELECT kanon.create_prefix_dgh('zips', 3);
SELECT kanon.create_date_dgh('days', '{month, year}');

-- Creates a view, and checks it against its source in all modes.  A row stands for itself unless there is an id.
CREATE FUNCTION check_source(source text, quasi jsonb, ids text[] DEFAULT '{}', k integer DEFAULT 3,
	stable boolean DEFAULT true)
RETURNS TABLE (rows bigint, in_groups bigint, smallest bigint, problems bigint) LANGUAGE plpgsql AS $$
DECLARE
	columns text := (SELECT string_agg(quote_ident(key), ', ') FROM jsonb_object_keys(quasi) AS key);
	plan text;
	total bigint;
	expected bigint;
BEGIN
	PERFORM kanon.create_anonymization_view('checked', source, id => ids, quasi_ids => quasi, k => k, other => '{*}');
	CREATE TEMP TABLE published AS TABLE checked;
	EXECUTE format('SELECT sum(n), sum(n) FILTER (WHERE NOT hidden), min(n) FILTER (WHERE NOT hidden)
		FROM (SELECT count(*) AS n, ROW(%1$s)::text ~ ''^\((\*,?)+\)$'' AS hidden FROM published GROUP BY %1$s) g',
			columns)
		INTO rows, in_groups, smallest;
	EXECUTE format('SELECT count(*) FROM (%s) s', source) INTO expected;
	problems := (rows <> expected AND stable)::integer + (smallest < k)::integer;
	FOREACH plan IN ARRAY '{anonymize_first, select_first, function}'::text[] LOOP
		PERFORM set_config('kanon.plan', plan, true);
		EXECUTE 'SELECT count(*) FROM ((TABLE checked EXCEPT ALL TABLE published) '
			'UNION ALL (TABLE published EXCEPT ALL TABLE checked)) d' INTO total;
		problems := problems + CASE WHEN stable THEN total ELSE 0 END;
	END LOOP;
	PERFORM set_config('kanon.plan', 'auto', true);
	DROP TABLE published;
	PERFORM kanon.drop_anonymization_view('checked');
	RETURN NEXT;
END
$$;

-- Tables and joins.
SELECT * FROM check_source('TABLE person', '{"age": "tens", "zip": "zips"}', '{id}');
SELECT * FROM check_source('SELECT * FROM person WHERE ward < 5 AND income > 10', '{"age": "tens", "zip": "zips"}',
	'{id}');
SELECT * FROM check_source('SELECT p.*, v.day, v.cost FROM person p JOIN visit v ON v.person = p.id',
	'{"age": "tens", "zip": "zips", "day": "days"}', k => 5);
SELECT * FROM check_source('SELECT age, zip, cost FROM person LEFT JOIN visit ON person = id AND cost = 3',
	'{"age": "tens", "zip": "zips"}');
SELECT * FROM check_source('SELECT age, zip, w.n FROM person, LATERAL (SELECT count(*) AS n FROM visit '
	'WHERE person = id) w', '{"age": "tens", "zip": "zips", "n": null}');
-- Aggregates, windows, set operations, CTEs, subqueries, VALUES.
SELECT * FROM check_source('SELECT age, zip, count(*) AS n, avg(income) AS income FROM person GROUP BY age, zip',
	'{"age": "tens", "zip": "zips"}');
SELECT * FROM check_source('SELECT p.id, p.zip, sum(cost) AS cost FROM person p JOIN visit ON person = p.id '
	'GROUP BY p.id HAVING count(*) > 1', '{"zip": "zips"}', '{id}');
SELECT * FROM check_source('SELECT age, zip, rank() OVER (PARTITION BY zip ORDER BY id) AS r FROM person',
	'{"age": "tens", "zip": "zips"}');
SELECT * FROM check_source('SELECT age, zip FROM person WHERE ward = 1 UNION ALL SELECT age, zip FROM person '
	'WHERE ward IN (1, 2)', '{"age": "tens", "zip": "zips"}');
SELECT * FROM check_source('SELECT age, zip FROM person EXCEPT SELECT age, zip FROM person WHERE ward = 4',
	'{"age": "tens", "zip": "zips"}');
SELECT * FROM check_source('SELECT DISTINCT zip, ward FROM person', '{"zip": "zips"}');
SELECT * FROM check_source('SELECT DISTINCT ON (zip) zip, ward FROM person ORDER BY zip, id', '{"zip": "zips"}');
SELECT * FROM check_source('WITH w AS (SELECT ward, count(*) AS n FROM person GROUP BY ward) SELECT age, zip, n '
	'FROM person JOIN w USING (ward)', '{"age": "tens", "zip": "zips"}');
SELECT * FROM check_source('WITH RECURSIVE r (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 50) '
	'SELECT n, n / 7 AS seven FROM r', '{"n": "tens", "seven": null}');
SELECT * FROM check_source('SELECT age, zip FROM person WHERE id IN (SELECT person FROM visit WHERE cost = 5)',
	'{"age": "tens", "zip": "zips"}');
SELECT * FROM check_source('VALUES (1, ''a''), (1, ''a''), (1, ''b''), (2, ''b'')', '{"column1": null}', k => 2);
SELECT * FROM check_source('SELECT i AS n FROM generate_series(1, 40) AS i', '{"n": "tens"}');
SELECT * FROM check_source('SELECT unnest(ARRAY [age, age + 1]) AS age, zip FROM person',
	'{"age": "tens", "zip": "zips"}');
SELECT * FROM check_source('SELECT age, zip FROM person ORDER BY id', '{"age": "tens", "zip": "zips"}');
SELECT * FROM check_source('SELECT age, zip FROM person FOR SHARE', '{"age": "tens", "zip": "zips"}');
SELECT * FROM check_source(E'SELECT age, zip FROM person -- with a comment\n', '{"age": "tens", "zip": "zips"}');
SELECT * FROM check_source('SELECT age, zip FROM person WHERE false', '{"age": "tens", "zip": "zips"}');
-- A source that changes from one reading to the next is read once.
SELECT * FROM check_source('SELECT age, zip FROM person LIMIT 100', '{"age": "tens", "zip": "zips"}');
SELECT rows, problems FROM check_source('SELECT age, zip FROM person ORDER BY random() LIMIT 100',
	'{"age": "tens", "zip": "zips"}', stable => false);
SELECT problems FROM check_source('SELECT age, (random() * 99)::integer AS dice FROM person',
	'{"age": "tens", "dice": "tens"}', k => 2, stable => false);
SELECT problems FROM check_source('SELECT age, zip FROM person TABLESAMPLE bernoulli (50)',
	'{"age": "tens", "zip": "zips"}', stable => false);
SELECT * FROM check_source('SELECT age, zip FROM person TABLESAMPLE system (100) REPEATABLE (3)',
	'{"age": "tens", "zip": "zips"}');
-- Partitions, inheritance, materialized views, temporary and unlogged tables.
CREATE TABLE parted (LIKE person) PARTITION BY RANGE (ward);
CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (0) TO (5) PARTITION BY HASH (id);
CREATE TABLE parted_low_0 PARTITION OF parted_low FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_low_1 PARTITION OF parted_low FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE parted_high PARTITION OF parted DEFAULT;
INSERT INTO parted TABLE person;
SELECT * FROM check_source('TABLE parted', '{"age": "tens", "zip": "zips"}', '{id}');
SELECT * FROM check_source('TABLE parted_low', '{"age": "tens", "zip": "zips"}', '{id}');
CREATE TABLE heir (extra integer) INHERITS (person);
INSERT INTO heir SELECT id + 1000, age, zip, ward, income, 7 FROM person WHERE ward = 3;
SELECT * FROM check_source('SELECT * FROM person', '{"age": "tens", "zip": "zips"}', '{id}');
SELECT * FROM check_source('SELECT * FROM ONLY person', '{"age": "tens", "zip": "zips"}', '{id}');
CREATE MATERIALIZED VIEW stored AS TABLE person;
SELECT * FROM check_source('TABLE stored', '{"age": "tens", "zip": "zips"}', '{id}');
CREATE UNLOGGED TABLE unlogged AS TABLE person;
SELECT * FROM check_source('TABLE unlogged', '{"age": "tens", "zip": "zips"}', '{id}');
SET client_min_messages = warning;
CREATE TEMP TABLE temporary AS TABLE person;
SELECT * FROM check_source('TABLE temporary', '{"age": "tens", "zip": "zips"}', '{id}');
RESET client_min_messages;
CREATE VIEW ordinary AS SELECT * FROM person WHERE ward <> 4;
SELECT * FROM check_source('TABLE ordinary', '{"age": "tens", "zip": "zips"}', '{id}');
-- A-views on A-views: of raw rows with another k, and of values already generalized.
SELECT kanon.create_anonymization_view('below', 'TABLE person', id => '{id}',
	quasi_ids => '{"age": "tens", "zip": "zips"}', k => 3, other => '{ward, income}');
SELECT kanon.create_anonymization_view('below_witness', 'TABLE person', id => '{id}',
	quasi_ids => '{"age": "tens", "zip": "zips"}', k => 3, match => 'witness', other => '{ward, income}');
SELECT * FROM check_source('SELECT age, zip, ward FROM below', '{"age": null, "zip": null}', k => 6);
SELECT * FROM check_source('SELECT age, zip, ward FROM below_witness WHERE zip = ''013''', '{"ward": null}', k => 3);
SELECT * FROM check_source('SELECT a.ward, b.zip FROM below a JOIN below b USING (ward) '
	'WHERE a.ward = 3 AND b.age = 30', '{"zip": null}', k => 20);
-- Foreign tables: rows of this very server.
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER loopback FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
		split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database());
	EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER loopback OPTIONS (user %L)', current_user);
END
$$;
CREATE FOREIGN TABLE far (id integer, age integer, zip text, ward integer,
	income numeric) SERVER loopback OPTIONS (table_name 'person');
SELECT * FROM check_source('TABLE far', '{"age": "tens", "zip": "zips"}', '{id}');
SELECT * FROM check_source('SELECT far.age, person.zip FROM far JOIN person USING (id)',
	'{"age": "tens", "zip": "zips"}');
CREATE FOREIGN TABLE parted_far PARTITION OF parted FOR VALUES
	FROM (100) TO (200) SERVER loopback OPTIONS (table_name 'far_rows');
CREATE TABLE far_rows AS SELECT id, age, zip, ward + 100 AS ward, income FROM ONLY person;
SELECT * FROM check_source('TABLE parted', '{"age": "tens", "zip": "zips"}', '{id}');
