-- Called by bench/aview with :rows and :rounds, after people and hierarchies are there.
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET work_mem = '256MB';
SELECT setseed(0.5) \g /dev/null

-- Rows are people drawn at random, each value drawn anew from its column with some probability.
CREATE TABLE numbered AS SELECT row_number() OVER () - 1 AS n, * FROM people;
CREATE FUNCTION draw(name text, rows bigint, anew float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    people int := (SELECT count(*) FROM people);
BEGIN
    EXECUTE format($q$
        CREATE TABLE %I AS
        WITH drawn AS MATERIALIZED (SELECT id, (random() * %s)::int AS n FROM generate_series(1, %s) AS id),
        cells AS MATERIALIZED (SELECT id,
            CASE WHEN random() < %4$s THEN (random() * %2$s)::int ELSE n END AS a, CASE WHEN random() < %4$s THEN (random() * %2$s)::int ELSE n END AS b,
            CASE WHEN random() < %4$s THEN (random() * %2$s)::int ELSE n END AS c, CASE WHEN random() < %4$s THEN (random() * %2$s)::int ELSE n END AS d,
            CASE WHEN random() < %4$s THEN (random() * %2$s)::int ELSE n END AS e, CASE WHEN random() < %4$s THEN (random() * %2$s)::int ELSE n END AS f FROM drawn)
        SELECT id, a.age, b.education, c.marital, d.occupation, e.workclass, f.race, a.salary, (random() * %3$s / 10)::int AS other
        FROM cells x JOIN numbered a ON a.n = x.a JOIN numbered b ON b.n = x.b JOIN numbered c ON c.n = x.c
            JOIN numbered d ON d.n = x.d JOIN numbered e ON e.n = x.e JOIN numbered f ON f.n = x.f$q$,
        name, people - 1, rows, anew);
    EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (id)', name);
    EXECUTE format('CREATE INDEX ON %I (other)', name);
    EXECUTE format('CREATE INDEX ON %I (age, education, occupation, marital, workclass, race)', name);
    PERFORM kanon.create_anonymization_view('view_' || name, format('SELECT * FROM %I', name), id => '{id}',
        quasi_ids => '{"age": "age", "education": "education", "marital": "marital", "occupation": "occupation", "workclass": "workclass", "race": "race"}',
        sensitive => '{"salary": null}', k => 5);
END
$$;
SELECT draw('few', :rows, 0.01), draw('many', :rows, 0.4), draw('five', 5 * :rows, 0.01) \g /dev/null
VACUUM ANALYZE few;
VACUUM ANALYZE many;
VACUUM ANALYZE five;

CREATE TABLE query (name text, query text, plan text);
INSERT INTO query VALUES
    ('few: group by', 'SELECT age, education, marital, occupation, workclass, race, count(*) FROM few GROUP BY 1, 2, 3, 4, 5, 6', 'auto'),
    ('few: scan', 'SELECT * FROM few', 'auto'),
    ('few: full read', 'SELECT * FROM view_few', 'auto'),
    ('few: aggregate', 'SELECT education, count(*) FROM view_few GROUP BY education', 'auto'),
    ('few: 10 rows, select first', 'SELECT * FROM view_few WHERE other = 777', 'select_first'),
    ('few: 10 rows, anonymize first', 'SELECT * FROM view_few WHERE other = 777', 'anonymize_first'),
    ('few: 10 rows, planner''s choice', 'SELECT * FROM view_few WHERE other = 777', 'auto'),
    ('many: group by', 'SELECT age, education, marital, occupation, workclass, race, count(*) FROM many GROUP BY 1, 2, 3, 4, 5, 6', 'auto'),
    ('many: full read', 'SELECT * FROM view_many', 'auto'),
    ('many: aggregate', 'SELECT education, count(*) FROM view_many GROUP BY education', 'auto');

CREATE TABLE timing (name text, round int, ms float8);
CREATE PROCEDURE measure(rounds int) LANGUAGE plpgsql AS $$
DECLARE
    q record;
    start timestamptz;
    line text;
BEGIN
    FOR round IN 0 .. rounds LOOP
        FOR q IN SELECT * FROM query LOOP
            PERFORM set_config('kanon.plan', q.plan, false);
            start := clock_timestamp();
            FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) ' || q.query LOOP
            END LOOP;
            -- The first round warms up.
            IF round > 0 THEN
                INSERT INTO timing VALUES (q.name, round, extract(epoch FROM clock_timestamp() - start) * 1000);
            END IF;
        END LOOP;
    END LOOP;
END
$$;
CALL measure(:rounds);

CREATE VIEW median AS SELECT name, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms FROM timing GROUP BY name;
\pset footer off
SELECT what, round((a.ms / b.ms)::numeric, 2) AS ratio, target
FROM (VALUES
    ('full read / GROUP BY, few combinations', 'few: full read', 'few: group by', '<= 2.0'),
    ('full read / GROUP BY, many combinations', 'many: full read', 'many: group by', '<= 2.0'),
    ('full read / scan, few combinations', 'few: full read', 'few: scan', ''),
    ('aggregate / full read, few combinations', 'few: aggregate', 'few: full read', '<= 1.5'),
    ('aggregate / full read, many combinations', 'many: aggregate', 'many: full read', '<= 1.5'),
    ('10 rows: anonymize first / select first', 'few: 10 rows, anonymize first', 'few: 10 rows, select first', '>= 50'),
    ('10 rows: planner''s choice / select first', 'few: 10 rows, planner''s choice', 'few: 10 rows, select first', '<= 1.2'))
    AS r (what, a, b, target)
JOIN median a ON a.name = r.a JOIN median b ON b.name = r.b;
