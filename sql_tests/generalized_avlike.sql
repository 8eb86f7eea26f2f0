-- AVLIKE holds exactly when one value covers the other: compared with sets of leaves and with PostgreSQL's ranges.
\set dir `echo "$PG_ABS_SRCDIR"`
\set random :dir '/data/random.sql'
\i :random
SELECT seed_random(125);

-- Eight random trees, of words, numbers or both, every other one with a root of its own.
CREATE FUNCTION label(tree int, node int) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN tree % 3 = 0 OR tree % 3 = 1 AND node % 2 = 0 THEN 'w' || node ELSE (node * 3 - 40)::text END
$$;
SELECT count(kanon.create_dgh('tree ' || t)) FROM generate_series(1, 8) t;
INSERT INTO kanon.dgh_edge
    SELECT 'tree ' || t, label(t, i), label(t, floor(next_random() * i)::int)
    FROM generate_series(1, 8) t, generate_series(1 + t % 2, t * 10) i;
-- The leaves that each label stands for, found by walking up from them.
CREATE TABLE node AS
    WITH RECURSIVE up AS (
        SELECT dgh, child AS leaf, child AS label FROM kanon.dgh_edge e
        WHERE NOT EXISTS (SELECT FROM kanon.dgh_edge c WHERE c.dgh = e.dgh AND c.parent = e.child)
        UNION ALL
        SELECT e.dgh, leaf, parent FROM up JOIN kanon.dgh_edge e ON e.dgh = up.dgh AND child = label)
    SELECT dgh, label, array_agg(leaf ORDER BY leaf) AS leaves,
           NOT EXISTS (SELECT FROM kanon.dgh_edge e WHERE e.dgh = up.dgh AND e.child = up.label)
               AND substr(dgh, 6)::int % 2 = 0 AS root
    FROM up GROUP BY dgh, label
    UNION ALL SELECT 'tree ' || t, v, ARRAY[v], v = '*' FROM generate_series(1, 8) t,
        unnest('{*,unknown,-1000}'::text[]) v;
SELECT count(*) AS nodes, count(*) FILTER (WHERE root) AS roots FROM node;
CREATE TABLE pair AS
    SELECT a.dgh, a.label AS a, b.label AS b, kanon.generalized(a.label, a.dgh) AS x,
        kanon.generalized(b.label, b.dgh) AS y,
           a.root OR b.root OR a.leaves <@ b.leaves OR b.leaves <@ a.leaves AS expected
    FROM node a JOIN node b USING (dgh);
SELECT count(*) AS pairs, count(*) FILTER (WHERE expected) AS "one covers the other",
       count(*) FILTER (WHERE (x = y) <> expected) AS "wrong: node, node",
       count(*) FILTER (WHERE (x = b) <> expected) AS "wrong: node, text",
       count(*) FILTER (WHERE (a = y) <> expected) AS "wrong: text, node",
       count(*) FILTER (WHERE (x = b::varchar) <> expected) AS "wrong: node, varchar",
       count(*) FILTER (WHERE (x = b::kanon.generalized) <> expected) AS "wrong: node, label",
       count(*) FILTER (WHERE (a::kanon.generalized = y) <> expected) AS "wrong: label, node",
       count(*) FILTER (WHERE (x ~~^ y) <> expected) AS "wrong: ~~^",
       count(*) FILTER (WHERE kanon.avlike(x, y) <> expected) AS "wrong: avlike"
FROM pair;
SELECT count(*) AS "pairs with numbers", count(*) FILTER (WHERE (x = b::int) <> expected) AS "wrong: int",
       count(*) FILTER (WHERE (b::smallint = x) <> expected) AS "wrong: smallint",
       count(*) FILTER (WHERE (x = b::bigint) <> expected) AS "wrong: bigint",
       count(*) FILTER (WHERE (x = b::numeric) <> expected) AS "wrong: numeric",
       count(*) FILTER (WHERE (x = (b || '.000')::numeric) <> expected) AS "wrong: scale",
       count(*) FILTER (WHERE (x = b::float8) <> expected) AS "wrong: float8",
       count(*) FILTER (WHERE (x = b::real) <> expected) AS "wrong: real"
FROM pair WHERE b ~ '^-?\d+$';
-- Values that were made before and after a change of the tree that moves all positions.
CREATE TABLE early AS SELECT dgh, label, kanon.generalized(label, dgh) AS x FROM node WHERE dgh IN ('tree 5', 'tree 8');
INSERT INTO kanon.dgh_edge SELECT DISTINCT dgh, '-99999', label FROM early WHERE dgh = 'tree 5' AND label = label(5, 1)
    OR dgh = 'tree 8' AND label = label(8, 0);
SELECT count(*) AS pairs, count(*) FILTER (WHERE (x = y) <> expected) AS "wrong: old, new",
    count(*) FILTER (WHERE (y = x) <> expected) AS "wrong: new, old"
FROM (SELECT early.x, kanon.generalized(b, dgh) AS y, expected FROM early JOIN pair USING (dgh) WHERE a = label) p;

-- Codes: '12*' covers every code that begins with 12.
SELECT kanon.create_prefix_dgh('code', 3), kanon.create_prefix_dgh('letter', 3, '•');
CREATE TABLE code AS SELECT DISTINCT rpad(left(w, n), 3, '*') AS label, n FROM
    (SELECT a || b || c AS w FROM unnest('{1,2,ä}'::text[]) a, unnest('{1,2,*}'::text[]) b,
        unnest('{1,2,x}'::text[]) c) w, generate_series(0, 3) n
    WHERE n > 0 AND NOT left(w, n) LIKE '%*';
SELECT count(*) AS pairs, count(*) FILTER (WHERE expected) AS "one covers the other",
       count(*) FILTER (WHERE (x = y) <> expected) AS "wrong: code, code",
       count(*) FILTER (WHERE (x = b) <> expected) AS "wrong: code, text"
FROM (SELECT kanon.generalized(a.label, 'code') AS x, kanon.generalized(b.label, 'code') AS y, b.label AS b,
             starts_with(a.label, left(b.label, b.n)) OR starts_with(b.label, left(a.label, a.n)) AS expected
      FROM code a, code b) p;
SELECT count(*) FILTER (WHERE x <> y) AS "wrong with a mask of three bytes"
FROM (SELECT kanon.generalized(replace(a.label, '*', '•'), 'letter') = kanon.generalized(replace(b.label, '*', '•'),
    'letter') AS x,
             starts_with(a.label, left(b.label, b.n)) OR starts_with(b.label, left(a.label, a.n)) AS y
      FROM code a, code b WHERE left(a.label, a.n) || left(b.label, b.n) !~ '\*') p;

-- Intervals of numbers and of dates, against PostgreSQL's ranges.
CREATE TABLE bound (n numeric);
INSERT INTO bound VALUES (NULL), (1), (2), (2.5), (3), (-1), (9223372036854775807), (9223372036854775808), (1e30);
CREATE TABLE span AS SELECT numrange(l.n, u.n, f) AS r, numrange(l.n, u.n, f)::kanon.generalized AS x
    FROM bound l, bound u, unnest('{[],(],[),()}'::text[]) f WHERE (l.n IS NULL OR u.n IS NULL OR l.n <= u.n)
        AND numrange(l.n, u.n, f) <> 'empty';
SELECT count(*) AS pairs, count(*) FILTER (WHERE expected) AS "one covers the other",
    count(*) FILTER (WHERE (x = y) <> expected) AS wrong,
       count(*) FILTER (WHERE (x = yt) <> expected) AS "wrong: text",
       count(*) FILTER (WHERE (ys = x) <> expected) AS "wrong: spelled otherwise"
FROM (SELECT a.x, b.x AS y, b.x::text AS yt, regexp_replace(b.x::text, '(^|[[(,])(-?)(\d)', '\1 \20\3', 'g') AS ys,
    a.r @> b.r OR b.r @> a.r AS expected FROM span a, span b) p;
SELECT count(*) AS pairs, count(*) FILTER (WHERE (x = n) <> (r @> n)) AS "wrong: numeric",
    count(*) FILTER (WHERE (n = x) <> (r @> n)) AS "wrong: numeric first",
       count(*) FILTER (WHERE (x = n::float8) <> (r @> n::float8::numeric)) AS "wrong: float8"
FROM span, bound WHERE n IS NOT NULL;
SELECT count(*) AS pairs, count(*) FILTER (WHERE (x = n::int) <> (r @> n)) AS "wrong: int",
    count(*) FILTER (WHERE (n::bigint = x) <> (r @> n)) AS "wrong: bigint"
FROM span, bound WHERE n < 10 AND n = trunc(n);
CREATE TABLE days AS SELECT daterange(l, u, f) AS r, daterange(l, u, f)::kanon.generalized AS x
    FROM unnest('{NULL,2000-01-01,2000-02-28,1999-12-31,0044-03-15 BC}'::date[]) l,
        unnest('{NULL,2000-02-28,2000-02-29,2000-03-01}'::date[]) u, unnest('{[],[)}'::text[]) f
    WHERE (l IS NULL OR u IS NULL OR l <= u) AND daterange(l, u, f) <> 'empty';
SELECT count(*) AS pairs, count(*) FILTER (WHERE (a.x = b.x) <> (a.r @> b.r OR b.r @> a.r)) AS wrong,
       count(*) FILTER (WHERE (a.x = to_char(lower(b.r),
           'DD Mon YYYY')) <> (a.r @> lower(b.r))) AS "wrong: spelled otherwise",
       count(*) FILTER (WHERE (a.x = lower(b.r)) <> (a.r @> lower(b.r))) AS "wrong: date",
       count(*) FILTER (WHERE (lower(b.r)::timestamp + '5 h' = a.x) <> (a.r @> lower(b.r))) AS "wrong: timestamp"
FROM days a, days b WHERE lower(b.r) > '0001-01-01' OR lower(b.r) IS NULL;

-- Everything covers everything; numbers, dates and words do not cover each other; neither NULL.
SELECT a, b, a::kanon.generalized = b::kanon.generalized AS avlike FROM (VALUES
    ('*', 'x'), ('*', '[1,2)'), ('*', '*'), ('1', '2000-01-01'), ('[1,)', '(,2000-01-01)'), ('x', '1'), ('x', 'X'),
    ('x', 'x '), ('1', '1.0'), ('1', ' 01 '), ('1e2', '100'),
    ('[1,2)', '[1, 2)'), ('2000-01-01', '1 January 2000'), ('today', 'today'), ('', ''), ('NaN', 'nan'),
    ('Infinity', 'infinity'), ('x', NULL)) v (a, b);
SELECT '[1,)'::kanon.generalized = 'Infinity'::float8 AS "an interval without end",
    '[1,5)'::kanon.generalized = 'NaN'::numeric AS "is not NaN", 'NaN'::kanon.generalized = 'NaN'::float8 AS "NaN",
    't'::kanon.generalized = true AS "true";

-- Literals on both sides.
SELECT kanon.avlike('[20,30)', '25') AS covers, kanon.avlike('25', '[20,30)') AS is_covered,
    kanon.avlike('[20,30)', '30') AS beyond, kanon.avlike('*', 'x') AS everything, kanon.avlike('x', NULL) AS nothing;

-- Nodes of different trees meet by their labels, in either.
SELECT kanon.import_dgh('fruit', '{apple;fruit,pear;fruit}'), kanon.import_dgh('food', '{apple;sweet,bread;salty}');
SELECT a, b, kanon.generalized(a, 'fruit') = kanon.generalized(b, 'food') AS avlike,
    kanon.generalized(b, 'food') = kanon.generalized(a, 'fruit') AS turned
FROM (VALUES ('apple', 'apple'), ('fruit', 'apple'), ('apple', 'sweet'), ('pear', 'sweet'), ('pear', 'bread'),
    ('fruit', '*'), ('fruit', 'sweet')) v (a, b);
