-- The functions about outliers refuse bad arguments.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE people AS SELECT i AS id, i % 5 AS age, i % 4 AS pay, chr(97 + i % 3) AS disease
    FROM generate_series(1, 20) AS i;
CREATE FUNCTION code_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    code text; message text; detail text; hint text;
BEGIN
    EXECUTE query;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
    hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', code, message, nullif(detail, ''), nullif(hint, ''));
END
$$;
\pset format unaligned
\pset tuples_only on
-- p, d and k
SELECT code_of(format('SELECT * FROM kanon.outliers(''people'', ''id'', ''{"age": null}'', ''pay'', %s, 0.5)', p))
    FROM unnest(ARRAY['0', '-0.1', '1.5', '''NaN''', 'NULL']) AS p;
SELECT code_of(format('SELECT * FROM kanon.outliers(''people'', ''id'', ''{"age": null}'', ''pay'', 0.5, %s)', d))
    FROM unnest(ARRAY['-0.1', '''NaN''', 'NULL', '0', '''inf''']) AS d;
SELECT code_of($$SELECT * FROM kanon.plain_k('people', 'id', '{"age": null}', 'pay', 5)$$);
SELECT code_of($$SELECT * FROM kanon.plain_k('people', 'id', '{"age": null}', 'pay', 0)$$);
SELECT code_of($$SELECT * FROM kanon.is_plain('people', 'id', '{"age": null}', 'pay', 'SELECT id, 1 AS grp FROM people',
    5, 0.5, 0.5)$$);
SELECT code_of($$SELECT * FROM kanon.plain_k('people', 'id', '{"age": null}', 'pay', 2, 2, 0.5)$$);
SELECT code_of($$SELECT * FROM kanon.plain_k('people', 'id', '{"age": null}', 'pay', 2, delta => 0)$$);
SELECT code_of($$SELECT * FROM kanon.plain_k('people', 'id', '{"age": null}', 'pay', 2, method => 'incognito')$$);
-- the sensitive column
SELECT code_of($$SELECT * FROM kanon.plain_k('people', 'id', '{"age": null}', 'disease', 2)$$);
SELECT code_of($$SELECT * FROM kanon.plain_k('people', 'id', '{"age": null}', 'age', 2)$$);
SELECT code_of($$SELECT * FROM kanon.plain_k('people', 'id', '{"age": null}', 'id', 2)$$);
SELECT code_of($$SELECT * FROM kanon.plain_k('people', 'id', '{"age": null}', '{"pay": null, "disease": null}', 2)$$);
SELECT code_of($$SELECT * FROM kanon.plain_k('people', 'id', '{"age": null}', '{"disease": "nowhere"}', 2)$$);
SELECT code_of($$SELECT * FROM kanon.plain_k('people', 'id', '{"age": null}', 'wage', 2)$$);
SELECT code_of($$SELECT * FROM kanon.plain_k('people', 'id', '{"age": null}', NULL, 2)$$);
-- with a hierarchy it is taken
SELECT kanon.import_dgh('diseases', ARRAY['a;x;*', 'b;x;*', 'c;y;*']);
SELECT code_of($$SELECT * FROM kanon.plain_k('people', 'id', '{"age": null}', '{"disease": "diseases"}', 2)$$);
-- the source and its columns
SELECT code_of($$SELECT * FROM kanon.plain_k('people', 'id', '{}', 'pay', 2)$$);
SELECT code_of($$SELECT * FROM kanon.plain_k('people', 'id', NULL, 'pay', 2)$$);
SELECT code_of($$SELECT * FROM kanon.plain_k('SELECT id, nullif(age, 3) AS age, pay FROM people', 'id', '{"age": null}',
    'pay', 2)$$);
SELECT code_of($$SELECT * FROM kanon.outliers('SELECT id, age, nullif(pay, 3) AS pay FROM people', 'id',
    '{"age": null}', 'pay', 0.5, 0.5)$$);
SELECT code_of($$SELECT * FROM kanon.plain_k('SELECT id, (age - 2) * 8e307::float8 AS age, pay FROM people', 'id',
    '{"age": null}', 'pay', 2)$$);
SELECT code_of($$SELECT * FROM kanon.plain_k('SELECT * FROM people WHERE false', 'id', '{"age": null}', 'pay', 1)$$);
SELECT count(*) FROM kanon.outliers('SELECT * FROM people WHERE false', 'id', '{"age": null}', 'pay', 0.5, 0.5);
SELECT code_of(format('SELECT * FROM kanon.plain_k(%L, ''id'', %L, ''pay'', 2)', 'SELECT id, pay, '
    || string_agg(format('age AS a%s', i), ', ') || ' FROM people', jsonb_object_agg('a' || i, NULL)))
FROM generate_series(1, 17) AS i;
-- groupings
SELECT code_of($$SELECT * FROM kanon.is_plain('people', 'id', '{"age": null}', 'pay', 'SELECT 99 AS id, 1 AS grp', 2,
    0.5, 0.5)$$);
SELECT code_of($$SELECT * FROM kanon.is_plain('people', 'id', '{"age": null}', 'pay',
    'SELECT 1 AS id, g AS grp FROM generate_series(1, 2) g', 2, 0.5, 0.5)$$);
SELECT code_of($$SELECT * FROM kanon.is_plain('people', 'id', '{"age": null}', 'pay', 'SELECT NULL AS id, 1 AS grp', 2,
    0.5, 0.5)$$);
SELECT code_of($$SELECT * FROM kanon.distinguishability('people', 'id', '{"age": null}', 'pay', 'SELECT id FROM people',
    0.5, 0.5)$$);
SELECT code_of($$SELECT * FROM kanon.is_plain('people', 'id', '{"age": null}', 'pay', NULL, 2, 0.5, 0.5)$$);
SELECT kanon.information_loss('SELECT * FROM people WHERE false', 'id', '{"age": null}',
    'SELECT 1 AS id, 1 AS grp WHERE false') IS NULL AS nothing_lost;
