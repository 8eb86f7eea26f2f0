-- Outer, semi and anti joins by AVLIKE do not compare every pair, and give the rows of a nested loop that does.
SET kanon.measure_views = off;
\set dir `echo "$PG_ABS_SRCDIR"`
\set random :dir '/data/random.sql'
\i :random
SELECT seed_random(3) \g /dev/null
SELECT kanon.create_interval_dgh('ages', 0, '{5, 20}'),
    kanon.import_dgh('jobs', '{nurse;care;health;*,doctor;care;health;*,chemist;lab;health;*,judge;court;law;*,'
        'clerk;court;law;*,lawyer;bar;law;*}') \g /dev/null
CREATE FUNCTION people(count int, upto int) RETURNS TABLE (id int, age int, job text, other int)
    LANGUAGE sql VOLATILE AS $$
    SELECT i, CASE WHEN next_random() > 0.1 THEN (next_random() * upto)::int END,
        CASE WHEN next_random() > 0.1 THEN (ARRAY ['nurse', 'doctor', 'chemist', 'judge', 'clerk', 'lawyer',
            'diver'])[1 + floor(next_random() * 7)::int] END, (next_random() * 9)::int
    FROM generate_series(1, count) AS i
$$;
-- Ages of the one that no group of the other has, and NULL; enough rows for three parts of the smallest memory.
CREATE TABLE a AS SELECT * FROM people(300, 200);
CREATE TABLE b AS SELECT * FROM people(600, 100);
ALTER TABLE a ADD PRIMARY KEY (id);
ALTER TABLE b ADD PRIMARY KEY (id);
SELECT kanon.create_anonymization_view('va', 'SELECT * FROM a', id => '{id}',
    quasi_ids => '{"age": "ages", "job": "jobs"}', k => 2, other => '{other}');
SELECT kanon.create_anonymization_view('vb', 'SELECT * FROM b', id => '{id}',
    quasi_ids => '{"age": "ages", "job": "jobs"}', k => 3, other => '{other}');
-- Published values in tables, some of them NULL.
CREATE TABLE ta AS SELECT nullif(other, 3) AS other, CASE WHEN other <> 5 THEN age END AS age,
    CASE WHEN other <> 6 THEN job END AS job FROM va;
CREATE TABLE tb AS SELECT other, CASE WHEN other <> 7 THEN age END AS age, CASE WHEN other <> 8 THEN job END AS job
    FROM vb WHERE age::text <> '*';
CREATE TABLE none AS SELECT * FROM tb WHERE false;
ANALYZE;

EXPLAIN (COSTS OFF) SELECT ta.age, tb.job FROM ta LEFT JOIN tb ON ta.age = tb.age AND ta.other < tb.other
    WHERE tb.other IS NULL OR tb.other > 4;
EXPLAIN (COSTS OFF) SELECT * FROM va WHERE NOT EXISTS (SELECT FROM vb WHERE va.age = vb.age AND va.job = vb.job);

-- The rows of a query, in an order of their own, by the join and by comparing all pairs.
CREATE FUNCTION rows_of(query text, fast boolean, memory text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    rows text[];
BEGIN
    PERFORM set_config('kanon.enable_avlike_join', fast::text, true), set_config('work_mem', memory, true),
        set_config('hash_mem_multiplier', '1', true);
    EXECUTE format('SELECT coalesce(array_agg(q::text ORDER BY q::text COLLATE "C"), ''{}'') FROM (%s) AS q',
        query) INTO rows;
    RETURN rows;
END
$$;
-- The kinds of join that the plan of a query has.
CREATE FUNCTION joins_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    found text := '';
BEGIN
    PERFORM set_config('kanon.enable_avlike_join', 'true', true);
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
        found := found || coalesce(substring(line FROM 'Join Type: (.*)') || ' ', '');
    END LOOP;
    RETURN rtrim(found);
END
$$;
-- Also where PostgreSQL finds it cheap to compare all pairs.
SET enable_nestloop = off;
SET jit = off;
CREATE TABLE query (n int GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO query (query) VALUES
    ('SELECT ta.*, tb.* FROM ta LEFT JOIN tb ON ta.age = tb.age AND ta.job = tb.job'),
    ('SELECT ta.*, tb.* FROM ta RIGHT JOIN tb ON ta.age = tb.age AND ta.job = tb.job'),
    ('SELECT ta.*, tb.* FROM ta LEFT JOIN tb ON ta.age = tb.age AND ta.job = tb.job AND ta.other < tb.other'),
    ('SELECT ta.*, tb.* FROM ta LEFT JOIN tb ON ta.age = tb.age AND ta.job = tb.job '
        'WHERE coalesce(ta.other, 1) < coalesce(tb.other, 2)'),
    ('SELECT ta.*, tb.* FROM ta LEFT JOIN tb ON ta.age = tb.age AND ta.job = tb.job AND ta.other = 4'),
    ('SELECT ta.*, tb.* FROM ta RIGHT JOIN tb ON tb.age = ta.age AND tb.job ~~^ ta.job AND ta.other < tb.other '
        'WHERE ta.other IS DISTINCT FROM 1'),
    ('SELECT ta.* FROM ta LEFT JOIN tb ON ta.age = tb.age AND ta.job = tb.job AND tb.other > 3 WHERE tb.age IS NULL'),
    ('SELECT va.age, va.other, vb.other AS o FROM va LEFT JOIN vb ON va.age = vb.age AND va.job = vb.job '
        'WHERE va.other < 3'),
    ('SELECT ta.* FROM ta WHERE EXISTS (SELECT FROM tb WHERE ta.age = tb.age AND ta.job = tb.job)'),
    ('SELECT ta.* FROM ta WHERE EXISTS (SELECT FROM tb WHERE ta.age = tb.age AND ta.job = tb.job '
        'AND ta.other > tb.other + 5)'),
    ('SELECT ta.* FROM ta WHERE ta.age IN (SELECT age FROM tb WHERE other > 7)'),
    ('SELECT ta.* FROM ta WHERE NOT EXISTS (SELECT FROM tb WHERE ta.age = tb.age AND ta.job = tb.job)'),
    ('SELECT ta.* FROM ta WHERE NOT EXISTS (SELECT FROM tb WHERE ta.age = tb.age AND ta.job = tb.job '
        'AND ta.other > tb.other + 3)'),
    ('SELECT va.age, va.job FROM va WHERE NOT EXISTS (SELECT FROM vb WHERE va.age = vb.age AND vb.other = 2)'),
    ('SELECT ta.*, none.job AS j FROM ta LEFT JOIN none ON ta.age = none.age'),
    ('SELECT ta.*, none.job AS j FROM none RIGHT JOIN ta ON ta.age = none.age'),
    ('SELECT ta.* FROM ta WHERE NOT EXISTS (SELECT FROM none WHERE ta.age = none.age)'),
    ('SELECT ta.* FROM ta WHERE EXISTS (SELECT FROM none WHERE ta.age = none.age)'),
    ('SELECT n.other, tb.age FROM none n LEFT JOIN tb ON n.age = tb.age'),
    ('SELECT x.n, l.* FROM generate_series(0, 2) AS x (n), LATERAL (SELECT count(*), count(tb.other), sum(tb.other) '
        'FROM ta LEFT JOIN tb ON ta.age = tb.age AND tb.other = x.n WHERE ta.other <> x.n) AS l'),
    ('SELECT x.n, l.* FROM generate_series(0, 2) AS x (n), LATERAL (SELECT count(*), sum(ta.other) FROM ta '
        'WHERE NOT EXISTS (SELECT FROM tb WHERE ta.age = tb.age AND tb.other = x.n AND ta.job = tb.job)) AS l'),
    ('SELECT x.n, l.* FROM generate_series(0, 2) AS x (n), LATERAL (SELECT count(*), count(ta.other), sum(tb.other) '
        'FROM ta RIGHT JOIN tb ON ta.age = tb.age AND ta.other = x.n AND ta.job = tb.job) AS l'),
    ('SELECT x.n, l.* FROM generate_series(0, 2) AS x (n), LATERAL (SELECT count(*), count(t.other), sum(t.other) '
        'FROM ta LEFT JOIN (SELECT * FROM tb WHERE other <> x.n AND age <> 10 * x.n) AS t ON ta.age = t.age '
            'AND ta.job = t.job) AS l'),
    ('SELECT x.other, y.other AS o, z.other AS p FROM (SELECT * FROM ta WHERE other = 1) AS x LEFT JOIN (SELECT * '
        'FROM ta WHERE other = 2) AS y ON x.age = y.age LEFT JOIN tb z ON z.age = y.age AND z.job = x.job'),
    ('SELECT a.id, tb.other FROM a LEFT JOIN tb ON a.age = tb.age AND a.job = tb.job'),
    ('SELECT a.id FROM a WHERE NOT EXISTS (SELECT FROM tb WHERE tb.age = a.age + 100)');
SELECT n, joins_of(query), cardinality(slow) > 0 AS some, rows_of(query, true, '4MB') = slow AS same,
    rows_of(query, true, '64kB') = slow AS same_in_parts
FROM (SELECT n, query, rows_of(query, false, '4MB') AS slow FROM query OFFSET 0) AS q ORDER BY n;

-- A full join, which PostgreSQL alone cannot do by AVLIKE, is a left join and the rows of the other side that match
-- nothing.
SELECT joins_of(q), rows_of(q, true, '4MB') = slow AS same, rows_of(q, true, '64kB') = slow AS same_in_parts,
    cardinality(slow) > 300 AS some
FROM (SELECT q, rows_of(format($$
        SELECT ta.age, ta.other, tb.job, tb.other AS o FROM ta LEFT JOIN tb ON %1$s
        UNION ALL SELECT NULL, NULL, tb.job, tb.other FROM tb WHERE NOT EXISTS (SELECT FROM ta WHERE %1$s)$$,
            condition), false, '4MB') AS slow,
    condition FROM (SELECT condition,
        format('SELECT ta.age, ta.other, tb.job, tb.other AS o FROM ta FULL JOIN tb ON %s', condition) AS q
        FROM unnest(ARRAY ['ta.age = tb.age', 'ta.age = tb.age AND ta.job = tb.job AND ta.other > tb.other',
            'ta.job = tb.job AND ta.other = 100']) AS condition) AS c OFFSET 0) AS f;

-- Any joins: kinds, sides, conditions in the join and after it, at random.
CREATE FUNCTION random_query() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    kind int := floor(next_random() * 5);
    keys text := (ARRAY ['l.age = r.age', 'r.job = l.job',
        'l.age ~~^ r.age AND l.job = r.job'])[1 + floor(next_random() * 3)::int];
    pairs text := (ARRAY ['true', 'l.other < r.other', 'r.other % 4 = 1', 'l.other % 3 = 2',
        'coalesce(l.other, 0) + r.other < 5'])[1 + floor(next_random() * 5)::int];
    after text := (ARRAY ['true', 'l.other > 2', 'l.other IS DISTINCT FROM 4'])[1 + floor(next_random() * 3)::int];
    sides text[] := CASE WHEN next_random() < 0.5 THEN '{ta,tb}' ELSE '{tb,ta}' END;
BEGIN
    IF kind < 3 THEN
        RETURN format('SELECT l.age, l.other, r.job, r.other AS o FROM %s l %s JOIN %s r ON %s AND %s WHERE %s AND %s',
            sides[1], (ARRAY ['LEFT', 'RIGHT', 'INNER'])[1 + kind], sides[2],
            keys, pairs, after, (ARRAY ['true', 'r.other IS NULL',
                'coalesce(r.other, 3) < 6'])[1 + floor(next_random() * 3)::int]);
    END IF;
    RETURN format('SELECT l.* FROM %s l WHERE %s AND %s EXISTS (SELECT FROM %s r WHERE %s AND %s)', sides[1], after,
        (ARRAY ['', 'NOT'])[kind - 2], sides[2], keys, pairs);
END
$$;
CREATE TABLE tried AS SELECT random_query() AS query FROM generate_series(1, 30);
SELECT query AS differs FROM (SELECT query, rows_of(query, false, '4MB') AS slow FROM tried OFFSET 0) AS t
    WHERE rows_of(query, true, '4MB') <> slow OR rows_of(query, true, '64kB') <> slow;
SELECT count(*) > 20 AS many, count(DISTINCT joins_of(query)) >= 5 AS all_kinds FROM tried WHERE joins_of(query) <> '';

-- A cursor that ends early, a prepared statement, and a condition without columns.
BEGIN;
DECLARE part CURSOR FOR SELECT ta.age FROM ta LEFT JOIN tb ON ta.age = tb.age;
MOVE 10 part;
CLOSE part;
COMMIT;
PREPARE part(int) AS SELECT count(*), count(tb.other) FROM ta LEFT JOIN tb ON ta.age = tb.age AND ta.job = tb.job
    AND tb.other = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE part(1);
SET kanon.enable_avlike_join = off;
DEALLOCATE part;
PREPARE part(int) AS SELECT count(*), count(tb.other) FROM ta LEFT JOIN tb ON ta.age = tb.age AND ta.job = tb.job
    AND tb.other = $1;
EXECUTE part(1);
RESET kanon.enable_avlike_join;
SELECT count(*), count(tb.other) FROM ta LEFT JOIN tb ON ta.age = tb.age AND now() < '2000-01-01';
