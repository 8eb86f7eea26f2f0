-- Tables large enough for an index of many nodes, a sample of the rows and several rounds of searching.
SET client_min_messages = warning;
SET jit = off;
SELECT setseed(0.75);
SELECT kanon.import_dgh('kinds', ARRAY['a;x;*', 'b;x;*', 'c;y;*', 'd;y;*', 'e;y;*', 'f;*;*']);
-- Numbers, many of them equal and a few next to each other; words, one of them usual.
CREATE TABLE many AS
    SELECT id, (random() ^ 2 * 50)::int AS i, CASE WHEN random() < 0.2 THEN random() * 1e-9 WHEN random() < 0.1 THEN 1
        ELSE random() END AS f,
           CASE WHEN random() < 0.7 THEN 'c' ELSE substr('abcdef', 1 + (random() * 5)::int, 1) END AS t,
           (random() * random() * 40)::int AS s
    FROM generate_series(1, 700) AS id;
ANALYZE many;

-- Outliers by counting every pair.
CREATE TABLE trial AS SELECT p, d FROM unnest(ARRAY[0.5, 0.8, 0.95]) AS p, unnest(ARRAY[0.3, 0.55, 0.85]) AS d;
CREATE TABLE point AS
    SELECT id, (i - min(i) OVER ())::float8 / (max(i) OVER () - min(i) OVER ()) AS x,
        (f - min(f) OVER ()) / (max(f) OVER () - min(f) OVER ()) AS y,
           (ascii(t) - 97) / 5.0::float8 AS z, (s - min(s) OVER ())::float8 / (max(s) OVER () - min(s) OVER ()) AS v
               FROM many;
ANALYZE point;
CREATE TABLE expected AS
    SELECT id, p, d FROM
        (SELECT a.id, d, count(*) FILTER (WHERE distance > d) AS farther
         FROM point a, point b, LATERAL
             (SELECT sqrt((a.x - b.x) ^ 2 + (a.y - b.y) ^ 2 + (a.z - b.z) ^ 2 + (a.v - b.v) ^ 2)) AS g (distance),
              unnest(ARRAY[0.3, 0.55, 0.85]) AS d GROUP BY a.id, d) AS counted, unnest(ARRAY[0.5, 0.8, 0.95]) AS p
                  WHERE farther >= p * 700;
SELECT p, d, count(e.id) BETWEEN 1 AND 699 AS some, count(e.id) = count(*) AND count(o.id) = count(*) AS the_same
FROM expected e FULL JOIN (SELECT o.id::int, p, d FROM trial,
    kanon.outliers('many', 'id', '{"i": null, "f": null, "t": "kinds"}', 's', p, d) AS o) AS o USING (id, p, d)
GROUP BY p, d ORDER BY p, d;

-- Groups of more rows than the sample has: all are plain, and the attack finds nothing; the order of the rows does not
-- matter.
CREATE TABLE more AS SELECT id + 700 * n AS id, i, f, t, s FROM many, generate_series(0, 1) AS n;
CREATE TABLE made AS
    SELECT method, d, r.* FROM unnest(ARRAY['expc', 'gnof', 'gof']) AS method, unnest(ARRAY[0.55]) AS d,
        kanon.plain_k('more', 'id', '{"i": null, "f": null, "t": "kinds"}', 's', 5, 0.9, d, method => method) AS r;
SELECT method, d, count(*) AS rows, count(*) FILTER (WHERE removed IS NULL) > 700 AS many_placed,
       (SELECT bool_and(plain) FROM kanon.is_plain('more', 'id', '{"i": null, "f": null, "t": "kinds"}', 's',
            format('SELECT id, grp FROM made WHERE method = %L AND d = %s', method, d), 5, 0.9, d)) AS all_plain,
       (SELECT count(*) FROM kanon.distinguishability('more', 'id', '{"i": null, "f": null, "t": "kinds"}', 's',
            format('SELECT id, grp FROM made WHERE method = %L AND d = %s', method, d), 0.9, d)) AS given_away
FROM made GROUP BY method, d ORDER BY method, d;
SELECT count(*) AS different FROM
    ((SELECT id, box::text, removed FROM made WHERE method = 'expc' AND d = 0.55) EXCEPT ALL
     (SELECT id, box::text, removed FROM kanon.plain_k('SELECT * FROM more ORDER BY f, id DESC', 'id',
         '{"i": null, "f": null, "t": "kinds"}', 's', 5, 0.9, 0.55))) AS d;
-- A frequent sensitive value does not fill groups that need others: nine of ten people have it, and all are published,
-- in several groups.
SELECT count(*) FILTER (WHERE removed IS NOT NULL) AS removed, count(DISTINCT grp) > 5 AS several FROM kanon.plain_k(
    'SELECT i AS id, i % 50 AS age, CASE WHEN i % 10 > 0 THEN 40 ELSE i * 7919 / 10 % 60 END AS hours '
        'FROM generate_series(1, 3000) AS i', 'id', '{"age": null}', 'hours', 15, 0.8, 0.85);
