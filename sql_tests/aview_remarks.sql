-- A view that is created or changed is measured: its creator is warned of what most likely is a mistake, and of nothing
-- else. No value is quoted.
CREATE TABLE person (id integer PRIMARY KEY, age integer, zip text, disease text, ward integer, note text, doc json,
	hired date);
INSERT INTO person SELECT i, 20 + i * 7 % 50, lpad((i * 13 % 40)::text, 3, '0'),
	(ARRAY['flu', 'hiv', 'ulcer'])[1 + i % 3], i % 3, 'secret ' || i, '{}', date '2020-01-01' + i
	FROM generate_series(1, 120) AS i;
SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}');
SELECT kanon.create_prefix_dgh('zips', 3);
SELECT kanon.create_dgh('towns');
INSERT INTO kanon.dgh_edge (dgh, child, parent) VALUES ('towns', 'Bern', 'south'), ('towns', 'Kiel', 'north');
SELECT kanon.create_dgh('ills');
INSERT INTO kanon.dgh_edge (dgh, child, parent) VALUES ('ills', 'flu', 'lung'), ('ills', 'ulcer', 'stomach');
\set rest 'k => 4, quasi_ids => ''{"age": "ages", "zip": "zips"}'''

-- 1. Nothing to say.
SELECT kanon.create_anonymization_view('fine', 'SELECT * FROM person', id => '{id}', :rest,
	sensitive => '{"disease": null}', other => '{ward, doc}');
SELECT kanon.create_anonymization_view('empty', 'SELECT * FROM person WHERE false', id => '{id}', :rest,
	sensitive => '{"disease": null}', other => '{*}', l => 9);

-- 2. Rows are suppressed, or nothing is shown of a column, and why.
SELECT kanon.create_anonymization_view('few', 'SELECT * FROM person', id => '{id}', k => 200,
	quasi_ids => '{"age": "ages"}');
SELECT kanon.create_anonymization_view('misfit', 'SELECT * FROM person', id => '{id}', k => 4,
	quasi_ids => '{"zip": "towns", "age": "ages"}');
SELECT kanon.create_anonymization_view('bare', 'SELECT * FROM person', id => '{id}', k => 4,
	quasi_ids => '{"hired": null}');
SELECT kanon.create_anonymization_view('upper', 'SELECT id, age FROM fine', id => '{id}', k => 4,
	quasi_ids => '{"age": null}');
SELECT count(*), count(*) FILTER (WHERE age = '*'::kanon.generalized) AS suppressed FROM "upper";
SELECT kanon.create_anonymization_view('as_advised', 'SELECT age FROM fine', k => 4, quasi_ids => '{"age": null}');
SELECT kanon.create_anonymization_view('diverse', 'SELECT * FROM person', id => '{id}', :rest,
	sensitive => '{"disease": null}', l => 4);
-- Two in five live where nobody else does, and are fewer than k.
SELECT kanon.create_anonymization_view('spread',
	'SELECT id, CASE WHEN id % 5 < 2 THEN id ELSE 0 END AS street FROM person', id => '{id}', k => 50,
	quasi_ids => '{"street": null}');
-- Shares of small tables say nothing.
SELECT kanon.create_anonymization_view('small', 'SELECT * FROM person WHERE id <= 19', id => '{id}', k => 4,
	quasi_ids => '{"ward": null, "disease": null}', other => '{note}');
DROP VIEW few, misfit, bare, "upper", as_advised, diverse, spread, small;

-- 3. Values that a hierarchy does not know: some, and most.
SELECT kanon.create_anonymization_view('partly', 'SELECT * FROM person',
	id => '{id}', :rest, sensitive => '{"disease": "ills"}');
SELECT kanon.create_anonymization_view('most',
	'SELECT *, CASE WHEN id < 9 THEN ''Bern'' ELSE ''Rome'' END AS town FROM person', id => '{id}', :rest,
	sensitive => '{"town": "towns"}');
-- A missing value is none.
SELECT kanon.create_anonymization_view('missing', 'SELECT *, CASE WHEN id < 9 THEN ''Bern'' END AS town FROM person',
	id => '{id}', :rest, sensitive => '{"town": "towns"}');
DROP VIEW partly, most, missing;

-- 4. Columns that are published as they are: a key; values that tell rows apart in their groups; a type without
-- equality.
SELECT kanon.create_anonymization_view('keyed', 'SELECT * FROM person', id => '{id}', :rest, other => '{*}');
SELECT kanon.create_anonymization_view('told', 'SELECT *, id % 7 AS place, id % 9 AS bed FROM person',
	id => '{id}', :rest, other => '{ward, place, bed}');
SELECT count(*) AS by_bed FROM (SELECT FROM told GROUP BY age, zip, bed HAVING count(*) = 1) AS g;
SELECT count(*) AS by_place FROM (SELECT FROM told GROUP BY age, zip, place HAVING count(*) = 1) AS g;
DROP VIEW keyed, told;

-- 5. By statement, and stored.
DO LANGUAGE kanon $$
CREATE ANONYMIZATION_VIEW said ON SELECT * FROM person WITH ANONYMIZATION_ID id ANONYMIZATION_QUASI_ID age DGH_NAME ages
	ANONYMIZATION_OTHER note K 4;
CREATE MATERIALIZED ANONYMIZATION_VIEW stored ON SELECT * FROM person WITH ANONYMIZATION_ID id
	ANONYMIZATION_QUASI_ID age DGH_NAME ages ANONYMIZATION_OTHER note K 400
$$;
SELECT count(*) FROM stored;
SELECT kanon.refresh('stored');
SELECT kanon.refresh('stored', true);
DROP VIEW said, stored;

-- 6. Changes that suppress everything.
SELECT kanon.alter_anonymization_view('fine', k => 5);
SELECT kanon.alter_anonymization_view('fine', k => 500);
SELECT kanon.refresh_sequence('fine');
SELECT kanon.alter_anonymization_view('fine', k => 4, l => 4);
SELECT kanon.alter_anonymization_view('fine', l => 1);

-- 7. Choices that depend on a purpose: without one, none were read, and which rows are suppressed is not known.
CREATE TABLE choices (id integer PRIMARY KEY, k integer, purpose text DEFAULT 'care');
INSERT INTO choices SELECT id, 200 FROM person;
\set profile 'profile => ''{"table": "choices", "key": {"id": "id"}, "k": "k", "purpose": "purpose"}'''
SELECT kanon.create_anonymization_view('chosen', 'SELECT * FROM person', id => '{id}',
	quasi_ids => '{"age": "ages"}', :profile);
SELECT kanon.create_anonymization_view('chosen_kept', 'SELECT * FROM person', id => '{id}',
	quasi_ids => '{"age": "ages"}',
	materialized => true, :profile);
DROP VIEW chosen, chosen_kept;
SET kanon.purpose = care;
SELECT kanon.create_anonymization_view('chosen', 'SELECT * FROM person', id => '{id}',
	quasi_ids => '{"age": "ages"}', :profile);
RESET kanon.purpose;
DROP VIEW chosen;

-- 8. A source that cannot be read: the view is made, as before. A query that is canceled makes none.
SELECT kanon.create_anonymization_view('broken', 'SELECT id, age, 1 / (id - id) AS n FROM person', id => '{id}', k => 4,
	quasi_ids => '{"age": "ages"}', other => '{n}');
SELECT count(age) FROM broken;
CREATE FUNCTION canceled() RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION USING ERRCODE = 'query_canceled', MESSAGE = 'canceled';
END
$$;
SELECT kanon.create_anonymization_view('stopped', 'SELECT id, age, canceled() AS n FROM person', id => '{id}', k => 4,
	quasi_ids => '{"age": "ages"}', other => '{n}');
SELECT to_regclass('stopped'), current_setting('is_superuser');

-- 9. Not measured where it is not wanted.
SET kanon.measure_views = off;
SELECT kanon.create_anonymization_view('unmeasured', 'SELECT * FROM person', id => '{id}', k => 200,
	quasi_ids => '{"age": "towns"}', other => '{*}');
SELECT kanon.alter_anonymization_view('unmeasured', k => 300);
SELECT kanon.create_anonymization_view('broken_too', 'SELECT id, age, 1 / (id - id) AS n FROM person',
	id => '{id}', k => 4,
	quasi_ids => '{"age": "ages"}', other => '{n}');
