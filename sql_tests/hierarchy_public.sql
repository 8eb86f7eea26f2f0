-- Hierarchies are public vocabulary unless an administrator takes the functions that answer about them from the public;
-- views work without these. Nobody needs a privilege on the sequence of their numbers.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SELECT current_database() || '_officer' AS officer, current_database() || '_analyst' AS analyst \gset
CREATE ROLE :"officer";
CREATE ROLE :"analyst";
SELECT kanon.import_dgh('ills', '{flu;lung;*,asthma;lung;*,ulcer;stomach;*}') AS leaves;
SELECT kanon.create_interval_dgh('ages', 0, '{10}');
CREATE TABLE person (id int PRIMARY KEY, age int, ill text);
INSERT INTO person SELECT i, 20 + i % 5, (ARRAY ['flu', 'asthma', 'ulcer'])[1 + i % 3] FROM generate_series(1, 30) i;
SELECT kanon.create_anonymization_view('people', 'SELECT id, age, ill FROM person', id => '{id}',
    quasi_ids => '{"age": "ages", "ill": "ills"}', k => 4) AS made;
GRANT SELECT ON people TO :"analyst";

-- 1. By default everybody may ask about a label that she knows, and nobody may list labels.
SET ROLE :"analyst";
SELECT kanon.generalize('ills', 'flu', 1) AS above, kanon.dgh_distance('ills', 'flu', 'ulcer') AS distance,
    kanon.generalized('flu', 'ills') AS value, (SELECT count(*) FROM kanon.dgh_path('ills', 'flu')) AS steps;
SELECT * FROM kanon.dgh_edge;
SELECT kanon.export_dgh('ills');
RESET ROLE;

-- 2. Without them, no answer but through views; they compare as before.
REVOKE EXECUTE ON FUNCTION kanon.generalize, kanon.generalized(text, text), kanon.dgh_path, kanon.dgh_distance
    FROM PUBLIC;
SET ROLE :"analyst";
SELECT kanon.generalize('ills', 'flu', 1);
SELECT kanon.generalized('flu', 'ills');
SELECT kanon.dgh_path('ills', 'flu');
SELECT kanon.dgh_distance('ills', 'flu', 'ulcer');
SELECT count(*) > 0 AS found FROM people WHERE ill = 'flu' AND age < 25;
SELECT bool_and(kanon.coverage(age, 20, 30) > 0) AS covered FROM people WHERE age::text <> '*';
SELECT k >= 4 AS holds FROM kanon.k_anonymity('people', '{age,ill}');
RESET ROLE;

-- 3. The numbers of hierarchies: taken by the trigger, for roles that may insert, and not given away by the public.
GRANT SELECT, INSERT, UPDATE, DELETE ON kanon.dgh, kanon.dgh_edge TO :"officer";
SET ROLE :"analyst";
SELECT nextval('kanon.dgh_serial');
SELECT currval('kanon.dgh_serial');
SELECT setval('kanon.dgh_serial', 2147483647);
SELECT last_value > 0 FROM kanon.dgh_serial;
SET ROLE :"officer";
SELECT nextval('kanon.dgh_serial');
SELECT kanon.create_dgh('made'), kanon.create_prefix_dgh('zips', 3);
INSERT INTO kanon.dgh (name, kind) VALUES ('one', 'tree'), ('two', 'tree');
INSERT INTO kanon.dgh (id, name, kind) VALUES (1000, 'given', 'tree');
INSERT INTO kanon.dgh (id, name, kind) VALUES (DEFAULT, 'default', 'tree'), (NULL, 'null', 'tree');
SELECT count(DISTINCT id) = count(*) AS different, count(*) FILTER (WHERE id = 1000) AS given, max(id) AS greatest
    FROM kanon.dgh;
UPDATE kanon.dgh SET id = NULL WHERE name = 'one';
UPDATE kanon.dgh SET id = DEFAULT WHERE name = 'one';
RESET ROLE;
DROP TABLE person CASCADE;
DROP OWNED BY :"analyst", :"officer";
DROP ROLE :"analyst", :"officer";
