-- The text form and the casts of generalized values.
\pset null '(null)'

-- Input and output of values: each is printed as it was read, and read as the kind that it is.
SELECT t, t::kanon.generalized AS value, t::kanon.generalized::text = t AS same FROM unnest(ARRAY[
    '*', '5', '-5', '0', '007', '+5', '1.5', '1.50', '.5', '1e3', '9223372036854775808', '-9223372036854775808',
    '2000-01-01', '2000-1-1', '0044-03-15 BC', '5874897-12-31', '1 Jan 2000', '2000-02-30',
    '[20,30)', '(20,30]', '[20,30]', '(20,30)', '[20,20]', '[1.5,2)', '[1.50,2)', '[20,)', '(,30)', '(,30]', '[,30)',
    '(,)', '[ 20,30)', '[a,b)', '[2000-01-01,2001-01-01)', '[2000-01-01,)', '[2000-01-01,5)', '[1,2,3)', '[1,2', '(1]',
    'word', 'two words', ' 5', '', '"quoted"', 'é日本', E'line\nend', 'NaN', 'infinity', 'empty', '**', 't']) t;
-- An interval that holds nothing stands for no value.
SELECT '[30,20)'::kanon.generalized;
SELECT '[20,20)'::kanon.generalized;
SELECT '(20,20)'::kanon.generalized;
SELECT '[2001-01-01,2000-01-01]'::kanon.generalized;
\set VERBOSITY sqlstate
SELECT '(20,20]'::kanon.generalized;
\set VERBOSITY default
-- Any text comes back, and a value that comes back is identical.
DO $$
DECLARE
    alphabet text[] := ARRAY['0', '1', '2', '9', '.', '-', '+', 'e', '[', ']', '(', ')', ',', ' ', '*', 'x', 'é', '日',
        '"', '\', '2000-01-01', '1999-12-31'];
    word text;
    value kanon.generalized;
    bad int := 0;
    intervals int := 0;
BEGIN
    PERFORM setseed(0.5);
    FOR i IN 1 .. 20000 LOOP
        word := CASE WHEN i % 2 = 0 THEN '[(' ELSE '' END;
        word := substr(word, 1 + (random() * 1)::int, 1);
        FOR j IN 0 .. (random() * 5)::int LOOP
            word := word || alphabet[1 + floor(random() * array_length(alphabet, 1))];
        END LOOP;
        IF i % 2 = 0 THEN
            word := word || ')';
        END IF;
        BEGIN
            value := word;
            intervals := intervals + (kanon.identity_cmp(value, '[') < 0
                AND kanon.identity_cmp(value, '0-0-0') < 0)::int;
            IF value::text <> word OR NOT value::text::kanon.generalized OPERATOR(kanon.*=) value
                OR kanon.identity_hash(value::text::kanon.generalized) <> kanon.identity_hash(value) THEN
                bad := bad + 1;
                RAISE NOTICE '%', word;
            END IF;
        EXCEPTION WHEN data_exception THEN
            IF NOT (word ~ '^[[(].*,.*[])]$') THEN
                RAISE NOTICE '% is no empty interval', word;
            END IF;
        END;
    END LOOP;
    RAISE NOTICE 'of 20000 texts, % do not come back', bad;
    IF intervals < 500 THEN
        RAISE NOTICE 'only % numbers and intervals', intervals;
    END IF;
END
$$;

-- Casts to ranges.
SELECT '[20,30)'::kanon.generalized::numrange, '(1.5,2]'::kanon.generalized::numrange, '5'::kanon.generalized::numrange,
    '(,5]'::kanon.generalized::numrange, '007'::kanon.generalized::numrange, '[1, 2.50)'::kanon.generalized::numrange,
    '1e30'::kanon.generalized::numrange;
SELECT '[20,30)'::kanon.generalized::int8range, '(20,30]'::kanon.generalized::int8range,
    '5'::kanon.generalized::int8range, '[5,)'::kanon.generalized::int8range,
    '9223372036854775806'::kanon.generalized::int8range;
SELECT '[2000-01-01,2001-01-01)'::kanon.generalized::daterange, '2000-02-29'::kanon.generalized::daterange,
    '(,2000-01-01]'::kanon.generalized::daterange, '29 Feb 2000'::kanon.generalized::daterange;
\set VERBOSITY default
CREATE FUNCTION error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', SQLSTATE || ': ' || SQLERRM, nullif(detail, ''), nullif(hint, ''));
END
$$;
\pset format unaligned
SELECT cast_to, error_of(format('SELECT %L::kanon.generalized::%s', value, cast_to)) FROM (VALUES
    ('word', 'numrange'), ('*', 'numrange'), ('2000-01-01', 'numrange'), ('[2000-01-01,)', 'int8range'),
    ('word', 'int8range'), ('1.5', 'int8range'), ('[1,2.5)', 'int8range'), ('1e30', 'int8range'),
    ('9223372036854775807', 'int8range'), ('5', 'daterange'), ('*', 'daterange'), ('2000-02-30', 'daterange'),
    ('word', 'daterange'), ('5874897-12-31', 'daterange')) v (value, cast_to);
\pset format aligned
-- Nodes whose labels are intervals are cast as such.
SELECT kanon.import_dgh('ages', ARRAY['21;[20,30);*', '35;[30,40);*']);
SELECT kanon.generalize('ages', '35', 1)::numrange, kanon.generalize('ages', '35', 0)::int8range;

-- Casts from other types, on assignment; none is implicit.
CREATE TABLE assigned (x kanon.generalized);
INSERT INTO assigned VALUES ('text'::text);
INSERT INTO assigned VALUES ('varchar'::varchar(10));
INSERT INTO assigned VALUES (1::smallint), (2), (3::bigint);
INSERT INTO assigned VALUES (1.50::numeric);
INSERT INTO assigned VALUES (1e20::float8);
INSERT INTO assigned VALUES (1.1::real);
INSERT INTO assigned VALUES (date '2000-01-01');
INSERT INTO assigned VALUES (numrange(1, 2.50, '(]'));
INSERT INTO assigned VALUES (int8range(1, 2));
INSERT INTO assigned VALUES (daterange('2000-01-01', NULL));
INSERT INTO assigned VALUES ('NaN'::numeric), ('infinity'::numeric);
INSERT INTO assigned VALUES ('infinity'::date), (NULL);
INSERT INTO assigned VALUES (numrange(NULL, NULL));
INSERT INTO assigned VALUES (int4range(1, 2));
INSERT INTO assigned VALUES (numrange(2, 2));
SELECT x, x::numrange AS range FROM assigned WHERE x::text ~ '^[\d([]' AND x::text !~ '-' ORDER BY x;
SELECT x FROM assigned WHERE x::text !~ '^[\d([]' OR x::text ~ '-' OR x IS NULL ORDER BY x;
SELECT upper(x) AS "as text", length(x), x || '!' AS joined, x LIKE 't%' AS matched FROM assigned WHERE x = 'text';
-- To other types it goes through its text, if it is asked to; a string literal beside it is one of it, text beside it
-- makes text.
SELECT '5'::kanon.generalized::int + 1 AS "5 + 1", '2000-01-01'::kanon.generalized::date AS date,
    pg_typeof(coalesce(x, 'none')) AS literal, pg_typeof(coalesce(x, 'none'::text)) AS text FROM assigned LIMIT 1;
SELECT '[20,30)'::kanon.generalized::int;
-- Dates do not depend on DateStyle, neither in nor out.
SET DateStyle = 'German';
SELECT date '2000-12-31'::kanon.generalized, daterange('2000-01-01', '2000-12-31')::kanon.generalized,
    '2000-12-31'::kanon.generalized, '31.12.2000'::kanon.generalized = '2000-12-31' AS "spelled as the style says",
    '[2000-01-01,2001-01-01)'::kanon.generalized = '5.1.2000';
RESET DateStyle;

-- Binary: COPY and back, with the hierarchy's name, so that a node stays one.
SELECT kanon.create_prefix_dgh('zip', 5), kanon.create_interval_dgh('i', 0, '{10}');
CREATE TABLE binary_in (x kanon.generalized);
INSERT INTO binary_in SELECT kanon.generalize('ages', '21', l) FROM generate_series(0, 2) l;
INSERT INTO binary_in SELECT kanon.generalize('zip', '12345', l) FROM generate_series(0, 5, 2) l;
INSERT INTO binary_in VALUES ('[1,2)'), ('1.5'), ('2000-01-01'), ('word'), (''), (NULL),
    (kanon.generalize('ages', 'unknown', 0)), (kanon.generalize('i', '5', 1));
CREATE TABLE binary_out (LIKE binary_in);
COPY binary_in TO '/tmp/kanon_generalized_io.bin' (FORMAT binary);
COPY binary_out FROM '/tmp/kanon_generalized_io.bin' (FORMAT binary);
COPY (SELECT) TO PROGRAM 'cat; rm -f /tmp/kanon_generalized_io.bin';
SELECT a.x, b.x, a.x = '21' AS before, b.x = '21' AS after,
    kanon.generalized_send(a.x) = kanon.generalized_send(b.x) AS "same bytes",
    pg_column_size(a.x) = pg_column_size(b.x) AS "same size"
FROM (SELECT x, row_number() OVER (ORDER BY ctid) AS n FROM binary_in) a
    JOIN (SELECT x, row_number() OVER (ORDER BY ctid) AS n FROM binary_out) b USING (n) ORDER BY n;
SELECT encode(kanon.generalized_send(kanon.generalize('ages', '21', 1)), 'escape');

-- Large labels are stored compressed or elsewhere, and compared all the same.
CREATE TABLE large AS SELECT (repeat(c, 100000) || n)::kanon.generalized AS x FROM unnest('{a,b}'::text[]) c,
    generate_series(1, 3) n;
SELECT count(*), count(DISTINCT x), min(length(x)), bool_and(x = x::text) AS avlike FROM large;
SELECT left(min(x)::text, 3), right(max(x)::text, 3) FROM large;
SELECT length(repeat('1', 2000)::kanon.generalized) AS "too many digits for a number";
-- Labels that look like dates to PostgreSQL's parser, but name no time zone.
SELECT t::kanon.generalized AS value, t::kanon.generalized = date '2000-01-01' AS avlike
    FROM unnest(ARRAY['2000-01-01x', '2000-01-01 x-y/z', '2000-01-01 Nowhere/At-All', '2000-01-01T10:00',
    '2000-01-01T10:00Z', '2000-01-01 10:00+02', '2000-01-01 10:00 Europe/Prague', '2000-01-01 é-ö']) t;
