-- An attacker with all people's true values tries to find the person that each published row belongs to.
\set dir `echo "$PG_ABS_SRCDIR"`
\set random :dir '/data/random.sql'
\i :random
SET client_min_messages = warning;
SET jit = off;
SELECT seed_random(375);
CREATE TABLE people AS
    SELECT id, CASE WHEN id % 4 = 0 THEN next_random() * 10 ELSE next_random() + next_random() END AS a,
        next_random() * 50 AS b
    FROM generate_series(1, 400) id;
CREATE TABLE attack (model text, local boolean, seed int, id text, rank bigint, posterior float8);
INSERT INTO attack
    SELECT model, local, seed, l.*
    FROM unnest(ARRAY['gaussian', 'uniform']) AS model, unnest(ARRAY[false, true]) AS local,
        generate_series(1, 6) AS seed,
         LATERAL kanon.link_attack(format('SELECT * FROM kanon.uncertain(''people'', ''id'', ''{a,b}'', 10, %L, %L, '
             'seed => %s)', model, local, seed),
                                   'people', '{a,b}', model) AS l;

-- On average 10 people fit at least as well as the true one, within four standard errors.
SELECT model, local, count(*) AS attacks, abs(avg(rank) - 10) < 4 * stddev(rank) / sqrt(count(*)) AS rank_is_k,
       min(rank) >= 1 AS counts_itself, min(posterior) > 0 AND max(posterior) <= 1 AS is_probability
FROM attack GROUP BY model, local ORDER BY model, local;

-- The definition's prediction for the share of rows whose owner is among the nine best fits: the same noise from
-- another generator, all pairs compared.
CREATE TABLE spreads AS
    SELECT model, local, r.id::int, spread FROM unnest(ARRAY['gaussian', 'uniform']) AS model,
        unnest(ARRAY[false, true]) AS local,
         LATERAL kanon.uncertain('people', 'id', '{a,b}', 10, model, local) AS r;
CREATE TABLE simulated AS
    SELECT model, local, s.id, round, s.spread,
           a + spread[1] * CASE model WHEN 'uniform' THEN next_random() - 0.5
               ELSE sqrt(-2 * ln(1 - next_random())) * cos(2 * pi() * next_random()) END AS za,
           b + spread[2] * CASE model WHEN 'uniform' THEN next_random() - 0.5
               ELSE sqrt(-2 * ln(1 - next_random())) * cos(2 * pi() * next_random()) END AS zb
    FROM spreads s JOIN people p USING (id), generate_series(1, 3) AS round;
CREATE TABLE predicted AS
    SELECT s.model, s.local, s.id, s.round, count(*) AS rank
    FROM simulated s JOIN people t USING (id) JOIN people o ON CASE s.model
        WHEN 'uniform' THEN abs(o.a - za) <= spread[1] / 2 AND abs(o.b - zb) <= spread[2] / 2
        ELSE ((o.a - za) / spread[1]) ^ 2 + ((o.b - zb) / spread[2]) ^ 2 <= ((t.a - za) / spread[1]) ^ 2 +
            ((t.b - zb) / spread[2]) ^ 2 END
    GROUP BY s.model, s.local, s.id, s.round;
SELECT model, local, abs(found.share - predicted.share) < 4 *
    sqrt(predicted.share * (1 - predicted.share) * (1.0 / found.n + 1.0 / predicted.n)) AS as_predicted,
       round(found.share::numeric, 1) AS share
FROM (SELECT model, local, avg((rank <= 9)::int)::float8 AS share, count(*) AS n FROM attack GROUP BY model,
    local) AS found
JOIN (SELECT model, local, avg((rank <= 9)::int)::float8 AS share, count(*) AS n FROM predicted GROUP BY model,
    local) AS predicted USING (model, local)
ORDER BY model, local;

-- Without noise the attack finds every person, so it is a real attack.
SELECT count(*) AS attacks, count(*) FILTER (WHERE rank = 1 AND posterior = 1) AS found
FROM kanon.link_attack('SELECT * FROM kanon.uncertain(''people'', ''id'', ''{a,b}'', 1)', 'people', '{a,b}',
    'gaussian');

-- A posterior is a probability: of all rows, as many are linked rightly by a guess drawn from it as it says. The best
-- fit
-- is right no more often than the largest posterior allows.
WITH release AS MATERIALIZED (SELECT * FROM kanon.uncertain('people', 'id', '{a,b}', 10, seed => 99)),
     fits AS (SELECT r.id, p.id::text = r.id AS right_one,
         exp(greatest(kanon.fit(z, spread, 'gaussian', ARRAY[a, b]), -600)) AS density FROM release r, people p),
     best AS (SELECT DISTINCT ON (id) id, right_one, density / sum(density) OVER (PARTITION BY id) AS posterior
         FROM fits ORDER BY id, density DESC)
SELECT abs(avg(right_one::int) - avg(posterior)) < 4 * sqrt(avg(posterior) * (1 - avg(posterior)) / count(*)) AS
    calibrated,
       avg(posterior) < 0.35 AS uncertain FROM best;

-- Attacks that the model does not prevent, as the documentation says. An attacker with every row of the source can
-- compute the spreads again, and they are as good as names:
SELECT count(*) AS rows, count(*) FILTER (WHERE same = 1) AS linked_by_spread
FROM (SELECT r.id, count(*) AS same FROM kanon.uncertain('people', 'id', '{a,b}', 10) r
      JOIN kanon.uncertain('people', 'id', '{a,b}', 10) again USING (spread) GROUP BY r.id) AS l;
-- and an attacker who knows the seed can take the noise away.
SELECT count(*) AS rows, count(*) FILTER (WHERE abs(r.z[1] - moved.z[1] - 1000) < 1e-3) AS noise_is_the_same
FROM kanon.uncertain('people', 'id', '{a,b}', 10, seed => 3) r
JOIN kanon.uncertain('SELECT id, a - 1000 AS a, b FROM people', 'id', '{a,b}', 10, seed => 3) moved USING (id);
