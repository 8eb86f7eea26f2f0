-- Mondrian on small tables where the groups can be checked by hand.
\pset null (null)

-- One column: the median parts eight rows into four and four, then two and two.
CREATE TABLE line AS SELECT i AS id, i * 10 AS x FROM generate_series(1, 8) AS i;
SELECT grp, box, string_agg(id, ',' ORDER BY id) AS ids
FROM kanon.mondrian('line', 'id', '{"x": null}', 2) GROUP BY grp, box ORDER BY grp;

-- k of all rows is one group; k of one keeps every value.
SELECT count(DISTINCT grp), min(box::text) FROM kanon.mondrian('line', 'id', '{"x": null}', 8);
SELECT count(DISTINCT grp), min(box::text), max(box::text) FROM kanon.mondrian('line', 'id', '{"x": null}', 1);

-- Columns take turns in the order of the source, not of the jsonb keys.
CREATE TABLE plane AS SELECT row_number() OVER () AS id, y AS b, x AS a
FROM generate_series(1, 4) AS x, generate_series(1, 4) AS y;
SELECT grp, box, count(*) FROM kanon.mondrian('plane', 'id', '{"a": null, "b": null}', 8) GROUP BY grp,
    box ORDER BY grp;
SELECT grp, box, count(*) FROM kanon.mondrian('plane', 'id', '{"a": null, "b": null}', 4) GROUP BY grp,
    box ORDER BY grp;

-- Equal rows are never parted; a column that ties cannot part is left to the next.
CREATE TABLE ties AS SELECT i AS id, CASE WHEN i <= 5 THEN 1 ELSE 2 END AS x, i % 2 AS y
    FROM generate_series(1, 6) AS i;
SELECT grp, box, string_agg(id, ',' ORDER BY id) AS ids
FROM kanon.mondrian('ties', 'id', '{"x": null, "y": null}', 2) GROUP BY grp, box ORDER BY grp;
SELECT count(DISTINCT grp) FROM kanon.mondrian('SELECT i AS id, 7 AS x FROM generate_series(1, 9) AS i', 'id',
    '{"x": null}', 2);

-- Boxes of numbers, dates and words each have the form of their type.
SELECT kanon.import_dgh('place', '{"Bonn;West;*","Koeln;West;*","Jena;East;*","Gera;East;*"}');
CREATE TABLE person (id text, born date, height numeric, town text, hobby text);
INSERT INTO person VALUES
    ('a', '1980-01-01', 1.70, 'Bonn', 'chess'), ('b', '1981-05-05', 1.75, 'Koeln', 'chess'),
    ('c', '1990-01-01', 1.60, 'Jena', 'chess'), ('d', '1991-05-05', 1.65, 'Gera', 'skat'),
    ('e', '1992-07-01', 1.55, 'Jena', 'go'), ('f', '1979-07-01', 1.81, 'Bonn', 'chess');
SELECT grp, box, string_agg(id, ',' ORDER BY id) AS ids
FROM kanon.mondrian('person', 'id', '{"born": null, "height": null, "town": "place", "hobby": null}', 3)
GROUP BY grp, box ORDER BY grp;

-- Null is a value of its own: shown as null where all are, as everything where some are.
CREATE TABLE gaps AS SELECT i AS id, CASE WHEN i > 4 THEN NULL ELSE i END AS x,
    CASE WHEN i % 2 = 0 THEN 'Bonn' END AS town FROM generate_series(1, 8) AS i;
SELECT grp, box, box[1] IS NULL AS all_null, string_agg(id, ',' ORDER BY id) AS ids
FROM kanon.mondrian('gaps', 'id', '{"x": null, "town": "place"}', 2) GROUP BY grp, box ORDER BY grp;
SELECT grp, box, box[1] IS NULL AS all_null FROM kanon.mondrian('gaps', 'id', '{"x": null, "town": "place"}', 5)
    GROUP BY grp, box;

-- A word that the tree does not know has only the root in common with others.
SELECT grp, box, string_agg(id, ',' ORDER BY id) AS ids
FROM kanon.mondrian($$SELECT * FROM (VALUES (1, 'Bonn'), (2, 'Koeln'), (3, 'Atlantis'), (4, 'Atlantis'),
    (5, 'Eldorado'), (6, 'Jena')) AS v (id, town)$$, 'id', '{"town": "place"}', 2) GROUP BY grp, box ORDER BY grp;

-- A computed hierarchy: words in order, boxes by prefix.
SELECT kanon.create_prefix_dgh('zip', 4);
SELECT grp, box, string_agg(id, ',' ORDER BY id) AS ids
FROM kanon.mondrian($$SELECT z AS id, z FROM unnest('{1010,1015,1020,1099,2000,2001,2002,3000}'::text[]) AS z$$,
    'id', '{"z": "zip"}', 2) GROUP BY grp, box ORDER BY grp;
SELECT grp, box, string_agg(id, ',' ORDER BY id) AS ids
FROM kanon.mondrian($$SELECT z AS id, z FROM unnest('{1010,1015,1020,1099,2000,2001,2002,3000}'::text[]) AS z$$,
    'id', '{"z": "zip"}', 2, split => 'gain') GROUP BY grp, box ORDER BY grp;

-- l-diversity: no cut may leave a side with one value only; null is no value.
SELECT grp, box, string_agg(r.id || '=' || s.v, ',' ORDER BY r.id) AS ids
FROM kanon.mondrian($$SELECT i AS id, i AS x, (array['flu','flu','flu','flu','hiv','flu','hiv','flu'])[i] AS v
    FROM generate_series(1, 8) AS i$$, 'id', '{"x": null}', 2, 'v', 2) AS r
JOIN (SELECT i::text AS id, (array['flu','flu','flu','flu','hiv','flu','hiv','flu'])[i] AS v
    FROM generate_series(1, 8) AS i) AS s USING (id)
GROUP BY grp, box ORDER BY grp;
SELECT count(DISTINCT grp) FROM kanon.mondrian($$SELECT i AS id, i AS x, CASE WHEN i % 4 = 0 THEN 'flu'
    WHEN i = 5 THEN 'hiv' END AS v
    FROM generate_series(1, 8) AS i$$, 'id', '{"x": null}', 2, 'v', 2);

-- Numbers that a double cannot hold are inside their boxes all the same, for every extra_float_digits.
SET extra_float_digits = -10;
CREATE TABLE large AS SELECT i AS id, 9007199254740993 + i AS x, 0.12345678901234567890 + i AS y, 1.1::float8 * i AS z
FROM generate_series(1, 20) AS i;
CREATE TABLE large_boxes AS SELECT * FROM kanon.mondrian('large', 'id', '{"x": null, "y": null, "z": null}', 2);
RESET extra_float_digits;
SELECT count(*) FILTER (WHERE box[1] = x AND box[2] = y AND box[3] = z) AS inside, count(*)
FROM large_boxes JOIN large ON large.id::text = large_boxes.id;
SELECT grp, string_agg(id, ',' ORDER BY id) AS ids
FROM kanon.mondrian($$VALUES (1, 1.5e308::float8), (2, -1.5e308), (3, 0), (4, 1e-308)$$, 'column1', '{"column2": null}',
    2, split => 'gain')
GROUP BY grp ORDER BY grp;

-- Sources of all kinds, with the caller's own rights.
SELECT count(*) FROM kanon.mondrian('TABLE line', 'id', '{"x": null}', 2);
SELECT count(*) FROM kanon.mondrian('WITH w AS (SELECT * FROM line) SELECT * FROM w -- all of them', 'id',
    '{"x": null}', 2);
CREATE TABLE "Odd ""name" AS SELECT i AS "I d", i AS "X y" FROM generate_series(1, 4) AS i;
SELECT count(*) FROM kanon.mondrian('"Odd ""name"', 'I d', '{"X y": null}', 2);
CREATE ROLE release_mondrian_nobody;
SET ROLE release_mondrian_nobody;
SELECT count(*) FROM kanon.mondrian('line', 'id', '{"x": null}', 2);
SELECT count(*) FROM kanon.mondrian('VALUES (1), (2)', 'column1', '{"column1": null}', 2);
RESET ROLE;
DROP ROLE release_mondrian_nobody;
