-- Random histories, replayed; then an attacker compares all that was ever published.
SET kanon.measure_views = off;
\set dir `echo "$PG_ABS_SRCDIR"`
\set random :dir '/data/random.sql'
\i :random
\set check :dir/data/matview_check.sql
\i :check

DO $$
BEGIN
	PERFORM kanon.create_interval_dgh('ages', 0, '{10, 50}');
	PERFORM kanon.create_prefix_dgh('zips', 3);
END
$$;
CREATE TABLE person (id integer PRIMARY KEY, age integer, zip text, disease text, ward integer);
-- The rows published for each person after each commit, and the person's true values at that moment.
CREATE TABLE published (history integer, moment integer, id integer, step integer, age kanon.generalized,
	zip kanon.generalized);
CREATE TABLE truth (history integer, moment integer, id integer, age integer, zip text);
CREATE TABLE complaint (history integer, moment integer, what text);

CREATE PROCEDURE note(history integer, moment integer) LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO published SELECT history, moment, m.c1, g.g_step, g.c2, g.c3 FROM kanon.members_1 m
		JOIN kanon.groups_1 g ON g.g_id = m.m_group;
	INSERT INTO truth SELECT history, moment, id, age, zip FROM person;
	INSERT INTO complaint SELECT history, moment, b FROM broken('person', 3) AS b;
END
$$;

-- A history: some rows to begin with, then transactions that insert, and sometimes delete or change.
CREATE PROCEDURE replay(history integer, moments integer, deleting boolean) LANGUAGE plpgsql AS $$
DECLARE
	last integer := 12;
BEGIN
	TRUNCATE person;
	COMMIT;
	INSERT INTO person SELECT i, (next_random() * 89)::int, lpad((next_random() * 999)::int::text, 3, '0'),
		'd' || i % 4, i FROM generate_series(1, 12) AS i;
	COMMIT;
	PERFORM kanon.refresh('kept', true);
	COMMIT;
	CALL note(history, 0);
	COMMIT;
	FOR moment IN 1 .. moments LOOP
		IF deleting AND next_random() < 0.4 THEN
			DELETE FROM person WHERE next_random() < 0.1;
		ELSIF deleting AND next_random() < 0.3 THEN
			UPDATE person SET age = (age + 1) % 90 WHERE next_random() < 0.1;
		ELSE
			FOR i IN 1 .. 1 + (next_random() * 5)::int LOOP
				last := last + 1;
				INSERT INTO person VALUES (last, nullif((next_random() * 89)::int, 7),
					lpad((next_random() * 999)::int::text, 3, '0'), 'd' || last % 4, last);
			END LOOP;
		END IF;
		COMMIT;
		CALL note(history, moment);
		COMMIT;
	END LOOP;
END
$$;
SET client_min_messages = warning;
INSERT INTO person SELECT i, (i * 7) % 90, lpad((i * 131 % 1000)::text, 3, '0'), 'd' || i % 4,
	i FROM generate_series(1, 40) AS i;
SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"disease": null}', k => 3, materialized => true,
	other => '{ward}');
SELECT seed_random(1);
CALL replay(1, 30, false);
CALL replay(2, 30, false);
CALL replay(3, 40, true);
CALL replay(4, 40, true);

-- After every commit all invariants held, and no row was published narrower than before while in the table.
SELECT * FROM complaint;
SELECT count(*) > 3000 AS enough FROM published;
SELECT a.history, a.moment, a.id FROM published a JOIN published b ON b.history = a.history AND b.id = a.id
	AND b.moment = a.moment + 1
WHERE b.step < a.step;

-- The attacker knows a person's values, and since when and how long she has been there. Of all rows that were published
-- then, which could always be hers? It is a row that was there at every moment that she was published at, in a group
-- that covers her each time.
CREATE TABLE person_box AS
	SELECT DISTINCT t.history, t.moment, t.id, p.age AS box_age, p.zip AS box_zip
	FROM truth t JOIN published own USING (history, moment, id)
		JOIN (SELECT DISTINCT history, moment, age, zip FROM published) p USING (history, moment)
	WHERE (kanon.avlike(p.age, t.age) OR p.age::text = '*' OR (t.age IS NULL AND p.age IS NULL))
		AND kanon.avlike(p.zip, t.zip);
CREATE TABLE suspects AS
	SELECT history, id, suspect, count(*) AS moments
	FROM (SELECT b.history, b.moment, b.id, p.id AS suspect FROM person_box b JOIN published p
		ON p.history = b.history AND p.moment = b.moment AND p.zip OPERATOR(kanon.*=) b.box_zip
			AND (p.age OPERATOR(kanon.*=) b.box_age OR (p.age IS NULL AND b.box_age IS NULL))) q
	GROUP BY history, id, suspect;
CREATE VIEW intersection AS
	SELECT s.history, s.id, count(*) AS suspects FROM suspects s
		JOIN (SELECT history, id, count(*) AS moments FROM published GROUP BY history, id) p USING (history, id)
	WHERE s.moments = p.moments GROUP BY s.history, s.id;
-- Histories that only insert: never fewer than k.
SELECT history, count(*) AS people, min(suspects) >= 3 AS safe, count(*) FILTER (WHERE suspects < 3) AS below_k
FROM intersection WHERE history IN (1, 2) GROUP BY history ORDER BY history;
-- With deletes and updates this is not promised (doc/materialized.md); the figure is printed.
SELECT history, count(*) AS people, min(suspects) AS fewest, count(*) FILTER (WHERE suspects < 3) AS below_k
FROM intersection WHERE history IN (3, 4) GROUP BY history ORDER BY history;
-- At any one moment every row is among at least k.
SELECT count(*) FROM (SELECT FROM published GROUP BY history, moment, age, zip HAVING count(*) < 3) q;
