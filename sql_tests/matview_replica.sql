-- A session that applies changes by statements (session_replication_role) fires the triggers for statements and those
-- for rows: each change counts once, also in a view without rows.
SET client_min_messages = warning;
SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}');
CREATE TABLE person (id int PRIMARY KEY, age int);
SELECT kanon.create_anonymization_view('kept', 'SELECT id, age FROM person', id => '{id}',
	quasi_ids => '{"age": "ages"}', k => 3, materialized => true);
CREATE FUNCTION wrong() RETURNS bigint LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM (TABLE person EXCEPT ALL SELECT c1, c2 FROM kanon.members_1) q)
		+ (SELECT count(*) FROM (SELECT c1, c2 FROM kanon.members_1 EXCEPT ALL TABLE person) q)
$$;
SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'person'::regclass ORDER BY tgname;
SET session_replication_role = replica;
INSERT INTO person SELECT i, i FROM generate_series(1, 40) i;
SELECT wrong(), count(*) FROM kept;
COPY person FROM STDIN;
50	50
51	50
52	50
\.
SELECT wrong(), count(*) FROM kept;
UPDATE person SET age = age + 1 WHERE id % 2 = 0;
WITH moved AS (DELETE FROM person WHERE id BETWEEN 10 AND 20 RETURNING id, age)
	INSERT INTO person SELECT id + 100, age FROM moved;
UPDATE person SET id = id + 1000 WHERE id < 5;
SELECT wrong(), count(*) FROM kept;
BEGIN;
DELETE FROM person WHERE id > 1000;
INSERT INTO person SELECT 1000 + i, 33 FROM generate_series(1, 5) i;
DELETE FROM person WHERE id = 1003;
INSERT INTO person VALUES (1003, 44);
UPDATE person SET age = 55 WHERE id = 1003;
COMMIT;
SELECT wrong(), count(*) FROM kept;
TRUNCATE person;
SELECT wrong(), count(*) FROM kept;
RESET session_replication_role;
INSERT INTO person SELECT i, i FROM generate_series(1, 40) i;
SELECT wrong(), count(*) FROM kept;
-- Triggers that are in another state than they should be are put right with ENABLE TRIGGER ALL.
ALTER TABLE person DISABLE TRIGGER ALL;
DELETE FROM person WHERE id > 20;
SELECT replace(subject, 'public.', '') AS subject, measure, severity FROM kanon.audit('kept')
	WHERE topic = 'trigger' ORDER BY 1;
ALTER TABLE person ENABLE TRIGGER ALL;
SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'person'::regclass ORDER BY tgname;
SELECT wrong(), count(*) FROM kept;
-- The triggers go with the view.
DROP VIEW kept;
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'person'::regclass;
