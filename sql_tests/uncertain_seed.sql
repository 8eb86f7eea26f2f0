-- The same seed, the same release; without a seed, never the same twice.
SET client_min_messages = warning;
SET jit = off;
SELECT setseed(0.75);
CREATE TABLE people AS SELECT id, random() AS a, random() * 100 AS b, floor(random() * 50) AS c
    FROM generate_series(1, 1100) id;
-- The same rows in another order, and columns in another order.
CREATE TABLE shuffled AS SELECT c, b, a, id FROM people ORDER BY random();

CREATE FUNCTION release(source text, model text, local boolean, seed int) RETURNS text LANGUAGE sql AS
    $$ SELECT md5(string_agg(r::text, ',' ORDER BY id)) FROM kanon.uncertain(source, 'id', '{a,b,c}', 8, model, local,
        seed => seed) r $$;
SELECT model, local,
       release('people', model, local, 1) = release('people', model, local, 1) AS same_seed,
       release('people', model, local, 1) = release('shuffled', model, local, 1) AS same_rows,
       release('people', model, local, 1) = release('people', model, local, 2) AS other_seed,
       release('people', model, local, 1) = release('people', model, local, -1) AS negative_seed,
       release('people', model, local, 0) = release('people', model, local, 0) AS no_seed,
       release('people', model, local, NULL) = release('people', model, local, NULL) AS null_seed
FROM unnest(ARRAY['gaussian', 'uniform']) model, unnest(ARRAY[false, true]) local ORDER BY 1, 2;

-- The spread has nothing to do with the seed.
SELECT count(*), count(*) FILTER (WHERE a.spread = b.spread) AS same_spread, count(*) FILTER (WHERE a.z = b.z) AS same_z
FROM kanon.uncertain('people', 'id', '{a,b,c}', 8) a JOIN kanon.uncertain('shuffled', 'id', '{a,b,c}', 8) b USING (id);

-- Workers or not: the same.
CREATE TABLE with_workers AS SELECT * FROM kanon.uncertain('people', 'id', '{a,b,c}', 8, seed => 1);
SET max_parallel_workers_per_gather = 0;
SELECT count(*) FROM (TABLE with_workers EXCEPT SELECT *
    FROM kanon.uncertain('people', 'id', '{a,b,c}', 8, seed => 1)) d;
RESET max_parallel_workers_per_gather;

-- Columns come in the order asked for.
SELECT count(*) FROM with_workers a JOIN kanon.uncertain('people', 'id', '{c,a,b}', 8) b USING (id)
WHERE abs(a.spread[1] / b.spread[2] - 1) + abs(a.spread[2] / b.spread[3] - 1) + abs(a.spread[3] / b.spread[1] - 1) >
    0.001;

-- The noise has the size of the spread: mean 0 and variance 1 in its units, over all rows and columns.
SELECT model, abs(avg(e)) < 4 * sqrt(v / count(*)) AS mean, abs(variance(e) / v - 1) < 0.08 AS variance,
       CASE model WHEN 'uniform' THEN max(abs(e)) <= 0.5 AND max(abs(e)) > 0.49
           ELSE max(abs(e)) BETWEEN 3 AND 6 END AS reach
FROM (VALUES ('gaussian', 1.0), ('uniform', 1.0 / 12)) AS m(model, v),
     LATERAL kanon.uncertain('people', 'id', '{a,b,c}', 8, model, seed => 5) r JOIN people p ON p.id = r.id::int,
     LATERAL unnest(ARRAY[r.z[1] - a, r.z[2] - b, r.z[3] - c], spread) AS n(noise, s),
         LATERAL (SELECT noise / s) AS x(e)
GROUP BY model, v ORDER BY model;

-- Its last bits are cut off: z is a multiple of a power of two that is about a millionth of the spread.
SELECT count(*) AS values, count(*) FILTER (WHERE u.z / g <> round(u.z / g)) AS finer
FROM kanon.uncertain('people', 'id', '{a,b,c}', 8) r, unnest(r.z, r.spread) AS u(z, s),
     LATERAL (SELECT 2 ^ (floor(log(2, s::numeric)) - 20)::float8) AS p(g);

-- The same for condensation.
CREATE FUNCTION condensed(source text, seed int) RETURNS text LANGUAGE sql AS
    $$ SELECT md5(string_agg(r::text, ',' ORDER BY id)) FROM kanon.condense(source, 'id', '{a,b,c}', 8, seed) r $$;
SELECT condensed('people', 1) = condensed('shuffled', 1) AS same_seed,
    condensed('people', 1) = condensed('people', 2) AS other_seed,
       condensed('people', 0) = condensed('people', 0) AS no_seed,
       condensed('people', NULL) = condensed('people', NULL) AS null_seed;
