-- Every way in which rows of the base table change: COPY, MERGE, ON CONFLICT, partitions, projection and WHERE.
\set dir `echo "$PG_ABS_SRCDIR"`
\set check :dir/data/matview_check.sql
\i :check
DO $$
BEGIN
	PERFORM kanon.create_interval_dgh('ages', 0, '{10, 50}');
	PERFORM kanon.create_prefix_dgh('zips', 3);
END
$$;
CREATE TABLE person (id integer, age integer, gone text, zip text, disease text, ward integer,
	PRIMARY KEY (id, ward)) PARTITION BY RANGE (ward);
ALTER TABLE person DROP COLUMN gone;
CREATE TABLE person_low PARTITION OF person FOR VALUES FROM (0) TO (100);
-- A partition whose columns are in another order.
CREATE TABLE person_high (zip text, ward integer NOT NULL, disease text, id integer NOT NULL, age integer);
ALTER TABLE person ATTACH PARTITION person_high FOR VALUES FROM (100) TO (200);
INSERT INTO person SELECT i, i * 7 % 90, lpad((i * 131 % 1000)::text, 3, '0'), 'd' || i % 4,
	i FROM generate_series(1, 60) AS i;
CREATE VIEW followed AS SELECT id, age, zip, disease, ward FROM person;
SELECT kanon.create_anonymization_view('kept', 'SELECT id, age, zip, disease, ward FROM person', id => '{id, ward}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"disease": null}', k => 3, materialized => true);
SELECT * FROM broken('followed', 3);

COPY person FROM STDIN;
70	31	120	d1	70
71	33	121	d2	71
72	35	122	d3	72
170	31	120	d1	170
\.
SELECT * FROM broken('followed', 3);
INSERT INTO person VALUES (70, 35, '129', 'd9', 70), (73, 31, '123', 'd1', 73)
	ON CONFLICT (id, ward) DO UPDATE SET age = excluded.age, zip = excluded.zip;
SELECT * FROM broken('followed', 3);
SELECT current_setting('server_version_num')::int >= 150000 AS has_merge \gset
\if :has_merge
MERGE INTO person p USING (VALUES (71, 71), (72, 72), (171, 171)) AS v (id, ward) ON p.id = v.id AND p.ward = v.ward
	WHEN MATCHED AND p.id = 71 THEN DELETE
	WHEN MATCHED THEN UPDATE SET disease = 'merged'
	WHEN NOT MATCHED THEN INSERT VALUES (v.id, 50, '999', 'd1', v.ward);
\else
DELETE FROM person WHERE id = 71 AND ward = 71;
UPDATE person SET disease = 'merged' WHERE id = 72 AND ward = 72;
INSERT INTO person VALUES (171, 50, '999', 'd1', 171);
\endif
SELECT * FROM broken('followed', 3);
-- From one partition to another; a partition by name; only one of them emptied.
UPDATE person SET ward = ward + 100 WHERE id BETWEEN 20 AND 40;
SELECT * FROM broken('followed', 3);
INSERT INTO person_high VALUES ('111', 150, 'd1', 999, 11);
DELETE FROM person_low WHERE id = 5;
SELECT * FROM broken('followed', 3);
TRUNCATE person_low;
SELECT * FROM broken('followed', 3);
SELECT count(*) FROM kept;
-- Partitions come and go, with their rows.
CREATE TABLE person_more PARTITION OF person FOR VALUES FROM (200) TO (300);
INSERT INTO person_more SELECT 200 + i, i, '555', 'd1', 200 + i FROM generate_series(1, 5) AS i;
SELECT * FROM broken('followed', 3);
CREATE TABLE person_old AS SELECT 300 + i AS id, i AS age, '666' AS zip, 'd1' AS disease, 300 + i AS ward
	FROM generate_series(1, 5) AS i;
ALTER TABLE person_old ALTER id SET NOT NULL, ALTER ward SET NOT NULL;
ALTER TABLE person ATTACH PARTITION person_old FOR VALUES FROM (300) TO (400);
SELECT * FROM broken('followed', 3);
ALTER TABLE person DETACH PARTITION person_more;
SELECT * FROM broken('followed', 3);
INSERT INTO person_more VALUES (299, 1, '555', 'd1', 299);
SELECT tgrelid::regclass, count(*) FROM pg_trigger WHERE tgname ~ '^kanon_' GROUP BY tgrelid
	ORDER BY tgrelid::regclass::text;
-- Many rows, changed at once, and rows that come back with the same identifiers.
INSERT INTO person SELECT i, i % 90, lpad((i * 31 % 1000)::text, 3, '0'), 'd' || i % 4,
	i % 100 FROM generate_series(1000, 3000) AS i;
SELECT * FROM broken('followed', 3);
UPDATE person SET age = (age + 13) % 90 WHERE id % 3 = 0;
DELETE FROM person WHERE id % 5 = 0;
SELECT * FROM broken('followed', 3);
BEGIN;
DELETE FROM person WHERE id % 7 = 0;
INSERT INTO person SELECT i, 88, '321', 'back', i % 100 FROM generate_series(1001, 1500, 7) AS i ON CONFLICT DO NOTHING;
UPDATE person SET id = id + 10000 WHERE id % 11 = 0;
COMMIT;
SELECT * FROM broken('followed', 3);
SELECT kanon.refresh('kept');
DROP VIEW kept;

-- Projection and WHERE: a row comes into the source, changes there, and goes out of it.
CREATE TABLE stay (who integer PRIMARY KEY, born integer, place text, ill boolean);
INSERT INTO stay SELECT i, 1950 + i, '12' || i % 10, i % 2 = 0 FROM generate_series(1, 20) AS i;
SELECT kanon.create_anonymization_view('sick',
	'SELECT who AS patient, 2026 - born AS age, place AS zip FROM stay WHERE ill', id => '{patient}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', k => 2, materialized => true);
SELECT sum(size) FROM kanon.groups('sick');
UPDATE stay SET ill = true WHERE who IN (1, 3);
SELECT sum(size) FROM kanon.groups('sick');
UPDATE stay SET ill = false WHERE who <= 4;
SELECT sum(size) FROM kanon.groups('sick');
INSERT INTO stay VALUES (50, 2000, '129', NULL), (51, 2000, '129', true);
SELECT sum(size) FROM kanon.groups('sick');
-- Referential actions change rows, too.
CREATE TABLE place (name text PRIMARY KEY);
INSERT INTO place SELECT DISTINCT place FROM stay;
ALTER TABLE stay ADD FOREIGN KEY (place) REFERENCES place ON DELETE CASCADE;
DELETE FROM place WHERE name IN ('126', '128');
SELECT sum(size) = (SELECT count(*) FROM stay WHERE ill) AS same FROM kanon.groups('sick');
SELECT kanon.refresh('sick');
