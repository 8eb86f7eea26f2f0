-- What the benchmarks share: rows drawn from people, timing side by side, figures with their limits.
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET work_mem = '256MB';
SELECT setseed(0.5) \g /dev/null

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
-- An A-view of some columns, each with the hierarchy of its name.
CREATE FUNCTION look(view text, source text, columns text[], k int, block_size int DEFAULT NULL, profile jsonb DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT kanon.create_anonymization_view(%L, %L, id => ''{id}'', quasi_ids => %L, sensitive => ''{"salary": null}'', k => %s%s%s)',
        view, source, (SELECT jsonb_object_agg(c, c) FROM unnest(columns) AS c), k,
        ', block_size => ' || block_size, format(', profile => %L', profile));
END
$$;

CREATE TABLE query (name text, query text, settings jsonb DEFAULT '{}');
CREATE TABLE timing (name text, round int, ms float8);
-- Runs all queries, one after the other, in each round, and throws their rows away.
CREATE PROCEDURE measure(rounds int) LANGUAGE plpgsql AS $$
DECLARE
    q record;
    start timestamptz;
    line text;
BEGIN
    FOR round IN 0 .. rounds LOOP
        FOR q IN SELECT * FROM query LOOP
            PERFORM set_config(key, value, false) FROM jsonb_each_text('{"kanon.plan": "auto"}' || q.settings);
            start := clock_timestamp();
            FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) ' || q.query LOOP
            END LOOP;
            -- The first round warms up.
            IF round > 0 THEN
                INSERT INTO timing VALUES (q.name, round, extract(epoch FROM clock_timestamp() - start) * 1000);
            END IF;
        END LOOP;
    END LOOP;
    TRUNCATE query;
    SET kanon.plan = auto;
END
$$;
CREATE FUNCTION ms(what text) RETURNS float8 LANGUAGE sql AS $$
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FROM timing WHERE name = what
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
