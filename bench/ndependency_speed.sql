-- For bench/ndependency, which sets :rows and :rounds: what grouping costs beside counting and sorting.
\set ECHO none
\pset footer off
SET client_min_messages = warning;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SELECT setseed(0.3) \gset

CREATE TABLE million AS SELECT id, floor(random() * 91)::integer AS age, floor(random() * 1000)::integer AS zip, 'sick' || floor(50 * power(random(), 1.2))::integer AS sick FROM generate_series(1, :rows) AS id;
SELECT kanon.create_dgh('sickness') \gset
INSERT INTO kanon.dgh_edge SELECT 'sickness', 'sick' || i, 'class' || i / 5 FROM generate_series(0, 49) AS i;
VACUUM ANALYZE million;

CREATE TABLE taken (memory text, what text, ms float8);
CREATE FUNCTION take(memory text, what text, query text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz := clock_timestamp();
    rows bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (%s) AS q', query) INTO rows;
    INSERT INTO taken VALUES (memory, what, 1000 * extract(epoch FROM clock_timestamp() - start));
END
$$;
CREATE FUNCTION measure(rounds integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    memory text;
BEGIN
    FOREACH memory IN ARRAY '{4MB,256MB}'::text[] LOOP
        PERFORM set_config('work_mem', memory, true);
        FOR round IN 1 .. rounds LOOP
            PERFORM take(memory, 'count', 'SELECT sick, count(*) FROM million GROUP BY sick');
            PERFORM take(memory, 'sort', 'SELECT * FROM million ORDER BY sick OFFSET 0');
            PERFORM take(memory, 'anatomy', $q$SELECT * FROM kanon.anatomy('million', 'id', 'sick', 4)$q$);
            PERFORM take(memory, 'dependency', $q$SELECT * FROM kanon.n_dependency('million', 'id', 'sick', 'sickness', 4)$q$);
        END LOOP;
    END LOOP;
END
$$;
SELECT measure(:rounds) \gset

\echo
\echo Time over that of GROUP BY sensitive plus one sort of the rows
WITH median AS (SELECT memory, what, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms FROM taken GROUP BY memory, what),
    base AS (SELECT memory, sum(ms) AS ms FROM median WHERE what IN ('count', 'sort') GROUP BY memory)
SELECT b.memory AS work_mem, round((max(m.ms) FILTER (WHERE what = 'anatomy') / max(b.ms))::numeric, 2) AS anatomy,
    round((max(m.ms) FILTER (WHERE what = 'dependency') / max(b.ms))::numeric, 2) AS n_dependency,
    round((max(m.ms) FILTER (WHERE what = 'sort') / max(b.ms))::numeric, 2) AS "of it, sort"
FROM median AS m JOIN base AS b USING (memory) GROUP BY b.memory ORDER BY b.memory DESC;
