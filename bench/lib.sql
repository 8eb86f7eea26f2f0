-- Shared by the parts of make bench: rows drawn from people, timing side by side, figures with their limits.
-- Needs :rows.
\o /dev/null
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET work_mem = '256MB';
SELECT setseed(0.5);

-- Rows are people drawn at random, each value drawn anew from its column with some probability.
CREATE TABLE numbered AS SELECT row_number() OVER () - 1 AS n, * FROM people;
CREATE FUNCTION draw(name text, rows bigint, anew float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    people int := (SELECT count(*) FROM people);
    cell text := format('CASE WHEN random() < %s THEN floor(random() * %s)::int ELSE n END', anew, people);
BEGIN
    EXECUTE format($q$
        CREATE TABLE %1$I AS
        WITH drawn AS MATERIALIZED (SELECT id, floor(random() * %2$s)::int AS n FROM generate_series(1, %3$s) AS id),
        cells AS MATERIALIZED (SELECT id, %4$s AS a, %4$s AS b, %4$s AS c, %4$s AS d, %4$s AS e, %4$s AS f, %4$s AS g, %4$s AS h FROM drawn)
        SELECT id::int AS id, a.age, b.education, c.marital, d.occupation, e.workclass, f.race, g.sex, h.country, a.salary, (random() * %3$s / 10)::int AS other
        FROM cells x JOIN numbered a ON a.n = x.a JOIN numbered b ON b.n = x.b JOIN numbered c ON c.n = x.c JOIN numbered d ON d.n = x.d
            JOIN numbered e ON e.n = x.e JOIN numbered f ON f.n = x.f JOIN numbered g ON g.n = x.g JOIN numbered h ON h.n = x.h$q$,
        name, people, rows, cell);
    EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (id)', name);
END
$$;
-- An A-view of some columns, each with the hierarchy of its name; more: further arguments.
CREATE FUNCTION look(view text, source text, columns text[], k int, more text DEFAULT '', other text DEFAULT '{*}')
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT kanon.create_anonymization_view(%L, %L, id => ''{id}'', quasi_ids => %L, sensitive => ''{"salary": null}'', k => %s, other => %L%s)',
        view, source, (SELECT jsonb_object_agg(c, c) FROM unnest(columns) AS c), k, other, ', ' || nullif(more, ''));
END
$$;

-- The processor time of this session, in ms: work of others on the machine does not count.  Sleeping makes the kernel add it up.
CREATE FUNCTION clock() RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_sleep(0.0001);
    RETURN split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1e6;
END
$$;
-- The time of each part, by the processor and by the clock.
CREATE TABLE part (n int GENERATED ALWAYS AS IDENTITY, name text, processor float8, at timestamptz DEFAULT clock_timestamp());
CREATE FUNCTION part_ends(name text) RETURNS void LANGUAGE sql AS $$ INSERT INTO part (name, processor) VALUES (name, clock() / 1000) $$;
SELECT part_ends('');
-- before: a statement to run each time before the clock starts.
CREATE TABLE query (name text, query text, settings jsonb DEFAULT '{}', before text, n int GENERATED ALWAYS AS IDENTITY);
CREATE TABLE timing (name text, round int, ms float8);
-- The median of a query's rounds from the first on.
CREATE FUNCTION ms(what text, first int DEFAULT 1) RETURNS float8 LANGUAGE sql AS $$
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FROM timing WHERE name = what AND round >= first
$$;
-- Runs a statement, and throws away the rows of a query.
CREATE FUNCTION run(query text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    IF query !~ '^SELECT' THEN
        EXECUTE query;
        RETURN;
    END IF;
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) ' || query LOOP
    END LOOP;
END
$$;
-- Runs all queries, one after the other, in each round; the short ones as often as take 20 ms together.  Commits, since some of
-- the work on stored groups is done then.
CREATE PROCEDURE measure(rounds int) LANGUAGE plpgsql AS $$
DECLARE
    q record;
    start float8;
    times int;
BEGIN
    -- The first round warms up.
    FOR round IN 0 .. rounds LOOP
        FOR q IN SELECT * FROM query ORDER BY n LOOP
            PERFORM set_config(key, value, false) FROM jsonb_each_text('{"kanon.plan": "auto"}' || q.settings);
            IF q.before IS NOT NULL THEN
                EXECUTE q.before;
                COMMIT;
            END IF;
            times := CASE WHEN round = 0 OR q.before IS NOT NULL THEN 1 ELSE least(40, ceil(20 / ms(q.name, 0))) END;
            start := clock();
            FOR i IN 1 .. times LOOP
                PERFORM run(q.query);
            END LOOP;
            COMMIT;
            INSERT INTO timing VALUES (q.name, round, greatest(clock() - start, 0.001) / times);
        END LOOP;
    END LOOP;
    TRUNCATE query;
    SET kanon.plan = auto;
END
$$;

CREATE TABLE figure (n int GENERATED ALWAYS AS IDENTITY, area text, what text, value numeric, unit text, bound text);
-- A figure; bound: such as '<= 1.3', or nothing.
CREATE FUNCTION put(area text, what text, value float8, unit text, bound text DEFAULT '') RETURNS void LANGUAGE sql AS $$
    INSERT INTO figure (area, what, value, unit, bound)
    VALUES (area, what, CASE WHEN abs(value) < 10 THEN round(value::numeric, 2) WHEN abs(value) < 1000 THEN round(value::numeric, 1) ELSE round(value::numeric) END, unit, bound)
$$;
CREATE FUNCTION holds(value numeric, bound text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN bound LIKE '<= %' THEN CASE WHEN value <= substr(bound, 4)::numeric THEN 'ok' ELSE 'MISSED' END
                WHEN bound LIKE '>= %' THEN CASE WHEN value >= substr(bound, 4)::numeric THEN 'ok' ELSE 'MISSED' END ELSE '' END
$$;

-- A million rows with few combinations, where make bench asks for a million, and as many with many.
SELECT set_config('bench.rows', :'rows', false), draw('few', :rows, 0.01), draw('many', :rows, 0.4);
CREATE INDEX ON few (other);
CREATE INDEX ON few (age, education, occupation, marital, workclass, race);
VACUUM ANALYZE few, many;
SELECT look('view_' || t, 'SELECT id, age, education, marital, occupation, workclass, race, salary' || CASE t WHEN 'few' THEN ', other' ELSE '' END || ' FROM ' || t,
    '{age,education,marital,occupation,workclass,race}', 5) FROM unnest('{few,many}'::text[]) AS t;

-- Information loss of published rows: the share of a hierarchy's leaves that a value covers beyond itself, over rows and columns.
CREATE TABLE leaf (dgh text, label text);
INSERT INTO leaf SELECT d, split_part(line, ';', 1) FROM unnest('{age,education,marital,occupation,workclass,race,sex,country}'::text[]) AS d, kanon.export_dgh(d) AS line;
CREATE FUNCTION loss(view text, columns text[]) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    name text;
    sum float8 := 0;
    one float8;
BEGIN
    FOREACH name IN ARRAY columns LOOP
        EXECUTE format('SELECT sum(rows * greatest((SELECT count(*) FROM leaf WHERE dgh = %2$L AND label = v) - 1, 0)::float8 / ((SELECT count(*) FROM leaf WHERE dgh = %2$L) - 1)) / sum(rows)
            FROM (SELECT %1$I AS v, count(*) AS rows FROM %3$I GROUP BY 1) AS g', name, name, view) INTO one;
        sum := sum + one;
    END LOOP;
    RETURN sum / cardinality(columns);
END
$$;
