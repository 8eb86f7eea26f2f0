-- Trees of labels: levels, roots, values that they do not know, distances; changing, renaming and dropping them.

-- A balanced tree whose root has a name.
SELECT kanon.create_dgh('disease');
INSERT INTO kanon.dgh_edge VALUES
    ('disease', 'ulcer', 'stomach'), ('disease', 'gastritis', 'stomach'),
    ('disease', 'flu', 'lung'), ('disease', 'pneumonia', 'lung'),
    ('disease', 'stomach', 'any disease'), ('disease', 'lung', 'any disease');
SELECT l AS level, kanon.generalize('disease', 'ulcer', l),
    kanon.generalize('disease', 'stomach', l) AS "of an inner node"
FROM generate_series(0, 2) l;
SELECT * FROM kanon.dgh_path('disease', 'flu');

-- A value that the tree does not know is a leaf of its own below the root; so is NULL.
SELECT l AS level, kanon.generalize('disease', 'plague', l),
    kanon.generalize('disease', NULL, l) IS NULL AS "null stays",
       kanon.generalize('disease', NULL, l) AS "of null"
FROM generate_series(0, 2) l;
SELECT * FROM kanon.dgh_path('disease', 'plague');
SELECT * FROM kanon.dgh_path('disease', NULL);
SELECT kanon.generalize(NULL, 'flu', 1) IS NULL AS "no hierarchy",
    kanon.generalize('disease', 'flu', NULL) IS NULL AS "no level",
       kanon.dgh_distance('disease', 'flu', NULL) IS NULL AS "no other";

-- A forest gets the root '*'; so does an empty hierarchy, and one that names it.
SELECT kanon.create_dgh('forest'), kanon.create_dgh('empty'), kanon.create_dgh('star');
INSERT INTO kanon.dgh_edge VALUES ('forest', 'oak', 'tree'), ('forest', 'rose', 'flower'), ('star', 'sun', '*'),
    ('star', 'moon', 'night'), ('star', 'night', '*');
SELECT dgh, v.value, array_agg(p.value::text ORDER BY level)
FROM (VALUES ('forest', 'oak'), ('forest', 'flower'), ('forest', 'stone'), ('forest', '*'), ('empty', 'all'),
    ('star', 'sun'), ('star', 'moon')) v (dgh, value),
     kanon.dgh_path(dgh, v.value) p (level, value) GROUP BY 1, 2 ORDER BY 1, 2;

-- Leaves of different depth: levels are counted from the leaf, and end at the root.
SELECT kanon.create_dgh('uneven');
INSERT INTO kanon.dgh_edge VALUES ('uneven', 'deep', 'd1'), ('uneven', 'd1', 'd2'), ('uneven', 'd2', 'top'),
    ('uneven', 'flat', 'top');
SELECT l AS level, kanon.generalize('uneven', 'deep', l) AS deep, kanon.generalize('uneven', 'flat', l) AS flat
    FROM generate_series(0, 3) l;

-- Distance: edges between the two over the most that there can be.
SELECT a, b, round(kanon.dgh_distance('disease', a, b)::numeric, 3) AS disease
FROM (VALUES ('ulcer', 'ulcer'), ('ulcer', 'gastritis'), ('ulcer', 'flu'), ('ulcer', 'stomach'), ('stomach', 'ulcer'),
    ('ulcer', 'any disease'),
             ('stomach', 'lung'), ('ulcer', 'plague'), ('plague', 'pest'), ('plague', 'plague'),
             ('any disease', 'any disease'), ('any disease', '*')) v (a, b);
SELECT a, b, round(kanon.dgh_distance('uneven', a, b)::numeric, 3) AS uneven
FROM (VALUES ('deep', 'flat'), ('deep', 'unknown'), ('flat', 'unknown'), ('deep', 'd2')) v (a, b);
SELECT kanon.dgh_distance('empty', 'a', 'b') AS "two unknown values of an empty hierarchy";

-- Changes take effect at once; the cache is not asked to.
SELECT kanon.generalize('disease', 'ulcer', 1);
UPDATE kanon.dgh_edge SET parent = 'lung' WHERE dgh = 'disease' AND child = 'ulcer';
SELECT kanon.generalize('disease', 'ulcer', 1);
DELETE FROM kanon.dgh_edge WHERE dgh = 'disease' AND child = 'ulcer';
SELECT kanon.generalize('disease', 'ulcer', 1) AS "not known any more", kanon.generalize('disease', 'gastritis', 1);
INSERT INTO kanon.dgh_edge VALUES ('disease', 'ulcer', 'stomach');
UPDATE kanon.dgh_edge SET child = child || '!' WHERE dgh = 'disease' AND parent = 'lung';
SELECT kanon.generalize('disease', 'ulcer', 1), kanon.generalize('disease', 'flu!', 1),
    kanon.generalize('disease', 'flu', 1) AS "renamed";
-- A subtree moves with its leaves.
UPDATE kanon.dgh_edge SET parent = 'stomach' WHERE dgh = 'disease' AND child = 'lung';
SELECT kanon.dgh_path('disease', 'flu!');

-- Edges go with INSERT ON CONFLICT, COPY, MERGE, and in CTEs.
INSERT INTO kanon.dgh_edge VALUES ('forest', 'oak', 'wood')
    ON CONFLICT (dgh, child) DO UPDATE SET parent = excluded.parent;
INSERT INTO kanon.dgh_edge VALUES ('forest', 'oak', 'nothing') ON CONFLICT DO NOTHING;
SELECT kanon.dgh_path('forest', 'oak');
COPY kanon.dgh_edge FROM stdin;
forest	birch	wood
forest	wood	plant
\.
SELECT kanon.dgh_path('forest', 'birch');
SELECT current_setting('server_version_num')::int >= 150000 AS has_merge \gset
\if :has_merge
MERGE INTO kanon.dgh_edge e USING (VALUES ('forest', 'birch'), ('forest', 'ash')) v (dgh, child) ON e.dgh = v.dgh
    AND e.child = v.child
    WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (v.dgh, v.child, 'wood');
\else
DELETE FROM kanon.dgh_edge WHERE dgh = 'forest' AND child = 'birch';
INSERT INTO kanon.dgh_edge VALUES ('forest', 'ash', 'wood');
\endif
WITH moved AS (DELETE FROM kanon.dgh_edge WHERE dgh = 'forest' AND child = 'oak' RETURNING child)
    INSERT INTO kanon.dgh_edge SELECT 'forest', 'old ' || child, 'plant' FROM moved;
SELECT child, kanon.dgh_path('forest', child) FROM unnest('{birch,ash,oak,old oak}'::text[]) child;

-- Names with quotes, letters of all kinds, and case.
SELECT kanon.create_dgh('Größe "XL" o''clock; DROP TABLE x--'), kanon.create_dgh('größe'), kanon.create_dgh('Größe'),
    kanon.create_dgh(' ');
INSERT INTO kanon.dgh_edge VALUES ('Größe "XL" o''clock; DROP TABLE x--', 'élan ''vital''', '"quoted"'),
    ('größe', 'klein', 'ß'), ('Größe', 'KLEIN', 'ẞ');
SELECT kanon.generalize('Größe "XL" o''clock; DROP TABLE x--', 'élan ''vital''', 1),
    kanon.generalize('größe', 'klein', 1), kanon.generalize('Größe', 'klein', 1), kanon.generalize('Größe', 'KLEIN', 1);

-- Renaming: edges and stored values stay with the hierarchy.
CREATE TABLE stored AS SELECT kanon.generalize('disease', 'flu!', 1) AS x;
UPDATE kanon.dgh SET name = 'illness' WHERE name = 'disease';
SELECT kanon.generalize('illness', 'flu!', 1), x = 'pneumonia!' AS covers, x = 'gastritis' AS "covers not" FROM stored;
SELECT kanon.generalize('disease', 'flu!', 1);
SELECT DISTINCT dgh FROM kanon.dgh_edge ORDER BY 1;
-- Two that swap their names.
BEGIN;
UPDATE kanon.dgh SET name = 'swap' WHERE name = 'uneven';
UPDATE kanon.dgh SET name = 'uneven' WHERE name = 'forest';
UPDATE kanon.dgh SET name = 'forest' WHERE name = 'swap';
COMMIT;
SELECT kanon.generalize('uneven', 'ash', 1), kanon.generalize('forest', 'deep', 1);

-- Dropping takes the edges along, and the name is free again.
SELECT kanon.drop_dgh('illness');
SELECT count(*) FROM kanon.dgh_edge WHERE dgh IN ('disease', 'illness');
SELECT kanon.generalize('illness', 'flu!', 1);
SELECT kanon.create_dgh('illness');
SELECT kanon.generalize('illness', 'flu!', 1);
TRUNCATE kanon.dgh_edge;
SELECT kanon.dgh_path('uneven', 'ash'), kanon.generalize('Größe', 'KLEIN', 1);
