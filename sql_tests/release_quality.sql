-- The measures of a release: by hand, and against plain SQL.
SELECT kanon.import_dgh('town', '{"a;A;*","b;A;*","c;A;*","d;B;*","e;B;*"}');
CREATE TABLE people AS SELECT * FROM (VALUES (1, 0, 'a'), (2, 10, 'b'), (3, 20, 'd'), (4, 40, 'd')) AS v (id, x, town);
CREATE FUNCTION boxes() RETURNS TABLE (id int, grp int, box kanon.generalized[]) LANGUAGE sql AS $$
    VALUES (1, 1, ARRAY['[0,10]', kanon.generalize('town', 'a', 1)]),
        (2, 1, ARRAY['[0,10]', kanon.generalize('town', 'b', 1)]),
           (3, 2, ARRAY['[20,40]', kanon.generalize('town', 'd', 0)]),
           (4, 2, ARRAY['[20,40]', kanon.generalize('town', 'd', 0)])
$$;
-- Extents: 10 of 40 and three of five leaves, twice; 20 of 40 and a single leaf, twice.
SELECT * FROM kanon.release_quality('people', 'id', '{"x": null, "town": "town"}', 'SELECT * FROM boxes()');
-- Everything, and nothing.
SELECT * FROM kanon.release_quality('people', 'id', '{"x": null, "town": "town"}', $$SELECT id, 1 AS grp,
    ARRAY['*', '*']::kanon.generalized[] AS box FROM people$$);
SELECT * FROM kanon.release_quality('people', 'id', '{"x": null, "town": "town"}',
    $$SELECT id, id AS grp, ARRAY[x::text, kanon.generalize('town', town, 0)::text]::kanon.generalized[] AS box
        FROM people$$);
-- Rows that are missing count as suppressed; public rows count for the size of groups only.
SELECT * FROM kanon.release_quality('people', 'id', '{"x": null, "town": "town"}',
    'SELECT * FROM boxes() WHERE id > 2');
SELECT * FROM kanon.release_quality('people', 'id', '{"x": null, "town": "town"}', 'SELECT * FROM boxes() WHERE false');
SELECT * FROM kanon.release_quality('people', 'id', '{"x": null, "town": "town"}',
    $$SELECT * FROM boxes() UNION ALL SELECT i, 1, ARRAY['[0,10]', 'A']::kanon.generalized[]
        FROM generate_series(100, 103) AS i$$);
-- Half-open and unbounded intervals, dates, masked codes, words without a hierarchy, nulls.
SELECT kanon.create_prefix_dgh('zip', 4);
CREATE TABLE mixed AS SELECT *
    FROM (VALUES (1, date '2000-01-01', '1010', 'p', NULL::int), (2, '2000-01-11', '1020', 'q', NULL),
    (3, '2000-01-21', '2000', 'r', 5))
    AS v (id, born, zip, hobby, n);
SELECT ncp, round(ncp_normalized::numeric, 6) FROM kanon.release_quality('mixed', 'id', '{"born": null}', $$SELECT id,
    1 AS grp, ARRAY['[2000-01-01,2000-01-11)']::kanon.generalized[] AS box FROM mixed$$);
SELECT ncp, round(ncp_normalized::numeric, 6) FROM kanon.release_quality('mixed', 'id', '{"born": null}', $$SELECT id,
    1 AS grp, ARRAY['[2000-01-01,)']::kanon.generalized[] AS box FROM mixed$$);
SELECT ncp, round(ncp_normalized::numeric, 6) FROM kanon.release_quality('mixed', 'id', '{"zip": "zip"}', $$SELECT id,
    1 AS grp, ARRAY[kanon.generalize('zip', zip, 2)] AS box FROM mixed$$);
SELECT ncp, round(ncp_normalized::numeric, 6) FROM kanon.release_quality('mixed', 'id', '{"hobby": null}', $$SELECT id,
    1 AS grp, ARRAY[CASE WHEN id = 1 THEN 'p' ELSE '*' END]::kanon.generalized[] AS box FROM mixed$$);
SELECT ncp, round(ncp_normalized::numeric, 6) FROM kanon.release_quality('mixed', 'id', '{"n": null}', $$SELECT id,
    1 AS grp, ARRAY[n]::text[]::kanon.generalized[] AS box FROM mixed$$);
-- After a change of the hierarchy a box covers the leaves of today.
CREATE TABLE kept AS SELECT id, 1 AS grp, ARRAY[kanon.generalize('town', town, 1)] AS box FROM people
    WHERE town IN ('a', 'b');
INSERT INTO kanon.dgh_edge VALUES ('town', 'c2', 'A');
SELECT tuples, ncp, ncp_normalized FROM kanon.release_quality($$SELECT * FROM people WHERE town IN ('a', 'b')$$, 'id',
    '{"town": "town"}', 'kept');

-- Against plain SQL, on releases of random rows.
SELECT setseed(0.9);
CREATE TABLE random_rows AS SELECT i AS id, (random() * 1000)::int AS x, random() AS y
    FROM generate_series(1, 500) AS i;
CREATE TABLE released AS SELECT * FROM kanon.mondrian('random_rows', 'id', '{"x": null, "y": null}', 7);
WITH q AS (SELECT * FROM kanon.release_quality('random_rows', 'id', '{"x": null, "y": null}', 'released')),
g AS (SELECT grp, count(*) AS n, max(x) - min(x) AS dx, max(y) - min(y) AS dy FROM released
    JOIN random_rows ON random_rows.id::text = released.id GROUP BY grp),
w AS (SELECT max(x) - min(x) AS wx, max(y) - min(y) AS wy FROM random_rows)
SELECT tuples = 500 AS tuples, groups = (SELECT count(*) FROM g) AS groups,
    min_group = (SELECT min(n) FROM g) AS min_group,
    abs(avg_group - (SELECT avg(n) FROM g)) < 1e-9 AS avg_group,
    abs(ncp - (SELECT sum(n * (dx + dy)) FROM g)) < 1e-6 AS ncp,
    abs(ncp_normalized - (SELECT sum(n * (dx::float8 / wx + dy / wy)) / 1000 FROM g, w)) < 1e-9 AS ncp_normalized,
    dm = (SELECT sum(n * n) FROM g) AS dm
FROM q;

-- Better algorithms lose less, on rows in clusters.
CREATE TABLE clusters AS SELECT i AS id, (i % 20) * 100 + (hashint4(i) % 5) AS x,
    (i % 7) * 100 + (hashint4(i * 3) % 5) AS y,
    substr('abcde', 1 + i % 5, 1) AS town FROM generate_series(1, 3000) AS i;
SELECT (SELECT ncp_normalized FROM kanon.release_quality('clusters', 'id', q, $$SELECT *
    FROM kanon.local_recoding('clusters', 'id', '{"x": null, "y": null, "town": "town"}', 5)$$)) <
       (SELECT ncp_normalized FROM kanon.release_quality('clusters', 'id', q, $$SELECT *
           FROM kanon.mondrian('clusters', 'id', '{"x": null, "y": null, "town": "town"}', 5,
           split => 'gain')$$)) AS local_best,
       (SELECT ncp_normalized FROM kanon.release_quality('clusters', 'id', q, $$SELECT *
           FROM kanon.mondrian('clusters', 'id', '{"x": null, "y": null, "town": "town"}', 5, split => 'gain')$$)) <
       (SELECT ncp_normalized FROM kanon.release_quality('clusters', 'id', q, $$SELECT *
           FROM kanon.mondrian('clusters', 'id', '{"x": null, "y": null, "town": "town"}', 5)$$)) AS gain_second
FROM (VALUES ('{"x": null, "y": null, "town": "town"}'::jsonb)) AS v (q);

-- How far it has come is seen from the source itself.
SELECT count(*), min(box[1]::text)
    FROM kanon.mondrian($$SELECT i AS id,
    (SELECT work || ': ' || phase FROM kanon.progress WHERE pid = pg_backend_pid()) AS p
    FROM generate_series(1, 5) AS i$$, 'id', '{"p": null}', 5);
SELECT count(*) FROM kanon.progress WHERE pid = pg_backend_pid();
