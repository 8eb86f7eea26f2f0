-- <> < <= > >= answer whether they may hold for some value that each side stands for: compared with all such values.
\set dir `echo "$PG_ABS_SRCDIR"`
\set random :dir '/data/random.sql'
\i :random
SELECT seed_random(125);

-- Intervals: sample points finer than all bounds are as good as all points.  The answer is exact.
CREATE TABLE span AS SELECT numrange(l, u, f) AS r, numrange(l, u, f)::kanon.generalized AS x
    FROM unnest('{NULL,0,1,2,2.5}'::numeric[]) l, unnest('{NULL,1,2,2.5}'::numeric[]) u,
        unnest('{[],(],[),()}'::text[]) f
    WHERE (l IS NULL OR u IS NULL OR l <= u) AND numrange(l, u, f) <> 'empty' AND (l IS NOT NULL OR u IS NOT NULL);
ALTER TABLE span ADD points numeric[];
UPDATE span SET points = ARRAY(SELECT p::numeric / 8 FROM generate_series(-40, 60) p WHERE r @> p::numeric / 8);
CREATE TABLE expected AS SELECT a.x, b.x AS y, b.r,
    EXISTS (SELECT FROM unnest(a.points) p, unnest(b.points) q WHERE p <> q) AS ne,
    EXISTS (SELECT FROM unnest(a.points) p, unnest(b.points) q WHERE p < q) AS lt,
    EXISTS (SELECT FROM unnest(a.points) p, unnest(b.points) q WHERE p <= q) AS le,
    EXISTS (SELECT FROM unnest(a.points) p, unnest(b.points) q WHERE p > q) AS gt,
    EXISTS (SELECT FROM unnest(a.points) p, unnest(b.points) q WHERE p >= q) AS ge FROM span a, span b;
SELECT count(*) AS pairs, count(*) FILTER (WHERE lt) AS "may be less",
    count(*) FILTER (WHERE (x <> y) <> ne) AS "wrong: <>", count(*) FILTER (WHERE (x < y) <> lt) AS "wrong: <",
       count(*) FILTER (WHERE (x <= y) <> le) AS "wrong: <=", count(*) FILTER (WHERE (x > y) <> gt) AS "wrong: >",
       count(*) FILTER (WHERE (x >= y) <> ge) AS "wrong: >="
FROM expected;
SELECT count(*) AS "pairs with a number", count(*) FILTER (WHERE (x <> n) <> ne OR (n <> x) <> ne) AS "wrong: <>",
    count(*) FILTER (WHERE (x < n) <> lt OR (n > x) <> lt) AS "wrong: <",
       count(*) FILTER (WHERE (x <= n) <> le OR (n >= x) <> le) AS "wrong: <=",
       count(*) FILTER (WHERE (x > n::float8) <> gt OR (n::text < x) <> gt) AS "wrong: >",
       count(*) FILTER (WHERE (x >= n::text) <> ge OR (n::float8 <= x) <> ge) AS "wrong: >="
FROM (SELECT *, lower(r) AS n FROM expected WHERE lower(r) = upper(r)) e;

-- Trees of words, of numbers, of dates, of all together.
CREATE FUNCTION label(tree int, node int) RETURNS text LANGUAGE sql AS $$
    SELECT CASE (CASE tree % 4 WHEN 3 THEN node ELSE tree END) % 3 WHEN 0 THEN 'w'
        || node WHEN 1 THEN (node * 7 % 50 - 20)::text || ('{"",.5,.25}'::text[])[node % 3 + 1]
        ELSE (date '1999-06-01' + node * 37 % 400)::text END
$$;
SELECT count(kanon.create_dgh('tree ' || t)) FROM generate_series(0, 3) t;
INSERT INTO kanon.dgh_edge SELECT 'tree ' || t, label(t, i), label(t, floor(next_random() * i)::int)
    FROM generate_series(0, 3) t, generate_series(1 + t % 2, 45) i ON CONFLICT DO NOTHING;
CREATE TABLE node AS
    WITH RECURSIVE up AS (
        SELECT dgh, child AS leaf, child AS label FROM kanon.dgh_edge e
            WHERE NOT EXISTS (SELECT FROM kanon.dgh_edge c WHERE c.dgh = e.dgh AND c.parent = e.child)
        UNION ALL SELECT e.dgh, leaf, parent FROM up JOIN kanon.dgh_edge e ON e.dgh = up.dgh AND child = label)
    SELECT dgh, label, array_agg(leaf) AS leaves, kanon.generalized(label, dgh) AS x,
           NOT EXISTS (SELECT FROM kanon.dgh_edge e WHERE e.dgh = up.dgh AND e.child = up.label)
               AND dgh IN ('tree 0', 'tree 2') AS root
    FROM up GROUP BY dgh, label
    UNION ALL SELECT 'tree ' || t, v, ARRAY[v], kanon.generalized(v, 'tree ' || t), false FROM generate_series(0, 3) t,
        unnest('{unknown,5.125,1999-12-24}'::text[]) v;
-- One leaf below another: as numbers, as dates, else as text; may it be in either?
CREATE FUNCTION below(a text, b text) RETURNS bool LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN a ~ '^-?[\d.]+$' AND b ~ '^-?[\d.]+$' THEN a::numeric < b::numeric
        ELSE a COLLATE "C" < b COLLATE "C" END
$$;
CREATE TABLE told AS SELECT a.dgh, a.label AS a, b.label AS b, a.x, b.x AS y, a.root OR b.root AS root,
    a.root OR b.root OR EXISTS (SELECT FROM unnest(a.leaves) p, unnest(b.leaves) q WHERE below(p, q)) AS lt,
    a.root OR b.root OR EXISTS (SELECT FROM unnest(a.leaves) p, unnest(b.leaves) q WHERE NOT below(q, p)) AS le,
    a.root OR b.root OR EXISTS (SELECT FROM unnest(a.leaves) p, unnest(b.leaves) q WHERE p <> q) AS ne
    FROM node a JOIN node b USING (dgh);
-- Exact where leaves are of one sort; never missing one where they are not.
SELECT dgh, count(*) AS pairs, count(*) FILTER (WHERE lt) AS "may be less",
       count(*) FILTER (WHERE ne AND NOT (x <> y) OR lt AND NOT (x < y COLLATE "C") OR le AND NOT (x <= y COLLATE "C")
           OR lt AND NOT (y > x COLLATE "C") OR le AND NOT (y >= x COLLATE "C")) AS missing,
       count(*) FILTER (WHERE (x <> y) AND NOT ne OR (x < y COLLATE "C") AND NOT lt OR (x <= y COLLATE "C")
           AND NOT le) AS "too many",
       count(*) FILTER (WHERE ne AND NOT (x <> b) OR lt AND NOT (x < b COLLATE "C") OR le AND NOT (x <= b COLLATE "C")
           OR lt AND NOT (b > x COLLATE "C") OR le AND NOT (b >= x COLLATE "C")) AS "missing with text",
       count(*) FILTER (WHERE (x <> b) AND NOT ne OR (x < b COLLATE "C") AND NOT lt OR (x <= b COLLATE "C")
           AND NOT le) AS "too many with text"
FROM told GROUP BY dgh ORDER BY dgh;
SELECT count(*) AS "pairs with a number",
    count(*) FILTER (WHERE lt AND NOT (x < b::numeric) OR le AND NOT (b::float8 >= x)) AS missing,
       count(*) FILTER (WHERE (x < b::numeric) AND NOT lt OR (b::float8 >= x) AND NOT le) AS "too many" FROM told
           WHERE dgh = 'tree 1' AND b ~ '^-?[\d.]+$';
SELECT count(*) AS "pairs with a date",
    count(*) FILTER (WHERE lt AND NOT (x < b::date) OR le AND NOT (b::date >= x)) AS missing,
       count(*) FILTER (WHERE (x < b::date) AND NOT lt OR (b::date >= x) AND NOT le) AS "too many" FROM told
           WHERE dgh = 'tree 2' AND b ~ '^\d+-\d+-\d+$' AND NOT root;
-- The order of leaves is that of values, not that of import; another collation has another order.
SELECT kanon.import_dgh('sizes', '{B;x;*,a;x;*,C;y;*,b;y;*}'),
    kanon.import_dgh('years', '{10;old;*,9;young;*,100;old;*}');
SELECT kanon.generalized('x', 'sizes') < 'B' COLLATE "C" AS "f",
    kanon.generalized('x', 'sizes') < 'B' COLLATE "en-x-icu" AS "t",
    kanon.generalized('x', 'sizes') > 'a' COLLATE "en-x-icu" AS "t",
       kanon.generalized('x', 'sizes') > 'a' COLLATE "C" AS "f", kanon.generalized('old', 'years') < 10 AS "f",
       kanon.generalized('old', 'years') > '99' AS "t", kanon.generalized('young', 'years') < 'old' AS "t",
       'young' > kanon.generalized('old', 'years') AS "f";

-- Codes: a mask stands for any character.  All codes over three characters are some of them, so none may be missed.
SELECT kanon.create_prefix_dgh('code', 3), kanon.create_prefix_dgh('bullet', 3, '•');
CREATE TABLE code AS SELECT DISTINCT left(w, n) AS prefix, rpad(left(w, n), 3, '*') AS label FROM
    (SELECT a || b || c AS w FROM unnest('{0,2,9}'::text[]) a, unnest('{0,2,9}'::text[]) b,
        unnest('{0,2,9}'::text[]) c) w, generate_series(1, 3) n;
CREATE TABLE coded AS SELECT a.label AS a, b.label AS b, kanon.generalized(a.label, 'code') AS x,
    kanon.generalized(b.label, 'code') AS y,
    kanon.generalized(replace(a.label, '*', '•'), 'bullet') AS xb,
    kanon.generalized(replace(b.label, '*', '•'), 'bullet') AS yb,
    EXISTS (SELECT FROM code p, code q WHERE length(p.prefix) = 3 AND length(q.prefix) = 3 AND p.prefix ^@ a.prefix
        AND q.prefix ^@ b.prefix AND p.prefix < q.prefix) AS lt,
    EXISTS (SELECT FROM code p, code q WHERE length(p.prefix) = 3 AND length(q.prefix) = 3 AND p.prefix ^@ a.prefix
        AND q.prefix ^@ b.prefix AND p.prefix <= q.prefix) AS le
    FROM code a, code b;
SELECT count(*) AS pairs, count(*) FILTER (WHERE lt AND NOT (x < y) OR le AND NOT (x <= y) OR lt AND NOT (y > x)
    OR le AND NOT (y >= x)) AS missing,
       count(*) FILTER (WHERE (x < y) AND NOT lt OR (x <= y) AND NOT le) AS "too many",
       count(*) FILTER (WHERE lt AND NOT (x < b) OR le AND NOT (b >= x)) AS "missing with text",
       count(*) FILTER (WHERE (x < y) <> (xb < yb) OR (x >= y) <> (xb >= yb)) AS "another mask"
FROM coded;
SELECT count(*) AS "pairs with a number",
    count(*) FILTER (WHERE lt AND NOT (x < b::int) OR le AND NOT (b::int >= x) OR lt AND NOT (xb < b::numeric)
    OR le AND NOT (b::float8 >= xb)) AS missing FROM coded WHERE b !~ '\*';
-- Collations that take letters together or pass over signs do not let a prefix exclude anything.
CREATE COLLATION czech (provider = icu, locale = 'cs');
SELECT kanon.create_prefix_dgh('word', 2);
SELECT 'd' < 'ch' COLLATE czech AS "in Czech", 'd' < kanon.generalized('c*', 'word') COLLATE czech AS "so it may be",
    'd' < kanon.generalized('c*', 'word') COLLATE "C" AS "else not",
       '5' < kanon.generalized('3*', 'code') COLLATE czech AS "digits keep their order";
SELECT kanon.generalized('-1*', 'code') < -10 AS "a sign is no digit, but may be text";

-- Infinite and other special values; moments of a day.
SELECT '[20,30)'::kanon.generalized < 'Infinity'::float8 AS t, '[20,30)'::kanon.generalized > '-Infinity'::numeric AS t,
    '[20,30)'::kanon.generalized < 'infinity' AS t, '[20,30)'::kanon.generalized > 'NaN'::float8 AS f,
    '[20,)'::kanon.generalized < 'NaN'::numeric AS t,
       '[2000-01-01,2001-01-01)'::kanon.generalized < 'infinity' AS t,
       '[2000-01-01,)'::kanon.generalized >= 'infinity'::date AS t,
       '[2000-01-01,2001-01-01)'::kanon.generalized < '-infinity'::timestamp AS f,
       'infinity'::kanon.generalized > date '2000-01-01' AS t;
SELECT x < timestamp '2000-12-31 10:00' AS t, x > timestamp '2000-12-31 10:00' AS t,
    x <> timestamp '2000-12-31 10:00' AS t, x < '2000-12-31 10:00' AS t, x <> '2000-12-31 10:00' AS t,
       x < date '2000-12-31' AS f, x <> date '2000-12-31' AS f, x <> '31 Dec 2000' AS f,
       x > timestamptz '2000-12-30 23:59+00' AS t, x > timestamp '2001-01-01' AS f
       FROM (SELECT kanon.generalized '2000-12-31' AS x) v;

-- Values of different sorts; labels in other spelling; the root.
SELECT a, b, x < y AS "<", x > y AS ">", x <> y AS "<>"
    FROM (SELECT a, b, a::kanon.generalized AS x, b::kanon.generalized AS y FROM (VALUES
    ('[1,2)', 'word'), ('[1,2)', '[2000-01-01,2001-01-01)'), ('1', '2000-01-01'), ('word', 'ward'), ('9', '10'),
    ('09', '10'), ('09', '9'), ('[9, 10)', '9.5'), ('9.5', '[9, 10)'), ('9', ' 9'), ('*', 'word'), ('*', '5'),
    ('1 Jan 2000', '2000-01-02'), ('', 'x')) v (a, b)) w;
-- BETWEEN, NOT IN, NOT.
SELECT x BETWEEN 25 AND 40 AS t, x BETWEEN 30 AND 40 AS f, x NOT BETWEEN 25 AND 40 AS t, x NOT IN (25, 26) AS t,
    NOT x = 25 AS "f: NOT is not asked whether it may hold", x BETWEEN SYMMETRIC 40 AND 25 AS t
    FROM (SELECT kanon.generalized '[20,30)' AS x) v;
