-- Queries over an A-view answer as over a copy of the published rows, in every plan.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
\set SHOW_CONTEXT never
SET ROLE :"owner";
CREATE TABLE room (ward integer PRIMARY KEY, floor integer, zip text, age integer);
INSERT INTO room SELECT i, i / 3, lpad((i * 3)::text, 3, '0'), i * 11 FROM generate_series(0, 12) AS i;
ANALYZE room;
CREATE TABLE copy_people AS TABLE people;
CREATE TABLE copy_witnessed AS TABLE witnessed;

-- Runs a query over the views, in all modes, and over the copies; %1$s and %2$s stand for people and witnessed.
CREATE FUNCTION compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	form text := 'SELECT coalesce(string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C"), ''nothing'') FROM (%s) q';
	expected text;
	answer text;
	plan text;
BEGIN
	EXECUTE format(form, format(query, 'copy_people', 'copy_witnessed')) INTO expected;
	FOREACH plan IN ARRAY '{auto, anonymize_first, select_first, function}'::text[] LOOP
		PERFORM set_config('kanon.plan', plan, true);
		EXECUTE format(form, format(query, 'people', 'witnessed')) INTO answer;
		IF answer IS DISTINCT FROM expected THEN
			RETURN format('%s differs: %s instead of %s', plan, left(answer, 300), left(expected, 300));
		END IF;
	END LOOP;
	PERFORM set_config('kanon.plan', 'auto', true);
	IF expected = 'nothing' THEN
		RETURN 'nothing, the same';
	END IF;
	RETURN (1 + length(expected) - length(replace(expected, E'\n', ''))) || ' rows, the same';
END
$$;

\pset format unaligned
\pset tuples_only
-- Predicates on generalized columns.
SELECT q, compare(format('SELECT * FROM %%1$s WHERE %s', q)) FROM unnest(ARRAY [
	'zip = ''013''', 'zip = ''01*''', 'zip = ''*''', 'zip = ''zzz''', 'zip ~~^ ''013''', 'kanon.avlike(zip, ''013'')',
	'''013'' = zip',
	'age = 30', 'age = ''[30,40)''', 'age <> 30', 'age < 30', 'age <= 30', 'age > 60', 'age >= 60', '30 < age',
	'age BETWEEN 25 AND 35',
	'age IN (25, 35)', 'age NOT IN (25, 35)', 'age = ANY (ARRAY [25, 99])', 'age = ANY (''{25,99}''::integer[])',
	'zip = ANY (''{013,9x9}'')', 'age = ALL (ARRAY [25, 26])',
	'age IS NULL', 'age IS NOT NULL', 'age = 30 AND zip = ''013''', 'age = 30 OR zip = ''013''', 'NOT (age = 30)',
	'age = 30 IS TRUE', '(age = 30) IS NOT TRUE',
	'age = 30::bigint', 'age = 30.0', 'age = 30.5::float8', 'zip = 13', 'zip::text LIKE ''0%%''', 'zip::text = ''*''',
	'age::text = ''*''',
	'age IS DISTINCT FROM NULL', 'age = zip', 'age = NULL', 'length(zip::text) = 1',
	'kanon.coverage(age, 20, 30) > 0.5']) AS q;
-- Predicates on the others.
SELECT q, compare(format('SELECT * FROM %%1$s WHERE %s', q)) FROM unnest(ARRAY [
	'ward = 3', 'ward = 77', 'ward IN (1, 2, 77)', 'ward > 7', 'ward BETWEEN 2 AND 4', 'ward = 3 AND age = 30',
	'ward = 3 OR age = 30', 'ward IS NULL', 'ward %% 2 = 1',
	'disease = ''hiv''', 'disease IS NULL', 'disease IS NOT NULL', 'disease <> ''hiv''', 'disease = ''plague''',
	'disease IN (''hiv'', ''plague'')', 'disease LIKE ''p%%''',
	'coalesce(disease, ''none'') = ''none''', 'disease IS DISTINCT FROM ''plague''', 'NOT (disease = ''hiv'')',
	'(disease = ''plague'') IS NOT TRUE', 'disease = ''hiv'' AND ward = 3 AND zip = ''013''',
	'disease = ''plague'' OR ward = 77', 'disease > ''d''', 'disease = ANY (ARRAY [''hiv'', NULL])',
	'disease || ward = ''hiv1''',
	'name IS NULL', 'name = ''Lonely''', 'name IS NOT NULL', 'coalesce(name, ''x'') = ''x''',
	'name = ''Lonely'' OR ward = 3', 'name IS NOT DISTINCT FROM NULL AND ward = 77',
	'false', 'NULL', 'true', '1 = 2', 'random() < 2', 'ward = (SELECT 3)', 'ward = (SELECT max(ward) FROM room)']) AS q;

-- Shapes.
SELECT compare('SELECT * FROM %1$s');
SELECT compare('SELECT ward FROM %1$s ORDER BY zip, age, ward, disease LIMIT 20');
SELECT compare('SELECT zip, ward FROM %1$s ORDER BY zip DESC NULLS LAST, ward DESC, age, disease OFFSET 100 FETCH '
	'FIRST 5 ROWS ONLY');
SELECT compare('SELECT count(*), count(age), count(DISTINCT zip), min(zip), max(age), sum(ward), bool_or(zip = '
	'''013'') FROM %1$s');
SELECT compare('SELECT zip, age, count(*), array_agg(ward ORDER BY ward) FROM %1$s GROUP BY zip, age');
SELECT compare('SELECT zip, count(*) FROM %1$s WHERE ward = 3 GROUP BY zip HAVING count(*) > 1');
SELECT compare('SELECT zip, age, count(*) FROM %1$s GROUP BY ROLLUP (zip, age)');
SELECT compare('SELECT DISTINCT zip, disease FROM %1$s');
SELECT compare('SELECT DISTINCT ON (zip) zip, disease FROM %1$s ORDER BY zip, disease');
SELECT compare('SELECT sum(kanon.coverage(age, 20, 30)) FROM %1$s');
SELECT compare('SELECT zip, ward, count(*) OVER (PARTITION BY zip), rank() OVER (ORDER BY ward) FROM %1$s');
SELECT compare('SELECT * FROM (SELECT zip, row_number() OVER (PARTITION BY zip ORDER BY ward, disease) AS n '
	'FROM %1$s) w WHERE n = 1');
SELECT compare('SELECT * FROM (SELECT zip, ward FROM %1$s OFFSET 0) s WHERE zip = ''013''');
SELECT compare('WITH w AS (SELECT * FROM %1$s WHERE ward = 3) SELECT zip, count(*) FROM w GROUP BY zip');
SELECT compare('WITH w AS MATERIALIZED (SELECT * FROM %1$s) SELECT a.zip, b.zip FROM w a JOIN w b USING (ward) '
	'WHERE ward = 77');
SELECT compare('WITH RECURSIVE r AS (SELECT ward FROM %1$s WHERE ward = 3 UNION SELECT r.ward + 1 FROM r '
	'JOIN %1$s p ON p.ward = r.ward) SELECT * FROM r');
SELECT compare('SELECT zip FROM %1$s UNION SELECT zip FROM %2$s');
SELECT compare('SELECT zip, ward FROM %1$s UNION ALL SELECT zip::kanon.generalized, 0 FROM room');
SELECT compare('SELECT ward FROM %1$s WHERE age = 30 INTERSECT SELECT ward FROM room');
SELECT compare('SELECT zip, age FROM %1$s EXCEPT SELECT zip, age FROM %1$s WHERE ward = 3');
SELECT compare('SELECT * FROM room r WHERE EXISTS (SELECT FROM %1$s p WHERE p.ward = r.ward AND p.disease = ''hiv'')');
SELECT compare('SELECT * FROM room r WHERE NOT EXISTS (SELECT FROM %1$s p WHERE p.ward = r.ward)');
SELECT compare('SELECT * FROM room WHERE ward IN (SELECT ward FROM %1$s WHERE zip = ''013'')');
SELECT compare('SELECT * FROM room WHERE ward NOT IN (SELECT ward FROM %1$s WHERE disease = ''hiv'')');
SELECT compare('SELECT * FROM room WHERE floor = (SELECT min(ward) FROM %1$s WHERE zip = ''013'')');
SELECT compare('SELECT ward, (SELECT count(*) FROM %1$s p WHERE p.ward = room.ward AND p.zip = room.zip) FROM room');
SELECT compare('SELECT r.ward, s.* FROM room r, LATERAL (SELECT zip, disease FROM %1$s p WHERE p.ward = r.ward '
	'ORDER BY zip, disease LIMIT 2) s');
SELECT compare('SELECT r.ward, s.* FROM room r LEFT JOIN LATERAL (SELECT zip FROM %1$s p WHERE p.zip = r.zip '
	'AND p.ward < r.floor) s ON true');
SELECT compare('SELECT p FROM %1$s p WHERE ward = 3');
SELECT compare('SELECT p.*, p IS NULL FROM %1$s p WHERE ward = 77');
SELECT compare('SELECT (p).zip, row_to_json(p)->>''age'' FROM %1$s p WHERE ward = 3');
SELECT compare('SELECT 1 FROM %1$s');
SELECT compare('SELECT FROM %1$s WHERE ward = 3');
SELECT compare('SELECT CASE WHEN zip = ''013'' THEN disease END FROM %1$s');
-- Joins: with tables and A-views, by other columns, and by AVLIKE on quasi-identifiers (Fig. 9).
SELECT compare('SELECT * FROM %1$s JOIN room USING (ward)');
SELECT compare('SELECT * FROM %1$s p JOIN room r ON p.ward = r.ward AND p.zip = r.zip');
SELECT compare('SELECT * FROM %1$s p JOIN room r ON p.zip = r.zip');
SELECT compare('SELECT * FROM %1$s p JOIN room r ON p.age = r.age WHERE r.floor = 1');
SELECT compare('SELECT * FROM room r LEFT JOIN %1$s p ON p.ward = r.ward AND p.disease = ''hiv''');
SELECT compare('SELECT * FROM %1$s p LEFT JOIN room r ON p.ward = r.ward WHERE p.zip = ''013''');
SELECT compare('SELECT * FROM %1$s p FULL JOIN room r ON p.ward = r.ward');
SELECT compare('SELECT * FROM %1$s p RIGHT JOIN room r ON p.age = r.age AND p.ward = 3');
SELECT compare('SELECT a.zip, b.age FROM %1$s a JOIN %2$s b ON a.ward = b.ward WHERE a.ward IN (3, 77)');
SELECT compare('SELECT a.ward, b.ward FROM %1$s a JOIN %2$s b ON a.zip = b.zip AND a.age = b.age WHERE a.ward = 3');
SELECT compare('SELECT a.ward, b.ward FROM %1$s a JOIN %1$s b USING (zip) WHERE a.ward = 77');
SELECT compare('SELECT count(*) FROM %1$s a, %2$s b');
SELECT compare('SELECT count(*) FROM %1$s a JOIN room USING (ward) JOIN %2$s b USING (ward) WHERE floor = 1 '
	'AND a.age = 30 AND b.disease = ''flu''');
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT compare('SELECT * FROM %1$s JOIN room USING (ward) WHERE floor = 1');
SELECT compare('SELECT * FROM room r LEFT JOIN %1$s p ON p.ward = r.ward AND p.disease = ''hiv''');
SELECT compare('SELECT a.ward, b.ward FROM %1$s a JOIN %2$s b ON a.zip = b.zip WHERE a.ward = 3');
RESET enable_hashjoin;
SET enable_nestloop = off;
SELECT compare('SELECT * FROM %1$s JOIN room USING (ward) WHERE floor = 1');
RESET enable_nestloop;
RESET enable_mergejoin;

-- Parallel queries: the A-view in one, and its source.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
SELECT compare('SELECT zip, count(*) FROM %1$s GROUP BY zip');
SELECT compare('SELECT * FROM room JOIN %1$s USING (ward) JOIN room AS other USING (ward)');
SELECT compare('SELECT (SELECT count(*) FROM room), (SELECT count(*) FROM %1$s WHERE ward = 3)');
SELECT set_config(name, 'on', false) FROM pg_settings
	WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null
SELECT compare('SELECT zip, count(*) FROM %1$s GROUP BY zip');
SELECT set_config(name, 'off', false) FROM pg_settings
	WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null

\pset format aligned
\pset tuples_only off
-- Not for rows that are locked.
SELECT * FROM people FOR UPDATE;
SELECT * FROM people p JOIN room USING (ward) FOR SHARE;
SELECT * FROM (SELECT * FROM people) s FOR NO KEY UPDATE;
SELECT * FROM (SELECT * FROM people FOR KEY SHARE) s;
WITH w AS (SELECT * FROM people FOR UPDATE) SELECT * FROM w;
CREATE VIEW upper AS SELECT zip FROM people;
SELECT * FROM upper FOR UPDATE;
SET kanon.plan = function;
SELECT * FROM people FOR UPDATE;
RESET kanon.plan;
SELECT count(*) FROM (SELECT 1 FROM people p JOIN room USING (ward) WHERE ward = 4 FOR UPDATE OF room) s;

\set end :dir '/data/people_end.sql'
\i :end
