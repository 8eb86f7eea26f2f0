-- Materialized A-views: groups that are stored, kept by triggers, and read like any A-view.
CREATE TABLE patient (id integer PRIMARY KEY, age integer, zip text, disease text, ward integer);
DO $$
BEGIN
	PERFORM kanon.create_interval_dgh('ages', 0, '{10, 50}');
	PERFORM kanon.create_prefix_dgh('zips', 3);
END
$$;
-- Too few for a first group wait unpublished.
INSERT INTO patient VALUES (1, 31, '120', 'flu', 1), (2, 33, '121', 'hiv', 2);
SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM patient', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"disease": null}', k => 3, materialized => true,
	other => '{ward}');

SELECT * FROM kanon.generalization_sequence('kept');
SELECT * FROM kept;
SELECT * FROM kanon.groups('kept');

-- The third makes a group.
INSERT INTO patient VALUES (3, 35, '122', 'flu', 3);
SELECT * FROM kept ORDER BY ward;
SELECT * FROM kanon.groups('kept');

-- A row that the group covers joins it; another row makes the group more general.
INSERT INTO patient VALUES (4, 39, '129', 'ulcer', 4);
SELECT * FROM kept ORDER BY ward;
INSERT INTO patient VALUES (5, 42, '127', 'ulcer', 5);
SELECT * FROM kept ORDER BY ward;

-- Rows that arrive together may form a group of their own.
INSERT INTO patient VALUES (11, 71, '540', 'flu', 11), (12, 72, '540', 'hiv', 12), (13, 73, '540', 'cancer', 13);
SELECT * FROM kept ORDER BY ward;
SELECT "group", size, quasi_ids, identifiers FROM kanon.groups('kept');

-- Deleting one of three dissolves the group; its members go to others, and become no narrower.
DELETE FROM patient WHERE id = 12;
SELECT * FROM kept ORDER BY ward;

-- An update inside the group's cell, and one that leaves it.
UPDATE patient SET age = 43, disease = 'asthma' WHERE id = 1;
SELECT * FROM kept ORDER BY ward;

-- Queries work as on any A-view.
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM kept WHERE age = 44 AND ward > 3;
RESET enable_bitmapscan;
SELECT ward FROM kept WHERE age = 44 AND ward > 3 ORDER BY ward;
SELECT age, count(*) FROM kept GROUP BY age;
SET kanon.plan = function;
SELECT ward FROM kept WHERE age = 44 AND ward > 3 ORDER BY ward;
RESET kanon.plan;

-- Rolled back work leaves nothing, be it a transaction or a part of one.
BEGIN;
INSERT INTO patient SELECT 100 + i, 5, '900', 'flu', 100 + i FROM generate_series(1, 5) AS i;
ROLLBACK;
SELECT count(*) FROM kept;
BEGIN;
SAVEPOINT s;
INSERT INTO patient SELECT 100 + i, 5, '900', 'flu', 100 + i FROM generate_series(1, 5) AS i;
ROLLBACK TO s;
INSERT INTO patient SELECT 200 + i, 5, '901', 'flu', 200 + i FROM generate_series(1, 3) AS i;
SAVEPOINT t;
DELETE FROM patient WHERE id = 201;
RELEASE t;
INSERT INTO patient VALUES (204, 5, '901', 'hiv', 204);
COMMIT;
SELECT age, zip, disease, ward FROM kept WHERE ward > 100 ORDER BY ward;

TRUNCATE patient;
SELECT * FROM kept;
SELECT * FROM kanon.groups('kept');
DROP VIEW kept;
SELECT relname FROM pg_class WHERE relname ~ '^(groups|members)_';
SELECT tgname FROM pg_trigger WHERE tgrelid = 'patient'::regclass;
