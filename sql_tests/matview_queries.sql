-- Analysts query a materialized view as any other: the same rows through every plan, and nothing that a logical view
-- hides.
\set dir `echo "$PG_ABS_SRCDIR"`
SET client_min_messages = warning;
CREATE ROLE matview_analyst;
RESET client_min_messages;
CREATE TABLE person (id integer PRIMARY KEY, age integer, zip text, born date, region text, disease text, ward integer);
INSERT INTO person SELECT i, nullif(i * 7 % 5 * 10, 20), lpad((i * 37 % 12 * 83)::text, 3, '0'),
	date '1950-01-01' + i * 37 % 4 * 5000,
	(ARRAY ['north', 'south', 'east', 'west', 'elsewhere', NULL])[1 + i % 6],
	(ARRAY ['flu', 'hiv', 'ulcer', NULL])[1 + i % 4], i % 10
FROM generate_series(1, 600) AS i;
DO $$
BEGIN
	PERFORM kanon.create_interval_dgh('ages', 0, '{10, 50}');
	PERFORM kanon.create_prefix_dgh('zips', 3);
	PERFORM kanon.create_date_dgh('days', '{month, year, decade}');
	PERFORM kanon.create_dgh('regions');
	INSERT INTO kanon.dgh_edge VALUES ('regions', 'north', 'upper'), ('regions', 'east', 'upper'),
		('regions', 'south', 'lower'), ('regions', 'west', 'lower');
	PERFORM kanon.create_dgh('diseases');
	INSERT INTO kanon.dgh_edge VALUES ('diseases', 'flu', 'infection'), ('diseases', 'hiv', 'infection'),
		('diseases', 'ulcer', 'stomach');
	PERFORM kanon.create_anonymization_view('kept', 'SELECT * FROM person', id => '{id}',
		quasi_ids => '{"age": "ages", "zip": "zips", "born": "days", "region": "regions"}',
		sensitive => '{"disease": "diseases"}', k => 3, materialized => true, other => '{ward}');
END
$$;
INSERT INTO person SELECT 1000 + i, i * 11 % 95, lpad((i * 17 % 12 * 83)::text, 3, '0'),
	date '1950-01-01' + i * 97 % 20000,
	(ARRAY ['north', 'south', 'nowhere'])[1 + i % 3], 'flu', i % 10 FROM generate_series(1, 40) AS i;

-- The rows that the node reads through indexes are the rows of the whole view.
CREATE TABLE whole AS SELECT * FROM kept;
CREATE TABLE condition (c text);
INSERT INTO condition
	SELECT format('age = %s', a) FROM generate_series(0, 95, 5) AS a
	UNION ALL SELECT format('age = %L', a) FROM unnest('{14,14.5,[10,20),*,abc}'::text[]) AS a
	UNION ALL SELECT format('zip = %L', lpad((z * 83 % 1000)::text, 3, '0')) FROM generate_series(1, 20) AS z
	UNION ALL SELECT format('zip = %L', z) FROM unnest('{12*,1**,1234,*,***}'::text[]) AS z
	UNION ALL SELECT format('born = %L', d) FROM unnest('{1960-05-05,1990,1970-01-01,2020-01-01,never}'::text[]) AS d
	UNION ALL SELECT format('born = date %L', d) FROM unnest('{1960-05-05,1970-01-01}'::text[]) AS d
	UNION ALL SELECT format('born = timestamp %L', d) FROM unnest('{1960-05-05 10:00,1970-01-01 00:00}'::text[]) AS d
	UNION ALL SELECT format('region = %L', r) FROM unnest('{north,upper,nowhere,elsewhere,xyz,*}'::text[]) AS r
	UNION ALL SELECT unnest(ARRAY ['region IS NULL', 'age IN (30, 44)', 'age BETWEEN 20 AND 25', 'age < 5',
		'zip AVLIKE_', 'disease = ''infection''', 'disease IS NULL', 'ward = 3', 'ward = 3 AND age = 33',
		'age = 30 AND zip = ''166''', 'age = 33 AND region = ''north'' AND ward > 4', 'id = 5', 'id IS NULL',
		'age = 33 OR ward = 2', 'region = zip', 'age = ward::text']);
DELETE FROM condition WHERE c ~ 'AVLIKE_';
CREATE FUNCTION differs(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	missing text;
BEGIN
	EXECUTE format('SELECT ''differs'' WHERE EXISTS ((SELECT k::text FROM kept k WHERE %1$s EXCEPT ALL SELECT w::text
		FROM whole w WHERE %1$s)
		UNION ALL (SELECT w::text FROM whole w WHERE %1$s EXCEPT ALL SELECT k::text FROM kept k WHERE %1$s))',
			condition) INTO missing;
	RETURN missing;
END
$$;
SELECT count(*) > 60 AS enough FROM condition;
SELECT c FROM condition WHERE differs(c) IS NOT NULL;
-- Parameters: a generic plan looks each value up in the index.
PREPARE asked(text, int) AS SELECT count(*) FROM kept WHERE zip = $1 AND ward <> $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE asked('166', 3);
SELECT count(*) FROM whole WHERE zip = '166' AND ward <> 3;
EXECUTE asked('1**', 3);
SELECT count(*) FROM whole WHERE zip = '1**' AND ward <> 3;
EXECUTE asked(NULL, 3);
RESET plan_cache_mode;
-- Joins, correlated subqueries, cursors, whole rows.
SELECT count(*) FROM (VALUES (33), (44)) AS v (a) JOIN kept ON kept.age = v.a;
SELECT count(*) FROM (VALUES (33), (44)) AS v (a) JOIN whole ON whole.age = v.a;
SELECT v.z, (SELECT count(*) FROM kept WHERE kept.zip = v.z) = (SELECT count(*) FROM whole
	WHERE whole.zip = v.z) AS same
FROM (VALUES ('166'), ('249'), (NULL)) AS v (z);
SELECT count(kept) = count(*) AS rows FROM kept;
-- The plan uses an index on the groups.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT ward FROM kept WHERE zip = '166';
RESET enable_seqscan;
RESET enable_bitmapscan;

-- An analyst sees the plan's shape, and no numbers, inner plan, stored table or error of it.
GRANT SELECT ON kept TO matview_analyst;
SET ROLE matview_analyst;
EXPLAIN SELECT ward FROM kept WHERE zip = '166' AND ward = 3;
SELECT count(*) = 640 AS all_rows FROM kept;
SELECT * FROM kanon.groups('kept');
SELECT count(*) FROM kanon.scan('kept') AS s (id integer, age kanon.generalized, zip kanon.generalized,
	born kanon.generalized, region kanon.generalized, disease kanon.generalized, ward integer);
INSERT INTO kept VALUES (1);
-- A function of one's own sees published rows only.
CREATE FUNCTION pg_temp.peek(integer, kanon.generalized) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN
	-- Only ages of at least three people are published as they are, and no identifier.
	IF $1 IS NOT NULL OR $2::text IN ('77', '88', '66') THEN
		RAISE NOTICE 'saw %, %', $1, $2;
	END IF;
	RETURN true;
END
$$;
SELECT count(*) FROM kept WHERE pg_temp.peek(id, age) AND ward = 3 AND age = 33;
RESET ROLE;
SELECT * FROM kept FOR UPDATE;

-- l holds when members go; t after every change.
CREATE TABLE varied (id integer PRIMARY KEY, age integer, disease text);
INSERT INTO varied SELECT i, i, 'd' || i % 3 FROM generate_series(1, 30) AS i;
SELECT kanon.create_anonymization_view('diverse', 'SELECT * FROM varied', id => '{id}', quasi_ids => '{"age": "ages"}',
	sensitive => '{"disease": null}', k => 3, l => 3, materialized => true);
DELETE FROM varied WHERE disease = 'd1' AND age < 10;
SELECT age, count(*), count(DISTINCT disease) FROM diverse GROUP BY age ORDER BY age;
UPDATE varied SET disease = 'd0' WHERE age BETWEEN 20 AND 29;
SELECT age, count(*), count(DISTINCT disease) FROM diverse GROUP BY age ORDER BY age;
SELECT kanon.create_anonymization_view('close', 'SELECT * FROM varied', id => '{id}', quasi_ids => '{"age": "ages"}',
	sensitive => '{"disease": null}', k => 3, t => 0.3, materialized => true);
INSERT INTO varied SELECT i, 61 + i % 9, 'd2' FROM generate_series(31, 40) AS i;
INSERT INTO varied VALUES (50, 62, 'd2'), (51, 5, 'd1');
WITH whole AS (SELECT disease, count(*)::float8 / sum(count(*)) OVER () AS share FROM varied GROUP BY disease),
	groups AS (SELECT age::text, disease, count(*)::float8 / sum(count(*)) OVER (PARTITION BY age::text) AS share
		FROM close GROUP BY age::text, disease)
SELECT max(distance) <= 0.3 AS close FROM (SELECT a.age, sum(abs(coalesce(g.share, 0) - w.share)) / 2 AS distance
	FROM (SELECT DISTINCT age FROM groups) a CROSS JOIN whole w LEFT JOIN groups g ON g.age = a.age
		AND g.disease = w.disease GROUP BY a.age) q;
DROP OWNED BY matview_analyst;
DROP ROLE matview_analyst;
