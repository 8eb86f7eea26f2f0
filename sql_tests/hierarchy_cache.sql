-- The session's cache of hierarchies is never stale, however a hierarchy changes and a transaction ends.
SELECT kanon.create_dgh('d');
INSERT INTO kanon.dgh_edge VALUES ('d', 'a', 'p'), ('d', 'b', 'q');
SELECT kanon.create_interval_dgh('i', 0, '{10}');
CREATE FUNCTION parent() RETURNS text LANGUAGE sql AS $$ SELECT kanon.generalize('d', 'a', 1)::text $$;
-- The cache holds the hierarchies that were used, and tells their size.
SELECT * FROM kanon.dgh_cache();
SELECT parent(), kanon.generalize('i', '5', 1);
SELECT dgh, nodes, leaves, bytes BETWEEN 1000 AND 100000 AS plausible FROM kanon.dgh_cache() ORDER BY 1;

-- Transactions and savepoints that end either way.
BEGIN;
UPDATE kanon.dgh_edge SET parent = 'q' WHERE child = 'a';
SELECT parent() AS "q";
ROLLBACK;
SELECT parent() AS "p";
BEGIN;
SAVEPOINT one;
UPDATE kanon.dgh_edge SET parent = 'one' WHERE child = 'a';
SELECT parent() AS "one";
SAVEPOINT two;
UPDATE kanon.dgh_edge SET parent = 'two' WHERE child = 'a';
SELECT parent() AS "two";
ROLLBACK TO two;
SELECT parent() AS "one";
UPDATE kanon.dgh_edge SET parent = 'three' WHERE child = 'a';
SELECT parent() AS "three";
RELEASE two;
SELECT parent() AS "three";
ROLLBACK TO one;
SELECT parent() AS "p";
UPDATE kanon.dgh_edge SET parent = 'four' WHERE child = 'a';
COMMIT;
SELECT parent() AS "four";
UPDATE kanon.dgh_edge SET parent = 'p' WHERE child = 'a';

-- A state that was used is not taken for the next one, nor one that was given up.
BEGIN;
INSERT INTO kanon.dgh_edge VALUES ('d', 'c', 'p');
INSERT INTO kanon.dgh_edge VALUES ('d', 'e', 'p');
CREATE TEMP TABLE mid AS SELECT kanon.generalize('d', 'a', 1) AS x;
DELETE FROM kanon.dgh_edge WHERE child = 'a';
INSERT INTO kanon.dgh_edge VALUES ('d', 'a', 'q');
CREATE TEMP TABLE late AS SELECT kanon.generalize('d', 'a', 1) AS x;
SELECT mid.x, late.x, mid.x = late.x AS "p covers q", mid.x = 'a' AS "p covers a", late.x = 'a' AS "q covers a",
    late.x = 'c' AS "q covers c" FROM mid, late;
SAVEPOINT s;
INSERT INTO kanon.dgh_edge VALUES ('d', 'f', 'q');
SELECT late.x = 'f' AS "q covers f" FROM late;
ROLLBACK TO s;
INSERT INTO kanon.dgh_edge VALUES ('d', 'g', 'q');
SELECT late.x = 'f' AS "q covers f", late.x = 'g' AS "q covers g" FROM late;
COMMIT;
SELECT late.x = 'f' AS "q covers f", late.x = 'g' AS "q covers g", mid.x = 'g' AS "p covers g" FROM mid, late;

-- In the middle of a statement, in loops, exceptions and functions that were prepared before.
DO $$
DECLARE
    seen text := '';
BEGIN
    FOR i IN 1 .. 5 LOOP
        UPDATE kanon.dgh_edge SET parent = 'p' || i WHERE child = 'a';
        seen := concat_ws(' ', seen, parent());
        BEGIN
            UPDATE kanon.dgh_edge SET parent = 'x' || i WHERE child = 'a';
            seen := concat_ws(' ', seen, parent());
            RAISE EXCEPTION 'undo';
        EXCEPTION WHEN raise_exception THEN
            seen := concat_ws(' ', seen, parent());
        END;
    END LOOP;
    RAISE NOTICE '%', seen;
END
$$;
PREPARE asks AS SELECT kanon.generalize('d', 'a', 1), kanon.generalize('i', '5', 1);
EXECUTE asks;
UPDATE kanon.dgh_edge SET parent = 'p' WHERE child = 'a';
UPDATE kanon.dgh SET widths = '{4}' WHERE name = 'i';
EXECUTE asks;
-- A cursor goes on with the hierarchy as it is when a row is fetched.
BEGIN;
DECLARE c CURSOR FOR SELECT kanon.generalize('d', 'a', 1) FROM generate_series(1, 3);
FETCH 1 FROM c;
UPDATE kanon.dgh_edge SET parent = 'changed' WHERE child = 'a';
FETCH 1 FROM c;
SELECT kanon.drop_dgh('d');
FETCH 1 FROM c;
ROLLBACK;
SELECT parent();

-- Dropped and made again under the same name.
BEGIN;
SELECT kanon.drop_dgh('d'), kanon.create_dgh('d');
INSERT INTO kanon.dgh_edge VALUES ('d', 'a', 'another');
SELECT parent(), late.x = 'g' AS "q of the dropped one covers all", mid.x <> 'g' FROM mid, late;
ROLLBACK;
SELECT parent(), late.x = 'g' AS "q covers g", late.x = 'a' AS "q covers a" FROM late;

-- The extension is dropped and created again: ids and generations start anew, the cache with them.
DROP TABLE mid, late;
DROP EXTENSION kanon;
CREATE EXTENSION kanon;
SELECT parent();
SELECT kanon.create_dgh('d');
INSERT INTO kanon.dgh_edge VALUES ('d', 'a', 'new p'), ('d', 'b', 'new q');
SELECT parent();
BEGIN;
DROP EXTENSION kanon;
CREATE EXTENSION kanon;
SELECT kanon.create_dgh('d');
INSERT INTO kanon.dgh_edge VALUES ('d', 'a', 'newer');
SELECT parent();
ROLLBACK;
SELECT parent();

-- Parallel workers load hierarchies of their own, also ones that the leader has just changed.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
SELECT set_config(name, 'on', false) FROM pg_settings
    WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null
CREATE TABLE many AS SELECT (ARRAY['a', 'b', 'c'])[1 + i % 3] AS v FROM generate_series(1, 3000) i;
EXPLAIN (COSTS OFF) SELECT kanon.generalize('d', v, 1) AS x FROM many;
BEGIN;
UPDATE kanon.dgh_edge SET parent = 'mine' WHERE child = 'a';
CREATE TABLE made AS SELECT kanon.generalize('d', v, 1) AS x FROM many;
-- A worker looks up both sides again and again, since its state of the hierarchy is no lasting one.
SELECT x, count(*), bool_or(x <> 'a') AS "not a", bool_or(x <> 'mine') AS "not mine",
    bool_or(x <> kanon.generalized('c', 'd')) AS "not c", bool_or(x < 'b') AS "below b",
    bool_or(x >= 'c') AS "not below c" FROM made GROUP BY x ORDER BY x;
INSERT INTO kanon.dgh_edge VALUES ('d', '0', 'first');
CREATE TABLE made2 AS SELECT kanon.generalize('d', v, 1) AS x FROM many;
INSERT INTO kanon.dgh_edge VALUES ('d', '00', 'first');
COMMIT;
SELECT x, count(*), bool_or(x = 'a') AS a, bool_or(x = 'b') AS b, bool_or(x = '0') AS "0" FROM made GROUP BY x
    ORDER BY x;
SELECT x, count(*), bool_or(x = 'a') AS a, bool_or(x = 'b') AS b, bool_or(x = '0') AS "0" FROM made2 GROUP BY x
    ORDER BY x;
SELECT bool_and(made.x = made2.x) AS a FROM made, made2 WHERE made.x::text = 'mine' AND made2.x::text = 'mine' LIMIT 1;
SELECT set_config(name, 'off', false) FROM pg_settings
    WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null

-- A first question that is cancelled leaves nothing half-made. The worker asks again and again, each time after the
-- hierarchy has changed, until it has been cancelled ten times; then and in between its answers are right.
\set dir `echo "$PG_ABS_SRCDIR"`
\set worker :dir '/data/worker.sql'
\i :worker
INSERT INTO kanon.dgh_edge SELECT 'd', i::text, 'big' FROM generate_series(1000, 60000) i;
CREATE TABLE big AS SELECT kanon.generalized('big', 'd') AS x;
CREATE FUNCTION ask() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    cancelled integer := 0;
    wrong integer := 0;
BEGIN
    WHILE cancelled < 10 LOOP
        BEGIN
            LOOP
                UPDATE kanon.dgh_edge SET parent = parent WHERE dgh = 'd' AND child = '1000';
                PERFORM nextval('step');
                SELECT wrong + count(*) INTO wrong FROM big WHERE x < 1000 OR NOT x <= 1000 OR NOT x > 59999
                    OR x > 60000;
            END LOOP;
        EXCEPTION WHEN query_canceled THEN
            cancelled := cancelled + 1;
            SELECT wrong + count(*) INTO wrong FROM big WHERE x < 1000 OR NOT x <= 1000 OR NOT x > 59999 OR x > 60000;
        END;
    END LOOP;
    RETURN format('cancelled %s times, wrong %s times', cancelled, wrong);
END
$$;
-- Cancel the worker after each step that is seen, until it ends.
CREATE FUNCTION cancel_until_it_ends() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    seen bigint := 0;
BEGIN
    PERFORM worker_start('SELECT ask()');
    WHILE dblink_is_busy('worker') = 1 LOOP
        CONTINUE WHEN steps() = seen;
        seen := steps();
        PERFORM pg_cancel_backend(pid) FROM worker;
    END LOOP;
    RETURN worker_result();
END
$$;
SELECT cancel_until_it_ends();
SELECT x < 1000 AS "no", x <= 1000 AS "yes", x > 59999 AS "yes", x > 60000 AS "no" FROM big;
