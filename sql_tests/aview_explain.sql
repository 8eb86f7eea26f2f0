-- EXPLAIN names the node, its plan and its conditions; numbers and the source's plan only for a role that may read the
-- source.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
SET ROLE :"owner";
GRANT SELECT ON people, witnessed TO :"analyst";

-- Return the lines of EXPLAIN, without those that only PostgreSQL 18 and later print.
CREATE FUNCTION explain(command text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE command LOOP
		RETURN QUERY SELECT regexp_replace(l, '(actual rows=\d+)\.00', '\1') FROM regexp_split_to_table(line, '\n') l
			WHERE l !~ '"Disabled": false';
	END LOOP;
END
$$;

-- 1. For the owner: both plans, all kinds of conditions.
EXPLAIN (COSTS OFF) SELECT * FROM people;
SET kanon.plan = anonymize_first;
EXPLAIN (COSTS OFF) SELECT * FROM people WHERE ward = 3 AND age = 30 AND disease = 'hiv' AND name IS NULL;
SET kanon.plan = select_first;
EXPLAIN (COSTS OFF) SELECT * FROM people WHERE ward = 3 AND age = 30 AND disease = 'hiv' AND name IS NULL;
EXPLAIN (COSTS OFF) SELECT * FROM witnessed WHERE zip = '013' AND age BETWEEN 20 AND 29;
EXPLAIN (COSTS OFF) SELECT * FROM people WHERE name = 'Lonely';
EXPLAIN (COSTS OFF, VERBOSE) SELECT zip, count(*) FROM people WHERE ward = 3 GROUP BY zip;
SELECT * FROM explain($$EXPLAIN (COSTS OFF, FORMAT json) SELECT * FROM people WHERE ward = 3 AND age = 30
	AND disease = 'hiv'$$);
SELECT * FROM explain($$EXPLAIN (COSTS OFF, FORMAT json) SELECT * FROM witnessed WHERE age = 30$$);
SELECT * FROM explain($$EXPLAIN (COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT * FROM people
	WHERE ward = 77$$);
RESET kanon.plan;
-- The owner sees numbers.
SELECT count(*) > 0 AS "costs and rows" FROM explain('EXPLAIN SELECT * FROM people') AS line
	WHERE line ~ 'cost=[1-9].*rows=241';
SELECT count(*) > 0 AS "source" FROM explain('EXPLAIN SELECT * FROM people') AS line
	WHERE line ~ 'Source: Seq Scan on person  .*rows=241';

-- 2. For the analyst: zeros, however he asks.
SET ROLE :"analyst";
SET kanon.plan = select_first;
EXPLAIN SELECT * FROM people WHERE ward = 3 AND age = 30;
SELECT * FROM explain($$EXPLAIN (VERBOSE, FORMAT json) SELECT count(*) FROM people WHERE disease = 'plague'$$);
SELECT * FROM explain($$EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF, WAL, VERBOSE) SELECT ward FROM people
	WHERE ward = 77$$);
-- Conditions with a column of a join's other side name that column.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN SELECT people.zip FROM generate_series(1, 3) AS g JOIN people ON ward > g;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- Everything that could give away a number.
CREATE FUNCTION pg_temp.tells(command text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT line FROM explain(command) AS line
	WHERE line ~ 'cost=(?!0\.00\.\.0\.00)|rows=(?!0 )\d+ width|width=[^0]|Source|Selected|shared|Disk|(Plan '
		'Rows|Cost|Width)": [0-9.]*[1-9]|<(Plan-Rows|[A-z]*-Cost|Plan-Width)>[0-9.]*[1-9]'
		-- Planning reads catalogs only.
		AND line !~ '^(Planning:|  Buffers:)'
$$;
DO $$
DECLARE
	command text;
	query text;
	plan text;
	line text;
	count integer := 0;
BEGIN
	FOREACH plan IN ARRAY '{auto, anonymize_first, select_first, function}'::text[] LOOP
		PERFORM set_config('kanon.plan', plan, false);
		FOREACH query IN ARRAY ARRAY [
			'SELECT * FROM people',
			'SELECT * FROM people WHERE disease = ''plague''',
			'SELECT * FROM people WHERE ward = 3 AND zip = ''013''',
			'SELECT * FROM witnessed WHERE zip = ''9x9'' AND age = 99',
			'SELECT zip, count(*) FROM people WHERE disease = ''hiv'' GROUP BY zip ORDER BY 2',
			'SELECT * FROM people a JOIN witnessed b ON a.ward = b.ward WHERE a.disease = ''flu''',
			'SELECT * FROM generate_series(1, 3) g LEFT JOIN people ON g = ward',
			'SELECT (SELECT count(*) FROM people WHERE ward = g) FROM generate_series(1, 3) g',
			'WITH x AS MATERIALIZED (SELECT * FROM people WHERE disease = ''flu'') SELECT count(*) FROM x',
			'SELECT ward FROM people WHERE disease = ''flu'' UNION ALL SELECT 1',
			'SELECT ward FROM people WHERE disease = ''flu'' INTERSECT SELECT 1',
			'SELECT * FROM (SELECT row_number() OVER (ORDER BY ward), disease FROM people) w WHERE disease = ''hiv''',
			'SELECT 1 WHERE EXISTS (SELECT FROM people WHERE disease = ''plague'')',
			'SELECT 1 WHERE 3 NOT IN (SELECT ward FROM people WHERE disease = ''plague'')',
			'SELECT * FROM kanon.scan(''people'') AS s (n text, a kanon.generalized, z kanon.generalized, d text, w '
				'integer)',
			'CREATE TEMP TABLE x AS SELECT * FROM people WHERE disease = ''hiv''',
			'DECLARE c CURSOR FOR SELECT * FROM people WHERE disease = ''plague''']
		LOOP
			FOREACH command IN ARRAY ARRAY [
				'EXPLAIN ', 'EXPLAIN (VERBOSE) ', 'EXPLAIN (FORMAT json) ', 'EXPLAIN (FORMAT xml) ',
				'EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS, WAL) ']
			LOOP
				CONTINUE WHEN query ~ '^(CREATE|DECLARE)' AND command ~ 'ANALYZE';
				count := count + 1;
				FOR line IN SELECT pg_temp.tells(command || query) LOOP
					RAISE WARNING '% (%): %', command || query, plan, line;
				END LOOP;
			END LOOP;
		END LOOP;
	END LOOP;
	RAISE NOTICE '% explanations', count;
END
$$;
SET kanon.plan = anonymize_first;
-- The check itself finds numbers where there are some.
SELECT count(*) > 0 AS found FROM pg_temp.tells('EXPLAIN SELECT * FROM pg_class');

-- 3. Prepared statements, cursors, functions.
PREPARE q (integer) AS SELECT * FROM people WHERE ward = $1 AND disease = 'plague';
SELECT pg_temp.tells('EXPLAIN EXECUTE q(77)');
SELECT pg_temp.tells('EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS) EXECUTE q(77)');
SET plan_cache_mode = force_generic_plan;
EXPLAIN EXECUTE q(77);
SELECT pg_temp.tells('EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS) EXECUTE q(77)');
RESET plan_cache_mode;
BEGIN;
EXPLAIN DECLARE c CURSOR FOR SELECT * FROM people WHERE ward = 77;
SELECT * FROM explain($$EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF) DECLARE c CURSOR FOR SELECT *
	FROM people WHERE ward = 77$$);
ROLLBACK;
SELECT * FROM explain($$EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF) CREATE TEMP TABLE copied AS SELECT *
	FROM people WHERE ward = 77$$);
CREATE FUNCTION pg_temp.explain_inside() RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXPLAIN SELECT * FROM people WHERE ward = 77;
END
$$;
SELECT pg_temp.explain_inside();
SELECT * FROM explain($$EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF) INSERT INTO copied SELECT * FROM people
	WHERE disease = 'plague'$$);

-- 4. One plan, several roles: made by a role that may read the source, used by one that may not, and the other way
-- round.
RESET ROLE;
DEALLOCATE q;
SET plan_cache_mode = force_generic_plan;
PREPARE q AS SELECT * FROM people WHERE disease = 'hiv';
SELECT count(*) AS "told to a superuser" FROM explain('EXPLAIN EXECUTE q') AS line
	WHERE line ~ 'rows=[1-9]|Source|Selected';
SET ROLE :"analyst";
EXPLAIN EXECUTE q;
RESET ROLE;
SELECT count(*) AS "told to a superuser" FROM explain('EXPLAIN EXECUTE q') AS line
	WHERE line ~ 'rows=[1-9]|Source|Selected';
DEALLOCATE q;
SET ROLE :"analyst";
PREPARE q AS SELECT * FROM people WHERE disease = 'hiv';
EXPLAIN EXECUTE q;
RESET ROLE;
SELECT count(*) AS "told to a superuser" FROM explain('EXPLAIN EXECUTE q') AS line
	WHERE line ~ 'rows=[1-9]|Source|Selected';
DEALLOCATE q;
RESET plan_cache_mode;
-- A function of the owner's explains as the owner.
SET ROLE :"owner";
CREATE FUNCTION explain_as_owner() RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
	RETURN QUERY EXPLAIN SELECT * FROM people;
END
$$;
SET ROLE :"analyst";
SELECT count(*) > 0 AS told FROM explain_as_owner() AS line WHERE line ~ 'rows=241';

-- 5. Some of the source is not enough: columns, rows, one of two tables, an A-view below.
SET ROLE :"owner";
GRANT SELECT (ward, zip) ON person TO :"analyst";
SET ROLE :"analyst";
SELECT pg_temp.tells('EXPLAIN SELECT * FROM people');
SET ROLE :"owner";
GRANT SELECT ON person TO :"analyst";
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
SET ROLE :"analyst";
SELECT pg_temp.tells('EXPLAIN SELECT * FROM people');
SET ROLE :"owner";
ALTER TABLE person DISABLE ROW LEVEL SECURITY;
SET ROLE :"analyst";
SELECT count(*) > 0 AS "may read the table" FROM pg_temp.tells('EXPLAIN SELECT * FROM people');
SET ROLE :"owner";
REVOKE SELECT ON person FROM :"analyst";
SELECT kanon.create_anonymization_view('above', 'SELECT age, zip, ward FROM people',
	quasi_ids => '{"age": null, "zip": null}', k => 4);
CREATE VIEW ordinary AS SELECT * FROM people;
SELECT kanon.create_anonymization_view('above_ordinary', 'SELECT age, zip, ward FROM ordinary',
	quasi_ids => '{"age": null, "zip": null}', k => 4);
GRANT SELECT ON above, above_ordinary, ordinary TO :"analyst";
SET ROLE :"analyst";
SELECT pg_temp.tells('EXPLAIN SELECT * FROM above');
SELECT pg_temp.tells('EXPLAIN SELECT * FROM above_ordinary');
SELECT pg_temp.tells('EXPLAIN SELECT * FROM ordinary');

-- 6. The first statement of a session, before the library is loaded.
\c -
SELECT current_database() || '_owner' AS owner, current_database() || '_analyst' AS analyst \gset
SET ROLE :"analyst";
EXPLAIN SELECT * FROM people;
\c -
SELECT current_database() || '_owner' AS owner, current_database() || '_analyst' AS analyst \gset
SET ROLE :"analyst";
SELECT * FROM explain($$EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT count(*) FROM people$$);

\set end :dir '/data/people_end.sql'
\i :end
