-- Materialized views with profiles: each owner's k, level, opt-outs and retention, for stored groups.
SET client_min_messages = warning;
SELECT kanon.create_interval_dgh('age', 0, '{10, 50}');
SELECT kanon.create_dgh('disease');
INSERT INTO kanon.dgh_edge VALUES ('disease', 'flu', 'lung'), ('disease', 'asthma', 'lung'),
    ('disease', 'ulcer', 'stomach');
CREATE TABLE patient (name text PRIMARY KEY, age int, disease text, ward int);
CREATE TABLE choices (name text, purpose text, k int, lvl int, show_age bool, until date, PRIMARY KEY (name, purpose));
SELECT kanon.grant_access(current_user, p, 'lab') FROM unnest('{care, study}'::text[]) AS p;
SET kanon.recipient = 'lab';

-- Ages 21 to 26: all of the same ten years. Without choices k is 3; ann asks for 5 for studies, and 2 for care.
INSERT INTO patient VALUES ('ann', 21, 'flu', 1), ('bob', 22, 'asthma', 1), ('cem', 23, 'ulcer', 2),
    ('dan', 24, 'flu', 2);
INSERT INTO choices VALUES ('ann', 'study', 5, 0, true, NULL), ('ann', 'care', 2, 0, true, NULL);
SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM patient', id => '{name}', quasi_ids => '{"age": "age"}',
    sensitive => '{"disease": "disease"}', k => 3, materialized => true,
    profile => '{"table": "choices", "key": {"name": "name"}, "k": "k", "sa_level": "lvl", "purpose": "purpose"}',
    other => '{*}');
-- A group must satisfy the largest k of its members, as in a logical view; and their k for every purpose, since groups
-- are the same for all purposes.
SET kanon.purpose = 'care';
SELECT * FROM kept ORDER BY disease;
SELECT "group", size, quasi_ids, identifiers FROM kanon.groups('kept');
-- With a fifth row the group is large enough for Ann, who asks for 5.
INSERT INTO patient VALUES ('eve', 25, 'flu', 3);
SELECT age, count(*) FROM kept GROUP BY age;
-- A row is deleted: the group is too small for Ann again, so that her row is hidden, too.
DELETE FROM patient WHERE name = 'dan';
SELECT age, count(*) FROM kept GROUP BY age;
-- Ann's k becomes 4, and her row is shown; then more than there are rows; then NULL, which is no consent.
UPDATE choices SET k = 4 WHERE name = 'ann' AND purpose = 'study';
SELECT age, count(*) FROM kept GROUP BY age;
UPDATE choices SET k = 1000 WHERE name = 'ann' AND purpose = 'study';
SELECT age, count(*) FROM kept GROUP BY age;
UPDATE choices SET k = NULL WHERE name = 'ann' AND purpose = 'study';
SELECT age, count(*) FROM kept GROUP BY age;
-- Without choices the view's k counts.
DELETE FROM choices WHERE name = 'ann';
SELECT age, count(*) FROM kept GROUP BY age;
-- Both at once, in one transaction and in either order; rolled back in part.
BEGIN;
INSERT INTO choices VALUES ('fay', 'care', 6, 0, true, NULL), ('bob', 'study', 5, 0, true, NULL);
INSERT INTO patient VALUES ('fay', 26, 'ulcer', 3);
SAVEPOINT s;
UPDATE choices SET k = 1000;
DELETE FROM patient;
ROLLBACK TO s;
UPDATE patient SET ward = 4 WHERE name = 'bob';
COMMIT;
-- bob would need five and fay six, of five: without fay there are four, and without bob three.
SELECT age, count(*), count(*) FILTER (WHERE ward = 4) AS bob, count(*) FILTER (WHERE disease = 'ulcer') AS ulcer
    FROM kept GROUP BY age;
INSERT INTO patient VALUES ('gil', 27, 'flu', 5);
SELECT age, count(*), count(*) FILTER (WHERE ward = 4) AS bob, count(*) FILTER (WHERE disease = 'ulcer') AS ulcer
    FROM kept GROUP BY age;
-- TRUNCATE of choices: everybody is back at 3.
INSERT INTO choices SELECT name, 'study', 100, 0, true, NULL FROM patient
    ON CONFLICT (name, purpose) DO UPDATE SET k = 100;
SELECT count(*) FROM kept;
TRUNCATE choices;
SELECT count(*) FROM kept;

-- Levels are those of the purpose.
INSERT INTO choices SELECT name, 'study', 2, 1, true, NULL FROM patient;
SELECT disease, count(*) FROM kept GROUP BY disease ORDER BY disease::text;
SET kanon.purpose = 'study';
SELECT disease, count(*) FROM kept GROUP BY disease ORDER BY disease::text;
SELECT count(*) FROM kept WHERE disease = 'flu';
-- A purpose that the role was not granted: an error.
SET kanon.purpose = 'marketing';
SELECT * FROM kept;
SET kanon.purpose = 'study';
SELECT kanon.drop_anonymization_view('kept');
TRUNCATE patient, choices;

-- Opt-outs and retention; k of 0 and 1. The view has no k: a person without a choice for the purpose is not published.
INSERT INTO patient SELECT 'p' || i, 20 + i, 'flu', i FROM generate_series(1, 8) AS i;
INSERT INTO choices SELECT 'p' || i, 'care', CASE WHEN i > 6 THEN i - 7 ELSE 3 END, 0, i <> 2,
    '2000-01-01'::date + 100000 * (i % 2)
FROM generate_series(1, 8) AS i;
SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM patient', id => '{name}', quasi_ids => '{"age": "age"}',
    sensitive => '{"disease": null}', materialized => true,
    profile => '{"table": "choices", "key": {"name": "name"}, "k": "k", "purpose": "purpose", "disclose": {"age": '
        '"show_age"}, "retain": {"ward": "until"}}', other => '{*}');
SET kanon.purpose = 'care';
SELECT * FROM kept ORDER BY age, name, ward;
-- By the plain function, the same. Conditions see published values, and nothing else.
SET kanon.plan = function;
SELECT * FROM kept ORDER BY age, name, ward;
RESET kanon.plan;
SELECT count(*) FILTER (WHERE age = 22) AS by_age, count(*) FILTER (WHERE age IS NULL) AS hidden FROM kept;
SELECT count(*) FROM kept WHERE age = 22;
SELECT count(*) FROM kept WHERE ward = 2;
SELECT ward FROM kept WHERE ward = 3;
SELECT name, age FROM kept WHERE name = 'p7';
SELECT name, age FROM kept WHERE name IN ('p1', 'p8');
SELECT name, age FROM kept WHERE age = 28 ORDER BY age;
-- For a study there are no choices.
SET kanon.purpose = 'study';
SELECT count(*) FROM kept;
-- Two have now: too few for each other. A third one is enough, though he is in the company of others for other
-- purposes.
INSERT INTO choices SELECT 'p' || i, 'study', 3, 0, true, NULL FROM generate_series(1, 2) AS i;
SELECT count(*) FROM kept;
SELECT count(*) FROM kept WHERE age = 22;
INSERT INTO choices VALUES ('p3', 'study', 2, 0, true, NULL);
SELECT age, count(*) FROM kept GROUP BY age;
SELECT count(*) FROM kept WHERE age = 22;
SELECT count(*) FROM kept WHERE ward = 3;
SET kanon.plan = function;
SELECT age, count(*) FROM kept GROUP BY age;
RESET kanon.plan;
-- p8 was shown as he is; he asks for company. The others have their floor, however little they ask for.
SET kanon.purpose = 'care';
UPDATE choices SET k = 2 WHERE name = 'p8' AND purpose = 'care';
UPDATE choices SET k = 0 WHERE name IN ('p4', 'p5');
SELECT name, age, count(*) FROM kept GROUP BY name, age ORDER BY age, name;

-- Bad input leaves nothing.
SELECT relname FROM pg_class WHERE relnamespace = 'kanon'::regnamespace AND relname ~ '^(groups|members)_[0-9]+$'
    ORDER BY relname;
SELECT kanon.drop_anonymization_view('kept');
SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM patient', id => '{name}', quasi_ids => '{"age": "age"}',
    sensitive => '{"disease": "disease"}', k => 3, l => 2, materialized => true,
    profile => '{"table": "choices", "key": {"name": "name"}, "k": "k", "sa_level": "lvl", "purpose": "purpose"}',
    other => '{*}');
SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM patient', id => '{name}', quasi_ids => '{"age": "age"}',
    k => 1, materialized => true,
    profile => '{"table": "choices", "key": {"name": "name"}, "k": "k", "purpose": "purpose"}', other => '{*}');
SELECT count(*) FROM pg_class WHERE relnamespace = 'kanon'::regnamespace AND relname ~ '^(groups|members)_[0-9]+$';
SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'kanon_%' AND tgrelid IN ('patient'::regclass, 'choices'::regclass);

-- Choices that triggers cannot watch: the view of a table. Their permissions count at once; their k counts for the
-- groups with the next refresh.
CREATE VIEW choice_view AS SELECT * FROM choices;
SET client_min_messages = notice;
SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM patient', id => '{name}', quasi_ids => '{"age": "age"}',
    k => 3, materialized => true,
    profile => '{"table": "choice_view", "key": {"name": "name"}, "k": "k", "purpose": "purpose"}', other => '{*}');
SET client_min_messages = warning;
SELECT name, age, count(*) FROM kept GROUP BY name, age ORDER BY age, name;
UPDATE choices SET k = 9 WHERE name = 'p1';
SELECT count(*) FROM kept;
SELECT count(*) FROM kept WHERE age = 22;
SELECT kanon.refresh('kept');
SELECT name, age, count(*) FROM kept GROUP BY name, age ORDER BY age, name;
