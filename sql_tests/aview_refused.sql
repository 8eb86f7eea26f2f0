-- Every refused optimization says why at DEBUG2, to readers of the source only.
SET kanon.measure_views = off;
CREATE TABLE person (name text PRIMARY KEY, age int, job text, city text);
INSERT INTO person SELECT 'p' || i, 20 + i % 40, 'job ' || i % 7, 'city ' || i % 100 FROM generate_series(1, 20000) i;
CREATE INDEX ON person (job);
ANALYZE person;
SELECT kanon.create_interval_dgh('years', 0, '{5,10,20}');
SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person', id => '{name}',
    quasi_ids => '{"age": "years"}', k => 5, other => '{job, city}');
SELECT kanon.create_anonymization_view('people_block', 'SELECT * FROM person', id => '{name}',
    quasi_ids => '{"age": "years"}', k => 5,
    block_size => 1000, other => '{job, city}');
SELECT kanon.create_anonymization_view('people_random', 'SELECT name, age, job, random() AS r FROM person',
    id => '{name}',
    quasi_ids => '{"age": "years"}', k => 5, other => '{job, r}');
SELECT kanon.create_anonymization_view('people_witness', 'SELECT * FROM person', id => '{name}',
    quasi_ids => '{"age": "years"}', k => 5,
    match => 'witness', other => '{job, city}');
SELECT kanon.create_anonymization_view('people_sensitive', 'SELECT * FROM person', id => '{name}',
    quasi_ids => '{"age": "years"}', sensitive => '{"job": null}', k => 5);

SET jit = off; -- it has messages of its own
SET client_min_messages = debug2;
-- No condition, a condition on quasi-identifiers only, a condition that the source may not be asked for.
SELECT count(*) FROM people WHERE age = 33;
SELECT count(*) FROM people WHERE lower(job) = 'job 3';
-- Conditions of other kinds that the source may not be asked for.
SELECT count(*) FROM people WHERE CASE city WHEN 'city 3' THEN true END;
SELECT count(*) FROM people WHERE city = 'city 3' AND random() < 2;
SELECT count(*) FROM people WHERE name = 'p1';
SELECT count(*) FROM people_sensitive WHERE job IS NULL;
-- A block size, a source that is not stable, a witness beside a condition that selects, a setting.
SELECT count(*) FROM people_block WHERE city = 'city 3';
SELECT count(*) FROM people_random WHERE job = 'job 3' AND r > 2;
SELECT count(*) > 0 FROM people_witness WHERE age <> 33 AND age > 30;
SET kanon.plan = anonymize_first;
SELECT count(*) FROM people WHERE city = 'city 3';
RESET kanon.plan;
-- Calls that stay calls of the function.
SELECT count(*) FROM kanon.scan('people'::regclass) AS s (name text, age kanon.generalized, job text, city text);
SET kanon.plan = function;
SELECT count(*) FROM people WHERE city = 'city 3';
RESET kanon.plan;
SELECT max(number) FROM ROWS FROM (kanon.scan('people'::regclass)
    AS (name text, age kanon.generalized, job text, city text)) WITH ORDINALITY AS s (name, age, job, city, number);

-- Joins by AVLIKE that compare all pairs.
RESET client_min_messages;
CREATE TABLE wanted (age int PRIMARY KEY);
INSERT INTO wanted VALUES (21), (22);
SET client_min_messages = debug2;
SET kanon.plan = anonymize_first;
SET kanon.enable_avlike_join = off;
SELECT count(*) FROM people p JOIN wanted w ON p.age ~~^ w.age;
RESET kanon.enable_avlike_join;
SELECT w.age FROM people p JOIN wanted w ON p.age ~~^ w.age WHERE p.city = 'city 1' ORDER BY w.age LIMIT 1
    FOR UPDATE OF w;
UPDATE wanted AS w SET age = w.age FROM people p WHERE p.age ~~^ w.age;
RESET kanon.plan;
RESET client_min_messages;

-- Classes that outgrow memory.
CREATE TABLE large AS SELECT i, i % 30000 AS a, i % 7 AS b FROM generate_series(1, 60000) AS i;
SELECT kanon.create_interval_dgh('numbers', 0, '{10,100,10000}');
SELECT kanon.create_anonymization_view('large_view', 'SELECT * FROM large', id => '{i}',
    quasi_ids => '{"a": "numbers", "b": null}', k => 5);
SET work_mem = '1MB';
SET client_min_messages = debug2;
SELECT count(*) FROM large_view;
RESET client_min_messages;
RESET work_mem;

-- While a query runs, the lookup of cells is given up: so many cells that the whole source costs less, and a row that
-- needs the largest cell, which is the whole source.
INSERT INTO person SELECT 'q' || i, 90 + i, 'job 9', 'city 0' FROM generate_series(1, 4) i;
CREATE INDEX ON person (age);
ANALYZE person;
SET client_min_messages = debug2;
SET kanon.plan = select_first;
SELECT count(*) FROM people WHERE job > 'job';
SELECT count(*) FROM people WHERE job = 'job 9';
RESET kanon.plan;
RESET client_min_messages;
DELETE FROM person WHERE job = 'job 9';

-- A reader of the view alone is not told: the reason may depend on the source's statistics.
CREATE ROLE aview_refused_analyst;
GRANT SELECT ON people, people_block TO aview_refused_analyst;
SET ROLE aview_refused_analyst;
SET client_min_messages = debug2;
SELECT count(*) FROM people WHERE age = 33;
SELECT count(*) FROM people_block WHERE city = 'city 3';
SET kanon.plan = select_first;
SELECT count(*) FROM people WHERE job > 'job';
RESET kanon.plan;
RESET client_min_messages;
RESET ROLE;
DROP VIEW people, people_block, people_random, people_witness, people_sensitive, large_view;
DROP ROLE aview_refused_analyst;
