-- Statements that read an A-view: prepared ones, cursors, COPY, CREATE TABLE AS, INSERT, UPDATE, DELETE, MERGE,
-- plpgsql.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
\set SHOW_CONTEXT never
SET ROLE :"owner";
CREATE TABLE room (ward integer PRIMARY KEY, floor integer, zip text, age integer);
INSERT INTO room SELECT i, i / 3, lpad((i * 3)::text, 3, '0'), i * 11 FROM generate_series(0, 12) AS i;
ANALYZE room;

-- Prepared statements, with custom and generic plans, and parameters of all types that a driver may send.
CREATE FUNCTION run(command text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	result bigint;
BEGIN
	EXECUTE command INTO result;
	RETURN result;
END
$$;
CREATE TABLE runs (mode text, command text, result bigint);
DO $$
DECLARE
	mode text;
	plan text;
	command text;
BEGIN
	FOREACH mode IN ARRAY '{force_custom_plan, force_generic_plan}'::text[] LOOP
		PERFORM set_config('plan_cache_mode', mode, true);
		FOREACH plan IN ARRAY '{anonymize_first, select_first, function}'::text[] LOOP
			PERFORM set_config('kanon.plan', plan, true);
			DEALLOCATE PREPARE ALL;
			PREPARE by_zip (text) AS SELECT count(*) FROM people WHERE zip = $1;
			PREPARE by_age (integer) AS SELECT count(*) FROM people WHERE age = $1;
			PREPARE by_number (numeric) AS SELECT count(*) FROM people WHERE age = $1;
			PREPARE by_ages (integer[]) AS SELECT count(*) FROM people WHERE age = ANY ($1);
			PREPARE by_ward (integer, text) AS SELECT count(*) FROM people WHERE ward = $1 AND disease = $2;
			PREPARE by_any AS SELECT count(*) FROM people WHERE zip = $1 AND ward = $2;
			PREPARE limited (bigint) AS SELECT count(*) FROM (SELECT * FROM people WHERE ward = 3 LIMIT $1) s;
			FOREACH command IN ARRAY ARRAY ['by_zip(''013'')', 'by_zip(''01*'')', 'by_zip(NULL)', 'by_age(30)',
				'by_age(99)', 'by_number(30.0)',
				'by_ages(''{25,99}'')', 'by_ward(3, ''hiv'')', 'by_ward(77, ''plague'')', 'by_any(''013'', 3)',
				'limited(5)'] LOOP
				INSERT INTO runs VALUES (mode || ' ' || plan, command, run('EXECUTE ' || command));
			END LOOP;
		END LOOP;
	END LOOP;
END
$$;
SELECT command, count(*), min(result), min(result) = max(result) AS same FROM runs GROUP BY command
	ORDER BY command COLLATE "C";

-- Cursors.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT ward, zip, disease FROM people WHERE ward IN (3, 77) ORDER BY ward DESC, zip,
	disease;
FETCH 2 FROM c;
FETCH LAST FROM c;
FETCH PRIOR FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ABSOLUTE 1 FROM c;
MOVE FORWARD ALL IN c;
FETCH BACKWARD ALL FROM c \g /dev/null
FETCH RELATIVE 1 FROM c;
COMMIT;
BEGIN;
DECLARE unsorted SCROLL CURSOR FOR SELECT ward FROM people;
MOVE 240 IN unsorted;
FETCH 5 FROM unsorted \gset last_
SELECT :last_ward IS NOT NULL AS "one row";
MOVE BACKWARD ALL IN unsorted;
MOVE ALL IN unsorted;
DECLARE forward NO SCROLL CURSOR FOR SELECT ward FROM people;
MOVE 10 IN forward;
MOVE BACKWARD 1 IN forward;
ROLLBACK;
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT ward, zip FROM people WHERE ward = 77;
COMMIT;
FETCH ALL FROM held;
CLOSE held;
-- A cursor sees the rows of the moment when it was opened, in subtransactions, too.
BEGIN;
DECLARE c CURSOR FOR SELECT ward FROM people WHERE ward = 77;
DELETE FROM person WHERE ward = 77;
SAVEPOINT s;
FETCH ALL FROM c;
ROLLBACK TO s;
SELECT count(*) FROM people WHERE ward = 77;
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT ward FROM people;
SAVEPOINT s;
MOVE 5 IN c;
ROLLBACK TO s;
MOVE 5 IN c;
COMMIT;

-- Statements that read it.
COPY (SELECT ward, zip, age FROM people WHERE ward = 77) TO stdout;
COPY people TO stdout;
CREATE TABLE taken AS SELECT zip, ward FROM people WHERE ward IN (3, 77);
SELECT count(*) FROM taken;
INSERT INTO taken SELECT zip, ward FROM people WHERE ward = 4 RETURNING ward = 4 AS four \g /dev/null
SELECT ward, count(*) FROM taken GROUP BY ward ORDER BY ward;
UPDATE room SET floor = 100 + p.n FROM (SELECT ward, count(*) AS n FROM people GROUP BY ward) p WHERE p.ward = room.ward
	AND room.ward < 3;
UPDATE room SET floor = floor + 1000 FROM people p WHERE p.ward = room.ward AND p.ward = 3 AND p.zip = '013';
SELECT ward, floor FROM room WHERE floor > 50 ORDER BY ward;
DELETE FROM room USING people p WHERE p.ward = room.ward AND p.disease = 'hiv' AND room.ward > 7;
DELETE FROM room WHERE ward IN (SELECT ward FROM people WHERE zip = '013' AND ward = 5);
SELECT array_agg(ward ORDER BY ward) FROM room;
SELECT current_setting('server_version_num')::int >= 150000 AS has_merge \gset
\if :has_merge
MERGE INTO room USING (SELECT DISTINCT ward FROM people WHERE ward IN (5, 6, 77)) p ON room.ward = p.ward
	WHEN MATCHED THEN UPDATE SET floor = -1 WHEN NOT MATCHED THEN INSERT VALUES (p.ward, -2);
\else
UPDATE room SET floor = -1 FROM people p WHERE room.ward = p.ward AND p.ward IN (5, 6, 77);
INSERT INTO room SELECT DISTINCT ward, -2 FROM people p WHERE ward IN (5, 6, 77)
	AND NOT EXISTS (SELECT FROM room WHERE room.ward = p.ward);
\endif
SELECT ward, floor FROM room WHERE floor < 0 ORDER BY ward;
CREATE MATERIALIZED VIEW stored AS SELECT zip, count(*) FROM people GROUP BY zip;
REFRESH MATERIALIZED VIEW stored;
SELECT sum(count) FROM stored;
CREATE INDEX ON taken (zip);
ANALYZE taken;

-- plpgsql.
DO $$
DECLARE
	row people;
	n integer := 0;
	total bigint;
BEGIN
	FOR row IN SELECT * FROM people WHERE ward = 3 LOOP
		n := n + 1;
		-- Changes while reading do not count.
		DELETE FROM person WHERE ward = 3;
	END LOOP;
	SELECT count(*) INTO total FROM people WHERE ward = 3;
	RAISE NOTICE '% rows, then %', n, total;
	FOR i IN 1..8 LOOP
		SELECT count(*) INTO total FROM people WHERE ward = i AND zip = lpad(i::text, 3, '0');
	END LOOP;
	RAISE NOTICE '% in the end', total;
	RAISE EXCEPTION 'undo';
EXCEPTION WHEN raise_exception THEN
	NULL;
END
$$;
CREATE FUNCTION of_ward(w integer) RETURNS SETOF people LANGUAGE sql STABLE AS 'SELECT * FROM people WHERE ward = w';
SELECT count(*) FROM of_ward(3);
SELECT count(*) FROM room, of_ward(room.ward);

\set end :dir '/data/people_end.sql'
\i :end
