-- Looking for cells is given up before it costs more than counting everything: with the answer of the other
-- plan, and the index is left alone from then on.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS kanon;
SET jit = off;
SELECT kanon.create_interval_dgh('switch_hundreds', 0, '{10, 100, 1000}') \g /dev/null
CREATE TABLE spread AS SELECT i AS id, (i * 7919) % 1000 AS a, (i * 104729) % 997 AS b, i % 4000 AS other,
    1 AS late FROM generate_series(1, 20000) AS i;
CREATE INDEX spread_cell ON spread (a, b);
CREATE INDEX spread_other ON spread (other);
CREATE INDEX spread_late ON spread (late);
UPDATE spread SET late = id;
VACUUM ANALYZE spread;
-- Statistics know nothing of this.
ALTER TABLE spread SET (autovacuum_enabled = off);
UPDATE spread SET late = CASE WHEN id <= 40 THEN -2 ELSE -1 END WHERE id <= 40 OR id > 10000;
SELECT kanon.create_anonymization_view(v, 'SELECT id, a, b, other, late FROM spread', id => '{id}',
    quasi_ids => '{"a": "switch_hundreds", "b": "switch_hundreds"}', k => 3, match => m, other => '{other, late}')
FROM (VALUES ('spread_cover', 'cover'), ('spread_witness', 'witness')) AS v (v, m) \g /dev/null

-- The rows of a query by a plan, as one hash; how often the index of the cells was asked and the whole table read.
CREATE FUNCTION answer(plan text, query text, OUT hash text, OUT cells bigint, OUT whole bigint) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('kanon.plan', plan, true);
    cells := -pg_stat_get_xact_numscans('spread_cell'::regclass);
    whole := -pg_stat_get_xact_numscans('spread'::regclass);
    EXECUTE format('SELECT md5(string_agg(r::text, '';'' ORDER BY r::text)) FROM (%s) AS r', query) INTO hash;
    cells := cells + pg_stat_get_xact_numscans('spread_cell'::regclass);
    whole := whole + pg_stat_get_xact_numscans('spread'::regclass);
END
$$;
CREATE FUNCTION compare(query text, OUT same bool, OUT cells text, OUT whole bigint, OUT choice text)
    LANGUAGE plpgsql AS $$
DECLARE
    first record := answer('anonymize_first', query);
    selected record := answer('select_first', query);
    chosen record := answer('auto', query);
BEGIN
    same := first.hash IS NOT NULL AND first.hash = selected.hash AND first.hash = chosen.hash;
    cells := CASE WHEN selected.cells = 0 THEN 'none' WHEN selected.cells < 100 THEN 'some' ELSE 'many' END;
    whole := selected.whole;
    -- The costs of PostgreSQL 18 let it give up soon for a few rows: there, what select_first does counts.
    choice := CASE WHEN chosen.cells = 0 THEN 'counts everything' WHEN chosen.whole = 0 THEN 'looks for cells'
        WHEN chosen.cells >= 50 THEN 'gives up late'
        WHEN selected.whole = 0 AND current_setting('server_version_num')::int >= 180000 THEN 'looks for cells'
        ELSE 'gives up soon' END;
END
$$;

-- A few rows: nothing but their cells is read.  Many: the table, once.
SELECT * FROM compare('SELECT * FROM spread_cover WHERE other = 17');
SELECT * FROM compare('SELECT * FROM spread_cover WHERE other < 2000');
-- The planner expects one row and gets half of the table.
SELECT * FROM compare('SELECT * FROM spread_cover WHERE late = -1');
-- Or a few dozen: their classes are looked for, but not the larger cells that it would take.
SELECT * FROM compare('SELECT * FROM spread_cover WHERE late = -2');
-- The same for witnesses, whose groups are then read together.
SELECT * FROM compare('SELECT * FROM spread_witness WHERE a = 919 AND b = 44');
SELECT * FROM compare('SELECT * FROM spread_witness WHERE a = ''[100,200)''');
-- For each row of another table: matches found for one row are known for the next, and a search given up stays given
-- up.
CREATE TABLE asking AS SELECT i AS other FROM generate_series(1, 1000) AS i;
ANALYZE asking;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT * FROM compare('SELECT * FROM asking JOIN spread_cover USING (other) WHERE other <= 3');
SELECT * FROM compare('SELECT * FROM asking JOIN spread_cover USING (other)');
-- With the whole anonymized first, the table is read once, and then the index asked.
SET kanon.plan = anonymize_first;
CREATE FUNCTION explain(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		-- PostgreSQL 16 turns it round.
		RETURN NEXT replace(line, 'scan.other = asking.other', 'asking.other = scan.other');
	END LOOP;
END
$$;
SELECT * FROM explain('SELECT * FROM asking JOIN spread_cover USING (other)');
-- Conditions whose values come late, and again and again.
PREPARE late (int, int) AS SELECT count(*), count(DISTINCT a::text) FROM spread_cover WHERE other BETWEEN $1 AND $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE late (1, 5);
EXECUTE late (1, 500);
SET kanon.plan = select_first;
EXECUTE late (1, 5);
EXECUTE late (1, 500);
SELECT lo, (SELECT count(*) FROM spread_cover WHERE other BETWEEN lo AND lo * lo) FROM generate_series(1, 40, 13) AS lo;
SET kanon.plan = anonymize_first;
SELECT lo, (SELECT count(*) FROM spread_cover WHERE other BETWEEN lo AND lo * lo) FROM generate_series(1, 40, 13) AS lo;
