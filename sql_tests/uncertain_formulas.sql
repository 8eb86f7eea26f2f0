-- The expected anonymity, the fit, and the link attack against the formulas written out in SQL, pair by pair.
SET client_min_messages = warning;
SET jit = off;
SELECT setseed(0.25);

-- The upper tail of the normal distribution: a series near 0, a continued fraction beyond.
CREATE FUNCTION upper_tail(t float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    density float8 := exp(-(least(t, 37) ^ 2) / 2) / sqrt(2 * pi());
    term float8 := t;
    sum float8 := t;
    fraction float8 := t;
BEGIN
    IF t > 37 THEN
        RETURN 0;
    ELSIF t > 3 THEN
        FOR i IN REVERSE 60..1 LOOP
            fraction := t + i / fraction;
        END LOOP;
        RETURN density / fraction;
    END IF;
    FOR i IN 1..60 LOOP
        term := term * t * t / (2 * i + 1);
        EXIT WHEN term < 1e-20 * sum;
        sum := sum + term;
    END LOOP;
    RETURN 0.5 - density * sum;
END $$;

-- Return the share that y adds to the expected anonymity of x: formula 8 or 15, term by term. A column without spread
-- must be equal.
CREATE FUNCTION adds(model text, x float8[], y float8[], spread float8[]) RETURNS float8
    LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    squares float8 := 0;
    product float8 := 1;
BEGIN
    IF x = y THEN
        RETURN 1;
    END IF;
    FOR i IN 1..3 LOOP
        CONTINUE WHEN x[i] = y[i];
        IF spread[i] = 0 THEN
            RETURN 0;
        END IF;
        squares := squares + ((x[i] - y[i]) / spread[i]) ^ 2;
        product := product * greatest(1 - abs(x[i] - y[i]) / spread[i], 0);
    END LOOP;
    RETURN CASE model WHEN 'gaussian' THEN upper_tail(sqrt(squares) / 2) ELSE product END;
END $$;

-- The same for the log-likelihood.
CREATE FUNCTION fits(model text, z float8[], x float8[], spread float8[]) RETURNS float8
    LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    density float8 := 0;
BEGIN
    FOR i IN 1..3 LOOP
        CONTINUE WHEN spread[i] = 0 AND z[i] = x[i];
        IF spread[i] = 0 OR (model = 'uniform' AND abs(z[i] - x[i]) > spread[i] / 2) THEN
            RETURN '-infinity';
        END IF;
        density := density - ln(spread[i]) - CASE model
            WHEN 'gaussian' THEN ln(2 * pi()) / 2 + ((z[i] - x[i]) / spread[i]) ^ 2 / 2 ELSE 0 END;
    END LOOP;
    RETURN density;
END $$;

CREATE TABLE data (id int PRIMARY KEY, x float8[]);
CREATE VIEW points AS SELECT id, x[1] AS a, x[2] AS b, x[3] AS c FROM data;
CREATE TABLE release (id text, z float8[], spread float8[]);
CREATE TABLE tried (what text, model text, rows bigint, wrong bigint);

-- Small data sets of all kinds: continuous, on a grid with many equal rows, clustered, with a constant column.
DO $$
DECLARE
    kind int;
    m text;
BEGIN
    FOR round IN 1..12 LOOP
        kind := round % 4;
        TRUNCATE data, release;
        INSERT INTO data
            SELECT i, CASE kind
                WHEN 0 THEN ARRAY[random(), random() * 1000, random() ^ 3]
                WHEN 1 THEN ARRAY[floor(random() * 3), floor(random() * 2) / 10, 5]
                WHEN 2 THEN ARRAY[i % 4 + random() / 100, i % 3 - random() / 50, random()]
                ELSE ARRAY[random(), 7, 1e6 + floor(random() * 4)] END
            FROM generate_series(1, 35) i;
        FOREACH m IN ARRAY ARRAY['gaussian', 'uniform'] LOOP
            -- Any spreads will do here, some of them 0.
            DELETE FROM release;
            INSERT INTO release
                SELECT id, ARRAY[x[1] + s[1] * (random() - 0.5), x[2] + s[2] * (random() - 0.5),
                    x[3] + s[3] * (random() - 0.5)], s
                FROM data, LATERAL (SELECT CASE WHEN id % 7 = 0 THEN '{0,0,0}'
                                                WHEN id % 7 = 1 THEN ARRAY[random(), 0, random()]
                                                ELSE ARRAY[random() * 2, random() * 100,
                                                    random() * 2] END AS s) AS spreads;
            INSERT INTO tried
                SELECT 'expected_anonymity', m, count(*),
                       count(*) FILTER (WHERE anonymity IS NULL OR abs(anonymity - oracle) > 1e-10 * oracle)
                FROM (SELECT r.id, sum(adds(m, x.x, y.x, r.spread)) AS oracle
                      FROM release r JOIN data x ON x.id = r.id::int, data y GROUP BY r.id) AS o
                LEFT JOIN kanon.expected_anonymity('points', 'id', '{a,b,c}', 'release', m) USING (id);
            INSERT INTO tried
                SELECT 'fit', m, count(*),
                       count(*) FILTER (WHERE f <> o AND NOT abs(f - o) <= 1e-10 * (1 + abs(o)))
                FROM (SELECT kanon.fit(r.z, r.spread, m, y.x) AS f, fits(m, r.z, y.x, r.spread) AS o FROM release r,
                    data y) AS both_ways;
            INSERT INTO tried
                SELECT 'link_attack', m, count(*),
                       count(*) FILTER (WHERE a.rank IS DISTINCT FROM o.rank
                           OR NOT abs(a.posterior - o.posterior) < 1e-10)
                FROM (SELECT r.id, count(*) FILTER (WHERE f.f >= t.f) AS rank,
                             CASE WHEN t.f = '-infinity' THEN 0
                                 ELSE 1 / sum(CASE WHEN f.f - t.f > -600 THEN exp(f.f - t.f)
                                 ELSE 0 END) END AS posterior
                      FROM release r JOIN data x ON x.id = r.id::int, data y,
                           LATERAL (SELECT kanon.fit(r.z, r.spread, m, y.x)) AS f(f),
                           LATERAL (SELECT kanon.fit(r.z, r.spread, m, x.x)) AS t(f)
                      GROUP BY r.id, t.f) AS o
                LEFT JOIN kanon.link_attack('release', 'points', '{a,b,c}', m) AS a USING (id);
        END LOOP;
    END LOOP;
END $$;
SELECT what, model, sum(rows) AS rows, sum(wrong) AS wrong FROM tried GROUP BY what, model ORDER BY what, model;

-- Among thousands of rows most are never looked at one by one: far clusters are bounded as a whole. The sum over all
-- pairs agrees, and so do the spreads found for k.
CREATE TABLE many AS
    SELECT id, ARRAY[CASE id % 5 WHEN 0 THEN 40 * random() ELSE (id % 5) * 10 + random() * 10.0 ^ -(id % 5) END,
                     id % 3 + random(), CASE WHEN id % 7 = 0 THEN -100 * random() ELSE random() END] AS x
    FROM generate_series(1, 2500) id;
CREATE VIEW many_points AS SELECT id, x[1] AS a, x[2] AS b, x[3] AS c FROM many;
CREATE TABLE many_release AS
    SELECT model, local, r.* FROM unnest(ARRAY['gaussian', 'uniform']) AS model, unnest(ARRAY[false, true]) AS local,
         LATERAL kanon.uncertain('many_points', 'id', '{a,b,c}', 20, model, local) AS r WHERE r.id::int % 625 IN (0, 7);
SELECT model, local, count(*), count(*) FILTER (WHERE NOT abs(anonymity - oracle) < 1e-10 * oracle) AS wrong,
       count(*) FILTER (WHERE NOT oracle >= 20) AS below, count(*) FILTER (WHERE NOT oracle <= 20.02) AS above
FROM (SELECT model, local, r.id, sum(adds(model, x.x, y.x, r.spread)) AS oracle
      FROM many_release r JOIN many x ON x.id = r.id::int, many y GROUP BY model, local, r.id) AS o
JOIN (SELECT m.model, m.local, e.* FROM (SELECT DISTINCT model, local FROM many_release) AS m,
      LATERAL kanon.expected_anonymity('many_points', 'id', '{a,b,c}',
          format('SELECT * FROM many_release WHERE model = %L AND local = %L', m.model, m.local), m.model) AS e) AS e
              USING (model, local, id)
GROUP BY model, local ORDER BY model, local;

-- Many equal rows are counted, not looked at: piles of 100 and some rows in between.
CREATE TABLE piles AS
    SELECT id, CASE WHEN id > 600 THEN ARRAY[random() * 5, random() * 2, 7] ELSE ARRAY[id % 6, id % 2, 7] END AS x
        FROM generate_series(1, 650) id;
CREATE VIEW piles_points AS SELECT id, x[1] AS a, x[2] AS b, x[3] AS c FROM piles;
CREATE TABLE piles_release AS
    SELECT model, r.* FROM unnest(ARRAY['gaussian', 'uniform']) AS model,
         LATERAL kanon.uncertain('piles_points', 'id', '{a,b,c}', 150, model) AS r WHERE r.id::int % 50 < 2;
SELECT model, count(*), count(*) FILTER (WHERE NOT abs(anonymity - oracle) < 1e-10 * oracle) AS wrong,
       count(*) FILTER (WHERE NOT oracle BETWEEN 150 AND 150.15) AS off_k,
       count(*) FILTER (WHERE a.rank <> o.rank) AS wrong_rank,
       count(*) FILTER (WHERE NOT abs(posterior * weight - 1) < 1e-10) AS wrong_posterior
FROM (SELECT model, r.id, sum(adds(model, x.x, y.x, r.spread)) AS oracle, count(*) FILTER (WHERE f.y >= f.x) AS rank,
    sum(exp(greatest(f.y - f.x, -700))) AS weight
      FROM piles_release r JOIN piles x ON x.id = r.id::int, piles y,
           LATERAL (SELECT fits(model, r.z, x.x, r.spread) AS x, fits(model, r.z, y.x, r.spread) AS y) AS f
               GROUP BY model, r.id) AS o
JOIN (SELECT m.model, e.*, l.rank, l.posterior FROM unnest(ARRAY['gaussian', 'uniform']) AS m(model),
      LATERAL kanon.expected_anonymity('piles_points', 'id', '{a,b,c}',
          format('SELECT * FROM piles_release WHERE model = %L', m.model), m.model) AS e
      JOIN LATERAL kanon.link_attack(format('SELECT * FROM piles_release WHERE model = %L', m.model), 'piles_points',
          '{a,b,c}', m.model) AS l USING (id)) AS a USING (model, id)
GROUP BY model ORDER BY model;

-- A release may have fewer rows than the source, and a public table fewer people than the release.
SELECT count(*) FROM kanon.expected_anonymity('points', 'id', '{a,b,c}', 'SELECT * FROM release WHERE id::int <= 10',
    'gaussian');
SELECT count(*), count(rank), count(posterior)
FROM kanon.link_attack('release', 'SELECT * FROM points WHERE id <= 30', '{a,b,c}', 'gaussian');
SELECT count(*), count(rank) FROM kanon.link_attack('release', 'SELECT * FROM points WHERE false', '{a,b,c}',
    'uniform');

-- By hand: two rows at distance 2 with spread 1, and the same for cubes of side 4.
SELECT id, round(anonymity::numeric, 6) AS anonymity
FROM kanon.expected_anonymity('VALUES (1, 0), (2, 2)', 'column1', '{column2}',
                              'SELECT ''1'' AS id, ''{0.5}''::float8[] AS z, ''{1}''::float8[] AS spread', 'gaussian');
SELECT id, anonymity
FROM kanon.expected_anonymity('VALUES (1, 0), (2, 2)', 'column1', '{column2}',
                              'SELECT ''1'' AS id, ''{0.5}''::float8[] AS z, ''{4}''::float8[] AS spread', 'uniform');
