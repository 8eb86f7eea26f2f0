-- Condensation: groups of k, and made-up rows with their mean and covariances.
SET client_min_messages = warning;
SET jit = off;
SELECT setseed(0.625);

-- Groups far apart, of k rows each: every made-up row stays with its group, within what uniform components allow.
CREATE TABLE far AS SELECT id, (id % 20) * 1000 + random() AS a, (id % 20) * -500 + random() * 3 AS b
    FROM generate_series(1, 200) id;
SELECT count(*) AS rows, count(*) FILTER (WHERE round(z[1] / 1000) = f.id % 20) AS in_their_group,
       count(*) FILTER (WHERE z = ARRAY[a, b]) AS as_they_were
FROM kanon.condense('far', 'id', '{a,b}', 10) r JOIN far f ON f.id = r.id::int;
-- In one column the reach is exactly known: the mean, and sqrt(3) standard deviations on either side.
SELECT count(*) AS rows, count(*) FILTER (WHERE abs(z[1] - mean) > sqrt(3) * deviation + 1e-9) AS outside,
       max(abs(z[1] - mean) / deviation) > 1.7 AS reached
FROM kanon.condense('SELECT id, a FROM far', 'id', '{a}', 10, 4) r JOIN far f ON f.id = r.id::int
JOIN (SELECT id % 20 AS g, avg(a) AS mean, stddev_pop(a) AS deviation FROM far GROUP BY 1) s ON s.g = f.id % 20;

-- One group of all: mean, deviations and correlation are kept, here of a narrow slanted cloud.
CREATE TABLE slanted AS SELECT id, x AS a, 10 * x + y AS b,
    5 AS c FROM (SELECT id, random() AS x, random() AS y FROM generate_series(1, 3000) id) r;
WITH z AS (SELECT z[1] AS a, z[2] AS b, z[3] AS c FROM kanon.condense('slanted', 'id', '{a,b,c}', 3000, 11))
SELECT abs(z.ma - s.ma) < 0.03 AS mean, abs(z.sa / s.sa - 1) < 0.05 AS deviation,
    abs(z.corr - s.corr) < 0.005 AS correlation, constant
FROM (SELECT avg(a) AS ma, stddev(a) AS sa, corr(a, b) AS corr, bool_and(c = 5) AS constant FROM z) z,
     (SELECT avg(a) AS ma, stddev(a) AS sa, corr(a, b) AS corr FROM slanted) s;
-- Groups of one are the rows themselves.
SELECT count(*) FROM kanon.condense('slanted', 'id', '{a,b}', 1) r JOIN slanted s ON s.id = r.id::int
    WHERE z <> ARRAY[a, b];
-- Rows left over join a group; equal rows are no trouble, also more of them than fit into one.
SELECT count(*), count(DISTINCT id) FROM kanon.condense('SELECT id, id % 3 AS a FROM slanted', 'id', '{a}', 7);
SELECT count(*), count(DISTINCT id), min(z[1]),
    max(z[1]) FROM kanon.condense('SELECT id, 1 AS a FROM slanted', 'id', '{a}', 7);
SELECT count(*) FROM kanon.condense('SELECT * FROM slanted WHERE id < 12', 'id', '{a,b}', 11);
