-- k-join-anonymity: small tables by hand, randomly made ones by plain SQL.
SET client_min_messages = warning;

-- Two patients in a register of six: alone they share a wide box, with the register each keeps a narrow one.
CREATE TABLE patients AS SELECT * FROM (VALUES (1, 10), (6, 60)) AS v (id, x);
CREATE TABLE register AS SELECT i AS id, x FROM unnest('{10,11,12,58,59,60}'::int[]) WITH ORDINALITY AS u (x, i);
SELECT DISTINCT box FROM kanon.mondrian('patients', 'id', '{"x": null}', 2);
SELECT * FROM kanon.kja('patients', 'register', 'id', '{"x": null}', 2) ORDER BY grp, id;
SELECT * FROM kanon.kja('patients', 'register', 'id', '{"x": null}', 3) ORDER BY grp, id;

-- A person with the same identifier in both is one person, with the values of the microdata.
SELECT * FROM kanon.kja('SELECT 1 AS id, 99 AS x', 'register', 'id', '{"x": null}', 2) ORDER BY grp, id;

-- A register of the patients alone changes nothing.
SELECT count(*) FROM
    (SELECT id, box::text FROM kanon.kja('SELECT i AS id, i * i AS x FROM generate_series(1, 50) AS i',
        'SELECT i AS id, i * i AS x FROM generate_series(1, 50) AS i', 'id', '{"x": null}', 4) WHERE in_source
     EXCEPT SELECT id, box::text FROM kanon.mondrian('SELECT i AS id, i * i AS x FROM generate_series(1, 50) AS i',
         'id', '{"x": null}', 4)) AS s;

-- Public rows that k does not need, and that only make the box larger, are dropped: the one whose going saves most.
CREATE TABLE alone AS SELECT 1 AS id, 10 AS x, 10 AS y;
CREATE TABLE around AS SELECT * FROM (VALUES (2, 11, 10), (3, 50, 10), (4, 10, 90)) AS v (id, x, y);
SELECT id, in_source, box FROM kanon.kja('alone', 'around', 'id', '{"x": null, "y": null}', 3) ORDER BY id;
-- A null makes everything of a box.
SELECT id, in_source, box FROM kanon.kja('alone', 'SELECT 2 AS id, 11 AS x, NULL::int AS y UNION ALL SELECT 3, 12, 10',
    'id', '{"x": null, "y": null}', 2) ORDER BY id;
-- On words by nodes: they go only where that brings a lower node.
SELECT kanon.import_dgh('town', '{"a;A;*","b;A;*","c;A;*","d;B;*","e;B;*","f;C;*"}');
CREATE TABLE towns AS SELECT * FROM (VALUES (2, 'b'), (3, 'd'), (4, 'e'), (5, NULL)) AS v (id, x);
SELECT id, in_source, box FROM kanon.kja($$SELECT 1 AS id, 'a' AS x$$, 'towns', 'id', '{"x": "town"}', 4) ORDER BY id;
SELECT id, in_source, box FROM kanon.kja($$SELECT 1 AS id, 'a' AS x$$, 'towns', 'id', '{"x": "town"}', 2) ORDER BY id;

-- Random tables.
CREATE TABLE found (id text, in_source bool, grp int, sg int, box kanon.generalized[]);
CREATE TABLE again (LIKE found);
CREATE TABLE tally (what text, tried int, wrong bigint);
CREATE FUNCTION note(what text, wrong bigint) RETURNS void LANGUAGE sql AS
    'INSERT INTO tally VALUES (what, 1, wrong)';

-- Faces of boxes that could still be moved inwards by dropping public rows that k does not need.
CREATE FUNCTION slack(k int, col text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    result bigint;
BEGIN
    EXECUTE format('WITH m AS (SELECT found.grp, found.in_source, jt.%1$I AS x, count(*) OVER (PARTITION BY grp) AS
        size,
            min(jt.%1$I) OVER (PARTITION BY grp) AS lo, max(jt.%1$I) OVER (PARTITION BY grp) AS hi
            FROM found JOIN jt ON jt.id::text = found.id),
        faces AS (SELECT grp, size, count(*) FILTER (WHERE x = lo) AS low, bool_or(in_source) FILTER (WHERE x = lo) AS
            low_own,
            count(*) FILTER (WHERE x = hi) AS high, bool_or(in_source) FILTER (WHERE x = hi) AS high_own
            FROM m WHERE lo < hi GROUP BY grp, size)
        SELECT count(*) FROM faces WHERE (NOT low_own AND low <= size - $1) OR (NOT high_own AND high <= size - $1)',
            col)
    INTO result USING k;
    RETURN result;
END
$$;

DO $$
DECLARE
    quasi_ids jsonb := '{"a": null, "b": null, "c": "town", "d": null}';
    k int;
    l int;
    alg text;
    met text;
BEGIN
    PERFORM setseed(0.7);
    FOR round IN 1..40 LOOP
        -- The register has most patients, and others; with ties and nulls.
        DROP TABLE IF EXISTS pd, mt, jt;
        CREATE TABLE pd AS SELECT i AS id, (random() * 20)::int AS a, CASE WHEN round % 2 = 0 THEN random()
            ELSE (random() * 4)::int END AS b,
            substr('abcdefx', 1 + floor(random() * 7)::int, 1) AS c,
            CASE WHEN random() < 0.8 THEN date '2000-01-01' + (random() * 99)::int END AS d
            FROM generate_series(1, 20 + (random() * 150)::int) AS i;
        CREATE TABLE mt AS SELECT *, CASE WHEN random() < 0.9 THEN (random() * 4)::int END AS v FROM pd
            WHERE random() < 0.2 OR id < 6;
        DELETE FROM pd WHERE id % 7 = 0;
        CREATE TABLE jt AS SELECT id, a, b, c, d FROM mt UNION SELECT * FROM pd WHERE id NOT IN (SELECT id FROM mt);
        k := 1 + (random() * CASE WHEN round % 4 = 0 THEN (SELECT count(*) FROM mt) - 1 ELSE 6 END)::int;
        k := least(k, (SELECT count(*) FROM mt));
        l := CASE WHEN round % 3 = 0 THEN least(3, (SELECT count(DISTINCT v) FROM mt)) END;
        FOREACH alg IN ARRAY ARRAY['mondrian', 'topdown'] LOOP
            FOREACH met IN ARRAY ARRAY['direct', 'refinement'] LOOP
                TRUNCATE found;
                INSERT INTO found SELECT * FROM kanon.kja('mt', 'pd', 'id', quasi_ids, k, alg, met, round,
                    CASE WHEN l IS NOT NULL THEN 'v' END, l);
                PERFORM note('patients exactly once', (SELECT count(*) FROM (SELECT id::text FROM mt) AS m
                    FULL JOIN (SELECT id FROM found WHERE in_source) AS f USING (id) WHERE m.id IS NULL OR f.id IS NULL)
                    + (SELECT count(*) - count(DISTINCT id) FROM found));
                PERFORM note('nobody invented', (SELECT count(*) FROM found WHERE NOT in_source
                    AND id NOT IN (SELECT id::text FROM pd EXCEPT SELECT id::text FROM mt)));
                PERFORM note('groups of k with a patient', (SELECT count(*) FROM (SELECT FROM found GROUP BY grp
                    HAVING count(*) < k OR NOT bool_or(in_source)) AS s));
                PERFORM note('rows in their boxes', (SELECT count(*) FROM found JOIN jt ON jt.id::text = found.id
                    WHERE NOT ((box[1] = a) IS TRUE AND (box[2] = b) IS TRUE AND (box[3] = c) IS TRUE
                        AND CASE WHEN d IS NULL THEN box[4] IS NULL OR box[4]::text = '*'
                            ELSE (box[4] = d) IS TRUE END)));
                PERFORM note('boxes are the smallest',
                    (SELECT count(*) FROM (SELECT grp, box, min(a) AS lo, max(a) AS hi
                    FROM found JOIN jt ON jt.id::text = found.id GROUP BY grp, box) AS s
                    WHERE box[1]::text <> CASE WHEN lo = hi THEN lo::text ELSE format('[%s,%s]', lo, hi) END));
                PERFORM note('nothing left to trim', slack(k, 'a') + slack(k, 'b'));
                PERFORM note('sensitive groups are whole groups',
                    (SELECT count(*) FROM (SELECT FROM found GROUP BY grp HAVING count(DISTINCT sg) > 1) AS s));
                PERFORM note('sensitive groups of k patients', (SELECT count(*) FROM (SELECT FROM found GROUP BY sg
                    HAVING count(*) FILTER (WHERE in_source) < k) AS s));
                IF l IS NOT NULL THEN
                    PERFORM note('sensitive groups of l values',
                        (SELECT count(*) FROM (SELECT FROM found LEFT JOIN mt ON mt.id::text = found.id AND in_source
                        GROUP BY sg HAVING count(DISTINCT v) < l) AS s));
                END IF;
                TRUNCATE again;
                INSERT INTO again SELECT * FROM kanon.kja('SELECT * FROM mt ORDER BY md5(id::text)',
                    'SELECT * FROM pd ORDER BY md5(id::text)',
                    'id', quasi_ids, k, alg, met, round, CASE WHEN l IS NOT NULL THEN 'v' END, l);
                PERFORM note('any order of rows', (SELECT count(*) FROM found FULL JOIN again USING (id)
                    WHERE (found.grp, found.sg, found.box::text) IS DISTINCT FROM (again.grp, again.sg,
                        again.box::text)));
                IF met = 'refinement' AND l IS NULL THEN
                    -- A sensitive group is a conventional group.
                    PERFORM note('refined from conventional groups', (SELECT count(*) FROM
                        (SELECT array_agg(id ORDER BY id) AS ids FROM found WHERE in_source GROUP BY sg) AS f FULL JOIN
                        (SELECT array_agg(id ORDER BY id) AS ids FROM kanon.mondrian('mt', 'id', quasi_ids, k)
                            GROUP BY grp) AS c USING (ids)
                        WHERE alg = 'mondrian' AND (f.ids IS NULL OR c.ids IS NULL)));
                END IF;
            END LOOP;
        END LOOP;
    END LOOP;
END
$$;
SELECT what, sum(tried) AS tried, sum(wrong) AS wrong FROM tally GROUP BY what ORDER BY what COLLATE "C";

-- With fewer patients than k, direct fills up from the register; the patients are one sensitive group.
SELECT count(*), bool_and(sg = 1) AS one_group, min(size) AS smallest
FROM (SELECT *, count(*) OVER (PARTITION BY grp) AS size
    FROM kanon.kja('patients', 'register', 'id', '{"x": null}', 3)) AS s;
