-- Estimated counts against formulas 19 and 21, integrated step by step.
\set dir `echo "$PG_ABS_SRCDIR"`
\set random :dir '/data/random.sql'
\i :random
SET client_min_messages = warning;
SET jit = off;
SELECT seed_random(125);

-- The share of one value between lo and hi: the density summed over many small steps, or the length of the common part.
CREATE FUNCTION share(model text, z float8, s float8, lo float8, hi float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN s = 0 THEN (z BETWEEN lo AND hi)::int
        WHEN model = 'uniform' THEN greatest(least(hi, z + s / 2) - greatest(lo, z - s / 2), 0) / s
        WHEN least(hi, z + 9 * s) <= greatest(lo, z - 9 * s) THEN 0
        ELSE (SELECT sum(exp(-(((a + (i - 0.5) * step - z) / s) ^ 2) / 2)) * min(step) / s / sqrt(2 * pi())
              FROM generate_series(1, 500) i,
                  (SELECT greatest(lo, z - 9 * s), (least(hi, z + 9 * s) - greatest(lo, z - 9 * s)) / 500) r(a, step))
    END
$$;

CREATE TABLE release AS
    SELECT ARRAY[next_random(), 10 * next_random()] AS z,
           CASE i % 5 WHEN 0 THEN '{0,0}' WHEN 1 THEN ARRAY[next_random(), 0]
               ELSE ARRAY[next_random() / 2, next_random()] END AS spread
    FROM generate_series(1, 25) i;
CREATE TABLE queries AS
    SELECT i, ARRAY[least(a, b), least(c, d)] AS lo, ARRAY[greatest(a, b), greatest(c, d)] AS hi
    FROM generate_series(1, 15) i, LATERAL (SELECT next_random() * 1.4 - 0.2 + 0 * i AS a,
        next_random() * 1.4 - 0.2 AS b, next_random() * 12 - 1 AS c, next_random() * 12 - 1 AS d) r;

SELECT model, count(*) AS queries,
       count(*) FILTER (WHERE NOT abs(estimate - oracle) < 1e-4 * (0.1 + oracle)) AS wrong,
       count(*) FILTER (WHERE NOT abs(tight - tight_oracle) < 1e-4 * (0.1 + tight_oracle)) AS wrong_in_domain
FROM unnest(ARRAY['gaussian', 'uniform']) AS model, queries,
     LATERAL (SELECT kanon.uncertain_count('release', model, lo, hi) AS estimate,
                     kanon.uncertain_count('release', model, lo, hi, '{0,0}', '{1,10}') AS tight) AS e,
     LATERAL (SELECT sum(share(model, z[1], spread[1], lo[1], hi[1]) * share(model, z[2], spread[2], lo[2],
         hi[2])) AS oracle,
                     sum(share(model, z[1], spread[1], greatest(lo[1], 0), least(hi[1], 1)) / share(model, z[1],
                         spread[1], 0, 1)
                       * share(model, z[2], spread[2], greatest(lo[2], 0), least(hi[2], 10)) / share(model, z[2],
                           spread[2], 0, 10)) AS tight_oracle
              FROM release) AS o
GROUP BY model ORDER BY model;

-- Everything is everywhere, and nothing is nowhere.
SELECT model, round(kanon.uncertain_count('release', model, '{-Infinity,-Infinity}', '{Infinity,Infinity}')::numeric,
    9) AS everywhere,
       kanon.uncertain_count('release', model, '{100,0}', '{200,1}') AS nowhere,
       kanon.uncertain_count('SELECT * FROM release WHERE false', model, '{0,0}', '{1,1}') AS none,
       kanon.uncertain_count('release', model, NULL, '{1,1}') AS asked_nothing
FROM unnest(ARRAY['gaussian', 'uniform']) AS model ORDER BY model;
-- In its domain every row counts 1, wherever its z may be: also where next to nothing of it is inside.
SELECT model, round(kanon.uncertain_count('SELECT ''{1000}''::float8[] AS z, ''{0.01}''::float8[] AS spread', model,
    '{0}', '{1}', '{0}', '{1}')::numeric, 9) AS far,
       kanon.uncertain_count('SELECT ''{1000}''::float8[] AS z, ''{0.01}''::float8[] AS spread', model, '{0}', '{0.9}',
           '{0}', '{1}') AS not_at_the_edge,
       round(kanon.uncertain_count('release', model, '{0,0}', '{1,10}', '{0,0}', '{1,10}')::numeric, 9) AS everywhere,
       kanon.uncertain_count('release', model, '{2,0}', '{3,10}', '{0,0}', '{1,10}') AS outside
FROM unnest(ARRAY['gaussian', 'uniform']) AS model ORDER BY model;
-- Small shares far out keep their digits.
SELECT kanon.uncertain_count('SELECT ''{0}''::float8[] AS z, ''{1}''::float8[] AS spread', 'gaussian', '{10}',
    '{11}') BETWEEN 7.6e-24 AND 7.7e-24 AS above,
       kanon.uncertain_count('SELECT ''{0}''::float8[] AS z, ''{1}''::float8[] AS spread', 'gaussian', '{-11}',
           '{-10}') BETWEEN 7.6e-24 AND 7.7e-24 AS below;

-- Classification: the q rows that fit best vote, each with its density.
CREATE TABLE labeled (z float8[], spread float8[], label text);
INSERT INTO labeled VALUES ('{0}', '{1}', 'near'), ('{3}', '{1}', 'far'), ('{3}', '{1}', 'far'), ('{3}', '{1}', 'far'),
    ('{0.1}', '{100}', 'vague');
SELECT x, q, kanon.uncertain_classify('labeled', 'gaussian', ARRAY[x], q)
FROM unnest('{0,1.4,1.6,9}'::float8[]) AS x, unnest('{1,3,10}'::int[]) AS q ORDER BY x, q;
-- Cubes fit or do not; a wide one fits with less weight.
SELECT x, kanon.uncertain_classify('labeled', 'uniform', ARRAY[x]) FROM unnest('{0,1,3,40}'::float8[]) AS x ORDER BY x;
-- Where nothing fits, the nearest rows vote, one each: so does a release without spread, which is nearest-neighbour
-- classification.
SELECT x, q, kanon.uncertain_classify('labeled', 'uniform', ARRAY[x], q) AS nothing_fits,
       kanon.uncertain_classify('SELECT z, ''{0}''::float8[] AS spread, label FROM labeled', 'gaussian', ARRAY[x],
           q) AS no_spread
FROM unnest('{-60,1,70}'::float8[]) AS x, unnest('{1,3}'::int[]) AS q ORDER BY x, q;
SELECT kanon.uncertain_classify('SELECT * FROM labeled WHERE false', 'gaussian', '{1}') IS NULL AS nobody_votes;
-- More votes than rows: all vote.
SELECT kanon.uncertain_classify('labeled', 'gaussian', '{1.6}', 2147483647) AS all_vote;

-- Against the definition, on random releases.
CREATE TABLE random_labeled AS
    SELECT i, ARRAY[next_random(), next_random()] AS z,
        ARRAY[0.05 + next_random() / 3, 0.05 + next_random() / 3] AS spread, chr(97 + (next_random() * 2)::int) AS label
    FROM generate_series(1, 60) i;
SELECT model, count(*) AS points,
       count(*) FILTER (WHERE kanon.uncertain_classify('random_labeled', model, p, 5) IS DISTINCT FROM oracle) AS wrong
FROM unnest(ARRAY['gaussian', 'uniform']) AS model,
     (SELECT i, ARRAY[next_random(), next_random()] AS p FROM generate_series(1, 100) i) AS points,
     LATERAL (SELECT label FROM (SELECT label, kanon.fit(z, spread, model, p) AS f FROM random_labeled
         ORDER BY f DESC LIMIT 5) best
              WHERE f > '-infinity' GROUP BY label ORDER BY sum(exp(f)) DESC LIMIT 1) AS o(oracle)
GROUP BY model ORDER BY model;
