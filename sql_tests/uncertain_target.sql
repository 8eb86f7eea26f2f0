-- kanon.uncertain meets its k: never below, and at most 0.1 % above, whatever the data.
\set dir `echo "$PG_ABS_SRCDIR"`
\set random :dir '/data/random.sql'
\i :random
SET client_min_messages = warning;
SET jit = off;
SELECT seed_random(5);

CREATE TABLE uniform5 AS SELECT id, next_random() AS a, next_random() AS b, next_random() AS c, next_random() AS d,
    next_random() AS e
    FROM generate_series(1, 500) id;
-- Clusters of very different density, and lone rows far out.
CREATE TABLE clustered AS
    SELECT id, CASE WHEN id % 100 = 0 THEN 1000 * next_random()
        ELSE id % 5 + (next_random() + next_random() - 1) * 10 ^ (-(id % 5)) END AS a,
           CASE WHEN id % 100 = 0 THEN -500 * next_random()
               ELSE id % 3 + (next_random() + next_random() - 1) * 10 ^ (-(id % 5)) END AS b,
           (next_random() + next_random()) * 1e-6 AS c
    FROM generate_series(1, 500) id;
-- Few distinct rows; some of them rare.
CREATE TABLE duplicated AS SELECT id, floor(next_random() ^ 3 * 10) AS a, floor(next_random() * 4) AS b
    FROM generate_series(1, 500) id;
CREATE TABLE line AS SELECT id, exp(5 * next_random()) AS a FROM generate_series(1, 500) id;
-- The same value in all but five rows.
CREATE TABLE spike AS SELECT id, CASE WHEN id % 100 = 0 THEN id ELSE 0 END AS a, 3 AS b FROM generate_series(1, 500) id;
CREATE TABLE twenty AS SELECT id, array_agg(next_random() + id % 2) AS x FROM generate_series(1, 150) id,
    generate_series(1, 20) GROUP BY id;
CREATE VIEW twenty_columns AS
    SELECT id, x[1] AS c1, x[2] AS c2, x[3] AS c3, x[4] AS c4, x[5] AS c5, x[6] AS c6, x[7] AS c7, x[8] AS c8,
        x[9] AS c9, x[10] AS c10,
           x[11] AS c11, x[12] AS c12, x[13] AS c13, x[14] AS c14, x[15] AS c15, x[16] AS c16, x[17] AS c17,
           x[18] AS c18, x[19] AS c19, x[20] AS c20
    FROM twenty;
-- A constant column between two others, of types and sizes far apart.
CREATE TABLE constant AS SELECT id, (next_random() * 1e9)::bigint AS a, 42::smallint AS b,
    (next_random() / 1e9)::numeric AS c, next_random()::real AS d
    FROM generate_series(1, 400) id;
CREATE TABLE two AS SELECT id, id AS a FROM generate_series(1, 2) id;

CREATE TABLE release (id text, z float8[], spread float8[]);

-- How many rows are below k, how many above 1.001 k though they have noise, how many have no noise, and how many of
-- these do not have k - 1 others equal to them.
CREATE FUNCTION try(source text, columns text[], k float8, model text, local boolean,
                    OUT rows bigint, OUT below bigint, OUT above bigint, OUT bare bigint, OUT bare_alone bigint)
LANGUAGE plpgsql AS $$
DECLARE
    list text := (SELECT string_agg(quote_ident(c), ', ') FROM unnest(columns) c);
BEGIN
    TRUNCATE release;
    INSERT INTO release SELECT * FROM kanon.uncertain(source, 'id', columns, k, model, local, seed => 7);
    EXECUTE format($q$
        WITH judged AS (
            SELECT anonymity, spread, equal, a.anonymity >= $1 AS enough
            FROM kanon.expected_anonymity($2, 'id', $3, 'release', $4) a JOIN release USING (id)
            JOIN (SELECT id::text, count(*) OVER (PARTITION BY %s) AS equal FROM %I) s USING (id))
        SELECT count(*), count(*) FILTER (WHERE NOT enough),
               count(*) FILTER (WHERE anonymity > $1 * 1.001 AND 0 < ANY (spread)),
               count(*) FILTER (WHERE NOT 0 < ANY (spread)),
               count(*) FILTER (WHERE NOT 0 < ANY (spread) AND equal < $1)
        FROM judged $q$, list, source)
    INTO rows, below, above, bare, bare_alone USING k, source, columns, model;
END $$;

CREATE TABLE sets (source text, columns text[], ks float8[]);
INSERT INTO sets VALUES
    ('uniform5', '{a,b,c,d,e}', '{1,1.5,10,200}'),
    ('clustered', '{a,b,c}', '{1.001,2,25,240}'),
    ('duplicated', '{a,b}', '{1,5,40.5,230}'),
    ('line', '{a}', '{2,10,250}'),
    ('spike', '{a,b}', '{2,3.5,200}'),
    ('twenty_columns', ARRAY(SELECT 'c' || i FROM generate_series(1, 20) i), '{2,30,75}'),
    ('constant', '{c,b,a,d}', '{3,50}'),
    ('two', '{a}', '{1,1.25,1.49999}');

SELECT source, model, local, count(*) AS runs, sum(rows) AS rows, sum(below) AS below, sum(above) AS above,
       sum(bare) AS bare, sum(bare_alone) AS bare_alone
FROM sets, unnest(ks) AS k, unnest(ARRAY['gaussian', 'uniform']) AS model, unnest(ARRAY[false, true]) AS local,
     LATERAL try(source, columns, k, model, local)
GROUP BY source, model, local ORDER BY source, model, local;

-- The uniform model goes up to n, and no further; the gaussian one up to half of the rows that differ.
SELECT * FROM try('line', '{a}', 499.9, 'uniform', false);
SELECT * FROM try('uniform5', '{a,b,c,d,e}', 499, 'uniform', true);
SELECT * FROM try('line', '{a}', 250.49, 'gaussian', false);
SELECT * FROM try('line', '{a}', 499.999999, 'uniform', false);
SELECT * FROM try('uniform5', '{a,b,c,d,e}', 250.499999, 'gaussian', true);
SELECT count(*) FROM kanon.uncertain('line', 'id', '{a}', 500, 'uniform');
SELECT count(*) FROM kanon.uncertain('line', 'id', '{a}', 250.5);
SELECT count(*) FROM kanon.uncertain('spike', 'id', '{a,b}', 400);
-- All rows equal: k = n needs no noise.
SELECT DISTINCT z, spread FROM kanon.uncertain('spike', 'id', '{b}', 500);

-- Each row its own k; where it has none, that of the call.
CREATE TABLE own AS SELECT id, a, b, CASE WHEN id % 3 > 0 THEN 1 + next_random() * 60 END AS wish FROM duplicated
    WHERE id <= 300;
SELECT model, count(*), count(*) FILTER (WHERE anonymity < coalesce(wish, 12.5)) AS below,
       count(*) FILTER (WHERE anonymity > coalesce(wish, 12.5) * 1.001 AND 0 < ANY (spread)) AS above
FROM unnest(ARRAY['gaussian', 'uniform']) AS model,
     LATERAL kanon.uncertain('own', 'id', '{a,b}', 12.5, model, k_column => 'wish') AS r
     JOIN own ON own.id = r.id::int,
     LATERAL kanon.expected_anonymity('own', 'id', '{a,b}',
         format('SELECT %L AS id, %L::float8[] AS z, %L::float8[] AS spread', r.id, r.z, r.spread), model) AS e
GROUP BY model ORDER BY model;
-- A column may be both.
SELECT count(*) FROM kanon.uncertain('SELECT id, 2 + a AS a FROM own', 'id', '{a}', 2, k_column => 'a');

-- Rows so close that their difference is the last bit of a double are not equal.
SELECT id, spread[1] > 0 AS noise
FROM kanon.uncertain('VALUES (1, 0.3::float8), (2, 0.1::float8 + 0.2::float8), (3, 0.9), (4, 1)', 'column1',
    '{column2}', 2, 'uniform') ORDER BY id;
-- Minus zero is zero, also to look at.
SELECT DISTINCT z::text, spread::text FROM kanon.uncertain('VALUES (1, ''0''::float8), (2, ''-0''::float8)', 'column1',
    '{column2}', 2);
-- Nor are tiny numbers equal beside huge ones.
SELECT min(anonymity) >= 2 AS enough, max(anonymity) < 2.0021 AS not_more
FROM kanon.expected_anonymity('VALUES (1, 1e-160), (2, 2e-160), (3, 3e-160), (4, 1e140), (5, 2e140)', 'column1',
    '{column2}',
     'SELECT * FROM kanon.uncertain(''VALUES (1, 1e-160), (2, 2e-160), (3, 3e-160), (4, 1e140), (5, 2e140)'', '
         '''column1'', ''{column2}'', 2)', 'gaussian');
