-- Views over a partition or a child follow every change of its rows, whichever table a statement names; after each
-- change the stored members are compared with the rows of the source.
SET client_min_messages = warning;
SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}');
CREATE TABLE views (name text, source text);
-- after(change): for each view how many rows its source has, how many of the members are wrong, too many or missing,
-- and how many groups are too small.
CREATE FUNCTION after(change text) RETURNS TABLE (view text, rows bigint, wrong bigint, too_small bigint, shown bool)
	LANGUAGE plpgsql AS $$
DECLARE
	v views;
	id integer;
BEGIN
	FOR v IN SELECT * FROM views ORDER BY name LOOP
		SELECT a.id INTO id FROM kanon.aview a WHERE a.view = v.name::regclass;
		RETURN QUERY EXECUTE format('WITH m AS (SELECT c1, c2, c3 FROM kanon.members_%1$s), s AS (%2$s)
			SELECT %3$L, (SELECT count(*) FROM s),
				(SELECT count(*) FROM (TABLE s EXCEPT ALL TABLE m) q)
					+ (SELECT count(*) FROM (TABLE m EXCEPT ALL TABLE s) q),
				(SELECT count(*) FROM kanon.groups_%1$s WHERE g_size < 3),
				(SELECT count(*) FROM %3$s) = (SELECT count(*) FROM s)', id, v.source, v.name);
	END LOOP;
END
$$;
CREATE FUNCTION view_of(name text, source text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM kanon.create_anonymization_view(name, source, id => '{id, ward}', quasi_ids => '{"age": "ages"}', k => 3,
		materialized => true);
	INSERT INTO views VALUES (name, source);
END
$$;
-- 1. Partitions: a view of a partition that has partitions, and one of a leaf with a condition.
CREATE TABLE person (id int, age int, ward int, PRIMARY KEY (id, ward)) PARTITION BY RANGE (ward);
CREATE TABLE person_low PARTITION OF person FOR VALUES FROM (0) TO (100);
CREATE TABLE person_mid PARTITION OF person FOR VALUES FROM (100) TO (300) PARTITION BY RANGE (ward);
-- The columns are in another order.
CREATE TABLE person_mid_1 (ward int NOT NULL, gone text, age int, id int NOT NULL);
ALTER TABLE person_mid_1 DROP gone;
ALTER TABLE person_mid ATTACH PARTITION person_mid_1 FOR VALUES FROM (100) TO (200);
CREATE TABLE person_mid_2 PARTITION OF person_mid FOR VALUES FROM (200) TO (300);
INSERT INTO person SELECT i, i % 70, i FROM generate_series(1, 299) AS i;
SELECT view_of('mid', 'SELECT id, age, ward FROM person_mid');
SELECT view_of('leaf', 'SELECT id, age, ward FROM person_mid_1 WHERE age < 60');
SELECT relation, by_rows FROM kanon.aview_follows ORDER BY aview, relation::text;
SELECT * FROM after('creation');
INSERT INTO person SELECT 1000 + i, i % 70, i FROM generate_series(1, 299) AS i;
SELECT * FROM after('INSERT of the parent');
DELETE FROM person WHERE id BETWEEN 100 AND 190;
SELECT * FROM after('DELETE of the parent');
UPDATE person SET age = age + 7 WHERE id > 1000;
SELECT * FROM after('UPDATE of the parent');
UPDATE person SET ward = ward + 100 WHERE ward BETWEEN 50 AND 150;
SELECT * FROM after('from one partition to another: into the view, within it');
UPDATE person SET ward = ward - 200 WHERE ward BETWEEN 200 AND 240;
SELECT * FROM after('and out of it');
COPY person FROM STDIN;
5001	31	120
5002	32	220
5003	33	20
\.
SELECT * FROM after('COPY to the parent');
INSERT INTO person VALUES (5001, 41, 120), (5004, 42, 120) ON CONFLICT (id, ward) DO UPDATE SET age = excluded.age;
SELECT * FROM after('ON CONFLICT');
SELECT current_setting('server_version_num')::int >= 150000 AS has_merge \gset
\if :has_merge
MERGE INTO person p USING (VALUES (5001, 120), (5004, 120), (5005, 120)) AS v (id, ward)
	ON p.id = v.id AND p.ward = v.ward
	WHEN MATCHED AND p.id = 5001 THEN DELETE
	WHEN MATCHED THEN UPDATE SET age = 50
	WHEN NOT MATCHED THEN INSERT VALUES (v.id, 51, v.ward);
\else
DELETE FROM person WHERE id = 5001 AND ward = 120;
UPDATE person SET age = 50 WHERE id = 5004 AND ward = 120;
INSERT INTO person VALUES (5005, 51, 120);
\endif
SELECT * FROM after('MERGE');
-- A foreign key of the parent.
CREATE TABLE ward (ward int PRIMARY KEY);
INSERT INTO ward SELECT generate_series(0, 400);
ALTER TABLE person ADD FOREIGN KEY (ward) REFERENCES ward ON DELETE CASCADE ON UPDATE CASCADE;
DELETE FROM ward WHERE ward BETWEEN 151 AND 155 OR ward = 5;
UPDATE ward SET ward = 151 WHERE ward = 156;
UPDATE ward SET ward = 5 WHERE ward = 157;
SELECT * FROM after('referential actions');
DO $$ BEGIN DELETE FROM person WHERE ward BETWEEN 120 AND 122; END $$;
SELECT * FROM after('SPI');
BEGIN;
SAVEPOINT a;
DELETE FROM person WHERE ward < 150;
ROLLBACK TO a;
INSERT INTO person VALUES (6001, 30, 150), (6002, 30, 250);
UPDATE person SET ward = 251 WHERE id = 6001;
DELETE FROM person WHERE id = 6002;
INSERT INTO person_mid VALUES (6002, 31, 151);
COMMIT;
SELECT * FROM after('several statements, and a savepoint');
SET session_replication_role = replica;
INSERT INTO person VALUES (7001, 30, 150), (7002, 30, 250);
UPDATE person SET age = 31 WHERE id BETWEEN 7001 AND 7002 OR id = 6001;
DELETE FROM person WHERE ward BETWEEN 125 AND 127;
RESET session_replication_role;
SELECT * FROM after('session_replication_role');
-- Partitions that come and go, of a table that is followed and of one above.
CREATE TABLE person_high PARTITION OF person FOR VALUES FROM (300) TO (400);
INSERT INTO person VALUES (8001, 30, 350);
ALTER TABLE person_mid DETACH PARTITION person_mid_2;
SELECT * FROM after('DETACH') WHERE view = 'mid';
INSERT INTO person_mid_2 VALUES (8002, 30, 260);
ALTER TABLE person_mid ATTACH PARTITION person_mid_2 FOR VALUES FROM (200) TO (300);
SELECT * FROM after('ATTACH');
CREATE TABLE person_top (id int, age int, ward int) PARTITION BY RANGE (ward);
ALTER TABLE person_top ATTACH PARTITION person FOR VALUES FROM (0) TO (1000);
INSERT INTO person_top VALUES (8003, 30, 130), (8004, 30, 230);
SELECT * FROM after('a table further above');
ALTER TABLE person_top DETACH PARTITION person;
ALTER TABLE person DETACH PARTITION person_mid;
INSERT INTO person_mid VALUES (8005, 30, 130), (8006, 30, 230);
SELECT * FROM after('no table above any more');
ALTER TABLE person ATTACH PARTITION person_mid FOR VALUES FROM (100) TO (300);
INSERT INTO person VALUES (8007, 30, 130), (8008, 30, 230);
SELECT * FROM after('and one again');
-- Commands that rewrite tables change no row.
ALTER TABLE person ADD added text DEFAULT clock_timestamp();
ALTER TABLE person ALTER age TYPE bigint;
VACUUM FULL person_mid_1;
CLUSTER person_mid_2 USING person_mid_2_pkey;
SELECT * FROM after('rewritten tables');
TRUNCATE person_mid_1;
SELECT * FROM after('TRUNCATE of a leaf');
INSERT INTO person SELECT ward, ward % 70, ward FROM ward WHERE ward BETWEEN 1 AND 299 ON CONFLICT DO NOTHING;
SELECT * FROM after('many rows again');
TRUNCATE person;
SELECT * FROM after('TRUNCATE of the parent');
INSERT INTO person SELECT ward, ward % 70, ward FROM ward WHERE ward BETWEEN 1 AND 299;
SELECT name, kanon.refresh(name) AS missed FROM views;
DELETE FROM views;
DROP TABLE person, person_top, ward CASCADE;

-- 2. Inheritance: a child that has more columns, with two parents; the second one comes later.
CREATE TABLE being (id int NOT NULL, age int);
CREATE TABLE patient (ward int NOT NULL, PRIMARY KEY (id, ward)) INHERITS (being);
CREATE TABLE guest (age int, id int NOT NULL);
INSERT INTO patient SELECT i, i % 70, i FROM generate_series(1, 100) AS i;
INSERT INTO being SELECT i, i % 70 FROM generate_series(101, 200) AS i;
SELECT view_of('patients', 'SELECT id, age, ward FROM patient');
UPDATE being SET age = age + 3;
DELETE FROM being WHERE id % 5 = 0;
SELECT * FROM after('UPDATE and DELETE of the parent');
ALTER TABLE patient INHERIT guest;
ALTER TABLE patient NO INHERIT being;
UPDATE guest SET age = age + 3;
DELETE FROM guest WHERE id % 7 = 0;
SELECT * FROM after('of another parent');
ALTER TABLE patient NO INHERIT guest;
SELECT relation, by_rows FROM kanon.aview_follows;
UPDATE patient SET age = age + 3;
SELECT * FROM after('of none');
TRUNCATE being;
SELECT * FROM after('TRUNCATE of a former parent');
-- A child of a table that is followed, with a parent that is not.
CREATE TABLE inpatient (PRIMARY KEY (id, ward)) INHERITS (patient, guest);
INSERT INTO inpatient SELECT 1000 + i, i % 70, i FROM generate_series(1, 100) AS i;
UPDATE guest SET age = 20 WHERE id % 3 = 0;
DELETE FROM guest WHERE id % 4 = 0;
SELECT * FROM after('a child with a second parent');
DELETE FROM patient WHERE id % 5 = 0;
INSERT INTO patient VALUES (2000, 30, 1);
SELECT * FROM after('the table itself');
TRUNCATE guest;
SELECT * FROM after('TRUNCATE of the second parent');
DROP TABLE guest CASCADE;
SELECT * FROM after('DROP of the second parent');
SELECT kanon.refresh('patients') AS missed;
DELETE FROM views;
DROP TABLE being, patient CASCADE;

-- 3. Choices in a partition: a choice that is written through the parent counts.
CREATE TABLE person (id int PRIMARY KEY, age int);
INSERT INTO person SELECT i, 20 + i % 20 FROM generate_series(1, 60) i;
CREATE TABLE wish (id int, k int, kind int, PRIMARY KEY (id, kind)) PARTITION BY LIST (kind);
CREATE TABLE wish_1 PARTITION OF wish FOR VALUES IN (1);
CREATE TABLE wish_2 PARTITION OF wish FOR VALUES IN (2);
INSERT INTO wish SELECT i, 2, 1 FROM generate_series(1, 60) i;
SELECT kanon.create_anonymization_view('chosen', 'SELECT id, age FROM person', id => '{id}',
	quasi_ids => '{"age": "ages"}', k => 2, materialized => true,
	profile => '{"table": "wish_1", "key": {"id": "id"}, "k": "k"}');
SELECT relation, by_rows FROM kanon.aview_follows ORDER BY relation::text;
SELECT min(size) >= 2 AS enough FROM kanon.groups('chosen') WHERE "group" IS NOT NULL;
UPDATE wish SET k = 10;
SELECT min(size) >= 10 AS enough FROM kanon.groups('chosen') WHERE "group" IS NOT NULL;
UPDATE person SET age = age + 1;
SELECT kanon.refresh('chosen') AS missed;
