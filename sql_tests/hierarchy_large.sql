-- A hierarchy of 100,000 leaves and depth 8 comes by COPY and answers; make bench has one of 200,000.
SELECT kanon.create_dgh('large');
COPY kanon.dgh_edge FROM PROGRAM $$awk 'BEGIN {
    for (i = 0; i < 100000; i++) printf "large\tleaf %d\tlevel 1, %d\n", i, i / 10;
    for (l = 1; l < 8; l++)
        for (i = 0; i < 100000 / 10 ^ l; i++) printf "large\tlevel %d, %d\tlevel %d, %d\n", l, i, l + 1, i / 10 }'$$;
SELECT string_agg(value::text, '; ' ORDER BY level) FROM kanon.dgh_path('large', 'leaf 54321');
SELECT nodes, leaves, bytes / nodes < 120 AS "bytes in proportion" FROM kanon.dgh_cache();
-- All leaves on all levels: as many nodes as there are, and each covers its leaves.
SELECT level, count(DISTINCT value::text) AS nodes, bool_and(value = leaf) AS covers FROM generate_series(0, 8) level,
    LATERAL (SELECT leaf, kanon.generalize('large', leaf, level) AS value
        FROM (SELECT 'leaf ' || i AS leaf FROM generate_series(0, 99999, 70) i) l) g GROUP BY level ORDER BY level;
CREATE TABLE t AS SELECT i, kanon.generalize('large', 'leaf ' || i, 2) AS x FROM generate_series(0, 99999) i;
SELECT count(*) FROM t WHERE x = 'leaf 54321';
SELECT count(*) FROM t WHERE x = 'level 4, 3';
SELECT min(i), max(i) FROM t WHERE x >= 'leaf 9999' COLLATE "C";
-- One more edge is cheap to check, and a cycle through all levels is found.
INSERT INTO kanon.dgh_edge VALUES ('large', 'leaf x', 'level 1, 5');
SELECT count(*) FROM t WHERE x = 'leaf x';
INSERT INTO kanon.dgh_edge VALUES ('large', 'level 8, 0', 'leaf 54321');
SELECT count(*) FROM kanon.export_dgh('large');
SELECT kanon.drop_dgh('large');
