-- Comparing, generalizing and sorting take no memory per row: a cursor reads to the end of many rows, and what its
-- query
-- holds then is looked at.
SELECT kanon.import_dgh('d', '{a;p;*,b;p;*,c;q;*}'), kanon.import_dgh('e', '{a;p;*,b;p;*}'),
    kanon.create_prefix_dgh('zip', 5), kanon.create_interval_dgh('i', 0, '{10}');
SELECT kanon.import_dgh('gone', '{a;p;*}');
CREATE TABLE t AS SELECT i, kanon.generalize(CASE WHEN i % 2 = 0 THEN 'd' ELSE 'e' END, 'a', 1) AS node,
    kanon.generalize('gone', 'a', 1) AS gone, kanon.generalize('i', i::text, 1) AS num,
    (i || '.5')::kanon.generalized AS decimal,
    kanon.generalize('zip', lpad(i::text, 5, '0'), 2) AS zip, ('word ' || i)::kanon.generalized AS word,
    'text ' || i AS text, '0' || i AS spelled, i + 0.25 AS number FROM generate_series(1, 30000) i;
CREATE TABLE stale AS SELECT * FROM t;
UPDATE kanon.dgh_edge SET parent = 'r' WHERE child = 'c';
SELECT kanon.drop_dgh('gone');
VACUUM ANALYZE t;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '100MB';
-- The bytes that a query holds after its first row, where that is the last that it has to look at.
CREATE FUNCTION held(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    c refcursor;
    r record;
    before bigint;
    after bigint;
BEGIN
    OPEN c FOR EXECUTE query;
    SELECT sum(used_bytes) INTO before FROM pg_backend_memory_contexts;
    FETCH c INTO r;
    SELECT sum(used_bytes) INTO after FROM pg_backend_memory_contexts;
    CLOSE c;
    RETURN after - before;
END
$$;
SELECT what, held(query) < 300000 AS little FROM (VALUES
    ('nothing', 'SELECT count(*) FROM t'),
    ('node = text', 'SELECT count(*) FROM t WHERE node = text'),
    ('node = word', 'SELECT count(*) FROM t WHERE node = word'),
    ('stale node = text', 'SELECT count(*) FROM stale WHERE node = text'),
    ('gone = text', 'SELECT count(*) FROM t WHERE gone = text'),
    ('node = gone', 'SELECT count(*) FROM t WHERE node = gone'),
    ('interval = number', 'SELECT count(*) FROM t WHERE num = number'),
    ('interval = spelled', 'SELECT count(*) FROM t WHERE num = spelled'),
    ('decimal = number', 'SELECT count(*) FROM t WHERE decimal = number'),
    ('node = number', 'SELECT count(*) FROM t WHERE node = number'),
    ('zip = text', 'SELECT count(*) FROM t WHERE zip = spelled'),
    ('node < text', 'SELECT count(*) FROM t WHERE node < text'),
    ('interval <> word', 'SELECT count(*) FROM t WHERE num <> word'),
    ('decimal >= number', 'SELECT count(*) FROM t WHERE decimal >= number'),
    ('zip <= number', 'SELECT count(*) FROM t WHERE zip <= number'),
    ('coverage', 'SELECT sum(kanon.coverage(node, text) + kanon.coverage(num, i::float8) + kanon.coverage(zip, '
        'number, number + 1)) FROM t'),
    ('generalize by two', $$SELECT count(kanon.generalize(CASE WHEN i % 2 = 0 THEN 'd' ELSE 'e' END, text, 1))
        FROM t$$),
    ('generalize intervals', $$SELECT count(kanon.generalize('i', number::text, 1)) FROM t$$),
    ('distance', $$SELECT sum(kanon.dgh_distance('zip', spelled, '12345')) FROM t$$),
    ('max of decimals', 'SELECT max(decimal), min(decimal) FROM t'),
    ('output', 'SELECT count(node::text || decimal::text || num::text) FROM t')) v (what, query);
-- Sorts hold the rows, and not more for comparing them often.
SELECT held('SELECT decimal FROM t ORDER BY decimal DESC') < 2 * held('SELECT number FROM t ORDER BY number::text DESC')
    AS "sort of decimals";
CREATE INDEX ON t (decimal);
SELECT held($$SELECT count(*) FROM t JOIN stale USING (i)
    WHERE t.decimal OPERATOR(kanon.*=) stale.decimal$$) < 20000000 AS "join by identity";
