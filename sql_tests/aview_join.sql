-- Joins by AVLIKE do not compare every pair, and give the rows of a nested loop that does.
SET kanon.measure_views = off;
SELECT setseed(0.7) \g /dev/null
SELECT kanon.create_interval_dgh('ages', 0, '{5, 20}'), kanon.create_date_dgh('days', '{month, year}'),
    kanon.create_prefix_dgh('zips', 4) \g /dev/null
SELECT kanon.import_dgh('jobs',
    '{nurse;care;health;*,doctor;care;health;*,chemist;lab;health;*,judge;court;law;*,clerk;court;law;*,'
        'lawyer;bar;law;*}') \g /dev/null
SELECT kanon.import_dgh('trades', '{nurse;ward;*,doctor;ward;*,judge;town;*,health;town;*}') \g /dev/null

CREATE FUNCTION people(count int) RETURNS TABLE (id int, age int, born date, zip text, job text, pay numeric)
    LANGUAGE sql VOLATILE AS $$
    SELECT i, CASE WHEN random() > 0.05 THEN (random() * 60)::int END,
        CASE WHEN random() > 0.05 THEN date '1990-01-15' + (random() * 1500)::int END,
        lpad((random() * 400)::int::text, 4, '0'),
        CASE WHEN random() > 0.1 THEN (ARRAY ['nurse', 'doctor', 'chemist', 'judge', 'clerk', 'lawyer',
            'diver'])[1 + floor(random() * 7)::int] END,
        round((random() * 9)::numeric, 1)
    FROM generate_series(1, count) AS i
$$;
CREATE TABLE a AS SELECT * FROM people(300);
CREATE TABLE b AS SELECT * FROM people(280);
ALTER TABLE a ADD PRIMARY KEY (id);
ALTER TABLE b ADD PRIMARY KEY (id);
SELECT kanon.create_anonymization_view('va', 'SELECT id, age, job, id % 7 AS other FROM a', id => '{id}',
    quasi_ids => '{"age": "ages", "job": "jobs"}', k => 4, other => '{other}');
SELECT kanon.create_anonymization_view('vb', 'SELECT id, age, job, id % 5 AS other FROM b', id => '{id}',
    quasi_ids => '{"age": "ages", "job": "jobs"}', k => 3, other => '{other}');
SELECT kanon.create_anonymization_view('vc', 'SELECT id, born, zip, pay FROM a', id => '{id}',
    quasi_ids => '{"born": "days", "zip": "zips", "pay": null}', k => 2);
SELECT kanon.create_anonymization_view('vd', 'SELECT id, born, zip, pay FROM b', id => '{id}',
    quasi_ids => '{"born": "days", "zip": "zips", "pay": null}', k => 2);
SELECT kanon.create_anonymization_view('ve', 'SELECT id, job, age FROM b', id => '{id}',
    quasi_ids => '{"job": "trades", "age": null}', k => 2);
ANALYZE;

-- EXPLAIN: the node's name, the columns that it compares, and the conditions left to check on pairs of rows.
EXPLAIN (COSTS OFF) SELECT va.age, vb.other FROM va JOIN vb ON va.age = vb.age AND vb.job ~~^ va.job
    AND va.other < vb.other WHERE vb.other > 1;

CREATE TABLE query (id int GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO query (query) VALUES
    ('SELECT va.*, vb.* FROM va JOIN vb ON va.age = vb.age'),
    ('SELECT va.*, vb.* FROM va JOIN vb ON va.age = vb.age AND vb.job = va.job'),
    ('SELECT va.age, vb.other, va.other * 2 AS twice FROM va JOIN vb USING (age, job) WHERE va.other < vb.other'),
    ('SELECT x.other, y.other AS o FROM vb x, vb y WHERE x.job ~~^ y.job AND x.age = y.age'),
    ('SELECT vc.*, vd.* FROM vc JOIN vd ON vc.born = vd.born AND vc.zip = vd.zip'),
    ('SELECT vc.zip, vd.* FROM vc JOIN vd ON vc.zip = vd.zip AND vc.pay = vd.pay'),
    ('SELECT va.job, ve.job AS trade FROM va JOIN ve ON va.job = ve.job AND va.age = ve.age'),
    ('SELECT va.other, b.id FROM va JOIN b ON va.age = b.age'),
    ('SELECT va.other, b.id FROM va JOIN b ON b.job = va.job AND b.age = va.age'),
    ('SELECT vc.pay, b.id FROM vc JOIN b ON vc.born = b.born AND vc.zip = b.zip'),
    ('SELECT vc.born, b.id FROM vc JOIN b ON vc.pay = b.pay AND b.zip ~~^ vc.zip'),
    ('SELECT vb.age, l.n FROM (VALUES (1), (2)) AS vb (age), LATERAL (SELECT count(*) AS n FROM va '
        'JOIN b ON va.age = b.age WHERE b.id % 5 = vb.age) AS l'),
    ('SELECT va.other, vb.other AS o, ve.age FROM va JOIN vb ON va.age = vb.age JOIN ve ON ve.job = vb.job '
        'AND ve.age = va.age WHERE va.other = 1 AND vb.other = 2'),
    ('SELECT va.age FROM va JOIN b ON va.age = b.age + 1 AND lower(b.job) = va.job');

-- The rows of a query, in an order of their own.
CREATE FUNCTION rows_of(query text, fast boolean, memory text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    rows text[];
BEGIN
    PERFORM set_config('kanon.enable_avlike_join', fast::text, true), set_config('work_mem', memory, true),
        set_config('hash_mem_multiplier', '1', true);
    EXECUTE format('SELECT array_agg(q::text ORDER BY q::text COLLATE "C") FROM (%s) AS q', query) INTO rows;
    RETURN rows;
END
$$;
CREATE FUNCTION is_fast(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    PERFORM set_config('kanon.enable_avlike_join', 'true', true);
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
        IF line LIKE '%AVLIKE Join%' THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END
$$;
-- Of the nested loop, of the join, and of the join with inner rows that do not fit into memory at once.
SELECT id, is_fast(query), cardinality(slow) > 0 AS some, rows_of(query, true, '4MB') = slow AS same,
    rows_of(query, true, '64kB') = slow AS same_in_parts
FROM (SELECT id, query, rows_of(query, false, '4MB') AS slow FROM query OFFSET 0) AS q ORDER BY id;

-- The matches of outer values are dropped when they take too much memory, and found again; with one key and with two.
CREATE TABLE many AS SELECT i, kanon.generalize('ages', (i % 997)::text, i % 3) AS age,
    kanon.generalize('zips', lpad((i * 7 % 1000)::text, 4, '0'), i % 4) AS zip FROM generate_series(1, 3000) AS i;
CREATE TABLE few AS SELECT i, kanon.generalize('ages', (i * 5)::text, i % 3) AS age,
    kanon.generalize('zips', lpad((i * 3)::text, 4, '0'), i % 4) AS zip FROM generate_series(1, 150) AS i;
ANALYZE many, few;
SELECT is_fast(q), rows_of(q, true, '4MB') = slow AS same, rows_of(q, true, '64kB') = slow AS same_in_parts
FROM (SELECT q, rows_of(q, false, '4MB') AS slow FROM (VALUES
    ('SELECT l.i, count(r.i), sum(r.i) FROM many l LEFT JOIN few r ON l.age = r.age GROUP BY l.i'),
    ('SELECT l.i, count(r.i), sum(r.i) FROM many l LEFT JOIN few r ON l.age = r.age AND l.zip = r.zip GROUP BY l.i'),
    ('SELECT l.i FROM many l WHERE NOT EXISTS (SELECT FROM few r WHERE l.age = r.age AND l.zip = r.zip)')) AS v (q)
        OFFSET 0) AS q;
-- Values that are stored compressed equal the same values stored without compression.
CREATE TABLE long AS SELECT i, repeat(chr(97 + i % 3), 4000) || i % 5 AS x, chr(97 + i % 3) || i % 2 AS y
    FROM generate_series(1, 60) AS i;
CREATE TABLE longer AS SELECT i, kanon.generalized(x) AS x, kanon.generalized(y) AS y FROM long;
SELECT is_fast(q), cardinality(slow) AS rows, rows_of(q, true, '4MB') = slow AS same
FROM (SELECT q, rows_of(q, false, '4MB') AS slow FROM (VALUES
    ('SELECT l.i, r.i AS j FROM longer l JOIN (SELECT i, x || '''' AS x FROM long) AS r ON l.x = r.x'),
    ('SELECT l.i, r.i AS j FROM longer l JOIN long r ON r.x = l.x AND l.y = r.y'),
    ('SELECT l.i, r.i AS j FROM longer l JOIN longer r ON r.y = l.y AND l.x = r.x')) AS v (q) OFFSET 0) AS q;

-- Values of a hierarchy as it was before it changed find their new place.
CREATE TABLE kept AS SELECT job, other FROM va;
INSERT INTO kanon.dgh_edge VALUES ('jobs', 'diver', 'care');
SELECT is_fast(q), rows_of(q, true, '4MB') = rows_of(q, false, '4MB') AS same
FROM (VALUES ('SELECT kept.other, vb.other AS o FROM kept JOIN vb ON kept.job = vb.job')) AS v (q);

-- Statements that may have to look at a row again compare every pair; outer joins do not (aview_join_outer).
SELECT is_fast('SELECT * FROM va LEFT JOIN vb ON va.age = vb.age') AS "left",
    is_fast('SELECT * FROM va WHERE EXISTS (SELECT FROM vb WHERE va.age = vb.age)') AS semi,
    is_fast('UPDATE b SET pay = 0 FROM va WHERE va.age = b.age') AS "update",
    is_fast('SELECT * FROM va JOIN b ON va.age = b.age FOR UPDATE OF b') AS lock;
