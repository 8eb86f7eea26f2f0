-- A column of the source that has no role is not in the view unless it is named among the others.
\set VERBOSITY terse
SET client_min_messages = warning;
SET kanon.measure_views = off;
CREATE TABLE person (id integer PRIMARY KEY, age integer, zip text, disease text, ward integer, note text, pid integer);
INSERT INTO person SELECT i, 20 + i * 7 % 50, lpad((i * 13 % 40)::text, 3, '0'),
	(ARRAY['flu', 'hiv', 'ulcer'])[1 + i % 3], i % 5, 'note ' || i, 1000 + i FROM generate_series(1, 120) AS i;
CREATE INDEX ON person (ward);
ANALYZE person;
SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}');
SELECT kanon.create_prefix_dgh('zips', 3);
-- Make a view of the table, and tell its columns.
CREATE FUNCTION columns_with(other text[], query text DEFAULT 'SELECT * FROM person',
	id text[] DEFAULT '{id}', quasi_ids jsonb DEFAULT '{"age": "ages"}', profile jsonb DEFAULT NULL) RETURNS text
	LANGUAGE plpgsql AS $$
DECLARE
	columns text;
BEGIN
	PERFORM kanon.create_anonymization_view('v', query, id => columns_with.id, quasi_ids => columns_with.quasi_ids,
		k => 3, profile => columns_with.profile, other => columns_with.other);
	SELECT string_agg(attname, ' ' ORDER BY attnum) INTO columns FROM pg_attribute
		WHERE attrelid = 'v'::regclass AND attnum > 0;
	DROP VIEW v;
	RETURN columns;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;

-- 1. Which columns.
SELECT columns_with('{}') AS "none", columns_with(NULL) AS "null", columns_with('{note, ward}') AS "the source's order",
	columns_with('{*}') AS "all", columns_with('{*, note}') AS "all and one";
SELECT columns_with('{nobody}') AS missing, columns_with('{age}') AS has_role, columns_with('{note, note}') AS twice,
	columns_with('{NULL}') AS "null", columns_with('{*, *}') AS all_twice;
SELECT columns_with('{}', id => '{}', quasi_ids => '{}') AS nothing_left,
	columns_with('{ward}', id => '{}', quasi_ids => '{}') AS no_roles;
\set VERBOSITY default
SELECT kanon.create_anonymization_view('v', 'TABLE person', k => 3);
SELECT kanon.create_anonymization_view('v', 'TABLE person', k => 3, other => '{ward}');
DROP VIEW v;
\set VERBOSITY terse
-- The statement.
DO LANGUAGE kanon $$
CREATE ANONYMIZATION_VIEW v1 ON SELECT * FROM person WITH ANONYMIZATION_ID id ANONYMIZATION_QUASI_ID age K 3;
CREATE ANONYMIZATION_VIEW v2 ON SELECT * FROM person WITH K 3 ANONYMIZATION_OTHER ward, "note"
	ANONYMIZATION_ID id ANONYMIZATION_QUASI_ID age;
CREATE ANONYMIZATION_VIEW v3 ON SELECT * FROM person WITH ANONYMIZATION_OTHER * ANONYMIZATION_QUASI_ID age K 3
$$;
SELECT attrelid::regclass, string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute
	WHERE attrelid::regclass::text ~ '^v[123]$' AND attnum > 0 GROUP BY 1 ORDER BY 1;
DO LANGUAGE kanon $$ CREATE ANONYMIZATION_VIEW v4 ON SELECT * FROM person WITH ANONYMIZATION_OTHER *, ward K 3 $$;
DO LANGUAGE kanon $$ CREATE ANONYMIZATION_VIEW v4 ON SELECT * FROM person WITH ANONYMIZATION_OTHER missing K 3 $$;
DROP VIEW v1, v2, v3;

-- 2. Sources of every form: the same answer as from a source that never had the other columns.
CREATE FUNCTION differs(source text, without text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	differences bigint;
BEGIN
	PERFORM kanon.create_anonymization_view('hides', source, quasi_ids => '{"age": "ages", "zip": "zips"}', k => 3);
	PERFORM kanon.create_anonymization_view('has_not', without, quasi_ids => '{"age": "ages", "zip": "zips"}', k => 3);
	SELECT count(*) INTO differences FROM
		((SELECT age, zip FROM hides EXCEPT ALL SELECT age, zip FROM has_not)
		UNION ALL (SELECT age, zip FROM has_not EXCEPT ALL SELECT age, zip FROM hides)) AS d;
	DROP VIEW hides, has_not;
	RETURN differences;
END
$$;
SELECT what, differs(source, without) FROM (VALUES
	('plain', 'SELECT * FROM person', 'SELECT age, zip FROM person'),
	('other order', 'SELECT ward, zip, note, age FROM person WHERE ward < 3',
		'SELECT age, zip FROM person WHERE ward < 3'),
	('sorted by it', 'SELECT age, note, zip FROM person ORDER BY note', 'SELECT age, zip FROM person'),
	('first by it', 'SELECT age, note, zip FROM person ORDER BY note LIMIT 50',
		'SELECT age, zip FROM (SELECT * FROM person ORDER BY note LIMIT 50) x'),
	('distinct', 'SELECT DISTINCT ward, age, zip FROM person',
		'SELECT age, zip FROM (SELECT DISTINCT ward, age, zip FROM person) x'),
	('distinct on', 'SELECT DISTINCT ON (ward) ward, age, zip FROM person ORDER BY ward, id',
		'SELECT age, zip FROM (SELECT DISTINCT ON (ward) ward, age, zip FROM person ORDER BY ward, id) x'),
	('union', 'SELECT age, ward, zip FROM person UNION SELECT age, 1, zip FROM person',
		'SELECT age, zip FROM (SELECT age, ward, zip FROM person UNION SELECT age, 1, zip FROM person) x'),
	('grouped', 'SELECT age, zip, count(*) AS n FROM person GROUP BY age, zip, ward',
		'SELECT age, zip FROM (SELECT age, zip, count(*) FROM person GROUP BY age, zip, ward) x'),
	('one group', 'SELECT 33 AS age, max(zip) AS zip, count(*) AS n FROM person', 'SELECT 33 AS age, ''039'' AS zip'),
	('windows', 'SELECT age, zip, rank() OVER (ORDER BY note) FROM person', 'SELECT age, zip FROM person'),
	('sets', 'SELECT age, zip, generate_series(1, ward) AS n FROM person',
		'SELECT age, zip FROM person, generate_series(1, ward)'),
	('with', 'WITH p AS (TABLE person) SELECT note, age, zip FROM p -- and a comment', 'SELECT age, zip FROM person'),
	('joined', 'SELECT p.*, q.zip AS other FROM person p JOIN person q ON q.id = p.id + 1',
		'SELECT age, zip FROM person WHERE id < 120'),
	('whole row', 'SELECT age, zip, p FROM person p', 'SELECT age, zip FROM person'),
	('subquery', 'SELECT age, zip, (SELECT max(q.note) FROM person q WHERE q.age = p.age) AS m FROM person p',
		'SELECT age, zip FROM person')) AS s (what, source, without);

-- 3. Every plan; witness; a selection by a column that is shown; conditions on a column that is not.
SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"disease": null}', k => 3, other => '{ward}');
SELECT kanon.create_anonymization_view('narrow', 'SELECT id, age, zip, disease, ward FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"disease": null}', k => 3, other => '{ward}');
SELECT kanon.create_anonymization_view('witnessed', 'SELECT note, ward, disease, zip, age, id FROM person',
	id => '{id}', quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"disease": null}', k => 3,
	other => '{ward}',
	match => 'witness');
CREATE FUNCTION rows_of(query text, plan text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	PERFORM set_config('kanon.plan', plan, true);
	EXECUTE format('SELECT md5(string_agg(q::text, '' '' ORDER BY q::text)) || count(*) FROM (%s) AS q', query)
		INTO answer;
	RETURN answer;
END
$$;
SELECT condition, rows_of('SELECT age, zip, disease, ward FROM people ' || condition, 'anonymize_first')
		= rows_of('SELECT age, zip, disease, ward FROM narrow ' || condition, 'anonymize_first') AS first,
	rows_of('SELECT age, zip, disease, ward FROM people ' || condition, 'select_first')
		= rows_of('SELECT age, zip, disease, ward FROM narrow ' || condition, 'anonymize_first') AS select_first
FROM unnest('{"", WHERE ward = 3, "WHERE ward = 3 AND age = 33", "WHERE disease = ''hiv'' AND zip = ''013''"}'::text[])
	AS condition;
SELECT rows_of('SELECT age, zip FROM witnessed WHERE age = 33 AND ward = 3', plan) AS witness
	FROM unnest('{anonymize_first, select_first}'::text[]) AS plan;
SELECT note FROM people;
SELECT people.* FROM people WHERE pid = 1001;
SELECT count(*) FROM people p WHERE p::text LIKE '%note%';
SELECT kanon.scan('people'::regclass) LIMIT 0;
SET kanon.plan = select_first;
EXPLAIN (COSTS off) SELECT age FROM people WHERE ward = 3;
RESET kanon.plan;
-- The views of the catalog say what the source is; a replaced view is no longer an A-view, the same one still is.
SELECT regexp_replace(pg_get_viewdef('people'::regclass), '''\d+''', '''n''') AS definition;
DO $$ BEGIN EXECUTE format('CREATE OR REPLACE VIEW people AS %s', pg_get_viewdef('people'::regclass)); END $$;
SELECT rows_of('SELECT * FROM people', 'auto') = rows_of('SELECT * FROM narrow', 'auto') AS "still the same";
-- The table follows: a column that the source uses cannot be dropped, one that is renamed stays hidden.
ALTER TABLE person RENAME COLUMN note TO remark;
ALTER VIEW people RENAME COLUMN ward TO note;
SELECT note, count(*) FROM people GROUP BY note ORDER BY note LIMIT 1;
ALTER TABLE person DROP COLUMN remark;
ALTER VIEW people RENAME COLUMN note TO ward;
-- Who is one person is known from the key that the identifiers are, as before.
SELECT "column", role, base_column FROM kanon.aview_columns('people');
SELECT topic, subject, severity FROM kanon.audit('people') WHERE topic = 'undeclared';
SELECT (kanon.quality('people')).rows;
SELECT DISTINCT "column" FROM kanon.why_hidden('people', '7') ORDER BY 1;
SELECT kanon.report('people') ~ 'remark|pid' AS mentions_hidden;

-- 4. The key by which a profile finds choices.
CREATE TABLE choices (pid integer PRIMARY KEY, k integer, sa integer, show_age bool);
INSERT INTO choices SELECT pid, CASE WHEN id % 7 = 0 THEN 0 WHEN id % 3 = 0 THEN 4 ELSE 3 END, 0, id % 5 > 0
	FROM person;
SELECT columns_with('{*}', profile => '{"table": "choices", "key": {"pid": "pid"}, "k": "k"}') AS key_not_in_all,
	columns_with('{*, pid}', profile => '{"table": "choices", "key": {"pid": "pid"}, "k": "k"}') AS named,
	columns_with('{*}', 'SELECT person.*, c.sa, c.k AS wish FROM person JOIN choices c USING (pid)',
		profile => '{"table": "choices", "key": {"pid": "pid"}, "k": "k"}') AS nor_choices;
SELECT columns_with('{}',
		profile => '{"table": "choices", "key": {"pid": "pid"}, "k": "k", "disclose": {"zip": "show_age"}}')
	AS discloses_hidden,
	columns_with('{}', profile => '{"table": "choices", "key": {"missing": "pid"}, "k": "k"}') AS missing_key,
	columns_with('{}', profile => '{"table": "choices", "key": {"zip": "pid"}, "k": "k"}') AS other_type;
SELECT kanon.grant_access('public', 'care', 'lab');
SET kanon.purpose = 'care';
SET kanon.recipient = 'lab';
\set profile '{"table": "choices", "key": {"pid": "pid"}, "k": "k", "disclose": {"age": "show_age"}}'
SELECT kanon.create_anonymization_view('hidden', 'SELECT pid, remark, id, zip, age, ward FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', k => 3, other => '{ward}', profile => :'profile');
SELECT kanon.create_anonymization_view('named', 'SELECT pid, remark, id, zip, age, ward FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', k => 3, other => '{ward, pid}', profile => :'profile');
SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'hidden'::regclass AND attnum > 0;
SELECT plan,
	rows_of('SELECT id, zip, age, ward FROM hidden', plan)
		= rows_of('SELECT id, zip, age, ward FROM named', plan) AS same,
	rows_of('SELECT id, zip, age FROM hidden WHERE ward = 2', plan)
		= rows_of('SELECT id, zip, age FROM named WHERE ward = 2', plan) AS selected
FROM unnest('{anonymize_first, select_first}'::text[]) AS plan;
SELECT count(*), count(id) FROM hidden;
SELECT * FROM kanon.aview_profile('hidden');
SELECT kanon.policy('hidden');
-- Stored: its groups follow changes of rows and of choices by that key, as those of a view that shows it.
SELECT kanon.create_anonymization_view('kept', 'SELECT remark, pid, id, zip, age, ward FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', k => 3, other => '{ward}', profile => :'profile',
	materialized => true);
SELECT kanon.create_anonymization_view('kept_named', 'SELECT remark, pid, id, zip, age, ward FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', k => 3, other => '{ward, pid}', profile => :'profile',
	materialized => true);
CREATE FUNCTION stored() RETURNS text LANGUAGE sql AS $$
	SELECT (rows_of('SELECT id, zip, age, ward FROM kept', 'auto')
			= rows_of('SELECT id, zip, age, ward FROM kept_named', 'auto'))
		|| ' ' || (SELECT count(*) FROM kept) || ' ' || (SELECT count(id) FROM kept)
$$;
SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'kept'::regclass AND attnum > 0;
SELECT stored();
INSERT INTO person VALUES (500, 33, '013', 'flu', 3, 'n', 1500), (501, 33, '013', 'flu', 3, 'n', NULL);
SELECT stored();
INSERT INTO choices VALUES (1500, 0, 0, true);
SELECT stored();
UPDATE choices SET k = 6 WHERE pid BETWEEN 1030 AND 1050;
SELECT stored();
UPDATE person SET pid = 1500, age = 34 WHERE id = 40;
SELECT stored();
DELETE FROM choices WHERE pid = 1500;
DELETE FROM person WHERE id < 20;
SELECT stored();
SELECT kanon.refresh('kept'), kanon.refresh('kept_named');
SELECT count(*) > 5 AS groups, bool_and(NOT g.others ? 'pid') AS without_key FROM kanon.groups('kept') g;
-- A profile without a k: nothing but the view's own is asked for.
SELECT kanon.create_anonymization_view('simple', 'SELECT remark, pid, id, zip, age, ward FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', k => 3, materialized => true,
	profile => '{"table": "choices", "key": {"pid": "pid"}, "disclose": {"age": "show_age"}}');
SELECT count(*), count(age) FROM simple;
UPDATE choices SET show_age = true;
SELECT count(*), count(age) FROM simple;
-- Retention that deletes finds the choices of a row by that key, too.
ALTER TABLE choices ADD keep date;
UPDATE choices SET keep = CASE WHEN pid % 10 = 0 THEN date '2000-01-01' ELSE date '2999-01-01' END;
SELECT kanon.create_anonymization_view('expiring', 'SELECT id, age, ward, pid FROM person', id => '{id}',
	quasi_ids => '{"age": "ages"}', k => 3, other => '{ward}',
	profile => '{"table": "choices", "key": {"pid": "pid"}, "k": "k", "retain": {"ward": "keep"}}');
SELECT * FROM kanon.purge_expired('expiring');
SELECT count(*) FROM person WHERE pid % 10 = 0 AND pid IN (SELECT pid FROM choices);
