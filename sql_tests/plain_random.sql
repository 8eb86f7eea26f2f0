-- Two thousand small random tables with all kinds of columns: the groups that plain_k makes, and groups at random,
-- against
-- is_plain and the attack; and these, on three hundred of the tables, against definitions in SQL, each node counted row
-- by row.
SET client_min_messages = warning;
SET jit = off;
SELECT setseed(0.25);
SELECT kanon.import_dgh('kinds', ARRAY['a;x;*', 'b;x;*', 'c;y;*', 'd;y;*', 'e;y;*', 'f;*;*']);
CREATE TABLE rows AS
    SELECT n AS id, n / 12 AS round, (random() * 7)::int AS i, (random() * 8)::int / 8.0 AS f,
        date '2024-01-01' + (random() ^ 3 * 9)::int AS day,
           substr('pqr', 1 + (random() * 2)::int, 1) AS w, substr('abcdefzz', 1 + (random() * 7)::int, 1) AS t,
           CASE WHEN random() < 0.05 THEN 40 ELSE (random() ^ 2 * 9)::int END AS s, (random() * 3)::int AS g
    FROM generate_series(0, 12 * 2000 - 1) n;
CREATE INDEX ON rows (round);
CREATE TABLE trial AS
    SELECT round, 1 + (random() * 2)::int AS k, 1 + (random() * 4)::int AS q,
        (ARRAY['expc', 'gnof', 'gof'])[1 + round % 3] AS method,
           (ARRAY[0.3, 0.5, 0.6, 0.75, 0.85, 1])[1 + (random() * 5)::int] AS p,
           (ARRAY[0.2, 0.25, 0.5, 0.7, 0.85, 1.25])[1 + (random() * 5)::int] AS d
    FROM generate_series(0, 1999) AS round;
-- The quasi-identifiers of each kind of trial, in the order of the source: numbers, words in order, leaves of the tree.
CREATE TABLE kind (q int, quasi_ids jsonb, t1 text, t2 text, t3 text, t4 text);
INSERT INTO kind VALUES (1, '{"i": null}', 'i', NULL, NULL, NULL), (2, '{"i": null, "f": null}', 'i', 'f', NULL, NULL),
    (3, '{"day": null, "t": "kinds"}', 'day', 't', NULL, NULL),
    (4, '{"w": null, "i": null, "f": null}', 'i', 'f', 'w', NULL),
    (5, '{"f": null, "t": "kinds", "w": null, "day": null}', 'f', 'day', 'w', 't');

CREATE FUNCTION source(round int) RETURNS text LANGUAGE sql AS $$ SELECT format('SELECT * FROM rows WHERE round = %s',
    round) $$;
CREATE TABLE made AS
    SELECT round, r.* FROM trial JOIN kind USING (q), LATERAL kanon.plain_k(source(round), 'id', quasi_ids, 's', k, p,
        d, method => method) AS r;
-- All rows are there; of a group, or removed and why.
SELECT count(*) AS rows, count(DISTINCT made.id) AS ids,
    bool_and((removed IS NULL) = (grp IS NOT NULL AND box IS NOT NULL)) AS grouped_or_removed,
       bool_and(made.sensitive = rows.s::text) AS sensitive_kept FROM made JOIN rows ON rows.id = made.id::int;

CREATE TABLE given AS
    SELECT 'made' AS origin, round, id::int, grp FROM made WHERE grp IS NOT NULL UNION ALL SELECT 'random', round, id,
        g FROM rows;
CREATE INDEX ON given (round, origin);
CREATE FUNCTION groups(origin text, round int) RETURNS text LANGUAGE sql AS
    $$ SELECT format('SELECT id, grp FROM given WHERE origin = %L AND round = %s', origin, round) $$;
CREATE TABLE verdict AS
    SELECT origin, round, v.* FROM trial JOIN kind USING (q), unnest(ARRAY['made', 'random']) AS origin,
        LATERAL kanon.is_plain(source(round), 'id', quasi_ids, 's', groups(origin, round), k, p, d) AS v;
CREATE TABLE attack AS
    SELECT origin, round, a.id::int, grp, presence, association FROM trial JOIN kind USING (q),
        unnest(ARRAY['made', 'random']) AS origin,
        LATERAL kanon.distinguishability(source(round), 'id', quasi_ids, 's', groups(origin, round), p, d) AS a;
CREATE TABLE outlier AS
    SELECT round, o.id::int, kind FROM trial JOIN kind USING (q), LATERAL kanon.outliers(source(round), 'id', quasi_ids,
        's', p, d) AS o;

-- Every group of plain_k is plain, and the attack finds nothing in them; in random ones it does.
SELECT origin, count(DISTINCT round) > 1000 AS many_tables, count(*) > 2000 AS many_groups,
    bool_and(plain) AS all_plain, bool_or(plain) AS some_plain,
       (SELECT count(*) > 0 FROM attack a WHERE a.origin = v.origin) AS attack_finds FROM verdict v GROUP BY origin
           ORDER BY origin;

--
-- The same by definition, on fewer tables. First the points: places of words, then everything between 0 and 1.
--
DELETE FROM trial WHERE round >= 300;
DELETE FROM rows WHERE round >= 300;
DELETE FROM given WHERE round >= 300;
DELETE FROM verdict WHERE round >= 300;
DELETE FROM attack WHERE round >= 300;
DELETE FROM outlier WHERE round >= 300;
CREATE FUNCTION place(r rows, what text) RETURNS float8 LANGUAGE sql STABLE AS $$
    SELECT CASE what WHEN 'i' THEN r.i WHEN 'f' THEN r.f WHEN 'day' THEN r.day - date '2024-01-01'
        WHEN 't' THEN position(r.t IN 'abcdefz') - 1
        WHEN 'w' THEN (SELECT count(DISTINCT o.w) FROM rows o WHERE o.round = r.round AND o.w < r.w) ELSE 0 END $$;
CREATE TABLE raw AS
    SELECT r.round, r.id, place(r, t1) AS x1, place(r, t2) AS x2, place(r, t3) AS x3, place(r, t4) AS x4, s::float8 AS s
    FROM rows r JOIN trial USING (round) JOIN kind USING (q);
CREATE TABLE scale AS
    SELECT r.round, min(x1) AS m1, min(x2) AS m2, min(x3) AS m3, min(x4) AS m4, min(r.s) AS ms, max(x1) - min(x1) AS w1,
        max(x2) - min(x2) AS w2,
           max(x3) - min(x3) AS w3, max(x4) - min(x4) AS w4, max(r.s) - min(r.s) AS ws, count(DISTINCT w) - 1 AS last_w,
           5 + bool_or(t = 'z')::int AS last_t
    FROM raw r JOIN rows USING (id) GROUP BY r.round;
CREATE FUNCTION standard(x float8, low float8, width float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS
    $$ SELECT CASE WHEN width > 0 THEN (x - low) / width ELSE 0 END $$;
CREATE TABLE point AS
    SELECT round, id, standard(x1, m1, w1) AS y1, standard(x2, m2, w2) AS y2, standard(x3, m3, w3) AS y3,
        standard(x4, m4, w4) AS y4, standard(s, ms, ws) AS ys
    FROM raw JOIN scale USING (round);
CREATE INDEX ON point (round);
ANALYZE;
-- A point is an outlier when at least p of all rows are farther than d from it.
CREATE FUNCTION is_outlier(r int, a float8, b float8, c float8, e float8, v float8, p numeric, d float8) RETURNS boolean
    LANGUAGE sql STABLE AS $$
    SELECT count(*) FILTER (WHERE sqrt((y1 - a) ^ 2 + (y2 - b) ^ 2 + (y3 - c) ^ 2 + (y4 - e) ^ 2 + (ys - v) ^ 2) > d) >=
        p * count(*) FROM point WHERE round = r $$;
CREATE TABLE found AS
    SELECT round, id, CASE WHEN is_global THEN 'global' ELSE 'local' END AS kind
    FROM trial JOIN point o USING (round),
        LATERAL (SELECT count(*) FILTER (WHERE abs(y.ys - o.ys) > d) >= p * count(*) FROM point y
            WHERE y.round = o.round) AS g (is_global)
    WHERE is_outlier(round, y1, y2, y3, y4, ys, p, d);
SELECT kind, count(*) > 200 AS many, count(outlier.id) = count(*) AND count(found.id) = count(*) AS the_same
FROM outlier FULL JOIN found USING (round, id, kind) GROUP BY kind ORDER BY kind;

-- Return the published value for values from lo to hi: of words one or all, of a tree the lowest node.
CREATE FUNCTION published(what text, lo float8, hi float8, last_w float8, last_t float8) RETURNS float8[]
    LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN lo = hi OR what IS NULL OR what NOT IN ('w', 't') THEN ARRAY[lo, hi]
        WHEN what = 'w' THEN ARRAY[0, last_w]
        WHEN hi <= 1 THEN '{0,1}' WHEN lo >= 2 AND hi <= 4 THEN '{2,4}' ELSE ARRAY[0, last_t] END $$;
CREATE TABLE box AS
    SELECT origin, round, grp, published(t1, min(x1), max(x1), last_w, last_t) AS b1,
        published(t2, min(x2), max(x2), last_w, last_t) AS b2,
           published(t3, min(x3), max(x3), last_w, last_t) AS b3, published(t4, min(x4), max(x4), last_w, last_t) AS b4,
           array_agg(DISTINCT s) AS values
    FROM given JOIN raw USING (round, id) JOIN scale USING (round) JOIN trial USING (round) JOIN kind USING (q)
    GROUP BY origin, round, grp, t1, t2, t3, t4, last_w, last_t;
CREATE TABLE node AS
    SELECT origin, round, grp, c1, c2, c3, c4, v,
           is_outlier(round, standard(c1, m1, w1), standard(c2, m2, w2), standard(c3, m3, w3), standard(c4, m4, w4),
               standard(v, ms, ws), p, d) AS bad
    FROM (SELECT DISTINCT origin, round, grp, c1, c2, c3, c4, v
          FROM box, unnest(b1) c1, unnest(b2) c2, unnest(b3) c3, unnest(b4) c4, unnest(values) v) AS n JOIN scale
              USING (round) JOIN trial USING (round);
CREATE TABLE bad_cube AS SELECT origin, round, grp, v FROM node GROUP BY origin, round, grp, v HAVING bool_and(bad);
CREATE TABLE bad_corner AS SELECT origin, round, grp, c1, c2, c3, c4 FROM node GROUP BY origin, round, grp, c1, c2, c3,
    c4 HAVING bool_and(bad);
SELECT origin, expected, count(*) > 50 AS many, bool_and(expected IS NOT DISTINCT FROM reason) AS the_same
FROM (SELECT origin, round, grp, CASE WHEN cardinality(values) < k THEN '(1)'
             WHEN EXISTS (SELECT FROM bad_cube c
                 WHERE (c.origin, c.round, c.grp) = (b.origin, b.round, b.grp)) THEN '(2)'
             WHEN EXISTS (SELECT FROM bad_corner c
                 WHERE (c.origin, c.round, c.grp) = (b.origin, b.round, b.grp)) THEN '(3)' END AS expected
      FROM box b JOIN trial USING (round)) AS e
FULL JOIN (SELECT origin, round, grp, left(reason, 3) AS reason FROM verdict) AS v USING (origin, round, grp)
GROUP BY origin, expected ORDER BY origin, expected;

-- The attack: an outlier whose values are ends of the box, where all nodes with a sensitive value are bad, or all of
-- that corner.
WITH matching AS (SELECT origin, b.round, grp, r.id, x1, x2, x3, x4, values,
    count(*) OVER (PARTITION BY origin, b.round, grp) AS h,
            x1 = ANY (b1) AND x2 = ANY (b2) AND x3 = ANY (b3) AND x4 = ANY (b4) AS at_corner
        FROM box b JOIN raw r USING (round) JOIN found USING (round, id)
        WHERE x1 BETWEEN b1[1] AND b1[2] AND x2 BETWEEN b2[1] AND b2[2] AND x3 BETWEEN b3[1] AND b3[2]
            AND x4 BETWEEN b4[1] AND b4[2]),
     expected AS (SELECT origin, round, grp, m.id, 1.0 / h AS presence,
            coalesce(1.0 / nullif((SELECT count(*) FROM unnest(values) v
                WHERE is_outlier(round, y1, y2, y3, y4, standard(v, ms, ws), p, d)), 0), 0) AS association
        FROM matching m JOIN point USING (round, id) JOIN trial USING (round) JOIN scale USING (round)
        WHERE at_corner AND (EXISTS (SELECT FROM bad_cube c
            WHERE (c.origin, c.round, c.grp) = (m.origin, m.round, m.grp))
            OR EXISTS (SELECT FROM bad_corner c WHERE (c.origin, c.round, c.grp, c1, c2, c3, c4) = (m.origin, m.round,
                m.grp, x1, x2, x3, x4))))
SELECT origin, count(*) > 100 AS many,
    bool_and(abs(e.presence - a.presence) < 1e-12 AND abs(e.association - a.association) < 1e-12) AS the_same,
       count(e.presence) = count(*) AND count(a.presence) = count(*) AS none_missing
FROM expected e FULL JOIN attack a USING (origin, round, grp, id) GROUP BY origin ORDER BY origin;
