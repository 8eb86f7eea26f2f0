-- GROUP BY, DISTINCT, ORDER BY, UNION, indexes, min and max go by identity: values that print alike and are of one sort
-- are one value.
SELECT kanon.import_dgh('d', '{a;p;*,b;p;*,c;q;*}'), kanon.import_dgh('e', '{a;p;*}');
CREATE TABLE t (n serial, x kanon.generalized);
INSERT INTO t (x) VALUES ('[20,30)'), ('[20,30)'), ('[20,30]'), ('25'), ('25.5'), ('[25.5,30)'), ('(,5)'), ('[5,)'),
    ('9'), ('10'), ('2000-01-01'), ('[2000-01-01,2001-01-01)'), ('[1999-01-01,2001-01-01)'), ('word'), ('Word'), ('p'),
    (kanon.generalize('d', 'a', 1)), (kanon.generalize('e', 'a', 1)), (kanon.generalize('d', 'a', 0)), ('a'), ('*'),
    (kanon.generalize('d', 'a', 2)), (NULL), (NULL), (1e30), ('[1,1e30)'), ('10');
CREATE TABLE stale AS SELECT kanon.generalize('d', 'a', 1) AS x;
INSERT INTO kanon.dgh_edge VALUES ('d', '0', 'q');

SELECT x, count(*), array_agg(n ORDER BY n) FROM t GROUP BY x ORDER BY x;
-- AVLIKE would see other groups; the same by sorting and by hashing, in parallel and not.
SET enable_hashagg = off;
CREATE TABLE sorted AS SELECT x, count(*) AS c FROM t GROUP BY x;
SET enable_hashagg = on;
SET enable_sort = off;
CREATE TABLE hashed AS SELECT x, count(*) AS c FROM t GROUP BY x;
EXPLAIN (COSTS OFF) SELECT x, count(*) AS c FROM t GROUP BY x;
RESET enable_sort;
SELECT count(*) FROM sorted s FULL JOIN hashed h ON s.x OPERATOR(kanon.*=) h.x WHERE s.c IS DISTINCT FROM h.c
    AND coalesce(s.x, h.x) IS NOT NULL;
SELECT count(*) AS groups, (SELECT count(*) FROM sorted) AS sorted, count(DISTINCT x) AS "distinct",
    (SELECT count(*) FROM (SELECT DISTINCT x FROM t) d) AS "select distinct" FROM hashed;
SELECT count(*) FROM (SELECT x FROM t UNION SELECT x FROM stale) u;
SELECT x FROM t INTERSECT SELECT x FROM stale;
SELECT count(*) FROM (SELECT x FROM t EXCEPT ALL SELECT x FROM stale) u;
SELECT x, row_number() OVER (PARTITION BY x ORDER BY n), first_value(n) OVER (PARTITION BY x ORDER BY n) FROM t
    WHERE x = '[20,30)' ORDER BY x, n;
SELECT DISTINCT ON (x) x, n FROM t WHERE x::text IN ('p', '10', '*') ORDER BY x, n;
SELECT count(*) FROM (SELECT x FROM t GROUP BY ROLLUP (x)) r;

-- Order: numbers by their bounds, dates, words in the order of the collation, everything; the other way round, and
-- NULLs.
SELECT string_agg(coalesce(x::text, 'null'), '  ' ORDER BY x DESC NULLS LAST) FROM (SELECT DISTINCT x FROM t) d;
SELECT string_agg(x::text, ' ' ORDER BY x COLLATE "en-x-icu") AS icu,
    string_agg(x::text, ' ' ORDER BY x COLLATE "C") AS c FROM t WHERE x::text ~* '^word$|^a$';
-- A total order: antisymmetric, transitive, and equal only where the hashes are.
SELECT count(*) FILTER (WHERE kanon.identity_cmp(a.x, b.x) <> -kanon.identity_cmp(b.x, a.x)) AS "not antisymmetric",
       count(*) FILTER (WHERE (a.x OPERATOR(kanon.*=) b.x) <> (kanon.identity_cmp(a.x, b.x) = 0)) AS "equal otherwise",
       count(*) FILTER (WHERE a.x OPERATOR(kanon.*=) b.x
           AND (kanon.identity_hash(a.x) <> kanon.identity_hash(b.x)
           OR kanon.identity_hash_extended(a.x, 7) <> kanon.identity_hash_extended(b.x, 7))) AS "hashed otherwise",
       count(*) FILTER (WHERE (a.x OPERATOR(kanon.*<) b.x) <> (kanon.identity_cmp(a.x, b.x) < 0)
           OR (a.x OPERATOR(kanon.*<=) b.x) <> (kanon.identity_cmp(a.x, b.x) <= 0)
           OR (a.x OPERATOR(kanon.*>) b.x) <> (kanon.identity_cmp(a.x, b.x) > 0)
                              OR (a.x OPERATOR(kanon.*>=) b.x) <> (kanon.identity_cmp(a.x, b.x) >= 0)
                                  OR (a.x OPERATOR(kanon.*<>) b.x) <> (kanon.identity_cmp(a.x,
                                  b.x) <> 0)) AS "operators otherwise"
FROM t a, t b;
SELECT count(*) AS "not transitive" FROM t a, t b, t c WHERE a.x OPERATOR(kanon.*<=) b.x AND b.x OPERATOR(kanon.*<=) c.x
    AND NOT a.x OPERATOR(kanon.*<=) c.x;
SELECT kanon.identity_hash('p')::bigint & 4294967295 = kanon.identity_hash_extended('p',
    0) & 4294967295 AS "low half of the extended hash";

-- However a value came about: at the ends of bigint, too.
SELECT bool_and(a OPERATOR(kanon.*=) b AND kanon.identity_hash(a) = kanon.identity_hash(b))
    FROM (SELECT x::kanon.generalized AS a, x::text::kanon.generalized AS b
    FROM unnest('{"[-9223372036854775808,5)","[5,9223372036854775807)",'
        '"[-9223372036854775808,9223372036854775807)"}'::int8range[]) x UNION ALL
    SELECT x::kanon.generalized, x::text::kanon.generalized
        FROM unnest('{-9223372036854775808,-9223372036854775809,9223372036854775807,9223372036854775808}'::numeric[]) x)
        v;

-- min and max.
SELECT min(x), max(x), min(x) FILTER (WHERE x::text ~ '^[a-z]'), max(x) FILTER (WHERE x::text ~ '^\d+$') FROM t;
SELECT min(x) IS NULL AS "of nothing" FROM t WHERE false;

-- Indexes.
CREATE INDEX t_btree ON t (x);
CREATE INDEX t_hash ON t USING hash (x);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
-- A plan as PostgreSQL 15 writes it.
CREATE FUNCTION explain(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		CONTINUE WHEN line ~ 'Disabled: true';
		RETURN NEXT regexp_replace(line, 'InitPlan 1$', 'InitPlan 1 (returns $0)');
	END LOOP;
END
$$;
EXPLAIN (COSTS OFF) SELECT n FROM t WHERE x OPERATOR(kanon.*=) '[20,30)';
SELECT n FROM t WHERE x OPERATOR(kanon.*=) '[20,30)' ORDER BY n;
SELECT explain('SELECT min(x) FROM t');
EXPLAIN (COSTS OFF) SELECT x FROM t ORDER BY x LIMIT 3;
SELECT x FROM t ORDER BY x LIMIT 3;
EXPLAIN (COSTS OFF) SELECT n FROM t WHERE x OPERATOR(kanon.*>) '2000-01-01' AND x OPERATOR(kanon.*<) 'b';
SELECT x FROM t WHERE x OPERATOR(kanon.*>) '2000-01-01' AND x OPERATOR(kanon.*<) 'b';
-- AVLIKE does not use these indexes, and finds every match.
SELECT explain($$SELECT n FROM t WHERE x = '[20,30)'$$);
SELECT array_agg(n ORDER BY n) FROM t WHERE x = '[20,30)';
DROP INDEX t_btree;
EXPLAIN (COSTS OFF) SELECT n FROM t WHERE x OPERATOR(kanon.*=) '[20,30)';
SELECT array_agg(n ORDER BY n) FROM t WHERE x OPERATOR(kanon.*=) '[20,30)';
RESET enable_seqscan;
RESET enable_bitmapscan;
CREATE UNIQUE INDEX ON stale (x);
INSERT INTO stale VALUES ('p');
INSERT INTO stale VALUES ('p') ON CONFLICT DO NOTHING;
INSERT INTO stale VALUES ('q'), ('[20,30)');
INSERT INTO stale VALUES ('[20,30)') ON CONFLICT (x) DO NOTHING;
SELECT count(*) FROM stale;
-- Joins by identity hash and merge.
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM t JOIN stale ON t.x OPERATOR(kanon.*=) stale.x;
SELECT count(*) FROM t JOIN stale ON t.x OPERATOR(kanon.*=) stale.x;
SET enable_hashjoin = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM t JOIN stale ON t.x OPERATOR(kanon.*=) stale.x;
SELECT count(*) FROM t JOIN stale ON t.x OPERATOR(kanon.*=) stale.x;
RESET enable_nestloop;
RESET enable_hashjoin;
-- Foreign keys go by identity, too.
ALTER TABLE stale ADD PRIMARY KEY (x);
CREATE TABLE refers (x kanon.generalized REFERENCES stale);
INSERT INTO refers VALUES ('[20,30)'), ('p');
INSERT INTO refers VALUES ('25');
DELETE FROM stale WHERE x OPERATOR(kanon.*=) '[20,30)';
-- Partitions by it, arrays and rows of it, statistics on it.
CREATE TABLE parts (x kanon.generalized) PARTITION BY LIST (x);
CREATE TABLE part_p PARTITION OF parts FOR VALUES IN ('p', '[20,30)');
CREATE TABLE part_rest PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT x FROM t WHERE x::text IN ('p', '[20,30)', 'word', '25');
SELECT tableoid::regclass, x, count(*) FROM parts GROUP BY 1, 2 ORDER BY 1, 2;
SELECT count(*) FROM parts WHERE x = '25';
SELECT ARRAY['b', 'a']::kanon.generalized[] @> ARRAY['a']::kanon.generalized[] AS contains,
    ARRAY['[20,30)']::kanon.generalized[] = ARRAY['25']::kanon.generalized[] AS "arrays by identity",
    ROW('p'::kanon.generalized) < ROW('q'::kanon.generalized) AS rows;
ANALYZE t;
SELECT null_frac > 0 AS nulls, n_distinct <> 0 AS "distinct" FROM pg_stats WHERE tablename = 't' AND attname = 'x';

-- Sorting and grouping many, with spilling and in parallel, by another order as well.
CREATE TABLE many AS SELECT ('[' || i % 1000 || '.5,' || i % 1000 + 5 || ')')::kanon.generalized AS x,
    i FROM generate_series(1, 40000) i;
SET work_mem = '64kB';
SELECT count(*), count(DISTINCT c) FROM (SELECT x, count(*) AS c FROM many GROUP BY x) g;
SELECT count(*) FILTER (WHERE kanon.identity_cmp(x, before) < 0) AS "out of order"
    FROM (SELECT x, lag(x) OVER (ORDER BY x) AS before FROM many) o;
SELECT set_config(name, 'on', false) FROM pg_settings
    WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null
SELECT min(x), max(x), count(DISTINCT x) FROM many;
