-- Bad arguments of releases by grouping: each is named with the rule that it breaks.
\set SHOW_CONTEXT never
CREATE TABLE people AS SELECT i AS id, i AS x, i % 2 AS v FROM generate_series(1, 4) AS i;
CREATE TABLE register AS SELECT i AS id, i AS x FROM generate_series(1, 9) AS i;

CREATE FUNCTION attempt(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text;
    detail text;
    hint text;
BEGIN
    EXECUTE command;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', SQLSTATE || ': ' || message, '  ' || nullif(detail, ''), '  ' || nullif(hint, ''));
END
$$;

\t on
\pset format unaligned
SELECT attempt(format('SELECT * FROM kanon.%s', call)) FROM unnest(ARRAY[
    -- k
    $$mondrian('people', 'id', '{"x": null}', 0)$$,
    $$mondrian('people', 'id', '{"x": null}', -3)$$,
    $$mondrian('people', 'id', '{"x": null}', 5)$$,
    $$mondrian('people', 'id', '{"x": null}', NULL)$$,
    $$topdown('people', 'id', '{"x": null}', 5)$$,
    $$local_recoding('people', 'id', '{"x": null}', 5)$$,
    $$mondrian('SELECT * FROM people WHERE false', 'id', '{"x": null}', 1)$$,
    -- columns
    $$mondrian('people', 'id', '{"y": null}', 2)$$,
    $$mondrian('people', 'nobody', '{"x": null}', 2)$$,
    $$mondrian('people', 'id', '{}', 2)$$,
    $$mondrian('people', 'id', '["x"]', 2)$$,
    $$mondrian('people', 'id', '{"x": 5}', 2)$$,
    $$mondrian('people', 'id', '{"x": "nohierarchy"}', 2)$$,
    $$mondrian('people', 'id', NULL, 2)$$,
    $$mondrian('nosuchtable', 'id', '{"x": null}', 2)$$,
    $$mondrian('DELETE FROM people', 'id', '{"x": null}', 2)$$,
    $$mondrian('SELECT 1 AS id, 2 AS x; DROP TABLE people', 'id', '{"x": null}', 1)$$,
    $$mondrian(NULL, 'id', '{"x": null}', 2)$$,
    -- identifiers and values
    $$mondrian('SELECT 1 AS id, x FROM people', 'id', '{"x": null}', 2)$$,
    $$mondrian('SELECT nullif(id, 3) AS id, x FROM people', 'id', '{"x": null}', 2)$$,
    $$mondrian('SELECT id, x / 0.0::float8 AS x FROM people', 'id', '{"x": null}', 2)$$,
    $$mondrian('SELECT id, ''infinity''::float8 AS x FROM people', 'id', '{"x": null}', 2)$$,
    $$mondrian('SELECT id, ''NaN''::numeric AS x FROM people', 'id', '{"x": null}', 2)$$,
    $$mondrian('SELECT id, ''infinity''::date AS x FROM people', 'id', '{"x": null}', 2)$$,
    -- sensitive values
    $$mondrian('people', 'id', '{"x": null}', 2, 'v')$$,
    $$mondrian('people', 'id', '{"x": null}', 2, NULL, 2)$$,
    $$mondrian('people', 'id', '{"x": null}', 2, 'v', 0)$$,
    $$mondrian('people', 'id', '{"x": null}', 2, 'v', 3)$$,
    $$mondrian('people', 'id', '{"x": null}', 2, 'w', 2)$$,
    $$mondrian('people', 'id', '{"x": null}', 2, 'x', 2)$$,
    -- strategies
    $$mondrian('people', 'id', '{"x": null}', 2, split => 'middle')$$,
    $$topdown('people', 'id', '{"x": null}', 2, seed => NULL)$$,
    $$local_recoding('people', 'id', '{"x": null}', 2, block_size => 0)$$,
    -- KJA
    $$kja('people', 'register', 'id', '{"x": null}', 0)$$,
    $$kja('people', 'register', 'id', '{"x": null}', 10)$$,
    $$kja('people', 'register', 'id', '{"x": null}', 5, method => 'refinement')$$,
    $$kja('people', 'register', 'id', '{"x": null}', 2, 'datafly')$$,
    $$kja('people', 'register', 'id', '{"x": null}', 2, method => 'indirect')$$,
    $$kja('people', 'SELECT id FROM register', 'id', '{"x": null}', 2)$$,
    $$kja('people', 'SELECT x FROM register', 'id', '{"x": null}', 2)$$,
    $$kja('people', 'SELECT id, x::text AS x FROM register', 'id', '{"x": null}', 2)$$,
    $$kja('people', 'SELECT 1 AS id, x FROM register', 'id', '{"x": null}', 2)$$,
    $$kja('people', 'SELECT 99 AS id, x FROM register', 'id', '{"x": null}', 2)$$,
    $$kja('people', 'SELECT nullif(id, 7) AS id, x FROM register', 'id', '{"x": null}', 2)$$,
    $$kja('SELECT * FROM people WHERE false', 'register', 'id', '{"x": null}', 2)$$,
    $$kja('people', NULL, 'id', '{"x": null}', 2)$$,
    $$kja('people', 'register', 'id', '{"x": null}', 2, sensitive => 'v', l => 3)$$,
    -- publishing
    $$publish_kja('out', 'people', 'register', 'id', '{"x": null}', 2)$$,
    $$publish_kja('out', 'people', 'register', 'id', '{"x": null}', 2, sensitive => 'w')$$,
    $$publish_kja('out', 'people', 'register', 'id', '{"x": null}', 99, sensitive => 'v')$$,
    $$publish_kja('nosuchschema.out', 'people', 'register', 'id', '{"x": null}', 2, sensitive => 'v')$$,
    $$publish_kja(repeat('n', 60), 'people', 'register', 'id', '{"x": null}', 2, sensitive => 'v')$$,
    -- quality
    $$release_quality('people', 'id', '{}', 'SELECT 1 AS id, 1 AS grp, ARRAY[''5'']::kanon.generalized[] AS box')$$,
    $$release_quality('people', 'id', '{"x": null}', 'SELECT 1 AS id, 1 AS grp, ARRAY[''5'']::text[] AS box')$$,
    $$release_quality('people', 'id', '{"x": null}',
        'SELECT 1 AS id, 1 AS grp, ARRAY[''5'', ''6'']::kanon.generalized[] AS box')$$,
    $$release_quality('people', 'id', '{"x": null}',
        'SELECT 1 AS id, NULL::int AS grp, ARRAY[''5'']::kanon.generalized[] AS box')$$,
    $$release_quality('people', 'id', '{"x": null}',
        'SELECT 1 AS id, i AS grp, ARRAY[''5'']::kanon.generalized[] AS box FROM generate_series(1, 2) i')$$,
    $$release_quality('people', 'id', '{"x": null}', 'SELECT 1 AS id')$$,
    -- counting
    $$kja_count('people', 'people', '{0}', '{1}')$$
]) AS call;

-- Nothing half-made remains.
SELECT count(*) FROM pg_class WHERE relname LIKE 'out%';
SELECT count(*) FROM people;

-- A release can be cancelled.
\set dir `echo "$PG_ABS_SRCDIR"`
\set worker :dir '/data/worker.sql'
\i :worker
SELECT cancelled($$
    SELECT count(*)::text FROM kanon.local_recoding(
        'SELECT i AS id, hashint4(i) AS x, hashint4(i + 1) AS y FROM generate_series(1, 60000) AS i',
        'id', '{"x": null, "y": null}', 50, block_size => 60000)$$,
    'EXISTS (SELECT FROM kanon.progress JOIN worker USING (pid) WHERE phase = ''grouping'')');
